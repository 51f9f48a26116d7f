#!/usr/bin/env python3
"""Runs the conformance suite of NNEF operations against a tool.

    run.py --cases FOLDER --command "nnefc run {model} --inputs {inputs} --outputs {outputs}" --check "nnefc check {model}"
    run.py --cases FOLDER --server "python adapters/tract_peer.py"

{model} is the folder of a case, {inputs} and {outputs} are .npz files whose names are the graph's parameters and results. The
command must end with exit code 0 and write {outputs}; `--check` must end with exit code 0 for valid documents and with another
for invalid ones. A `--server` is started once instead: it reads a JSON object with model, inputs and outputs on each line and
answers each with a line {"ok": true} or {"error": "..."}. Exit code: 0 if every case passes, 1 if one does not, 2 for misuse.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PASSED, WRONG, REFUSED, ACCEPTED = "passed", "wrong", "refused", "accepted"
MEANING = {PASSED: "the expected results, or an invalid document that is rejected", WRONG: "other results",
           REFUSED: "a valid document without results", ACCEPTED: "an invalid document that is not rejected"}
SECONDS = 120


@dataclass
class Result:
    path: str
    facts: dict
    outcome: str
    detail: str = ""


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
    try:
        found = np.load(outputs)
    except (OSError, ValueError) as error:
        return REFUSED, f"no readable results: {error}"
    expected = np.load(folder / "expected.npz")
    for name in expected:
        if name not in found:
            return WRONG, f"`{name}` is missing"
        error = difference(found[name], expected[name])
        if not error <= tolerance:
            return WRONG, (f"`{name}` has shape {list(found[name].shape)}; expected {list(expected[name].shape)}"
                           if found[name].shape != expected[name].shape else f"`{name}` differs by {error:.2g}; allowed {tolerance:.0e}")
    return PASSED, ""


class Commands:
    """A tool that is started for each case."""

    def __init__(self, command: str, check: str | None) -> None:
        self.command, self.check = command, check

    @staticmethod
    def _call(template: str, **names: Path) -> tuple[int, str]:
        words = [word.format(**names) for word in shlex.split(template)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return 124, f"no end after {SECONDS} seconds"
        lines = done.stderr.strip().splitlines()
        return done.returncode, lines[0] if lines else ""

    def run(self, folder: Path, outputs: Path) -> str | None:
        """None, or why there are no results."""
        code, text = self._call(self.command, model=folder, inputs=folder / "inputs.npz", outputs=outputs)
        return None if code == 0 else text or f"exit code {code}"

    def rejects(self, folder: Path) -> tuple[bool, str] | None:
        """Whether a document is rejected with exit code 1, and what is said; None if the tool has no check."""
        if not self.check:
            return None
        code, text = self._call(self.check, model=folder)
        return code == 1, text


class Server:
    """A tool that is started once."""

    def __init__(self, command: str) -> None:
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lock = threading.Lock()

    def _ask(self, **names: Path) -> dict:
        with self.lock:
            self.process.stdin.write(json.dumps({key: str(value) for key, value in names.items()}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        if not line:
            raise SystemExit("run.py: error: the server ended")
        return json.loads(line)

    def run(self, folder: Path, outputs: Path) -> str | None:
        answer = self._ask(model=folder, inputs=folder / "inputs.npz", outputs=outputs)
        return None if answer.get("ok") else str(answer.get("error", "no reason"))

    def rejects(self, folder: Path) -> tuple[bool, str] | None:
        answer = self._ask(check=folder)
        return (not answer.get("ok"), str(answer.get("error", ""))) if "unsupported" not in answer else None


def evaluate(tool: Commands | Server, suite: Path, folder: Path, scratch: Path) -> Result | None:
    """The result of one case; None if it does not apply to the tool."""
    facts = json.loads((folder / "case.json").read_text())
    path = str(folder.relative_to(suite))
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


def table(results: list[Result]) -> list[tuple[str, Counter]]:
    """A row for each section and dialect."""
    rows: dict[str, Counter] = defaultdict(Counter)
    for result in results:
        rows[f"{result.facts['dialect']} {result.facts['section']}"][result.outcome] += 1
    return sorted(rows.items(), key=lambda row: (row[0].split()[0], [int(part) for part in row[0].split()[1].split(".")]))


def as_text(results: list[Result], verbose: bool) -> str:
    lines = [f"{'section':24}" + "".join(f"{outcome:>10}" for outcome in MEANING)]
    lines += [f"{name:24}" + "".join(f"{counts[outcome] or '':>10}" for outcome in MEANING) for name, counts in table(results)]
    if verbose:
        lines += [f"{r.outcome}: {r.path}: {r.detail}" for r in results if r.outcome != PASSED]
    return "\n".join(lines)


def as_html(results: list[Result], title: str) -> str:
    cells = lambda tag, values: "<tr>" + "".join(f"<{tag}>{html.escape(str(v))}</{tag}>" for v in values) + "</tr>"  # noqa: E731
    rows = [cells("th", ["section", *MEANING]), *(cells("td", [name, *(counts[o] or "" for o in MEANING)]) for name, counts in table(results))]
    failed = [cells("td", [r.path, r.outcome, r.detail, r.facts.get("reason", "")]) for r in results if r.outcome != PASSED]
    details = "<h2>Cases that do not pass</h2><table>" + cells("th", ["case", "outcome", "detail", "reason of the bound"]) + "".join(failed) + "</table>"
    meaning = "".join(f"<dt>{outcome}</dt><dd>{html.escape(text)}</dd>" for outcome, text in MEANING.items())
    return (f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{html.escape(title)}</title>"
            "<style>body{font-family:sans-serif}td,th{border:1px solid #888;padding:.2em .6em;text-align:left}table{border-collapse:collapse}</style>"
            f"<h1>{html.escape(title)}</h1><dl>{meaning}</dl><table>{''.join(rows)}</table>{details if failed else ''}</html>\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, required=True, help="the folder that make.py wrote")
    parser.add_argument("--command", help="runs a model")
    parser.add_argument("--check", help="validates a model; without it invalid documents are not tried")
    parser.add_argument("--server", help="runs models, one after the other")
    parser.add_argument("--only", default="", help="a regular expression: cases whose path it finds")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time (default 1)")
    parser.add_argument("--rules", action="store_true", help="an invalid document must be rejected with [rule] in the first message")
    parser.add_argument("--html", type=Path, help="writes the report as a page")
    parser.add_argument("--json", type=Path, help="writes the outcome of each case")
    parser.add_argument("--title", default="Conformance of NNEF operations", help="the title of the page")
    parser.add_argument("-v", "--verbose", action="store_true", help="lists the cases that do not pass")
    arguments = parser.parse_args()
    if bool(arguments.command) == bool(arguments.server):
        parser.error("give either --command or --server")
    folders = sorted(path.parent for path in arguments.cases.rglob("case.json"))
    folders = [folder for folder in folders if re.search(arguments.only, str(folder.relative_to(arguments.cases)))]
    if not folders:
        parser.error(f"no case in `{arguments.cases}`; write them with make.py")
    tool = Server(arguments.server) if arguments.server else Commands(arguments.command, arguments.check)
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(arguments.jobs) as pool:
        outcomes = pool.map(lambda folder: evaluate(tool, arguments.cases, folder, Path(scratch)), folders)
        results = [result for result in outcomes if result]
    if arguments.rules:
        for result in results:
            rule = result.facts.get("rule")
            if rule and result.outcome == PASSED and f"[{rule}]" not in result.detail:
                result.outcome, result.detail = WRONG, f"expected [{rule}]: {result.detail}"
    print(as_text(results, arguments.verbose))
    if arguments.html:
        arguments.html.write_text(as_html(results, arguments.title))
    if arguments.json:
        arguments.json.write_text(json.dumps([{"case": r.path, "outcome": r.outcome, "detail": r.detail} for r in results], indent=1))
    passed = sum(result.outcome == PASSED for result in results)
    print(f"{passed} passed, {len(results) - passed} failed")
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
