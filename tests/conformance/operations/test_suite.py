#!/usr/bin/env python3
"""Tests of the suite: every operation has cases, and run.py reports what is wrong. test_suite.py STDLIB."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "formulas")]

import make  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402
from case import PROVISIONAL, RATIFIED  # noqa: E402

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

# A tool that copies expected.npz, changed by the function of its second argument.
TOOL = """
import os, sys, time, numpy as np
from pathlib import Path
model, outputs, change = sys.argv[1:4]
arrays = dict(np.load(Path(model) / "expected.npz"))
if change == "fail": sys.exit("no results")
if change == "missing": arrays = {}
if change == "shape": arrays = {k: v[None] for k, v in arrays.items()}
if change == "value": arrays = {k: v + np.float32(2e-5) * abs(v).max() for k, v in arrays.items()}
if change == "none written": sys.exit(0)
if change == "damaged": sys.exit(Path(outputs).write_bytes(b"PK\3\4") and 0)
if change == "crash": os.abort()
if change == "hang": time.sleep(60)
if change == "text": arrays = {k: np.array("y") for k in arrays}
if change == "nan": arrays = {k: np.where(np.arange(v.size).reshape(v.shape) == 0, np.nan, v) for k, v in arrays.items()}
np.savez(outputs, **arrays)
"""


def check_coverage(stdlib: Path) -> None:
    """Every operation that a library declares has a valid case in its dialect."""
    tried = {(case.dialect, case.operation) for case in make.cases() if case.is_valid}
    for dialect in (RATIFIED, PROVISIONAL):
        declared = set(re.findall(r"^fragment (\w+)", (stdlib / f"{dialect}.nnef").read_text(), re.MULTILINE))
        missing = {name for name in declared if (dialect, name) not in tried}
        assert not missing, f"no case of {dialect} {sorted(missing)}"
        unknown = {name for d, name in tried if d == dialect} - declared
        assert not unknown, f"no operations of {dialect}: {sorted(unknown)}"


# The border modes of operations that have a border. Those that are not listed here have those of a filter.
FILTER_BORDERS = {"constant", "replicate", "reflect", "reflect-even"}
CONSTANT_ONLY = {"deconv", "debox", "desample", "separable_deconv", "planewise_deconv"}
POOLS = {"box", "max_pool", "argmax_pool", "max_pool_with_index", "avg_pool", "rms_pool"}
# The suite has no cases of reflections in these.
FEWER = {(PROVISIONAL, "multilinear_upsample"): {"constant", "replicate"}}
STORED = {(RATIFIED, kind) for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1")}
STORED |= {(PROVISIONAL, kind) for kind in ("f2", "f4", "f8")}


def check_borders(stdlib: Path) -> None:
    """Every border mode of every operation that declares a border has a valid case: by name, or as the default."""
    tried = {(case.dialect, case.operation, border) for case in make.cases() if case.is_valid
             for border in re.findall(r"border = '([\w-]+)'", case.body) or ["constant"]}
    for dialect in (RATIFIED, PROVISIONAL):
        fragments = re.findall(r"^fragment (\w+)[^(]*\((.*?)\)\s*->", (stdlib / f"{dialect}.nnef").read_text(), re.MULTILINE | re.DOTALL)
        names = {name for name, parameters in fragments if re.search(r"\bborder:", parameters)}
        assert len(names) >= 12, names
        for name in names:
            borders = {"constant"} if name in CONSTANT_ONLY else FEWER.get((dialect, name), FILTER_BORDERS | ({"ignore"} if name in POOLS else set()))
            missing = {border for border in borders if (dialect, name, border) not in tried}
            assert not missing, f"no case of {dialect} {name} with border {sorted(missing)}"


def check_types() -> None:
    """Inputs of each data type, and each storage format of variables."""
    cases = [case for case in make.cases() if case.is_valid]
    assert {x.dtype.kind for case in cases if case.dialect == RATIFIED for x in case.inputs.values()} == {"f", "i", "b"}
    assert {x.dtype.kind for case in cases if case.dialect == RATIFIED for x in case.expected.values()} == {"f", "i", "b"}
    stored = {(case.dialect, x.dtype.str.lstrip("<|")) for case in cases for x in case.variables.values()}
    assert stored == STORED, stored ^ STORED


def check_attributes(stdlib: Path) -> None:
    """Every attribute that a library declares is written in a valid case. One that has a default is omitted in another case, written
    with the default in a third, and has another value in a fourth."""
    written: dict[tuple[str, str, str], set[str]] = {}
    omitted: set[tuple[str, str, str]] = set()
    cases = [case for case in make.cases() if case.is_valid]
    for dialect in (RATIFIED, PROVISIONAL):
        declared = declared_attributes((stdlib / f"{dialect}.nnef").read_text())
        for case in cases:
            if case.dialect != dialect:
                continue
            text = case.text()
            for name in declared[case.operation]:
                values = re.findall(rf"\b{name} *= *('[^']*'|\[[^\]]*\]|[^,;)\n]+)", text)
                written.setdefault((dialect, case.operation, name), set()).update(values)
                if not values:
                    omitted.add((dialect, case.operation, name))
        for operation, attributes in declared.items():
            for name, default in attributes.items():
                key = (dialect, operation, name)
                assert written[key], f"no case writes {key}"
                if default is None or ((name, operation) in EXEMPT and (dialect == PROVISIONAL or name not in ONLY_PROVISIONAL)):
                    continue
                assert key in omitted, f"no case omits {key}"
                assert default in written[key], f"no case writes the default {default} of {key}"
                assert len(written[key]) > 1, f"each case of {key} has the default"


def declared_attributes(library: str) -> dict[str, dict[str, str | None]]:
    """The attributes of each operation with their defaults; None where there is none."""
    found: dict[str, dict[str, str | None]] = {}
    text = re.sub(r"#.*", "", library)
    for name, signature in re.findall(r"^fragment (\w+)(?:<[^>]*>)?\((.*?)\)\s*->", text, re.MULTILINE | re.DOTALL):
        parameters = re.findall(r"(\w+): *((?:tensor|[a-z?]+|\([a-z,]+\))(?:<[^>]*>)?(?:\[\])?)(?: *= *('[^']*'|\[[^\]]*\]|[^,\s)]+))?", signature)
        found[name] = {parameter: default or None for parameter, kind, default in parameters if not kind.startswith("tensor")}
    return found


def check_names() -> None:
    """No two cases share a folder."""
    paths = [case.path for case in make.cases()]
    assert len(paths) == len(set(paths)) and len(paths) >= 1200


def check_difference() -> None:
    """The measure of an error, at its bounds."""
    one, nan, infinity = np.array([1.0, -2.0]), np.array([np.nan, 2.0]), np.array([np.inf, 2.0])
    assert run.difference(one, one) == 0 and run.difference(nan, nan) == 0 and run.difference(infinity, infinity) == 0
    assert run.difference(one + [0, 0.5], one) == 0.25
    assert run.difference(nan, one) == run.difference(one, nan) == run.difference(-infinity, infinity) == np.inf
    assert run.difference(one[:1], one) == np.inf and run.difference(np.zeros(2) + 1e-9, np.zeros(2)) == np.inf


def check_report() -> None:
    """The first reason that matches is a case's; a case without one is unexplained."""
    facts = {"dialect": RATIFIED, "section": "4.2.4", "operation": "sqr"}
    results = [report.Result(f"ratified/4.2.4/sqr/00{i}", facts, outcome, "no kernel | of rank 0")
               for i, outcome in enumerate([run.PASSED, run.WRONG, run.REFUSED])]
    reasons = [report.Reason("rank", "unsupported", "/sqr/", "rank 0", outcome=run.REFUSED, detail="^no kernel")]
    restored = report.from_json(report.to_json(results))
    assert restored == results
    tool = report.Explained(restored, reasons)
    assert [r.path for r in tool.unexplained] == ["ratified/4.2.4/sqr/001"]
    assert tool.summary() == {"sections": {"ratified 4.2.4": [1, 3]}, "reasons": {"": [1, ["sqr"]], "rank": [1, ["sqr"]]}}
    assert report.reason_rows(tool.summary(), reasons) == [["sqr", 1, "not supported", "rank 0", "", ""]]
    assert "| ratified 4.2.4 | 1 of 3 |" in report.as_markdown({"none": tool.summary()})
    assert "unexplained" in report.comparison_page({"none": tool}) and "no kernel | of rank 0" in report.as_html(results, "title")


