"""Runs the examples in Python of tools/examples, each in its own process, as a user does."""

import subprocess
import sys

import pytest
from conftest import ROOT

EXAMPLES = sorted((ROOT / "tools" / "examples").glob("*/*.py"))


def test_all_examples_are_found():
    assert [path.parent.name for path in EXAMPLES] == ["python", "quantized", "transformation"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example(path, tmp_path):
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout and not list(tmp_path.iterdir())
