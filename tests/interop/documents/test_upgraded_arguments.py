"""`upgrade` writes positional tensor arguments if their positions are certain, and the result computes the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

DOCUMENT = """version 1.0

# What twice does.
fragment twice( a: tensor, n: extent, b: tensor ) -> ( c: tensor )
{{
    c = a * b + 1.0  # not n
}}

# What offset does.
fragment offset( a: tensor, b: tensor = 1.0, c: tensor = 2.0, n: scalar = 3.0 ) -> ( d: tensor )
{{
    d = (a + b) * c - n  # all of them
}}

graph net( x ) -> ( y )
{{
    x = external(shape = [1, 3, 8, 8])  # an image
    w = variable(shape = [4, 3, 3, 3], label = 'w')
    v = variable(shape = [1, 4], label = 'v')
    # the statement
    y = {}  # behind it
}}
"""
RIGHT_CONV = "conv(x, w, padding = [(1, 1), (1, 1)])"
CASES = {
    "conv(input = x, filter = w, padding = [(1,1),(1,1)])": RIGHT_CONV,
    "conv(filter = w, input = x, padding = [(1,1),(1,1)])": RIGHT_CONV,
    "conv(x, padding = [(1,1),(1,1)], filter = w)": RIGHT_CONV,
    "conv(x, filter = w, bias = v)": "conv(x, w, v)",
    "twice(a = x, n = 1, b = x)": "twice(x, x, n = 1)",
    "twice(b = x, a = neg(x), n = 1)": "twice(neg(x), x, n = 1)",
    "twice(x, 1, x)": "twice(x, x, n = 1)",
    # Without an argument for `b`, `c` keeps its name.
    "offset(x, c = x)": "offset(x, c = x)",
    "offset(n = 2.0, c = x, a = x)": "offset(x, c = x, n = 2.0)",
    "offset(n = 2.0, c = x, b = x, a = x)": "offset(x, x, x, n = 2.0)",
    "relu(x = sub(y = x, x = x))": "relu(sub(x, x))",
    "concat(values = [x, x], axis = 1)": "concat([x, x], axis = 1)",
    "transpose(perm = [0,2,3,1], input = x)": "transpose(x, axes = [0, 2, 3, 1])",
}


def _run(nnefc: Path, folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(nnefc), *line.split()], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.parametrize("before", CASES)
def test_tensors_are_given_by_position(before: str, nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "old.nnef").write_text(DOCUMENT.format(before), encoding="utf-8")
    _run(nnefc, tmp_path, "upgrade old.nnef -o new.nnef")
    text = (tmp_path / "new.nnef").read_text(encoding="utf-8")
    assert f"    # the statement\n    y = {CASES[before]};  # behind it\n" in text
    for name, comment in {"twice": "# not n", "offset": "# all of them"}.items():
        assert f"# What {name} does.\nfragment {name}(" in text
        assert f";  {comment}\n" in text
    random = "--random-weights 1 --random-inputs 1"
    _run(nnefc, tmp_path, f"run old.nnef {random} -o out.npz")
    _run(nnefc, tmp_path, f"run new.nnef {random} --compare out.npz --tolerance exact")
    told = _run(nnefc, tmp_path, "lint new.nnef --disable all --enable named-tensor-argument").stderr
    assert told.count("warning:") == ("c = x" in CASES[before])


def test_comments_among_arguments_keep_their_places(nnefc: Path, tmp_path: Path) -> None:
    before = """conv(filter = w,  # the filter
             input = x,  # the image
             padding = [(1,1), (1,1)])"""
    (tmp_path / "old.nnef").write_text(DOCUMENT.format(before), encoding="utf-8")
    _run(nnefc, tmp_path, "upgrade old.nnef -o new.nnef")
    text = (tmp_path / "new.nnef").read_text(encoding="utf-8")
    assert "filter = w,  # the filter\n" in text
    assert "input = x,  # the image\n" in text
