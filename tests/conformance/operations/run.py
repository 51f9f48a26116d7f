#!/usr/bin/env python3
"""Runs the conformance suite of NNEF operations against a tool.

    run.py --cases FOLDER --command "nnefc run {model} --inputs {inputs} --outputs {outputs}" --check "nnefc check {model}"
    run.py --cases FOLDER --server "python adapters/tract_peer.py" --dialect ratified

{model} is the folder of a case, {inputs} and {outputs} are .npz files whose names are the graph's parameters and results. The
command must end with exit code 0 and write {outputs}. `--check` must end with exit code 0 for a valid document and with 1 to 125
for an invalid one; a crash or a timeout is not a rejection. A `--server` is started once instead: it reads a JSON object with model,
inputs and outputs (or with check: a model to validate) on each line and writes a line for each, {"ok": true} or {"error": "..."}.
Invalid documents are skipped without `--check`, or if the server answers {"unsupported": "..."}.
Exit code: 0 if every case passes, 1 if one does not, 2 for misuse.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import report  # noqa: E402
from report import ACCEPTED, PASSED, REFUSED, WRONG, Result  # noqa: E402
from tool import SECONDS, Commands, Server, ToolError  # noqa: E402


def difference(found: np.ndarray, expected: np.ndarray) -> float:
    """max|a-b| / max|b|; infinite where shapes, NaN or infinities disagree. Elements of one type are compared in f64."""
    if found.shape != expected.shape:
        return np.inf
    a, b = found.astype(np.float64), expected.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    finite = np.isfinite(b)
    if not same[~finite].all() or not np.isfinite(a[finite]).all():
        return np.inf
    error, largest = np.abs(a - b)[finite].max(), np.abs(b[finite]).max()
    return float(error / largest) if largest else np.inf


def compare(outputs: Path, folder: Path, tolerance: float) -> tuple[str, str]:
    """The outcome of a run that wrote `outputs`."""
    if not outputs.exists():
        return REFUSED, "the tool reported success but wrote no file {outputs}"
    try:
        with np.load(outputs) as archive:
            found = dict(archive)
    except Exception as error:  # noqa: BLE001: a damaged archive raises errors of several modules
        return REFUSED, f"unreadable results: {error}"
    expected = np.load(folder / "expected.npz")
    for name in expected:
        if name not in found:
            return WRONG, f"`{name}` is missing; found {', '.join(f'`{other}`' for other in found) or 'no array'}"
        if found[name].dtype.kind not in "fiub":
            return WRONG, f"`{name}` has items of type {found[name].dtype}"
        error = difference(found[name], expected[name])
        if not error <= tolerance:
            return WRONG, (f"`{name}` has shape {list(found[name].shape)}; expected {list(expected[name].shape)}"
                           if found[name].shape != expected[name].shape else f"`{name}` differs by {error:.2g}; allowed {tolerance:.0e}")
    return PASSED, ""


def evaluate(tool: Commands | Server, suite: Path, folder: Path, scratch: Path) -> Result | None:
    """The result of one case; None if it does not apply to the tool."""
    facts = json.loads((folder / "case.json").read_text())
    path = folder.relative_to(suite).as_posix()
    if "rule" in facts:
        rejected = tool.rejects(folder)
        if rejected is None:
            return None
        return Result(path, facts, PASSED if rejected[0] else ACCEPTED, rejected[1])
    outputs = scratch / (path.replace("/", "_") + ".npz")
    reason = tool.run(folder, outputs)
    if reason is not None:
        return Result(path, facts, REFUSED, reason)
    outcome, detail = compare(outputs, folder, facts["tolerance"])
    outputs.unlink(missing_ok=True)
    return Result(path, facts, outcome, detail)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, required=True, help="the folder that make.py wrote")
    parser.add_argument("--command", help="runs a model")
    parser.add_argument("--check", help="validates a model; without it invalid documents are skipped")
    parser.add_argument("--server", help="runs and validates models, one after the other")
    parser.add_argument("--dialect", choices=["ratified", "provisional"], help="run only the cases of one text")
    parser.add_argument("--only", default="", help="a regular expression: cases whose path it finds")
    parser.add_argument("--jobs", type=int, default=0, help="parallel runs of the command (default: one per processor)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"time limit of one run (default {SECONDS})")
    parser.add_argument("--rules", action="store_true", help="an invalid document must be rejected with [rule] in the first message")
    parser.add_argument("--html", type=Path, help="writes the report as a page")
    parser.add_argument("--json", type=Path, help="writes the outcome of each case; report.py compares several of these files")
    parser.add_argument("--title", default="Conformance of NNEF operations", help="the title of the page")
    parser.add_argument("-v", "--verbose", action="store_true", help="lists the cases that do not pass")
    arguments = parser.parse_args()
    if bool(arguments.command) == bool(arguments.server):
        parser.error("expected either --command or --server")
    if arguments.server and arguments.check:
        parser.error("--check is for --command; a server answers requests to validate itself")
    if arguments.jobs < 0 or arguments.seconds <= 0:
        parser.error("--jobs and --seconds must be positive")
    try:
        re.compile(arguments.only)
    except re.error as error:
        parser.error(f"invalid regular expression in --only: {error}")
    return arguments


def run_cases(arguments: argparse.Namespace, folders: list[Path]) -> list[Result]:
    """The results of all cases that apply to the tool, in order. Progress is written to a terminal only."""
    if arguments.server:
        tool = Server(arguments.server, arguments.seconds)
    else:
        tool = Commands(arguments.command, arguments.check, arguments.seconds)
    results = []
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(arguments.jobs or os.cpu_count() or 1) as pool:
        try:
            futures = [pool.submit(evaluate, tool, arguments.cases, folder, Path(scratch)) for folder in folders]
            for number, future in enumerate(futures, 1):
                if result := future.result():
                    results.append(result)
                if sys.stderr.isatty():
                    print(f"\r{number} of {len(folders)} cases", end="\n" if number == len(folders) else "", file=sys.stderr, flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    if arguments.server:
        tool.close()
    return results


def main() -> int:
    arguments = parse_arguments()
    arguments.cases = arguments.cases.resolve()
    folders = sorted(path.parent for path in arguments.cases.rglob("case.json"))
    if not folders:
        print(f"run.py: error: no case in `{arguments.cases}`; write them with make.py", file=sys.stderr)
        return 2
    wanted = [(folder, folder.relative_to(arguments.cases).as_posix()) for folder in folders]
    folders = [folder for folder, path in wanted if re.search(arguments.only, path) and path.startswith(arguments.dialect or "")]
    if not folders:
        print(f"run.py: error: no case matches --only `{arguments.only}`", file=sys.stderr)
        return 2
    try:
        results = run_cases(arguments, folders)
    except ToolError as error:
        print(f"run.py: error: {error}", file=sys.stderr)
        return 2
    if arguments.rules:
        for result in results:
            rule = result.facts.get("rule")
            if rule and result.outcome == PASSED and f"[{rule}]" not in result.detail:
                result.outcome, result.detail = WRONG, f"expected [{rule}]: {result.detail}"
    print(report.as_text(results, arguments.verbose))
    if arguments.html:
        arguments.html.write_text(report.as_html(results, arguments.title))
    if arguments.json:
        arguments.json.write_text(report.to_json(results))
    passed, skipped = sum(result.outcome == PASSED for result in results), len(folders) - len(results)
    print(f"{passed} passed, {len(results) - passed} failed" + (f", {skipped} skipped: the tool has no check" if skipped else ""))
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
