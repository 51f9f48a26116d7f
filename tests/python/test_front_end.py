"""OpenVINO's front end for NNEF: documents that OpenVINO's own entry points read, without Python code in between."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from conftest import LINEAR, ROOT

import nnefc

ov = pytest.importorskip("openvino")
openvino = pytest.importorskip("nnefc.openvino")

TWO = """version 1.0;
extension KHR_enable_operator_expressions;
graph net(a, b) -> (sum, difference)
{
    a = external(shape = [1, 3]);
    b = external(shape = [1, 3]);
    sum = a + b;
    difference = a - b;
}
"""


def run(model, *arrays):
    compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return list(compiled(list(arrays)).values())


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.nnef"
    path.write_text(TWO)
    return path


@pytest.mark.parametrize("name", ["model", "model/graph.nnef", "model.tgz", "model.tar"])
def test_convert_model_reads_all_forms(linear, weights, tmp_path, name):
    linear.save(tmp_path / name.partition("/")[0])
    model = ov.convert_model(tmp_path / name)
    assert [port.any_name for port in model.inputs] == ["x"]
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    (result,) = run(model, x)
    np.testing.assert_allclose(result, x @ weights["fc/w"].T + weights["fc/b"], rtol=1e-5)


def test_bodies_of_loops_have_their_constants(tmp_path):
    model = nnefc.load(ROOT / "tests" / "networks" / "lstm_scan.nnef", random_weights=1)
    model.save(tmp_path / "model.tgz")
    executable = model.compile()
    inputs = executable.random_inputs(1)
    ours = executable.run(inputs)
    theirs = run(ov.convert_model(tmp_path / "model.tgz"), *[inputs[port.name] for port in model.inputs])
    for port, expected in zip(model.outputs, theirs, strict=True):
        assert np.abs(ours[port.name] - expected).max() <= 1e-4 * np.abs(expected).max()


def test_inputs_get_shapes_and_outputs_are_chosen(two):
    a, b = np.ones((4, 3), np.float32), np.full((4, 3), 3, np.float32)
    model = ov.convert_model(two, input={"a": [4, 3], "b": [4, 3]}, output="difference")
    (result,) = run(model, a, b)
    np.testing.assert_array_equal(result, a - b)
    turned = ov.convert_model(two, input=[("b", [4, 3]), ("a", [4, 3])], output=["difference", "sum"])
    assert {port.any_name for port in turned.outputs} == {"difference", "sum"}
    assert [list(port.get_shape()) for port in turned.inputs] == [[4, 3], [4, 3]]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"input": {"a": [4, 3], "b": [5, 3]}}, "binary.broadcast"),
        ({"input": {"a": [-1, 3], "b": [-1, 3]}}, "give numbers for all"),
        ({"input": [("a", ov.Type.i32), "b"]}, "its document says f32"),
        ({"input": {"a": [1, 3]}}, "taken with all its inputs"),
        ({"output": "product"}, "product"),
    ],
)
def test_what_cannot_be_is_told(two, options, told):
    with pytest.raises(Exception, match=told):
        ov.convert_model(two, **options)


def test_mistakes_are_told_as_nnefc_tells_them(tmp_path):
    path = tmp_path / "net.nnef"
    path.write_text(LINEAR.replace("linear(", "lineer("))
    with pytest.raises(Exception, match=r"net.nnef:\d+:\d+: error: .*lineer.*did you mean `linear`"):
        ov.convert_model(path)


def test_the_front_end_takes_nothing_else(two, tmp_path):
    manager = ov.frontend.FrontEndManager()
    front_end = manager.load_by_framework("nnef")
    assert front_end.get_name() == "nnef"
    assert front_end.supported(str(two))
    other = tmp_path / "other"
    other.mkdir()
    for name in ("none.nnef", "other", "two.onnx"):
        assert not front_end.supported(str(tmp_path / name))
    assert manager.load_by_framework("onnx").get_name() == "onnx"


@pytest.fixture(scope="module")
def heavy(tmp_path_factory):
    """Makes 200 MB of weights, as a folder and as OpenVINO IR."""
    folder = tmp_path_factory.mktemp("heavy")
    text = """version 1.0;
graph net(x) -> (y)
{
    x = external(shape = [1, 5000]);
    w = variable(shape = [10000, 5000], label = 'w');
    y = linear(x, w);
}
"""
    model = nnefc.load(text, random_weights=1)
    model.save(folder / "model")
    model.save(folder / "model.xml")
    return folder


MEASURE = """
import re, sys
import nnefc.openvino, openvino as ov
def kilobytes(name):
    with open("/proc/self/status") as status:
        return int(re.search(name + r":\\s+(\\d+)", status.read()).group(1))
start = kilobytes("VmHWM"), kilobytes("RssAnon")
READ
read = kilobytes("VmHWM") - start[0], kilobytes("RssAnon") - start[1]
ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
print(*read, kilobytes("VmHWM"))
"""


def test_weights_are_not_copied(heavy):
    """Weights are not read before they are needed either, except by convert_model's processing of every model."""

    def measure(line):
        command = [sys.executable, "-c", MEASURE.replace("READ", line), str(heavy)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [int(word) for word in told.split()]

    *_, of_ir = measure('model = ov.Core().read_model(sys.argv[1] + "/model.xml")')
    read, own, peak = measure('model = nnefc.openvino.read_model(sys.argv[1] + "/model")')
    assert max(read, own) <= 40_000  # of the 200,000 kB of the weights
    assert peak <= 1.1 * of_ir
    _, own, peak = measure('model = ov.convert_model(sys.argv[1] + "/model")')
    assert own <= 40_000
    assert peak <= 1.1 * of_ir


@pytest.fixture
def own_openvino(tmp_path):
    """Makes an OpenVINO of links to the installed one, with a writable folder."""
    installed = pathlib.Path(ov.__file__).parent
    for folder, _, names in os.walk(installed):
        place = tmp_path / "site" / "openvino" / pathlib.Path(folder).relative_to(installed)
        place.mkdir(parents=True)
        for name in names:
            (place / name).symlink_to(pathlib.Path(folder) / name)
    package = pathlib.Path(nnefc.__file__).parent.parent
    return {**os.environ, "PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{package}"}


def test_a_link_serves_programs_that_know_nothing_of_nnefc(own_openvino, linear, tmp_path):
    def python(*arguments):
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=own_openvino, capture_output=True, text=True, check=False)

    linear.save(tmp_path / "model")
    reading = (
        "import openvino as ov, sys; print(ov.Core().read_model(sys.argv[1]).input(0).any_name, 'nnefc' in sys.modules)"
    )
    document = str(tmp_path / "model" / "graph.nnef")
    assert python("-c", reading, document).returncode != 0
    linked = python("-m", "nnefc.openvino", "link")
    assert linked.returncode == 0, linked.stderr
    assert pathlib.Path(linked.stdout.strip()).parent == tmp_path / "site" / "openvino" / "libs"
    assert python("-m", "nnefc.openvino", "link").returncode == 0
    assert python("-c", reading, document).stdout.split() == ["x", "False"]
    benchmark = "from openvino.tools.benchmark.main import main; main()"
    ran = python("-c", benchmark, "-m", document, "-d", "CPU", "-niter", "2", "-nireq", "1")
    assert ran.returncode == 0, ran.stdout
    assert "Count:            2 iterations" in ran.stdout
    assert python("-m", "nnefc.openvino", "unlink").returncode == 0
    assert python("-c", reading, document).returncode != 0
