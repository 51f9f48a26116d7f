"""Each row of the operation sets: a model of OpenVINO's with the operation in several settings is saved by OpenVINO, read
by nnefc without a word, run to the same numbers, and written again as a model that OpenVINO runs to the same numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")
from openvino import opset1  # noqa: E402
from openvino.utils.node_factory import NodeFactory  # noqa: E402

from openvino_oracle import openvino_outputs  # noqa: E402
from opset_cases import CASES, Const, Dynamic, Input  # noqa: E402

# OpenVINO's classes where the name in a file is another.
CLASSES = {"ReLU": "Relu", "PReLU": "PRelu", "SoftMax": "Softmax"}
# Rows that are no operation of their own here: others test them.
ELSEWHERE = {"opset1.Parameter", "opset1.Const", "opset1.Result", "opset3.ReadValue", "opset3.Assign", "opset6.ReadValue",
             "opset6.Assign", "opset8.If", "opset1.TensorIterator", "opset5.Loop"}


def parameter(value: np.ndarray, shape: str | None, name: str, inputs: dict[str, np.ndarray]):
    node = opset1.parameter(ov.PartialShape(f"[{shape}]") if shape else list(value.shape), value.dtype, name=name)
    node.output(0).set_names({name})
    inputs[name] = value
    return node


def make_node(given: Input, name: str, parameters: list, inputs: dict[str, np.ndarray]):
    if isinstance(given, Const):
        return opset1.constant(given.value)
    value, shape = (given.value, given.shape) if isinstance(given, Dynamic) else (given, None)
    parameters.append(parameter(value, shape, name, inputs))
    return parameters[-1]


def make_model(row: str) -> tuple[ov.Model, dict[str, np.ndarray]]:
    """A model with a node for each setting of the row."""
    opset, name = row.split(".")
    parameters, inputs, results = [], {}, []
    for case, (given, attributes) in enumerate(CASES[row]):
        nodes = [make_node(value, f"in{case}_{port}", parameters, inputs) for port, value in enumerate(given)]
        node = NodeFactory(opset).create(CLASSES.get(name, name), [node.output(0) for node in nodes], attributes)
        for port, output in enumerate(node.outputs()):
            output.set_names({f"out{case}_{port}"})
            results.append(opset1.result(output))
    return ov.Model(results, parameters, "rows"), inputs


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("rows"))


def assert_alike(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    assert found.shape == expected.shape and found.dtype == expected.dtype, what
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, err_msg=what)


@pytest.mark.parametrize("row", CASES)
def test_row(tool: Nnefc, tmp_path: Path, row: str) -> None:
    model, inputs = make_model(row)
    theirs, ours, again = (tmp_path / f"{name}.xml" for name in ("theirs", "ours", "again"))
    ov.save_model(model, theirs, compress_to_fp16=False)
    for source, target in [(theirs, ours), (ours, again)]:
        done = tool.call("compile", source, "-o", target)
        assert (done.returncode, done.stderr) == (0, "")
    assert ours.read_bytes() == again.read_bytes()
    assert ours.with_suffix(".bin").read_bytes() == again.with_suffix(".bin").read_bytes()
    names = [output.any_name for output in model.outputs]
    np.savez(tmp_path / "inputs.npz", **inputs)
    found = tool.run(theirs, "--inputs", tmp_path / "inputs.npz", "--backend", "reference") if inputs \
        else tool.run(theirs, "--backend", "reference")
    expected = openvino_outputs(theirs, inputs)
    for name, value, from_ours in zip(names, expected, openvino_outputs(ours, inputs), strict=True):
        case = CASES[row][int(name[3:].split("_")[0])]
        assert_alike(found[name], value, f"{name}: {case[1]}")
        assert_alike(from_ours, value, f"{name} written again: {case[1]}")


def test_every_row_has_a_case(tool: Nnefc) -> None:
    listed = {line.split()[0] for line in tool.must("operations", "--opsets").splitlines()}
    assert listed - ELSEWHERE == set(CASES)
