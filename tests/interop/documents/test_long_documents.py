"""Documents of a hundred thousand operations, written by `../bench/make_flat.py`: their memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from peak_memory import peak_of

MAKE_FLAT = Path(__file__).resolve().parent.parent.parent / "bench" / "make_flat.py"
OPERATIONS = 100_000
MOST_BYTES = 2_000


@pytest.mark.skipif(os.environ.get("NNEFC_SANITIZE") == "ON", reason="sanitizers take memory of their own")
def test_check_takes_two_kilobytes_an_operation(nnefc: Path, tmp_path: Path) -> None:
    """Includes the memory of the program itself, about 15 MB."""
    path = tmp_path / "long.nnef"
    with open(path, "w", encoding="utf-8") as file:
        subprocess.run([sys.executable, str(MAKE_FLAT), str(OPERATIONS)], stdout=file, check=True, timeout=60)
    assert peak_of(nnefc, "check", path) * 1024 < MOST_BYTES * OPERATIONS
