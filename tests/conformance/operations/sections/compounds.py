"""4.6: regions of interest; 4.7 (provisional 4.6): matrix multiplication; 4.9 (4.8): activations, linear layers, normalization,
quantization and miscellaneous operations."""

from __future__ import annotations

import numpy as np

import numpy_operations as m
import window_formulas as w
from case import BOTH, CANCELLED, MOVED, PROVISIONAL, RATIFIED, ROUNDED, SUMMED, Case, Section
from sections.elementwise import aligned

SHAPES = [[5], [2, 3], [2, 3, 4], [1, 2, 3, 2]]


def regions() -> list[Case]:
    pools, aligns = Section("4.6.1", 61), Section("4.6.2", 62)
    s = pools
    x = s.data(2, 3, 6, 7)
    corners = np.array([[0, 0, 4, 6], [1, 2, 6, 5], [2, 1, 4, 7], [0, 0, 6, 7]], np.float32)
    batch = [0, 1, 1, 0]
    given = {"x": x, "r": corners, "b": np.array(batch).reshape(-1, 1)}
    for size in [[1, 1], [2, 2], [2, 3], [3, 1], [4, 4]]:
        for kind in ["avg", "max"]:
            s.valid(f"{kind}_roi_pool", f"cells {size}", f"y = {kind}_roi_pool(x, r, b, output_size = {size})",
                    m.roi_pool(x.astype(float), corners, batch, size, kind), given, tolerance=MOVED if kind == "max" else ROUNDED,
                    note="cell (i, j) starts at i and j times its stride from the region's corner")
    for kind in ["avg", "max"]:
        near = given | {"r": corners + np.float32(0.25)}
        s.valid(f"{kind}_roi_pool", "corners are rounded", f"y = {kind}_roi_pool(x, r, b, output_size = [2, 2])",
                m.roi_pool(x.astype(float), corners, batch, [2, 2], kind), near, tolerance=MOVED if kind == "max" else ROUNDED)
    s = aligns
    for size in [[1, 1], [2, 2], [3, 5], [6, 7], [8, 4]]:
        for method in ["symmetric", "asymmetric", "aligned"]:
            if method == "aligned" and 1 in size:
                continue  # a division by zero in the text
            s.valid("roi_resample", f"{method} {size}", f"y = roi_resample(x, r, b, output_size = {size}, method = '{method}')",
                    m.roi_resample(x.astype(float), corners, batch, size, method), given, tolerance=SUMMED)
    for method in ["symmetric", "asymmetric", "aligned"]:
        for kind, form in {"avg": np.mean, "max": np.max}.items():
            for size, rate in [([2, 2], [2, 2]), ([2, 3], [1, 2]), ([1, 2], [3, 1])]:
                if method == "aligned" and any(a * b == 1 for a, b in zip(size, rate)):
                    continue
                fine = m.roi_resample(x.astype(float), corners, batch, [a * b for a, b in zip(size, rate)], method)
                s.valid(f"{kind}_roi_align", f"{method} {size} rate {rate}",
                        f"y = {kind}_roi_align(x, r, b, output_size = {size}, sampling_rate = {rate}, resize_method = '{method}')",
                        m.blocks(fine, rate, form), given, tolerance=SUMMED)
    bad = {"x": np.zeros([2, 3, 6, 7], np.float32), "r": np.zeros([4, 4], np.float32), "b": np.zeros([4, 1], np.int64)}
    for section, operation, more in [(pools, "avg_roi_pool", ""), (pools, "max_roi_pool", ""), (aligns, "roi_resample", "")]:
        call = f"y = {operation}(x, r, b, output_size = %s{more})"
        section.invalid(operation, "roi.output-size", "one size of two", call % "[2]", bad)
        section.invalid(operation, "roi.output-size", "size 0", call % "[2, 0]", bad)
        section.invalid(operation, "roi.rois", "three corners", call % "[2, 2]", bad | {"r": np.zeros([4, 3], np.float32)})
        section.invalid(operation, "roi.batch-index", "one index less", call % "[2, 2]", bad | {"b": np.zeros([3, 1], np.int64)})
        section.invalid(operation, "roi.batch-index", "two indices a region", call % "[2, 2]", bad | {"b": np.zeros([4, 2], np.int64)})
    aligns.invalid("roi_resample", "roi.method", "method unknown", "y = roi_resample(x, r, b, output_size = [2, 2], method = 'cubic')", bad)
    aligns.invalid("avg_roi_align", "roi.sampling-rate", "rate 0", "y = avg_roi_align(x, r, b, output_size = [2, 2], sampling_rate = [0, 1])", bad)
    return pools.cases + aligns.cases


