"""Every standard operation of both dialects on the reference backend, against the formulas of the specification; and as
OpenVINO IR, run by OpenVINO, unless it has no form there."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import numpy_operations as m
import numpy_oracle as n
from models import Nnefc

pytest.importorskip("openvino")

from openvino_oracle import openvino_outputs, result_names  # noqa: E402

SHAPE = [2, 3, 6, 6]
RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal(SHAPE).astype(np.float32)
FILTER = (RANDOM.standard_normal([4, 3, 3, 3]) / 4).astype(np.float32)
PLANE = (RANDOM.standard_normal([3, 1, 3, 3]) / 2).astype(np.float32)
POINT = RANDOM.standard_normal([4, 3, 1, 1]).astype(np.float32)
ROIS = np.array([[0, 0, 4, 6], [1, 2, 6, 5], [2, 1, 4, 6]], np.float32)
CENTRES = [0.25, -0.5, 0.75]

Expected = Callable[[], "np.ndarray | list[np.ndarray]"]


def items(array: np.ndarray) -> str:
    return "[" + ", ".join(repr(float(value)) for value in array.ravel()) + "]"


def data(name: str, array: np.ndarray) -> str:
    return f"{name} = constant(shape = {list(array.shape)}, value = {items(array)}); "


CHANNEL = "c = constant(shape = [1, 3], value = [0.25, -0.5, 0.75]); "
C = np.array(CENTRES).reshape(1, 3, 1, 1)
CONV = data("f", FILTER)
REGIONS = data("r", ROIS) + "b = constant<integer>(shape = [3, 1], value = [0, 1, 1]); "
BATCH = [0, 1, 1]
PAIRS = "size = [1, 1, 2, 2], stride = [1, 1, 2, 2], padding = [(0,0), (0,0), (0,0), (0,0)]"
TWO = dict(size=[1, 1, 2, 2], stride=[1, 1, 2, 2], padding=[(0, 0)] * 4)
WINDOW = "size = [1, 1, 3, 3], stride = [1, 1, 2, 2], padding = [(0,0), (0,0), (1,1), (0,2)]"
THREE = dict(size=[1, 1, 3, 3], stride=[1, 1, 2, 2], padding=[(0, 0), (0, 0), (1, 1), (0, 2)])
P = np.abs(X) + 0.5
U = np.tanh(X)
INDEX = lambda: m.argmax_pool(X, **TWO)  # noqa: E731
S = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
RMS = lambda x, axes: np.sqrt((x * x).sum(axis=axes, keepdims=True))  # noqa: E731

# (operation, statements that make y (and z), expected values)
R: list[tuple[str, str, Expected]] = []


def case(operation: str, body: str, expected: Expected) -> None:
    R.append((operation, body, expected))


for name, form in {
    "copy": lambda x: x, "neg": lambda x: -x, "exp": np.exp, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "atan": np.arctan, "asinh": np.arcsinh, "abs": np.abs, "sign": np.sign,
    "floor": np.floor, "ceil": np.ceil, "round": m.round_up, "sqr": lambda x: x * x, "sigmoid": S,
    "relu": lambda x: np.maximum(x, 0), "elu": lambda x: np.where(x < 0, np.exp(x) - 1, x),
    "selu": lambda x: 1.05070102 * np.where(x < 0, 1.67326319 * (np.exp(x) - 1), x), "gelu": lambda x: x * S(1.702 * x),
    "silu": lambda x: x * S(x), "softplus": lambda x: np.log(np.exp(x) + 1),
}.items():
    case(name, f"y = {name}(x);", lambda form=form: form(X.astype(float)))
for name, form in {"rcp": lambda x: 1 / x, "log": np.log, "sqrt": np.sqrt, "rsqr": lambda x: x**-2.0,
                   "rsqrt": lambda x: x**-0.5, "log2": np.log2}.items():
    case(name, f"y = {name}(abs(x) + 0.5);", lambda form=form: form(P.astype(float)))
for name, form in {"asin": np.arcsin, "acos": np.arccos, "atanh": np.arctanh}.items():
    case(name, f"y = {name}(tanh(x) * 0.9);", lambda form=form: form(U * 0.9))
case("acosh", "y = acosh(abs(x) + 1.5);", lambda: np.arccosh(P + 1.0))
for name, form in {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "min": np.minimum,
                   "max": np.maximum}.items():
    case(name, CHANNEL + f"y = {name}(x, c);", lambda form=form: form(X, C))
case("pow", CHANNEL + "y = pow(abs(x) + 0.5, c);", lambda: P ** C)
for name, form in {"lt": np.less, "gt": np.greater, "le": np.less_equal, "ge": np.greater_equal, "eq": np.equal,
                   "ne": np.not_equal}.items():
    case(name, f"y = {name}(floor(x), 0.0);", lambda form=form: form(np.floor(X), 0))
case("and", "y = and(x > 0.0, x < 1.0);", lambda: (X > 0) & (X < 1))
case("or", "y = or(x < 0.0, x > 1.0);", lambda: (X < 0) | (X > 1))
case("not", "y = not(x < 0.0);", lambda: ~(X < 0))
case("select", CHANNEL + "y = select(c > 0.0, x, -1.0);", lambda: np.where(C > 0, X, -1.0))
case("clamp", CHANNEL + "y = clamp(x, c, 0.5);", lambda: np.maximum(np.minimum(X, 0.5), C))

for border in ["constant", "replicate", "reflect", "reflect-even"]:
    case("conv", CONV + f"y = conv(x, f, 0.5, border = '{border}', padding = [(1,1), (2,0)], stride = [1, 2]);",
         lambda border=border: n.conv(X, FILTER, 0.5, border, [(1, 1), (2, 0)], [1, 2]))
    case("pad", f"y = pad(x, padding = [(0,0), (0,0), (1,2), (2,1)], border = '{border}', value = 0.5);",
         lambda border=border: np.pad(X, [(0, 0), (0, 0), (1, 2), (2, 1)],
                                      **({"constant": dict(constant_values=0.5), "replicate": dict(mode="edge"), "reflect":
                                          dict(mode="reflect"), "reflect-even": dict(mode="symmetric")}[border])))
for border in ["constant", "replicate", "reflect", "reflect-even", "ignore"]:
    case("box", f"y = box(x, {WINDOW}, border = '{border}');", lambda border=border: n.pool(X, "sum", border=border, **THREE))
    case("avg_pool", f"y = avg_pool(x, {WINDOW}, border = '{border}');",
         lambda border=border: n.pool(X, "avg", border=border, **THREE))
    case("max_pool", f"y = max_pool(x, {WINDOW}, border = '{border}');",
         lambda border=border: n.pool(X, "max", border=border, **THREE))
    case("rms_pool", f"y = rms_pool(x, {WINDOW}, border = '{border}');",
         lambda border=border: np.sqrt(n.pool(X.astype(float)**2, "avg", border=border, **THREE)))
    case("argmax_pool", f"y = argmax_pool(x, {WINDOW}, border = '{border}');",
         lambda border=border: m.argmax_pool(X, border=border, **THREE))
    case("max_pool_with_index", f"y, z = max_pool_with_index(x, {WINDOW}, border = '{border}');",
         lambda border=border: [n.pool(X, "max", border=border, **THREE), m.argmax_pool(X, border=border, **THREE)])
# Windows entirely in the border, and one over a tensor of rank 0.
case("max_pool_with_index", "s = sum_reduce(x, axes = [0, 1, 2, 3]); t = squeeze(s, axes = [0, 1, 2, 3]); "
     "y, z = max_pool_with_index(t, size = []);", lambda: [X.sum(dtype=float), np.array(0)])
BEYOND = dict(size=[1, 2, 3, 1], padding=[(0, 0), (3, 0), (2, 4), (0, 0)], stride=[1, 1, 2, 1])
BEYOND_TEXT = "size = [1, 2, 3, 1], padding = [(0,0), (3,0), (2,4), (0,0)], stride = [1, 1, 2, 1], border = 'ignore'"
for kind in ["max", "avg"]:
    case(f"{kind}_pool", f"y = {kind}_pool(x, {BEYOND_TEXT});", lambda kind=kind: n.pool(X, kind, border="ignore", **BEYOND))
case("conv", CONV + "y = conv(x, f, dilation = [2, 1]);", lambda: n.conv(X, FILTER, dilation=[2, 1]))
case("conv", data("f", PLANE) + "y = conv(x, f, groups = 0);", lambda: n.conv(X, PLANE, groups=0))
case("deconv", CONV + "a = conv(x, f); y = deconv(a, f, stride = [2, 2], padding = [(1,1), (0,1)]);",
     lambda: n.deconv(n.conv(X, FILTER), FILTER, padding=[(1, 1), (0, 1)], stride=[2, 2]))
case("deconv", CONV + "a = conv(x, f); y = deconv(a, f, stride = [2, 2]);", lambda: n.deconv(n.conv(X, FILTER), FILTER, stride=[2, 2]))
case("separable_conv", data("p", PLANE) + data("f", POINT) + "y = separable_conv(x, p, f, 0.5);",
     lambda: n.conv(n.conv(X, PLANE, groups=0), POINT, 0.5))
case("separable_deconv", data("p", PLANE) + data("f", POINT) + "a = conv(x, f); y = separable_deconv(a, p, f, 0.5);",
     lambda: n.deconv(n.deconv(n.conv(X, POINT), POINT), PLANE, 0.5, groups=0))
case("box", "y = box(x, size = [1, 1, 3, 3], normalize = true);", lambda: m.local_mean(X, [1, 1, 3, 3]))
case("debox", f"y = debox(x, {PAIRS});", lambda: m.debox(X, shape=[2, 3, 12, 12], **TWO))
case("debox", "y = debox(x, size = [1, 1, 3, 3], padding = [(0,0), (0,0), (1,1), (0,1)], normalize = true);",
     lambda: m.debox(X, [1, 1, 3, 3], [2, 3, 6, 7], [1] * 4, [(0, 0), (0, 0), (1, 1), (0, 1)], True))
case("sample", f"i = argmax_pool(x, {PAIRS}); y = sample(x * 2.0, i, {PAIRS});", lambda: m.sample(X * 2.0, INDEX(), **TWO))
for border in ["constant", "replicate", "reflect", "reflect-even"]:
    case("sample", f"i = argmax_pool(x, {WINDOW}, border = '{border}'); y = sample(x, i, {WINDOW}, border = '{border}');",
         lambda border=border: n.pool(X, "max", border=border, **THREE))
case("desample", f"i = argmax_pool(x, {PAIRS}); s = sample(x, i, {PAIRS}); y = desample(s, i, {PAIRS});",
     lambda: m.desample(m.sample(X, INDEX(), **TWO), INDEX(), shape=SHAPE, **TWO))
CUBE = "size = [2, 2, 2, 2], padding = [(0,1), (1,0), (0,0), (0,0)]"
FOUR = dict(size=[2, 2, 2, 2], padding=[(0, 1), (1, 0), (0, 0), (0, 0)])
for border in ["constant", "replicate", "ignore"]:  # windows along four dimensions
    case("argmax_pool", f"y = argmax_pool(x, {CUBE}, border = '{border}');", lambda border=border: m.argmax_pool(X, border=border, **FOUR))
    case("max_pool_with_index", f"y, z = max_pool_with_index(x, {CUBE}, border = '{border}');",
         lambda border=border: [n.pool(X, "max", border=border, **FOUR), m.argmax_pool(X, border=border, **FOUR)])
case("sample", f"i = argmax_pool(x, {CUBE}); y = sample(x, i, {CUBE});", lambda: n.pool(X, "max", **FOUR))

case("nearest_downsample", "y = nearest_downsample(x, factor = [2, 3]);", lambda: X[:, :, ::2, ::3])
case("area_downsample", "y = area_downsample(x, factor = [2, 3]);", lambda: m.blocks(X, [2, 3], np.mean))
case("nearest_upsample", "y = nearest_upsample(x, factor = [2, 3]);", lambda: X.repeat(2, 2).repeat(3, 3))
for method in ["symmetric", "asymmetric", "aligned"]:
    for border in ["replicate", "constant"]:
        case("multilinear_upsample", f"y = multilinear_upsample(x, factor = [2, 2], method = '{method}', border = '{border}');",
             lambda method=method, border=border: m.multilinear_upsample(X, [2, 2], method, border))

for name, form in {"sum_reduce": np.sum, "mean_reduce": np.mean, "max_reduce": np.max, "min_reduce": np.min}.items():
    case(name, f"y = {name}(x, axes = [1, 3]);", lambda form=form: form(X.astype(float), axis=(1, 3), keepdims=True))
case("sum_reduce", "y = sum_reduce(x, axes = [2], normalize = true);", lambda: X.mean(2, keepdims=True))
for name, form in {"argmax_reduce": np.argmax, "argmin_reduce": np.argmin}.items():
    case(name, f"y = {name}(x, axes = [2]);", lambda form=form: np.expand_dims(form(X, axis=2), 2))
case("all_reduce", "y = all_reduce(x > -1.0, axes = [2, 3]);", lambda: (X > -1).all(axis=(2, 3), keepdims=True))
case("any_reduce", "y = any_reduce(x > 1.0, axes = [3]);", lambda: (X > 1).any(axis=3, keepdims=True))
case("moments", "y, z = moments(x, axes = [2, 3]);", lambda: [X.mean((2, 3), keepdims=True), X.var((2, 3), keepdims=True)])
case("reshape", "y = reshape(x, shape = [0, -1, 4]);", lambda: X.reshape(2, -1, 4))
case("reshape", "y = reshape(x, shape = [4, 9], axis_start = 2, axis_count = 2);", lambda: X.reshape(2, 3, 4, 9))
case("squeeze", "a = unsqueeze(x, axes = [1]); y = squeeze(a, axes = [1]);", lambda: X)
case("unsqueeze", "y = unsqueeze(x, axes = [0, 3]);", lambda: X[None, :, :, None])
case("transpose", "y = transpose(x, axes = [1, 0, 3, 2]);", lambda: X.transpose(1, 0, 3, 2))
case("split", "[y, z] = split(x, axis = 2, ratios = [1, 2]);", lambda: [X[:, :, :2], X[:, :, 2:]])
case("concat", "y = concat([x, x], axis = 1);", lambda: np.concatenate([X, X], 1))
case("stack", "y = stack([x, x], axis = 1);", lambda: np.stack([X, X], 1))
case("unstack", "[y, z] = unstack(x, axis = 0);", lambda: [X[0], X[1]])
case("slice", "y = slice(x, axes = [2, 3], begin = [1, 0], end = [5, 0]);", lambda: X[:, :, 1:5])
case("slice", "y = slice(x, axes = [3], begin = [4], end = [0], stride = [-2]);", lambda: X[..., 4:0:-2])
case("tile", "y = tile(x, repeats = [1, 2, 1, 3]);", lambda: np.tile(X, (1, 2, 1, 3)))
case("gather", "i = constant<integer>(shape = [2], value = [2, 0]); y = gather(x, i, axis = 1);", lambda: X[:, [2, 0]])
case("cast", "y = cast<integer>(x > 0.0);", lambda: (X > 0).astype(np.int64))
case("cast", "y = cast<integer>(x * 3.0); z = cast<logical>(x - x);", lambda: [np.floor(X * 3).astype(np.int64), X != X])
case("cast", "y = cast<scalar>(x > 0.0);", lambda: (X > 0).astype(np.float32))

case("avg_roi_pool", REGIONS + "y = avg_roi_pool(x, r, b, output_size = [2, 2]);", lambda: m.roi_pool(X, ROIS, BATCH, [2, 2], "avg"))
case("max_roi_pool", REGIONS + "y = max_roi_pool(x, r, b, output_size = [2, 3]);", lambda: m.roi_pool(X, ROIS, BATCH, [2, 3], "max"))
case("max_roi_pool", REGIONS + "y = max_roi_pool(x, r + 0.4, b, output_size = [1, 2]);",
     lambda: m.roi_pool(X, ROIS, BATCH, [1, 2], "max"))
for method in ["symmetric", "asymmetric", "aligned"]:
    case("roi_resample", REGIONS + f"y = roi_resample(x, r, b, output_size = [3, 5], method = '{method}');",
         lambda method=method: m.roi_resample(X, ROIS, BATCH, [3, 5], method))
    for name, form in {"avg_roi_align": np.mean, "max_roi_align": np.max}.items():
        case(name, REGIONS + f"y = {name}(x, r, b, output_size = [2, 2], sampling_rate = [2, 3], resize_method = '{method}');",
             lambda method=method, form=form: m.blocks(m.roi_resample(X, ROIS, BATCH, [4, 6], method), [2, 3], form))

case("matmul", "y = matmul(x, x, transposeB = true);", lambda: X @ X.swapaxes(2, 3))
case("linear", data("w", FILTER[:, 0, 0:2].reshape(4, 6)) + "a = reshape(x, shape = [36, 6]); y = linear(a, w, 0.5);",
     lambda: X.reshape(36, 6) @ FILTER[:, 0, 0:2].reshape(4, 6).T + 0.5)
case("prelu", CHANNEL + "y = prelu(x, c);", lambda: np.where(X < 0, C * X, X))
case("leaky_relu", "y = leaky_relu(x, alpha = 0.1);", lambda: np.where(X < 0, 0.1 * X, X))
case("softmax", "y = softmax(x);", lambda: n.softmax(X))
case("softmax", "y = softmax(x, axes = [2, 3]);", lambda: n.softmax(X, (2, 3)))
case("local_response_normalization", "y = local_response_normalization(x, size = [1, 3, 1, 1], alpha = 0.3, beta = 0.75, bias = 1.5);",
     lambda: n.local_response_normalization(X, [1, 3, 1, 1], 0.3, 0.75, 1.5))
case("local_mean_normalization", "y = local_mean_normalization(x, size = [1, 1, 3, 3]);", lambda: X - m.local_mean(X, [1, 1, 3, 3]))
case("local_variance_normalization", "y = local_variance_normalization(x, size = [1, 1, 3, 3], bias = 0.1, epsilon = 0.9);",
     lambda: X / np.maximum(np.sqrt(m.local_mean(X * X, [1, 1, 3, 3])) + 0.1, 0.9))


def contrast() -> np.ndarray:
    centred = X - m.local_mean(X, [1, 1, 3, 3])
    return centred / np.maximum(np.sqrt(m.local_mean(centred * centred, [1, 1, 3, 3])) + 0.1, 0.0)


case("local_contrast_normalization", "y = local_contrast_normalization(x, size = [1, 1, 3, 3], bias = 0.1);", contrast)
case("l1_normalization", "y = l1_normalization(x, axes = [1], bias = 0.1, epsilon = 2.0);",
     lambda: X / np.maximum(np.abs(X).sum(1, keepdims=True) + 0.1, 2.0))
case("l2_normalization", "y = l2_normalization(x, axes = [1], bias = 0.1);", lambda: X / (RMS(X, 1) + 0.1))
case("l2_normalization", "y = l2_normalization(x, axes = [2, 3], epsilon = 6.0);", lambda: X / np.maximum(RMS(X, (2, 3)), 6.0))
case("batch_normalization", CHANNEL + "v = c * c + 0.5; y = batch_normalization(x, c, v, c, v, epsilon = 0.01);",
     lambda: C + (C * C + 0.5) * (X - C) / np.sqrt(C * C + 0.5 + 0.01))
case("min_max_linear_quantize", "y = min_max_linear_quantize(x, -1.0, 1.0, bits = 4, signed = false, symmetric = false);",
     lambda: m.linear_quantize(X, -1.0, 1.0, 15))
case("linear_quantize", "y = linear_quantize(x, -1.0, 2.0, bits = 3);", lambda: m.linear_quantize(X, -1.0, 2.0, 7))
# OpenVINO's operation replaces zeros by its defaults.
case("selu", "y = selu(x, alpha = 0.0, lambda = 1.5);", lambda: 1.5 * np.maximum(X, 0))
case("selu", "y = selu(x, alpha = 0.5, lambda = 0.0);", lambda: 0 * X)
# A tie is rounded up, and the lower limit takes precedence over a smaller upper one.
case("linear_quantize", "y = linear_quantize(floor(x), -1.0, 1.0, bits = 1);", lambda: m.linear_quantize(np.floor(X), -1.0, 1.0, 1))
case("linear_quantize", "y = linear_quantize(x, 1.0, -1.0, bits = 3);", lambda: np.ones_like(X))
case("zero_point_linear_quantize",
     "p = constant<integer>(shape = [], value = [3]); s = constant(shape = [], value = [0.25]); "
     "y = zero_point_linear_quantize(x, p, s, bits = 4, signed = true, symmetric = false);",
     lambda: (np.clip(m.round_up(X / 0.25) + 3, -8, 7) - 3) * 0.25)
case("logarithmic_quantize", "y = logarithmic_quantize(x, 3.0, bits = 2);",
     lambda: np.sign(X) * 2.0 ** m.round_up(np.clip(np.log2(np.abs(X)), 2.0 - 3.0, 2.0)))
case("copy_n", "[y, z] = copy_n(x, times = 2);", lambda: [X, X])
case("add_n", "y = add_n([x, x, x]);", lambda: 3 * X)

# Operations that are tested elsewhere: statements that every document here has; states by test_weights.py and the
# goldens; control flow by test_control_flow_text.py; tract's by test_tract_operations.py and test_lenient_documents.py.
STDLIB = Path(__file__).resolve().parents[3] / "stdlib"
TRACT = {name for path in (STDLIB / "tract").glob("*.nnef")
         for name in re.findall(r"^fragment (\w+)", path.read_text(), re.MULTILINE)}
ELSEWHERE = {"external", "constant", "variable", "update", "if_else", "tensor_iterator", "while_loop", *TRACT}

# The provisional dialect where it differs: names, partial lists, bodies.
PROVISIONAL: list[tuple[str, str, Expected]] = [
    ("idn", "y = idn(x);", lambda: X),
    ("conv", CONV + "y = conv(x, f, 0.5, padding = [(1,1)], stride = [1, 2]);",
     lambda: n.conv(X, FILTER, 0.5, padding=[(1, 1), n.auto_padding(6, 3, 2, 1)], stride=[1, 2])),
    ("planewise_conv", data("f", PLANE) + "y = planewise_conv(x, f, 0.5, border = 'reflect');",
     lambda: n.conv(X, PLANE, 0.5, "reflect", groups=0)),
    ("planewise_deconv", data("f", PLANE) + "y = planewise_deconv(x, f, 0.5);", lambda: n.deconv(X, PLANE, 0.5, groups=0)),
    ("separable_conv", data("p", PLANE) + data("f", POINT) + "y = separable_conv(x, p, f, 0.5);",
     lambda: n.conv(n.conv(X, PLANE, groups=0), POINT, 0.5)),
    ("separable_deconv", data("p", PLANE) + data("f", POINT) + "a = conv(x, f); y = separable_deconv(a, p, f, 0.5);",
     lambda: n.deconv(n.deconv(n.conv(X, POINT), POINT), PLANE, 0.5, groups=0)),
    ("max_pool", "y = max_pool(x, size = [1, 3], border = 'ignore');",
     lambda: n.pool(X, "max", [1, 3, 1, 1], "ignore")),
    ("local_response_normalization", "y = local_response_normalization(x, size = [1, 3], alpha = 0.3, beta = 0.75, bias = 1.5);",
     lambda: n.local_response_normalization(X, [1, 3, 1, 1], 0.3, 0.75, 1.5)),
    ("matmul", "y = matmul(reshape(x, shape = [36, 6]), reshape(x, shape = [36, 6]), trB = true);",
     lambda: X.reshape(36, 6) @ X.reshape(36, 6).T),
    ("transpose", "y = transpose(x, perm = [1, 0]);", lambda: X.transpose(1, 0, 2, 3)),
    ("l2_normalization", "y = l2_normalization(x, axes = [1], bias = 0.1);",
     lambda: X / np.sqrt((X * X).sum(1, keepdims=True) + 0.1)),
    ("l1_normalization", "y = l1_normalization(x, axes = [1], bias = 0.1);", lambda: X / (np.abs(X).sum(1, keepdims=True) + 0.1)),
    ("local_variance_normalization", "y = local_variance_normalization(x, size = [1, 1, 3, 3], bias = 0.1);",
     lambda: X / np.sqrt(m.local_mean(X * X, [1, 1, 3, 3]) + 0.1)),
    ("linear_quantize", "y = linear_quantize(x, -1.0, 2.0, bits = 3);", lambda: m.linear_quantize(X, -1.0, 2.0, 7)),
    ("logarithmic_quantize", "y = logarithmic_quantize(abs(x), 3.0, bits = 3);",
     lambda: 2.0 ** m.round_up(np.log2(np.clip(np.abs(X), 2.0 ** (2 - 3), 4.0) / 2.0 ** (2 - 3)))),
    ("leaky_relu", "y = leaky_relu(x, alpha = 0.1);", lambda: np.where(X < 0, 0.1 * X, X)),
    ("elu", "y = elu(x);", lambda: np.where(X < 0, np.exp(X) - 1, X)),
    ("multilinear_upsample", "y = multilinear_upsample(x, factor = [2, 2]);", lambda: m.multilinear_upsample(X, [2, 2])),
    ("nearest_downsample", "y = nearest_downsample(x, factor = [2, 3]);", lambda: X[:, :, ::2, ::3]),
    ("moments", "y, z = moments(x, axes = [2, 3]);", lambda: [X.mean((2, 3), keepdims=True), X.var((2, 3), keepdims=True)]),
    ("split", "[y, z] = split(x, axis = 2, ratios = [1, 2]);", lambda: [X[:, :, :2], X[:, :, 2:]]),
    ("reshape", "y = reshape(x, shape = [0, -1]);", lambda: X.reshape(2, -1)),
    ("add_n", "y = add_n([x, x, x]);", lambda: 3 * X),
    ("select", "y = select(x < 0.0, x * 2.0, x);", lambda: np.where(X < 0, 2 * X, X)),
]

HEADS = {"ratified": "version 1.0;\nextension KHR_enable_operator_expressions;\n", "provisional": "version 1.0\n"}
ALL = [("ratified", *row) for row in R] + [("provisional", *row) for row in PROVISIONAL]


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("nnef_operations"))


def without_form(tool: Nnefc) -> set[str]:
    return {line.split()[0] for line in tool.must("operations", "--without-openvino").splitlines()}


@pytest.mark.parametrize("place", range(len(ALL)), ids=[f"{dialect}-{name}-{i}" for i, (dialect, name, *_) in enumerate(ALL)])
def test_operation(tool: Nnefc, tmp_path: Path, place: int) -> None:
    dialect, _, body, expected = ALL[place]
    wanted = expected()
    wanted = wanted if isinstance(wanted, list) else [wanted]
    results = ["y", "z"][:len(wanted)]
    statements = f"x = external(shape = {SHAPE}); {body}"
    (tmp_path / "graph.nnef").write_text(f"{HEADS[dialect]}graph net( x ) -> ( {', '.join(results)} )\n{{ {statements} }}\n")
    np.save(tmp_path / "x.npy", X)
    found = tool.run(tmp_path, "--input", f"x={tmp_path / 'x.npy'}", "--backend", "reference", "--verify")
    for name, value in zip(results, wanted):
        assert found[name].shape == value.shape
        np.testing.assert_allclose(found[name].astype(float), value.astype(float), rtol=1e-4, atol=1e-5)
    written = tmp_path / "net.xml"
    done = tool.call("compile", tmp_path, "-o", written)
    if done.returncode == 1:
        told = set(re.findall(r"`(\w+)`, which makes `[^`]+`, has no form in OpenVINO IR", done.stderr))
        assert told and told <= without_form(tool)
        return
    assert done.returncode == 0, done.stderr
    for name, value in zip(result_names(written), openvino_outputs(written, {"x": X}), strict=True):
        assert found[name].dtype == value.dtype and found[name].shape == value.shape
        if value.dtype == np.float32:
            # OpenVINO's maximum of no elements is the lowest number, the text's is that of an empty set.
            value = np.where(value == np.finfo(np.float32).min, -np.inf, value)
        np.testing.assert_allclose(found[name].astype(float), value.astype(float), rtol=1e-4, atol=1e-5)


def test_every_operation_is_tried(tool: Nnefc) -> None:
    listed = {line.split()[0] for line in tool.must("operations").splitlines()}
    assert listed - ELSEWHERE == {operation for operation, *_ in R}


def test_what_only_the_provisional_dialect_has_is_tried() -> None:
    names = [set(re.findall(r"^fragment (\w+)", (STDLIB / f"{dialect}.nnef").read_text(), re.MULTILINE))
             for dialect in ("provisional", "ratified")]
    assert names[0] - names[1] <= {operation for operation, *_ in PROVISIONAL}


def test_the_regions_are_inside() -> None:
    assert math.prod(SHAPE) == X.size and (ROIS[:, 2:] <= 6).all()
