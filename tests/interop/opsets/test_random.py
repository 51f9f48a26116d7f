"""Random numbers against the generators as OpenVINO documents them: for types that its CPU plug-in generates as others,
and in large counts; without a seed, the numbers differ each time. Nodes that generate numbers are neither computed
at compile time nor merged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")
from openvino import opset1  # noqa: E402
from openvino.utils.node_factory import NodeFactory  # noqa: E402

LOW_BITS = 0xFFFFFFFF


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("random"))


def save(path: Path, shape: tuple[int, ...], low, high, dtype: type, count: int = 1, **attributes) -> Path:
    kind = {np.float16: "f16", np.float32: "f32", np.float64: "f64", np.int32: "i32", np.int64: "i64"}[dtype]
    constants = [opset1.constant(np.array(shape)), opset1.constant(np.array(low, dtype)), opset1.constant(np.array(high, dtype))]
    results = []
    for index in range(count):
        node = NodeFactory("opset8").create("RandomUniform", [each.output(0) for each in constants],
                                            dict(output_type=kind, **attributes))
        node.output(0).set_names({f"y{index}"})
        results.append(opset1.result(node))
    ov.save_model(ov.Model(results, [], "net"), path, compress_to_fp16=False)
    return path


def philox(count: int, key: int, counter: int) -> np.ndarray:
    """Returns 32-bit numbers of Philox4x32-10, four for each n."""
    found: list[int] = []
    for n in range((count + 3) // 4):
        n_low, n_high, c_low, c_high = n & LOW_BITS, n >> 32, counter & LOW_BITS, counter >> 32
        k_low, k_high = key & LOW_BITS, key >> 32
        for _ in range(10):
            by_n, by_counter = 0xD2511F53 * n_low, 0xCD9E8D57 * c_low
            n_low, n_high, c_low, c_high = ((by_counter >> 32) ^ n_high ^ k_low, by_counter & LOW_BITS,
                                            (by_n >> 32) ^ c_high ^ k_high, by_n & LOW_BITS)
            k_low, k_high = (k_low + 0x9E3779B9) & LOW_BITS, (k_high + 0xBB67AE85) & LOW_BITS
        found += [n_low, n_high, c_low, c_high]
    return np.array(found[:count], np.uint64)


def twister(count: int, seed: int) -> np.ndarray:
    return np.random.RandomState(seed).randint(0, 2**32, count, np.uint64)


def as_tensorflow(count: int, low, high, dtype: type, key: int, counter: int) -> np.ndarray:
    wide = np.dtype(dtype).itemsize == 8
    x = philox(2 * count if wide else count, key, counter)
    if dtype == np.float64:
        fraction = ((x[0::2] & np.uint64(0xFFFFF)) << np.uint64(32) | x[1::2]) / 2.0**52
    elif dtype == np.int64:
        return (low + (x[1::2] << np.uint64(32) | x[0::2]) % np.uint64(high - low)).astype(dtype)
    elif dtype == np.int32:
        return (low + (x % np.uint64(high - low)).astype(np.int64)).astype(dtype)
    else:
        bits = {np.float32: 23, np.float16: 10}[dtype]
        fraction = (x & np.uint64(2**bits - 1)) / 2.0**bits
    return (fraction * (high - low) + low).astype(dtype)


def as_pytorch(count: int, low, high, dtype: type, key: int) -> np.ndarray:
    wide = dtype == np.float64 or (dtype == np.int64 and max(low, high) > LOW_BITS)
    x = twister(2 * count if wide else count, key)
    if wide:
        x = x[0::2] << np.uint64(32) | x[1::2]
    if dtype in (np.int32, np.int64):
        return (low + (x % np.uint64(high - low)).astype(np.int64)).astype(dtype)
    bits = {np.float64: 53, np.float32: 24, np.float16: 11}[dtype]
    return ((x & np.uint64(2**bits - 1)) / 2.0**bits * (high - low) + low).astype(dtype)


BOUNDS = [(np.float32, -2.5, 3.0), (np.float64, 2.0, 10.0), (np.float16, 0.0, 1.0), (np.int32, -50, 100), (np.int64, 50, 100),
          (np.int64, 5, 2**40)]


@pytest.mark.parametrize(("dtype", "low", "high"), BOUNDS)
def test_tensorflows_generator(tool: Nnefc, tmp_path: Path, dtype: type, low, high) -> None:
    for key, counter in [(150, 10), (80, 100), (2**40 + 3, 2**35 + 1), (0, 9)]:
        path = save(tmp_path / "net.xml", (501,), low, high, dtype, global_seed=key, op_seed=counter, alignment="tensorflow")
        expected = as_tensorflow(501, low, high, dtype, key, counter)
        np.testing.assert_allclose(tool.run(path)["y0"], expected, rtol=2e-3 if dtype == np.float16 else 1e-6)


@pytest.mark.parametrize(("dtype", "low", "high"), BOUNDS)
def test_pytorchs_generator(tool: Nnefc, tmp_path: Path, dtype: type, low, high) -> None:
    for key in [1, 80]:
        path = save(tmp_path / "net.xml", (1301,), low, high, dtype, global_seed=key, op_seed=3, alignment="pytorch")
        np.testing.assert_allclose(tool.run(path)["y0"], as_pytorch(1301, low, high, dtype, key), rtol=2e-3 if dtype == np.float16 else 1e-6)


# The examples of RandomUniform-8's documentation.
@pytest.mark.parametrize(("dtype", "shape", "low", "high", "seeds", "expected"), [
    (np.float32, (3, 3), 0, 1, (150, 10), [0.7011236, 0.30539632, 0.93931055, 0.9456035, 0.11694777, 0.50770056, 0.5197197,
                                          0.22727466, 0.991374]),
    (np.float64, (2, 2), 2, 10, (80, 100), [5.65927959, 4.23122376, 2.67008206, 2.36423758]),
    (np.int32, (2, 3), 50, 100, (80, 100), [65, 70, 56, 59, 82, 92])])
def test_the_documented_examples(tool: Nnefc, tmp_path: Path, dtype: type, shape, low, high, seeds, expected) -> None:
    path = save(tmp_path / "net.xml", shape, low, high, dtype, global_seed=seeds[0], op_seed=seeds[1])
    np.testing.assert_allclose(tool.run(path)["y0"].ravel(), expected, rtol=1e-6)


def test_two_nodes_without_seeds_differ(tool: Nnefc, tmp_path: Path) -> None:
    path = save(tmp_path / "net.xml", (100,), 0, 1, np.float32, count=2, global_seed=0, op_seed=0)
    first, second = tool.run(path), tool.run(path)
    assert not np.array_equal(first["y0"], first["y1"]) and not np.array_equal(first["y0"], second["y0"])
    assert all(0 <= value < 1 for value in first["y0"])


def test_nodes_stay_what_they_are(tool: Nnefc, tmp_path: Path) -> None:
    path = save(tmp_path / "net.xml", (10,), 0, 1, np.float32, count=2, global_seed=4, op_seed=5)
    again = tmp_path / "again.xml"
    tool.must("compile", path, "-o", again)
    assert again.read_text(encoding="utf-8").count('type="RandomUniform"') == 2


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_bounds_in_the_wrong_order_are_reported(tool: Nnefc, tmp_path: Path, dtype: type) -> None:
    path = save(tmp_path / "net.xml", (3,), 1, 7, dtype, global_seed=1, op_seed=0)
    data = path.with_suffix(".bin")
    one, seven = np.array(1, dtype).tobytes(), np.array(7, dtype).tobytes()
    assert one + seven in data.read_bytes()
    data.write_bytes(data.read_bytes().replace(one + seven, seven + one))
    done = tool.call("run", path)
    assert done.returncode == 1 and "`minval` of `RandomUniform` is 7; expected less than `maxval`" in done.stderr, done.stderr
