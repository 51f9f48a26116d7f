"""Mistakes of newcomers are reported in their terms, and fixed if there is only one repair."""

from __future__ import annotations

import math
import re
import struct
import subprocess
from pathlib import Path

import pytest

from first_messages import FIRST_MESSAGES
from newcomer_mistakes import DOCUMENT, MISTAKES, Mistake
from whole_mistakes import UNSAFE, WHOLE_MISTAKES, WholeMistake


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
    assert (fixed.returncode == 0) == (mistake.fixed is True), fixed.stderr
    (tmp_path / "net.nnef").write_text(mistake.document(), encoding="utf-8")
    fixed = _run(nnefc, tmp_path, "check", "--fix", "--unsafe-fixes", "net.nnef")
    assert (fixed.returncode == 0) == bool(mistake.fixed), fixed.stderr


def _tensor_file(extents: list[int]) -> bytes:
    size = 4 * math.prod(extents)
    head = b"\x4e\xef\x01\x00" + struct.pack("<II", size, len(extents)) + struct.pack("<8I", *extents, *[0] * (8 - len(extents)))
    return (head + struct.pack("<II", 32, 0)).ljust(128, b"\0") + bytes(size)


@pytest.mark.parametrize("mistake", WHOLE_MISTAKES + FIRST_MESSAGES, ids=lambda mistake: mistake.name)
def test_whole_mistake(mistake: WholeMistake, nnefc: Path, tmp_path: Path) -> None:
    for name, text in mistake.files.items():
        data = text.encode()
        if text.startswith("tensor"):
            data = _tensor_file([int(extent) for extent in text.removeprefix("tensor").split(",")])
        (tmp_path / name).write_bytes(data)
    told = _run(nnefc, tmp_path, *mistake.command.split()).stderr
    assert re.sub(r"^\S+: (error|warning): ", "", told.splitlines()[0]) == mistake.message, told
    if not mistake.right:
        return
    (tmp_path / "right.nnef").write_text(mistake.right, encoding="utf-8")
    right = _run(nnefc, tmp_path, "check", "right.nnef")
    assert (right.returncode, right.stderr) == (0, "")
    for options in ([], ["--unsafe-fixes"]):
        (tmp_path / "net.nnef").write_text(mistake.files["net.nnef"], encoding="utf-8")
        _run(nnefc, tmp_path, "check", "--fix", *options, "net.nnef")
        fixed = (tmp_path / "net.nnef").read_text(encoding="utf-8")
        is_right = "".join(fixed.split()) == "".join(mistake.right.split())
        assert is_right == (bool(options) or mistake.name not in UNSAFE), fixed


@pytest.mark.parametrize("mistake", FIRST_MESSAGES, ids=lambda mistake: mistake.name)
def test_first_message_stands_alone(mistake: WholeMistake, nnefc: Path, tmp_path: Path) -> None:
    """One mistake is one error. If its author must choose the repair, `--fix` does not change the document."""
    text = mistake.files["net.nnef"]
    (tmp_path / "net.nnef").write_text(text, encoding="utf-8")
    told = _run(nnefc, tmp_path, *mistake.command.split()).stderr
    assert len(re.findall(r"^net\.nnef:\d+:\d+: error: ", told, re.MULTILINE)) == 1, told
    if mistake.right:
        return
    _run(nnefc, tmp_path, "check", "--fix", "net.nnef")
    assert (tmp_path / "net.nnef").read_text(encoding="utf-8") == text
