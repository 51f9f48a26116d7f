"""The documents of provisional_documents.py on both backends against their formulas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc
from tensor_files import dat
from provisional_documents import CASES, Case


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("provisional_documents"))


def significant(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the shape without trailing extents of 1, which are irrelevant here (P 2.5, 4.1)."""
    while shape and shape[-1] == 1:
        shape = shape[:-1]
    return shape


def model(case: Case, folder: Path) -> Path:
    (folder / "graph.nnef").write_text(case.text())
    for label, array in case.variables.items():
        path = folder / f"{label}.dat"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(dat(array, "P"))
    np.savez(folder / "inputs.npz", **case.inputs)
    return folder


@pytest.mark.parametrize("backend", ["reference", "fast"])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_document(tool: Nnefc, tmp_path: Path, case: Case, backend: str) -> None:
    folder, expected = model(case, tmp_path), case.expected()
    found = tool.run(folder, "--inputs", folder / "inputs.npz", "--backend", backend, "--verify")
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert significant(found[name].shape) == significant(value.shape), name
        np.testing.assert_allclose(found[name].astype(float).ravel(), value.astype(float).ravel(), rtol=1e-4, atol=1e-5,
                                   err_msg=name)


def test_names_are_told_apart() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 100
