"""Folders of transformations in Python: for a model when it is opened or compiled, and for the command line."""

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

# Replaces one operation by another.
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

# A transformation with a configuration: adds the entry's `amount` to each output.
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
    """Returns a configuration with its transformation."""
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
    close(model.compile(threads=1), np.tanh(X))  # the model is unchanged


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
        ("x = (\n", "plugin.not-loadable", "plug-in `FOLDER`: `FOLDER/front/bad.py:1` is not valid Python: '(' was never closed"),
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
    assert "is not valid Python" in messages[1]


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

# Reads the slope of leaky_relu again.
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
    """The extractor adds an attribute that the transformation searches for."""
    reader = swap("leaky_relu", "Sin").replace("def replace_op(self, graph, node):", "def replace_op(self, graph, node):\n        assert node.mark == 7")
    folder = write(tmp_path / "e", front__aaa=reader, front__zzz=extractor("Op.update_node_stat(node, {'mark': 7})"))
    close(nnefc.load(LEAKY).compile(extensions=folder, threads=1), np.sin(X))


def test_a_later_extractor_replaces_an_earlier_one(tmp_path, here):
    (here / "net.nnef").write_text(LEAKY)
    a = write(tmp_path / "a", front__leaky_ext=extractor("node.alpha += 0.5"))
    b = write(tmp_path / "b", front__leaky_ext=extractor("node.alpha += 1", "Leaky_ReLU"))
    model = nnefc.load(LEAKY)
    close(model.compile(extensions=[a, b], threads=1), leaky(1.25))
    close(model.compile(extensions=[b, a], threads=1), leaky(0.75))
    both = write(tmp_path / "c", front__leaky_ext=extractor("node.alpha += 0.5") + "\n\nclass Second(LeakyExtractor):\n"
                 "    @classmethod\n    def extract(cls, node):\n        node.alpha = 4.0\n        return True\n")  # fmt: skip
    close(model.compile(extensions=both, threads=1), leaky(4))
    listed = run("transform", "--list-transformations", "--extensions=a,b").stdout
    assert [line.split()[1:] for line in listed.splitlines() if "LeakyExtractor" in line] == [
        ["front", "FrontExtractorOp", "enabled"]
    ]


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


# ---- the command line ----


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Makes a folder with the model, in which commands run."""
    (tmp_path / "net.nnef").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words, native=False):
    program = [binary()] if native else [sys.executable, "-m", "nnefc"]
    return subprocess.run([*program, *words], capture_output=True, text=True, timeout=60, check=False)


# The required options of a command in addition to a model.
WORDS = {"bench": ("--iterations", "1"), "diff": ("net.nnef",), "run": ("--random-inputs", "1")}


def commands_with_extensions():
    """Returns the commands whose help has the option."""
    listed = run("--help", native=True).stdout.split("Subcommands:")[1].split("\n\n")[0]
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line.split()]
    return [name for name in names if "--extensions" in run(name, "--help", native=True).stdout]


@pytest.mark.parametrize("command", commands_with_extensions())
def test_every_command_takes_folders(here, command):
    write(here / "ext", front__swap=swap("tanh", "Sin"))
    words = (command, "swap" if command == "explain" else "net.nnef", *WORDS.get(command, ()))
    done = run(*words, "--extensions", "ext")
    assert done.returncode == 0, done.stderr
    assert "plugin" not in done.stderr
    done = run(*words, "--extensions", "ext", native=True)
    assert done.returncode == 2
    assert "`ext` is a folder, no shared library; `python -m nnefc` takes folders of Python modules" in done.stderr
    assert run(command, "--help", "--extensions", "ext").stdout == run(command, "--help", native=True).stdout


@pytest.mark.parametrize("given", [["--extensions", "a", "--extensions=b"], ["--extensions", "a,b"], ["--extensions=b,a"]])
def test_run_computes_what_folders_make(here, given):
    """Folders are separate arguments, or separated by commas as in the Model Optimizer."""
    write(here / "a", front__swap=swap("tanh", "Sin").replace("replace_op(self, graph, node):", "replace_op(self, graph, node):\n        print('said')"))
    write(here / "b", middle__sine=SWAP_MIDDLE)
    np.save("x.npy", X)
    done = run("run", "net.nnef", *given, "--input", "x=x.npy", "--outputs", "out.npz", "--threads", "1")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load("out.npz")["y"], np.cos(X), rtol=1e-5, atol=1e-6)
    assert "said" not in done.stdout
    assert done.stderr == "said\n"


def test_the_command_line_takes_a_configuration(here):
    folder, configuration = adding(here, 2.5)
    np.save("x.npy", X)
    words = ("run", "net.nnef", "--input", "x=x.npy", "--outputs", "out.npz")
    done = run(*words, "--extensions", str(folder), "--transformations-config", str(configuration))
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load("out.npz")["y"], np.tanh(X) + 2.5, rtol=1e-5)
    configuration.write_text("[{")
    done = run(*words, "--extensions", str(folder), "--transformations-config", str(configuration))
    assert done.returncode == 1
    assert "adding.json" in done.stderr


def test_the_command_line_switches_transformations(here):
    write(here / "ext", front__swap=swap("tanh", "Sin", enabled=False))
    words = ("compile", "net.nnef", "--extensions", "ext")
    assert "opset1.Tanh" in run(*words).stdout
    assert "opset1.Sin" in run(*words, "--enable-transformations", "swap").stdout
    listed = run("transform", "--list-transformations", "--extensions", "ext").stdout
    assert [line.split()[1:] for line in listed.splitlines() if line.startswith("swap ")] == [
        ["front", "FrontReplacementOp", "disabled", "by", "itself"]
    ]


RAISING = """
from nnefc.mo.front.common.replacement import FrontReplacementPattern


