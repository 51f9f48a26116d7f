#!/usr/bin/env python3
"""Mutants of valid documents: single tokens deleted, inserted, swapped or renamed, processed by `nnefc lint`, which
checks first.

    mutants.py NNEFC [--count N] [--seed S] [--edits E] [--keep FOLDER]

Every valid document of the tests (and of ../shared) has its share of N mutants, the same ones in every run; documents
above 100 kB have a small share. nnefc must accept or reject each mutant without a crash, within a second of processor
time and a gigabyte of memory. A rejected mutant has an error with a location inside the document. Batches of 200 share
a process; a failing batch is halved until the document is found, which --keep saves.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "rewriting"))
sys.path.insert(0, str(HERE.parent / "conformance" / "adversary"))
import corpus  # noqa: E402
import entries  # noqa: E402
import rule_file  # noqa: E402  (corpus puts tests/golden on the path)

BATCH = 200
# A binary with sanitizers is about ten times slower and larger.
SANITIZED = os.environ.get("NNEFC_SANITIZE") == "ON"
CPU_SECONDS = 10.0 if SANITIZED else 1.0
WALL_SECONDS = 120
MEMORY_BYTES = 8 << 30 if SANITIZED else 1 << 30
BIG_BYTES = 100_000
MUTANTS_OF_BIG = 4

# Tokens that are inserted or replace others, in addition to the document's own.
POOL = (
    "( ) [ ] { } < > : ; , = -> + - * / ^ ! && || <= >= == != ? # ' \" . \\ 0 1 -1 2 0.5 1e3 1e999 9223372036854775807 "
    "9223372036854775808 true false '' 'a' \"b\" 'constant' graph fragment tensor extent integer scalar logical string "
    "shape_of length_of range_of for in if else yield version extension external variable update constant x y [] [0] "
    "[-1] [1,1] (0,0) [(1,1)] conv split concat copy idn relu add_n tensor<scalar> tensor<> <?> KHR_enable_operator_expressions "
    "\x00 \x7f é \r\n \x0c"
).split(" ")
NAME = re.compile(r"[A-Za-z_]\w*$")
KINDS = ("delete", "insert", "swap", "rename")


def is_blank(token: str) -> bool:
    return token.isspace() or token.startswith("#")


def mutate(tokens: list[str], source: random.Random) -> tuple[str, str]:
    """Returns the kind of the mutation and the mutated text."""
    places = [i for i, token in enumerate(tokens) if not is_blank(token)]
    kind = source.choice(KINDS)
    at = source.choice(places)
    mutant = list(tokens)
    # Another token of the same kind often keeps the text well formed.
    alike = [tokens[i] for i in places if bool(NAME.match(tokens[i])) == bool(NAME.match(tokens[at]))]
    other = source.choice(POOL) if source.random() < 0.3 else source.choice(alike)
    if kind == "delete":
        mutant[at] = ""
    elif kind == "insert":
        mutant[at] = f"{mutant[at]} {other} " if source.random() < 0.5 else f"{mutant[at]}{other}"
    elif kind == "swap":
        # Neighbours, or two of the same kind.
        near = places[min(places.index(at) + source.choice((1, 2, 5)), len(places) - 1)]
        far = source.choice([i for i in places if bool(NAME.match(tokens[i])) == bool(NAME.match(tokens[at]))])
        to = source.choice((near, far))
        mutant[at], mutant[to] = mutant[to], mutant[at]
    elif NAME.match(tokens[at]) and source.random() < 0.5:
        mutant[at] = source.choice((tokens[at] + "_", tokens[at][:-1], tokens[at].upper(), other)) or other
    else:
        mutant[at] = other
    return kind, "".join(mutant)


def documents() -> dict[str, str]:
    """Returns the documents of the tests, by text."""
    found = {document.text: document.name for document in corpus.documents()}
    for entry in entries.load():
        text = entry.files["graph.nnef"].decode("utf-8")
        if entry.valid:
            found.setdefault(text, f"adversary {entry.id}")
    for path in sorted(rule_file.FOLDER.glob("*.rule")):
        for example in rule_file.read(path).examples:
            if example.kind == "keeps" and example.document:
                found.setdefault(example.document, path.name)
    return found


class Checker:
    """Runs `nnefc lint`, which checks first, on files and collects problems."""

    def __init__(self, nnefc: str, keep: pathlib.Path | None):
        self.nnefc = nnefc
        self.keep = keep
        self.problems: list[str] = []
        self.refused = self.accepted = 0
        self.slowest = 0.0
        self.largest = 0

    def _limit(self) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (WALL_SECONDS, WALL_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def _run(self, files: list[pathlib.Path]) -> tuple[str | None, dict]:
        """Returns the problem of the process as a whole, and its report."""
        with tempfile.TemporaryFile() as out:
            command = [self.nnefc, "lint", "--no-config", "--enable", "all", "--format", "json", *map(str, files)]
            process = subprocess.Popen(command, stderr=out,
                                       stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, preexec_fn=self._limit)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = code = os.waitstatus_to_exitcode(status)
            out.seek(0)
            text = out.read()
        seconds = usage.ru_utime + usage.ru_stime
        if code not in (0, 1):
            return f"exit code {code}", {}
        if seconds > CPU_SECONDS:
            return f"{seconds:.1f} s", {}
        if usage.ru_maxrss * 1024 > MEMORY_BYTES:
            return f"{usage.ru_maxrss >> 10} MB", {}
        self.slowest = max(self.slowest, seconds if len(files) == 1 else 0)
        self.largest = max(self.largest, usage.ru_maxrss * 1024)
        try:
            report = json.loads(text) if text.strip() else {"diagnostics": []}
        except ValueError:
            return "no JSON", {}
        errors = [d for d in report["diagnostics"] if d["severity"] == "error"]
        if bool(errors) != (code == 1):
            return f"exit code {code} with {len(errors)} errors", {}
        if any("file" not in d for d in errors):
            return "an error without a place: " + next(d["message"] for d in errors if "file" not in d), {}
        return None, report

    def _fail(self, file: pathlib.Path, what: str) -> None:
        self.problems.append(f"{file.name}: {what}")
        if self.keep:
            self.keep.mkdir(parents=True, exist_ok=True)
            (self.keep / file.name).write_bytes(file.read_bytes())

    def check(self, files: list[pathlib.Path]) -> set[pathlib.Path]:
        """Checks the files; returns those that were rejected correctly."""
        what, report = self._run(files)
        if what is not None:
            if len(files) == 1:
                self._fail(files[0], what)
                return set()
            half = len(files) // 2
            return self.check(files[:half]) | self.check(files[half:])
        refused = collections.defaultdict(list)
        for diagnostic in report["diagnostics"]:
            if diagnostic["severity"] == "error":
                refused[diagnostic["file"]].append(diagnostic)
        done = set()
        for file in files:
            errors = refused.pop(str(file), [])
            lines = file.read_bytes().split(b"\n") if errors else []
            outside = [d for d in errors if not (1 <= d["line"] <= len(lines)
                                                 and 1 <= d["column"] <= len(lines[d["line"] - 1]) + 1)]
            if outside:
                self._fail(file, f"outside the document: {outside[0]['line']}:{outside[0]['column']} {outside[0]['message']}")
            elif errors:
                done.add(file)
        for name, errors in refused.items():
            # For example an error in the text of the standard library instead of the document.
            self._fail(files[0], f"in another file, {name}: {errors[0]['message']} (a batch of {len(files)})")
        self.refused += len(done)
        self.accepted += len(files) - len(done)
        return done


def batches(files: list, size: int = BATCH) -> list[list]:
    return [files[i:i + size] for i in range(0, len(files), size)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nnefc")
    parser.add_argument("--count", type=int, default=500 if SANITIZED else 3000, help="mutants to make (3000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--edits", type=int, default=1, help="changes of each mutant (1)")
    parser.add_argument("--keep", type=pathlib.Path, help="save documents that show a problem here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(folder)
        originals = []
        for number, (text, name) in enumerate(documents().items()):
            path = folder / f"original{number}.nnef"
            path.write_bytes(text.encode("utf-8"))
            originals.append((path, text, name))

        def accepted(path: pathlib.Path) -> bool:
            return subprocess.run([options.nnefc, "check", str(path)], capture_output=True, check=False,
                                  timeout=WALL_SECONDS).returncode == 0

        verdicts = pool.map(accepted, [path for path, _, _ in originals])
        valid = [(text, name) for (_, text, name), fine in zip(originals, verdicts) if fine]
        small = [entry for entry in valid if len(entry[0]) < BIG_BYTES]
        share = max(1, -(-(options.count - MUTANTS_OF_BIG * (len(valid) - len(small))) // len(small)))
        kinds: collections.Counter = collections.Counter()
        files, big_files = [], []
        for number, (text, name) in enumerate(sorted(valid)):
            tokens = corpus.TOKEN.findall(text)
            source = random.Random(f"{options.seed} {text}")
            is_big = len(text) >= BIG_BYTES
            for i in range(MUTANTS_OF_BIG if is_big else share):
                kind, mutant = mutate(tokens, source)
                for _ in range(options.edits - 1):
                    kind, mutant = mutate(corpus.TOKEN.findall(mutant), source)
                kinds[kind] += 1
                path = folder / f"{number}_{i}_{kind}.nnef"
                path.write_bytes(mutant.encode("utf-8"))
                (big_files if is_big else files).append(path)
        checker = Checker(options.nnefc, options.keep)
        list(pool.map(checker.check, batches(files) + [[file] for file in big_files]))
    print(f"{len(valid)} valid documents, {sum(kinds.values())} mutants ({', '.join(f'{n} {k}' for k, n in kinds.items())}): "
          f"{checker.refused} refused, {checker.accepted} accepted, {checker.largest >> 20} MB at most")
    for problem in checker.problems[:50]:
        print(f"FAILED {problem}")
    return 1 if checker.problems or checker.refused == 0 or checker.accepted == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
