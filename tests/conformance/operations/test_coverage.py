#!/usr/bin/env python3
"""Tests of the suite's cases: each operation, border, attribute, pair of attributes, rank, extent, data type and rule has one."""

from __future__ import annotations

import itertools
import re
import sys
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "formulas")]

import make  # noqa: E402
from case import BOTH, PROVISIONAL, RATIFIED, Case  # noqa: E402
from coverage import Coverage, attributes, calls, cover, declared, ranks, required_extents, required_kinds  # noqa: E402

RULES = HERE.parents[2] / "compiler/explain/rules"

# How many operations chapter 4 of each text declares. A test of all of them must not pass because fewer were read.
COUNTS = {RATIFIED: 118, PROVISIONAL: 85}

# Attributes that no case omits or writes with the default, or that have one value, and why.
EXEMPT = {
    ("border", "deconv"): "other borders of deconvolutions have several readings",
    ("border", "debox"): "as deconv",
    ("border", "desample"): "the text allows 'constant' alone",
    ("border", "planewise_deconv"): "as deconv",
    ("border", "separable_deconv"): "as deconv",
    ("padding", "deconv"): "the provisional text leaves automatic padding of deconvolutions open",
    ("padding", "debox"): "as deconv",
    ("padding", "desample"): "as deconv",
    ("padding", "separable_deconv"): "as deconv",
    ("dilation", "desample"): "provisional: without coordinates that a case could write",
}
# Of which dialects the exemptions are.
ONLY_PROVISIONAL = {"padding", "dilation"}

