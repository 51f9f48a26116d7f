"""Element-wise functions of images whose channels do not fill whole blocks, between convolutions: against OpenVINO."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset8 as ops

from openvino_oracle import openvino_outputs
from processor import has_lanes

RANDOM = np.random.default_rng(13)
PAIRS = {"add": ops.add, "subtract": ops.subtract, "multiply": ops.multiply, "minimum": ops.minimum, "maximum": ops.maximum,
         "divide": lambda a, b: ops.divide(a, ops.add(ops.abs(b), np.float32(1)))}
FUNCTIONS = {"tanh": ops.tanh, "sigmoid": ops.sigmoid, "prelu": lambda x: ops.prelu(x, np.array([-0.3], np.float32)),
             "gelu": lambda x: ops.gelu(x, "erf"), "gelu by tanh": lambda x: ops.gelu(x, "tanh"), "swish": ops.swish,
             "hswish": ops.hswish, "mish": ops.mish, "elu": lambda x: ops.elu(x, 0.7), "softplus": ops.softplus}


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("channels", [16, 24, 33])
@pytest.mark.parametrize("name", [*PAIRS, *FUNCTIONS])
def test_between_convolutions(nnefc: Path, tmp_path: Path, name: str, channels: int) -> None:
    x = ops.parameter([2, 8, 11, 13], np.float32, name="x")
    x.output(0).set_names({"x"})

    def convolved(data: ov.Node, inputs: int, outputs: int) -> ov.Node:
        return ops.convolution(data, normal(outputs, inputs, 3, 3) / np.float32(np.sqrt(9 * inputs)), [1, 1], [1, 1], [1, 1], [1, 1])

    y = convolved(x, 8, channels)
    # Two readers, so that the following operation is a separate step.
    second = convolved(y, channels, channels)
    y = ops.add(PAIRS[name](y, second), ops.abs(second)) if name in PAIRS else ops.add(FUNCTIONS[name](y), ops.abs(y))
    result = ops.result(convolved(y, channels, 17))
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], [x], "elements"), tmp_path / "net.xml", compress_to_fp16=False)
    data = normal(2, 8, 11, 13)
    np.savez(tmp_path / "in.npz", x=data)
    expected = openvino_outputs(tmp_path / "net.xml", {"x": data})[0]
    for threads in ("1", "2"):
        done = subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
                               "--threads", threads, "--profile"], check=True, capture_output=True, text=True)
        assert "nnefc:elementwise" in done.stdout + done.stderr or not has_lanes()
        np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], expected, atol=2e-5 * float(np.abs(expected).max()))
