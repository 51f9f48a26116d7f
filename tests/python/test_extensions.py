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
