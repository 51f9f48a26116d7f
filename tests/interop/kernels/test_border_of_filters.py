"""The border of an image contributes nothing to a sum, whatever the filter: infinities and NaN of a filter only reach
the results of windows that read the image there. oneDNN computes certain convolutions as matrix multiplications,
including the border's zeros, more often on older processors (ONEDNN_MAX_CPU_ISA). Compared with the sum of the
specification in NumPy, on both backends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from models import Nnefc
from processor import bf16_environment

EXTENT = 6


def write(path: Path, filters: np.ndarray, begin: tuple[int, int], end: tuple[int, int]) -> None:
    rows, columns = (EXTENT + before + behind - 1 for before, behind in zip(begin, end))
    shape, out = ",".join(map(str, filters.shape)), f"1,{filters.shape[0]},{rows},{columns}"
    path.write_text(f"""graph "net" {{
  %0 = opset1.Parameter "x" {{element_type = f32, shape = [1,{filters.shape[1]},{EXTENT},{EXTENT}]}} : f32[1,{filters.shape[1]},{EXTENT},{EXTENT}]
  %1 = opset1.Const "w" : f32[{shape}] = dense<f32[{shape}]: 0x{filters.tobytes().hex()}>
  %2 = opset1.Convolution "c" (%0, %1) {{strides = [1,1], pads_begin = {list(begin)}, pads_end = {list(end)}, dilations = [1,1], auto_pad = "explicit"}} : f32[{out}]
  opset1.Result "y" (%2)
}}
""", encoding="utf-8")


def convolved(x: np.ndarray, filters: np.ndarray, begin: tuple[int, int], end: tuple[int, int]) -> np.ndarray:
    rows, columns = (EXTENT + before + behind - 1 for before, behind in zip(begin, end))
    result = np.zeros((1, len(filters), rows, columns))
    with np.errstate(invalid="ignore"):
        for row, column, i, j in np.ndindex(rows, columns, 2, 2):
            y, z = row - begin[0] + i, column - begin[1] + j
            if 0 <= y < EXTENT and 0 <= z < EXTENT:
                result[0, :, row, column] += filters[:, :, i, j].astype(float) @ x[0, :, y, z]
    return result


@pytest.mark.parametrize("isa", ["SSE41", "DEFAULT"])
@pytest.mark.parametrize("begin, end", [((1, 0), (0, 0)), ((0, 0), (0, 1)), ((1, 1), (1, 1)), ((0, 0), (0, 0))])
@pytest.mark.parametrize("channels, results", [(1, 2), (3, 2), (3, 16), (5, 7)])
def test_border(channels: int, results: int, begin: tuple[int, int], end: tuple[int, int], isa: str, nnefc: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(channels)
    x = random.standard_normal((1, channels, EXTENT, EXTENT)).astype(np.float32)
    filters = random.standard_normal((results, channels, 2, 2)).astype(np.float32)
    filters[0, 0, 0, 0], filters[1, 0, 1, 1], filters[-1, -1, 0, 1] = np.inf, np.nan, -np.inf
    write(tmp_path / "net.ir", filters, begin, end)
    np.savez(tmp_path / "in.npz", x=x)
    tool = Nnefc(nnefc, tmp_path)
    tool.environment["ONEDNN_MAX_CPU_ISA"] = isa
    for backend in ("reference", "fast"):
        found = tool.run(tmp_path / "net.ir", "--inputs", tmp_path / "in.npz", "--backend", backend)["y"]
        np.testing.assert_allclose(found, convolved(x, filters, begin, end), rtol=1e-5, atol=1e-5)


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


FOLLOWERS = {
    "a = add(z, c); y = relu(a);": lambda c, z: relu(z + c),
    "a = relu(c); y = add(z, a);": lambda c, z: z + relu(c),
    "a = mul(c, 2.0); y = add(a, z);": lambda c, z: 2 * c + z,
    "a = clamp(c, -1.0, 1.0); b = add(a, z); y = clamp(b, -0.5, 2.5);": lambda c, z: np.clip(np.clip(c, -1, 1) + z, -0.5, 2.5),
}


@pytest.mark.parametrize("precision", ["f32", "bf16"])
@pytest.mark.parametrize("bias", [0.0, 1.75])
@pytest.mark.parametrize("results", [1, 16, 20])
@pytest.mark.parametrize("follower", FOLLOWERS)
def test_windows_that_lie_in_the_border(follower: str, results: int, bias: float, precision: str, nnefc: Path, tmp_path: Path) -> None:
    """Post-ops after an empty sum are applied. oneDNN 2.6.3 crashed if a function and an in-place addition follow a
    convolution whose window reads no pixel (AVX-512)."""
    random = np.random.default_rng(results)
    body = follower.replace("; ", ";\n    ")
    (tmp_path / "net.nnef").write_text(f"""version 1.0;
graph net( x, f, t ) -> ( y )
{{
    x = external(shape = [1, 3, 2, 4]);
    f = external(shape = [{results}, 3, 1, 1]);
    t = external(shape = [1, {results}, 4, 6]);
    z = add(t, 0.25);
    c = conv(x, f, {bias}, padding = [(1, 1), (2, 0)]);
    {body}
}}
""", encoding="utf-8")
    x, f = random.standard_normal((1, 3, 2, 4)), random.standard_normal((results, 3, 1, 1))
    t = random.standard_normal((1, results, 4, 6))
    np.savez(tmp_path / "in.npz", **{name: value.astype(np.float32) for name, value in {"x": x, "f": f, "t": t}.items()})
    c = np.pad(np.einsum("nchw,oc->nohw", x, f[:, :, 0, 0]), ((0, 0), (0, 0), (1, 1), (2, 0))) + bias
    tool = Nnefc(nnefc, tmp_path)
    tool.environment.update(bf16_environment() if precision == "bf16" else {})
    found = tool.run(tmp_path / "net.nnef", "--inputs", tmp_path / "in.npz", "--precision", precision)["y"]
    expected = FOLLOWERS[follower](c, t + 0.25)
    np.testing.assert_allclose(found, expected, rtol=0, atol=(1e-5 if precision == "f32" else 0.02) * np.abs(expected).max())
