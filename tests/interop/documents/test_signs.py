"""Inferred signs of results: pooling whose border is zeros ignores them only if they cannot be the maximum. Each
operation computes on non-negative tensors, and pooling of its result must equal NumPy's, on both backends."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

LIBRARY = Path(__file__).resolve().parents[3] / "stdlib" / "ratified.nnef"
SHAPE = (2, 3, 4, 5)
WEIGHTS = {"w": [3, 3, 2, 2], "p": [3, 1, 2, 2], "o": [3, 3, 1, 1]}

# By operation: statements that make `y` from `a` and `b`, which are non-negative, from `x`, which has negative
# elements, and from positive weights.
TWO = "size = [1,1,2,2]"
PLAIN = "padding = [(0,0),(0,0),(0,0),(0,0)]"
BEYOND = "size = [1,1,1,2], padding = [(0,0),(0,0),(1,0),(2,3)]"  # windows entirely in padding
STATEMENTS: dict[str, list[str]] = {
    **{name: [f"y = {name}(a);"] for name in (
        "copy neg rcp exp log sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh abs sign floor ceil round sqr sqrt rsqr "
        "rsqrt log2 sigmoid relu gelu silu elu selu softplus").split()},
    **{name: [f"y = {name}(a, b);", f"y = {name}(a, x);", f"y = {name}(x, b);"]
       for name in "add sub mul div pow min max prelu".split()},
    "leaky_relu": ["y = leaky_relu(a, alpha = -0.5);", "y = leaky_relu(x, alpha = 0.5);"],
    "select": ["y = select(a < b, a, b);", "y = select(a < b, a, x);", "y = select(a < b, x, b);"],
    "clamp": ["y = clamp(a, -1.0, -0.5);", "y = clamp(a, 0.5, b);", "y = clamp(a, x, b);"],
    "softmax": ["y = softmax(a, axes = [1, 3]);"],
    "conv": ["y = conv(a, w, border = 'replicate');", "y = conv(a, w, -1.0, border = 'constant');",
             "y = conv(a, neg(w), border = 'constant');"],
    "deconv": ["y = deconv(a, neg(w));", "y = deconv(a, w, -1.0);"],
    "separable_conv": ["y = separable_conv(a, p, o, -2.0);", "y = separable_conv(a, neg(p), o);"],
    "separable_deconv": ["y = separable_deconv(a, p, o, -2.0);", "y = separable_deconv(a, neg(p), o);"],
    "linear": ["t = reshape(a, shape = [6, 20]); f = reshape(b, shape = [6, 20]); s = linear(t, f, -5.0); "
               "y = reshape(s, shape = [1, 1, 6, 6]);"],
    "matmul": ["y = matmul(a, b, transposeB = true);", "y = matmul(a, x, transposeB = true);"],
    "box": [f"y = box(a, {TWO}, border = '{border}', normalize = {normalize});" for border in ("constant", "ignore", "reflect")
            for normalize in ("true", "false")] + [f"y = box(a, {BEYOND}, border = 'ignore', normalize = true);"],
    "debox": [f"y = debox(a, {TWO}, {PLAIN});"],
    "sample": [f"i = argmax_pool(a, {TWO}, {PLAIN}); s = max_pool(x, {TWO}, {PLAIN}); y = sample(x, i, {TWO}, {PLAIN});"],
    "desample": [f"i = argmax_pool(a, {TWO}, {PLAIN}); s = max_pool(x, {TWO}, {PLAIN}); y = desample(s, i, {TWO}, {PLAIN});"],
    **{name: [f"y = {name}(a, {TWO}, border = '{border}');" for border in ("constant", "ignore", "replicate")] +
             [f"y = {name}(a, {BEYOND}, border = 'ignore');"] for name in ("avg_pool", "rms_pool")},
    "max_pool": [f"y = max_pool(a, {TWO}, border = '{border}');" for border in ("constant", "ignore", "replicate")] +
                [f"y = max_pool(a, size = [1,1,1,2], padding = [(0,0),(0,0),{rows},{columns}], border = 'ignore');"
                 for rows in ("(0,0)", "(1,0)", "(0,1)") for columns in ("(0,0)", "(1,1)", "(2,1)", "(1,2)")] +
                [f"y = max_pool(a, size = [1,1,1,2], padding = [(0,0),(0,0),(0,0),{columns}], dilation = [1,1,1,2], "
                 "border = 'ignore');" for columns in ("(0,0)", "(1,0)", "(0,1)", "(1,1)")] +
                ["y = max_pool(a, size = [1,1,1,2], dilation = [1,1,1,2], border = 'ignore');",
                 # The taps are on both sides of an extent of one.
                 "s = slice(a, axes = [3], begin = [0], end = [1]); "
                 "y = max_pool(s, size = [1,1,1,2], dilation = [1,1,1,2], border = 'ignore');",
                 f"m = max_pool(a, {BEYOND}, border = 'ignore'); y = min(m, 1.0);"],
    "max_pool_with_index": [f"y, j = max_pool_with_index(a, {TWO}, border = 'ignore');",
                            f"y, j = max_pool_with_index(a, {TWO}, border = 'constant');"],
    "nearest_downsample": ["y = nearest_downsample(a, factor = [2, 1]);"],
    "area_downsample": ["y = area_downsample(a, factor = [2, 1]);"],
    "nearest_upsample": ["y = nearest_upsample(a, factor = [2, 1]);"],
    "multilinear_upsample": [f"y = multilinear_upsample(a, factor = [2, 2], method = '{method}', border = '{border}');"
                             for method in ("symmetric", "asymmetric") for border in ("replicate", "constant")] +
                            ["y = multilinear_upsample(a, factor = [2, 2], method = 'aligned', border = 'replicate');"],
    **{name: [f"y = {name}(a, axes = [2]);", f"y = {name}(x, axes = [2]);"]
       for name in ("sum_reduce", "max_reduce", "min_reduce", "mean_reduce")},
    "moments": ["y, z = moments(a, axes = [2]);"],
    "reshape": ["y = reshape(a, shape = [3, 2, 5, 4]);"],
    "squeeze": ["s = slice(a, axes = [0], begin = [0], end = [1]); q = squeeze(s, axes = [0]); y = unsqueeze(q, axes = [0]);"],
    "unsqueeze": ["q = unsqueeze(a, axes = [0]); y = squeeze(q, axes = [0]);"],
    "transpose": ["y = transpose(a, axes = [1, 0, 3, 2]);"],
    "split": ["[y, z] = split(a, axis = 2, ratios = [1, 1]);", "[y, z] = split(x, axis = 2, ratios = [1, 1]);"],
    "concat": ["y = concat([a, b], axis = 3);", "y = concat([a, x], axis = 3);", "y = concat([x, b], axis = 3);"],
    "stack": ["s = stack([a, x], axis = 3); y = reshape(s, shape = [2, 3, 8, 5]);",
              "s = stack([x, b], axis = 3); y = reshape(s, shape = [2, 3, 8, 5]);"],
    "unstack": ["[s, t] = unstack(x, axis = 0); y = unsqueeze(t, axes = [0]);"],
    "slice": ["y = slice(a, axes = [2, 3], begin = [1, 3], end = [3, 0], stride = [1, -1]);"],
    "pad": ["y = pad(a, padding = [(0,0), (0,0), (1,0), (2,1)], value = -2.0);", "y = pad(a, padding = [(0,0), (0,0), (1,0), (2,1)]);"],
    "tile": ["y = tile(a, repeats = [1, 1, 2, 2]);"],
    "gather": ["k = constant<integer>(shape = [3], value = [4, 0, 2]); y = gather(x, k, axis = 3);"],
    "cast": ["y = cast<scalar>(a < b);"],
    **{name: [f"y = {name}(a, size = [1, 3, 1, 1]);"] for name in ("local_response_normalization", "local_mean_normalization",
                                                                    "local_variance_normalization")},
    "local_contrast_normalization": ["y = local_contrast_normalization(a, size = [1, 3, 1, 1], bias = 1.0);"],
    **{name: [f"y = {name}(a, axes = [1]);"] for name in ("l1_normalization", "l2_normalization")},
    "batch_normalization": ["y = batch_normalization(a, 0.75, 0.5, 0.0, 1.0, epsilon = 0.1);",
                            "y = batch_normalization(a, 0.0, 0.5, -1.0, 1.0, epsilon = 0.1);"],
    "min_max_linear_quantize": ["y = min_max_linear_quantize(a, -2.0, -1.0, bits = 8, signed = false, symmetric = false);"],
    "zero_point_linear_quantize": ["y = zero_point_linear_quantize(a, 0, -0.125, bits = 8, signed = true, symmetric = false);"],
    "linear_quantize": ["y = linear_quantize(a, -2.0, -1.0, bits = 8);"],
    "logarithmic_quantize": ["y = logarithmic_quantize(a, 2.0, bits = 4);"],
    "copy_n": ["[y, z] = copy_n(x, times = 2);"],
    "add_n": ["y = add_n([a, b]);", "y = add_n([a, x]);", "y = add_n([x, b]);"],
}
# Operations with results of other types or of rank 2 alone, regions whose borders do not matter, and sources.
OTHERS = set("external constant variable not lt gt le ge eq ne and or argmax_pool argmax_reduce argmin_reduce all_reduce any_reduce "
             "update avg_roi_pool max_roi_pool roi_resample avg_roi_align max_roi_align".split())


def test_every_operation_is_here() -> None:
    names = set(re.findall(r"^fragment (\w+)", LIBRARY.read_text(encoding="utf-8"), re.MULTILINE))
    assert names == STATEMENTS.keys() | OTHERS
    assert not STATEMENTS.keys() & OTHERS


def pooled(y: np.ndarray) -> np.ndarray:
    padded = np.pad(y, [(0, 0), (0, 0), (1, 1), (1, 1)])
    rows = np.maximum(padded[:, :, 1:], padded[:, :, :-1])
    return np.maximum(rows[..., 1:], rows[..., :-1])


@pytest.mark.parametrize("backend", ["reference", "fast"])
def test_zeros_of_a_border_win(nnefc: Path, tmp_path: Path, backend: str) -> None:
    random = np.random.default_rng(3)
    cases = {f"{operation}_{number}": statement
             for operation, statements in STATEMENTS.items() for number, statement in enumerate(statements)}
    tensors = ", ".join(f"{name}: tensor<scalar>" for name in "abxwpo")
    fragments = [f"fragment of_{name}({tensors}) -> (y: tensor<scalar>) {{ {statement} }}\n" for name, statement in cases.items()]
    body = [f"{name} = external(shape = {list(SHAPE)});" for name in "xuv"] + ["a = abs(u);", "b = relu(v);"]
    for name, shape in WEIGHTS.items():
        items = ", ".join(map(str, (random.random(math.prod(shape)) + 0.25).round(3)))
        body.append(f"{name} = constant(shape = {shape}, value = [{items}]);")
    for name in cases:
        body += [f"{name} = of_{name}(a, b, x, w, p, o);",
                 f"pool_of_{name} = max_pool({name}, size = [1,1,2,2], padding = [(0,0),(0,0),(1,1),(1,1)], border = 'constant');"]
    results = ", ".join(f"{name}, pool_of_{name}" for name in cases)
    (tmp_path / "graph.nnef").write_text(
        "version 1.0;\nextension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;\n" + "".join(fragments) +
        f"graph g(x, u, v) -> ({results})\n{{\n" + "\n".join(body) + "\n}\n", encoding="utf-8")
    np.savez(tmp_path / "in.npz", **{name: (random.standard_normal(SHAPE) * 2).astype(np.float32) for name in "xuv"})
    outputs = Nnefc(nnefc, tmp_path).run(tmp_path, "--inputs", tmp_path / "in.npz", "--backend", backend, "--precision", "exact")
    for name in cases:
        expected = pooled(outputs[name])
        known = ~np.isnan(expected)  # at arguments for which a function has no value
        np.testing.assert_array_equal(outputs[f"pool_of_{name}"][known], expected[known], err_msg=name)
