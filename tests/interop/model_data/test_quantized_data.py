"""Variables whose tensor files have quantized values: graph.quant defines their meaning (R 5.2, 5.3).

Expected values are the formulas of R 4.9.5 (y for the code q) and, for logarithmic codes, of R 5.2, in NumPy.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

SHAPE = (2, 3, 4)
GRAPH = """version 1.0;

graph test( input ) -> ( output )
{
    input = external(shape = [2, 3, 4]);
    weights = variable(shape = [2, 3, 4], label = 'layer/Weights');
    output = add(input, weights);
}
"""
QUANTIZED = {False: 2, True: 3}  # item types of R 5.2, by sign


def pack(codes: np.ndarray, bits: int) -> bytes:
    """Returns codes as bits, the first in the highest bits of a byte; whole bytes are little-endian (R 5.2)."""
    masked = codes.astype(np.int64).ravel() & ((1 << bits) - 1)
    if bits % 8 == 0:
        return b"".join(int(code).to_bytes(bits // 8, "little") for code in masked)
    text = "".join(f"{code:0{bits}b}" for code in masked)
    text += "0" * (-len(text) % 8)
    return bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))


def dat(codes: np.ndarray, bits: int, signed: bool) -> bytes:
    data = pack(codes, bits)
    extents = list(codes.shape) + [0] * (8 - codes.ndim)
    header = struct.pack("<4sII8III", b"\x4e\xef\x01\x00", len(data), codes.ndim, *extents, bits,
                         QUANTIZED[signed])
    return header.ljust(128, b"\0") + data


def run(nnefc: Path, folder: Path, codes: np.ndarray, bits: int, signed: bool,
        quant: str, *options: str) -> subprocess.CompletedProcess:
    (folder / "layer").mkdir()
    (folder / "graph.nnef").write_text(GRAPH)
    (folder / "graph.quant").write_text(quant)
    (folder / "layer" / "Weights.dat").write_bytes(dat(codes, bits, signed))
    np.savez(folder / "in.npz", input=np.zeros(SHAPE, np.float32))
    return subprocess.run([nnefc, "run", folder, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", *options],
                          capture_output=True, text=True, check=False)


def linear(codes: np.ndarray, low: np.ndarray, high: np.ndarray, bits: int, signed: bool,
           symmetric: bool) -> np.ndarray:
    r = 2**bits - 1 - int(signed and symmetric)
    p = 2**(bits - 1) - int(symmetric) if signed else 0
    return (codes + p) / r * (high - low) + low


def codes_of(bits: int, signed: bool, symmetric: bool = False) -> np.ndarray:
    low = -(2**(bits - 1)) + int(symmetric) if signed else 0
    high = 2**(bits - 1) - 1 if signed else 2**bits - 1
    codes = np.random.default_rng(bits).integers(low, high, size=SHAPE, endpoint=True)
    codes.flat[0], codes.flat[-1] = low, high
    return codes


# One bit with a sign and a symmetric range has no step.
@pytest.mark.parametrize("bits, signed, symmetric", [
    (bits, signed, symmetric) for bits in (1, 3, 4, 8, 12, 16) for signed in (False, True)
    for symmetric in (False, True) if not (bits == 1 and signed and symmetric)])
def test_min_max(nnefc: Path, tmp_path: Path, bits: int, signed: bool, symmetric: bool) -> None:
    codes = codes_of(bits, signed, symmetric)
    done = run(nnefc, tmp_path, codes, bits, signed,
               f'"weights": min_max_linear_quantize(min = -1.5, max = 2.0, bits = {bits}, '
               f"signed = {str(signed).lower()}, symmetric = {str(symmetric).lower()});\n")
    assert done.returncode == 0, done.stderr
    expected = linear(codes, np.float64(-1.5), np.float64(2.0), bits, signed, symmetric)
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["output"], expected, rtol=1e-6, atol=1e-6)


def test_ranges_of_channels(nnefc: Path, tmp_path: Path) -> None:
    """Nested arrays align on the left, and compile-time expressions are evaluated (R 5.3)."""
    codes = codes_of(8, False)
    done = run(nnefc, tmp_path, codes, 8, False,
               '"weights": linear_quantize(min = [[-1.0, -2.0, -4.0]], max = [[2.0 ^ 3.0], [0.5]], '
               "bits = 4 + 4);\n")
    assert done.returncode == 0, done.stderr
    low = np.array([-1.0, -2.0, -4.0]).reshape(1, 3, 1)
    high = np.array([8.0, 0.5]).reshape(2, 1, 1)
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["output"],
                               linear(codes, low, high, 8, False, False), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("signed", [False, True])
def test_zero_point(nnefc: Path, tmp_path: Path, signed: bool) -> None:
    codes = codes_of(8, signed)
    done = run(nnefc, tmp_path, codes, 8, signed,
               '"weights": zero_point_linear_quantize(zero_point = [[3], [-7]], scale = 0.125, bits = 8, '
               f"signed = {str(signed).lower()}, symmetric = false);\n")
    assert done.returncode == 0, done.stderr
    expected = (codes - np.array([3, -7]).reshape(2, 1, 1)) * 0.125
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["output"], expected, rtol=1e-6)


def test_logarithmic(nnefc: Path, tmp_path: Path) -> None:
    codes = codes_of(4, False)
    done = run(nnefc, tmp_path, codes, 4, False, '"weights": logarithmic_quantize(max = 3.0, bits = 4);\n')
    assert done.returncode == 0, done.stderr
    m, r = np.ceil(np.log2(3.0)), 2**4 - 1
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["output"], 2.0**(codes + m - r), rtol=1e-6)


@pytest.mark.parametrize("quant, message", [
    ("", "dat.no-quantization"),
    ('"output": linear_quantize(min = 0.0, max = 1.0, bits = 8);', "dat.no-quantization"),
    ('"weights": linear_quantize(min = [1.0, 2.0, 3.0], max = 9.0, bits = 8);', "graph.quant:1:34: error"),
    ('"weights": linear_quantize(min = 0.0, max = 1.0 / 0.0, bits = 8);', "arithmetic.division-by-zero"),
    ('"weights": linear_quantize(min = [[1.0] * i for i in [1, 2]], max = 9.0, bits = 8);', "graph.quant:1:34: error"),
    ('"weights": linear_quantize(min = [[[0.0] * 100000] * 100000] * 100000, max = 9.0, bits = 8);',
     "limit.items"),
    ('"weights": linear_quantize(min = 0.0, max = 1.0, bits = 65);', "65 bits"),
    ('"weights": linear_quantize(min = 2.0, max = 1.0, bits = 8);', "dat.range"),
    ('"weights": linear_quantize(min = 0.0, max = 1.0, bits = 4);', "dat.index"),
    ('"weights": leaky_relu(alpha = 0.5);', "quantization.custom"),
], ids=range(10))
def test_what_cannot_be_read(nnefc: Path, tmp_path: Path, quant: str, message: str) -> None:
    done = run(nnefc, tmp_path, codes_of(8, False), 8, False, quant + "\n")
    assert done.returncode == 1, done.stderr
    assert message in done.stderr
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.parametrize("items, argument", [(6, "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]"), (2, "[[1.0], [2.0]]"), (3, "[[1.0, 2.0, 3.0]]")])
def test_items_of_an_argument_are_bounded(nnefc: Path, tmp_path: Path, items: int, argument: str) -> None:
    for limit in (items - 1, items, items + 1):
        folder = tmp_path / str(limit)
        folder.mkdir()
        done = run(nnefc, folder, codes_of(8, False), 8, False,
                   f'"weights": linear_quantize(min = {argument}, max = 9.0, bits = 8);\n', "--max-items", str(limit))
        assert ("[limit.items]" in done.stderr) == (limit < items), done.stderr
        assert (done.returncode == 0) == (limit >= items), done.stderr