# The border modes of operations that have a border. Those that are not listed here have those of a filter.
FILTER_BORDERS = {"constant", "replicate", "reflect", "reflect-even"}
CONSTANT_ONLY = {"deconv", "debox", "desample", "separable_deconv", "planewise_deconv"}
POOLS = {"box", "max_pool", "argmax_pool", "max_pool_with_index", "avg_pool", "rms_pool"}
STORED = {(RATIFIED, kind) for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1")}
STORED |= {(PROVISIONAL, kind) for kind in ("f2", "f4", "f8")}

# Errors of chapter 4 that no document breaks, and why.
WITHOUT_CASE = {
    (PROVISIONAL, "external.unspecified-extent"): "the document is valid, but has no ratified form to print",
    (RATIFIED, "lower.window-too-large"): "the text has no such limit: OpenVINO's attributes have it",
    (RATIFIED, "raise.no-form"): "an error about OpenVINO IR, which has no NNEF form",
    (RATIFIED, "raise.open-extent"): "an error about OpenVINO IR: its extents may be open, those of a document may not",
}


@cache
def all_cases() -> list[Case]:
    return make.cases()


@cache
def valid_cases() -> list[Case]:
    return [case for case in all_cases() if case.is_valid]


@cache
def coverage() -> Coverage:
    return cover(valid_cases())


def is_exempt(dialect: str, operation: str, attribute: str) -> bool:
    return (attribute, operation) in EXEMPT and (dialect == PROVISIONAL or attribute not in ONLY_PROVISIONAL)


def check_operations() -> None:
    """Every operation that a library declares has a valid case in its dialect."""
    tried = {(case.dialect, case.operation) for case in valid_cases()}
    for dialect in BOTH:
        assert len(declared(dialect)) == COUNTS[dialect], f"{len(declared(dialect))} operations of {dialect}, not {COUNTS[dialect]}"
        missing = {name for name in declared(dialect) if (dialect, name) not in tried}
        assert not missing, f"no case of {dialect} {sorted(missing)}"
        unknown = {name for d, name in tried if d == dialect} - set(declared(dialect))
        assert not unknown, f"no operations of {dialect}: {sorted(unknown)}"


def check_borders() -> None:
    """Every border mode of every operation that declares a border has a valid case: by name, or as the default."""
    tried = {(case.dialect, case.operation, border) for case in valid_cases()
             for border in re.findall(r"border = '([\w-]+)'", case.body) or ["constant"]}
    for dialect in BOTH:
        names = {name for name in declared(dialect) if any(p.name == "border" for p in declared(dialect)[name])}
        assert len(names) >= 12, names
        for name in names:
            borders = {"constant"} if name in CONSTANT_ONLY else FILTER_BORDERS | ({"ignore"} if name in POOLS else set())
            missing = {border for border in borders if (dialect, name, border) not in tried}
            assert not missing, f"no case of {dialect} {name} with border {sorted(missing)}"


def check_types() -> None:
    """Inputs of each data type, each storage format of variables, and each type of items where an operand may have any."""
    cases = valid_cases()
    assert {x.dtype.kind for case in cases if case.dialect == RATIFIED for x in case.inputs.values()} == {"f", "i", "b"}
    assert {x.dtype.kind for case in cases if case.dialect == RATIFIED for x in case.expected.values()} == {"f", "i", "b"}
    stored = {(case.dialect, x.dtype.str.lstrip("<|")) for case in cases for x in case.variables.values()}
    assert stored == STORED, stored ^ STORED
    generic = {name for name in declared(RATIFIED) if required_kinds(RATIFIED, name)}
    assert {"copy", "select", "concat", "cast", "gather", "external"} <= generic and "add" not in generic
    missing = {(name, kind) for name in generic for kind in "fib" if (RATIFIED, name, kind) not in coverage().kinds}
    assert not missing, f"no case of these types of items: {sorted(missing)}"


def check_ranks() -> None:
    """Each rank that is required of the first operand, and extents of 0, 1 and of odd numbers."""
    found = coverage()
    for dialect in BOTH:
        for name in declared(dialect):
            missing = [rank for rank in ranks(dialect, name) if (dialect, name, rank) not in found.ranks]
            assert not missing, f"no case of {dialect} {name} of rank {missing}"
            missing = [extent for extent in required_extents(dialect, name) if (dialect, name, extent) not in found.extents]
            assert not missing, f"no case of {dialect} {name} with an extent of {missing}"


def check_attributes() -> None:
    """Every attribute that a library declares is written in a valid case. One that has a default is omitted in another case, written
    with the default in a third, and has another value in a fourth. So have any two of one operation together."""
    written: dict[tuple[str, str, str], set[str]] = {}
    omitted: set[tuple[str, str, str]] = set()
    for case in valid_cases():
        for arguments in calls(case):
            for parameter in declared(case.dialect)[case.operation]:
                key = (case.dialect, case.operation, parameter.name)
                if parameter.name in arguments:
                    written.setdefault(key, set()).add(arguments[parameter.name])
                else:
                    omitted.add(key)
    for dialect in BOTH:
        for operation, parameters in declared(dialect).items():
            for parameter in parameters:
                key = (dialect, operation, parameter.name)
                if parameter.is_tensor or operation in ("external", "variable"):  # of which every document has some
                    continue
                assert key in written, f"no case writes {key}"
                if parameter.default is None or is_exempt(dialect, operation, parameter.name):
                    continue
                assert key in omitted, f"no case omits {key}"
                assert parameter.default in written[key], f"no case writes the default {parameter.default} of {key}"
                assert len(written[key]) > 1, f"each case of {key} has the default"
            names = [p.name for p in attributes(dialect, operation) if not is_exempt(dialect, operation, p.name) or p.name == "padding"]
            missing = [pair for pair in itertools.combinations(names, 2) if (dialect, operation, frozenset(pair)) not in coverage().pairs]
            assert not missing, f"no case of {dialect} {operation} changes both of {missing}"


def check_rules() -> None:
    """Every error of chapter 4 has an invalid case in each dialect whose text has it. Errors of chapters 3 and 5 are broken by the
    documents of `adversary`."""
    broken = {(case.dialect, case.rule) for case in all_cases() if not case.is_valid}
    found = set()
    for path in RULES.glob("*.rule"):
        row = re.search(r"^== rule: (\S+), error, (.*)$", path.read_text(), re.MULTILINE)
        if row:
            found |= {(dialect, row[1]) for dialect, letter in ((RATIFIED, "R"), (PROVISIONAL, "P")) if re.search(rf"\b{letter} 4", row[2])}
    assert len(found) > 100, found
    missing = found - broken - set(WITHOUT_CASE)
    assert not missing, f"no invalid case of {sorted(missing)}"
    stale = {key for key in WITHOUT_CASE if key in broken or key not in found}
    assert not stale, f"reasons of rules that have cases or do not exist: {sorted(stale)}"


def check_names() -> None:
    """No two cases share a folder."""
    paths = [case.path for case in all_cases()]
    assert len(paths) == len(set(paths)) and len(paths) >= 5000


if __name__ == "__main__":
    check_operations()
    check_borders()
    check_types()
    check_ranks()
    check_attributes()
    check_rules()
    check_names()
