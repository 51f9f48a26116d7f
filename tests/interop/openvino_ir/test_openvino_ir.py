"""OpenVINO IR in both directions: nnefc reads, writes and runs models that OpenVINO saved; OpenVINO runs models that
nnefc wrote."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")
from openvino import opset13 as op  # noqa: E402
from openvino import opset3  # noqa: E402

from openvino_oracle import assert_close, openvino_outputs, random_inputs, result_names  # noqa: E402

F32 = np.float32
Model = ov.Model


def parameter(name: str, shape: list[int], dtype: type = F32):
    node = op.parameter(shape, dtype, name=name)
    node.output(0).set_names({name})
    return node


def constant(*shape: int, dtype: type = F32):
    return op.constant(np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype))


def integers(*values: int):
    return op.constant(np.array(values, np.int64))


def model(results: list, parameters: list, name: str) -> Model:
    outputs = [result.output(0) if hasattr(result, "output") else result for result in results]
    for index, output in enumerate(outputs):
        output.set_names({f"out{index}"})
    return Model([op.result(output) for output in outputs], parameters, name)


# --- models -------------------------------------------------------------------------------------

def convolutional() -> Model:
    x = parameter("x", [1, 3, 16, 16])
    y = op.relu(op.convolution(x, constant(8, 3, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1]))
    y = op.add(y, constant(1, 8, 1, 1))
    y = op.max_pool(y, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)
    y = op.reshape(y, integers(1, -1), False)
    return model([op.softmax(op.matmul(y, constant(128, 10), False, False), 1)], [x], "convolutional")


def shapes() -> Model:
    x = parameter("x", [2, 6, 4])
    a, b, c = op.variadic_split(x, integers(1).output(0), integers(1, -1, 2)).outputs()
    y = op.concat([c, b, a], 1)
    y = op.transpose(y, integers(2, 0, 1))
    y = op.pad(y, integers(0, 1, 0), integers(1, 0, 2), "edge")
    z = op.gather(x, integers(0, 3), op.constant(np.int64(1)))
    return model([y, op.reduce_sum(z, integers(1, 2), True)], [x], "shapes")


def dynamic() -> Model:
    x = parameter("x", [-1, 3, -1, -1])
    y = op.convolution(x, constant(4, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1])
    return model([op.reduce_mean(op.sigmoid(y), integers(2, 3), False)], [x], "dynamic")


def branches() -> Model:
    cond = parameter("cond", [1], bool)
    x, y = parameter("x", [1, 2, 2]), parameter("y", [1, 2, 2])
    tx, ty, ex, ey = (op.parameter([1, 2, 2], F32) for _ in range(4))
    then_body = Model([op.result(op.multiply(tx, ty))], [tx, ty], "then")
    else_body = Model([op.result(op.add(ex, ey))], [ex, ey], "else")
    branch = op.if_op(cond)
    branch.set_then_body(then_body)
    branch.set_else_body(else_body)
    branch.set_input(x.output(0), tx, ex)
    branch.set_input(y.output(0), ty, ey)
    output = branch.set_output(then_body.results[0], else_body.results[0])
    return model([output], [cond, x, y], "branches")


def running_sums(stride: int) -> Callable[[], Model]:
    def make() -> Model:
        x, h = parameter("x", [1, 4]), parameter("h", [1, 1])
        inner_x, inner_h = op.parameter([1, 1], F32), op.parameter([1, 1], F32)
        total = op.add(inner_x, inner_h)
        every, last = op.result(total), op.result(total)
        loop = op.tensor_iterator()
        loop.set_body(Model([every, last], [inner_x, inner_h], "body"))
        start, end = (0, -1) if stride > 0 else (-1, 0)
        loop.set_sliced_input(inner_x, x.output(0), start, stride, 1, end, 1)
        loop.set_merged_input(inner_h, h.output(0), last.output(0))
        sums = loop.get_concatenated_slices(every.output(0), start, stride, 1, end, 1)
        return model([sums, loop.get_iter_value(last.output(0), -1)], [x, h], "running_sums")
    return make


def named_constants() -> Model:
    """Constants with named tensors, as converters write them, one of them a result of a body."""
    cond, x = parameter("cond", [1], bool), parameter("x", [2, 3])
    named = constant(2, 3)
    named.output(0).set_names({"named"})
    then_x, else_x, inner = op.parameter([2, 3], F32), op.parameter([2, 3], F32), constant(2, 3)
    then_body = Model([op.result(inner), op.result(op.multiply(then_x, inner))], [then_x], "then")
    else_body = Model([op.result(else_x), op.result(else_x)], [else_x], "else")
    branch = op.if_op(cond)
    branch.set_then_body(then_body)
    branch.set_else_body(else_body)
    branch.set_input(x.output(0), then_x, else_x)
    outputs = [branch.set_output(a, b) for a, b in zip(then_body.results, else_body.results)]
    return model([*outputs, op.add(x, named)], [cond, x], "named_constants")


MODELS = {"convolutional": convolutional, "shapes": shapes, "dynamic": dynamic, "branches": branches,
          "forward": running_sums(1), "backward": running_sums(-1), "named_constants": named_constants}


# --- running them -------------------------------------------------------------------------------

@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("openvino"))


def saved(name: str, folder: Path, compress: bool = False) -> Path:
    path = folder / f"{name}.xml"
    ov.save_model(MODELS[name](), path, compress_to_fp16=compress)
    return path


@pytest.mark.parametrize("compress", [False, True], ids=["f32", "f16"])
@pytest.mark.parametrize("name", MODELS)
def test_their_model_survives_reading_and_writing(tool: Nnefc, tmp_path: Path, name: str, compress: bool) -> None:
    theirs, again, third = saved(name, tmp_path, compress), tmp_path / "again.xml", tmp_path / "third.xml"
    assert tool.must("check", theirs) == ""
    tool.must("compile", theirs, "-o", again)
    tool.must("compile", again, "-o", third)
    for suffix in (".xml", ".bin"):
        assert again.with_suffix(suffix).read_bytes() == third.with_suffix(suffix).read_bytes()
    inputs = random_inputs(theirs)
    assert_close(openvino_outputs(again, inputs), openvino_outputs(theirs, inputs))


@pytest.mark.parametrize("compress", [False, True], ids=["f32", "f16"])
@pytest.mark.parametrize("name", MODELS)
def test_their_model_runs_alike(tool: Nnefc, tmp_path: Path, name: str, compress: bool) -> None:
    theirs = saved(name, tmp_path, compress)
    inputs = random_inputs(theirs)
    np.savez(tmp_path / "inputs.npz", **inputs)
    outputs = tool.run(theirs, "--inputs", tmp_path / "inputs.npz")
    expected = openvino_outputs(theirs, inputs)
    assert_close([outputs[f"out{index}"] for index in range(len(expected))], expected)


@pytest.mark.parametrize("version", ["opset3", "opset6"])
def test_states_live_on(tool: Nnefc, tmp_path: Path, version: str) -> None:
    """A running sum over three inferences, in OpenVINO for its model and for nnefc's output; the first also in nnefc."""
    x = parameter("x", [1, 4])
    start = op.constant(np.full([1, 4], 0.5, F32))
    old = opset3.read_value(start, "sum") if version == "opset3" else op.read_value(start, "sum", F32, [1, 4])
    new = op.add(old, x)
    new.output(0).set_names({"out0"})
    assign = (opset3 if version == "opset3" else op).assign(new, "sum")
    theirs = tmp_path / "theirs.xml"
    ov.save_model(Model([op.result(new)], [assign], [x], "states"), theirs, compress_to_fp16=False)
    tool.must("compile", theirs, "-o", tmp_path / "ours.xml", "--verify")
    inputs = [np.random.default_rng(i).standard_normal([1, 4]).astype(F32) for i in range(3)]
    for path in (theirs, tmp_path / "ours.xml"):
        request = ov.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
        total = np.full([1, 4], 0.5, F32)
        for value in inputs:
            request.infer({"x": value})
            total = total + value
            np.testing.assert_allclose(request.get_output_tensor(0).data, total, rtol=1e-5)
    np.savez(tmp_path / "inputs.npz", x=inputs[0])
    found = tool.run(theirs, "--inputs", tmp_path / "inputs.npz")
    np.testing.assert_allclose(found["out0"], 0.5 + inputs[0], rtol=1e-5)