def multiplication() -> list[Case]:
    s = Section("4.7", 47, "4.6")
    for a, b in [([2, 3], [3, 4]), ([1, 3], [3, 1]), ([3, 1], [1, 3]), ([1, 1], [1, 1]), ([17, 33], [33, 19]), ([2, 3, 4], [2, 4, 5]), ([1, 3, 4], [2, 4, 5]),
                 ([2, 3, 4], [1, 4, 5]), ([2, 1, 3, 4], [1, 5, 4, 2]), ([2, 3, 1, 4], [2, 3, 4, 1])]:
        x, z = s.data(*a), s.data(*b)
        for ta, tb in [(False, False), (True, False), (False, True), (True, True)]:
            p, q = x.swapaxes(-1, -2) if ta else x, z.swapaxes(-1, -2) if tb else z
            y = x.astype(float) @ z.astype(float)
            given = {"a": np.ascontiguousarray(p), "b": np.ascontiguousarray(q)}
            for names, dialect in [(("transposeA", "transposeB"), RATIFIED), (("trA", "trB"), PROVISIONAL)]:
                if dialect == PROVISIONAL and len(a) > 2:
                    continue
                text = "".join(f", {name} = true" for name, flag in zip(names, (ta, tb)) if flag)
                s.valid("matmul", f"{a} {b} {names[0][:2]} {int(ta)}{int(tb)}", f"y = matmul(a, b{text})", y, given, tolerance=SUMMED, dialects=(dialect,))
    pair = lambda p, q: {"a": np.zeros(p, np.float32), "b": np.zeros(q, np.float32)}  # noqa: E731
    s.invalid("matmul", "matmul.inner-extents", "3 and 4", "y = matmul(a, b)", pair([2, 3], [4, 2]))
    s.invalid("matmul", "matmul.inner-extents", "transposed 3 and 2", "y = matmul(a, b, transposeB = true)", pair([2, 3], [4, 2]))
    s.invalid("matmul", "matmul.rank", "rank 1", "y = matmul(a, b)", pair([3], [3]))
    s.invalid("matmul", "matmul.rank", "ranks 3 and 2", "y = matmul(a, b)", pair([2, 3, 4], [4, 2]))
    s.invalid("matmul", "binary.broadcast", "batches 2 and 3", "y = matmul(a, b)", pair([2, 3, 4], [3, 4, 2]))
    return s.cases


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {
    "sigmoid": (sigmoid, BOTH, [0.0, 40.0, -40.0, np.inf, -np.inf, np.nan]), "relu": (lambda x: np.maximum(x, 0), BOTH, [0.0, -0.0, -1e-30, np.inf, -np.inf]),
    "gelu": (lambda x: x * sigmoid(1.702 * x), (RATIFIED,), [0.0, 20.0, -20.0]), "silu": (lambda x: x * sigmoid(x), (RATIFIED,), [0.0, 40.0, -40.0]),
    "softplus": (lambda x: np.log(np.exp(x) + 1), BOTH, [0.0, 20.0, -20.0]), "elu": (lambda x: np.where(x < 0, np.expm1(x), x), BOTH, [0.0, -40.0, 40.0, -1e-3]),
    "selu": (lambda x: 1.05070102 * np.where(x < 0, 1.67326319 * np.expm1(x), x), (RATIFIED,), [0.0, -40.0, 40.0]),
    "tanh": (np.tanh, (PROVISIONAL,), [0.0, 9.0, -9.0]),
}


