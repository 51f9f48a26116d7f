"""tests/install/dockerfile.py reads instructions and copies files as Docker does. Running them needs root, and is part of
tools/dev/check_docker.sh."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "install" / "dockerfile.py"
spec = importlib.util.spec_from_file_location("dockerfile", SCRIPT)
assert spec is not None
assert spec.loader is not None
dockerfile = importlib.util.module_from_spec(spec)
sys.modules["dockerfile"] = dockerfile  # dataclasses look their module up
spec.loader.exec_module(dockerfile)


def test_instructions_continue_after_a_backslash() -> None:
    text = "# a comment\nFROM debian AS build\nrun a \\\n    && b \\\n  # skipped\n    && c\n\nWORKDIR /x\n"
    assert dockerfile.instructions_of(text) == [("FROM", "debian AS build"), ("RUN", "a && b && c"), ("WORKDIR", "/x")]


def test_copy_takes_matching_files_and_contents_of_folders(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "folder/inner").mkdir(parents=True)
    (source / "build").mkdir()
    for name in ("one.deb", "two.deb", "three.txt", "folder/inner/file", "build/output"):
        (source / name).write_text(name)
    stage = dockerfile.Stage(tmp_path / "root")
    dockerfile.copy(source, stage, ["/*.deb", "folder", "/to/"])
    copied = {str(path.relative_to(tmp_path / "root")) for path in (tmp_path / "root").rglob("*") if path.is_file()}
    assert copied == {"to/one.deb", "to/two.deb", "to/inner/file"}
    dockerfile.copy(source, stage, [".", "/all"])
    assert not (tmp_path / "root/all/build").exists()
    assert (tmp_path / "root/all/folder/inner/file").read_text() == "folder/inner/file"


def test_copy_reports_a_pattern_without_files(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("")
    with pytest.raises(SystemExit, match=r"match no file"):
        dockerfile.copy(tmp_path, dockerfile.Stage(tmp_path / "root"), ["missing*", "/to"])
