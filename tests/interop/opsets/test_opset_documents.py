"""`nnefc convert --target nnefc` on each row of the operation sets: OpenVINO computes a model of its settings, nnefc the document
that it becomes. With open extents, which no standard operation determines, each is the operation of NNEFC_opset."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")

from openvino_oracle import openvino_outputs  # noqa: E402
from opset_cases import CASES, Const, Dynamic, Input  # noqa: E402
from test_opset_rows import make_model  # noqa: E402


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("documents"))


def opened(given: Input) -> Input:
    """Returns the input with open extents."""
    if isinstance(given, Const) or np.ndim(getattr(given, "value", given)) == 0:
        return given
    value = given.value if isinstance(given, Dynamic) else given
    return Dynamic(value, ",".join("?" * value.ndim))


def closed(given: Input) -> Input:
    return given.value if isinstance(given, Dynamic) else given


def check(tool: Nnefc, folder: Path, row: str, form, is_used: bool) -> None:
    cases = [([form(each) for each in inputs], attributes) for inputs, attributes in CASES[row]]
    model, inputs = make_model(row, cases)
    xml, document = folder / "net.xml", folder / "model"
    ov.save_model(model, xml, compress_to_fp16=False)
    done = tool.call("convert", xml, "-o", document, "--target", "nnefc", "--compare-outputs", "never")
    assert (done.returncode, done.stderr) == (0, "")
    text = (document / "graph.nnef").read_text()
    # Operations of constants alone are evaluated.
    assert not is_used or not inputs or f"{row.replace('.', '_')}(" in text, text
    assert tool.must("check", document) == ""
    expanded = tool.must("expand", document)
    (folder / "again").mkdir()
    (folder / "again" / "graph.nnef").write_text(expanded)
    for data in document.glob("*.dat"):
        (folder / "again" / data.name).write_bytes(data.read_bytes())
    assert tool.must("expand", folder / "again") == expanded
    np.savez(folder / "inputs.npz", **inputs)
    options = ["--inputs", folder / "inputs.npz"] if inputs else []
    found = tool.run(document, *options, "--backend", "reference")
    # OpenVINO does not run all operations with open extents.
    known, _ = make_model(row, [([closed(each) for each in inputs], attributes) for inputs, attributes in CASES[row]])
    ov.save_model(known, folder / "known.xml", compress_to_fp16=False)
    expected = openvino_outputs(folder / "known.xml", inputs)
    for name, value in zip([output.any_name for output in model.outputs], expected, strict=True):
        case = CASES[row][int(name[3:].split("_")[0])]
        assert found[name].shape == value.shape, f"{name}: {case[1]}"
        np.testing.assert_allclose(found[name].astype(value.dtype), value, rtol=1e-4, atol=1e-5, err_msg=f"{name}: {case[1]}")


@pytest.mark.parametrize("row", CASES)
def test_row(tool: Nnefc, tmp_path: Path, row: str) -> None:
    check(tool, tmp_path, row, closed, False)


@pytest.mark.parametrize("row", CASES)
def test_row_with_open_extents(tool: Nnefc, tmp_path: Path, row: str) -> None:
    check(tool, tmp_path, row, opened, True)