# --- contents other than the computation -----------------------------------------------------------

def test_user_data_of_a_model_is_kept(tool: Nnefc, tmp_path: Path) -> None:
    model = convolutional()
    entries = {("user", "deep", "key"): "1", ("user", "with space"): "a, b", ("flat",): "<&>", ("conversion_parameters", "input"): "x"}
    for path, value in entries.items():
        model.set_rt_info(value, list(path))
    ov.save_model(model, tmp_path / "theirs.xml", compress_to_fp16=False)
    tool.must("compile", tmp_path / "theirs.xml", "-o", tmp_path / "ours.xml")
    again = ov.Core().read_model(tmp_path / "ours.xml")
    for path, value in entries.items():
        assert again.get_rt_info(list(path)).astype(str) == value


def test_meta_data_of_old_converters_is_kept(tool: Nnefc, tmp_path: Path) -> None:
    path = saved("shapes", tmp_path)
    text = path.read_text()
    meta = ('<meta_data><MO_version value="2020.1"/><cli_parameters><data_type value="FP32"/>'
            '<unset unset_cli_parameters="batch, scale"/></cli_parameters><user><key value="7"/></user></meta_data>')
    start, end = text.rindex("<rt_info"), text.rindex("</net>")
    path.write_text((text[:start] + meta + text[end:]).replace('version="11"', 'version="10"', 1))
    tool.must("compile", path, "-o", tmp_path / "ours.xml")
    again = ov.Core().read_model(tmp_path / "ours.xml")
    for keys, value in [(["MO_version"], "2020.1"), (["conversion_parameters", "data_type"], "FP32"), (["user", "key"], "7")]:
        assert again.get_rt_info(keys).astype(str) == value


