"""Messages on a terminal: fixes below the line they change, aligned marks, truncated lines, consistent counts."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import unicodedata
from pathlib import Path

import pytest

RIGHT = "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 3, 8, 8]);\n    y = relu(x);\n}\n"


def _check(nnefc: Path, folder: Path, text: str, *options: str) -> list[str]:
    (folder / "net.nnef").write_text(text, encoding="utf-8")
    words = [str(nnefc), *(options or ("check",)), "net.nnef"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=False).stderr.splitlines()


@pytest.mark.parametrize(("right", "wrong", "lines"), [
    ("relu(x)", "rleu(x)", ["    6 |     y = rleu(x);", "      |         ^~~~", "      |         relu"]),
    ("relu(x);", "relu(x)", ["    6 |     y = relu(x)", "      |                ^", "      |                ;"]),
    ("[1, 3, 8, 8]", "[1, 3, 8, 8,]", None),
])
def test_one_typo_takes_four_lines(right: str, wrong: str, lines: list[str] | None, nnefc: Path, tmp_path: Path) -> None:
    said = _check(nnefc, tmp_path, RIGHT.replace(right, wrong))
    assert len(said) == 4, said
    if lines:
        assert said[1:] == lines
    else:
        # Text to be removed is marked.
        column = said[1].index(",]")
        assert said[3][column] == "-"
        assert said[3].strip(" |-") == ""


def _width(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


@pytest.mark.parametrize("label", ["plain", "\u00e4\u00f6\u00fc", "\u6f22\u5b57", "e\u0301e\u0301", "\U0001F600", "\u2013\u2192"])
def test_marks_stand_below_what_they_mean(label: str, nnefc: Path, tmp_path: Path) -> None:
    line = f"    x = external(shape = [1]); # {label}\n    y = '{label}'; z = rleu(x);\n"
    text = RIGHT.replace("    x = external(shape = [1, 3, 8, 8]);\n    y = relu(x);\n", line)
    said = _check(nnefc, tmp_path, text)
    at = next(i for i, shown in enumerate(said) if "rleu`" in shown)
    assert _width(said[at + 2][:said[at + 2].index("^")]) == _width(said[at + 1][:said[at + 1].index("rleu")])
    assert _width(said[at + 3][:said[at + 3].index("relu")]) == _width(said[at + 1][:said[at + 1].index("rleu")])


@pytest.mark.parametrize(("before", "after"), [(0, 300), (300, 0), (300, 300), (75, 90), (90, 75), (2000, 2000)])
@pytest.mark.parametrize("filler", ["x, ", "\u00e4 "])
def test_long_lines_are_cut_with_a_mark(before: int, after: int, filler: str, nnefc: Path, tmp_path: Path) -> None:
    comment = filler[0] * after
    text = RIGHT.replace("y = relu(x);", "y = add_n([" + "x, " * (before // 3) + "zz]); # " + comment)
    said = _check(nnefc, tmp_path, text)
    shown, marks = said[1].removeprefix("    6 | "), said[2].removeprefix("      | ")
    assert len(shown) <= 170
    column = marks.index("^")
    assert shown[column:column + 2] == "zz"
    line = text.splitlines()[5]
    assert shown.startswith("...") == (not line.startswith(shown[:10]))
    assert shown.endswith("...") == (not line.endswith(shown[-5:]))
    assert shown.removeprefix("...").removesuffix("...") in line


@pytest.mark.parametrize(("mistake", "told"), [
    ("y = pad(x, padding = [(1, 1)]);", "has 1 item; expected 4"),
    ("[y, z] = split(x, axis = 1, ratios = [1]);", "2 items"),
    ("[a] = split(x, axis = 1, ratios = [1, 2]); y = copy(a);", "1 item,"),
    ("y = box(x, size = [1]);", "has 1 item; expected 4"),
    ("y = tile(x, repeats = [2]);", "has 1 item; expected 4"),
])
def test_counts_agree_with_what_they_count(mistake: str, told: str, nnefc: Path, tmp_path: Path) -> None:
    said = "\n".join(_check(nnefc, tmp_path, RIGHT.replace("y = relu(x);", mistake)))
    assert told in said
    assert not re.search(r"\b1 (items|elements|results|tensors|inputs|outputs)\b", said)


def _terminal(words: list[str], folder: Path, stream: str) -> str:
    """Returns the output to a stream that is a terminal."""
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
    with subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs},
                          env=environment | {"TERM": "xterm"}) as process:
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65536):
                said += part
        except OSError:  # the other end is closed
            pass
        process.wait(timeout=60)
    os.close(ours)
    return said.decode("utf-8").replace("\r\n", "\n")


@pytest.mark.parametrize("line", ["fmt --diff net.nnef", "check --fix --diff net.nnef", "lint --fix --diff net.nnef"])
def test_diffs_are_in_colour_on_a_terminal(line: str, nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text(RIGHT.replace("    y = relu", "  y = rleu" if "check" in line else "  z = exp(x);\n  y = relu"), encoding="utf-8")
    words = [str(nnefc), *line.split()]
    plain = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False).stdout
    assert "\x1b" not in plain
    assert plain.startswith("--- ")
    coloured = _terminal(words, tmp_path, "stdout")
    assert "\x1b[31m-" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain
    assert "\x1b" not in _terminal([*words, "--color", "never"], tmp_path, "stdout")


@pytest.mark.parametrize(("before", "after"), [
    ("    t = exp(x);\n", ""), ("    t = exp(x); # no longer used\n", ""), ("    t = exp(\n        x);\n", ""),
    ("    t = exp(x); u = log(t);\n", "    \n"), ("    t = exp(x);\n    u = log(t);\n", ""),
    ("    [t, u] = split(x, axis = 1, ratios = [1, 2]);\n", "")])
def test_unused_tensors_are_removed(before: str, after: str, nnefc: Path, tmp_path: Path) -> None:
    text = RIGHT.replace("    y =", before + "    y =")
    _check(nnefc, tmp_path, text, "lint", "--fix")
    assert (tmp_path / "net.nnef").read_text(encoding="utf-8").replace(" \n", "\n").replace("\n\n    y", "\n    y") \
        == RIGHT.replace("    y =", after + "    y =").replace("    \n", "")


@pytest.mark.parametrize(("before", "after"), [
    ("y = reshape(x, shape = [1, 3, 8, 8]);", "y = copy(x);"), ("y = transpose(x, axes = [0, 1]);", "y = copy(x);"),
    ("t = exp(x); y = squeeze(t, axes = []);", "t = exp(x); y = copy(t);")])
def test_operations_that_change_nothing_become_copies(before: str, after: str, nnefc: Path, tmp_path: Path) -> None:
    _check(nnefc, tmp_path, RIGHT.replace("y = relu(x);", before), "lint", "--fix")
    assert (tmp_path / "net.nnef").read_text(encoding="utf-8") == RIGHT.replace("y = relu(x);", after)
