"""Folders of transformations in Python, where they are given: to a model, to what is made of it, to the command line."""

import subprocess
import sys

import numpy as np
import pytest

import nnefc

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
    op = "FROM"

    def replace_op(self, graph, node):
        return [Op(graph, {"op": "TO"}).create_node([node.in_port(0)]).id]
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
        amount = np.float32(replacement_descriptions["amount"])
        for result in graph.get_op_nodes(op="Result"):
            source = result.in_port(0).get_source()
            added = Add(graph).create_node([source, Const(graph, {"value": amount}).create_node()])
            result.in_port(0).disconnect()
            result.in_port(0).connect(added.out_port(0))
'''

CONFIGURATION = '[{"id": "Adding", "match_kind": "general", "custom_attributes": {"amount": 2.5}}]'

# Notes an amount at a node, and what makes an addition of it.
EXTRACTOR = '''
from nnefc.mo.front.extractor import FrontExtractorOp


class NAME(FrontExtractorOp):
    op = "OP"
    enabled = True

    @classmethod
    def extract(cls, node):
        node["amount"] = AMOUNT
        return cls.enabled
'''

ADD_AMOUNT = '''
import numpy as np
from nnefc.mo.front.common.replacement import FrontReplacementPattern
from nnefc.mo.ops.const import Const
from nnefc.mo.ops.elementwise import Add


class AddAmount(FrontReplacementPattern):
    def find_and_replace_pattern(self, graph):
        for node in graph.get_op_nodes(op="tanh"):
            amount = Const(graph, {"value": np.float32(node.amount)}).create_node()
            del node["amount"]
            added = Add(graph).create_node()
            node.out_port(0).get_connection().set_source(added.out_port(0))
            added.in_port(0).connect(node.out_port(0))
            added.in_port(1).connect(amount.out_port(0))
