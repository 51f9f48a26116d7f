"""Runs the examples in Python of tools/examples, each in its own process, as a user does, and the cells of the notebooks."""

import subprocess
import sys

import nbclient
import nbformat
import pytest
from conftest import ROOT

EXAMPLES = sorted((ROOT / "tools" / "examples").glob("*/*.py"))
NOTEBOOKS = sorted((ROOT / "tools" / "examples").glob("*/*.ipynb"))


def test_all_examples_are_found():
    assert [path.parent.name for path in EXAMPLES] == ["onnx", "python", "quantized", "transformation"]
    assert [path.parent.name for path in NOTEBOOKS] == ["notebook"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.parent.name)
def test_a_notebook(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells), "stored outputs become outdated"
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    html = [output.data["text/html"] for cell in cells for output in cell.outputs if "text/html" in output.get("data", {})]
    # The report, the difference, the model and the profile.
    assert [word for word, text in zip(("an invocation as an argument", "elu", "iframe", "Convolution"), html) if word not in text] == []
    assert len(html) == 4


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example(path, tmp_path):
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout and not list(tmp_path.iterdir())
