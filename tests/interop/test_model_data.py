"""The tensor files of a model: `check` looks at them, and a folder is known by its document too."""

from __future__ import annotations

import struct
import subprocess
import tarfile
from pathlib import Path

import numpy as np
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


def test_data_of_lower_rank_is_upgraded(nnefc: Path, tmp_path: Path) -> None:
    """P 2.5: [2] and [2,1] are one shape, and a fragment's `shape_of` has two items at least."""
    fragment = "fragment f( x: tensor ) -> ( y: tensor ) { y = x + variable(shape = shape_of(x), label = 'v') }"
    graph = "graph net( x ) -> ( y ) {\n    x = external(shape = [2])\n    y = f(x)\n}\n"
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "graph.nnef").write_text(f"version 1.0\n{fragment}\n{graph}", encoding="utf-8")
    (tmp_path / "model" / "v.dat").write_bytes(struct.pack("<4s3I2BH2f", b"N\xef\1\0", 20, 1, 2, 0, 32, 0, 0.5, -3.0))
    np.savez(tmp_path / "in.npz", x=np.float32([1, 2]))
    assert _run(nnefc, tmp_path, "upgrade model -o new").returncode == 0
    for model in ("model", "new"):
        assert _run(nnefc, tmp_path, f"run {model} --inputs in.npz -o out.npz").returncode == 0
        assert np.load(tmp_path / "out.npz")["y"].ravel().tolist() == [1.5, -1]
