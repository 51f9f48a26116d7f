"""Fixtures: the binary, the shared data, and the cache of generated models."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDERS = ["conversions", "kernels", "opsets", "openvino_ir", "documents", "vendors", "model_data", "messages"]
sys.path[:0] = [str(HERE), *(str(HERE / folder) for folder in FOLDERS), str(ROOT / "tests" / "networks"), str(ROOT / "tests" / "conformance" / "operations" / "formulas")]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nnefc", default=os.environ.get("NNEFC"),
                     help="the nnefc binary (NNEFC; else the newest under build/, else PATH)")
    parser.addoption("--shared-data", default=os.environ.get("NNEFC_SHARED_DATA"),
                     help="the folder with networks/ (NNEFC_SHARED_DATA; else ../shared/data)")
    parser.addoption("--cache", default=os.environ.get("NNEFC_TEST_CACHE"),
                     help="keeps generated models between runs (NNEFC_TEST_CACHE)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Selects tests for a binary with sanitizers, which is slow: each network runs once, the ratified document on the
    default backend."""
    if os.environ.get("NNEFC_SANITIZE") != "ON":
        return
    again = ("provisional", "reference", "twin", "source_equals_flat")
    left_out = [item for item in items if any(word in item.name for word in again)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Treats a file without selected tests as passed."""
    if os.environ.get("NNEFC_SANITIZE") == "ON" and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


def _find_nnefc(option: str | None) -> Path | None:
    if option:
        return Path(option).resolve()
    built = sorted(ROOT.glob("build/*/bin/nnefc"), key=lambda path: path.stat().st_mtime)
    found = built[-1] if built else shutil.which("nnefc")
    return Path(found) if found else None


@pytest.fixture(scope="session")
def nnefc(pytestconfig: pytest.Config) -> Path:
    """Returns the path of the binary under test."""
    path = _find_nnefc(pytestconfig.getoption("--nnefc"))
    if path is None or not path.exists():
        pytest.skip("no nnefc binary: build it, or name it by NNEFC")
    return path


@pytest.fixture(scope="session")
def shared_data(pytestconfig: pytest.Config) -> Path:
    """Returns the folder of the shared documents; skips without it."""
    option = pytestconfig.getoption("--shared-data")
    path = Path(option) if option else ROOT.parent / "shared" / "data"
    if not (path / "networks").is_dir():
        pytest.skip(f"no shared data in {path}: name the folder by NNEFC_SHARED_DATA")
    return path.resolve()


@pytest.fixture(scope="session")
def cache(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder for generated models; it outlives the run if it was named."""
    option = pytestconfig.getoption("--cache")
    path = Path(option).resolve() if option else tmp_path_factory.mktemp("models")
    path.mkdir(parents=True, exist_ok=True)
    return path
