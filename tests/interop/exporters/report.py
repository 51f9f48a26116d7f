"""Reports the output of export.py in a table, as text and as HTML: model, target, findings of strict reading, agreement
with torch, and the time of a run compared with tract's, on one thread. Exports that are wrong by a fault of the
exporter are marked (FAULTS).

    python report.py NNEFC FOLDER REPORT [NAME...]

Writes REPORT.txt and REPORT.html. Strict reading reports each kind of deviation once. `upgrade` writes a strict model
of every export of the Khronos target, and Khronos' own reader reads it.
"""

from __future__ import annotations

import html
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import nnef
import numpy as np
import tract

from check import check, difference, split

REPEATS = 5

# Exports that contradict torch according to the text of the standard: by target (empty: both), part of the report of
# the export or of its name, and the fault of the exporter.
FAULTS = [
    ("khronos", r"`mean` of `batch_normalization` has shape \[1,1", "has parameters of batch normalization along the last axis"),
    ("khronos", r"undeclared operation `erf`", "calls an operation that the standard has not"),
    ("khronos", r"`tract_core_range` needs", "calls an operation of tract without its extension"),
    ("khronos", r"expected `}` to close the body of the graph", "fails in the middle of the document"),
    ("khronos", r"^max_pool(1d|2d)?: ", "pads by zeros (border = 'constant') where torch takes what is there"),
    ("", r"^round_decimals: ", "gives `round` a second argument, which it has not"),
    ("", r"^complex_product: ", "multiplies the parts of complex numbers one by one"),
]


@dataclass
class Row:
    model: str
    target: str
    verdict: str
    deviations: str = ""
    upgraded: str = ""
    ours: float | None = None  # milliseconds
    theirs: float | None = None
    tracts: str = ""  # tract's result
    fault: str = ""  # its owner and description

    @property
    def cells(self) -> list[str]:
        ratio = f"{self.ours / self.theirs:.2f}" if self.ours and self.theirs else ""
        times = [f"{value:.3g}" if value else "" for value in (self.ours, self.theirs)]
        return [self.model, self.target, self.verdict, self.deviations, self.upgraded, *times, ratio, self.tracts, self.fault]


HEAD = ["model", "target", "verdict", "strict findings", "upgraded", "ours, ms", "tract, ms", "ratio", "tract", "fault"]


def call(nnefc: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([nnefc, *map(str, arguments)], capture_output=True, text=True, check=False)


def findings(nnefc: str, model: Path) -> str:
    """Returns the labels of deviations with the number of occurrences."""
    told = call(nnefc, "check", model, "--lenient").stderr
    found = re.findall(r"warning: .*?(?:\(the first of (\d+) places\))? \[lenient\.([a-z-]+)\]", told)
    return " ".join(f"{label}:{count or 1}" for count, label in sorted(found, key=lambda each: each[1]))


def upgrade(nnefc: str, model: Path, folder: Path) -> str:
    """Returns whether strict reading and Khronos' reader accept the output of `upgrade`."""
    done = call(nnefc, "upgrade", model, "--lenient", "-o", folder / "upgraded")
    if done.returncode:
        return "not upgraded"
    strict = call(nnefc, "check", folder / "upgraded", "--strict")
    if strict.returncode or strict.stderr:
        return "not strict"
    try:
        nnef.load_graph(str(folder / "upgraded"))
    except Exception as error:  # its own exception
        return f"strict; nnef: {str(error).splitlines()[0][:80]}"
    return "strict, read by nnef"


def time_ours(nnefc: str, model: Path, folder: Path) -> float | None:
    done = call(nnefc, "bench", model, "--lenient", "--inputs", folder / "in.npz", "--threads", 1, "--iterations", REPEATS,
                "--format", "json")
    return json.loads(done.stdout)["median_ms"] if done.returncode == 0 else None


def time_tracts(model: Path, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> tuple[float | None, str]:
    try:
        runnable = tract.nnef().with_tract_transformers().with_tract_extra().load(str(model)).into_runnable()
        seen = [value.to_numpy() for value in runnable.run(inputs)]
    except Exception as error:
        lines = [line.strip() for line in str(error).split("Stack backtrace")[0].splitlines() if line.strip()]
        return None, lines[-1][:100]
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        runnable.run(inputs)
        times.append((time.perf_counter() - start) * 1e3)
    worst = max((difference(*pair) for pair in zip(seen, outputs)), default=0)
    return statistics.median(times), "agrees" if worst < 1e-3 else f"differs by {worst:.1e}"


def look(nnefc: str, model: Path, arrays: dict[str, np.ndarray], scratch: Path) -> Row:
    row = Row(model.name.removesuffix(".nnef.tgz"), model.parent.name, check(nnefc, model, arrays, scratch))
    row.verdict = row.verdict.split()[0] if row.verdict.startswith("ok") else re.sub(r"/\S*/", "", row.verdict)[:150]
    row.deviations = findings(nnefc, model)
    if row.target == "khronos":
        row.upgraded = upgrade(nnefc, model, scratch)
    if row.verdict == "ok":
        row.ours = time_ours(nnefc, model, scratch)
        inputs, outputs = split(arrays)
        row.theirs, row.tracts = time_tracts(model, list(inputs.values()), outputs)
    else:
        told = f"{row.model}: {row.verdict}"
        row.fault = next((f"exporter: {what}" for target, pattern, what in FAULTS if target in ("", row.target) and re.search(pattern, told)),
                         "nnefc")
    return row


def write(rows: list[Row], refused: str, path: Path) -> None:
    cells = [HEAD, *(row.cells for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    agree = sum(row.verdict == "ok" for row in rows)
    foreign = sum(row.fault.startswith("exporter") for row in rows)
    ratios = [row.ours / row.theirs for row in rows if row.ours and row.theirs]
    families = [f"{'quantized' if row.model.startswith('q_') else row.target}" for row in rows]
    counts = "".join(f"{name}: {families.count(name)} tried, "
                     f"{sum(row.verdict == 'ok' for row, family in zip(rows, families) if family == name)} passed\n"
                     for name in sorted(set(families)))
    summary = f"{len(rows)} exports, {agree} agree with torch, {foreign} do not by the exporter's fault"
    if ratios:
        summary += f"; {len(ratios)} run in tract too, our time over its: median {statistics.median(ratios):.2f}"
    text = [summary, counts, *("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells), "",
            "refused by the exporter:", refused]
    path.with_suffix(".txt").write_text("\n".join(text))
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row.cells) + "</tr>\n" for row in rows)
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    path.with_suffix(".html").write_text(
        f"<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Exports</title>\n<p>{html.escape(summary)}</p>\n<table border=\"1\">\n"
        f"<tr>{head}</tr>\n{body}</table>\n<p>Refused by the exporter:</p>\n<pre>{html.escape(refused)}</pre>\n")


def main() -> int:
    nnefc, folder, path, wanted = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), set(sys.argv[4:])
    rows = []
    for model in sorted(folder.glob("*/*.nnef.tgz")):
        name = model.name.removesuffix(".nnef.tgz")
        if wanted and name not in wanted:
            continue
        with np.load(folder / f"{name}.npz") as arrays, tempfile.TemporaryDirectory() as scratch:
            rows.append(look(nnefc, model, dict(arrays), Path(scratch)))
        print("  ".join(rows[-1].cells), flush=True)
    refused = (folder / "refused.txt").read_text() if (folder / "refused.txt").exists() else ""
    write(rows, refused, path)
    return 1 if any(row.fault == "nnefc" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
