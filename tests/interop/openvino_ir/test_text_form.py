"""The text form of a graph with weights can be read: `net.ir`, and `net.bin` next to it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

DOCUMENT = ("version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 100]);\n"
            "    w = variable(shape = [20, 100], label = 'w');\n    b = variable(shape = [1, 20], label = 'b');\n"
            "    v = variable(shape = [30, 20], label = 'v');\n    t = linear(x, w, b);\n    y = linear(t, v);\n}\n")
NETWORK = Path(__file__).resolve().parent.parent.parent / "networks" / "lstm_scan.nnef"


def _run(nnefc: Path, folder: Path, line: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(nnefc), *line.split()], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture(name="folder")
def _folder(nnefc: Path, tmp_path: Path) -> Path:
    (tmp_path / "net.nnef").write_text(DOCUMENT, encoding="utf-8")
    _run(nnefc, tmp_path, "run net.nnef --random-weights 7 --random-inputs 1 -o out.npz")
    _run(nnefc, tmp_path, "compile net.nnef --random-weights 7 -o net.ir")
    return tmp_path


def test_it_computes_the_same(nnefc: Path, folder: Path) -> None:
    done = _run(nnefc, folder, "run net.ir --random-inputs 1 --compare out.npz --tolerance exact")
    assert done.stdout == "y: equal bit for bit\n"
    # Printed again it is the same; the elements of the two large constants are in the other file.
    _run(nnefc, folder, "compile net.ir -o again.ir")
    assert (folder / "again.ir").read_bytes() == (folder / "net.ir").read_bytes()
    assert (folder / "again.bin").read_bytes() == (folder / "net.bin").read_bytes()
    assert 4 * (20 * 100 + 30 * 20) <= (folder / "net.bin").stat().st_size < 4 * (20 * 100 + 30 * 20) + 128
    text = (folder / "net.ir").read_text(encoding="utf-8")
    assert text.count(" @") == 2
    _run(nnefc, folder, "compile net.ir -o net.xml")
    done = _run(nnefc, folder, "run net.xml --random-inputs 1 --compare out.npz --tolerance exact")
    assert done.stdout == "y: equal bit for bit\n"


def test_bodies_too(nnefc: Path, tmp_path: Path) -> None:
    _run(nnefc, tmp_path, f"run {NETWORK} --random-weights 1 --random-inputs 1 -o out.npz")
    _run(nnefc, tmp_path, f"compile {NETWORK} --random-weights 1 -o net.ir")
    _run(nnefc, tmp_path, "run net.ir --random-inputs 1 --compare out.npz --tolerance exact")


def test_what_is_wrong_is_told_once(nnefc: Path, folder: Path) -> None:
    whole = (folder / "net.bin").read_bytes()

    def told() -> str:
        stderr = _run(nnefc, folder, "check net.ir", code=1).stderr
        assert stderr.count("error:") == 1
        return stderr

    (folder / "net.bin").write_bytes(whole[:-4])
    assert "the elements lie outside of the `.bin` file" in told()
    (folder / "net.bin").write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    assert "the files do not belong together" in told()
    (folder / "net.bin").unlink()
    assert "they stand in the `.bin` file of the same name" in told()
    # Standard output is a single stream.
    (folder / "net.ir").write_text(_run(nnefc, folder, "compile net.nnef --random-weights 7").stdout, encoding="utf-8")
    assert "`compile -o net.ir` keeps in `net.bin`" in told()


def test_a_graph_without_data(nnefc: Path, folder: Path) -> None:
    (folder / "net.ir").unlink()
    (folder / "net.bin").unlink()
    _run(nnefc, folder, "compile net.nnef -o net.ir")
    assert not (folder / "net.bin").exists()
    _run(nnefc, folder, "check net.ir")
    for options in ("", " --random-weights 1"):
        stderr = _run(nnefc, folder, f"run net.ir --random-inputs 1{options}", code=1).stderr
        assert stderr.count("error:") == 1
        assert "and neither have 2 more" in stderr or "and neither has" in stderr


def test_data_of_inputs(nnefc: Path, tmp_path: Path) -> None:
    """The message for a wrong shape names the repair, a single input needs no name, and types are converted by one rule
    in all files."""
    (tmp_path / "net.nnef").write_text("version 1.0;\ngraph net( x ) -> ( y ) { x = external(shape = [1, 3, 8, 9]); y = relu(x); }\n",
                                       encoding="utf-8")
    for shape, told in (((4, 3, 8, 9), "`--input-shape x=4,3,8,9` makes the graph for that batch"),
                        ((1, 8, 9, 3), "`x.transpose(0, 3, 1, 2)` in NumPy"), ((3, 8, 9), "`x[None]` in NumPy"),
                        ((1, 3, 5, 5), "`--input-shape x=1,3,5,5` makes the graph for that shape"), ((9,), "expected [1,3,8,9] [input.shape]")):
        np.save(tmp_path / "x.npy", np.zeros(shape, np.float32))
        assert told in _run(nnefc, tmp_path, "run net.nnef --input x.npy", code=1).stderr
    np.save(tmp_path / "x.npy", np.zeros((4, 3, 8, 9), np.float32))
    _run(nnefc, tmp_path, "run net.nnef --input x.npy --input-shape x=4,3,8,9")
    _run(nnefc, tmp_path, "compile net.nnef -o net.xml")
    assert "--input-shape" not in _run(nnefc, tmp_path, "run net.xml --input x.npy", code=1).stderr
    np.savez(tmp_path / "x.npz", np.zeros((1, 3, 8, 9)))
    _run(nnefc, tmp_path, "run net.nnef --inputs x.npz")


@pytest.mark.parametrize("type_name", ["float16", "float32", "float64", "int32", "uint8", "int64"])
@pytest.mark.parametrize("wanted", ["scalar", "integer"])
def test_types_of_inputs(type_name: str, wanted: str, nnefc: Path, tmp_path: Path) -> None:
    operation = "relu(x)" if wanted == "scalar" else "copy(x)"
    (tmp_path / "net.nnef").write_text(
        f"version 1.0;\ngraph net( x ) -> ( y ) {{ x = external<{wanted}>(shape = [1, 3]); y = {operation}; }}\n", encoding="utf-8")
    data = np.array([[1, 2, 3]], type_name)
    np.save(tmp_path / "x.npy", data)
    np.savez(tmp_path / "x.npz", x=data)
    item_type = {"f": 0, "u": 1, "i": 4}[data.dtype.kind]
    header = b"N\xef\x01\x00" + np.array([data.nbytes, 2, 1, 3, 0, 0, 0, 0, 0, 0, data.itemsize * 8, item_type], "<u4").tobytes()
    (tmp_path / "x.dat").write_bytes(header.ljust(128, b"\0") + data.tobytes())
    same_kind = (data.dtype.kind == "f") == (wanted == "scalar")
    for option in ("--input x.npy", "--inputs x.npz", "--input x.dat"):
        done = _run(nnefc, tmp_path, f"run net.nnef {option}", code=0 if same_kind else 1)
        if same_kind:
            assert "min 1, mean 2, max 3" in done.stdout
        else:
            assert f"the data of input `x` are of type {data.dtype.kind}" in done.stderr
