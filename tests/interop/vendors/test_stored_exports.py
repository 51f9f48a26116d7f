"""Stored documents of torch_to_nnef for small modules, in both targets and in 8 bits: stored_exports.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import stored_exports
from stored_exports import FAMILIES, Export, exports, known_fault, verdict

MIN_DOCUMENTS = {"khronos": 150, "tract": 80, "quantized": 55}


@pytest.mark.parametrize("export", [each for family in FAMILIES for each in exports(family)], ids=lambda each: f"{each.family}-{each.name}")
def test_export(export: Export, nnefc: Path, tmp_path: Path) -> None:
    text = verdict(nnefc, export, tmp_path)
    if text and (fault := known_fault(export, text)):
        pytest.xfail(f"the exporter {fault}")
    assert not text


def test_families() -> None:
    assert {family: len(exports(family)) >= least for family, least in MIN_DOCUMENTS.items()} == dict.fromkeys(MIN_DOCUMENTS, True)


def test_report_exits_with_one_where_a_document_fails(nnefc: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    some = exports("quantized")[:2]
    monkeypatch.setattr(stored_exports, "FAMILIES", ["quantized"])
    monkeypatch.setattr(stored_exports, "exports", lambda family: some)
    assert stored_exports.report(nnefc)
    assert capsys.readouterr().out.splitlines()[1].split() == ["quantized", "2", "2", "0", "0"]
    monkeypatch.setattr(stored_exports, "verdict", lambda *_: "differs")
    assert not stored_exports.report(nnefc)
    assert capsys.readouterr().out.splitlines()[-1] == f"quantized {some[1].name}: differs"


def test_script_reports(nnefc: Path) -> None:
    """The script that tools/interop.sh runs rejects a file that is not a binary."""
    done = subprocess.run([sys.executable, stored_exports.__file__, str(nnefc.parent / "no-such-binary")], capture_output=True, text=True, check=False)
    assert done.returncode != 0