def check_outcomes(folder: Path) -> None:
    """run.py passes a tool that is right, and fails one that is not."""
    suite, tool = folder / "suite", folder / "tool.py"
    tool.write_text(TOOL)
    chosen = [case for case in make.cases() if (case.operation, case.dialect) in [("sqr", RATIFIED), ("external", RATIFIED)]]
    for case in chosen:
        case.write(suite)
    for change, expected in [("none", 0), ("fail", 1), ("missing", 1), ("shape", 1), ("value", 1), ("nan", 1), ("none written", 1),
                             ("damaged", 1), ("crash", 1), ("hang", 1), ("text", 1)]:
        only = "/sqr/001" if change != "none" else "/sqr/"
        command = f"{sys.executable} {tool} {{model}} {{outputs}} '{change}' {{inputs}}"
        done = subprocess.run([sys.executable, HERE / "run.py", "--cases", suite, "--command", command, "--only", only,
                               "--seconds", "5" if change == "hang" else "60"], capture_output=True)
        assert done.returncode == expected, (change, done.stdout, done.stderr)
    # Rejects every document; accepts every document; crashes; reports that it cannot be executed; is missing.
    for check, expected in [("false", 0), ("sh -c 'exit 125'", 0), ("true", 1), ("sh -c 'kill -9 $$'", 1), ("sh -c 'exit 126'", 1),
                            ("./missing", 2)]:
        command = f"{sys.executable} {tool} {{model}} {{outputs}} none {{inputs}}"
        check += " {model}"
        done = subprocess.run([sys.executable, HERE / "run.py", "--cases", suite, "--command", command, "--check", check, "--only", "invalid"],
                              capture_output=True)
        assert done.returncode == expected, (check, done.stdout, done.stderr)


