"""`lint.khronos-parser` against Khronos' own parser, the package `nnef`: the rule reports exactly the valid documents
that the parser rejects or reads with other values."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import nnef
import pytest

EXTENSIONS = "version 1.0;\nextension KHR_enable_fragment_definitions;\nextension KHR_enable_operator_expressions;\n"
GRAPH = "graph net( x ) -> ( y )\n{{\n    x = external(shape = [1, 2, 4, 4]);\n    y = {};\n}}\n"
FRAGMENT = "fragment f( x: tensor<scalar>{} ) -> ( y: tensor<scalar> ) {{ y = {}; }}\n"
LATER = FRAGMENT.replace("fragment f", "fragment h").format("", "relu(x)")


def _document(right: str, fragments: str = "", head: str = EXTENSIONS) -> str:
    return head + fragments + GRAPH.format(right)


# Documents that are valid for nnefc; those that Khronos' parser rejects come first.
REFUSED = {
    "extensions_of_one_line": _document("copy(x)", head="version 1.0;\nextension KHR_enable_fragment_definitions "
                                                        "KHR_enable_operator_expressions;\n"),
    "form_feed": _document("copy(x)", head="version 1.0;\n# a\f"),
    "greater_equal": _document("f(x)", FRAGMENT.format(", b: tensor<scalar>=0.0", "x + b")),
    "later_definition": _document("f(x)", FRAGMENT.format("", "h(x)") + LATER),
    "shape_of": _document("f(x)", FRAGMENT.format("", "reshape(x, shape = shape_of(x))")),
}
READ = {
    "plain": _document("copy(x)"),
    "extension_lines": _document("f(x)", FRAGMENT.format("", "relu(x)")),
    "blank": _document("f(x)", FRAGMENT.format(", b: tensor<scalar> = 0.0", "x + b")),
    "earlier_definition": _document("f(x)", LATER + FRAGMENT.format("", "h(x)")),
    "named_tensor": _document("relu(x = x)"),
    "sign_at_the_end": _document("leaky_relu(x, alpha = 3.0 - 1.0)"),
    "parentheses": _document("leaky_relu(x, alpha = (-1.0) + 3.0)"),
    "large_scalar": _document("leaky_relu(x, alpha = 1e3)"),
}
# The parser reads these with another value of `alpha`.
MISREAD = {
    "sign_before_sum": (_document("leaky_relu(x, alpha = -1.0 + 3.0)"), 2.0),
    "sign_within_product": (_document("leaky_relu(x, alpha = 2.0 * -1.0 + 3.0)"), 1.0),
}


def _spoken(nnefc: Path, path: Path) -> bool:
    options = ["--disable", "all", "--enable", "khronos-parser", "--no-config", "--format", "json"]
    done = subprocess.run([str(nnefc), "lint", str(path), *options], capture_output=True, check=False)
    found = json.loads(done.stderr)["diagnostics"]
    assert all(diagnostic["rule"] == "lint.khronos-parser" for diagnostic in found), found
    return bool(found)


def _fixed(nnefc: Path, path: Path) -> str | None:
    """Returns the document with the fixes of the rule applied; None if there are none."""
    options = ["--disable", "all", "--enable", "khronos-parser", "--no-config", "--format", "json"]
    done = subprocess.run([str(nnefc), "lint", str(path), *options], capture_output=True, check=False)
    fixes = [fix for diagnostic in json.loads(done.stderr)["diagnostics"] for fix in diagnostic["fixes"]]
    if not fixes:
        return None
    lines = path.read_bytes().split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    text = path.read_bytes()
    offset = lambda line, column: starts[line - 1] + column - 1  # noqa: E731
    for fix in sorted(fixes, key=lambda f: (f["line"], f["column"]), reverse=True):
        begin, end = offset(fix["line"], fix["column"]), offset(fix["end_line"], fix["end_column"])
        text = text[:begin] + fix["text"].encode() + text[end:]
    return text.decode()


def _parses(path: Path) -> bool:
    try:
        nnef.parse_file(str(path))
    except Exception:  # the package throws its own exceptions and others
        return False
    return True


def _write(folder: Path, text: str) -> Path:
    path = folder / "graph.nnef"
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_told(nnefc: Path, tmp_path: Path, name: str) -> None:
    path = _write(tmp_path, REFUSED[name])
    assert not _parses(path)
    assert _spoken(nnefc, path)
    fixed = _fixed(nnefc, path)
    if fixed is not None:
        path = _write(tmp_path, fixed)
        assert _parses(path), fixed
        assert not _spoken(nnefc, path)


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_not_told(nnefc: Path, tmp_path: Path, name: str) -> None:
    path = _write(tmp_path, READ[name])
    assert _parses(path)
    assert not _spoken(nnefc, path)


@pytest.mark.parametrize("name", MISREAD)
def test_what_is_misread_is_told(nnefc: Path, tmp_path: Path, name: str) -> None:
    text, alpha = MISREAD[name]
    path = _write(tmp_path, text)

    def read() -> float:
        (operation,) = [op for op in nnef.parse_file(str(path)).operations if op.name == "leaky_relu"]
        return operation.attribs["alpha"]

    assert read() != alpha
    assert _spoken(nnefc, path)
    _write(tmp_path, _fixed(nnefc, path))
    assert read() == alpha
    assert not _spoken(nnefc, path)
