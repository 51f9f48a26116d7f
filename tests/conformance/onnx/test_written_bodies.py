"""ONNX that nnefc writes of recurrent layers, branches and loops: ONNX Runtime computes what OpenVINO computes of the layers, and
what follows from the rules of OpenVINO's operations for If, TensorIterator and Loop. Outputs agree within 1e-5 of the largest value."""

from __future__ import annotations

import itertools
import pathlib
import sys

import numpy as np
import pytest

import nnefc
from nnefc.conversion.onnx_graph import to_onnx

ov = pytest.importorskip("openvino")
from openvino import opset5, opset13  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TESTS / folder) for folder in ("interop", "interop/openvino_ir", "networks")]

from test_control_flow import CASES  # noqa: E402
from test_written_onnx import compute, difference  # noqa: E402

TOLERANCE = 1e-5
BATCH, STEPS, WIDTH, HIDDEN = 3, 4, 5, 2
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}

# Control flow without a form, with a part of the message.
NO_FORM = {
    "if_scalar_or_one_True": "the branches have results of different ranks",
    "if_scalar_or_one_False": "the branches have results of different ranks",
    "if_ranks_True": "the branches have results of different ranks",
    "if_ranks_False": "the branches have results of different ranks",
    "if_nested_64_deep": "bodies are nested more than 30 levels",
    "length_of_each_run": "an open extent is divided among iterations",
}


def agrees(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    wrong = {name: difference(found[name].astype(value.dtype), value) for name, value in expected.items()}
    assert {name: value for name, value in wrong.items() if not value <= TOLERANCE} == {}


def saved(results: list[ov.Output], parameters: list[ov.Node], folder: pathlib.Path) -> ov.Model:
    """Returns the model, and saves it as net.xml. Its inputs are x0, x1, .. and its results y0, y1, .."""
    for place, output in enumerate(results):
        output.set_names({f"y{place}"})
    for place, parameter in enumerate(parameters):
        parameter.set_friendly_name(f"x{place}")
        parameter.output(0).set_names({f"x{place}"})
    model = ov.Model([opset13.result(output) for output in results], parameters, "net")
    ov.save_model(model, folder / "net.xml", compress_to_fp16=False)
    return model


def compare(results: list[ov.Output], parameters: list[ov.Node], data: list[np.ndarray], folder: pathlib.Path) -> None:
    """Compares ONNX Runtime with OpenVINO on a model."""
    model = saved(results, parameters, folder)
    inputs = {f"x{place}": value for place, value in enumerate(data)}
    compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    computed = compiled(data)
    agrees(compute(nnefc.load(folder / "net.xml"), inputs), {f"y{place}": computed[place] for place in range(len(results))})


def layer_inputs(kind: str, batch: int, directions: int, biases: int, *, steps: int | None) -> tuple[list, list, list[np.ndarray]]:
    """Returns the inputs of a layer, with its parameters and their data. Without `steps` they are those of a cell."""
    random = np.random.default_rng(GATES[kind] + directions)
    states = [random.normal(size=(batch, directions, HIDDEN) if steps else (batch, HIDDEN)).astype(np.float32) for _ in range(1 + (kind == "LSTM"))]
    x = random.normal(size=(batch, steps, WIDTH) if steps else (batch, WIDTH)).astype(np.float32)
    data = [x, *states]
    parameters = [opset13.parameter(value.shape, np.float32) for value in data]
    inputs: list = list(parameters)
    if steps:
        inputs.append(opset13.constant(np.array([steps, 1, steps - 1][:batch], np.int64)))
    lead = [directions] if steps else []
    for shape in ([GATES[kind] * HIDDEN, WIDTH], [GATES[kind] * HIDDEN, HIDDEN], [biases * HIDDEN]):
        inputs.append(opset13.constant(random.normal(size=[*lead, *shape]).astype(np.float32)))
    return inputs, parameters, data


DIRECTIONS = ["forward", "reverse", "bidirectional"]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("activations", "clip"), [(None, 0.0), (["sigmoid", "relu", "tanh"], 0.0), (None, 0.4)])
def test_lstm(direction: str, activations: list[str] | None, clip: float, tmp_path: pathlib.Path) -> None:
    inputs, parameters, data = layer_inputs("LSTM", BATCH, 1 + (direction == "bidirectional"), 4, steps=STEPS)
    more = {} if activations is None else {"activations": activations}
    layer = opset5.lstm_sequence(*inputs, HIDDEN, direction, clip=clip, **more)
    compare(list(layer.outputs()), parameters, data, tmp_path)


@pytest.mark.parametrize(("direction", "resets_last"), list(itertools.product(DIRECTIONS, [False, True])))
def test_gru(direction: str, resets_last: bool, tmp_path: pathlib.Path) -> None:
    inputs, parameters, data = layer_inputs("GRU", BATCH, 1 + (direction == "bidirectional"), 3 + resets_last, steps=STEPS)
    layer = opset5.gru_sequence(*inputs, HIDDEN, direction, linear_before_reset=resets_last)
    compare(list(layer.outputs()), parameters, data, tmp_path)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("activation", ["tanh", "relu", "sigmoid"])
def test_rnn(direction: str, activation: str, tmp_path: pathlib.Path) -> None:
    inputs, parameters, data = layer_inputs("RNN", BATCH, 1 + (direction == "bidirectional"), 1, steps=STEPS)
    layer = opset5.rnn_sequence(*inputs, HIDDEN, direction, activations=[activation])
    compare(list(layer.outputs()), parameters, data, tmp_path)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "GRU, reset last", "RNN"])
def test_cell(kind: str, tmp_path: pathlib.Path) -> None:
    name = kind.split(",")[0]
    resets_last = kind.endswith("last")
    inputs, parameters, data = layer_inputs(name, BATCH, 1, GATES[name] + resets_last, steps=None)
    if name == "LSTM":
        layer = opset13.lstm_cell(*inputs, HIDDEN)
    elif name == "GRU":
        layer = opset13.gru_cell(*inputs, HIDDEN, linear_before_reset=resets_last)
    else:
        layer = opset13.rnn_cell(*inputs, HIDDEN, ["tanh"], [], [])
    compare(list(layer.outputs()), parameters, data, tmp_path)


def test_a_function_without_a_form_is_reported(tmp_path: pathlib.Path) -> None:
    inputs, parameters, _ = layer_inputs("RNN", BATCH, 1, 1, steps=STEPS)
    layer = opset5.rnn_sequence(*inputs, HIDDEN, "forward", activations=["hardsigmoid"], activations_alpha=[0.2], activations_beta=[0.5])
    saved(list(layer.outputs()), parameters, tmp_path)
    with pytest.raises(nnefc.ModelError, match="RNNSequence has no form in ONNX: the activation `hardsigmoid`, whose parameters differ"):
        to_onnx(nnefc.load(tmp_path / "net.xml"))


@pytest.mark.parametrize("name", CASES)
def test_body(name: str, tmp_path: pathlib.Path) -> None:
    case = CASES[name]()
    model = nnefc.load(case.graph.save(tmp_path / "net.xml"))
    if name in NO_FORM:
        with pytest.raises(nnefc.ModelError, match=NO_FORM[name]):
            compute(model, case.inputs)
        return
    agrees(compute(model, case.inputs), {f"out{place}": value for place, value in enumerate(case.expected)})
