"""OpenVINO as an oracle: models of its IR are run on its CPU plug-in in full precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino as ov


def random_inputs(path: Path) -> dict[str, np.ndarray]:
    random = np.random.default_rng(7)
    inputs = {}
    for port in ov.Core().read_model(path).inputs:
        shape = [dim.get_length() if dim.is_static else 5 for dim in port.partial_shape]
        dtype = port.element_type.to_dtype()
        values = random.standard_normal(shape)
        inputs[port.any_name] = values > 0 if dtype == bool else values.astype(dtype)
    return inputs


def openvino_outputs(path: Path, inputs: dict[str | int, np.ndarray]) -> list[np.ndarray]:
    compiled = ov.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    request.infer(inputs)
    return [request.get_output_tensor(index).data.copy() for index in range(len(compiled.outputs))]


def assert_close(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def result_names(path: Path) -> list[str]:
    """Returns the tensor names of the results, in their order."""
    return [output.any_name for output in ov.Core().read_model(path).outputs]
