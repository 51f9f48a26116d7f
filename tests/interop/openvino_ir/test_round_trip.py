"""Documents that became OpenVINO IR and are converted back: the cases of the conformance suite against the formulas of NNEF's
text, and our networks against the documents.

Every third ratified case runs, and every fortieth provisional one: both dialects become the same graphs. NNEFC_ALL_CASES=1 runs all.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import models
from models import Nnefc, assert_agree, statements

ROOT = Path(__file__).resolve().parent.parent.parent.parent
ALL_CASES = bool(os.environ.get("NNEFC_ALL_CASES"))
TOLERANCE = 1e-5

# Reasons that a case has no form in the ratified dialect, which then returns as a document of the target nnefc, by the operations
# of the cases or a part of their names. Integer arithmetic on such indices has no form, either.
NO_FORM = {
    "its indices are positions in the tensor, and those of NNEF positions in the window":
        {"argmax_pool", "max_pool_with_index", "sample", "desample"},
    "its result has no elements": {"extent_0", "extents_of_no_items"},
    "its state has the type i64": {"update/"},
    "its state has the type boolean": {"update/"},
}
# Operations that IR lacks; the text form of the graph keeps them.
NO_IR = {"avg_roi_align", "avg_roi_pool", "max_roi_align", "max_roi_pool", "roi_resample"}


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("returned"))


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("suite") / "cases"
    make = ROOT / "tests" / "conformance" / "operations" / "make.py"
    subprocess.run([sys.executable, make, folder], check=True, stdout=subprocess.DEVNULL)
    found = sorted(path.parent for path in folder.rglob("expected.npz"))
    if ALL_CASES:
        return found
    provisional = [path for path in found if "provisional" in path.relative_to(folder).parts]
    return [path for path in found if path not in set(provisional)][::3] + provisional[::40]


def difference(found: np.ndarray, expected: np.ndarray) -> float:
    """Returns max|a - b| / max|b| of scalars, 0 for other equal arrays; infinity if shapes, types or the places of NaN differ."""
    if found.shape != expected.shape or found.dtype.kind != expected.dtype.kind:
        return np.inf
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(found, expected) else np.inf
    if not np.array_equal(np.isnan(found), np.isnan(expected)):
        return np.inf
    differs = ~((found == expected) | np.isnan(expected))
    if not differs.any():
        return 0.0
    with np.errstate(invalid="ignore"):
        error = np.abs(found[differs].astype(np.float64) - expected[differs]).max()
    size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    return float(error / max(size, 1e-30)) if np.isfinite(error) else np.inf


def returned(tool: Nnefc, case: Path, scratch: Path) -> tuple[Path | None, str]:
    """Converts a case to IR and back; returns the model, or the message about operations without a form. A case without a
    ratified form has one for the target nnefc."""
    graph, model = scratch / "net.xml", scratch / "model"
    shutil.rmtree(model, ignore_errors=True)
    done = tool.call("compile", case, "-o", graph)
    if done.returncode != 0 and case.parent.name in NO_IR and "has no form in OpenVINO IR" in done.stderr:
        graph = scratch / "net.ir"
        done = tool.call("compile", case, "-o", graph, "--force")
    if done.returncode != 0:
        return None, done.stderr
    done = tool.call("convert", graph, "-o", model, "--compare-outputs", "never")
    if done.returncode == 0:
        strict = tool.call("check", model, "--strict")
        return (model, "") if strict.returncode == 0 else (None, strict.stderr)
    reasons = set(re.findall(r"has no form in the ratified dialect: (.*?)(?:;|$| \[)", done.stderr, re.MULTILINE))
    known = {reason for reason, words in NO_FORM.items() if any(word in f"{case.parent.name}/{case.name}" for word in words)}
    if not reasons & known:
        return None, done.stderr
    done = tool.call("convert", graph, "-o", model, "--target", "nnefc", "--compare-outputs", "never")
    return (model, "") if done.returncode == 0 else (None, done.stderr)


def outcome(tool: Nnefc, case: Path, scratch: Path) -> str:
    """Returns an empty text if the document that returns computes the expected results, else what happened."""
    model, message = returned(tool, case, scratch)
    if model is None:
        return message
    expected, outputs = dict(np.load(case / "expected.npz")), scratch / "outputs.npz"
    outputs.unlink(missing_ok=True)
    inputs = ["--inputs", case / "inputs.npz"] if np.load(case / "inputs.npz").files else []
    done = tool.call("run", model, *inputs, "--outputs", outputs, "--backend", "reference")
    if done.returncode != 0:
        return done.stderr
    found = dict(np.load(outputs))
    if found.keys() != expected.keys():
        return f"results {sorted(found)}; expected {sorted(expected)}"
    bound = max(json.loads((case / "case.json").read_text())["tolerance"], TOLERANCE)
    bad = {name: difference(found[name], expected[name]) for name in expected if not difference(found[name], expected[name]) <= bound}
    return f"differs: {bad}" if bad else ""


def test_cases_return(tool: Nnefc, cases: list[Path], tmp_path: Path) -> None:
    assert len(cases) > (4400 if ALL_CASES else 850)
    wrong = {}
    for case in cases:
        what = outcome(tool, case, tmp_path)
        if what:
            wrong["/".join(case.parts[-4:])] = what
    assert wrong == {}


@pytest.mark.parametrize(("name", "target"), [("googlenet", "ratified"), ("lstm_scan", "nnefc"), ("mobilenetv2", "ratified"),
                                              ("resnet18_spp", "ratified"), ("resnet50", "ratified")])
def test_networks_return(tool: Nnefc, tmp_path: Path, name: str, target: str) -> None:
    document, model = models.NETWORKS / f"{name}.nnef", tmp_path / "model"
    seeds = ["--random-weights", "1"]
    tool.must("compile", document, *seeds, "-o", tmp_path / "net.xml")
    tool.must("convert", tmp_path / "net.xml", "-o", model, "--target", target, "--compare-outputs", "never")
    tool.must("check", model, *(["--strict"] if target == "ratified" else []))
    if target == "ratified":
        pytest.importorskip("nnef").parse_file(str(model / "graph.nnef"))
    expected = tool.run(document, *seeds, "--random-inputs", "1")
    assert_agree(tool.run(model, "--random-inputs", "1"), expected, 1e-5)
    flat = tool.must("expand", document)
    assert statements((model / "graph.nnef").read_text()) <= 1.05 * statements(flat)
