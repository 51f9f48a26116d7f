"""`--quantize`: each tensor that graph.quant names is quantized as soon as it is computed (R 7.1, P 7.1).

Expected values are the formulas of R 4.9.5 and P 4.8.5 in NumPy, in doubles. Random numbers are at least 1e-3 of a step
from a tie between two quantized values; exact numbers test the rounding of ties.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from profile_text import measured_steps

RATIFIED = """version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [2, 3, 5, 4]);
    f = variable(shape = [4, 3, 1, 1], label = 'f');
    b = variable(shape = [1, 4], label = 'b');
    c = conv(x, f, b);
    r = relu(c);
    y = add(r, 1.0);
}
"""
RATIFIED_QUANT = """
"x": min_max_linear_quantize(min = -1.0, max = 1.0, bits = 8, signed = false, symmetric = false);
"f": min_max_linear_quantize(min = [[[[-1.0]]], [[[-2.0]]], [[[-1.5]]], [[[-0.5]]]], max = 1.0, bits = 4,
                             signed = true, symmetric = true);
"c": zero_point_linear_quantize(zero_point = [[3, 4, 5, 6]], scale = 0.125, bits = 6, signed = true, symmetric = false);
"y": logarithmic_quantize(max = 4.0, bits = 3);
"""
PROVISIONAL = """version 1.0