def activation() -> list[Case]:
    s = Section("4.9.1", 91, "4.8.1")
    with np.errstate(all="ignore"):
        for name, (form, dialects, points) in ACTIVATIONS.items():
            for shape in SHAPES:
                x = s.data(*shape) * 2
                s.valid(name, f"rank {len(shape)}", f"y = {name}(x)", form(x.astype(float)), {"x": x}, tolerance=SUMMED, dialects=dialects)
            for value in np.array(points, np.float32):
                # exp(x) - 1 of the specification's formula.
                tolerance = CANCELLED if name == "elu" and -0.1 < value < 0 else SUMMED
                s.valid(name, f"of {value}", f"y = {name}(x)", form(np.array([value], float)), {"x": np.array([value])}, tolerance=tolerance,
                        dialects=dialects[:1])
    x = s.data(2, 3, 4)
    for alpha in [0.0, 0.1, 1.0, -0.5, 2.0]:
        s.valid("leaky_relu", f"alpha {alpha}", f"y = leaky_relu(x, alpha = {alpha})", np.where(x < 0, alpha * x, x), {"x": x}, dialects=BOTH)
        s.valid("elu", f"alpha {alpha}", f"y = elu(x, alpha = {alpha})", np.where(x < 0, alpha * np.expm1(x.astype(float)), x), {"x": x}, tolerance=SUMMED)
        s.valid("selu", f"alpha {alpha}", f"y = selu(x, alpha = {alpha}, lambda = 1.5)", 1.5 * np.where(x < 0, alpha * np.expm1(x.astype(float)), x), {"x": x},
                tolerance=SUMMED)
    for shape in [[1, 3], [1, 1], [1], [], [2, 3, 4], [1, 3, 1], [2]]:
        a = s.data(*shape)
        v, k = aligned(x, a)
        s.valid("prelu", f"slopes {shape}", "y = prelu(x, a)", np.where(v < 0, k * v, v), {"x": x, "a": a})
    s.valid("prelu", "a literal", "y = prelu(x, 0.25)", np.where(x < 0, 0.25 * x, x), {"x": x}, tolerance=MOVED)
    for shape, axes in [([2, 5], None), ([2, 5], [1]), ([2, 5], [0]), ([2, 3, 4], None), ([2, 3, 4], [2]), ([2, 3, 4], [1, 2]), ([2, 3, 4], [0, 1, 2]),
                        ([1, 3, 2, 2], [2, 3]), ([1, 1], None), ([2, 3, 4], [2, 0])]:
        v = s.data(*shape) * 3
        k = tuple(axes or [1])
        e = np.exp(v.astype(float) - v.max(axis=k, keepdims=True))
        s.valid("softmax", f"{shape} axes {axes or 'by default'}", "y = softmax(x" + (f", axes = {axes})" if axes else ")"), e / e.sum(axis=k, keepdims=True),
                {"x": v}, tolerance=SUMMED, dialects=BOTH)
    big = np.array([[1000.0, 999.0, -1000.0]], np.float32)
    e = np.exp(big.astype(float) - 1000)
    s.valid("softmax", "no overflow", "y = softmax(x)", e / e.sum(), {"x": big}, tolerance=SUMMED, dialects=BOTH)
    s.invalid("softmax", "axis.range", "axis one beyond", "y = softmax(x, axes = [4])")
    s.invalid("softmax", "axis.range", "axis by default of a vector", "y = softmax(x)", {"x": np.zeros([4], np.float32)})
    s.invalid("leaky_relu", "binding.missing-argument", "no alpha", "y = leaky_relu(x)")
    s.invalid("prelu", "binary.broadcast", "3 slopes for 4 channels", "y = prelu(x, a)",
              {"x": np.zeros([2, 4, 8, 8], np.float32), "a": np.zeros([1, 3], np.float32)})
    return s.cases


def linear() -> list[Case]:
    s = Section("4.9.2", 192, "4.8.2")
    for batch, inputs, outputs in [(1, 1, 1), (2, 3, 4), (1, 17, 5), (5, 33, 65)]:
        x, f, b = s.data(batch, inputs), s.data(outputs, inputs), s.data(1, outputs)
        y = x.astype(float) @ f.T.astype(float)
        for what, text, bias, variables in [("no bias", "", 0, {}), ("a bias", ", b", b, {"b": b}), ("a literal", ", 0.5", 0.5, {})]:
            s.valid("linear", f"{batch} {inputs} {outputs} {what}", f"y = linear(x, f{text})", y + bias, {"x": x}, variables={"f": f} | variables,
                    tolerance=SUMMED, dialects=BOTH)
    s.invalid("linear", "matmul.inner-extents", "a filter that is transposed", "y = linear(x, f)", {"x": np.zeros([1, 3], np.float32)},
              variables={"f": np.zeros([3, 5], np.float32)})
    return s.cases


