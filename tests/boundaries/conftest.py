"""Where the tests find the binary, and what they share with other folders."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from openvino_worker import Worker

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(HERE), str(TESTS / "interop"), str(TESTS / "interop" / "opsets"), str(TESTS / "networks"), str(TESTS / "differential"),
                str(TESTS / "conformance" / "operations"), str(TESTS / "conformance" / "operations" / "formulas")]


@pytest.fixture(scope="session")
def nnefc() -> Path:
    """The path of the binary under test."""
    return Path(os.environ.get("NNEFC", TESTS.parent / "build/release/bin/nnefc"))


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """The process that computes OpenVINO's results."""
    from openvino_worker import Worker

    started = Worker()
    yield started
    started.stop()
