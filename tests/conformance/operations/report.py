#!/usr/bin/env python3
"""Compares the results of several tools, with the reason of each case that does not pass.

    report.py nnefc=nnefc.json tract=tract.json khronos=khronos.json [--html FILE] [--markdown] [--store]

Each argument is the name of a tool and the file that `run.py --json` wrote. The reasons of a tool are in
`adapters/NAME_peer.reasons.toml`. `--store` writes the tables into the README of the folder above. Exit code: 0 if every case that does not pass has a reason, 1 if one has not, 2 for misuse.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PASSED, WRONG, REFUSED, ACCEPTED = "passed", "wrong", "refused", "accepted"
MEANING = {PASSED: "the expected results, or an invalid document that is rejected", WRONG: "other results",
           REFUSED: "a valid document without results", ACCEPTED: "an invalid document that is not rejected"}
KINDS = {"unsupported": "not supported", "reading": "a different reading of the text", "bug": "a fault of the tool"}
ADAPTERS = Path(__file__).resolve().parent / "adapters"
SUMMARY = ADAPTERS / "summary.json"
README = ADAPTERS.parents[1] / "README.md"
BEGIN, END = "<!-- written by report.py --store -->\n", "<!-- end of what report.py writes -->\n"

STYLE = """
:root{color-scheme:light dark;--line:#8884;--head:color-mix(in srgb,Canvas 88%,CanvasText)}
body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:1rem 0;width:100%}
th,td{border-bottom:1px solid var(--line);padding:.3rem .7rem;text-align:left;vertical-align:top}
td.p{overflow-wrap:anywhere;min-width:10rem}
thead th{background:var(--head);position:sticky;top:0}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tbody tr:hover{background:var(--head)}
.passed{color:light-dark(#1e7a32,#6fd08c)}.wrong,.accepted{color:light-dark(#b3261e,#ff8a80)}.refused{color:light-dark(#8a5700,#f0b95a)}
dt{font-weight:600}dd{margin:0 0 .4rem 1.5rem}code{font-size:.9em}summary{cursor:pointer;font-size:1.2rem;font-weight:600}
@media (max-width:60rem){div.t{overflow-x:auto}}
"""


@dataclass
class Result:
    """The outcome of one case."""

    path: str
    facts: dict
    outcome: str
    detail: str = ""


@dataclass
class Reason:
    """Why cases of one tool do not pass. `cases` and `detail` are regular expressions of their paths and messages."""

    id: str
    kind: str
    cases: str
    text: str
    outcome: str = ""
    detail: str = ""
    section: str = ""
    example: str = ""

    def matches(self, result: Result) -> bool:
        return bool(re.search(self.cases, result.path) and self.outcome in ("", result.outcome) and re.search(self.detail, result.detail))


def _reasons_file(tool: str) -> dict:
    import tomllib  # needs Python 3.11, which run.py does not

    path = ADAPTERS / f"{tool}_peer.reasons.toml"
    return tomllib.loads(path.read_text()) if path.exists() else {}


def load_reasons(tool: str) -> list[Reason]:
    """The reasons of a tool, in order: the first that matches is a case's reason."""
    return [Reason(**entry) for entry in _reasons_file(tool).get("reason", [])]


def versions_of(tool: str) -> str:
    """The versions of the packages whose results the reasons explain."""
    return _reasons_file(tool).get("versions", tool)


def digest(paths: Iterable[str]) -> str:
    """A digest of the names of cases, by which a stored summary shows to which cases it belongs."""
    return hashlib.sha256("\n".join(sorted(paths)).encode()).hexdigest()[:16]


def to_json(results: list[Result]) -> str:
    return json.dumps([{"case": r.path, "operation": r.facts["operation"], "outcome": r.outcome, "detail": r.detail} for r in results],
                      indent=1) + "\n"


def from_json(text: str) -> list[Result]:
    results = []
    for entry in json.loads(text):
        dialect, section, *_ = entry["case"].split("/")
        facts = {"dialect": dialect, "section": section, "operation": entry["operation"]}
        results.append(Result(entry["case"], facts, entry["outcome"], entry["detail"]))
    return results


def section_of(result: Result) -> str:
    return f"{result.facts['dialect']} {result.facts['section']}"


def by_number(section: str) -> tuple[str, list[int]]:
    """The key that sorts sections of a dialect by their numbers."""
    dialect, number = section.split()
    return dialect, [int(part) for part in number.split(".")]


def table(results: list[Result]) -> list[tuple[str, Counter]]:
    """A row for each section and dialect."""
    rows: dict[str, Counter] = defaultdict(Counter)
    for result in results:
        rows[section_of(result)][result.outcome] += 1
    return sorted(rows.items(), key=lambda row: by_number(row[0]))


def as_text(results: list[Result], verbose: bool) -> str:
    lines = [f"{'section':24}" + "".join(f"{outcome:>10}" for outcome in MEANING)]
    lines += [f"{name:24}" + "".join(f"{counts[outcome] or '':>10}" for outcome in MEANING) for name, counts in table(results)]
    if verbose:
        lines += [f"{r.outcome}: {r.path}: {r.detail}" for r in results if r.outcome != PASSED]
    return "\n".join(lines)


LONG = ("case", "detail", "example")  # columns whose words may be broken


def _cell(value: object, column: str, tag: str, numbers: bool) -> str:
    number = numbers and (isinstance(value, int) or value == "" or tag == "th" and str(value).split(": ")[-1] in MEANING)
    style = "n" if number else value if value in MEANING else "p" if column in LONG and tag == "td" else ""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(str(value)))
    return f"<{tag}{f' class={style}' if style else ''}>{text}</{tag}>"


def _table(head: list, rows: list[list], numbers: bool = True) -> str:
    def line(values: list, tag: str) -> str:
        return "<tr>" + "".join(_cell(value, column, tag, numbers) for value, column in zip(values, head)) + "</tr>"
    return f"<div class=t><table><thead>{line(head, 'th')}</thead><tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table></div>"


def _page(title: str, *parts: str) -> str:
    return ("<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
            f"<title>{html.escape(title)}</title><style>{STYLE}</style><h1>{html.escape(title)}</h1>{''.join(parts)}</html>\n")


def _meaning() -> str:
    return "<dl>" + "".join(f"<dt class={outcome}>{outcome}</dt><dd>{html.escape(text)}</dd>" for outcome, text in MEANING.items()) + "</dl>"


def as_html(results: list[Result], title: str) -> str:
    """A page with the results of one tool."""
    passed = sum(r.outcome == PASSED for r in results)
    rows = [[name, *(counts[outcome] or "" for outcome in MEANING)] for name, counts in table(results)]
    failed = [[r.path, r.outcome, r.detail, r.facts.get("reason", "")] for r in results if r.outcome != PASSED]
    details = "<h2>Cases that do not pass</h2>" + _table(["case", "outcome", "detail", "reason of the bound or rule"], failed, False)
    return _page(title, f"<p><b>{passed}</b> of {len(results)} cases pass.</p>", _meaning(), _table(["section", *MEANING], rows),
                 details if failed else "")


@dataclass
class Explained:
    """The results of a tool, and the reason's id of each case that does not pass (empty where there is none)."""

    results: list[Result]
    reasons: list[Reason]

    def __post_init__(self) -> None:
        self.failed = [(r, next((reason.id for reason in self.reasons if reason.matches(r)), "")) for r in self.results if r.outcome != PASSED]
        self.unexplained = [result for result, reason in self.failed if not reason]

    def summary(self) -> dict:
        sections = {name: [counts[outcome] for outcome in MEANING] for name, counts in table(self.results)}
        reasons: dict[str, list] = {}
        for result, reason in self.failed:
            count, operations = reasons.setdefault(reason, [0, []])
            reasons[reason] = [count + 1, sorted({*operations, result.facts["operation"]})]
        return {"cases": digest(result.path for result in self.results), "sections": sections, "reasons": reasons}


def side_by_side(summaries: dict[str, dict]) -> list[list]:
    """A row for each section: the number of cases of each outcome, for each tool."""
    names = sorted({section for summary in summaries.values() for section in summary["sections"]}, key=by_number)
    none = ["-"] * len(MEANING)
    rows = [[name, *(count for summary in summaries.values() for count in summary["sections"].get(name, none))] for name in names]
    totals = [sum(column) for summary in summaries.values() for column in zip(*summary["sections"].values())]
    return [[row[0], *(cell or "" for cell in row[1:])] for row in [*rows, ["all", *totals]]]


def side_by_side_head(tools: Iterable[str]) -> list[str]:
    """The head of `side_by_side`: the first column of a tool has its name."""
    return ["section", *(f"{tool}: {outcome}" if outcome == PASSED else outcome for tool in tools for outcome in MEANING)]


def reason_rows(summary: dict, reasons: list[Reason]) -> list[list]:
    """A row for each reason that occurs, by kind."""
    rows = []
    for reason in sorted(reasons, key=lambda r: list(KINDS).index(r.kind)):
        if reason.id in summary["reasons"]:
            count, operations = summary["reasons"][reason.id]
            names = ", ".join(operations[:8]) + (f" and {len(operations) - 8} more" if len(operations) > 8 else "")
            rows.append([names, count, KINDS[reason.kind], reason.text, reason.section, reason.example])
    return rows


HEAD = ["operations", "cases", "kind", "reason", "section", "example"]


def as_markdown(summaries: dict[str, dict]) -> str:
    """The tables of the README."""
    def line(values: list) -> str:
        return "| " + " | ".join(str(value).replace("|", "\\|").replace("\n", " ") for value in values) + " |"
    head = side_by_side_head(summaries)
    parts = [line(head), line(["---", *["---:"] * (len(head) - 1)]), *map(line, side_by_side(summaries))]
    for tool, summary in summaries.items():
        rows = reason_rows(summary, load_reasons(tool))
        if rows:
            parts += ["", f"Reasons of {tool} ({versions_of(tool)}):", "", line(HEAD), line(["---"] * len(HEAD)),
                      *(line([*row[:5], f"`{row[5]}`" if row[5] else ""]) for row in rows)]
    return "\n".join(parts) + "\n"


def with_tables(readme: str, summaries: dict[str, dict]) -> str:
    """The README with the tables in place of those between the two marks."""
    before, _, after = readme.partition(BEGIN)
    return f"{before}{BEGIN}\n{as_markdown(summaries)}\n{END}{after.partition(END)[2]}"


def comparison_page(tools: dict[str, Explained]) -> str:
    """A page with the results of several tools."""
    summaries = {name: tool.summary() for name, tool in tools.items()}
    parts = [_table(side_by_side_head(tools), side_by_side(summaries))]
    for name, tool in tools.items():
        if not tool.failed:
            continue
        parts.append(f"<h2>{html.escape(name)}</h2>" + _table(HEAD, reason_rows(tool.summary(), tool.reasons)))
        rows = [[r.path, r.outcome, r.detail, reason or "unexplained"] for r, reason in tool.failed]
        parts.append(f"<details><summary>{len(rows)} cases</summary>{_table(['case', 'outcome', 'detail', 'reason'], rows, False)}</details>")
    return _page("Conformance of NNEF operations", _meaning(), *parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*", metavar="NAME=FILE", help="the name of a tool and its results")
    parser.add_argument("--html", type=Path, help="writes a page")
    parser.add_argument("--markdown", action="store_true", help="print the tables of the README; without results, of the stored summary")
    parser.add_argument("--store", action="store_true", help=f"stores the summary in adapters/{SUMMARY.name}")
    arguments = parser.parse_args()
    if not arguments.results:
        if not arguments.markdown:
            parser.error("expected NAME=FILE or --markdown")
        print(as_markdown(json.loads(SUMMARY.read_text())), end="")
        return 0
    tools = {}
    for argument in arguments.results:
        name, _, file = argument.partition("=")
        try:
            tools[name] = Explained(from_json(Path(file).read_text()), load_reasons(name))
        except (OSError, ValueError, KeyError) as error:
            parser.error(f"cannot read the results `{argument}`: {error}")
    summaries = {name: tool.summary() for name, tool in tools.items()}
    if arguments.markdown:
        print(as_markdown(summaries), end="")
    else:
        for row in [side_by_side_head(tools), *side_by_side(summaries)]:
            print(f"{row[0]:20}" + "".join(f"{cell:>{18 if position % len(MEANING) == 0 else 10}}" for position, cell in enumerate(row[1:])))
        for name, tool in tools.items():
            for operations, count, kind, text, *_ in reason_rows(summaries[name], tool.reasons):
                print(f"{name}: {count} cases of {operations}: {kind}: {text}")
    if arguments.html:
        arguments.html.write_text(comparison_page(tools))
    if arguments.store:
        SUMMARY.write_text(json.dumps(summaries, indent=1) + "\n")
        README.write_text(with_tables(README.read_text(), summaries))
    unexplained = [(name, result) for name, tool in tools.items() for result in tool.unexplained]
    for name, r in unexplained:
        print(f"unexplained: {name}: {r.outcome}: {r.path}: {r.detail}", file=sys.stderr)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
