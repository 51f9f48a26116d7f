"""Golden files: each has its inputs, one command line and the expected output.

A file is a list of sections, each with a head line `== `:

    == command: nnefc check input.nnef
    == file: input.nnef
    version 1.0;
    ...
    == exit: 1
    == stderr
    input.nnef:3:5: error: ...
    == stdout

The files are written to an empty folder, where the command runs; `{tests}` in it is replaced by the path of the
repository's tests folder. Empty sections are omitted. A section's text ends with a line end, unless the head states
otherwise: `== file: input.nnef (no newline)`.

Two optional sections follow the command: `== environment: NAME=VALUE` sets a variable, and `== lines: PATTERN` limits
standard output to the lines that match a regular expression.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

import rule_file

TESTS = pathlib.Path(__file__).resolve().parent.parent
GOLDENS = TESTS / "golden"
TIMEOUT_SECONDS = 60
VERIFIED = {"check", "expand", "compile", "run", "inspect", "draw"}


@dataclasses.dataclass
class Golden:
    """A golden file in parts; `comment` is the text before the first section."""

    path: pathlib.Path
    comment: str
    command: str
    files: list[tuple[str, str]]
    exit_code: int
    stdout: str
    stderr: str
    environment: str = ""
    lines: str = ""


def read(path: pathlib.Path) -> Golden:
    """Reads a golden file; raises ValueError if it is malformed."""
    golden = Golden(path, "", "", [], 0, "", "")
    head, lines = None, []

    def close() -> None:
        text = "".join(lines)
        if head is None:
            golden.comment = text
        elif head.startswith("command: "):
            golden.command = head.removeprefix("command: ")
        elif head.startswith("environment: "):
            golden.environment = head.removeprefix("environment: ")
        elif head.startswith("lines: "):
            golden.lines = head.removeprefix("lines: ")
        elif head.startswith("exit: "):
            golden.exit_code = int(head.removeprefix("exit: "))
        elif head.startswith("file: "):
            name = head.removeprefix("file: ")
            if name.endswith(" (no newline)"):
                golden.files.append((name, text.removesuffix("\n")))
            else:
                golden.files.append((name, text))
        elif head in ("stdout", "stderr"):
            setattr(golden, head, text)
        else:
            raise ValueError(f"{path}: unknown section `{head}`")

    with open(path, encoding="utf-8", newline="") as source:
        for line in source:
            if line.startswith("== "):
                close()
                head, lines = line[3:].rstrip("\n"), []
            else:
                lines.append(line)
    close()
    if not golden.command:
        raise ValueError(f"{path}: no `== command:` section")
    return golden


def render(golden: Golden) -> str:
    """Returns the text of a golden file."""
    parts = [golden.comment, f"== command: {golden.command}\n"]
    parts += [f"== {name}: {value}\n" for name in ("environment", "lines") if (value := getattr(golden, name))]
    for name, text in golden.files:
        parts.append(f"== file: {name}\n{text}" + ("\n" if name.endswith(" (no newline)") else ""))
    parts.append(f"== exit: {golden.exit_code}\n")
    for stream in ("stdout", "stderr"):
        text = getattr(golden, stream)
        if text:
            parts.append(f"== {stream}\n{text}" + ("" if text.endswith("\n") else "\n"))
    return "".join(parts)


def run(golden: Golden, nnefc: pathlib.Path) -> Golden:
    """Runs the command; returns the golden file with the actual output."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in golden.files:
            target = pathlib.Path(folder, name.removesuffix(" (no newline)"))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode("utf-8"))
        words = shlex.split(golden.command.replace("{tests}", str(TESTS)))
        if len(words) > 1 and words[1] in VERIFIED and "--help" not in words:
            words.insert(2, "--verify")  # no effect unless a graph is broken
        if words[0] != "nnefc":
            raise ValueError(f"{golden.path}: the command must start with nnefc")
        environment = {**os.environ, "NO_COLOR": "1"}
        if golden.environment:
            name, value = golden.environment.split("=", 1)
            environment[name] = value
        done = subprocess.run([str(nnefc), *words[1:]], cwd=folder, env=environment, capture_output=True,
                              timeout=TIMEOUT_SECONDS, check=False)

    def text(raw: bytes) -> str:
        return raw.decode("utf-8", "backslashreplace").replace(str(TESTS), "{tests}")

    stdout = text(done.stdout)
    if golden.lines:
        stdout = "".join(line for line in stdout.splitlines(keepends=True) if re.search(golden.lines, line))
    return dataclasses.replace(golden, exit_code=done.returncode, stdout=stdout, stderr=text(done.stderr))


def paths(stages: list[str]) -> list[pathlib.Path]:
    """Returns the golden files of the stages, or of all; the files of `rules` are next to the rules."""
    folders = [rule_file.FOLDER if stage == "rules" else GOLDENS / stage for stage in stages]
    folders = folders or [GOLDENS, rule_file.FOLDER]
    return sorted(path for folder in folders for path in folder.rglob("*.*") if path.suffix in (".golden", ".rule"))


def actual(paths: list[pathlib.Path], nnefc: pathlib.Path) -> dict[pathlib.Path, tuple[str, list[str]]]:
    """Returns each file with the actual output, and the problems of that output."""
    rules = [path for path in paths if path.suffix == ".rule"]
    texts = {path: (render(run(read(path), nnefc)), []) for path in paths if path.suffix == ".golden"}
    return texts | dict(zip(rules, rule_file.actual_all(rules, nnefc)))