graph net( x ) -> ( y )
{
    x = external(shape = [2, 3, 5, 4])
    f = variable(shape = [4, 3, 1, 1], label = 'f')
    b = variable(shape = [1, 4], label = 'b')
    c = conv(x, f, b)
    r = relu(c)
    y = add(r, 1.0)
}
"""
PROVISIONAL_QUANT = """
"x": linear_quantize(min = -1.0, max = 1.0, bits = 8)
"f": linear_quantize(min = constant(shape = [4], value = [-1.0, -2.0, -1.5, -0.5]), max = 1.0, bits = 4)
"c": linear_quantize(min = -1.0, max = 2.5, bits = 6)
"y": logarithmic_quantize(max = 4.0, bits = 3)
"""


def rounded(x: np.ndarray) -> np.ndarray:
    return np.floor(x + 0.5)


def min_max(x, low, high, bits, signed=False, symmetric=False):
    r = 2.0**bits - 1 - int(signed and symmetric)
    p = 2.0**(bits - 1) - int(symmetric) if signed else 0.0
    q = rounded((np.clip(x, low, high) - low) / (high - low) * r) - p
    return (q + p) / r * (high - low) + low


def zero_point(x, z, scale, bits, signed, symmetric):
    r = 2.0**(bits - 1) - 1 if signed else 2.0**bits - 1
    low = 0.0 if not signed else -r if symmetric else -r - 1
    return (np.clip(rounded(x / scale) + z, low, r) - z) * scale


def logarithmic(x, high, bits):
    m = np.ceil(np.log2(high))
    return np.sign(x) * 2.0**rounded(np.clip(np.log2(np.abs(x)), m - (2.0**bits - 1), m))


def provisional_logarithmic(x, high, bits):
    largest = 2.0**np.ceil(np.log2(high))
    smallest = 2.0**(np.log2(largest) - bits)
    return 2.0**rounded(np.log2(np.clip(x, smallest, largest) / smallest))


def by_channel(values: list[float]) -> np.ndarray:
    return np.asarray(values)[None, :, None, None]


def ratified(x: np.ndarray, f: np.ndarray, b: np.ndarray) -> np.ndarray:
    x = min_max(x, -1.0, 1.0, 8)
    f = min_max(f, np.asarray([-1.0, -2.0, -1.5, -0.5])[:, None, None, None], 1.0, 4, True, True)
    c = np.einsum("nchw,oc->nohw", x, f[:, :, 0, 0]) + b[:, :, None, None]
    c = zero_point(c, by_channel([3, 4, 5, 6]), 0.125, 6, True, False)
    return logarithmic(np.maximum(c, 0) + 1, 4.0, 3)


def provisional(x: np.ndarray, f: np.ndarray, b: np.ndarray) -> np.ndarray:
    x = min_max(x, -1.0, 1.0, 8)
    f = min_max(f, np.asarray([-1.0, -2.0, -1.5, -0.5])[:, None, None, None], 1.0, 4)
    c = np.einsum("nchw,oc->nohw", x, f[:, :, 0, 0]) + b[:, :, None, None]
    return provisional_logarithmic(np.maximum(min_max(c, -1.0, 2.5, 6), 0) + 1, 4.0, 3)


def write(folder: Path, label: str, values: np.ndarray) -> None:
    data = values.astype("<f4").tobytes()
    extents = list(values.shape) + [0] * (8 - values.ndim)
    header = struct.pack("<4sII8II", b"\x4e\xef\x01\x00", len(data), values.ndim, *extents, 32)
    (folder / f"{label}.dat").write_bytes(header.ljust(128, b"\0") + data)


def run(nnefc: Path, folder: Path, *options: str, **inputs: np.ndarray) -> np.ndarray:
    np.savez(folder / "in.npz", **inputs)
    done = subprocess.run([nnefc, "run", folder, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", *options],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "out.npz")["y"]


@pytest.mark.parametrize("backend", ["reference", "fast"])
@pytest.mark.parametrize("document, quant, formula", [(RATIFIED, RATIFIED_QUANT, ratified),
                                                      (PROVISIONAL, PROVISIONAL_QUANT, provisional)],
                         ids=["ratified", "provisional"])
def test_tensors_are_quantized_as_they_are_computed(nnefc: Path, tmp_path: Path, document: str, quant: str, formula,
                                                    backend: str) -> None:
    random = np.random.default_rng(5)
    x = random.uniform(-1.3, 1.3, (2, 3, 5, 4)).astype(np.float32)
    f = random.uniform(-1.2, 1.2, (4, 3, 1, 1)).astype(np.float32)
    b = random.uniform(-0.5, 0.5, (1, 4)).astype(np.float32)
    (tmp_path / "graph.nnef").write_text(document)
    (tmp_path / "graph.quant").write_text(quant)
    write(tmp_path, "f", f)
    write(tmp_path, "b", b)
    expected = formula(x.astype(np.float64), f.astype(np.float64), b.astype(np.float64))
    actual = run(nnefc, tmp_path, "--quantize", "--backend", backend, x=x)
    # Sums in f32 may fall on the other side of a tie between two quantized values.
    assert np.mean(np.abs(actual - expected) > 1e-5 * np.abs(expected).max()) <= 0.01
    # Quantization changes the result.
    plain = run(nnefc, tmp_path, "--backend", backend, x=x)
    assert np.abs(plain - expected).max() > 0.1


@pytest.mark.parametrize("backend", ["reference", "fast"])
def test_a_half_is_rounded_up(nnefc: Path, tmp_path: Path, backend: str) -> None:
    x = np.arange(-21, 22, dtype=np.float32) / 8
    (tmp_path / "graph.nnef").write_text("version 1.0;\ngraph net(x) -> (y)\n{\n    x = external(shape = [43]);\n"
                                         "    y = copy(x);\n}\n")
    (tmp_path / "graph.quant").write_text('"x": zero_point_linear_quantize(zero_point = 1, scale = 0.25, bits = 4, '
                                          'signed = true, symmetric = false);\n')
    actual = run(nnefc, tmp_path, "--quantize", "--backend", backend, x=x)
    np.testing.assert_array_equal(actual, zero_point(x.astype(np.float64), 1, 0.25, 4, True, False))


def test_codes_of_a_tensor_file_are_not_quantized_again(nnefc: Path, tmp_path: Path) -> None:
    """The line defines the meaning of the stored values; quantizing the result again would change nothing but rounding,
    so it is skipped."""
    codes = np.arange(0, 256, dtype=np.uint8)
    (tmp_path / "graph.nnef").write_text(
        "version 1.0;\ngraph net(x) -> (y)\n{\n    x = external(shape = [256]);\n"
        "    f = variable(shape = [256], label = 'f');\n    y = add(x, f);\n}\n")
    (tmp_path / "graph.quant").write_text('"f": min_max_linear_quantize(min = -0.3, max = 0.7, bits = 8, '
                                          'signed = false, symmetric = false);\n')
    header = struct.pack("<4sII8III", b"\x4e\xef\x01\x00", 256, 1, 256, *[0] * 7, 8, 2)
    (tmp_path / "f.dat").write_bytes(header.ljust(128, b"\0") + codes.tobytes())
    x = np.zeros(256, np.float32)
    quantized = run(nnefc, tmp_path, "--quantize", x=x)
    np.testing.assert_array_equal(quantized, run(nnefc, tmp_path, x=x))
    np.testing.assert_allclose(quantized, codes / 255.0 - 0.3, atol=1e-6)


def test_what_is_printed_computes_the_same(nnefc: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    model, flat = tmp_path / "model", tmp_path / "flat"
    for folder in (model, flat):
        folder.mkdir()
        write(folder, "f", random.uniform(-1.2, 1.2, (4, 3, 1, 1)) if folder == model else np.zeros(0))
        write(folder, "b", np.zeros((1, 4)))
    (flat / "f.dat").write_bytes((model / "f.dat").read_bytes())
    (model / "graph.nnef").write_text(RATIFIED)
    (model / "graph.quant").write_text(RATIFIED_QUANT)
    subprocess.run([nnefc, "expand", model, "--quantize", "-o", flat / "graph.nnef"], check=True)
    x = random.uniform(-1.3, 1.3, (2, 3, 5, 4)).astype(np.float32)
    np.testing.assert_array_equal(run(nnefc, flat, x=x), run(nnefc, model, "--quantize", x=x))


class Network:
    """A random network of convolutions, sums and maxima whose tensors are quantized to 8 bits by one of the two
    operations. In an exact one no sum is rounded (255 divides no number exactly), and ties between two quantized
    values are frequent."""

    def __init__(self, seed: int, exact: bool) -> None:
        self.random, self.exact = np.random.default_rng(seed), exact
        self.lines, self.quant, self.filters = [], [], {}
        channels = int(self.random.choice([3, 8, 16, 19]))
        self.shape = (1, channels, *self.random.integers(14, 24, 2).tolist())
        self.data = (self.random.integers(-100, 100, self.shape) / 32 if exact
                     else self.random.standard_normal(self.shape)).astype(np.float32)
        self.lines.append(f"x = external(shape = {list(self.shape)});")
        self.quantize("x", False)
        name = "x"
        for layer in range(3):
            name, channels = self.convolution(name, channels, layer)
        self.lines.append(f"y = copy({name});")

    def scale(self) -> float:
        return 2.0**-5 if self.exact else float(self.random.uniform(0.01, 0.05))

    def quantize(self, name: str, positive: bool) -> None:
        scale, zero = self.scale(), 0 if positive else int(self.random.integers(100, 156))
        if not self.exact and self.random.integers(2):
            self.quant.append(f'"{name}": min_max_linear_quantize(min = {-scale * zero!r}, max = {scale * (255 - zero)!r}, '
                              'bits = 8, signed = false, symmetric = false);')
        else:
            signed = bool(self.random.integers(2))
            self.quant.append(f'"{name}": zero_point_linear_quantize(zero_point = {zero - 128 * signed}, scale = {scale!r}, '
                              f'bits = 8, signed = {str(signed).lower()}, symmetric = false);')

    def convolution(self, name: str, channels: int, layer: int) -> tuple[str, int]:
        outputs, size = int(self.random.choice([8, 16, 21])), int(self.random.choice([1, 3]))
        scale = np.full((outputs, 1, 1, 1), 2.0**-9) if self.exact else self.random.uniform(0.001, 0.01, (outputs, 1, 1, 1))
        self.filters[f"f{layer}"] = self.random.integers(-127, 128, (outputs, channels, size, size)) * scale
        self.filters[f"b{layer}"] = self.random.integers(-20, 20, (1, outputs)) / 16
        new = f"a{layer}"
        self.lines += [f"f{layer} = variable(shape = {[outputs, channels, size, size]}, label = 'f{layer}');",
                       f"b{layer} = variable(shape = [1, {outputs}], label = 'b{layer}');",
                       f"c{layer} = conv({name}, f{layer}, b{layer});"]
        positive = bool(self.random.integers(2))
        self.lines.append(f"{new} = {'relu' if positive else 'copy'}(c{layer});")
        self.quantize(new, positive)
        if layer == 1:
            self.lines.append(f"s = {'add' if self.random.integers(2) else 'max'}({new}, {new});")
            self.quantize("s", positive)
            self.lines.append("p = max_pool(s, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], border = 'ignore');")
            new = "p"
        return new, outputs

    def write(self, folder: Path) -> None:
        body = "".join(f"    {line}\n" for line in self.lines)
        (folder / "graph.nnef").write_text(f"version 1.0;\ngraph net( x ) -> ( y )\n{{\n{body}}}\n")
        (folder / "graph.quant").write_text("".join(f"{line}\n" for line in self.quant))
        for label, values in self.filters.items():
            write(folder, label, values)


@pytest.mark.parametrize("exact", [False, True], ids=["rounded", "exact"])
@pytest.mark.parametrize("seed", range(12))
def test_networks_run_in_codes(nnefc: Path, tmp_path: Path, seed: int, exact: bool) -> None:
    """Compares with our reference kernels, which the tests above compare with the formulas. If no sum is rounded
    nothing differs; otherwise f32 sums in another order may resolve ties differently."""
    network = Network(seed, exact)
    network.write(tmp_path)
    reference = run(nnefc, tmp_path, "--quantize", "--backend", "reference", x=network.data)
    # Small networks take less time in f32.
    profile = subprocess.run([nnefc, "run", tmp_path, "--quantize", "--profile", "--threads", "1", "--inputs", tmp_path / "in.npz",
                              "--outputs", tmp_path / "out.npz", "--disable-transformations", "target.UnmarkSlowRegions"],
                             capture_output=True, text=True, check=True).stdout
    profile = measured_steps(profile)
    found = np.load(tmp_path / "out.npz")["y"]
    if exact:
        np.testing.assert_array_equal(found, reference)
    else:
        assert np.mean(np.abs(found - reference) > 1e-5 * np.abs(reference).max()) <= 0.02
        assert np.abs(found - reference).max() <= 0.05 * np.abs(reference).max()
    instructions = Path("/proc/cpuinfo").read_text()
    if "avx512_vnni" in instructions:
        assert "int8" in profile or "vnni" in profile, profile
    elif "avx2" in instructions:
        assert "nnefc:int8_conv" in profile or "nnefc:int8_winograd" in profile, profile
    exactly = run(nnefc, tmp_path, "--quantize", "--precision", "exact", x=network.data)
    assert np.mean(np.abs(exactly - reference) > 1e-5 * np.abs(reference).max()) <= 0.02


@pytest.mark.parametrize("operation", [
    "min_max_linear_quantize(min = -4.0, max = 3.96875, bits = 8, signed = false, symmetric = false)",
    "zero_point_linear_quantize(zero_point = 3, scale = 0.03125, bits = 8, signed = true, symmetric = false)"])
def test_codes_of_what_is_not_finite(nnefc: Path, tmp_path: Path, operation: str) -> None:
    """`clamp` returns its upper bound for NaN, since min(NaN, high) is high."""
    values = [np.nan, np.inf, -np.inf, 1e30, -1e30, 0.015625, 0.046875, -0.015625]
    x = np.resize(np.asarray(values, np.float32), (1, 8, 4, 4))
    (tmp_path / "graph.nnef").write_text(
        "version 1.0;\ngraph net(x) -> (y)\n{\n    x = external(shape = [1, 8, 4, 4]);\n"
        "    f = variable(shape = [8, 8, 1, 1], label = 'f');\n    y = conv(x, f);\n}\n")
    (tmp_path / "graph.quant").write_text(f'"x": {operation};\n')
    write(tmp_path, "f", np.eye(8).reshape(8, 8, 1, 1))
    np.testing.assert_array_equal(run(nnefc, tmp_path, "--quantize", x=x),
                                  run(nnefc, tmp_path, "--quantize", "--backend", "reference", x=x))
    low, high = (-4.0, 3.96875) if operation.startswith("min") else (-131 / 32, 124 / 32)
    finite = np.where(np.isnan(x), high, np.clip(x, low, high)).astype(np.float64)
    np.testing.assert_array_equal(run(nnefc, tmp_path, "--quantize", x=x), np.clip(np.floor(finite * 32 + 0.5) / 32, low, high))
