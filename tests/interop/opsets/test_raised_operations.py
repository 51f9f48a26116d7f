"""`nnefc convert` on each operation with an NNEF form: OpenVINO computes a model of its settings, nnefc the document that it
becomes, and Khronos' parser reads it. Settings without a form are those of `NO_FORM`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

nnef = pytest.importorskip("nnef")
ov = pytest.importorskip("openvino")
from openvino import opset1  # noqa: E402
from openvino.utils.node_factory import NodeFactory  # noqa: E402

from openvino_oracle import openvino_outputs  # noqa: E402
from opset_cases import CASES, Const, Dynamic, Input  # noqa: E402
from raised_settings import FIRST_OUTPUT, NO_FORM, RAISED  # noqa: E402
from test_opset_rows import CLASSES, make_node  # noqa: E402

REFUSED = re.compile(r"the layer `case(\d+)`, has no form")
ROWS = [row for row in CASES if row.split(".")[1] in RAISED]


def static(given: Input) -> Input:
    return given.value if isinstance(given, Dynamic) else given


def make_model(row: str, cases: dict[int, tuple[list[Input], dict]]) -> tuple[ov.Model, dict[str, np.ndarray]]:
    """Makes a model with a layer `caseN` for each setting."""
    opset, name = row.split(".")
    parameters, inputs, results = [], {}, []
    for case, (given, attributes) in cases.items():
        nodes = [make_node(static(value), f"in{case}_{port}", parameters, inputs) for port, value in enumerate(given)]
        node = NodeFactory(opset).create(CLASSES.get(name, name), [node.output(0) for node in nodes], attributes)
        node.set_friendly_name(f"case{case}")
        for port, output in enumerate(node.outputs()[:1] if name in FIRST_OUTPUT else node.outputs()):
            output.set_names({f"out{case}_{port}"})
            results.append(opset1.result(output))
    return ov.Model(results, parameters, "rows"), inputs


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("raised"))


def save(row: str, cases: dict[int, tuple[list[Input], dict]], path: Path) -> tuple[ov.Model, dict[str, np.ndarray]]:
    model, inputs = make_model(row, cases)
    ov.save_model(model, path, compress_to_fp16=False)
    return model, inputs


@pytest.mark.parametrize("row", ROWS)
def test_row(tool: Nnefc, tmp_path: Path, row: str) -> None:
    cases = dict(enumerate(CASES[row]))
    xml, folder = tmp_path / "net.xml", tmp_path / "model"
    model, inputs = save(row, cases, xml)
    done = tool.call("convert", xml, "-o", folder, "--compare-outputs", "never")
    refused = {int(case) for case in REFUSED.findall(done.stderr)}
    assert refused == NO_FORM.get(row, set()), done.stderr
    if refused:
        assert done.returncode == 1 and not folder.exists()
        if len(refused) == len(cases):
            return
        model, inputs = save(row, {case: cases[case] for case in cases if case not in refused}, xml)
        tool.must("convert", xml, "-o", folder, "--compare-outputs", "never")
    else:
        assert done.returncode == 0, done.stderr
    nnef.parse_file(str(folder / "graph.nnef"))
    tool.must("check", folder, "--strict")
    np.savez(tmp_path / "inputs.npz", **inputs)
    options = ["--inputs", tmp_path / "inputs.npz"] if inputs else []
    found = tool.run(folder, *options, "--backend", "reference")
    expected = openvino_outputs(xml, inputs)
    for name, value in zip([output.any_name for output in model.outputs], expected, strict=True):
        assert found[name].shape == value.shape, name
        np.testing.assert_allclose(found[name].astype(value.dtype), value, rtol=1e-4, atol=1e-5, err_msg=f"{name}: {row}")


def test_the_settings_name_rows_with_cases() -> None:
    assert set(NO_FORM) <= set(ROWS)
    assert all(max(refused) < len(CASES[row]) for row, refused in NO_FORM.items())
