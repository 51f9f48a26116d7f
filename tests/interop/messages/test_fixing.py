"""`--fix` of documents with a large number of mistakes: it fixes all that it can, in bounded time."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

import pytest

SECONDS = 25


def _limit() -> None:
    if os.environ.get("NNEFC_SANITIZE") != "ON":
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def _fix(nnefc: Path, path: Path, lines: list[str], *options: str) -> str:
    path.write_text("\n".join(["version 1.0;", "", "graph net( x ) -> ( y )", "{", "    x = external(shape = [1, 4, 8, 8]);",
                               *lines, "    y = relu(x);", "}", ""]), encoding="utf-8")
    done = subprocess.run([str(nnefc), "check", "--fix", *options, str(path)], capture_output=True, text=True, timeout=300,
                          preexec_fn=_limit, check=False)
    assert done.returncode == 1, done.stderr[-500:]
    return done.stderr


@pytest.mark.parametrize("place", [0, 137, 299])
def test_one_fix_that_does_not_help_leaves_the_others(place: int, nnefc: Path, tmp_path: Path) -> None:
    """More mistakes than rounds, if each fix needed its own."""
    lines = [f"    t{i} = rleu(x);" for i in range(300)]
    lines[place] = "    p = max_pol(x);"  # `max_pool` lacks its size
    told = _fix(nnefc, tmp_path / "net.nnef", lines)
    text = (tmp_path / "net.nnef").read_text(encoding="utf-8")
    assert (text.count("rleu"), text.count("= relu(x)"), text.count("max_pol(x)")) == (0, 300, 1)
    assert told.count("not fixed, since it would not help") == 1


@pytest.mark.parametrize("line", ["    t{0} = relu(add(x, x{0}), );\n    u{0} = max_poool(x, size = [2,{0}]", "    t{0} = relu(y{0});",
                                  "    t{0} = max_pol(x, q{0} = {0});"], ids=["brackets", "names", "parameters"])
def test_hostile_documents_take_bounded_time(line: str, nnefc: Path, tmp_path: Path) -> None:
    """Each mistake has a fix without effect, or names that are compared with all others."""
    _fix(nnefc, tmp_path / "net.nnef", [line.format(i) for i in range(10000)], "--diff")


def test_what_is_not_tried_is_told(nnefc: Path, tmp_path: Path) -> None:
    told = _fix(nnefc, tmp_path / "net.nnef", [f"    t{i} = max_pol(x, q{i} = {i});" for i in range(400)])
    assert " more fixes were not tried, since checking takes long; use `--fix` once more" in told
