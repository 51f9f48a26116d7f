"""Rule files, `compiler/explain/rules/LABEL.rule`: the statement of a rule, examples that break it and examples that just
satisfy it.

    Arguments without a name precede those with one.
    == rule: binding.positional-after-named, error, R 3.3.2, P 3.3.1
    == breaks ratified
    version 1.0;
    ...
    == stderr
    net.nnef:5:30: error: an argument without a name follows a named one [binding.positional-after-named]
        5 | ...
    == keeps ratified
    ...

`== breaks` and `== keeps` begin an example. The dialect may follow, and after a colon the command; the default is
`nnefc check net.nnef`. The text below is the file `net.nnef`; sections `== file: NAME` add others, in the forms of
file_forms.py. Standard output of a command is ignored.

A document that begins with an indented line is the body of a graph: `expand_body` adds the version, the head of the
graph, whose parameters are the externals of the body and whose result is `y`, and the braces.

The first diagnostic of a breaking example must have the rule's label. A keeping example must print nothing; for a
warning, its output must lack that label. tools/dev/update_goldens.py writes `== rule:` and `== stderr`.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

import file_forms

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "compiler" / "explain" / "rules"
COMMAND = "nnefc check net.nnef"
BODY_INDENT = "    "
TIMEOUT_SECONDS = 60
HEAD = re.compile(r"(breaks|keeps)(?: (ratified|provisional))?(?:: (nnefc .*))?")


@dataclasses.dataclass
class Example:
    kind: str  # "breaks" or "keeps"
    dialect: str  # "" if the example does not depend on it
    command: str
    document: str  # net.nnef, from the text below the head
    files: list[tuple[str, str, str]] = dataclasses.field(default_factory=list)  # name, form, text
    stderr: str = ""


@dataclasses.dataclass
class RuleFile:
    path: pathlib.Path
    statement: str
    examples: list[Example]

    @property
    def label(self) -> str:
        return self.path.stem


def expand_body(text: str, dialect: str) -> str:
    """Returns the document with the body `text`, like Document() of rule_file.cpp; returns any other text unchanged."""
    if not text.startswith(BODY_INDENT):
        return text
    end = "" if dialect == "provisional" else ";"
    inputs = ", ".join(re.findall(r"^    (\w+) = external\b", text, flags=re.MULTILINE))
    return f"version 1.0{end}\ngraph net( {inputs} ) -> ( y )\n{{\n{text}}}\n"


def body_of(text: str, dialect: str) -> str:
    """Returns the body of a document that expand_body would make of it; returns any other text unchanged."""
    body = "".join(line for line in text.splitlines(keepends=True)[3:-1])
    return body if text and expand_body(body, dialect) == text != body else text


def _is_document(name: str, form: str) -> bool:
    return name.endswith(".nnef") and not form


def read(path: pathlib.Path) -> RuleFile:
    """Reads a rule file; raises ValueError if it is malformed."""
    rule = RuleFile(path, "", [])
    head, *sections = re.split(r"^== ", path.read_bytes().decode("utf-8"), flags=re.MULTILINE)
    rule.statement = head
    for section in sections:
        name, _, text = section.partition("\n")
        if match := HEAD.fullmatch(name):
            kind, dialect, command = match.groups(default="")
            rule.examples.append(Example(kind, dialect, command or COMMAND, expand_body(text, dialect)))
        elif name.startswith("rule: "):
            continue
        elif not rule.examples:
            raise ValueError(f"{path}: `== {name}` stands before the first example")
        elif name == "stderr":
            rule.examples[-1].stderr = text
        elif match := re.fullmatch(r"file: (\S+)(?: \((\w+)\))?", name):
            name, form, example = match[1], match[2] or "", rule.examples[-1]
            example.files.append((name, form, expand_body(text, example.dialect) if _is_document(name, form) else text))
        else:
            raise ValueError(f"{path}: unknown section `{name}`")
    return rule


def render(rule: RuleFile, head: str) -> str:
    """Returns the text of a rule file; `head` describes the rule as nnefc knows it."""
    parts = [rule.statement, f"== rule: {head}\n"]
    for example in rule.examples:
        line = " ".join(filter(None, [example.kind, example.dialect]))
        line += f": {example.command}" if example.command != COMMAND else ""
        parts.append(f"== {line}\n{body_of(example.document, example.dialect)}")
        for name, form, text in example.files:
            text = body_of(text, example.dialect) if _is_document(name, form) else text
            parts.append(f"== file: {name}" + (f" ({form})" if form else "") + f"\n{text}")
        if example.stderr:
            parts.append(f"== stderr\n{example.stderr}")
    return "".join(parts)


def run(example: Example, nnefc: pathlib.Path) -> tuple[int, str]:
    """Runs the command of an example; returns its exit code and its standard error."""
    made: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        document = [("net.nnef", "", example.document)] if example.document else []
        for name, form, text in document + example.files:
            made[name] = file_forms.make(name, form, text, made)
            target = pathlib.Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(made[name])
        done = subprocess.run([str(nnefc), *shlex.split(example.command)[1:]], cwd=folder, capture_output=True,
                              env={**os.environ, "NO_COLOR": "1"}, timeout=TIMEOUT_SECONDS, check=False)
    stderr = done.stderr.decode("utf-8", "backslashreplace").replace("\r", "\\r")
    # Locations in the standard library are irrelevant.
    stderr = re.sub(r"(<\w+ standard library>):\d+:\d+(: .*\n) *\d+ \|", r"\1\2      |", stderr)
    return done.returncode, stderr + ("" if stderr.endswith("\n") or not stderr else "\n")


def judge(example: Example, label: str, severity: str, exit_code: int, stderr: str) -> str | None:
    """Returns the problem of the example's outcome, or None."""
    told = re.findall(r"^\S[^|\n]*? (?:error|warning|note): .* \[([a-z0-9_.-]+)\]$", stderr, flags=re.MULTILINE)
    if example.kind == "keeps":
        if exit_code != 0:
            return f"keeps the rule, but the exit code is {exit_code}"
        if stderr and (severity == "error" or label in told):
            return "keeps the rule, but is not silent"
        return None
    if not told or told[0] != label:
        return f"breaks the rule, but the first diagnostic is {told[0] if told else 'missing'}"
    # A warning may come with errors, for example in a document with marks of both dialects.
    fails = severity == "error" or re.search(r": error: ", stderr) is not None
    if (exit_code != 0) != fails:
        return f"breaks the rule, but the exit code is {exit_code}"
    return None


