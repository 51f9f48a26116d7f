#!/usr/bin/env python3
"""Judges every document of lists/ by `nnefc check` and fails where the verdict or the place of the error differs.

usage: run.py NNEFC [-v] [NAME...]
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

import entries as lists


def within(text, error, marks):
    """Whether an error lies in one of the ranges; one at the end of a range that has text does not."""
    begin = lists.offset(text, error["line"], error["column"])
    end = lists.offset(text, error["end_line"], error["end_column"])
    return any(b <= begin <= end <= e and (begin < e or b == e or begin == len(text)) for b, e in marks)


def several(entry, errors):
    """Each mark is told by one error, in the order of the text, and nothing else is."""
    text = entry.files[entry.marked]
    wrong = [f"error {i + 1} not within {spans(text, [mark])}" for i, (mark, error) in enumerate(zip(entry.marks, errors))
             if pathlib.Path(error.get("file", "")).name != entry.marked or not within(text, error, [mark])]
    if len(errors) != len(entry.marks):
        wrong.append(f"{len(errors)} errors instead of {len(entry.marks)}")
    return "; ".join(wrong) or None


def spans(text, marks):
    return ", ".join("{}:{}-{}:{} `{}`".format(*lists.position(text, b), *lists.position(text, e),
                                               text[b:e].decode(errors="replace")) for b, e in marks)


def judge(nnefc, entry, folder):
    """Returns (what is wrong or None, what was seen)."""
    path = lists.write(entry, folder)
    ran = subprocess.run([nnefc, "check", "--format", "json", "--dialect", "auto", str(path)], capture_output=True,
                         timeout=60)
    try:
        report = json.loads(ran.stderr or b'{"diagnostics": []}')
    except ValueError:
        return "no JSON report", ran.stderr.decode(errors="replace")
    errors = [d for d in report["diagnostics"] if d["severity"] == "error"]
    seen = "; ".join(f"{pathlib.Path(d.get('file', '?')).name}:{d.get('line')}:{d.get('column')}-{d.get('end_line')}:"
                     f"{d.get('end_column')}: [{d['rule']}] {d['message']}" for d in errors[:8]) or "no error"
    if ran.returncode not in (0, 1) or bool(errors) != (ran.returncode == 1):
        return f"exit code {ran.returncode}", seen
    if entry.several:
        return several(entry, errors), seen
    if entry.valid:
        return ("refused" if errors else None), seen
    if not errors:
        return "accepted", seen
    first = errors[0]
    if pathlib.Path(first.get("file", "")).name != entry.marked:
        return "error in another file", seen
    text = entry.files[entry.marked]
    if not within(text, first, entry.marks):
        return f"first error not within {spans(text, entry.marks)}", seen
    # One rule is broken: what else is told is a cascade.
    return (f"{len(errors)} errors" if len(errors) > 1 else None), seen


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nnefc")
    parser.add_argument("names", nargs="*")
    parser.add_argument("-v", action="store_true", help="print what is said of each document")
    args = parser.parse_args()
    todo = [e for e in lists.load() if not args.names or e.name in args.names]
    wrong = collections.Counter()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(folder)
        verdicts = pool.map(lambda i: judge(args.nnefc, todo[i], folder / str(i)), range(len(todo)))
        for entry, (problem, seen) in zip(todo, verdicts):
            if problem or args.v:
                print(f"{entry.id} ({entry.dialect} {entry.section}): {problem or 'right'}\n    {entry.rule}\n    {seen}")
            wrong[entry.valid] += bool(problem)
    invalid, valid = sum(not e.valid for e in todo), sum(e.valid for e in todo)
    print(f"{invalid - wrong[False]} of {invalid} that break a rule and {valid - wrong[True]} of {valid} that keep one "
          "are judged right")
    return 1 if sum(wrong.values()) or not todo else 0


if __name__ == "__main__":
    sys.exit(main())
