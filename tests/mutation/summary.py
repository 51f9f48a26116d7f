"""The report of an evaluation: counts by folder, and the mutants that survived or are never reached."""

from __future__ import annotations

import collections
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
EQUIVALENT = HERE / "equivalent.txt"


def identity(mutant) -> tuple[str, str, str]:
    """A mutant as equivalent.txt names it: the path, the line, and what changes in it."""
    change = f"{mutant.operator} `{mutant.before}` -> `{mutant.after}`"
    return mutant.path, mutant.source, change + (f" ({mutant.occurrence + 1})" if mutant.occurrence else "")


def read_equivalent() -> dict[tuple[str, str, str], str]:
    """The mutants that change nothing that can be observed, with the reason."""
    known = {}
    for block in EQUIVALENT.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        if len(lines) < 4 or lines[1][:2] != "- " or lines[2][:2] != "+ ":
            raise SystemExit(f"{EQUIVALENT}: expected a path, `- line`, `+ change` and a reason:\n{block}")
        known[lines[0], lines[1][2:], lines[2][2:]] = " ".join(lines[3:])
    return known


def block(mutant) -> str:
    """A mutant as a block of equivalent.txt, without the reason."""
    path, source, change = identity(mutant)
    return f"{path}\n- {source}\n+ {change}"


def describe(mutant, evaluation) -> str:
    result = evaluation.results.get(mutant.key)
    reaching = evaluation.names(mutant)
    outcome = "not evaluated" if result is None else f"killed by {result['killer']}: {result['said']}" if result["killer"] \
        else f"survived {result['probes']} probes"
    return f"{mutant.number} {mutant.path}:{mutant.line}\n{block(mutant)}\n{outcome}\nreached by {len(reaching)}: " + \
        ", ".join(reaching[:30])


def report(mutants: dict, evaluation) -> tuple[str, list]:
    """The text, and the survivors that are not known to be equivalent."""
    equivalent = read_equivalent()
    folders: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    survivors, unreached = [], []
    for mutant in mutants.values():
        counts = folders[mutant.folder]
        counts["mutants"] += 1
        if not evaluation.is_reached(mutant.number):
            counts["unreached"] += 1
            unreached.append(mutant)
            continue
        result = evaluation.results.get(mutant.key)
        if result is not None and result["killer"]:
            counts["killed"] += 1
        elif identity(mutant) in equivalent:
            counts["equivalent"] += 1
        elif result is not None:
            counts["survived"] += 1
            survivors.append(mutant)
    for folder in list(folders):
        top = "/".join(folder.split("/")[:2])
        for name in {top if top.startswith("runtime") else "compiler", "all"}:
            folders[f"= {name}"].update(folders[folder])
    lines = [f"{'folder':34}{'mutants':>9}{'unreached':>11}{'evaluated':>11}{'killed':>8}{'equivalent':>12}{'survived':>10}{'killed %':>10}"]
    for folder, counts in sorted(folders.items()):
        evaluated = counts["killed"] + counts["survived"]
        rate = f"{100 * counts['killed'] / evaluated:.1f}" if evaluated else "-"
        lines.append(f"{folder:34}{counts['mutants']:>9}{100 * counts['unreached'] / counts['mutants']:>10.1f}%"
                     f"{evaluated + counts['equivalent']:>11}{counts['killed']:>8}{counts['equivalent']:>12}{counts['survived']:>10}{rate:>10}")
    for title, listed in (("survived", survivors), ("not reached by any test", unreached)):
        lines += ["", f"{title}: {len(listed)}"]
        for mutant in sorted(listed, key=lambda each: (each.path, each.line, each.number)):
            lines.append(f"{mutant.number} {mutant.path}:{mutant.line}: {mutant.operator}\n    {mutant.source}\n"
                         f"    {mutant.before} -> {mutant.after or 'nothing'}")
    return "\n".join(lines) + "\n", survivors