def normalization() -> list[Case]:
    s = Section("4.9.4", 94, "4.8.4")
    for shape, size in [([1, 5], [1, 3]), ([2, 6, 3], [1, 5, 1]), ([1, 5, 4, 4], [1, 3, 1, 1]), ([1, 4, 5, 5], [1, 1, 3, 3]), ([1, 4, 5, 5], [1, 4, 1, 1]),
                        ([1, 3, 4, 5], [1, 2, 3, 3])]:
        x = s.data(*shape)
        mean = lambda v: w.pool(v, "sum", size) / np.prod(size)  # noqa: E731, B023
        local = mean(x.astype(float) ** 2)
        for text, (alpha, beta, bias) in {"": (1, 0.5, 1), ", alpha = 0.3": (0.3, 0.5, 1), ", beta = 0.75": (1, 0.75, 1), ", bias = 2.0": (1, 0.5, 2),
                                          ", alpha = 0.001, beta = 0.75, bias = 1.0": (0.001, 0.75, 1)}.items():
            s.valid("local_response_normalization", f"{shape} size {size}{text}", f"y = local_response_normalization(x, size = {size}{text})",
                    x / (bias + alpha * local) ** beta, {"x": x}, tolerance=SUMMED, dialects=BOTH)
        s.valid("local_mean_normalization", f"{shape} size {size}", f"y = local_mean_normalization(x, size = {size})", x - mean(x), {"x": x},
                tolerance=SUMMED, dialects=BOTH)
        centred = x - mean(x)
        for operation, v in [("local_variance_normalization", x), ("local_contrast_normalization", centred)]:
            root = np.sqrt(mean(v.astype(float) ** 2))
            for text, (bias, epsilon) in {", bias = 0.5": (0.5, 0), ", bias = 0.1, epsilon = 1.0": (0.1, 1.0), ", epsilon = 0.75": (0, 0.75)}.items():
                s.valid(operation, f"{shape} size {size}{text}", f"y = {operation}(x, size = {size}{text})", v / np.maximum(root + bias, epsilon), {"x": x},
                        tolerance=SUMMED)
            s.valid(operation, f"{shape} size {size} provisional", f"y = {operation}(x, size = {size}, bias = 0.5)",
                    v / np.sqrt(root**2 + 0.5), {"x": x}, tolerance=SUMMED, dialects=(PROVISIONAL,))
    for shape, axes in [([2, 5], [1]), ([2, 3, 4], [1]), ([2, 3, 4], [1, 2]), ([2, 3, 4], [0]), ([1, 2, 3, 3], [2, 3]), ([4], [0])]:
        x = s.data(*shape)
        k = tuple(axes)
        l1 = np.abs(x.astype(float)).sum(axis=k, keepdims=True)
        l2 = np.square(x.astype(float)).sum(axis=k, keepdims=True)
        for text, (bias, epsilon) in {"": (0, 0), ", bias = 0.5": (0.5, 0), ", epsilon = 3.0": (0, 3), ", bias = 0.5, epsilon = 2.5": (0.5, 2.5)}.items():
            for operation, total in [("l1_normalization", l1), ("l2_normalization", np.sqrt(l2))]:
                s.valid(operation, f"{shape} axes {axes}{text}", f"y = {operation}(x, axes = {axes}{text})", x / np.maximum(total + bias, epsilon), {"x": x},
                        tolerance=SUMMED)
        for operation, total in [("l1_normalization", l1 + 0.5), ("l2_normalization", np.sqrt(l2 + 0.5))]:
            s.valid(operation, f"{shape} axes {axes} provisional", f"y = {operation}(x, axes = {axes}, bias = 0.5)", x / total, {"x": x}, tolerance=SUMMED,
                    dialects=(PROVISIONAL,))
    for shape, channel in [([2, 3], [1, 3]), ([2, 3, 4], [1, 3]), ([2, 3, 4, 4], [1, 3]), ([2, 3, 4], [1, 3, 1]), ([2, 3, 4], [1, 1])]:
        x = s.data(*shape)
        v = {name: s.data(*channel) if name != "v" else s.data(*channel, low=0.5, high=2) for name in "mvog"}
        mean, variance, offset, scale = (aligned(x, v[name])[1].astype(float) for name in "mvog")
        for epsilon in [0.0, 1e-3, 0.5]:
            s.valid("batch_normalization", f"{shape} by {channel} epsilon {epsilon}", f"y = batch_normalization(x, m, v, o, g, epsilon = {epsilon})",
                    offset + scale * (x - mean) / np.sqrt(variance + epsilon), {"x": x}, variables=v, tolerance=SUMMED,
                    dialects=BOTH if len(channel) == 2 else (RATIFIED,))
    x = s.data(2, 3, 4)
    s.valid("batch_normalization", "literals", "y = batch_normalization(x, 0.5, 4.0, 1.0, 2.0, epsilon = 0.0)", 1 + (x - 0.5), {"x": x}, tolerance=SUMMED,
            dialects=BOTH)
    for operation in ["local_response_normalization", "local_mean_normalization", "local_variance_normalization", "local_contrast_normalization"]:
        s.invalid(operation, "normalization.size", "three sizes of four", f"y = {operation}(x, size = [1, 3, 1])")
        s.invalid(operation, "normalization.size", "size 0", f"y = {operation}(x, size = [1, 0, 1, 1])")
    for operation in ["l1_normalization", "l2_normalization"]:
        s.invalid(operation, "axis.range", "axis one beyond", f"y = {operation}(x, axes = [4])")
    s.invalid("batch_normalization", "binding.missing-argument", "no epsilon", "y = batch_normalization(x, 0.0, 1.0, 0.0, 1.0)")
    s.invalid("batch_normalization", "binary.broadcast", "3 means for 4 channels", "y = batch_normalization(x, m, 1.0, 0.0, 1.0, epsilon = 0.1)",
              {"x": np.zeros([2, 4, 8, 8], np.float32), "m": np.zeros([1, 3], np.float32)})
    return s.cases


