"""What newcomers get wrong is told as they would say it, and put right where only one repair is possible."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from newcomer_mistakes import DOCUMENT, MISTAKES, Mistake


def _run(nnefc: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(nnefc), *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_the_document_is_right(nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text(DOCUMENT, encoding="utf-8")
    done = _run(nnefc, tmp_path, "check", "net.nnef")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.wrong.strip()[:40])
def test_mistake(mistake: Mistake, nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text(mistake.document(), encoding="utf-8")
    told = _run(nnefc, tmp_path, "check", "net.nnef")
    assert told.returncode == 1
    assert re.search(mistake.message, told.stderr.splitlines()[0]), told.stderr
    fixed = _run(nnefc, tmp_path, "check", "--fix", "net.nnef")
    assert (fixed.returncode == 0) == mistake.fixed, fixed.stderr
