"""The rows of nnefc and its page of missing operations together have each operation of opset1 to opset16, in each version,
that the installed OpenVINO knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "compiler/ir/ops/opset/missing.md"
TABLES = Path(ov.__file__).parent / "include/openvino/opsets"
SETS = range(1, 17)
# The name of a class that differs from that in files.
FILE_NAMES = {"Constant": "Const"}


def theirs() -> set[str]:
    """Returns `set.name`, in lower case, with the set that introduced the version."""
    first: dict[tuple[str, str], int] = {}
    for number in SETS:
        table = (TABLES / f"opset{number}_tbl.hpp").read_text(encoding="utf-8")
        for name, version in re.findall(r"_OPENVINO_OP_REG\((\w+), ov::op::v(\d+)\)", table):
            first.setdefault((name, version), number)
    assert len(first) > 200
    return {f"opset{number}.{FILE_NAMES.get(name, name)}".lower() for (name, _), number in first.items()}


def missing() -> set[str]:
    rows = re.findall(r"^\| (\w+) \| (opset\d+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert all(len(reason) > 20 for _, _, reason in rows)
    return {f"{opset}.{name}".lower() for name, opset, _ in rows}


def test_each_operation_has_a_row_or_a_reason(nnefc: Path, tmp_path: Path) -> None:
    if not TABLES.is_dir():
        pytest.skip("this OpenVINO has no headers")
    listed = Nnefc(nnefc, tmp_path).must("operations", "--opsets").splitlines()
    ours = {line.split()[0].lower() for line in listed}
    assert theirs() - ours - missing() == set(), "neither a row nor a line of the page"
    assert missing() & ours == set(), "a row, and a line of the page"
    assert missing() - theirs() == set(), "a line of the page that OpenVINO does not know"