def min_max(x, low, high, bits: int, signed: bool, symmetric: bool) -> np.ndarray:
    r = 2**bits - 1 - (signed and symmetric)
    p = 2 ** (bits - 1) - symmetric if signed else 0
    z = np.maximum(np.minimum(x, high), low)
    q = m.round_up((z - low) / (high - low) * r) - p
    return (q + p) / r * (high - low) + low


def zero_point(x, z, scale, bits: int, signed: bool, symmetric: bool) -> np.ndarray:
    r = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
    low = 0 if not signed else -r if symmetric else -r - 1
    return (np.clip(m.round_up(x / scale) + z, low, r) - z) * scale


def quantization() -> list[Case]:
    s = Section("4.9.5", 95, "4.8.5")
    x = np.linspace(-3, 3, 49).astype(np.float32).reshape(7, 7) + np.float32(0.01)
    truth = lambda flag: str(flag).lower()  # noqa: E731
    for bits in [1, 2, 4, 8]:
        for signed, symmetric in [(False, False), (True, False), (True, True)]:
            if bits == 1 and symmetric:
                continue  # no step is left
            flags = f"bits = {bits}, signed = {truth(signed)}, symmetric = {truth(symmetric)}"
            s.valid("min_max_linear_quantize", flags, f"y = min_max_linear_quantize(x, -2.0, 2.5, {flags})",
                    min_max(x.astype(float), -2.0, 2.5, bits, signed, symmetric), {"x": x}, tolerance=SUMMED)
            s.valid("zero_point_linear_quantize", flags, f"y = zero_point_linear_quantize(x, z, k, {flags})", zero_point(x.astype(float), 1, 0.25, bits, signed, symmetric),
                    {"x": x}, variables={"z": np.array(1), "k": np.array(0.25, np.float32)}, tolerance=SUMMED)
        s.valid("linear_quantize", f"{bits} bits", f"y = linear_quantize(x, -2.0, 2.5, bits = {bits})", min_max(x.astype(float), -2.0, 2.5, bits, False, False),
                {"x": x}, tolerance=SUMMED)
        step = (2**bits - 1) / 4.5
        s.valid("linear_quantize", f"{bits} bits provisional", f"y = linear_quantize(x, -2.0, 2.5, bits = {bits})",
                m.round_up((np.clip(x.astype(float), -2, 2.5) + 2) * step) / step - 2, {"x": x}, tolerance=SUMMED, dialects=(PROVISIONAL,))
        a = np.abs(x) + np.float32(0.001)
        r = 2.0**bits - 1
        s.valid("logarithmic_quantize", f"{bits} bits", f"y = logarithmic_quantize(x, 3.0, bits = {bits})",
                np.sign(x) * 2.0 ** m.round_up(np.clip(np.log2(np.abs(x.astype(float))), 2 - r, 2)), {"x": x}, tolerance=SUMMED)
        low = 2.0 ** (2 - bits)
        s.valid("logarithmic_quantize", f"{bits} bits provisional", f"y = logarithmic_quantize(x, 3.0, bits = {bits})",
                2.0 ** m.round_up(np.log2(np.clip(a.astype(float), low, 4.0) / low)), {"x": a}, tolerance=SUMMED, dialects=(PROVISIONAL,))
    halves = np.array([-1.0, -0.5, 0.0, 0.5, 1.0], np.float32)
    s.valid("linear_quantize", "halves are rounded up", "y = linear_quantize(x, -1.0, 1.0, bits = 1)", min_max(halves.astype(float), -1, 1, 1, False, False),
            {"x": halves}, tolerance=MOVED)
    z = np.array([0.125, 0.375, -0.125, -0.375], np.float32)
    s.valid("zero_point_linear_quantize", "halves are rounded up", "y = zero_point_linear_quantize(x, z, k, bits = 8, signed = true, symmetric = false)",
            zero_point(z.astype(float), 0, 0.25, 8, True, False), {"x": z}, variables={"z": np.array(0), "k": np.array(0.25, np.float32)}, tolerance=MOVED)
    c = s.data(2, 3, 4)
    low, high = s.data(1, 3, low=-2, high=-1), s.data(1, 3, low=1, high=2)
    p, q = (aligned(c, v)[1].astype(float) for v in (low, high))
    s.valid("min_max_linear_quantize", "ranges of channels", "y = min_max_linear_quantize(x, a, b, bits = 4, signed = false, symmetric = false)",
            min_max(c.astype(float), p, q, 4, False, False), {"x": c}, variables={"a": low, "b": high}, tolerance=SUMMED)
    points, scales = np.array([[0, 3, -2]]), np.array([[0.25, 0.5, 0.125]], np.float32)
    s.valid("zero_point_linear_quantize", "points of channels", "y = zero_point_linear_quantize(x, z, k, bits = 4, signed = true, symmetric = false)",
            zero_point(c.astype(float), aligned(c, points)[1], aligned(c, scales)[1], 4, True, False), {"x": c}, variables={"z": points, "k": scales}, tolerance=SUMMED)
    for bits in [0, -1]:
        s.invalid("linear_quantize", "quantize.bits", f"{bits} bits", f"y = linear_quantize(x, -1.0, 1.0, bits = {bits})")
        s.invalid("logarithmic_quantize", "quantize.bits", f"{bits} bits", f"y = logarithmic_quantize(x, 1.0, bits = {bits})")
    s.invalid("zero_point_linear_quantize", "type.mismatch", "a zero point that is a scalar",
              "y = zero_point_linear_quantize(x, 0.0, 1.0, bits = 8, signed = true, symmetric = false)")
    return s.cases