'''


def write(folder, **modules):
    """Writes modules to a folder of extensions."""
    for name, text in modules.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def swap(source, target):
    return SWAP.replace("FROM", source).replace("TO", target)


def extractor(name, amount, op="tanh"):
    return EXTRACTOR.replace("NAME", name).replace("OP", op).replace("AMOUNT", str(amount))


def run(executable):
    return executable(x=X)["y"]


def command(tmp_path, *words):
    """`python -m nnefc` with the model."""
    (tmp_path / "net.nnef").write_text(MODEL)
    words = [sys.executable, "-m", "nnefc", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)


def test_compile_takes_a_folder(tmp_path):
    model = nnefc.load(MODEL)
    executable = model.compile(extensions=write(tmp_path / "e", front__swap=swap("tanh", "Sin")), threads=1)
    np.testing.assert_allclose(run(executable), np.sin(X), rtol=1e-5)
    np.testing.assert_allclose(run(model.compile(threads=1)), np.tanh(X), rtol=1e-5)  # the model is as it was


@pytest.mark.parametrize("given", [str, lambda folder: folder, lambda folder: [folder]])
def test_load_and_check_take_one_folder_or_several(tmp_path, given):
    folder = given(write(tmp_path / "e", swap=swap("tanh", "Sin")))
    np.testing.assert_allclose(run(nnefc.load(MODEL, extensions=folder).compile(threads=1)), np.sin(X), rtol=1e-5)
    assert nnefc.check(MODEL, extensions=folder)


def test_compile_takes_several_folders_and_switches(tmp_path):
    first = write(tmp_path / "a", front__one=swap("tanh", "Sin"))
    # Without an order, later names come first.
    later = """
class _One(FrontReplacementOp):
    built_in = "front.one.Swap"


class Swap(FrontReplacementOp):
    def run_after(self):
        return [_One]

"""
    second = write(tmp_path / "b", front__two=swap("Sin", "Cos").replace("class Swap(FrontReplacementOp):\n", later))
    both = nnefc.load(MODEL).compile(extensions=[first, second], threads=1)
    np.testing.assert_allclose(run(both), np.cos(X), rtol=1e-5)
    off = nnefc.load(MODEL).compile(extensions=[first, second], disable=["front.two.Swap"], threads=1)
    np.testing.assert_allclose(run(off), np.sin(X), rtol=1e-5)
    with pytest.raises(ValueError, match=r"front\.three\.Swap"):
        nnefc.load(MODEL).compile(extensions=[first, second], disable=["front.three.Swap"])


def test_compile_takes_a_configuration(tmp_path):
    (tmp_path / "adding.json").write_text(CONFIGURATION)
    made = nnefc.load(MODEL).compile(
        extensions=write(tmp_path / "e", front__adding=ADDING), configuration=tmp_path / "adding.json", threads=1
    )
    np.testing.assert_allclose(run(made), np.tanh(X) + 2.5, rtol=1e-5)


def test_compile_tells_what_is_wrong_with_a_folder(tmp_path):
    model = nnefc.load(MODEL)
    with pytest.raises(ImportError, match="has no Python modules"):
        (tmp_path / "empty").mkdir()
        model.compile(extensions=tmp_path / "empty")
    with pytest.raises(ImportError, match=r"bad\.py:2` is no Python"):
        model.compile(extensions=write(tmp_path / "syntax", bad="x = 1\ny = = 2\n"))
    with pytest.raises(nnefc.SystemFailure, match="missing"):
        model.compile(extensions=tmp_path / "missing")


def test_an_extractor_gives_attributes(tmp_path):
    folder = write(tmp_path / "e", front__extract=extractor("Amount", 2), front__add=ADD_AMOUNT)
    np.testing.assert_allclose(run(nnefc.load(MODEL).compile(extensions=folder, threads=1)), np.tanh(X) + 2, rtol=1e-5)


def test_of_several_extractors_the_last_counts(tmp_path):
    first = write(tmp_path / "a", front__extract=extractor("Amount", 2, "Tanh"), front__add=ADD_AMOUNT)
    second = write(tmp_path / "b", front__other=extractor("Other", 3, "TANH"))
    made = nnefc.load(MODEL).compile(extensions=[first, second], threads=1)
    np.testing.assert_allclose(run(made), np.tanh(X) + 3, rtol=1e-5)
    made = nnefc.load(MODEL).compile(extensions=[second, first], threads=1)
    np.testing.assert_allclose(run(made), np.tanh(X) + 2, rtol=1e-5)


def test_an_extractor_that_fails_is_told(tmp_path):
    folder = write(tmp_path / "e", front__extract=extractor("Amount", "1 / 0"))
    with pytest.raises(nnefc.ModelError, match=r"(?s)front\.extract\.Amount.*extract\.py.*ZeroDivisionError.*line 11"):
        nnefc.load(MODEL).compile(extensions=folder)
    folder = write(tmp_path / "n", front__extract=extractor("Amount", 2, ""))
    with pytest.raises(nnefc.ModelError, match="Amount has no `op`"):
        nnefc.load(MODEL).compile(extensions=folder)


def test_each_command_takes_a_folder(tmp_path):
    folder = write(tmp_path / "e", front__swap=swap("tanh", "Sin"))
    np.savez(tmp_path / "in.npz", x=X)
    np.savez(tmp_path / "expected.npz", y=np.sin(X))
    done = command(tmp_path, "run", "net.nnef", "--extensions", folder, "--inputs", "in.npz", "--compare",
                   "expected.npz", "--tolerance", "approximate")
    assert done.returncode == 0, done.stderr
    done = command(tmp_path, "run", "net.nnef", "--inputs", "in.npz", "--compare", "expected.npz")
    assert done.returncode == 1
    done = command(tmp_path, "transform", "net.nnef", f"--extensions={folder}")
    assert done.returncode == 0, done.stderr
    assert "opset1.Sin" in done.stdout
    assert "Tanh" not in done.stdout
    done = command(tmp_path, "compile", "net.nnef", "--extensions", folder, "-o", "net.xml")
    assert done.returncode == 0, done.stderr
    assert 'type="Sin"' in (tmp_path / "net.xml").read_text()
    assert (tmp_path / "net.bin").exists()
    done = command(tmp_path, "check", "net.nnef", "--extensions", folder)
    assert (done.returncode, done.stderr) == (0, "")
    done = command(tmp_path, "transform", "net.nnef", "--extensions", folder, "--list-transformations")
    assert "front.swap.Swap" in done.stdout


def test_the_command_line_takes_a_configuration(tmp_path):
    folder = write(tmp_path / "e", front__adding=ADDING, front__swap=swap("tanh", "Sin"))
    (tmp_path / "adding.json").write_text(CONFIGURATION)
    np.savez(tmp_path / "in.npz", x=X)
    done = command(tmp_path, "run", "net.nnef", "--extensions", folder, "--transformations-config", "adding.json",
                   "--inputs", "in.npz", "--outputs", "out.npz")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], np.sin(X) + 2.5, rtol=1e-5)


def test_the_command_line_tells_what_is_wrong(tmp_path):
    folder = write(tmp_path / "e", front__extract=extractor("Amount", "1 / 0"))
    done = command(tmp_path, "compile", "net.nnef", "--extensions", folder, "-o", "net.xml")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert not (tmp_path / "net.xml").exists()
    done = command(tmp_path, "compile", "net.nnef", "--extensions", tmp_path / "missing")
    assert done.returncode == 2
    assert "missing" in done.stderr
    done = command(tmp_path, "check", "net.nnef", "--extensions", write(tmp_path / "s", bad="y = = 2\n"))
    assert done.returncode == 2
    assert "bad.py:1` is no Python" in done.stderr
    done = command(tmp_path, "fmt", "net.nnef", "--extensions", folder)
    assert done.returncode == 2
    assert "--extensions" in done.stderr
    done = command(tmp_path, "check", "wrong.nnef", "--extensions", folder)
    assert done.returncode == 2
    assert "wrong.nnef" in done.stderr
