#!/usr/bin/env python3
"""Judges every provisional document of lists/ and of compiler/explain/rules and fails where a diagnostic speaks the ratified dialect:
by the name of an operation, a parameter or a type that only its library declares, or by a section of its text. What the document
itself contains may be repeated, and a message that tells of both dialects may name both.

usage: words.py NNEFC [-v]
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import entries as lists

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "golden"))
import rule_file  # noqa: E402

FRAGMENT = re.compile(r"^fragment\s+(\w+)(?:<[^>]*>)?\s*\((.*?)\)\s*->\s*\((.*?)\)\s*[;{]", re.MULTILINE | re.DOTALL)
DECLARED = re.compile(r"(\w+)\s*:\s*((?:\([^)]*\)|[\w<>?])+(?:\[\])*)")


def vocabulary(dialect):
    """The operations, (operation, parameter) pairs, names and type names that a library declares."""
    text = re.sub(r"#.*", "", (ROOT / "stdlib" / f"{dialect}.nnef").read_text())
    pairs, types = set(), set()
    for operation, parameters, results in FRAGMENT.findall(text):
        for name, declared in DECLARED.findall(parameters + ", " + results):
            pairs.add((operation, name))
            types.update(re.findall(r"\w+<[^>]*>|\w+", declared))
    operations = {operation for operation, *_ in FRAGMENT.findall(text)}
    return operations, pairs, operations | {name for _, name in pairs}, types


class Judge:
    def __init__(self):
        operations, self.pairs, names, types = vocabulary("provisional")
        self.ratified_pairs, ratified_names, ratified_types = vocabulary("ratified")[1:]
        self.names, self.types = ratified_names - names, ratified_types - types
        assert {"integer"} < self.types and {"copy", "transposeA"} < self.names and ("transpose", "axes") not in self.pairs
        assert len(operations) > 80 and ("conv", "groups") in self.pairs

    def foreign(self, message, text):
        """The ratified words of a message."""
        if "ratified" in message and "dialect" in message:
            return []
        quoted = re.findall(r"`([^`]*)`", message)
        words = {w for q in quoted for w in re.findall(r"\w+", q)} & self.names
        words |= {t for t in self.types if re.search(rf"(?<!\w){re.escape(t)}(?!\w)", message)}
        words |= {f"{name} of {operation}" for name, operation in re.findall(r"`(\w+)(?:\[\d+\])?` of `(\w+)`", message)
                  if (operation, name) in self.ratified_pairs - self.pairs}
        return sorted(w for w in words if not re.search(rf"(?<!\w){re.escape(w.split()[0])}(?!\w)", text))


def examples(folder):
    """(where, path to judge) of provisional documents that break something."""
    for entry in lists.load():
        if entry.dialect == "P" and not entry.valid:
            yield entry.id, lists.write(entry, folder / f"{entry.list}-{entry.line}")
    for path in sorted(rule_file.FOLDER.glob("*.rule")):
        for number, example in enumerate(rule_file.read(path).examples, 1):
            if example.kind == "breaks" and example.dialect == "provisional" and example.document:
                document = folder / f"{path.stem}-{number}.nnef"
                document.write_bytes(rule_file.file_forms.make("net.nnef", "", example.document, {}))
                yield f"{path.name}: example {number}", document


def judge(nnefc, words, where, path):
    """What the document's diagnostics say wrong, and the rules that they name."""
    ran = subprocess.run([nnefc, "check", "--format", "json", "--dialect", "provisional", path], capture_output=True, timeout=60)
    texts = sorted(path.iterdir()) if path.is_dir() else [path]
    text = "\n".join(each.read_text(encoding="utf-8", errors="replace") for each in texts)
    wrong, rules = [], set()
    for told in json.loads(ran.stderr or b'{"diagnostics": []}')["diagnostics"]:
        rules.add(told["rule"])
        if "R " in told["section"]:
            wrong.append(f"{where}: section `{told['section']}` of [{told['rule']}]")
        for message in [told["message"], *(note["message"] for note in told["notes"])]:
            if foreign := words.foreign(message, text):
                wrong.append(f"{where}: {', '.join(foreign)} in: {message} [{told['rule']}]")
    return wrong, rules


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nnefc")
    parser.add_argument("-v", action="store_true", help="print which rules were told")
    args = parser.parse_args()
    words = Judge()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        todo = list(examples(pathlib.Path(folder)))
        done = list(pool.map(lambda item: judge(args.nnefc, words, *item), todo))
    wrong = sorted({line for lines, _ in done for line in lines})
    rules = set().union(*(rules for _, rules in done))
    print("\n".join(wrong + sorted(rules) if args.v else wrong))
    print(f"{len(todo)} documents broke {len(rules)} rules; {len(wrong)} messages are in words of the ratified dialect")
    return 1 if wrong or len(rules) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
