"""The tensor files of a model: `check` reads them, its document identifies a folder, and an archive is not unpacked for
unused files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest

from peak_memory import peak_of


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
    # A model without any data is a document; such a folder or archive causes a warning.
    (model / "part" / "b.dat").unlink()
    done = check()
    assert done.returncode == 0
    warning = "`a.dat` is missing, as are the others [variable.no-files]"
    assert (warning in done.stderr) if form != "document" else done.stderr == ""


@pytest.mark.parametrize("command", ["check", "lint"])
def test_shapes_with_symbols_are_not_compared(command: str, nnefc: Path, tmp_path: Path) -> None:
    """A symbol stands for any extent until an input has a shape: data of any extent fit, and what cannot be read is reported."""
    text = ("version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol S;\ngraph net( x ) -> ( y )\n{\n"
            "    x = tract_core_external(shape = [S, 4], datum_type = 'f32');\n"
            "    a = variable<scalar>(shape = [S, 4], label = 'a');\n    y = add(x, a);\n}\n")
    (tmp_path / "net.nnef").write_text(text, encoding="utf-8")
    saved = _run(nnefc, tmp_path, "run net.nnef --input-shape x=2,4 --random-weights 1 --random-inputs 1 --save-weights model -o out.npz")
    assert saved.returncode == 0, saved.stderr
    assert _run(nnefc, tmp_path, f"{command} model").returncode == 0
    assert _run(nnefc, tmp_path, f"{command} model --input-shape x=2,4").returncode == 0
    done = _run(nnefc, tmp_path, f"{command} model --input-shape x=3,4")
    assert done.returncode == 1
    assert "shape [2,4]; the document says [3,4]" in done.stderr
    (tmp_path / "model" / "a.dat").write_bytes(b"N")
    assert _run(nnefc, tmp_path, f"{command} model").returncode == 1


def test_the_document_of_a_folder_is_its_model(nnefc: Path, model: Path) -> None:
    run = "run {} --random-inputs 1 --compare {}out.npz --tolerance exact"
    assert _run(nnefc, model.parent, run.format("model/graph.nnef", "")).stdout == "y: equal bit for bit\n"
    assert _run(nnefc, model, run.format("graph.nnef", "../")).stdout == "y: equal bit for bit\n"
    # A document with another name has no data.
    (model / "other.nnef").write_text(WEIGHTS, encoding="utf-8")
    assert "comes without tensor files" in _run(nnefc, model, run.format("other.nnef", "../")).stderr
    # The document itself can be named.
    assert _run(nnefc, model, "upgrade graph.nnef -o new.nnef").returncode == 0
    assert (model / "new.nnef").is_file()


def test_data_of_lower_rank_is_upgraded(nnefc: Path, tmp_path: Path) -> None:
    """P 2.5: [2] and [2,1] are the same shape, and a fragment's `shape_of` has at least two items."""
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


LARGE = ("version 1.0;\n\ngraph net( x ) -> ( y )\n{{\n    x = external(shape = [1, 4]);\n"
         "    a = variable(shape = [1, {}], label = 'a');\n    t = slice(a, axes = [1], begin = [0], end = [4]);\n    y = add(x, t);\n}}\n")
PIECE = 1 << 20


class _Repeated(io.RawIOBase):
    """A header, then a block repeated."""

    def __init__(self, header: bytes, piece: bytes) -> None:
        super().__init__()
        self.rest, self.piece = header, piece

    def read(self, size: int = -1) -> bytes:
        while len(self.rest) < size:
            self.rest += self.piece
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken


