#!/usr/bin/env python3
"""Tests of the suite's programs: run.py reports what is wrong, report.py explains it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "formulas")]

import make  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402
from case import RATIFIED  # noqa: E402

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
    paths = [result.path for result in results]
    assert tool.summary() == {"cases": report.digest(reversed(paths)), "sections": {"ratified 4.2.4": [1, 1, 1, 0]},
                              "reasons": {"": [1, ["sqr"]], "rank": [1, ["sqr"]]}}
    assert report.digest(paths) != report.digest(paths[1:])
    assert report.reason_rows(tool.summary(), reasons) == [["sqr", 1, "not supported", "rank 0", "", ""]]
    assert "| section | none: passed | wrong | refused | accepted |" in report.as_markdown({"none": tool.summary()})
    assert "| ratified 4.2.4 | 1 | 1 | 1 |  |" in report.as_markdown({"none": tool.summary()})
    readme = f"before\n{report.BEGIN}old\n{report.END}after\n"
    new = report.with_tables(readme, {"none": tool.summary()})
    assert new.startswith("before\n") and new.endswith("after\n") and "old" not in new and "| all | 1 | 1 | 1 |  |" in new
    assert report.with_tables(new, {"none": tool.summary()}) == new
    assert "unexplained" in report.comparison_page({"none": tool}) and "no kernel | of rank 0" in report.as_html(results, "title")


def check_stored_table() -> None:
    """The stored summary and the README's tables belong to the present cases and reasons. Otherwise run the tools again, then
    `report.py --store`."""
    stored = json.loads(report.SUMMARY.read_text())
    present = make.cases()
    for name, summary in stored.items():
        dialects = {section.split()[0] for section in summary["sections"]}
        cases = [case for case in present if case.dialect in dialects]
        counts = Counter(f"{case.dialect} {case.section}" for case in cases)
        found = {section: sum(outcomes) for section, outcomes in summary["sections"].items()}
        assert found == counts, f"the table of {name} is of other cases: {dict(counts.items() ^ found.items())}"
        assert summary["cases"] == report.digest(case.path for case in cases), f"the table of {name} is of cases of other names"
        known = {reason.id for reason in report.load_reasons(name)}
        assert set(summary["reasons"]) == known, f"reasons of {name}: {sorted(set(summary['reasons']) ^ known)}"
        failed = sum(sum(outcomes[1:]) for outcomes in summary["sections"].values())
        assert failed == sum(count for count, _ in summary["reasons"].values()), f"cases of {name} without a reason"
    assert set(stored) == {"khronos", "tract"}
    assert report.with_tables(report.README.read_text(), stored) == report.README.read_text(), "the README has other tables"


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
    if ("/001_rank" in str(request) or "/002_rank" in str(request)) and sys.argv[1] == "crash twice": os._exit(3)
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
    for change, expected, line in [("none", 0, "11 passed, 0 failed, 3 skipped"), ("crash", 1, "10 passed, 1 failed"),
                                   ("crash twice", 1, "9 passed, 2 failed"), ("crash always", 2, "ended before its first answer"),
                                   ("hang", 1, "10 passed, 1 failed"), ("text", 2, "expected a JSON object")]:
        only = "external" if change == "none" else "ratified/4.1.1/external/"
        done = subprocess.run([sys.executable, HERE / "run.py", "--cases", folder / "suite", "--server", f"{sys.executable} {server} '{change}'",
                               "--only", only, "--seconds", "5"], capture_output=True, text=True)
        assert done.returncode == expected and line in done.stdout + done.stderr, (change, done.stdout, done.stderr)


if __name__ == "__main__":
    check_difference()
    check_report()
    check_stored_table()
    scratch = Path(tempfile.mkdtemp())
    try:
        check_outcomes(scratch)
        check_servers(scratch)
    finally:
        shutil.rmtree(scratch)
