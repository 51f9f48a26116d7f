"""`nnefc convert --unroll`: recurrent layers and loops as standard operations, checked by Khronos' parser, compute what OpenVINO
computes, and the numbers that follow from the rules of TensorIterator and Loop."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc, assert_agree

nnef = pytest.importorskip("nnef")
ov = pytest.importorskip("openvino")
from openvino import opset1, opset3, opset4, opset5, opset13  # noqa: E402

from openvino_oracle import openvino_outputs  # noqa: E402
from test_control_flow import CASES, assert_equal  # noqa: E402

TOLERANCE = 1e-5
BATCH, STEPS, WIDTH, HIDDEN = 3, 4, 5, 6
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
DIRECTIONS = ["forward", "reverse", "bidirectional"]
KINDS = ["LSTM", "GRU", "GRU, reset last", "RNN"]


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("unrolled"))


class Layer:
    """The inputs of a cell or a sequence, with the parameters of the model and their data."""

    def __init__(self, kind: str, steps: int, directions: int, lengths: list[int] | None = None, are_weights_constant: bool = True) -> None:
        random = np.random.default_rng(GATES[kind.split(",")[0]] + directions)
        self.name, self.resets_last, self.directions = kind.split(",")[0], kind.endswith("last"), directions
        gates = GATES[self.name]
        is_sequence = steps > 0
        states = [(BATCH, directions, HIDDEN)] if is_sequence else [(BATCH, HIDDEN)]
        shapes = [(BATCH, steps, WIDTH) if is_sequence else (BATCH, WIDTH), *states * (1 + (self.name == "LSTM"))]
        weights = [[gates * HIDDEN, WIDTH], [gates * HIDDEN, HIDDEN], [(gates + self.resets_last) * HIDDEN]]
        if is_sequence:
            weights = [[directions, *shape] for shape in weights]
        self.data = [random.normal(size=shape).astype(np.float32) for shape in shapes]
        values = [random.normal(size=shape).astype(np.float32) / 2 for shape in weights]
        if not are_weights_constant:
            self.data += values
        self.parameters = [opset13.parameter(value.shape, np.float32) for value in self.data]
        self.inputs: list = [*self.parameters[:len(shapes)]]
        if is_sequence:
            self.inputs.append(opset13.constant(np.array(lengths or [steps] * BATCH, np.int64)))
        self.inputs += map(opset13.constant, values) if are_weights_constant else self.parameters[len(shapes):]

    def results(self, direction: str = "", **attributes: object) -> list[ov.Output]:
        words = [HIDDEN] + [direction] * bool(direction)
        if self.name == "GRU":
            attributes["linear_before_reset"] = self.resets_last
        if self.name == "RNN" and not direction:  # they have no defaults
            attributes = {"activations": ["tanh"], "activations_alpha": [], "activations_beta": [], **attributes}
        make = {"LSTM": (opset4.lstm_cell, opset5.lstm_sequence), "GRU": (opset3.gru_cell, opset5.gru_sequence),
                "RNN": (opset3.rnn_cell, opset5.rnn_sequence)}[self.name][bool(direction)]
        return list(make(*self.inputs, *words, **attributes).outputs())


def save(folder: Path, results: list[ov.Output], parameters: list) -> Path:
    for place, output in enumerate(results):
        output.set_names({f"y{place}"})
    for place, parameter in enumerate(parameters):
        parameter.set_friendly_name(f"x{place}")
        parameter.output(0).set_names({f"x{place}"})
    path = folder / "net.xml"
    ov.save_model(ov.Model([opset13.result(output) for output in results], parameters, "net"), path, compress_to_fp16=False)
    return path


def agrees(tool: Nnefc, path: Path, data: list[np.ndarray], *options: str) -> str:
    """Converts the model and compares the document with OpenVINO; returns its text."""
    model = path.parent / "model"
    tool.must("convert", path, "-o", model, "--compare-outputs", "always", *options)
    tool.must("check", model, "--strict")
    nnef.parse_file(str(model / "graph.nnef"))
    np.savez(path.parent / "inputs.npz", **{f"x{place}": value for place, value in enumerate(data)})
    found = tool.run(model, "--inputs", path.parent / "inputs.npz", "--backend", "reference")
    expected = openvino_outputs(path, dict(enumerate(data)))
    assert_agree(found, {f"y{place}": value for place, value in enumerate(expected)}, TOLERANCE)
    return (model / "graph.nnef").read_text()


@pytest.mark.parametrize(("kind", "direction"), list(itertools.product(KINDS, DIRECTIONS)))
@pytest.mark.parametrize("steps", [1, STEPS])
def test_sequences(tool: Nnefc, tmp_path: Path, kind: str, direction: str, steps: int) -> None:
    layer = Layer(kind, steps, 1 + (direction == "bidirectional"))
    agrees(tool, save(tmp_path, layer.results(direction), layer.parameters), layer.data, "--unroll")


@pytest.mark.parametrize(("kind", "direction"), [("LSTM", "bidirectional"), ("GRU", "reverse"), ("RNN", "forward")])
def test_lengths(tool: Nnefc, tmp_path: Path, kind: str, direction: str) -> None:
    layer = Layer(kind, STEPS, 1 + (direction == "bidirectional"), lengths=[STEPS, 1, STEPS - 1])
    agrees(tool, save(tmp_path, layer.results(direction), layer.parameters), layer.data, "--unroll")


@pytest.mark.parametrize("kind", KINDS)
def test_cells_need_no_flag(tool: Nnefc, tmp_path: Path, kind: str) -> None:
    layer = Layer(kind, 0, 1)
    agrees(tool, save(tmp_path, layer.results(), layer.parameters), layer.data)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_are_inputs(tool: Nnefc, tmp_path: Path, kind: str) -> None:
    layer = Layer(kind, STEPS, 2, are_weights_constant=False)
    agrees(tool, save(tmp_path, layer.results("bidirectional"), layer.parameters), layer.data, "--unroll")


@pytest.mark.parametrize(("kind", "attributes"), [
    ("LSTM", {"clip": 0.5}), ("LSTM", {"activations": ["sigmoid", "relu", "tanh"]}), ("GRU", {"clip": 0.25}),
    ("GRU", {"activations": ["tanh", "sigmoid"]}), ("RNN", {"activations": ["relu"], "clip": 1.0}),
])
def test_activations_and_limits(tool: Nnefc, tmp_path: Path, kind: str, attributes: dict[str, object]) -> None:
    layer = Layer(kind, STEPS, 1)
    agrees(tool, save(tmp_path, layer.results("forward", **attributes), layer.parameters), layer.data, "--unroll")


def test_the_flag_is_named(tool: Nnefc, tmp_path: Path) -> None:
    layer = Layer("LSTM", STEPS, 1)
    path = save(tmp_path, layer.results("forward"), layer.parameters)
    done = tool.call("convert", path, "-o", tmp_path / "model")
    assert done.returncode == 1 and "`--unroll` writes its 4 steps as standard operations" in done.stderr, done.stderr
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("steps", [8192, 8193])
def test_the_largest_number_of_steps(tool: Nnefc, tmp_path: Path, steps: int) -> None:
    layer = Layer("RNN", steps, 1)
    path = save(tmp_path, layer.results("forward"), layer.parameters)
    done = tool.call("convert", path, "-o", tmp_path / "net.nnef", "--unroll", "--compare-outputs", "never")
    if steps == 8192:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 1 and "its 8193 steps exceed the 8192 of a model that `--unroll` writes" in done.stderr, done.stderr


def loop_of(steps: int) -> tuple[list[ov.Output], list, list[np.ndarray]]:
    """A TensorIterator that adds the parts of its input to a state, and returns all states and the last one."""
    part, state = opset13.parameter([BATCH, 1, WIDTH], np.float32), opset13.parameter([BATCH, 1, WIDTH], np.float32)
    total = opset13.tanh(opset13.add(part, state))
    body = ov.Model([opset13.result(total), opset13.result(total)], [part, state], "body")
    loop = opset1.tensor_iterator()
    loop.set_function(body)
    data = [np.random.default_rng(1).normal(size=(BATCH, steps, WIDTH)).astype(np.float32),
            np.random.default_rng(2).normal(size=(BATCH, 1, WIDTH)).astype(np.float32)]
    parameters = [opset13.parameter(value.shape, np.float32) for value in data]
    loop.set_sliced_input(part, parameters[0].output(0), 0, 1, 1, -1, 1)
    loop.set_merged_input(state, parameters[1].output(0), body.results[0].output(0))
    results = [loop.get_concatenated_slices(body.results[1].output(0), 0, 1, 1, -1, 1), loop.get_iter_value(body.results[0].output(0), -1)]
    return results, parameters, data


@pytest.mark.parametrize("steps", [1, 5])
def test_loops(tool: Nnefc, tmp_path: Path, steps: int) -> None:
    results, parameters, data = loop_of(steps)
    text = agrees(tool, save(tmp_path, results, parameters), data, "--unroll")
    assert text.count("tanh(") == steps


def test_the_flag_is_named_for_loops(tool: Nnefc, tmp_path: Path) -> None:
    results, parameters, _ = loop_of(5)
    done = tool.call("convert", save(tmp_path, results, parameters), "-o", tmp_path / "model")
    assert done.returncode == 1 and "`--unroll` writes its 5 iterations as standard operations" in done.stderr, done.stderr


def test_loops_that_are_too_long(tool: Nnefc, tmp_path: Path) -> None:
    results, parameters, _ = loop_of(40_000)
    done = tool.call("convert", save(tmp_path, results, parameters), "-o", tmp_path / "model", "--unroll")
    assert done.returncode == 1 and "at most 65536 operations" in done.stderr, done.stderr


@pytest.mark.parametrize("name", CASES)
def test_bodies(tool: Nnefc, tmp_path: Path, name: str) -> None:
    """Every body either computes the expected numbers, or is reported."""
    case = CASES[name]()
    path, model = case.graph.save(tmp_path / "net.xml"), tmp_path / "model"
    done = tool.call("convert", path, "-o", model, "--unroll", "--compare-outputs", "never")
    if done.returncode == 1:
        assert " [raise." in done.stderr and not model.exists()
        return
    assert done.returncode == 0, done.stderr
    tool.must("check", model, "--strict")
    np.savez(tmp_path / "inputs.npz", **case.inputs)
    options = ["--inputs", tmp_path / "inputs.npz"] if case.inputs else []
    found = tool.run(model, *options, "--backend", "reference")
    outputs = [found[f"out{place}"].astype(value.dtype) for place, value in enumerate(case.expected)]
    assert_equal(outputs, case.expected)
