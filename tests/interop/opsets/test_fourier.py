"""Fourier transforms against NumPy in f64: also for lengths with large prime factors, and cases that OpenVINO does not
support. Transforms of ONNX, converted by OpenVINO, against ONNX's own cases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")
onnx = pytest.importorskip("onnx")
from onnx.backend.test.loader import load_model_tests  # noqa: E402
from openvino import opset1  # noqa: E402
from openvino.utils.node_factory import NodeFactory  # noqa: E402

F32, F64 = np.float32, np.float64
RANDOM = np.random.default_rng(3)


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("fourier"))


def run(tool: Nnefc, folder: Path, name: str, data: np.ndarray, *constants: np.ndarray, **attributes) -> np.ndarray:
    x = opset1.parameter(list(data.shape), data.dtype, name="x")
    x.output(0).set_names({"x"})
    opset, kind = name.split(".")
    node = NodeFactory(opset).create(kind, [x.output(0), *(opset1.constant(each).output(0) for each in constants)], attributes)
    node.output(0).set_names({"y"})
    ov.save_model(ov.Model([opset1.result(node)], [x], "net"), folder / "net.xml", compress_to_fp16=False)
    np.savez(folder / "inputs.npz", x=data)
    return tool.run(folder / "net.xml", "--inputs", folder / "inputs.npz")["y"]


def pairs(numbers: np.ndarray) -> np.ndarray:
    return np.stack([numbers.real, numbers.imag], -1)


def assert_near(found: np.ndarray, expected: np.ndarray, precision: float) -> None:
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= precision * max(1.0, np.abs(expected).max())


# Powers of two, products of small primes up to 31, larger primes, products of both; one.
LENGTHS = [1, 2, 31, 37, 60, 64, 74, 961, 1024, 1009, 2 * 1009, 4099]


@pytest.mark.parametrize("length", LENGTHS)
def test_transforms_of_any_length(tool: Nnefc, tmp_path: Path, length: int) -> None:
    precision = 2e-7  # the precision of f64 rounded to f32
    x = RANDOM.standard_normal((2, length, 2)).astype(F32)
    numbers = x[..., 0].astype(F64) + 1j * x[..., 1]
    axis = np.array([1])
    assert_near(run(tool, tmp_path, "opset7.DFT", x, axis), pairs(np.fft.fft(numbers)), precision)
    assert_near(run(tool, tmp_path, "opset7.IDFT", x, axis), pairs(np.fft.ifft(numbers)), precision)
    real = x[..., 0]
    assert_near(run(tool, tmp_path, "opset9.RDFT", real, axis), pairs(np.fft.rfft(real.astype(F64))), precision)
    for count in [2 * length - 1, 2 * length]:
        found = run(tool, tmp_path, "opset9.IRDFT", x, axis, np.array([count]))
        assert_near(found, np.fft.irfft(numbers, count), precision)


@pytest.mark.parametrize("sizes", [(9, 3, 8), (-1, 7, 12), (2, -1, 5), (4, 6, 1)])
@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (-1, -3, -2)])
def test_axes_and_sizes(tool: Nnefc, tmp_path: Path, axes: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    x = RANDOM.standard_normal((4, 6, 5, 2)).astype(F32)
    numbers, real = x[..., 0].astype(F64) + 1j * x[..., 1], x[..., 0].astype(F64)
    full = [numbers.shape[axis] if size < 0 else size for axis, size in zip(axes, sizes)]
    constants = np.array(axes), np.array(sizes)
    assert_near(run(tool, tmp_path, "opset7.DFT", x, *constants), pairs(np.fft.fftn(numbers, full, axes)), 1e-6)
    assert_near(run(tool, tmp_path, "opset7.IDFT", x, *constants), pairs(np.fft.ifftn(numbers, full, axes)), 1e-6)
    assert_near(run(tool, tmp_path, "opset9.RDFT", x[..., 0], *constants), pairs(np.fft.rfftn(real, full, axes)), 1e-6)
    if sizes[-1] > 0:
        assert_near(run(tool, tmp_path, "opset9.IRDFT", x, *constants), np.fft.irfftn(numbers, full, axes), 1e-6)


@pytest.mark.parametrize(("size", "step", "window"), [(64, 16, 64), (74, 10, 50), (101, 101, 101), (1, 3, 1)])
def test_frames(tool: Nnefc, tmp_path: Path, size: int, step: int, window: int) -> None:
    signal, weights = RANDOM.standard_normal((2, 300)).astype(F32), RANDOM.uniform(0.1, 1, window).astype(F32)
    padded = np.zeros(size)
    padded[(size - window) // 2:][:window] = weights
    count = (signal.shape[1] - size) // step + 1
    frames = np.stack([signal[:, k * step:][:, :size] * padded for k in range(count)], 1)
    expected = pairs(np.fft.rfft(frames))
    constants = weights, np.array(size), np.array(step)
    assert_near(run(tool, tmp_path, "opset15.STFT", signal, *constants, transpose_frames=False), expected, 1e-6)
    assert_near(run(tool, tmp_path, "opset15.STFT", signal, *constants, transpose_frames=True), expected.swapaxes(1, 2), 1e-6)


ONNX_CASES = {case.name: case for case in load_model_tests(kind="node")
              if case.name.startswith(("test_dft", "test_stft", "test_unique"))}
# OpenVINO's converter uses axis 1 independently of the input; NumPy's files have no bf16.
NOT_RUN = {"test_dft_axis", "test_unique_bfloat16_sorted_without_axis"}


@pytest.mark.parametrize("name", sorted(set(ONNX_CASES) - NOT_RUN))
def test_cases_of_onnx(tool: Nnefc, tmp_path: Path, name: str) -> None:
    case = ONNX_CASES[name]
    (tmp_path / "net.onnx").write_bytes(case.model.SerializeToString())
    try:
        converted = ov.convert_model(tmp_path / "net.onnx")
    except Exception as error:  # noqa: BLE001
        pytest.skip(f"OpenVINO does not convert it: {str(error).splitlines()[0]}")
    ov.save_model(converted, tmp_path / "net.xml", compress_to_fp16=False)
    given, expected = case.data_sets[0]
    used = {port.any_name for port in converted.inputs}
    inputs = {value.name: array for value, array in zip(case.model.graph.input, given) if value.name in used}
    np.savez(tmp_path / "inputs.npz", **inputs)
    found = tool.run(tmp_path / "net.xml", "--inputs", tmp_path / "inputs.npz")
    for value, array in zip(case.model.graph.output, expected):
        # OpenVINO's converter keeps, or adds, an axis of extent 1 if one side of the transform is real.
        assert found[value.name].squeeze().shape == array.squeeze().shape
        np.testing.assert_allclose(found[value.name].squeeze(), array.squeeze(), rtol=1e-4, atol=1e-3)
