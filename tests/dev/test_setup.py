"""Functions of tools/setup.sh that fail with a message."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def require_space(gigabytes: int, folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(["bash", "-c", f"source {ROOT / 'tools/setup.sh'} && require_space {gigabytes}"], cwd=folder,
                          capture_output=True, text=True, check=False)


def test_disks_without_space_are_reported(tmp_path: Path) -> None:
    assert require_space(0, tmp_path).returncode == 0
    failed = require_space(10**6, tmp_path)
    assert failed.returncode == 2
    assert "but the tests need 1000000 GB" in failed.stderr


def test_built_files_count(tmp_path: Path) -> None:
    """What `build` has already is not needed again."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "model.bin").write_bytes(os.urandom(50_000_000))
    program = tmp_path / "df"
    program.write_text("#!/bin/sh\necho header\necho disk 0 0 960000 0 /\n")
    program.chmod(0o755)

    def outcome(gigabytes: int) -> int:
        command = f"source {ROOT / 'tools/setup.sh'} && PATH={tmp_path}:$PATH && require_space {gigabytes}"
        return subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, check=False).returncode

    assert outcome(1) == 0
    assert outcome(2) == 2
    (tmp_path / "build" / "model.bin").unlink()
    assert outcome(1) == 2
