"""Folders of transformations in Python, where they are given: to a model as it is opened or compiled, to the command line."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import nnefc
from nnefc.documents import binary

MODEL = """version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [2, 3]);
    y = tanh(x);
}
"""

X = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)

# Takes one operation for another.
SWAP = '''
from nnefc.mo.front.common.replacement import FrontReplacementOp
from nnefc.mo.ops.op import Op


class Swap(FrontReplacementOp):
    id = "IDENTITY"
    op = "FROM"
    enabled = ENABLED

    def replace_op(self, graph, node):
        return [Op(graph, {"op": "TO"}).create_node([node.in_port(0)]).id]
'''

SWAP_MIDDLE = '''
from nnefc.mo.middle.replacement import MiddleReplacementPattern
from nnefc.mo.ops.op import Op


class SineToCosine(MiddleReplacementPattern):
    def find_and_replace_pattern(self, graph):
        for sine in graph.get_op_nodes(op="Sin"):
            cosine = Op(graph, {"op": "Cos"}).create_node([sine.in_port(0)])
            sine.out_port(0).get_connection().set_source(cosine.out_port(0))
            graph.remove_node(sine)
'''

# What an entry of a configuration drives: adds its `amount` to each output.
ADDING = '''
import numpy as np
from nnefc.mo.front.tf.replacement import FrontReplacementFromConfigFileGeneral
from nnefc.mo.ops.const import Const
from nnefc.mo.ops.elementwise import Add


class Adding(FrontReplacementFromConfigFileGeneral):
    replacement_id = "Adding"

    def transform_graph(self, graph, replacement_descriptions):
        for result in graph.get_op_nodes(op="Result"):
            amount = Const(graph, {"value": np.float32(replacement_descriptions["amount"])}).create_node()
            sum = Add(graph).create_node([result.in_port(0).get_source(), amount])
            result.in_port(0).get_connection().set_source(sum.out_port(0))
'''


def write(folder, **modules):
    """Writes modules to a folder of extensions."""
    for name, text in modules.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def swap(source, target, identity="swap", enabled=True):
    text = SWAP.replace("IDENTITY", identity).replace("ENABLED", str(enabled))
    return text.replace("FROM", source).replace("TO", target)


def adding(tmp_path, amount):
    """A configuration with what it drives."""
    entry = {"id": "Adding", "match_kind": "general", "custom_attributes": {"amount": amount}}
    (tmp_path / "adding.json").write_text(json.dumps([entry]))
    return write(tmp_path / "adding", front__adding=ADDING), tmp_path / "adding.json"


def close(executable, expected):
    np.testing.assert_allclose(executable(x=X)["y"], expected, rtol=1e-5, atol=1e-6)


def test_load_and_check_take_one_path_or_several(tmp_path):
    first = write(tmp_path / "first", front__swap=swap("tanh", "Sin", "first"))
    second = write(tmp_path / "second", middle__none="")
    for given in (str(first), first, [str(first)], (second, first)):
        close(nnefc.load(MODEL, extensions=given).compile(threads=1), np.sin(X))
        assert nnefc.check(MODEL, extensions=given)


def test_compile_takes_a_folder(tmp_path):
    model = nnefc.load(MODEL)
    close(model.compile(extensions=write(tmp_path / "e", front__swap=swap("tanh", "Sin")), threads=1), np.sin(X))
    close(model.compile(threads=1), np.tanh(X))  # the model is as it was


def test_compile_adds_to_the_folders_of_the_model(tmp_path):
    model = nnefc.load(MODEL, extensions=write(tmp_path / "a", front__swap=swap("tanh", "Sin", "first")))
    second = write(tmp_path / "b", middle__sine=SWAP_MIDDLE)
    close(model.compile(extensions=[second], threads=1), np.cos(X))
    close(model.compile(threads=1), np.sin(X))


def test_compile_switches_transformations(tmp_path):
    off = write(tmp_path / "off", front__swap=swap("tanh", "Sin", enabled=False))
    model = nnefc.load(MODEL, extensions=off)
    close(model.compile(threads=1), np.tanh(X))
    close(model.compile(enable=["swap"], threads=1), np.sin(X))
    close(model.compile(enable=["swap"], disable=["swap"], threads=1), np.tanh(X))
    with pytest.raises(ValueError, match="did you mean `swap`"):
        model.compile(enable=["swop"])
    with pytest.raises(TypeError, match=r"\['swap'\]"):
        model.compile(enable="swap")


def test_compile_takes_a_configuration(tmp_path):
    folder, configuration = adding(tmp_path, 2.5)
    executable = nnefc.load(MODEL).compile(extensions=folder, configuration=configuration, threads=1)
    close(executable, np.tanh(X) + 2.5)


def test_compile_keeps_the_data_of_a_text(tmp_path):
    text = MODEL.replace("y = tanh(x);", "w = variable<scalar>(shape = [2, 3], label = 'w');\n    p = mul(x, w);\n    y = tanh(p);")
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    model = nnefc.load(text, variables={"w": weights})
    close(model.compile(extensions=write(tmp_path / "e", front__swap=swap("tanh", "Sin")), threads=1), np.sin(X * weights))


def test_a_folder_that_is_missing_is_told(tmp_path):
    with pytest.raises(nnefc.SystemFailure, match="missing"):
        nnefc.load(MODEL).compile(extensions=tmp_path / "missing")
    report = nnefc.check(MODEL, extensions=str(tmp_path / "missing"))
    assert [item.rule for item in report.errors] == ["plugin.unreadable"]


@pytest.mark.parametrize(
    ("text", "rule", "told"),
    [
        ("x = (\n", "plugin.not-loadable", "plug-in `FOLDER`: `FOLDER/front/bad.py:1` is no Python: '(' was never closed"),
        ("\nraise OSError('gone')\n", "plugin.not-loadable", "`FOLDER/front/bad.py` cannot be imported: OSError: gone (line 2)"),
        ("import sys\nsys.exit(7)\n", "plugin.not-loadable", "`FOLDER/front/bad.py` cannot be imported: SystemExit: 7 (line 2)"),
        (swap("", "Sin"), "plugin.registration", "plug-in `FOLDER`: a transformation cannot be made: `FOLDER/front/bad.py`: Swap has no `op`"),
    ],
)  # fmt: skip
def test_a_folder_that_cannot_be_loaded_is_told(tmp_path, text, rule, told):
    bad = write(tmp_path / "bad", front__bad=text)
    good = write(tmp_path / "good", front__swap=swap("tanh", "Sin"))
    report = nnefc.check(MODEL, extensions=[good, bad])
    assert [item.rule for item in report.errors] == [rule]
    assert told.replace("FOLDER", str(bad)) in report.errors[0].message
    with pytest.raises(nnefc.ModelError, match=rule):
        nnefc.load(MODEL).compile(extensions=[bad, good])


def test_each_folder_that_cannot_be_loaded_is_told(tmp_path):
    (tmp_path / "empty").mkdir()
    folders = [tmp_path / "empty", write(tmp_path / "bad", front__bad="class :\n"), tmp_path / "empty"]
    messages = [item.message for item in nnefc.check(MODEL, extensions=folders).errors]
    assert len(messages) == 2
    assert "has no Python modules" in messages[0]
    assert "is no Python" in messages[1]


def test_a_class_that_cannot_be_made_is_told(tmp_path):
    text = swap("tanh", "Sin") + "\n    def __init__(self):\n        raise OSError('gone')\n"
    folder = write(tmp_path / "bad", front__bad=text)
    (error,) = nnefc.check(MODEL, extensions=folder).errors
    assert error.rule == "plugin.registration"
    assert f"`{folder}/front/bad.py`: `swap`: OSError: gone (line 15)" in error.message


def test_an_id_belongs_to_one_folder(tmp_path):
    first = write(tmp_path / "first", front__swap=swap("tanh", "Sin"))
    second = write(tmp_path / "second", front__other=swap("tanh", "Cos"))
    (error,) = nnefc.check(MODEL, extensions=[first, second]).errors
    assert error.rule == "plugin.duplicate"
    assert f"plug-in `{second}`: the transformation `swap` is registered by `{first}` already" in error.message


# ---- extractors ----

LEAKY = MODEL.replace("tanh(x)", "leaky_relu(x, alpha = 0.25)")

# Reads the slope of leaky_relu anew.
EXTRACTOR = '''
from nnefc.mo.front.extractor import FrontExtractorOp
from nnefc.mo.ops.activation_ops import Elu
from nnefc.mo.ops.op import Op


class LeakyExtractor(FrontExtractorOp):
    op = "OPERATION"
    enabled = ENABLED

    @classmethod
    def extract(cls, node):
        BODY
        return cls.enabled
'''


def extractor(body, operation="leaky_relu", enabled=True):
    return EXTRACTOR.replace("BODY", body).replace("OPERATION", operation).replace("ENABLED", str(enabled))


def leaky(slope):
    return np.where(X < 0, slope * X, X)


def test_an_extractor_gives_attributes(tmp_path):
    folder = write(tmp_path / "e", front__leaky_ext=extractor("node['alpha'] = node.alpha + 0.5"))
    close(nnefc.load(LEAKY).compile(extensions=folder, threads=1), leaky(0.75))


@pytest.mark.parametrize("operation", ["Leaky_ReLU", "LEAKY_RELU"])
def test_an_extractor_is_found_whatever_the_case(tmp_path, operation):
    folder = write(tmp_path / "e", leaky_ext=extractor("node.alpha = 0.5", operation))
    close(nnefc.load(LEAKY).compile(extensions=folder, threads=1), leaky(0.5))


def test_an_extractor_makes_nodes_of_another_operation(tmp_path):
    text = MODEL.replace("y = tanh(x);", "z = leaky_relu(x, alpha = 0.25);\n    v = neg(z);\n    y = add(v, z);")
    body = "Elu.update_node_stat(node, {'alpha': 2 * node.alpha})\n        assert node.op == 'Elu' and node.name == 'z'"
    model = nnefc.load(text).transform(extensions=write(tmp_path / "e", front__tf__leaky_ext=extractor(body)))
    close(model.compile(threads=1), np.zeros_like(X))
    assert 'opset1.Elu "z" (%0) {alpha = 0.5} : f32[2,3] as ["z"]' in model.lower()
    body = "Elu.update_node_stat(node, {'alpha': 1.0})"
    executable = nnefc.load(LEAKY).compile(extensions=write(tmp_path / "f", leaky_ext=extractor(body)), threads=1)
    close(executable, np.where(X < 0, np.exp(X) - 1, X))


def test_extractors_run_before_front_transformations(tmp_path):
    """One gives what the other looks for."""
    reader = swap("leaky_relu", "Sin").replace("def replace_op(self, graph, node):", "def replace_op(self, graph, node):\n        assert node.mark == 7")
    folder = write(tmp_path / "e", front__aaa=reader, front__zzz=extractor("Op.update_node_stat(node, {'mark': 7})"))
    close(nnefc.load(LEAKY).compile(extensions=folder, threads=1), np.sin(X))


def test_a_later_extractor_replaces_an_earlier_one(tmp_path):
    a = write(tmp_path / "a", front__leaky_ext=extractor("node.alpha += 0.5"))
    b = write(tmp_path / "b", front__leaky_ext=extractor("node.alpha += 1", "Leaky_ReLU"))
    model = nnefc.load(LEAKY)
    close(model.compile(extensions=[a, b], threads=1), leaky(1.25))
    close(model.compile(extensions=[b, a], threads=1), leaky(0.75))
    both = write(tmp_path / "c", front__leaky_ext=extractor("node.alpha += 0.5") + "\n\nclass Second(LeakyExtractor):\n"
                 "    @classmethod\n    def extract(cls, node):\n        node.alpha = 4.0\n        return True\n")  # fmt: skip
    close(model.compile(extensions=both, threads=1), leaky(4))


def test_an_extractor_that_is_off_replaces_none(tmp_path):
    a = write(tmp_path / "a", first_ext=extractor("node.alpha += 0.5"))
    b = write(tmp_path / "b", second_ext=extractor("node.alpha += 1", enabled=False))
    model = nnefc.load(LEAKY)
    close(model.compile(extensions=[a, b], threads=1), leaky(0.75))
    close(model.compile(extensions=[a, b], enable=["second_ext.LeakyExtractor"], threads=1), leaky(1.75))
    close(model.compile(extensions=[a, b], disable=["first_ext.LeakyExtractor"], threads=1), leaky(0.25))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise LookupError('no such slope')", "`y` (leaky_relu): LookupError: no such slope (line 13)"),
        ("node.slope", "`y` (leaky_relu): AttributeError: `y` (leaky_relu) has no attribute `slope` (line 13)"),
        ("node['slope']", "`y` (leaky_relu): `y` (leaky_relu) has no attribute `slope` (line 13)"),
        ("raise SystemExit", "`y` (leaky_relu): SystemExit"),
        ("Op.update_node_stat(node, {'op': 'NoSuchOperation'})", "NoSuchOperation"),
    ],
)
def test_an_extractor_that_raises_is_told(tmp_path, body, told):
    folder = write(tmp_path / "e", front__leaky_ext=extractor(body))
    with pytest.raises(nnefc.ModelError) as caught:
        nnefc.load(LEAKY, extensions=folder).compile()
    (error,) = caught.value.report.errors
    assert told in error.message
    assert str(folder / "front" / "leaky_ext.py") in error.message
    assert "`front.leaky_ext.LeakyExtractor`" in error.message


def test_an_extractor_without_its_members_is_told(tmp_path):
    folder = write(tmp_path / "e", leaky_ext=extractor("pass").replace("    op =", "    other ="))
    (error,) = nnefc.check(LEAKY, extensions=folder).errors
    assert error.rule == "plugin.registration"
    assert f"`{folder / 'leaky_ext.py'}`: LeakyExtractor has no `op`" in error.message
    folder = write(tmp_path / "f", leaky_ext=extractor("pass").replace("def extract", "def other"))
    with pytest.raises(nnefc.ModelError, match="LeakyExtractor does not override `extract`"):
        nnefc.load(LEAKY, extensions=folder).compile()
