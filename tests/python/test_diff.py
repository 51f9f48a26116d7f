"""`nnefc.diff`: the differences of two models for a reviewer."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset8 as ops
import pytest

import nnefc

NETWORKS = Path(__file__).resolve().parent.parent / "networks"
TEXT = """version 1.0;
graph net( x ) -> ( y )
{
    x = external<scalar>(shape = [1, 3, 8, 8]);
    w = variable<scalar>(shape = [4, 3, 3, 3], label = 'w');
    a = conv(x, w, 0.0, padding = [(1, 1), (1, 1)]);
    b = relu(a);
    c = max_pool(b, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)]);
    y = softmax(c);
}
"""


def changed(*pairs):
    text = TEXT
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return nnefc.diff(TEXT, text)


def types(difference):
    return [(each.old and each.old.type, each.new and each.new.type) for each in difference.operations]


def test_equal_models_do_not_differ():
    difference = nnefc.diff(TEXT, nnefc.load(TEXT))
    assert not difference
    assert str(difference) == "no difference"
    assert repr(difference) == "<nnefc.Difference: none>"


def test_names_in_between_do_not_count():
    assert not changed(("    a = ", "    features = "), ("relu(a)", "relu(features)"))


def test_order_does_not_count():
    old = TEXT.replace("y = softmax(c);", "d = tanh(x);\n    y = softmax(c);").replace("-> ( y )", "-> ( y, d )")
    new = TEXT.replace("    w =", "    d = tanh(x);\n    w =").replace("-> ( y )", "-> ( y, d )")
    assert not nnefc.diff(old, new)


def test_an_attribute():
    difference = changed(("(1, 1), (1, 1)", "(1, 1), (0, 2)"))
    assert types(difference) == [("conv", "conv")]
    assert difference.operations[0].old.attributes["padding"] == [[1, 1], [1, 1]]
    assert difference.operations[0].new.attributes["padding"] == [[1, 1], [0, 2]]
    assert [line[0] for line in str(difference).splitlines()] == ["-", "+"]


def test_an_operation_more_and_one_less():
    difference = changed(("b = relu(a);", "s = sigmoid(a);\n    b = relu(s);"))
    assert (None, "sigmoid") in types(difference)
    # The reader of the new tensor, and no node after it.
    assert types(difference) == [(None, "sigmoid"), ("relu", "relu")]
    removed = nnefc.diff(TEXT.replace("b = relu(a);", "s = sigmoid(a);\n    b = relu(s);"), TEXT)
    assert types(removed) == [("sigmoid", None), ("relu", "relu")]


def test_another_operation():
    assert types(changed(("relu(a)", "tanh(a)"))) in (
        [("relu", None), (None, "tanh"), ("max_pool", "max_pool")],
        [(None, "tanh"), ("relu", None), ("max_pool", "max_pool")],
    )


def test_swapped_operands():
    text = TEXT.replace("y = softmax(c);", "y = sub(c, n);").replace("    a =", "    n = neg(x);\n    a =")
    text = text.replace("[4, 3, 3, 3]", "[3, 3, 3, 3]").replace("[1, 1, 2, 2]", "[1, 1, 1, 1]")
    assert types(nnefc.diff(text, text.replace("sub(c, n)", "sub(n, c)"))) == [("sub", "sub")]


def test_inputs_outputs_and_shapes():
    difference = changed(("[1, 3, 8, 8]", "[2, 3, 8, 8]"))
    assert [(port.old.shape, port.new.shape) for port in difference.inputs] == [((1, 3, 8, 8), (2, 3, 8, 8))]
    assert [(port.old.shape, port.new.shape) for port in difference.outputs] == [((1, 4, 4, 4), (2, 4, 4, 4))]
    assert not difference.operations
    more = changed(("-> ( y )", "-> ( y, b )"))
    assert [(port.old, port.new.name) for port in more.outputs] == [(None, "b")]


def test_variables():
    difference = changed(("label = 'w'", "label = 'v'"))
    assert [(each.label, each.old is None, each.new is None) for each in difference.variables] == [
        ("w", False, True),
        ("v", True, False),
    ]
    difference = changed(("[4, 3, 3, 3]", "[5, 3, 3, 3]"))
    assert [(each.old.shape[0], each.new.shape[0], each.largest) for each in difference.variables] == [(4, 5, None)]


def test_data_of_variables():
    data = np.arange(108, dtype=np.float32).reshape(4, 3, 3, 3)
    other = data.copy()
    other[1, 2, 0, 1] += 0.5
    models = [nnefc.load(TEXT, variables={"w": each}) for each in (data, other)]
    difference = nnefc.diff(*models)
    assert [(each.label, each.largest) for each in difference.variables] == [("w", 0.5)]
    assert "up to 0.5" in str(difference)
    assert not nnefc.diff(*models, data=False)
    assert not nnefc.diff(models[0], TEXT)  # no data to compare with
    other[0, 0, 0, 0] = np.nan
    assert nnefc.diff(models[0], nnefc.load(TEXT, variables={"w": other}))


def test_a_network_and_its_upgrade(tmp_path):
    (tmp_path / "new.nnef").write_text(nnefc.upgrade(NETWORKS / "googlenet_provisional.nnef"))
    upgraded = nnefc.load(tmp_path / "new.nnef")
    assert not nnefc.diff(upgraded, nnefc.load(upgraded.expand()))
    text = upgraded.expand()
    first = re.search(r"(\w+) = relu\(", text)
    assert first
    difference = nnefc.diff(upgraded, text.replace(first[0], first[0].replace("relu", "sigmoid")))
    assert len(difference.operations) <= 4


def test_shapes_of_results():
    difference = changed(("[1, 3, 8, 8]", "[2, 3, 8, 8]"))
    assert [(each.old.name, each.old.shape[0], each.new.shape[0]) for each in difference.tensors] == [(name, 1, 2) for name in "abcy"]
    assert "4 tensors" in repr(difference)


@pytest.mark.parametrize(("old", "new"), [("relu(a)", "tanh(a)"), ("(1, 1), (1, 1)", "(1, 1), (0, 2)"), ("label = 'w'", "label = 'v'"),
                                          ("[1, 3, 8, 8]", "[2, 3, 8, 8]"), ("-> ( y )", "-> ( y, b )"), ("relu(a)", "relu(a)")])
def test_the_text_is_that_of_the_command(tmp_path, old, new):
    for name, text in (("old.nnef", TEXT), ("new.nnef", TEXT.replace(old, new))):
        (tmp_path / name).write_text(text)
    done = subprocess.run([sys.executable, "-m", "nnefc", "diff", "old.nnef", "new.nnef"], cwd=tmp_path, capture_output=True, text=True)
    difference = nnefc.diff(tmp_path / "old.nnef", tmp_path / "new.nnef")
    assert done.returncode == bool(difference)
    assert done.stdout.removeprefix("--- old.nnef\n+++ new.nnef\n").rstrip("\n") == str(difference)


def test_models_of_openvino_remain_comparable_when_they_are_lowered(tmp_path):
    models = []
    for name, function in (("old", ops.relu), ("same", ops.relu), ("new", ops.tanh)):
        x = ops.parameter([1, 4], np.float32, name="x")
        path = tmp_path / f"{name}.xml"
        y = ops.add(function(x, name="f"), ops.constant(np.arange(4, dtype=np.float32), name="c"), name="y")
        ov.save_model(ov.Model([ops.result(y, name="r")], [x], "net"), path, compress_to_fp16=False)
        models.append(nnefc.load(path))
    old, same, new = models
    before = str(nnefc.diff(old, new))
    assert any(each.old and each.old.type == "ReLU" for each in nnefc.diff(old, new).operations)
    assert not nnefc.diff(old, same)
    old.compile()
    assert str(nnefc.diff(old, new)) == before
    assert not nnefc.diff(old, same)


def test_what_is_no_model():
    with pytest.raises(nnefc.ModelError):
        nnefc.diff(TEXT, TEXT.replace("relu", "rely"))
