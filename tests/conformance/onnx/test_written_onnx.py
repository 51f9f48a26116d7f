"""ONNX that nnefc writes, in ONNX Runtime: the cases of the conformance suite against the formulas of NNEF's text, and networks
against nnefc. Outputs agree within 1e-4 of the largest value.

All ratified cases run, and every twentieth provisional one: both dialects become the same graphs.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import onnxruntime
import pytest

import nnefc
from nnefc.conversion.onnx_graph import to_onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
TOLERANCE = 1e-4

# Operations without a form in ONNX, by sections of the suite, with a part of the message.
UNSUPPORTED = {
    "avg_roi_align": "ROIAlign interpolates across the edge",
    "avg_roi_pool": "ROIPooling rounds regions",
    "max_roi_align": "has no form in OpenVINO IR",
    "max_roi_pool": "has no form in OpenVINO IR",
    "roi_resample": "has no form in OpenVINO IR",
    "update": "ONNX models have no state between runs",
}

# Cases that ONNX Runtime computes otherwise, by operation and a part of the name.
OTHER_RESULTS = {
    ("gelu", "007_of_20_0"): "Sigmoid is bounded at 18: 4e-18 becomes 1e-8",
    ("max", "nan_on_either_side"): "a maximum with NaN is NaN; NNEF compares",
    ("min", "nan_on_either_side"): "a minimum with NaN is NaN; NNEF compares",
    ("sigmoid", "007_of_40_0"): "Sigmoid is bounded at 18: 4e-18 becomes 1e-8",
    ("silu", "007_of_40_0"): "Sigmoid is bounded at 18: 4e-18 becomes 1e-8",
}


def compute(model: nnefc.Model, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns the outputs that ONNX Runtime computes; the names are those of the model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    written = to_onnx(model).SerializeToString()
    session = onnxruntime.InferenceSession(written, options, providers=["CPUExecutionProvider"])
    assert [port.name for port in session.get_inputs()] == [port.name for port in model.inputs]
    names = [port.name for port in session.get_outputs()]
    assert names == [port.name for port in model.outputs]
    return dict(zip(names, session.run(None, inputs)))


def difference(found: np.ndarray, expected: np.ndarray) -> float:
    """Returns max|a - b| / max|b|; infinity if shapes, types or the places of NaN differ."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return np.inf
    a, b = found.astype(np.float64), expected.astype(np.float64)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return np.inf
    differs = ~((a == b) | np.isnan(b))
    if not differs.any():
        return 0.0
    finite = np.abs(b[np.isfinite(b)])
    return float(np.abs(a[differs] - b[differs]).max() / max(finite.max(initial=0.0), 1e-30))


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[pathlib.Path]:
    folder = tmp_path_factory.mktemp("suite") / "cases"
    make = ROOT / "tests" / "conformance" / "operations" / "make.py"
    subprocess.run([sys.executable, make, folder], check=True, stdout=subprocess.DEVNULL)
    found = sorted(path.parent for path in folder.rglob("expected.npz"))
    provisional = [path for path in found if "provisional" in path.relative_to(folder).parts]
    return [path for path in found if path not in set(provisional)] + provisional[::20]


def outcome(folder: pathlib.Path) -> str:
    """Returns an empty text if the case agrees or differs as the tables state, else what happened."""
    operation, name = folder.parent.name, folder.name
    known = [reason for (kind, part), reason in OTHER_RESULTS.items() if kind == operation and part in name]
    try:
        found = compute(nnefc.load(folder), dict(np.load(folder / "inputs.npz")))
    except nnefc.ModelError as error:
        return "" if UNSUPPORTED.get(operation, "\n") in str(error) else str(error)
    expected = np.load(folder / "expected.npz")
    bad = {key: difference(found[key], expected[key]) for key in expected if not difference(found[key], expected[key]) <= TOLERANCE}
    if known:
        return "" if bad else f"agrees; remove it from OTHER_RESULTS ({known[0]})"
    if operation in UNSUPPORTED:
        return "" if not bad else f"differs: {bad}"
    return f"differs: {bad}" if bad else ""


def test_cases_agree(cases: list[pathlib.Path]) -> None:
    assert len(cases) > 2500
    wrong = {}
    for folder in cases:
        what = outcome(folder)
        if what:
            wrong["/".join(folder.parts[-4:])] = what
    assert wrong == {}


@pytest.mark.parametrize("name", ["lstm_scan", "mobilenetv2"])
def test_networks_agree(name: str) -> None:
    model = nnefc.load(ROOT / "tests" / "networks" / f"{name}.nnef", random_weights=1)
    generator = np.random.default_rng(1)
    inputs = {port.name: generator.normal(size=port.shape).astype(port.dtype) for port in model.inputs}
    expected = model.compile(precision="exact", threads=1)(**inputs)
    found = compute(model, inputs)
    assert {key: value for key in expected if (value := difference(found[key], expected[key])) > TOLERANCE} == {}