def miscellaneous() -> list[Case]:
    s = Section("4.9.6", 96, "4.8.6")
    x = s.data(2, 3, 4)
    for times in [1, 2, 3]:
        names = [f"y{i}" for i in range(times)]
        s.valid("copy_n", f"{times} times", f"[{', '.join(names)}] = copy_n(x, times = {times})", {name: x for name in names}, {"x": x}, tolerance=MOVED,
                dialects=BOTH)
    for count in [1, 2, 3, 5]:
        given = {f"x{i}": s.data(2, 3) for i in range(count)}
        s.valid("add_n", f"of {count}", f"y = add_n([{', '.join(given)}])", sum(v.astype(float) for v in given.values()), given, dialects=BOTH)
    for axes in [[0], [1], [2], [1, 2], [0, 1, 2]]:
        k = tuple(axes)
        s.valid("moments", f"axes {axes}", f"y, z = moments(x, axes = {axes})",
                {"y": x.mean(axis=k, keepdims=True, dtype=float), "z": x.var(axis=k, keepdims=True, dtype=float)}, {"x": x}, tolerance=SUMMED, dialects=BOTH)
    s.invalid("moments", "axis.range", "axis one beyond", "y, z = moments(x, axes = [4])")
    s.invalid("copy_n", "assignment.length-mismatch", "two names of three", "[y, z] = copy_n(x, times = 3)")
    s.invalid("add_n", "binary.broadcast", "unequal shapes", "y = add_n([x, z])", {"x": np.zeros([2, 3], np.float32), "z": np.zeros([2, 4], np.float32)})
    return s.cases


def cases() -> list[Case]:
    return regions() + multiplication() + activation() + linear() + normalization() + quantization() + miscellaneous()