@functools.cache
def known_rules(nnefc: pathlib.Path) -> dict[str, dict]:
    """Returns the rules of the built binary by label."""
    done = subprocess.run([str(nnefc), "explain", "--list", "--format", "json"], capture_output=True, check=True)
    rules = json.loads(done.stdout)["rules"]
    known = {rule["rule"]: rule for rule in rules}
    if len(known) != len(rules):
        raise ValueError("two rules of nnefc have the same label")
    return known


def actual(path: pathlib.Path, nnefc: pathlib.Path) -> tuple[str, list[str]]:
    """Returns the file with the actual output, and the problems of that output."""
    rule = read(path)
    known = known_rules(nnefc).get(rule.label)
    if known is None:
        return render(rule, "unknown"), [f"{path}: nnefc knows no rule `{rule.label}`"]
    faults = [] if rule.statement.strip() else [f"{path}: no sentence states the rule"]
    for number, example in enumerate(rule.examples, 1):
        exit_code, example.stderr = run(example, nnefc)
        fault = judge(example, rule.label, known["severity"], exit_code, example.stderr)
        if fault:
            faults.append(f"{path}: example {number}, {example.dialect} {fault}\n{example.stderr}")
    return render(rule, ", ".join([rule.label, known["severity"], *known["sections"]])), faults


def gaps(nnefc: pathlib.Path, paths: list[pathlib.Path]) -> list[str]:
    """Returns the rules of the binary without an example that breaks or keeps them in one of their dialects."""
    files = {rule.label: rule for rule in map(read, paths)}
    found = []
    for label, known in known_rules(nnefc).items():
        if not known["showable"]:
            continue

        examples = files[label].examples if label in files else []
        shown = {(example.kind, example.dialect) for example in examples}
        for kind in ("breaks", "keeps"):
            if not any(example.kind == kind for example in examples):
                found.append(f"rules/{label}.rule: no example {kind} the rule")
                continue
            found += [f"rules/{label}.rule: no {dialect} example {kind} the rule"
                      for dialect in known["dialects"] if (kind, dialect) not in shown]
    return found


def actual_all(paths: list[pathlib.Path], nnefc: pathlib.Path) -> list[tuple[str, list[str]]]:
    """Returns `actual` for several files."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda path: actual(path, nnefc), paths))
