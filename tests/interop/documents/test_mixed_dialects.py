"""Documents with marks of both dialects: one odd mark is one error, whose fix makes the document valid."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

PROVISIONAL = """\
version 1.0

fragment block( x: tensor, channels: extent, scope: string ) -> ( y: tensor )
{
    filter = variable(shape = [channels, shape_of(x)[1], 3, 3], label = scope + '/filter')
    bias = variable(shape = [1, channels], label = scope + '/bias')
    y = relu(conv(x, filter, bias))
}

graph net( input ) -> ( output )
{
    input = external(shape = [1,3,32,32])
    a = block(input, channels = 16, scope = 'a')
    b = block(a, channels = 16, scope = 'b')
    output = softmax(b)
}
"""
RATIFIED = """\
version 1.0;
extension KHR_enable_fragment_definitions;
extension KHR_enable_operator_expressions;

fragment block( x: tensor<scalar>, filter: tensor<scalar>, sizes: integer[], steps: integer = 1 ) -> ( y: tensor<scalar> )
{
    t = conv(x, filter, stride = [for i in sizes yield i * steps]);
    y = relu(t);
}

graph net( input ) -> ( output )
{
    input = external<scalar>(shape = [1,3,32,32]);
    filter = variable<scalar>(shape = [16,3,3,3], label = 'filter');
    a = block(input, filter, sizes = [1,1]);
    output = softmax(a);
}
"""

# (document, part of it, replacement in the other dialect, expected message)
ODD = [
    (PROVISIONAL, "x: tensor,", "x: tensor<scalar>,", "3:20: error: `tensor<scalar>` belongs to the ratified dialect"),
    (PROVISIONAL, "channels: extent", "channels: integer", "3:38: error: `integer` belongs to the ratified dialect"),
    (PROVISIONAL, "bias = variable(", "bias = variable<scalar>(", "6:21: error: type arguments belong to the ratified dialect"),
    (PROVISIONAL, "version 1.0", "version 1.0;", "1:12: error: `;` after the version belongs to the ratified dialect"),
    (PROVISIONAL, "version 1.0\n", "version 1.0\nextension KHR_enable_fragment_definitions\n", "2:1: error: `extension` belongs to the ratified"),
    (PROVISIONAL, "version 1.0\n", "version 1.0\nextension KHR_enable_fragment_definitions;\n", "2:1: error: `extension` belongs to the ratified"),
    (RATIFIED, "version 1.0;", "version 1.0", "1:12: error: expected `;` after the version"),
    (RATIFIED, "steps: integer", "steps: extent", "5:85: error: `extent` belongs to the provisional dialect"),
    (RATIFIED, "x: tensor<scalar>", "x: tensor", "5:20: error: `tensor` without a data type belongs to the provisional dialect"),
    (RATIFIED, "[for i in sizes yield i * steps]", "[i * steps for i in sizes]", "7:34: error: this form of array comprehension belongs to the"),
    (RATIFIED, "t = conv(x, filter, stride = [for i in sizes yield i * steps]);", "t = conv(x, filter, stride = [for i in sizes yield i * steps])",
     "7:67: error: expected `;` after the assignment"),
]


def _run(nnefc: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(nnefc), *words, "net.nnef"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def _write(folder: Path, text: str) -> None:
    (folder / "net.nnef").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("text", [PROVISIONAL, RATIFIED], ids=["provisional", "ratified"])
def test_documents_of_one_dialect_are_right(text: str, nnefc: Path, tmp_path: Path) -> None:
    _write(tmp_path, text)
    assert _run(nnefc, tmp_path, "check").stderr == ""


@pytest.mark.parametrize(("text", "right", "odd", "message"), ODD, ids=lambda value: value.strip() if len(value) < 70 else "")
def test_one_odd_mark_is_one_error(text: str, right: str, odd: str, message: str, nnefc: Path, tmp_path: Path) -> None:
    assert text.count(right) >= 1
    _write(tmp_path, text.replace(right, odd, 1))
    told = _run(nnefc, tmp_path, "check").stderr
    assert told.startswith(f"net.nnef:{message}"), told
    assert told.count("error: ") == 1, told
    dialects = ("ratified", "provisional") if text is RATIFIED else ("provisional", "ratified")
    if "assignment" not in message:
        assert f"note: read as {dialects[0]} NNEF 1.0 because of " in told
        assert f"; `--dialect {dialects[1]}` reads it otherwise" in told
    _run(nnefc, tmp_path, "check", "--fix")
    fixed = _run(nnefc, tmp_path, "check")
    assert (fixed.returncode, fixed.stderr) == (0, "")


@pytest.mark.parametrize("text", [PROVISIONAL, RATIFIED], ids=["provisional", "ratified"])
def test_all_odd_marks_but_one_kind_more_keep_the_dialect(text: str, nnefc: Path, tmp_path: Path) -> None:
    """Two kinds of odd marks: the first message names both dialects' marks."""
    pieces = {PROVISIONAL: [("x: tensor,", "x: tensor<scalar>,"), ("bias = variable(", "bias = variable<scalar>(")],
              RATIFIED: [("steps: integer", "steps: extent"), ("x: tensor<scalar>", "x: tensor")]}[text]
    wrong = text
    for right, odd in pieces:
        wrong = wrong.replace(right, odd, 1)
    _write(tmp_path, wrong)
    told = _run(nnefc, tmp_path, "check").stderr
    own, other = ("provisional", "ratified") if text is PROVISIONAL else ("ratified", "provisional")
    assert told.startswith(f"net.nnef:1:1: warning: the document mixes both dialects: read as {own} NNEF 1.0 because of "), told
    assert f"; the {other} dialect has " in told.splitlines()[0]
    assert told.count("error: ") == 2, told
    _run(nnefc, tmp_path, "check", "--fix")
    fixed = _run(nnefc, tmp_path, "check")
    assert (fixed.returncode, fixed.stderr) == (0, "")
    assert (tmp_path / "net.nnef").read_text(encoding="utf-8").split("\n")[0] == text.split("\n")[0]


def test_the_dialect_that_is_asked_for_is_not_explained(nnefc: Path, tmp_path: Path) -> None:
    _write(tmp_path, PROVISIONAL.replace("x: tensor,", "x: tensor<scalar>,"))
    assert "read as" not in _run(nnefc, tmp_path, "check", "--dialect", "provisional").stderr


@pytest.mark.parametrize(("semicolons", "dialect"), [(0, "provisional"), (1, "provisional"), (2, "ratified")])
def test_semicolons_decide_between_equals(semicolons: int, dialect: str, nnefc: Path, tmp_path: Path) -> None:
    """One kind of mark on each side: statements with `;` decide for the ratified dialect."""
    ends = [";" if i < semicolons else "" for i in range(2)]
    _write(tmp_path, f"version 1.0\n\ngraph net( x ) -> ( y )\n{{\n    x = external<scalar>(shape = [1,3]){ends[0]}\n    y = relu(x){ends[1]}\n}}\n")
    told = _run(nnefc, tmp_path, "check").stderr
    assert (f"read as {dialect}" in told) or (f"the {'ratified' if dialect == 'provisional' else 'provisional'} dialect" in told), told
