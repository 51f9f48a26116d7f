"""`nnefc convert --target nnefc` on layers that are no rows of `opset_cases.py`: recurrent layers, states, Loop, and constants of
types that NNEF lacks. OpenVINO computes the models, nnefc the documents."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc, assert_agree

ov = pytest.importorskip("openvino")
from openvino import opset5, opset8, opset13  # noqa: E402

TOLERANCE = 1e-5
BATCH, STEPS, WIDTH, HIDDEN = 3, 4, 5, 2
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
DIRECTIONS = ["forward", "reverse", "bidirectional"]


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("layers"))


def convert(tool: Nnefc, folder: Path, results: list[ov.Output], parameters: list, sinks: list | None = None) -> tuple[ov.Model, str]:
    """Saves a model with inputs x0, x1, .. and results y0, y1, .., and converts it; returns it with the document."""
    for place, output in enumerate(results):
        output.set_names({f"y{place}"})
    for place, parameter in enumerate(parameters):
        parameter.set_friendly_name(f"x{place}")
        parameter.output(0).set_names({f"x{place}"})
    ends = [opset13.result(output) for output in results]
    model = ov.Model(ends, sinks, parameters, "net") if sinks else ov.Model(ends, parameters, "net")
    ov.save_model(model, folder / "net.xml", compress_to_fp16=False)
    tool.must("convert", folder / "net.xml", "-o", folder / "model", "--target", "nnefc", "--compare-outputs", "never")
    assert tool.must("check", folder / "model") == ""
    return model, (folder / "model" / "graph.nnef").read_text()


def agrees(tool: Nnefc, folder: Path, model: ov.Model, data: list[np.ndarray], operation: str = "") -> None:
    """Compares the document with OpenVINO. It has the operation."""
    text = (folder / "model" / "graph.nnef").read_text()
    assert operation in text, text
    compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    computed = compiled(data)
    np.savez(folder / "inputs.npz", **{f"x{place}": value for place, value in enumerate(data)})
    inputs = ["--inputs", folder / "inputs.npz"] if data else []
    for backend in ["reference", "fast"]:
        found = tool.run(folder / "model", *inputs, "--backend", backend)
        expected = {f"y{place}": computed[place] for place in range(len(found))}
        assert_agree({name: value.astype(expected[name].dtype) for name, value in found.items()}, expected, TOLERANCE)


def sequence_inputs(kind: str, directions: int, biases: int) -> tuple[list, list, list[np.ndarray]]:
    """Returns the inputs of a layer, with its parameters and their data."""
    random = np.random.default_rng(GATES[kind] + directions)
    shapes = [(BATCH, STEPS, WIDTH)] + [(BATCH, directions, HIDDEN)] * (1 + (kind == "LSTM"))
    data = [random.normal(size=shape).astype(np.float32) for shape in shapes]
    parameters = [opset13.parameter(value.shape, np.float32) for value in data]
    inputs: list = [*parameters, opset13.constant(np.array([STEPS, 1, STEPS - 1], np.int64))]
    for shape in ([GATES[kind] * HIDDEN, WIDTH], [GATES[kind] * HIDDEN, HIDDEN], [biases * HIDDEN]):
        inputs.append(opset13.constant(random.normal(size=[directions, *shape]).astype(np.float32)))
    return inputs, parameters, data


@pytest.mark.parametrize(("kind", "direction"), list(itertools.product(["LSTM", "GRU", "GRU, reset last", "RNN"], DIRECTIONS)))
def test_recurrent_layers(tool: Nnefc, tmp_path: Path, kind: str, direction: str) -> None:
    name, resets_last = kind.split(",")[0], kind.endswith("last")
    inputs, parameters, data = sequence_inputs(name, 1 + (direction == "bidirectional"), GATES[name] + resets_last)
    if name == "LSTM":
        layer = opset5.lstm_sequence(*inputs, HIDDEN, direction)
    elif name == "GRU":
        layer = opset5.gru_sequence(*inputs, HIDDEN, direction, linear_before_reset=resets_last)
    else:
        layer = opset5.rnn_sequence(*inputs, HIDDEN, direction)
    model, _ = convert(tool, tmp_path, list(layer.outputs()), parameters)
    agrees(tool, tmp_path, model, data, f"opset5_{name}Sequence(")


@pytest.mark.parametrize("type_", [np.float32, np.int32])
def test_states(tool: Nnefc, tmp_path: Path, type_: type) -> None:
    """The result is that of a first run, and the state that of the initial value."""
    x = opset13.parameter([2, 3], type_)
    start = np.arange(6).reshape(2, 3).astype(type_)
    read = opset13.read_value(opset13.constant(start), "sum", type_, [2, 3])
    total = opset13.add(read, x)
    end = opset13.assign(total, "sum")
    model, text = convert(tool, tmp_path, [total.output(0)], [x], [end])
    assert "update(" in text or "Assign(" in text
    agrees(tool, tmp_path, model, [np.full((2, 3), 2, type_)])


def adding_loop(trips: int, limit: float | None, rows: int = 0) -> tuple[list[ov.Output], list]:
    """Returns a loop that adds the first input, or its rows, to the second until the iterations end or, with a limit, the sum reaches it."""
    x, start = opset13.parameter([max(rows, 1), 3], np.float32), opset13.parameter([1, 3], np.float32)
    state, step = opset13.parameter([1, 3], np.float32), opset13.parameter([1, 3], np.float32)
    total = opset13.add(state, step)
    if limit is None:
        goes_on = opset13.constant(np.array([True]))
    else:
        whole = opset13.reduce_sum(total, opset13.constant(np.array([0, 1])), False)
        goes_on = opset13.reshape(opset13.less(whole, opset13.constant(np.float32(limit))), opset13.constant(np.array([1])), False)
    body = ov.Model([opset13.result(total), opset13.result(goes_on)], [state, step], "body")
    loop = opset5.loop(opset13.constant(np.int64(trips)), opset13.constant(np.array(True)))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 1])
    loop.set_merged_input(state, start.output(0), total.output(0))
    if rows:
        loop.set_sliced_input(step, x.output(0), 0, 1, 1, -1, 0)
    else:
        loop.set_invariant_input(step, x.output(0))
    return [loop.get_iter_value(total.output(0), -1), loop.get_concatenated_slices(total.output(0), 0, 1, 1, -1, 0)], [x, start]


@pytest.mark.parametrize("trips", [1, 5])
def test_loop(tool: Nnefc, tmp_path: Path, trips: int) -> None:
    results, parameters = adding_loop(trips, None)
    model, _ = convert(tool, tmp_path, results, parameters)
    agrees(tool, tmp_path, model, [np.ones((1, 3), np.float32), np.zeros((1, 3), np.float32)], "tensor_iterator")


@pytest.mark.parametrize("limit", [3.0, 6.0, 6.5, 100.0])  # the sum is 3, 6, 9 ..
def test_a_loop_that_a_condition_ends(tool: Nnefc, tmp_path: Path, limit: float) -> None:
    results, parameters = adding_loop(5, limit)
    model, _ = convert(tool, tmp_path, results, parameters)
    agrees(tool, tmp_path, model, [np.ones((1, 3), np.float32), np.zeros((1, 3), np.float32)], "while_loop")


@pytest.mark.parametrize("limit", [1.0, 20.0, 1000.0])  # the sum is 3, 15, 36 ..
@pytest.mark.parametrize("trips", [3, 5])
def test_a_loop_over_rows_that_a_condition_ends(tool: Nnefc, tmp_path: Path, trips: int, limit: float) -> None:
    results, parameters = adding_loop(trips, limit, rows=5)
    model, _ = convert(tool, tmp_path, results, parameters)
    agrees(tool, tmp_path, model, [np.arange(15, dtype=np.float32).reshape(5, 3), np.zeros((1, 3), np.float32)], "while_loop")


# Constants of types that NNEF lacks; the values are exact in each.
TYPES = ["f64", "bf16", "f16", "i4", "u4", "i8", "u8", "i16", "u16", "u32", "u1"]


@pytest.mark.parametrize("name", TYPES)
def test_constants(tool: Nnefc, tmp_path: Path, name: str) -> None:
    type_ = getattr(ov.Type, name)
    values = np.array([[0, 1, 1, 0, 1], [1, 0, 1, 1, 0]]) if name == "u1" else np.array([[0, 1, 2, 3, 4], [7, 6, 5, 4, 3]])
    stored = opset13.constant(values, type_)
    x = opset13.parameter([3, 5], np.float32)
    y = opset13.matmul(x, opset13.convert(stored, "f32"), False, True)
    model, _ = convert(tool, tmp_path, [y.output(0)], [x])
    agrees(tool, tmp_path, model, [np.random.default_rng(1).normal(size=(3, 5)).astype(np.float32)])


FACTORS = np.array([0.25, 0.5, 1.25, 3])  # exact in each type


@pytest.mark.parametrize("name", ["f64", "bf16", "f16"])
def test_arithmetic_of_other_floats(tool: Nnefc, tmp_path: Path, name: str) -> None:
    x = opset13.parameter([4], np.float32)
    factors = opset13.constant(FACTORS, getattr(ov.Type, name))
    y = opset13.convert(opset13.multiply(opset13.convert(x, name), factors), "f32")
    _, text = convert(tool, tmp_path, [y.output(0)], [x])
    assert "opset1_Multiply(" in text
    data = np.array([1.1, -2, 3.3, 1e-3], np.float32)
    np.savez(tmp_path / "x.npz", x0=data)
    found = tool.run(tmp_path / "model", "--inputs", tmp_path / "x.npz", "--backend", "reference")["y0"]
    if name == "bf16":  # 8 bits of a significand
        np.testing.assert_allclose(found, data * FACTORS, rtol=2**-7)
        assert np.all(found.view(np.uint32) & 0xFFFF == 0)
    else:
        wide = {"f64": np.float64, "f16": np.float16}[name]
        np.testing.assert_array_equal(found, (data.astype(wide) * FACTORS.astype(wide)).astype(np.float32))


# The sum of two and of three f32, with exponents and signs of their own.
WIDE = np.array([1 / 3, -np.pi * 1e20, 1 + 2**-52, -0.1, 1e-20 / 3, 2**24 + 1, -0.0, 16])


@pytest.mark.parametrize("values", [WIDE, WIDE[:2], np.full(9, 1 / 3), np.array([np.inf, 0.1, -np.inf, np.nan])])
def test_constants_of_f64_that_are_no_f32(tool: Nnefc, tmp_path: Path, values: np.ndarray) -> None:
    x = opset13.parameter(values.shape, np.float32)
    wide = opset13.subtract(opset13.convert(x, "f64"), opset13.constant(values))
    _, text = convert(tool, tmp_path, [opset13.convert(wide, "f32").output(0)], [x])
    assert "opset1_Add(" in text
    # The differences are those of the last bits.
    data = values.astype(np.float32)
    np.savez(tmp_path / "x.npz", x0=data)
    found = tool.run(tmp_path / "model", "--inputs", tmp_path / "x.npz", "--backend", "reference")["y0"]
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, (data.astype(np.float64) - values).astype(np.float32))


@pytest.mark.parametrize("value", [1e39, 1e-60])
def test_constants_of_f64_out_of_range_have_no_form(tool: Nnefc, tmp_path: Path, value: float) -> None:
    x = opset13.parameter([4], np.float32)
    y = opset13.convert(opset13.multiply(opset13.convert(x, "f64"), opset13.constant(np.full(4, value))), "f32")
    with pytest.raises(AssertionError, match="is a constant of the type f64, and not all of its elements are sums of scalars"):
        convert(tool, tmp_path, [y.output(0)], [x])


def test_a_bias_of_open_extents(tool: Nnefc, tmp_path: Path) -> None:
    """The number of rows is open; a bias is absorbed only where shapes are known."""
    x = opset13.parameter(ov.PartialShape([-1, 4]), np.float32)
    random = np.random.default_rng(2)
    matrix, bias = (opset13.constant(random.normal(size=shape).astype(np.float32)) for shape in ([4, 3], [1, 3]))
    y = opset13.add(opset13.matmul(x, matrix, False, False), bias)
    model, _ = convert(tool, tmp_path, [y.output(0)], [x])
    agrees(tool, tmp_path, model, [random.normal(size=(5, 4)).astype(np.float32)])


@pytest.mark.parametrize("takes_then", [True, False])
def test_a_branch_that_is_never_taken(tool: Nnefc, tmp_path: Path, takes_then: bool) -> None:
    """The branches have results of different ranks, and the condition is a constant."""
    def branch(*extents: int) -> tuple[ov.Model, object, object]:
        inner = opset13.parameter([2, 3], np.float32)
        result = opset13.result(opset13.reshape(opset13.tanh(inner), opset13.constant(np.array(extents)), False))
        return ov.Model([result], [inner], "branch"), inner, result

    x = opset13.parameter([2, 3], np.float32)
    layer = opset8.if_op(opset13.constant(np.array([takes_then])))
    then, other = branch(6), branch(3, 2)
    layer.set_then_body(then[0])
    layer.set_else_body(other[0])
    layer.set_input(x.output(0), then[1], other[1])
    y = opset13.relu(layer.set_output(then[2], other[2]))
    model, _ = convert(tool, tmp_path, [y.output(0)], [x])
    agrees(tool, tmp_path, model, [np.random.default_rng(3).normal(size=(2, 3)).astype(np.float32)], "if_else")