class Raising(FrontReplacementPattern):
    def find_and_replace_pattern(self, graph):
        raise KeyError("lost")
"""


def test_exit_codes_and_messages_are_those_of_the_program(here):
    write(here / "ext", front__swap=swap("tanh", "Sin"))
    write(here / "bad", front__bad="class :\n")
    write(here / "raising", front__raising=RAISING)
    (here / "wrong.nnef").write_text(MODEL.replace("tanh(x)", "tanh(z)"))
    expected = [
        (1, "plug-in `bad`: `bad/front/bad.py:1` is not valid Python: invalid syntax [plugin.not-loadable]", ["net.nnef", "--extensions", "bad"]),
        (1, "raising/front/raising.py", ["net.nnef", "--extensions", "raising"]),
        (1, "KeyError: 'lost' (line 7)", ["net.nnef", "--extensions", "raising"]),
        (1, "wrong.nnef:5:14: error: ", ["wrong.nnef", "--extensions", "ext"]),
        (2, "cannot open `none`: no such file or directory [plugin.unreadable]", ["net.nnef", "--extensions", "none"]),
        (2, "cannot open `none`: no such file or directory [plugin.unreadable]", ["net.nnef", "--extensions", "ext", "--extensions", "none"]),
        (2, "cannot open `none.nnef`", ["none.nnef", "--extensions", "ext"]),
        (2, "`compile` has no option `--nothing`", ["net.nnef", "--extensions", "ext", "--nothing"]),
        (2, "`--extensions` needs a value", ["net.nnef", "--extensions", "ext", "--extensions"]),
        (2, "`fmt` has no option `--extensions`", None),
    ]  # fmt: skip
    for exit_code, told, words in expected:
        done = run("compile", *words) if words else run("fmt", "net.nnef", "--extensions", "ext")
        assert done.returncode == exit_code, words
        assert told in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stdout == ""
    assert run("compile", "net.nnef", "--extensions", "raising", "-o", "net.xml").returncode == 1
    assert not (here / "net.xml").exists()
    report = json.loads(run("check", "net.nnef", "--extensions", "bad", "--format", "json").stderr)
    assert [item["rule"] for item in report["diagnostics"]] == ["plugin.not-loadable"]


def test_a_folder_has_whatever_name(here):
    for name in (b"\xc3\xbc b", b"b\xff", b"a,b"):
        write(here / os.fsdecode(name), front__swap=swap("tanh", "Sin"))
        done = subprocess.run(
            [sys.executable, "-m", "nnefc", "compile", "net.nnef", b"--extensions", name], capture_output=True, timeout=60, check=False
        )
        assert b"opset1.Sin" in done.stdout, done.stderr
        write(here / os.fsdecode(name), front__swap=RAISING)
        done = subprocess.run(
            [sys.executable, "-m", "nnefc", "compile", "net.nnef", b"--extensions", name], capture_output=True, timeout=60, check=False
        )
        assert done.returncode == 1
        assert b"KeyError: 'lost' (line 7)" in done.stderr
        assert b"Traceback" not in done.stderr


def test_a_document_of_standard_input(here):
    write(here / "ext", front__swap=swap("tanh", "Sin"))
    words = [sys.executable, "-m", "nnefc", "compile", "-", "--extensions", "ext"]
    done = subprocess.run(words, input=MODEL, capture_output=True, text=True, timeout=60, check=False)
    assert "opset1.Sin" in done.stdout, done.stderr


WAITING = """
import time
from nnefc.mo.front.common.replacement import FrontReplacementPattern


class Waiting(FrontReplacementPattern):
    def find_and_replace_pattern(self, graph):
        open("begun", "w").close()
        time.sleep(60)
"""


def test_an_interruption_ends_it_as_it_ends_the_program(here):
    write(here / "ext", front__waiting=WAITING)
    words = [sys.executable, "-m", "nnefc", "compile", "net.nnef", "--extensions", "ext"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        while not os.path.exists("begun"):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == -signal.SIGINT
        assert process.stderr.read() == ""


@pytest.mark.parametrize("extensions", [(), ("--extensions", "ext")])
def test_a_closed_pipe_ends_it_as_it_ends_the_program(here, extensions):
    write(here / "ext", front__swap=swap("tanh", "Sin"))
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "nnefc", "compile", "net.nnef", *extensions]
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(writer)
    assert done.returncode == -signal.SIGPIPE
    assert done.stderr == ""


@pytest.mark.parametrize("options", [[], ["--disable-transformations", "front.adding.Adding"]])
def test_the_explanation_of_a_configuration_names_the_class(tmp_path, options):
    folder, configuration = adding(tmp_path, 2.5)
    words = [sys.executable, "-m", "nnefc", "transform", "--explain-config", str(configuration), "--extensions", str(folder)]
    done = subprocess.run([*words, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"{configuration}:1: `Adding`, `match_kind` `general`"
    assert lines[1].startswith("  read by `front.adding.Adding`, a FrontReplacementFromConfigFileGeneral of `")
    assert lines[1].endswith(", which is disabled") == bool(options)
    assert lines[2:] == ["  runs once, on the whole graph", "  attributes: `amount`"]
