"""The tensor files of a model: `check` looks at them, and a folder is known by its document too."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest


def _run(nnefc: Path, folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(nnefc), *line.split()], cwd=folder, capture_output=True, text=True, timeout=60, check=False)


WEIGHTS = ("version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    a = variable(shape = [1, 4], label = 'a');\n"
           "    b = variable(shape = [1, 4], label = 'part/b');\n    t = add(x, a);\n    y = mul(t, b);\n}\n")


@pytest.fixture(name="model")
def _model(nnefc: Path, tmp_path: Path) -> Path:
    (tmp_path / "net.nnef").write_text(WEIGHTS, encoding="utf-8")
    assert _run(nnefc, tmp_path, "run net.nnef --random-weights 1 --random-inputs 1 --save-weights model -o out.npz").returncode == 0
    return tmp_path / "model"


def _archived(model: Path) -> Path:
    path = model.parent / "model.tgz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(model, ".")
    return path


@pytest.mark.parametrize("form", ["folder", "document", "archive"])
def test_tensor_files_are_checked(form: str, nnefc: Path, model: Path) -> None:
    def check() -> subprocess.CompletedProcess[str]:
        path = {"folder": model, "document": model / "graph.nnef", "archive": _archived(model) if form == "archive" else model}[form]
        return _run(nnefc, model.parent, f"check {path.relative_to(model.parent)}")

    assert (check().returncode, check().stderr) == (0, "")
    whole = (model / "a.dat").read_bytes()
    (model / "a.dat").write_bytes(whole[:-4])
    assert "[dat.truncated]" in check().stderr or "[dat.size]" in check().stderr
    (model / "a.dat").write_bytes(whole[:60])
    assert "[dat.truncated]" in check().stderr
    (model / "a.dat").write_bytes((model / "part" / "b.dat").read_bytes())
    assert check().returncode == 0
    (model / "a.dat").write_bytes(whole[:12] + bytes([2, 0, 0, 0, 2, 0, 0, 0]) + whole[20:])  # the extents
    assert "the data of variable `a` has shape [2,2]; the document says [1,4] [variable.data-shape]" in check().stderr
    (model / "a.dat").unlink()
    done = check()
    assert "the model has no data for variable `a`: `a.dat` is missing [variable.no-data]" in done.stderr
    assert done.returncode == 1
    # A model without any data is a document.
    (model / "part" / "b.dat").unlink()
    assert check().stderr == ""


def test_the_document_of_a_folder_is_its_model(nnefc: Path, model: Path) -> None:
    run = "run {} --random-inputs 1 --compare {}out.npz --tolerance exact"
    assert _run(nnefc, model.parent, run.format("model/graph.nnef", "")).stdout == "y: equal bit for bit\n"
    assert _run(nnefc, model, run.format("graph.nnef", "../")).stdout == "y: equal bit for bit\n"
    # One of another name has no data.
    (model / "other.nnef").write_text(WEIGHTS, encoding="utf-8")
    assert "comes without tensor files" in _run(nnefc, model, run.format("other.nnef", "../")).stderr
    # What names the document still does.
    assert _run(nnefc, model, "upgrade graph.nnef -o new.nnef").returncode == 0
    assert (model / "new.nnef").is_file()
