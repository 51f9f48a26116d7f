"""The rows of the operations, as `nnefc_differential --rows` prints them."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PROGRAM = os.environ.get("NNEFC_DIFFERENTIAL", Path(__file__).parents[2] / "build/release/bin/nnefc_differential")


@dataclass(frozen=True)
class Attribute:
    """An attribute of an operation. `default` is meaningful where `has_default` is true."""

    name: str
    kind: str
    range: str
    choices: list[str]
    has_default: bool
    default: Any


@dataclass(frozen=True)
class Row:
    """An operation of NNEF (the set "nnef") or of one of OpenVINO's sets."""

    set: str
    name: str
    section: str
    inputs: list[dict]
    attributes: list[Attribute]


@cache
def all_rows() -> dict[str, Row]:
    """Every row by "set.name"."""
    text = subprocess.run([PROGRAM, "--rows"], check=True, capture_output=True, text=True).stdout
    rows = {}
    for line in text.splitlines():
        fields = json.loads(line)
        fields["attributes"] = [Attribute(**attribute) for attribute in fields["attributes"]]
        rows[f"{fields['set']}.{fields['name']}"] = Row(**fields)
    return rows


def opset_rows() -> dict[str, Row]:
    return {name: row for name, row in all_rows().items() if row.set.startswith("opset")}


def nnef_rows() -> dict[str, Row]:
    """The operations of the ratified specification, without those of extensions."""
    return {row.name: row for row in all_rows().values() if row.set == "nnef" and row.section.startswith("R ")}
