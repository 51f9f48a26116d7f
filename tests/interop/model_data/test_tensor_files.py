"""Tensor files against their reference implementations: the package `nnef` (.dat), NumPy (.npy, .npz), in both
directions."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import nnef
import numpy as np
import pytest

from models import Nnefc

TYPES = ["float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
         "bool"]
SHAPES = [(), (1,), (3,), (7,), (9, 1), (2, 3), (2, 3, 4), (2, 1, 3, 1, 2, 1, 1, 2)]
# Languages and files distinguish more types than documents do.
KINDS = {"f": ("scalar", np.float32), "i": ("integer", np.int64), "u": ("integer", np.int64),
         "b": ("logical", np.bool_)}


def _tensors(name: str) -> dict[str, np.ndarray]:
    """Returns a tensor of each shape, with the extremes of the type among its items."""
    random, dtype = np.random.default_rng(3), np.dtype(name)

    def items(shape: tuple[int, ...]) -> np.ndarray:
        if dtype.kind == "f":
            return random.standard_normal(shape)
        if dtype.kind == "b":
            return random.random(shape) < 0.5
        low, high = np.iinfo(dtype).min, min(np.iinfo(dtype).max, np.iinfo(np.int64).max)
        data = np.array(random.integers(low, high, shape, np.int64, endpoint=True))
        data.reshape(-1)[:2] = [low, high][:data.size]
        return data

    return {f"t{i}": np.array(items(shape)).astype(dtype) for i, shape in enumerate(SHAPES)}


def _document(tensors: dict[str, np.ndarray], source: str, provisional: bool = False) -> str:
    """Returns a graph that copies each tensor, `external` or `variable`, to a separate result."""
    lines = []
    for name, data in tensors.items():
        label = f", label = 'part/{name}'" if source == "variable" else ""
        generic = "" if provisional else f"<{KINDS[data.dtype.kind][0]}>"
        lines += [f"{name} = {source}{generic}(shape = {list(data.shape)}{label})",
                  f"{name}_out = {'idn' if provisional else 'copy'}({name})"]
    inputs, outputs = list(tensors), [f"{name}_out" for name in tensors]
    if source == "variable":  # a graph needs an input and a reader of it
        inputs, outputs = ["x"], [*outputs, "y"]
        lines += ["x = external(shape = [1])", "y = relu(x)"]
    end = "" if provisional else ";"
    body = "".join(f"    {line}{end}\n" for line in lines)
    return f"version 1.0{end}\ngraph net( {', '.join(inputs)} ) -> ( {', '.join(outputs)} )\n{{\n{body}}}\n"


def _assert_read(outputs: dict[str, np.ndarray], tensors: dict[str, np.ndarray]) -> None:
    for name, data in tensors.items():
        actual = outputs[f"{name}_out"]
        expected = data.astype(KINDS[data.dtype.kind][1])
        assert actual.dtype == expected.dtype and actual.shape == expected.shape, name
        assert np.array_equal(actual, expected), name


@pytest.fixture
def tool(nnefc: Path, tmp_path: Path) -> Nnefc:
    return Nnefc(nnefc, tmp_path)


@pytest.mark.parametrize("name", TYPES)
def test_variables_of_the_package(tool: Nnefc, tmp_path: Path, name: str) -> None:
    tensors = _tensors(name)
    (tmp_path / "model" / "part").mkdir(parents=True)
    (tmp_path / "model" / "graph.nnef").write_text(_document(tensors, "variable"))
    for key, data in tensors.items():
        with (tmp_path / "model" / "part" / f"{key}.dat").open("wb") as file:
            nnef.write_tensor(file, data)
    _assert_read(tool.run(tmp_path / "model", "--random-inputs", 1), tensors)


def _write_dat(path: Path, data: np.ndarray) -> None:
    with path.with_suffix(".dat").open("wb") as file:
        nnef.write_tensor(file, data)


def _write_version(version: tuple[int, int]) -> Callable[[Path, np.ndarray], None]:
    def write(path: Path, data: np.ndarray) -> None:
        with path.with_suffix(".npy").open("wb") as file:
            np.lib.format.write_array(file, data, version=version)
    return write


FORMS: dict[str, Callable[[Path, np.ndarray], None]] = {
    "dat": _write_dat,
    "c_order": lambda path, data: np.save(path.with_suffix(".npy"), data),
    # asfortranarray adds an axis to a scalar.
    "fortran_order": lambda path, data: np.save(path.with_suffix(".npy"), np.asfortranarray(data) if data.ndim else data),
    "big_endian": lambda path, data: np.save(path.with_suffix(".npy"), data.astype(data.dtype.newbyteorder(">"))),
    "version_2": _write_version((2, 0)),
    "version_3": _write_version((3, 0)),
}


@pytest.mark.parametrize("name", TYPES)
def test_inputs(tool: Nnefc, tmp_path: Path, name: str) -> None:
    tensors = _tensors(name)
    document = tmp_path / "net.nnef"
    document.write_text(_document(tensors, "external"))
    for form, write in FORMS.items():
        options: list[object] = []
        for key, data in tensors.items():
            write(tmp_path / key, data)
            options += ["--input", f"{key}={tmp_path / key}{'.dat' if form == 'dat' else '.npy'}"]
        _assert_read(tool.run(document, *options), tensors)
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "inputs.npz", **tensors)
        _assert_read(tool.run(document, "--inputs", tmp_path / "inputs.npz"), tensors)


REFUSED = {
    "objects": (np.array([1, None, "a"], dtype=object), "npy.type"),
    "records": (np.zeros(3, dtype=[("a", "f4"), ("b", "i4")]), "npy.header"),
    "complex": (np.zeros(3, np.complex64), "npy.type"),
    "texts": (np.array(["a", "b", "c"]), "npy.type"),
    "dates": (np.zeros(3, "M8[s]"), "npy.type"),
    "raw": (np.zeros(3, "V4"), "npy.type"),
    "wide": (np.zeros(3, np.longdouble), "npy.type"),
    "empty": (np.zeros(0, np.float32), "input.shape"),
    "other_kind": (np.zeros(3, np.int32), "input.type"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(tool: Nnefc, tmp_path: Path, case: str) -> None:
    data, rule = REFUSED[case]
    document = tmp_path / "net.nnef"
    document.write_text("version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [3]);\n    y = copy(x);\n}\n")
    np.save(tmp_path / "x.npy", data, allow_pickle=True)
    np.savez(tmp_path / "x.npz", x=data)
    for options in (["--input", f"x={tmp_path / 'x.npy'}"], ["--inputs", tmp_path / "x.npz"]):
        done: subprocess.CompletedProcess[str] = tool.call("run", document, *options)
        assert done.returncode == 1 and done.stderr.strip().endswith(f"[{rule}]"), done.stderr
        assert done.stderr.count("error:") == 1, done.stderr


def test_upgraded_files(tool: Nnefc, tmp_path: Path) -> None:
    """The package reads the output of `upgrade` for a provisional model, with the original values."""
    tensors = {key: data for key, data in _tensors("float32").items() if data.ndim}
    (tmp_path / "old" / "part").mkdir(parents=True)
    (tmp_path / "old" / "graph.nnef").write_text(_document(tensors, "variable", provisional=True))
    for key, data in tensors.items():
        with (tmp_path / "old" / "part" / f"{key}.dat").open("wb") as file:
            nnef.binary._write_tensor_provisional(file, data)  # the package's only writer of that layout
    _assert_read(tool.run(tmp_path / "old", "--random-inputs", 1), tensors)
    tool.must("upgrade", tmp_path / "old", "-o", tmp_path / "new")
    for key, data in tensors.items():
        with (tmp_path / "new" / "part" / f"{key}.dat").open("rb") as file:
            read = nnef.read_tensor(file)
        assert read.dtype == data.dtype and read.shape == data.shape and np.array_equal(read, data), key
    graph = nnef.load_graph(str(tmp_path / "new"))
    assert all(np.array_equal(graph.tensors[key].data, data) for key, data in tensors.items())


@pytest.mark.parametrize("item_type, apart", [(0x54523040, 16), (0x54522040, 1)])
def test_blocks_of_four_bits_are_read(nnefc: Path, tmp_path: Path, item_type: int, apart: int) -> None:
    """tract's Q4_0: blocks of 32 items, a scale (f16) and 16 bytes of two codes each; an item is (code - 8) * scale."""
    random = np.random.default_rng(4)
    codes = random.integers(0, 16, (6, 32), np.uint8)
    scales = random.normal(0, 0.1, 6).astype(np.float16)
    low, high = (codes[:, :16], codes[:, 16:]) if apart == 16 else (codes[:, ::2], codes[:, 1::2])
    data = np.concatenate([scales[:, None].view(np.uint8), low | high << 4], axis=1).tobytes()
    header = struct.pack("<4sII8III", b"\x4e\xef\x01\x00", len(data), 2, 3, 64, *[0] * 6, 0xffffffff, item_type)
    (tmp_path / "w.dat").write_bytes(header.ljust(128, b"\0") + data)
    (tmp_path / "graph.nnef").write_text(
        "version 1.0;\nextension tract_registry tract_core;\ngraph net(x) -> (y)\n{\n    x = external(shape = [2, 64]);\n"
        "    w = variable(shape = [3, 64], label = 'w');\n    y = linear(x, w);\n}\n")
    x = random.standard_normal((2, 64)).astype(np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    command = [nnefc, "run", tmp_path, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz"]
    subprocess.run(command, check=True, capture_output=True)
    weights = ((codes.astype(np.float64) - 8) * scales[:, None].astype(np.float64)).reshape(3, 64)
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], x @ weights.T, atol=1e-5)
