"""Every NNEF operation with an OpenVINO form: written as IR and run by OpenVINO and by nnefc."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

pytest.importorskip("openvino")

from openvino_oracle import assert_close, openvino_outputs, random_inputs, result_names  # noqa: E402

SHAPE = [1, 2, 6, 6]
FORM = """version 1.0;
extension KHR_enable_operator_expressions;
graph net( x ) -> ( {results} )
{{
    x = external(shape = {shape});
    {body}
}}
"""
BORDERS = ["constant", "replicate", "reflect", "reflect-even", "ignore"]
NO_PADDING = "padding = [(0,0), (0,0), (0,0), (0,0)]"
PAIRS = "size = [1, 1, 2, 2], stride = [1, 1, 2, 2]"

# The statements that make y, and z if a case has two results.
CASES: dict[str, str] = {}
TWO_RESULTS = {"any_all", "moments", "split", "unstack", "max_pool_with_index"}

for name in ["neg", "abs", "sign", "exp", "sqr", "floor", "ceil", "round", "sin", "cos", "sinh", "cosh", "tanh", "atan",
             "asinh", "sigmoid", "relu", "softplus", "gelu", "silu", "selu", "rcp", "copy", "softmax"]:
    CASES[name] = f"y = {name}(x);"
for name in ["log", "log2", "sqrt", "rsqrt", "rsqr"]:
    CASES[name] = f"y = {name}(abs(x) + 0.5);"
for name in ["add", "sub", "mul", "div", "pow", "min", "max"]:
    CASES[name] = f"a = constant(shape = [1, 2], value = [1.5, 2.0]); y = {name}(x, a);"
for name in ["lt", "gt", "le", "ge", "eq", "ne"]:
    CASES[name] = f"y = {name}(x, 0.25);"
for border in BORDERS:
    window = "size = [1, 1, 3, 3], stride = [1, 1, 2, 2], padding = [(0,0), (0,0), (1,1), (1,1)]"
    for name in ["box", "avg_pool", "max_pool"]:
        CASES[f"{name}_{border}"] = f"y = {name}(x, {window}, border = '{border}');"
    if border == "ignore":
        continue
    CASES[f"conv_{border}"] = ("f = constant(shape = [3, 2, 3, 3], value = [0.25]); "
                               f"y = conv(x, f, 0.5, border = '{border}', padding = [(1,1), (1,0)]);")
    CASES[f"pad_{border}"] = f"y = pad(x, padding = [(0,0), (0,0), (1,2), (2,1)], border = '{border}', value = 0.5);"
for method in ["symmetric", "asymmetric", "aligned"]:
    for border in ["replicate", "constant"]:
        CASES[f"multilinear_upsample_{method}_{border}"] = (
            f"y = multilinear_upsample(x, factor = [2, 2], method = '{method}', border = '{border}');")
for name in ["sum_reduce", "mean_reduce", "max_reduce", "min_reduce", "argmax_reduce", "argmin_reduce"]:
    CASES[name] = f"y = {name}(x, axes = [2]);"
CASES |= {
    "select": "y = select(x < 0.0, x * 2.0, 1.0);",
    "clamp": "y = clamp(x, -0.5, 0.5);",
    "clamp_crossed": "y = clamp(x, 0.5, -0.5);",
    "conv_automatic": "f = constant(shape = [3, 2, 3, 3], value = [0.25]); y = conv(x, f, stride = [2, 2], dilation = [2, 2]);",
    "conv_groups": "f = constant(shape = [4, 1, 3, 3], value = [0.25]); y = conv(x, f, groups = 2);",
    "conv_depthwise": "f = constant(shape = [2, 1, 3, 3], value = [0.25]); y = conv(x, f, groups = 0);",
    "separable_conv": "p = constant(shape = [2, 1, 3, 3], value = [0.2]); f = constant(shape = [3, 2, 1, 1], value = [0.5]); "
                      "y = separable_conv(x, p, f);",
    "deconv": "f = constant(shape = [2, 3, 3, 3], value = [0.25]); y = deconv(x, f, stride = [2, 2], padding = [(1,1), (1,1)]);",
    "deconv_output_shape": "f = constant(shape = [2, 3, 3, 3], value = [0.25]); "
                           "y = deconv(x, f, stride = [2, 2], padding = [(1,1), (1,1)], output_shape = [1, 3, 12, 12]);",
    "box_normalized": "y = box(x, size = [1, 1, 3, 3], normalize = true);",
    "box_dilated": f"y = box(x, size = [1, 1, 2, 2], dilation = [1, 1, 2, 2], {NO_PADDING});",
    "debox": f"y = debox(x, {PAIRS}, {NO_PADDING});",
    "rms_pool": "y = rms_pool(x, size = [1, 1, 2, 2]);",
    "max_pool_with_index": f"y, z = max_pool_with_index(x, {PAIRS}, border = 'ignore');",
    "sample": f"i = argmax_pool(x, {PAIRS}, {NO_PADDING}); y = sample(x, i, {PAIRS}, {NO_PADDING});",
    "desample": f"i = argmax_pool(x, {PAIRS}, {NO_PADDING}); s = sample(x, i, {PAIRS}, {NO_PADDING}); "
                f"y = desample(s, i, {PAIRS}, {NO_PADDING});",
    "nearest_downsample": "y = nearest_downsample(x, factor = [2, 2]);",
    "area_downsample": "y = area_downsample(x, factor = [2, 2]);",
    "nearest_upsample": "y = nearest_upsample(x, factor = [2, 2]);",
    "sum_reduce_normalized": "y = sum_reduce(x, axes = [1, 3], normalize = true);",
    "any_all": "m = x < 0.0; y = any_reduce(m, axes = [1]); z = all_reduce(m, axes = [3]);",
    "moments": "y, z = moments(x, axes = [2, 3]);",
    "reshape": "y = reshape(x, shape = [0, -1, 4]);",
    "squeeze": "y = squeeze(x, axes = [0]);",
    "unsqueeze": "y = unsqueeze(x, axes = [1]);",
    "transpose": "y = transpose(x, axes = [1, 0, 3, 2]);",
    "split": "[y, z] = split(x, axis = 2, ratios = [1, 2]);",
    "concat": "y = concat([x, x], axis = 1);",
    "stack": "y = stack([x, x], axis = 0);",
    "unstack": "[y, z] = unstack(x, axis = 1);",
    "slice": "y = slice(x, axes = [2, 3], begin = [1, 0], end = [5, 0]);",
    "slice_backwards": "y = slice(x, axes = [2], begin = [-1], end = [0], stride = [-2]);",
    "tile": "y = tile(x, repeats = [1, 2, 1, 1]);",
    "gather": "i = constant<integer>(shape = [2], value = [0, 2]); y = gather(x, i, axis = 2);",
    "cast": "y = cast<integer>(x * 10.0);",
    "matmul": "y = matmul(x, x, transposeB = true);",
    "linear": "f = constant(shape = [3, 6], value = [0.25]); a = reshape(x, shape = [12, 6]); y = linear(a, f, 0.5);",
    "elu": "y = elu(x, alpha = 0.7);",
    "prelu": "a = constant(shape = [1, 2], value = [0.1, 0.2]); y = prelu(x, a);",
    "leaky_relu": "y = leaky_relu(x, alpha = 0.1);",
    "softmax_axes": "y = softmax(x, axes = [1, 2]);",
    "local_response_normalization":
        "y = local_response_normalization(x, size = [1, 3, 1, 1], alpha = 0.1, beta = 0.5, bias = 1.0);",
    "local_mean_normalization": "y = local_mean_normalization(x, size = [1, 1, 3, 3]);",
    "local_variance_normalization": "y = local_variance_normalization(x, size = [1, 1, 3, 3], bias = 0.1);",
    "local_contrast_normalization": "y = local_contrast_normalization(x, size = [1, 1, 3, 3], bias = 0.1);",
    "l1_normalization": "y = l1_normalization(x, axes = [1], bias = 0.1);",
    "l2_normalization_epsilon": "y = l2_normalization(x, axes = [1], epsilon = 0.1);",
    "l2_normalization_bias": "y = l2_normalization(x, axes = [1], bias = 0.1);",
    "batch_normalization": "m = constant(shape = [1, 2], value = [0.1, 0.2]); v = constant(shape = [1, 2], value = [1.0, 2.0]); "
                           "y = batch_normalization(x, m, v, m, v, epsilon = 0.01);",
    "min_max_linear_quantize": "y = min_max_linear_quantize(x, -1.0, 1.0, bits = 8, signed = false, symmetric = false);",
    "linear_quantize": "y = linear_quantize(x, -1.0, 1.0, bits = 8);",
    "logarithmic_quantize": "y = logarithmic_quantize(x, 3.0, bits = 8);",
    "zero_point_linear_quantize":
        "z = constant<integer>(shape = [], value = [3]); s = constant(shape = [], value = [0.1]); "
        "y = zero_point_linear_quantize(x, z, s, bits = 8, signed = true, symmetric = false);",
    "add_n": "y = add_n([x, x, x]);",
}
# Operations that no OpenVINO operation can express.
NO_FORM = {
    "avg_roi_align": "y = avg_roi_align(x, r, b, output_size = [2, 2], sampling_rate = [2, 2]);",
    "max_roi_pool": "y = max_roi_pool(x, r, b, output_size = [2, 2]);",
}
REGIONS = ("r = constant(shape = [2, 4], value = [0.0, 0.0, 3.0, 3.0, 1.0, 1.0, 4.0, 5.0]); "
           "b = constant<integer>(shape = [2, 1], value = [0, 0]); ")


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("operations"))


def document(folder: Path, body: str, results: str = "y") -> Path:
    folder.mkdir()
    (folder / "graph.nnef").write_text(FORM.format(results=results, shape=SHAPE, body=body))
    return folder


@pytest.mark.parametrize("name", CASES)
def test_operation(tool: Nnefc, tmp_path: Path, name: str) -> None:
    model = document(tmp_path / "model", CASES[name], "y, z" if name in TWO_RESULTS else "y")
    written = tmp_path / "net.xml"
    tool.must("compile", model, "-o", written)
    inputs = random_inputs(written)
    np.savez(tmp_path / "inputs.npz", **inputs)
    outputs = tool.run(model, "--inputs", tmp_path / "inputs.npz", "--backend", "reference")
    assert_close([outputs[result] for result in result_names(written)], openvino_outputs(written, inputs))


@pytest.mark.parametrize("name", NO_FORM)
def test_operation_without_a_form_is_told(tool: Nnefc, tmp_path: Path, name: str) -> None:
    done = tool.call("compile", document(tmp_path / "model", REGIONS + NO_FORM[name]), "-o", tmp_path / "net.xml")
    assert done.returncode == 1
    assert re.search(r"has no form in OpenVINO IR[^\n]* \[openvino.no-openvino-form\]", done.stderr)
    assert not (tmp_path / "net.xml").exists() and not (tmp_path / "net.bin").exists()
