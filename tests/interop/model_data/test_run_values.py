"""Output of `run` other than the results: intermediate values, generated inputs and weights, comparisons."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

# `dead` has no reader and is not computed; the fragment's `t` has the name that `expand` prints.
DOCUMENT = """version 1.0;
extension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;
fragment twice( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { t = x + x; y = t * t; }
graph net( x ) -> ( y, s )
{
    x = external(shape = [3, 4]);
    w = variable(shape = [3, 4], label = 'part/w');
    a = x + w;
    dead = exp(a);
    b = twice(a);
    [left, right] = split(b, axis = 1, ratios = [1, 1]);
    y = left - right;
    s = sum_reduce(y, axes = [1]);
}
""".replace("definitions, KHR", "definitions KHR")


def _run(nnefc: Path, folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(nnefc), *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    (tmp_path / "net.nnef").write_text(DOCUMENT, encoding="utf-8")
    return tmp_path


def _formulas(x: np.ndarray, w: np.ndarray) -> dict[str, np.ndarray]:
    a = x + w
    t = a + a
    b = t * t
    left, right = b[:, :2], b[:, 2:]
    y = left - right
    return {"a": a, "b_t": t, "b": b, "left": left, "right": right, "y": y, "s": y.sum(axis=1, keepdims=True)}


def _saved(nnefc: Path, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Returns the input and the variable that the seeds generate, from the files that `run` saves."""
    _run(nnefc, folder, "run", "net.nnef", "--random-weights", "3", "--random-inputs", "5", "--save-inputs", "in.npz",
         "--save-weights", "model", "-o", "out.npz")
    data = (folder / "model" / "part" / "w.dat").read_bytes()
    return np.load(folder / "in.npz")["x"], np.frombuffer(data[128:], np.float32).reshape(3, 4)


@pytest.mark.parametrize("backend", ["reference", "fast"])
def test_dump_all(backend: str, nnefc: Path, folder: Path) -> None:
    values = _formulas(*_saved(nnefc, folder))
    done = _run(nnefc, folder, "run", "model", "--inputs", "in.npz", "--backend", backend, "--dump", "all", "-o", "all.npz")
    assert done.stdout == ""
    written = np.load(folder / "all.npz")
    assert set(written.files) == set(values)
    for name, value in values.items():
        np.testing.assert_allclose(written[name], value, rtol=1e-6, atol=1e-6)
    shown = _run(nnefc, folder, "run", "model", "--inputs", "in.npz", "--dump", "all").stdout
    # The order of computation, with the outputs last.
    names = [line.split()[0] for line in shown.splitlines() if not line.startswith(" ")]
    assert names == ["a", "b_t", "b", "left", "right", "y", "s"]


def test_dump_some(nnefc: Path, folder: Path) -> None:
    x, w = _saved(nnefc, folder)
    run = ["run", "model", "--inputs", "in.npz"]
    _run(nnefc, folder, *run, "--dump", "right,b_t", "--dump", "w,x,y", "-o", "some.npz")
    written = np.load(folder / "some.npz")
    assert set(written.files) == {"right", "b_t", "w", "x", "y", "s"}
    np.testing.assert_array_equal(written["w"], w)
    np.testing.assert_array_equal(written["x"], x)
    report = json.loads(_run(nnefc, folder, *run, "--dump", "b_t", "--format", "json").stdout)
    assert [value["name"] for value in report["values"]] == ["b_t"]
    assert report["values"][0]["max"] == pytest.approx(float(_formulas(x, w)["b_t"].max()))
    for name, told in (("dead", "no output depends on it"), ("lefd", "did you mean `left`?"), ("nonsense", "`nnefc expand` prints")):
        assert told in _run(nnefc, folder, *run, "--dump", name, code=2).stderr


def test_dump_of_openvino(nnefc: Path, folder: Path) -> None:
    x, w = _saved(nnefc, folder)
    _run(nnefc, folder, "compile", "model", "-o", "net.xml")
    _run(nnefc, folder, "run", "net.xml", "--inputs", "in.npz", "--dump", "all", "-o", "all.npz")
    values = _formulas(x, w)
    written = np.load(folder / "all.npz")
    assert set(values) <= set(written.files)
    for name, value in values.items():
        np.testing.assert_allclose(written[name], value, rtol=1e-6, atol=1e-6)
    assert "`nnefc inspect` prints" in _run(nnefc, folder, "run", "net.xml", "--inputs", "in.npz", "--dump", "nonsense", code=2).stderr


def test_what_is_saved_makes_the_same(nnefc: Path, folder: Path) -> None:
    _saved(nnefc, folder)
    done = _run(nnefc, folder, "run", "model", "--inputs", "in.npz", "--compare", "out.npz", "--tolerance", "exact")
    assert done.stdout == "y: equal bit for bit\ns: equal bit for bit\n"
    again = ["run", "net.nnef", "--random-weights", "3", "--random-inputs", "5"]
    assert "name a folder that is new or empty" in _run(nnefc, folder, *again, "--save-weights", "model", code=2).stderr
    assert "writes an `.npz`" in _run(nnefc, folder, *again, "--save-inputs", "in.txt", code=2).stderr
    _run(nnefc, folder, "compile", "model", "-o", "net.xml")
    assert "is for NNEF documents" in _run(nnefc, folder, "run", "net.xml", "--random-inputs", "1", "--save-weights", "m2", code=2).stderr
    _run(nnefc, folder, "run", "net.nnef", "--random-inputs", "5", "--save-weights", "m3", code=1)
    assert not (folder / "m3").exists()


COPY = "version 1.0;\ngraph net( x ) -> ( y ) { x = external(shape = [3, 4]); y = copy(x); }\n"


def _compare(nnefc: Path, folder: Path, actual: np.ndarray, expected: np.ndarray, *options: str) -> tuple[int, str]:
    """Runs `--compare` on a graph whose output is `actual`."""
    (folder / "copy.nnef").write_text(COPY, encoding="utf-8")
    np.save(folder / "x.npy", actual.astype(np.float32))
    np.savez(folder / "expected.npz", y=expected.astype(np.float32))
    done = subprocess.run([str(nnefc), "run", "copy.nnef", "--input", "x.npy", "--compare", "expected.npz", *options], cwd=folder,
                          capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def test_bounds_of_elements(nnefc: Path, tmp_path: Path) -> None:
    expected = np.arange(12.0).reshape(3, 4)
    rng = np.random.default_rng(1)
    for _ in range(20):
        actual = (expected + rng.normal(0, 0.01, (3, 4)) * rng.integers(0, 2, (3, 4))).astype(np.float32)
        absolute, relative = rng.choice([0, 0.001, 0.02]), rng.choice([0, 0.0005, 0.01])
        excess = np.abs(actual.astype(float) - expected) - absolute - relative * np.abs(expected)
        code, told = _compare(nnefc, tmp_path, actual, expected, "--atol", str(absolute), "--rtol", str(relative))
        assert code == int((excess > 0).any()), told
        if code:
            worst = ",".join(str(i) for i in np.unravel_index(excess.argmax(), excess.shape))
            assert f"y: {(excess > 0).sum()} of 12 elements" in told
            assert f"the worst is [{worst}]" in told


def test_not_a_number_is_told(nnefc: Path, tmp_path: Path) -> None:
    expected = np.arange(12.0).reshape(3, 4)
    actual = expected.copy()
    actual[1, 2] = actual[2, 3] = np.nan
    for options in ([], ["--tolerance", "very"], ["--tolerance", "exact"], ["--atol", "100"]):
        code, told = _compare(nnefc, tmp_path, actual, expected, *options)
        assert code == 1
        assert "y: NaN where a number is expected: 2 elements, the first at [1,2]" in told
        code, told = _compare(nnefc, tmp_path, expected, actual, *options)
        assert code == 1
        assert "y: a number where NaN is expected: 2 elements, the first at [1,2]" in told
        assert _compare(nnefc, tmp_path, actual, actual, *options)[0] == 0


def test_a_nan_has_no_sign(nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "log.nnef").write_text(
        "version 1.0;\ngraph g( x ) -> ( y ) { x = external(shape = [1, 3]); y = log(x); }\n", encoding="utf-8")
    np.save(tmp_path / "x.npy", np.array([[-1, np.nan, 1]], np.float32))
    for backend in ("reference", "fast"):
        told = _run(nnefc, tmp_path, "run", "log.nnef", "--input", "x.npy", "--backend", backend).stdout
        assert told.startswith("y f32[1,3]: min nan, mean nan, max nan, 2 not finite; top [2] 0"), told
        assert "-nan" not in told


def test_places_of_the_highest(nnefc: Path, tmp_path: Path) -> None:
    expected = np.array([[4, 3, 2, 1], [1, 2, 3, 4], [4, 1, 2, 3]])
    actual = expected + np.array([[0, 2, 0, 0], [0, 0, 0, 0], [0, 4, 0, 0]])
    assert _compare(nnefc, tmp_path, actual, expected, "--top", "2") == \
        (1, "y: max|a-b| / max|b| = 1\ny: the worst is [2,1]: 5, expected 1\n"
            "y: the places of the 2 highest agree in 2 of 3 rows; row 2 has [1] [0], expected [0] [3]\n")
    code, told = _compare(nnefc, tmp_path, actual, expected, "--top", "1")
    assert code == 1
    assert "agree in 1 of 3 rows; row 0 has [1], expected [0]" in told
    assert _compare(nnefc, tmp_path, actual, expected, "--top", "4")[0] == 0
    # Values count again if a bound is requested.
    assert _compare(nnefc, tmp_path, actual, expected, "--top", "4", "--atol", "1")[0] == 1
    assert _compare(nnefc, tmp_path, actual, expected, "--top", "4", "--tolerance", "approximate")[0] == 1


@pytest.mark.parametrize(("options", "told"), [
    (["--atol", "1"], "`--atol` needs `--compare`"), (["--top", "1"], "`--top` needs `--compare`"),
    (["--compare", "expected.npz", "--atol", "1", "--tolerance", "exact"], "exclude each other"),
    (["--compare", "expected.npz", "--rtol", "-1"], "expected a number such as 1e-5, not `-1`"),
    (["--compare", "expected.npz", "--top", "0"], "expected an integer from 1 to 1000")])
def test_misuse(options: list[str], told: str, nnefc: Path, folder: Path) -> None:
    assert told in _run(nnefc, folder, "run", "net.nnef", *options, code=2).stderr


def test_the_highest_are_told_by_row(nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.nnef").write_text(COPY, encoding="utf-8")
    np.save(tmp_path / "x.npy", np.array([[4, 3, 2, 1], [1, 2, 3, 4], [4, 1, 2, 3]], np.float32))
    told = _run(nnefc, tmp_path, "run", "copy.nnef", "--input", "x.npy").stdout
    assert told.splitlines()[1:] == ["  row 0: top [0] 4 [1] 3 [2] 2 [3] 1", "  row 1: top [3] 4 [2] 3 [1] 2 [0] 1",
                                     "  row 2: top [0] 4 [3] 3 [2] 2 [1] 1"]
    rows = json.loads(_run(nnefc, tmp_path, "run", "copy.nnef", "--input", "x.npy", "--format", "json").stdout)["outputs"][0]["rows"]
    assert [row["top"][0] for row in rows] == [{"index": 0, "value": 4.0}, {"index": 3, "value": 4.0}, {"index": 0, "value": 4.0}]


def test_one_array_is_no_archive_of_inputs(nnefc: Path, folder: Path) -> None:
    np.save(folder / "in.npy", np.zeros((3, 4), np.float32))
    told = _run(nnefc, folder, "run", "net.nnef", "--random-weights", "1", "--inputs", "in.npy", code=2).stderr
    assert "`--inputs` takes an .npz; the data of one input are given by `--input x=in.npy`" in told
    _run(nnefc, folder, "run", "net.nnef", "--random-weights", "1", "--input", "x=in.npy")
