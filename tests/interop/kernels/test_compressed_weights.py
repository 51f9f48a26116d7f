"""Weights in f16, bf16 or blocks of four bits (Q4_0): matrix multiplications with small and large row counts, lookups
and other readers, against NumPy on the represented numbers, with the processor's widest vectors and without. Also
their memory, and OpenVINO IR with weights in f16."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import numpy as np
import openvino
import openvino.opset13 as ops
import pytest

from models import Nnefc
from peak_memory import peak_of

RANDOM = np.random.default_rng(7)
# For sums of thousands of products in f32.
TOLERANCE = 1e-5


def header(shape: tuple[int, ...], size: int, bits: int, code: int) -> bytes:
    return struct.pack("<4sII8III", b"\x4e\xef\x01\x00", size, len(shape), *shape, *[0] * (8 - len(shape)), bits, code).ljust(128, b"\0")


def write_halves(path: Path, label: str, values: np.ndarray) -> np.ndarray:
    halves = values.astype("<f2")
    (path / f"{label}.dat").write_bytes(header(values.shape, halves.nbytes, 16, 0) + halves.tobytes())
    return halves.astype(np.float64)


def write_bfloats(path: Path, label: str, values: np.ndarray) -> np.ndarray:
    bits = (values.astype("<f4").view("<u4") >> 16).astype("<u2")
    text = json.dumps({label: {"dtype": "BF16", "shape": values.shape, "data_offsets": [0, bits.nbytes]}}).encode()
    (path / "weights.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bits.tobytes())
    return (bits.astype("<u4") << 16).view("<f4").astype(np.float64)


def write_blocks(path: Path, label: str, values: np.ndarray, code: int = 0x54523040) -> np.ndarray:
    """Writes tract.md, section 3: an f16 scale and 32 4-bit codes; a byte of the newer order has items i and i + 16, of
    the older one neighbours."""
    blocks = values.reshape(-1, 32)
    scales = (np.abs(blocks).max(1) / 7 + 1e-6).astype("<f2")
    codes = np.clip(np.round(blocks / scales.astype("f4")[:, None]) + 8, 0, 15).astype("u1")
    pairs = (codes[:, :16], codes[:, 16:]) if code == 0x54523040 else (codes[:, ::2], codes[:, 1::2])
    data = np.concatenate([scales.view("u1").reshape(-1, 2), pairs[0] | pairs[1] << 4], axis=1).tobytes()
    (path / f"{label}.dat").write_bytes(header(values.shape, len(data), 0xFFFFFFFF, code) + data)
    return ((codes.astype(np.float64) - 8) * scales.astype(np.float64)[:, None]).reshape(values.shape)


FORMS = {
    "f16": write_halves,
    "bf16": write_bfloats,
    "q4_0": write_blocks,
    "q4_0_pairs": lambda path, label, values: write_blocks(path, label, values, 0x54522040),
}


def document(inputs: dict[str, tuple[tuple[int, ...], str]], weights: tuple[int, ...], statements: str) -> str:
    lines = [f"{name} = tract_core_external(shape = {list(shape)}, datum_type = '{kind}');" for name, (shape, kind) in inputs.items()]
    lines.append(f"w = variable<scalar>(label = 'w', shape = {list(weights)});")
    body = "".join(f"    {line}\n" for line in [*lines, *statements.splitlines()])
    return f"version 1.0;\nextension tract_registry tract_core;\ngraph net( {', '.join(inputs)} ) -> ( y )\n{{\n{body}}}\n"


def check(tool: Nnefc, folder: Path, inputs: dict[str, np.ndarray], expected: np.ndarray) -> None:
    np.savez(folder.parent / "in.npz", **inputs)
    others = [] if "ONEDNN_MAX_CPU_ISA" in tool.environment else [["--backend", "reference"], ["--threads", "1"]]
    for options in (["--threads", "2"], *others):
        seen = tool.run(folder, "--inputs", folder.parent / "in.npz", *options)["y"]
        assert seen.shape == expected.shape
        scale = max(float(np.max(np.abs(expected), initial=0)), 1e-30)
        assert np.max(np.abs(seen - expected), initial=0) <= TOLERANCE * scale, options


@pytest.fixture(params=["", "AVX2"])
def tool(request: pytest.FixtureRequest, nnefc: Path, tmp_path: Path) -> Nnefc:
    tool = Nnefc(nnefc, tmp_path)
    if request.param:
        tool.environment["ONEDNN_MAX_CPU_ISA"] = request.param
    return tool


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net").mkdir()
    return tmp_path / "net"


SIZES = [(32, 32), (64, 7), (2080, 1120)]  # (terms, outputs) with blocks along the terms
ODD_SIZES = [(1, 1), (33, 70), (1031, 1100)]


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("form", FORMS)
def test_products(form: str, rows: int, tool: Nnefc, folder: Path) -> None:
    sizes = SIZES if form.startswith("q4") else SIZES + ODD_SIZES
    for terms, outputs in sizes:
        for transposed in (True, False):
            if not transposed and form.startswith("q4") and outputs % 32 != 0:
                continue
            shape = (outputs, terms) if transposed else (terms, outputs)
            w = FORMS[form](folder, "w", RANDOM.standard_normal(shape))
            x = RANDOM.standard_normal((rows, terms)).astype("f4")
            (folder / "graph.nnef").write_text(document(
                {"x": (x.shape, "f32")}, shape, "z = linear(x, w, 0.25);\ny = relu(z);" if transposed else "y = matmul(x, w);"))
            z = x.astype(np.float64) @ (w.T if transposed else w)
            check(tool, folder, {"x": x}, np.maximum(z + 0.25, 0) if transposed else z)


@pytest.mark.parametrize("form", FORMS)
def test_blocks_that_lie_across_rows(form: str, tool: Nnefc, folder: Path) -> None:
    """Rows of 24: three blocks are four rows."""
    w = FORMS[form](folder, "w", RANDOM.standard_normal((8, 24)))
    x = RANDOM.standard_normal((2, 24)).astype("f4")
    (folder / "graph.nnef").write_text(document({"x": (x.shape, "f32")}, w.shape, "y = linear(x, w, 0.0);"))
    check(tool, folder, {"x": x}, x.astype(np.float64) @ w.T)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(50, 32), (9, 2, 64), (4, 96)])
def test_lookups(form: str, shape: tuple[int, ...], tool: Nnefc, folder: Path) -> None:
    w = FORMS[form](folder, "w", RANDOM.standard_normal(shape))
    places = RANDOM.integers(0, shape[0], (3, 5))
    (folder / "graph.nnef").write_text(document({"i": (places.shape, "i64")}, shape, "y = tract_core_gather(w, i, axis = 0);"))
    check(tool, folder, {"i": places}, w[places])
    last = RANDOM.integers(0, shape[-1], (4,))
    (folder / "graph.nnef").write_text(document({"i": (last.shape, "i64")}, shape,
                                                f"y = tract_core_gather(w, i, axis = {len(shape) - 1});"))
    check(tool, folder, {"i": last}, np.take(w, last, axis=-1))


def test_a_place_outside_a_table_is_told(tool: Nnefc, folder: Path) -> None:
    write_halves(folder, "w", RANDOM.standard_normal((6, 32)))
    (folder / "graph.nnef").write_text(document({"i": ((2,), "i64")}, (6, 32), "y = tract_core_gather(w, i, axis = 0);"))
    np.savez(folder.parent / "in.npz", i=np.array([3, 6]))
    done = tool.call("run", folder, "--inputs", folder.parent / "in.npz")
    assert done.returncode == 1 and "6" in done.stderr, done.stderr


@pytest.mark.parametrize("form", FORMS)
def test_other_readers(form: str, tool: Nnefc, folder: Path) -> None:
    """A filter, an operand, a slice, a transpose, the weights themselves; the same weights in two nodes."""
    w = FORMS[form](folder, "w", RANDOM.standard_normal((8, 4, 1, 8)))
    x = RANDOM.standard_normal((1, 4, 5, 16)).astype("f4")
    v = np.arange(8, dtype="f4").reshape(1, 8)
    matrix = w.reshape(8, 32)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), 8, axis=3)
    cases = {
        "y = conv(x, w, padding = [(0, 0), (0, 0)]);": np.einsum("nchwk,fck->nfhw", windows, w[:, :, 0]),
        "y = add(w, 1.5);": w + 1.5,
        "y = slice(w, axes = [0, 3], begin = [2, 1], end = [7, 0]);": w[2:7, :, :, 1:],
        "y = copy(w);": w,
        "m = reshape(w, shape = [8, 32]);\nt = transpose(m, axes = [1, 0]);\ny = linear(v, t, 0.0);": v.astype(np.float64) @ matrix,
        "m = reshape(w, shape = [8, 32]);\na = matmul(v, m);\nb = matmul(m, a, transposeB = true);\ny = mul(a, mean_reduce(b, axes = [0]));":
            (v.astype(np.float64) @ matrix) * (matrix @ (v.astype(np.float64) @ matrix).T).mean(0),
    }
    for statements, expected in cases.items():
        (folder / "graph.nnef").write_text(document({"x": (x.shape, "f32"), "v": (v.shape, "f32")}, w.shape, statements))
        check(tool, folder, {"x": x, "v": v}, expected)


SIDE = 6144  # 72 MiB in f16, 144 in f32, 20 in blocks


@pytest.mark.skipif(os.environ.get("NNEFC_SANITIZE") == "ON", reason="sanitizers take memory of their own")
@pytest.mark.parametrize("form, most", [("f16", 72 + 50), ("q4_0", 21 + 50)])
def test_weights_take_what_they_take_in_the_file(form: str, most: int, nnefc: Path, folder: Path) -> None:
    """Allows 50 MiB for everything else; f32 would be 144 MiB."""
    FORMS[form](folder, "w", np.tile(RANDOM.standard_normal((SIDE, 64)), (1, SIDE // 64)))
    np.savez(folder.parent / "in.npz", x=np.ones((1, SIDE), "f4"))
    (folder / "graph.nnef").write_text(document({"x": ((1, SIDE), "f32")}, (SIDE, SIDE), "y = linear(x, w, 0.0);"))
    assert peak_of(nnefc, "run", folder, "--inputs", folder.parent / "in.npz", "-o", folder.parent / "out.npz") < most << 10


def test_openvino_ir_with_weights_in_f16(nnefc: Path, tmp_path: Path) -> None:
    """Constants that a Convert makes f32, as OpenVINO's converters write them; against OpenVINO, and in memory."""
    x = ops.parameter([1, SIDE], np.float32, name="x")
    weights = np.tile(RANDOM.standard_normal((SIDE, 64)).astype("f4"), (1, SIDE // 64)).astype("f2").astype("f4")
    product = ops.matmul(x, ops.constant(weights), False, True)
    model = openvino.Model([ops.relu(product)], [x], "net")
    model.outputs[0].get_tensor().set_names({"y"})
    openvino.save_model(model, tmp_path / "net.xml", compress_to_fp16=True)
    assert (tmp_path / "net.bin").stat().st_size < 80 << 20
    given = RANDOM.standard_normal((1, SIDE)).astype("f4")
    np.savez(tmp_path / "in.npz", x=given)
    expected = openvino.Core().compile_model(str(tmp_path / "net.xml"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([given])[0]
    arguments = ("run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "-o", tmp_path / "out.npz")
    peak = peak_of(nnefc, *arguments)
    seen, = np.load(tmp_path / "out.npz").values()
    np.testing.assert_allclose(seen, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    assert peak < (72 + 50) << 10 or os.environ.get("NNEFC_SANITIZE") == "ON", peak
