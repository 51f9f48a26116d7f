"""Labels that a ratified document cannot have (1.0.5, 4.1.3: letters, digits, `_-./\\`), of tract's and of provisional documents:
what `upgrade`, `expand`, `convert` and `check --fix` write is strict, keeps distinct labels distinct, and computes the same."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import tract

from models import Nnefc
from tensor_files import write_dat

HEAD = "version 1.0;\n\nextension tract_registry tract_core;\n"
DATA = np.arange(1, 41, dtype=np.float32)[None]
X = np.arange(40, dtype=np.float32)[None]  # data of this size are no literals in converted documents
# Each class of characters that labels of frameworks have; the last ones become equal, or differ in case alone.
LABELS = {
    "colon": ["dense/ReadVariableOp:0"], "blank": ["my weight"], "brackets": ["w[0](1){2}"], "signs": ["a+b=c,d;e"],
    "marks": ["a@b#c%d&e!f?g~h^i|j"], "quotes": ["it's \"w\""], "angles": ["<w>", "a*b"], "dollar": ["$w"],
    "valid": ["azAZ09_-./w"],
    "equal": ["a:b", "a b", "a_b", "a_b_2", "a@b"], "case": ["w", "W", "w:0", "W:0", "w_0"],
    "folders": ["a:b/c", "a b/c", "a_b/c", "a_b"],
}


def quoted(label: str) -> str:
    return "'" + label.replace("\\", "\\\\").replace("'", "\\'") + "'"


def write(folder: Path, labels: list[str], head: str = HEAD) -> np.ndarray:
    """Writes x + w * (1, 10, 100, ..) for variables with the labels; returns the result for X."""
    folder.mkdir()
    end = ";" if head.startswith("version 1.0;") else ""
    kind = "<scalar>" if end else ""
    lines, expected, total = [f"x = external{kind}(shape = [1, 40]){end}"], X.copy(), "x"
    for i, label in enumerate(labels):
        data = DATA * 10**i
        write_dat(folder / f"{label}.dat", data, "R" if end else "P")
        lines += [f"v{i} = variable{kind}(shape = [1, 40], label = {quoted(label)}){end}", f"a{i} = add({total}, v{i}){end}",
                  f"s{i} = max(a{i}, {total}){end}"]  # not folded, and no change: all are positive
        expected, total = expected + data, f"s{i}"
    lines.append(f"y = mul({total}, 2.0){end}")
    (folder / "graph.nnef").write_text(f"{head}\ngraph net( x ) -> ( y )\n{{\n    " + "\n    ".join(lines) + "\n}\n")
    return expected * 2


def labels_of(text: str) -> list[str]:
    return re.findall(r"label = '([^']*)'", text)


def check_written(tool: Nnefc, folder: Path, count: int, expected: np.ndarray, inputs: Path) -> None:
    """The folder is a strict model with `count` distinct labels, has their tensor files, and computes the same."""
    tool.must("check", "--strict", "--werror", folder)
    labels = labels_of((folder / "graph.nnef").read_text())
    assert len({label.lower() for label in labels}) == count
    assert all(re.fullmatch(r"[a-zA-Z0-9_./-]+", label) for label in labels)
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.dat")} == {f"{label}.dat" for label in labels}
    for backend in ("reference", "fast"):
        np.testing.assert_array_equal(tool.run(folder, "--inputs", inputs, "--backend", backend)["y"], expected)


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    np.savez(tmp_path / "in.npz", x=X)
    return tmp_path / "in.npz"


@pytest.mark.parametrize("name", LABELS)
def test_documents_of_tract(name: str, nnefc: Path, tmp_path: Path, inputs: Path) -> None:
    tool, labels = Nnefc(nnefc, tmp_path), LABELS[name]
    model = tmp_path / "model"
    expected = write(model, labels)
    if name != "quotes":  # tract reads no escapes in strings
        np.testing.assert_array_equal(tract.nnef().load(str(model)).into_runnable().run([X])[0].to_numpy(), expected)
    np.testing.assert_array_equal(tool.run(model, "--inputs", inputs)["y"], expected)
    tool.must("upgrade", model, "-o", tmp_path / "upgraded")
    check_written(tool, tmp_path / "upgraded", len(labels), expected, inputs)
    tool.must("convert", model, "-o", tmp_path / "converted")
    check_written(tool, tmp_path / "converted", len(labels), expected, inputs)
    # What expansion prints is what `upgrade` writes; a warning names the first changed label.
    done = tool.call("expand", model)
    assert done.returncode == 0
    assert labels_of(done.stdout) == labels_of((tmp_path / "upgraded" / "graph.nnef").read_text())
    changed = [(old, new) for old, new in zip(labels, labels_of(done.stdout), strict=True) if old != new]
    assert ("[variable.printed-label]" in done.stderr) == bool(changed)
    if changed:
        assert f"label `{changed[0][0]}` is written as `{changed[0][1]}`" in done.stderr


def test_valid_labels_stay(nnefc: Path, tmp_path: Path) -> None:
    write(tmp_path / "model", LABELS["equal"])
    assert labels_of(Nnefc(nnefc, tmp_path).must("expand", tmp_path / "model")) == ["a_b_3", "a_b_4", "a_b", "a_b_2", "a_b_5"]
    write(tmp_path / "case", LABELS["case"])
    assert labels_of(Nnefc(nnefc, tmp_path).must("expand", tmp_path / "case")) == ["w", "W_2", "w_0_2", "W_0_3", "w_0"]


def test_shared_labels_stay_shared(nnefc: Path, tmp_path: Path, inputs: Path) -> None:
    """Two variables of one label have one file before and after."""
    tool, model = Nnefc(nnefc, tmp_path), tmp_path / "model"
    expected = write(model, ["a:b"])
    text = (model / "graph.nnef").read_text()
    (model / "graph.nnef").write_text(text.replace("y = mul(s0, 2.0)", "w = variable<scalar>(shape = [1, 40], label = 'a:b');\n    t = add(s0, w);\n    y = mul(t, 2.0)"))
    tool.must("upgrade", model, "-o", tmp_path / "upgraded")
    check_written(tool, tmp_path / "upgraded", 1, expected + 2 * DATA, inputs)


@pytest.mark.parametrize("name", ["colon", "blank", "equal", "case", "folders"])
def test_provisional_documents(name: str, nnefc: Path, tmp_path: Path, inputs: Path) -> None:
    tool = Nnefc(nnefc, tmp_path)
    expected = write(tmp_path / "model", LABELS[name], "version 1.0\n")
    np.testing.assert_array_equal(tool.run(tmp_path / "model", "--inputs", inputs)["y"], expected)
    tool.must("upgrade", tmp_path / "model", "-o", tmp_path / "upgraded")
    check_written(tool, tmp_path / "upgraded", len(LABELS[name]), expected, inputs)


@pytest.mark.parametrize("command", ["check", "lint"])
@pytest.mark.parametrize("name", ["colon", "blank", "brackets", "signs", "marks", "equal", "folders"])
def test_fixed_documents(name: str, command: str, nnefc: Path, tmp_path: Path, inputs: Path) -> None:
    """`--fix` of a ratified document renames the tensor files with the labels."""
    tool, model = Nnefc(nnefc, tmp_path), tmp_path / "model"
    expected = write(model, LABELS[name], "version 1.0;\n")
    before = sorted(model.rglob("*"))
    assert "[variable.label]" in tool.call("check", model).stderr
    tool.call(command, model, "--fix", "--diff")
    assert sorted(model.rglob("*")) == before
    tool.must(command, model, "--fix")
    check_written(tool, model, len(LABELS[name]), expected, inputs)


def test_fix_of_a_shared_label(nnefc: Path, tmp_path: Path, inputs: Path) -> None:
    tool, model = Nnefc(nnefc, tmp_path), tmp_path / "model"
    expected = write(model, ["a:b", "a_b"], "version 1.0;\n")
    text = (model / "graph.nnef").read_text()
    (model / "graph.nnef").write_text(text.replace("y = mul(s1, 2.0)", "w = variable<scalar>(shape = [1, 40], label = 'a:b');\n    t = add(s1, w);\n    y = mul(t, 2.0)"))
    shutil.copy(model / "a:b.dat", model / "a:b.dat.int8")
    tool.must("check", "--fix", model)
    assert (model / "a_b_2.dat.int8").exists()
    (model / "a_b_2.dat.int8").unlink()
    check_written(tool, model, 2, expected + 2 * DATA, inputs)


def test_fix_keeps_other_files(nnefc: Path, tmp_path: Path) -> None:
    """A file that has the new name is not replaced, and the document stays."""
    tool, model = Nnefc(nnefc, tmp_path), tmp_path / "model"
    write(model, ["a:b"], "version 1.0;\n")
    text = (model / "graph.nnef").read_text()
    (model / "a_b.dat").write_bytes(b"other")
    done = tool.call("check", "--fix", model)
    assert done.returncode == 2 and "would be renamed to it" in done.stderr
    assert (model / "graph.nnef").read_text() == text
    assert (model / "a_b.dat").read_bytes() == b"other" and (model / "a:b.dat").exists()


def test_fix_beside_an_unused_file(nnefc: Path, tmp_path: Path) -> None:
    """A finding without a place in the document does not stop `lint --fix`."""
    tool, model = Nnefc(nnefc, tmp_path), tmp_path / "model"
    write(model, ["a_b"], "version 1.0;\n")
    write_dat(model / "other.dat", DATA)
    assert "other.dat" in tool.call("lint", model, "--fix").stderr