# A server that answers, but ends or hangs at the case of its argument the first time.
SERVER = """
import json, os, sys, time, numpy as np
for line in sys.stdin:
    request = json.loads(line)
    if "/002_" in str(request) and sys.argv[1] == "crash": os._exit(3)
    if any(f"/00{i}_" in str(request) for i in (2, 3)) and sys.argv[1] == "crash twice": os._exit(3)
    if sys.argv[1] == "crash always": os._exit(3)
    if "/002_" in str(request) and sys.argv[1] == "hang": time.sleep(60)
    if "check" in request: print(json.dumps({"unsupported": "no check"}), flush=True); continue
    np.savez(request["outputs"], **np.load(request["model"] + "/expected.npz"))
    print("no JSON" if sys.argv[1] == "text" else json.dumps({"ok": True}), flush=True)
"""


def check_servers(folder: Path) -> None:
    """A server that ends or hangs fails one case only, and is started again. Invalid cases are skipped without a check."""
    server = folder / "server.py"
    server.write_text(SERVER)
    for change, expected, line in [("none", 0, "10 passed, 0 failed, 3 skipped"), ("crash", 1, "9 passed, 1 failed"),
                                   ("crash twice", 1, "8 passed, 2 failed"), ("crash always", 2, "ended before its first answer"),
                                   ("hang", 1, "9 passed, 1 failed"), ("text", 2, "expected a JSON object")]:
        only = "external" if change == "none" else "ratified/4.1.1/external/"
        done = subprocess.run([sys.executable, HERE / "run.py", "--cases", folder / "suite", "--server", f"{sys.executable} {server} '{change}'",
                               "--only", only, "--seconds", "5"], capture_output=True, text=True)
        assert done.returncode == expected and line in done.stdout + done.stderr, (change, done.stdout, done.stderr)


if __name__ == "__main__":
    check_coverage(Path(sys.argv[1]))
    check_borders(Path(sys.argv[1]))
    check_types()
    check_attributes(Path(sys.argv[1]))
    check_names()
    check_difference()
    check_report()
    scratch = Path(tempfile.mkdtemp())
    try:
        check_outcomes(scratch)
        check_servers(scratch)
    finally:
        shutil.rmtree(scratch)
