"""Models after the documentation of If-8 and TensorIterator-1: right ones run to the numbers of their formulas, here, in
OpenVINO where it keeps the documentation, and after `compile` wrote them again; wrong ones are refused by the layer's name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

pytest.importorskip("openvino")

import seed_api_cases  # noqa: E402, F401
import seed_if_cases  # noqa: E402, F401
import seed_iterator_cases  # noqa: E402, F401
import seed_nested_cases  # noqa: E402, F401
import seed_refusals  # noqa: E402, F401
from openvino_oracle import openvino_outputs  # noqa: E402
from seed_models import CASES, DISPUTED, REFUSED, Case, Refusal  # noqa: E402


@pytest.fixture
def program(nnefc: Path, tmp_path: Path) -> Nnefc:
    return Nnefc(nnefc, tmp_path)


def assert_expected(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.shape == other.shape and one.dtype == other.dtype, (one, other)
        if np.issubdtype(other.dtype, np.floating):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(one, other)


def results(program: Nnefc, path: Path, made: Case | Refusal, backend: str) -> list[np.ndarray]:
    inputs = path.with_name("inputs.npz")
    np.savez(inputs, **made.inputs)
    return list(program.run(path, "--inputs", inputs, "--backend", backend).values())


@pytest.mark.parametrize("name", CASES)
def test_right(program: Nnefc, tmp_path: Path, name: str) -> None:
    made = CASES[name]()
    path = made.save(tmp_path / "net.xml")
    for backend in ("reference", "onednn"):
        assert_expected(results(program, path, made, backend), made.expected)
    if made.openvino == "both":
        assert_expected(openvino_outputs(path, made.inputs), made.expected)


@pytest.mark.parametrize("name", CASES)
def test_written_again(program: Nnefc, tmp_path: Path, name: str) -> None:
    made, again = CASES[name](), tmp_path / "again.xml"
    program.must("compile", made.save(tmp_path / "net.xml"), "-o", again)
    assert_expected(results(program, again, made, "reference"), made.expected)
    if made.openvino != "none":
        assert_expected(openvino_outputs(again, made.inputs), made.expected)


@pytest.mark.parametrize("name", DISPUTED)
def test_disputed_borders(program: Nnefc, tmp_path: Path, name: str) -> None:
    """Refused or warned of by the layer's name; what is not refused has the numbers of the half-open formula."""
    made = DISPUTED[name]()
    path = made.save(tmp_path / "net.xml")
    done = program.call("check", path)
    assert "`loop`" in done.stderr
    if done.returncode == 0:
        assert "warning" in done.stderr
        assert_expected(results(program, path, made, "reference"), made.expected)
    else:
        assert done.returncode == 1


@pytest.mark.parametrize("name", REFUSED)
def test_wrong(program: Nnefc, tmp_path: Path, name: str) -> None:
    made = REFUSED[name]()
    path = made.save(tmp_path / "net.xml")
    inputs = tmp_path / "inputs.npz"
    np.savez(inputs, **made.inputs)
    done = program.call("run", path, "--inputs", inputs) if made.at_run else program.call("check", path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"`{made.layer}`" in done.stderr, done.stderr
    for word in made.words:
        assert word in done.stderr, done.stderr