def _large_archive(path: Path, mode: str, megabytes: int, piece: bytes, **options: int) -> None:
    size = megabytes * PIECE
    header = struct.pack("<4s4I", b"N\xef\1\0", size, 2, 1, size // 4).ljust(44, b"\0") + struct.pack("<2I", 32, 0)
    document = LARGE.format(size // 4).encode()
    with tarfile.open(path, mode, **options) as archive:
        for name, length, content in (("a.dat", 128 + size, _Repeated(header.ljust(128, b"\0"), piece)),
                                      ("graph.nnef", len(document), io.BytesIO(document))):
            member = tarfile.TarInfo(name)
            member.size = length
            archive.addfile(member, content)


@pytest.mark.parametrize("form", ["zeros.tgz", "zeros.tar.xz", "noise.tgz"])
def test_archives_are_not_unpacked_for_what_is_not_looked_at(form: str, nnefc: Path, tmp_path: Path) -> None:
    megabytes = 120
    if form == "zeros.tar.xz":
        _large_archive(tmp_path / form, "w:xz", megabytes, bytes(PIECE), preset=0)
    elif form == "zeros.tgz":
        _large_archive(tmp_path / form, "w:gz", megabytes, bytes(PIECE), compresslevel=1)
    else:  # the size of its content
        _large_archive(tmp_path / form, "w:gz", megabytes, os.urandom(PIECE), compresslevel=0)
    commands = ["check {}"] if form != "zeros.tgz" else ["check {}", "inspect {}", "expand {}", "fmt {}", "lint {}"]
    for command in commands:
        peak = peak_of(nnefc, *command.format(tmp_path / form).split())
        assert peak < 60 << 10 or os.environ.get("NNEFC_SANITIZE") == "ON", (command, peak)
    # It is read completely.
    whole = (tmp_path / form).read_bytes()
    (tmp_path / form).write_bytes(whole[:-30])
    done = _run(nnefc, tmp_path, f"check {form}")
    assert done.returncode == 1 and "[archive.damaged]" in done.stderr, done.stderr


def test_data_of_archives_are_read_by_who_asks_for_them(nnefc: Path, tmp_path: Path) -> None:
    _large_archive(tmp_path / "m.tgz", "w:gz", 1, np.arange(PIECE // 4, dtype=np.float32).tobytes(), compresslevel=1)
    np.savez(tmp_path / "in.npz", x=np.zeros((1, 4), np.float32))
    assert _run(nnefc, tmp_path, "run m.tgz --inputs in.npz -o out.npz").returncode == 0
    assert np.load(tmp_path / "out.npz")["y"].tolist() == [[0, 1, 2, 3]]
    # Otherwise only the slice of the data that the network reads would be written.
    assert _run(nnefc, tmp_path, "compile m.tgz -o net.xml --disable-transformations "
                "middle.FoldConstants,middle.FoldNewConstants").returncode == 0
    assert (tmp_path / "net.bin").stat().st_size >= PIECE
    assert _run(nnefc, tmp_path, "bench m.tgz --iterations 1 --warmup 0").returncode == 0


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_compressed_archives_are_looked_through_to_their_end(mode: str, nnefc: Path, model: Path) -> None:
    """Data after the last file also count: here the zeros at the end of a tar, then the end of the compression."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        archive.add(model, ".")
    packed = {"w:gz": gzip.compress, "w:bz2": bz2.compress, "w:xz": lzma.compress}[mode](plain.getvalue() + bytes(3 * PIECE))
    path = model.parent / "model.tar.packed"
    path.write_bytes(packed)
    assert _run(nnefc, model.parent, f"check {path.name}").stderr == ""
    assert "[archive.too-large]" in _run(nnefc, model.parent, f"check {path.name} --max-bytes {PIECE}").stderr
    for cut in (1, 9, 20):
        path.write_bytes(packed[:-cut])
        done = _run(nnefc, model.parent, f"check {path.name}")
        assert done.returncode == 1 and "[archive.damaged]" in done.stderr, (cut, done.stderr)
    # Only one level of compression is supported.
    path.write_bytes(lzma.compress(packed))
    assert _run(nnefc, model.parent, f"check {path.name}").returncode == 1


@pytest.mark.parametrize("name", ["new.nnef.tgz", "new.tar", "new.tar.gz"])
@pytest.mark.parametrize("command", ["expand", "upgrade"])
def test_archives_are_written(command: str, name: str, nnefc: Path, model: Path) -> None:
    """The archive contains the text and the tensor files of the folder, and computes the same."""
    folder = model.parent
    assert _run(nnefc, folder, f"{command} model -o {name}").returncode == 0
    with tarfile.open(folder / name) as archive:
        held = {member.name: archive.extractfile(member).read() for member in archive.getmembers()}
    assert sorted(held) == ["a.dat", "graph.nnef", "part/b.dat"]
    assert all(held[label] == (model / label).read_bytes() for label in ["a.dat", "part/b.dat"])
    assert _run(nnefc, folder, f"check {name} --strict").returncode == 0
    for path, out in [("model", "old.npz"), (name, "new.npz")]:
        assert _run(nnefc, folder, f"run {path} --random-inputs 1 -o {out}").returncode == 0
    with np.load(folder / "old.npz") as old, np.load(folder / "new.npz") as new:
        np.testing.assert_array_equal(new["y"], old["y"])
    before = (folder / name).read_bytes()
    refused = _run(nnefc, folder, f"{command} model -o {name}")
    assert refused.returncode != 0 and "`--force` replaces it" in refused.stderr
    assert _run(nnefc, folder, f"{command} model -o {name} --force").returncode == 0
    assert (folder / name).read_bytes() == before


@pytest.mark.parametrize("command", ["expand", "upgrade"])
def test_no_archive_is_left_after_an_error(command: str, nnefc: Path, model: Path) -> None:
    (model / "a.dat").write_bytes((model / "a.dat").read_bytes()[:-4])
    names = sorted(path.name for path in model.parent.iterdir())
    done = _run(nnefc, model.parent, f"{command} model -o new.nnef.tgz")
    assert done.returncode == 1 and "a.dat" in done.stderr
    assert sorted(path.name for path in model.parent.iterdir()) == names


def test_a_flat_archive_needs_no_quantization_file(nnefc: Path, model: Path) -> None:
    """`upgrade` writes a `graph.quant`; `expand` refuses a model that has one."""
    (model / "graph.quant").write_text("'t': linear_quantize(min = -1.0, max = 1.0, bits = 8);\n", encoding="utf-8")
    refused = _run(nnefc, model.parent, "expand model -o new.tgz")
    assert refused.returncode != 0 and "`graph.quant`; `upgrade` writes one" in refused.stderr
    assert not (model.parent / "new.tgz").exists()
    assert _run(nnefc, model.parent, "upgrade model -o new.tgz").returncode == 0
    with tarfile.open(model.parent / "new.tgz") as archive:
        assert "graph.quant" in archive.getnames()