def test_an_unknown_operation_is_told_and_written_back(tool: Nnefc, tmp_path: Path) -> None:
    path = saved("convolutional", tmp_path)
    text = path.read_text().replace('type="ReLU" version="opset1"', 'type="Leap" version="extension"')
    assert "Leap" in text
    line = 1 + text[:text.index('type="Leap"')].count("\n")
    path.write_text(text)
    for command in ["check", "run"]:
        done = tool.call(command, path)
        assert done.returncode == 1
        assert f"{path}:{line}:" in done.stderr and "`Leap` of `extension`" in done.stderr
        assert re.search(r"the layer `Relu_\d+`, is unknown", done.stderr)
    assert "Leap" in tool.must("inspect", path)
    tool.must("compile", path, "-o", tmp_path / "ours.xml")
    tool.must("compile", tmp_path / "ours.xml", "-o", tmp_path / "again.xml")
    for suffix in (".xml", ".bin"):
        assert (tmp_path / f"ours{suffix}").read_bytes() == (tmp_path / f"again{suffix}").read_bytes()
    ours = (tmp_path / "ours.xml").read_text()
    # With the same operation in place again it is the same model.
    (tmp_path / "ours.xml").write_text(ours.replace('type="Leap" version="extension"', 'type="ReLU" version="opset1"'))
    inputs = random_inputs(tmp_path / "ours.xml")
    assert_close(openvino_outputs(tmp_path / "ours.xml", inputs), openvino_outputs(saved("convolutional", tmp_path), inputs))


def test_a_large_model_is_read_and_written_within_a_second(tool: Nnefc, tmp_path: Path) -> None:
    """1,000 layers with 100 MB of weights, in processor time; the weights are not copied on reading."""
    x = parameter("x", [1, 256])
    y, weights = x, np.random.default_rng(1)
    for _ in range(400):
        y = op.relu(op.matmul(y, op.constant(weights.standard_normal((256, 256)).astype(F32)), False, False))
    path = tmp_path / "large.xml"
    ov.save_model(model([y], [x], "large"), path, compress_to_fp16=False)
    assert path.with_suffix(".bin").stat().st_size > 100_000_000
    assert len(ov.Core().read_model(path).get_ordered_ops()) > 1000
    seconds = {}
    for name, arguments in {"read": ["check", path], "write": ["compile", path, "-o", tmp_path / "again.xml"]}.items():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        tool.must(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds[name] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if name == "read":
            assert subprocess.run([str(tool.path), "check", str(path)], preexec_fn=limit_data, check=False).returncode == 0
    if os.environ.get("NNEFC_SANITIZE") != "ON":
        assert seconds["read"] < 0.5 and seconds["write"] < 1.0, seconds
    assert (tmp_path / "again.bin").stat().st_size == path.with_suffix(".bin").stat().st_size


def limit_data() -> None:
    """Limits memory that is not a mapped file to less than the weights."""
    if os.environ.get("NNEFC_SANITIZE") != "ON":
        resource.setrlimit(resource.RLIMIT_DATA, (80 << 20, 80 << 20))
