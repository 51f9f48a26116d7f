"""OpenVINO IR both ways: what OpenVINO saves is read, written again and run; what nnefc writes OpenVINO runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")
from openvino import opset13 as op  # noqa: E402

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


MODELS = {"convolutional": convolutional, "shapes": shapes, "dynamic": dynamic, "branches": branches,
          "forward": running_sums(1), "backward": running_sums(-1)}


# --- running them -------------------------------------------------------------------------------

@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("openvino"))


def saved(name: str, folder: Path) -> Path:
    path = folder / f"{name}.xml"
    ov.save_model(MODELS[name](), path, compress_to_fp16=False)
    return path


@pytest.mark.parametrize("name", MODELS)
def test_their_model_survives_reading_and_writing(tool: Nnefc, tmp_path: Path, name: str) -> None:
    theirs, again, third = saved(name, tmp_path), tmp_path / "again.xml", tmp_path / "third.xml"
    assert tool.must("check", theirs) == ""
    tool.must("compile", theirs, "-o", again)
    tool.must("compile", again, "-o", third)
    for suffix in (".xml", ".bin"):
        assert again.with_suffix(suffix).read_bytes() == third.with_suffix(suffix).read_bytes()
    inputs = random_inputs(theirs)
    assert_close(openvino_outputs(again, inputs), openvino_outputs(theirs, inputs))


@pytest.mark.parametrize("name", MODELS)
def test_their_model_runs_alike(tool: Nnefc, tmp_path: Path, name: str) -> None:
    theirs = saved(name, tmp_path)
    inputs = random_inputs(theirs)
    np.savez(tmp_path / "inputs.npz", **inputs)
    outputs = tool.run(theirs, "--inputs", tmp_path / "inputs.npz")
    expected = openvino_outputs(theirs, inputs)
    assert_close([outputs[f"out{index}"] for index in range(len(expected))], expected)
