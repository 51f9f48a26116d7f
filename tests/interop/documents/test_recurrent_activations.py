"""Recurrent layers of ONNX that name their activation functions, converted by OpenVINO: ONNX Runtime computes the
expected values. OpenVINO itself uses the functions of the forward half in both."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from models import Nnefc

ov = pytest.importorskip("openvino")
ort = pytest.importorskip("onnxruntime")

F32 = np.float32
LENGTH, BATCH, INPUTS, HIDDEN = 5, 2, 4, 3
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
NAMES = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
DIFFERENT = {"LSTM": ["HardSigmoid", "Relu", "Tanh"], "GRU": ["HardSigmoid", "Relu"], "RNN": ["HardSigmoid"]}


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("activations"))


def make_layer(kind: str, direction: str, **attributes):
    """A model of one layer, and its inputs."""
    random = np.random.default_rng(5)
    directions, rows = 2 if direction == "bidirectional" else 1, GATES[kind] * HIDDEN
    weights = {"w": random.uniform(-1, 1, [directions, rows, INPUTS]), "r": random.uniform(-1, 1, [directions, rows, HIDDEN]),
               "b": random.uniform(-1, 1, [directions, 2 * rows])}
    node = helper.make_node(kind, ["x", "w", "r", "b"], ["y"], hidden_size=HIDDEN, direction=direction, **attributes)
    graph = helper.make_graph([node], "layer", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [LENGTH, BATCH, INPUTS])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [LENGTH, directions, BATCH, HIDDEN])],
                              [numpy_helper.from_array(value.astype(F32), name) for name, value in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=9)
    return model, random.standard_normal([LENGTH, BATCH, INPUTS]).astype(F32)


def saved_ir(model, path: Path) -> Path:
    path.with_suffix(".onnx").write_bytes(model.SerializeToString())
    ov.save_model(ov.convert_model(path.with_suffix(".onnx")), path, compress_to_fp16=False)
    return path


SETTINGS = {
    "same": lambda kind: dict(activations=NAMES[kind] * 2),
    "forward_differs": lambda kind: dict(activations=DIFFERENT[kind] + NAMES[kind]),
    "reverse_differs": lambda kind: dict(activations=NAMES[kind] + DIFFERENT[kind]),
    "parameters_of_both": lambda kind: dict(activations=DIFFERENT[kind] * 2, activation_alpha=[0.3, 0.1],
                                            activation_beta=[0.4, 0.6]),
    "parameters_of_the_first": lambda kind: dict(activations=DIFFERENT[kind] * 2, activation_alpha=[0.3], activation_beta=[0.6]),
    "parameters_of_the_reverse": lambda kind: dict(activations=NAMES[kind] + DIFFERENT[kind], activation_alpha=[0.3],
                                                   activation_beta=[0.6]),
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", GATES)
def test_both_directions(tool: Nnefc, tmp_path: Path, kind: str, setting: str) -> None:
    model, x = make_layer(kind, "bidirectional", **SETTINGS[setting](kind))
    expected = ort.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    path = saved_ir(model, tmp_path / "net.xml")
    lists = re.search(r'activations="([^"]*)"', path.read_text())
    assert lists and len(lists[1].split(",")) == 2 * len(NAMES[kind])
    np.savez(tmp_path / "inputs.npz", x=x)
    again = tmp_path / "again.xml"
    tool.must("compile", path, "-o", again)
    for source in (path, again):
        for backend in ("reference", "fast"):
            found = tool.run(source, "--inputs", tmp_path / "inputs.npz", "--backend", backend)["y"]
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=f"{source.name} {backend}")


# In a parameter list shorter than that of the functions, a parameter belongs to the first function that has one.
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_a_parameter_of_the_second_function(tool: Nnefc, tmp_path: Path, direction: str) -> None:
    model, x = make_layer("GRU", direction, activations=["Sigmoid", "HardSigmoid"], activation_alpha=[0.3], activation_beta=[0.6])
    expected = ort.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    np.savez(tmp_path / "inputs.npz", x=x)
    path = saved_ir(model, tmp_path / "net.xml")
    for backend in ("reference", "fast"):
        found = tool.run(path, "--inputs", tmp_path / "inputs.npz", "--backend", backend)["y"]
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("kind", "count", "expected"), [
    ("LSTM", 5, "lists 5; expected 3, or 6 for both directions"), ("LSTM", 7, "lists 7; expected 3, or 6 for both directions"),
    ("LSTM", 4, "lists 4; expected 3, or 6 for both directions"), ("GRU", 3, "lists 3; expected 2, or 4 for both directions"),
    ("GRU", 5, "lists 5; expected 2, or 4 for both directions"), ("RNN", 3, "lists 3; expected 1, or 2 for both directions")])
def test_another_number_is_reported(tool: Nnefc, tmp_path: Path, kind: str, count: int, expected: str) -> None:
    path = saved_ir(make_layer(kind, "bidirectional", activations=NAMES[kind] * 2)[0], tmp_path / "net.xml")
    names = ", ".join((["sigmoid", "tanh"] * 4)[:count])
    path.write_text(re.sub(r'activations="[^"]*"', f'activations="{names}"', path.read_text()))
    done = tool.call("check", path)
    assert done.returncode == 1 and f"`activations` of `{kind}Sequence` {expected} [opset.attribute-value]" in done.stderr, done.stderr
