"""4.3: sliding windows; 4.9.2: convolutions in two steps; 4.9.3: pooling."""

from __future__ import annotations

import itertools

import numpy as np

import numpy_operations as m
import window_formulas as w
from case import BOTH, MOVED, PROVISIONAL, RATIFIED, SUMMED, Case, Section

FILTER_BORDERS = ["constant", "replicate", "reflect", "reflect-even"]
POOL_BORDERS = [*FILTER_BORDERS, "ignore"]


def attributes(**values) -> str:
    """Named arguments, without those that are None."""
    def text(value) -> str:
        if isinstance(value, str):
            return f"'{value}'"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return f"({value[0]},{value[1]})"
        return "[" + ", ".join(map(text, value)) + "]" if isinstance(value, list) else str(value)

    return "".join(f", {name} = {text(value)}" for name, value in values.items() if value is not None)


def given(values: dict) -> dict:
    return {name: value for name, value in values.items() if value is not None}


# Spatial settings of rank 1 to 3: extents, filter, then stride, dilation, padding (None: not written).
SPATIAL = [
    ([7], [3], None, None, None), ([7], [3], [2], None, None), ([7], [4], [3], None, None), ([9], [3], None, [2], None),
    ([7], [1], [2], None, None), ([7], [3], None, None, [(0, 0)]), ([7], [3], None, None, [(2, 0)]), ([7], [3], None, None, [(0, 2)]),
    ([7], [3], [2], None, [(1, 1)]), ([7], [3], [3], None, [(1, 0)]), ([3], [3], None, None, [(0, 0)]), ([8], [2], [2], [3], [(1, 2)]),
    ([5, 6], [3, 3], None, None, None), ([5, 6], [3, 2], [2, 1], None, None), ([5, 6], [1, 3], [1, 2], [1, 2], None),
    ([5, 6], [3, 3], [1, 1], [1, 1], [(1, 1), (1, 1)]), ([5, 6], [3, 3], [2, 2], None, [(0, 1), (1, 0)]),
    ([5, 6], [2, 3], [1, 2], [2, 1], [(1, 0), (2, 2)]), ([5, 6], [5, 6], None, None, [(0, 0), (0, 0)]),
    ([1, 1], [1, 1], None, None, None), ([3, 4, 5], [2, 2, 2], None, None, None), ([3, 4, 5], [2, 3, 1], [1, 2, 2], None, [(0, 1), (1, 1), (0, 0)]),
    ([3, 4, 5], [1, 1, 3], None, [1, 1, 2], None),
]
NEGATIVE = [([7], [3], None, None, [(-1, 0)]), ([7], [3], None, None, [(0, -2)]), ([7], [2], [2], None, [(-1, 1)]),
            ([5, 6], [2, 2], None, None, [(1, -1), (-1, -1)])]


def name_of(extents, size, stride, dilation, padding) -> str:
    parts = [f"{len(extents)}d", "f" + "x".join(map(str, size))]
    parts += [f"s{'x'.join(map(str, stride))}"] if stride else []
    parts += [f"d{'x'.join(map(str, dilation))}"] if dilation else []
    parts += ["p" + "_".join(f"{p}.{q}".replace("-", "m") for p, q in padding)] if padding else []
    return " ".join(parts)


def dialects_of(padding, stride, size, extents, dilation) -> tuple[str, ...]:
    """The provisional text has no negative padding, and does not raise automatic padding to 0."""
    if padding is not None:
        return RATIFIED_ONLY if any(p < 0 for pair in padding for p in pair) else BOTH
    return BOTH if is_clamped(extents, size, given(dict(stride=stride, dilation=dilation))) else RATIFIED_ONLY


def is_clamped(extents: list[int], size: list[int], window: dict) -> bool:
    """Whether both texts define one padding: it is written, or no automatic padding is below 0."""
    one = [1] * len(size)
    settings = zip(extents, size, window.get("stride", one), window.get("dilation", one))
    return "padding" in window or all(min(w.automatic(*setting, False)) >= 0 for setting in settings)


RATIFIED_ONLY = (RATIFIED,)


def convolution() -> list[Case]:
    s = Section("4.3.1", 31)
    for setting in SPATIAL + NEGATIVE:
        extents, size, stride, dilation, padding = setting
        window = given(dict(stride=stride, dilation=dilation, padding=padding))
        x, f, b = s.data(2, 3, *extents), s.data(4, 3, *size), s.data(1, 4)
        dialects = dialects_of(padding, stride, size, extents, dilation)
        s.valid("conv", name_of(*setting), "y = conv(x, f, b" + attributes(**window) + ")", w.conv(x, f, b, **window), {"x": x},
                variables={"f": f, "b": b}, tolerance=SUMMED, dialects=dialects)
        for border in FILTER_BORDERS[1:]:
            try:
                y = w.conv(x, f, border=border, **window)
            except ValueError:
                continue  # one reflection is not enough
            s.valid("conv", f"{border} {name_of(*setting)}", "y = conv(x, f" + attributes(border=border, **window) + ")", y, {"x": x},
                    variables={"f": f}, tolerance=SUMMED, dialects=dialects)
        small = s.data(2, 4, *extents)
        try:
            y = w.deconv(small, f, b[:, :3], **window)
        except ValueError:
            continue
        s.valid("deconv", name_of(*setting), "y = deconv(x, f, b" + attributes(**window) + ")", y, {"x": small},
                variables={"f": f, "b": b[:, :3]}, tolerance=SUMMED, dialects=dialects if padding else RATIFIED_ONLY)
    groups(s)
    biases(s)
    output_shapes(s)
    refusals(s)
    return s.cases


def groups(s: Section) -> None:
    for channels, outputs, count in [(4, 4, 2), (4, 8, 2), (6, 3, 3), (4, 4, 4), (4, 8, 4), (4, 4, 0), (4, 12, 0), (1, 3, 0), (4, 6, 1)]:
        inputs = channels // (count or channels)
        x, f = s.data(2, channels, 5, 4), s.data(outputs, inputs, 3, 2)
        window = dict(padding=[(1, 1), (0, 1)], stride=[2, 1])
        dialects = BOTH if count else RATIFIED_ONLY
        s.valid("conv", f"groups {count} of {channels} to {outputs}", "y = conv(x, f" + attributes(**window, groups=count) + ")",
                w.conv(x, f, groups=count, **window), {"x": x}, variables={"f": f}, tolerance=SUMMED, dialects=dialects)
        z = s.data(2, outputs, 3, 4)
        # Depth-wise for a deconvolution: each channel of the result has its own filters.
        if count == 0 and outputs != channels:
            continue
        s.valid("deconv", f"groups {count} of {outputs} to {channels}", "y = deconv(x, f" + attributes(**window, groups=count) + ")",
                w.deconv(z, f, groups=count, **window), {"x": z}, variables={"f": f}, tolerance=SUMMED, dialects=dialects)
    x, f = s.data(1, 3, 6, 5), s.data(3, 1, 3, 3)
    for name, form in {"planewise_conv": w.conv, "planewise_deconv": w.deconv}.items():
        for window in [{}, dict(padding=[(1, 1), (1, 1)]), dict(border="replicate", stride=[1, 2], padding=[(1, 1), (1, 0)]),
                       dict(border="reflect", padding=[(1, 1), (2, 0)]), dict(border="reflect-even", padding=[(1, 1), (0, 2)]),
                       dict(dilation=[2, 1], padding=[(2, 2), (1, 1)])]:
            if name == "planewise_deconv" and window.get("border"):
                continue
            s.valid(name, " ".join(window) or "defaults", f"y = {name}(x, f" + attributes(**window) + ")",
                    form(x, f, groups=3, **window), {"x": x}, variables={"f": f}, tolerance=SUMMED, dialects=(PROVISIONAL,))


def biases(s: Section) -> None:
    x, f = s.data(2, 3, 5), s.data(4, 3, 3)
    for what, text, bias, variables in [("omitted", "", 0.0, {}), ("a literal", ", 0.5", 0.5, {}), ("of one item", ", b", 0.25, {"b": np.full([1, 1], 0.25, np.float32)}),
                                        ("of full rank", ", b", None, {"b": s.data(1, 4, 1)})]:
        value = variables["b"] if bias is None else bias
        s.valid("conv", f"bias {what}", f"y = conv(x, f{text})", w.conv(x, f, value), {"x": x}, variables={"f": f} | variables,
                tolerance=SUMMED, dialects=BOTH if what != "of full rank" else RATIFIED_ONLY)
    s.valid("conv", "bias by name", "y = conv(x, f, bias = 0.5)", w.conv(x, f, 0.5), {"x": x}, variables={"f": f}, tolerance=SUMMED, dialects=BOTH)
    s.valid("conv", "a filter that is computed", "g = mul(f, 2.0); y = conv(x, g)", w.conv(x, 2 * f), {"x": x}, variables={"f": f},
            tolerance=SUMMED)
    s.valid("conv", "a filter that is external", "y = conv(x, f)", w.conv(x, f), {"x": x, "f": f}, tolerance=SUMMED)
    one = s.data(2, 3)
    s.valid("conv", "no spatial axis", "y = conv(x, f)", one @ f[:, :, 0].T, {"x": one}, variables={"f": f[:, :, 0]}, tolerance=SUMMED)


def output_shapes(s: Section) -> None:
    f = s.data(3, 2, 3)
    for extent, stride, shape, padding in [(4, 2, 8, None), (4, 2, 7, None), (3, 3, 7, None), (3, 3, 9, None), (4, 2, 8, [(1, 0)]),
                                           (4, 2, 8, [(0, 1)]), (4, 1, 4, None), (4, 2, 9, [(0, 0)]), (4, 2, 10, [(0, 0)])]:
        x = s.data(2, 3, extent)
        window = given(dict(stride=[stride], padding=padding))
        s.valid("deconv", f"output shape {shape} of {extent} by {stride} {padding or ''}",
                "y = deconv(x, f" + attributes(**window, output_shape=[2, 2, shape]) + ")",
                w.deconv(x, f, output_shape=[2, 2, shape], **window), {"x": x}, variables={"f": f}, tolerance=SUMMED)


def refusals(s: Section) -> None:
    x = {"x": np.zeros([1, 4, 8, 8], np.float32)}
    f = {"f": np.zeros([6, 4, 3, 3], np.float32)}
    for operation in ["conv", "deconv"]:
        first = x if operation == "conv" else {"x": np.zeros([1, 6, 8, 8], np.float32)}
        for rule, what, text in [
                ("window.stride", "stride 0", ", stride = [0, 1]"), ("window.stride", "second stride negative", ", stride = [1, -1]"),
                ("window.stride", "one stride of two", ", stride = [1]"), ("window.stride", "three strides of two", ", stride = [1, 1, 1]"),
                ("window.dilation", "dilation 0", ", dilation = [1, 0]"), ("window.dilation", "one dilation of two", ", dilation = [2]"),
                ("window.padding", "one pair of two", ", padding = [(1,1)]"), ("window.padding", "three pairs of two", ", padding = [(1,1), (1,1), (0,0)]"),
                ("window.border", "border ignore", ", border = 'ignore'"), ("window.border", "border unknown", ", border = 'wrap'"),
                ("conv.groups", "groups negative", ", groups = -1")]:
            s.invalid(operation, rule, what, f"y = {operation}(x, f{text})", first, variables=f)
    s.invalid("conv", "conv.groups", "groups do not divide the outputs", "y = conv(x, f, groups = 4)", x,
              variables={"f": np.zeros([6, 1, 3, 3], np.float32)})
    s.invalid("conv", "conv.channels", "channels of the filter one less", "y = conv(x, f)", x, variables={"f": np.zeros([6, 3, 3, 3], np.float32)})
    s.invalid("conv", "conv.channels", "channels of the filter one more", "y = conv(x, f)", x, variables={"f": np.zeros([6, 5, 3, 3], np.float32)})
    s.invalid("conv", "conv.channels", "groups 2 and all channels", "y = conv(x, f, groups = 2)", x, variables=f)
    s.invalid("conv", "conv.rank", "rank of the filter one less", "y = conv(x, f)", x, variables={"f": np.zeros([6, 4, 3], np.float32)})
    s.invalid("conv", "conv.bias", "bias along the batch", "y = conv(x, f, b)", x, variables=f | {"b": np.zeros([6], np.float32)})
    s.invalid("conv", "conv.bias", "bias one short", "y = conv(x, f, b)", x, variables=f | {"b": np.zeros([1, 5], np.float32)})
    s.invalid("conv", "conv.bias", "bias with pixels", "y = conv(x, f, b)", x, variables=f | {"b": np.zeros([1, 6, 8], np.float32)})
    s.invalid("conv", "window.fit", "a filter one larger than the padded extent", "y = conv(x, f, padding = [(0,0), (0,0)])", x,
              variables={"f": np.zeros([6, 4, 9, 1], np.float32)})
    s.invalid("deconv", "window.output-shape", "an output shape that scales down to another extent",
              "y = deconv(x, f, stride = [2, 2], output_shape = [1, 4, 17, 16])", {"x": np.zeros([1, 6, 8, 8], np.float32)}, variables=f)
    s.invalid("conv", "binding.unknown-argument", "an output shape", "y = conv(x, f, output_shape = [1, 6, 8, 8])", x, variables=f)


# Windows over all axes: extents, size, stride, dilation, padding.
WINDOWS = [
    ([7], [3], None, None, None), ([7], [3], [2], None, None), ([7], [2], None, [3], [(1, 2)]), ([7], [4], [3], None, [(0, 0)]),
    ([2, 3], [1, 2], None, None, None), ([2, 3, 6, 5], [1, 1, 3, 3], None, None, None), ([2, 3, 6, 5], [1, 1, 2, 2], [1, 1, 2, 2], None, None),
    ([2, 3, 6, 5], [1, 1, 3, 2], [1, 1, 2, 1], None, [(0, 0), (0, 0), (1, 0), (0, 1)]), ([2, 3, 6, 5], [1, 1, 3, 3], [1, 1, 1, 1], [1, 1, 2, 1], None),
    ([2, 3, 6, 5], [1, 1, 6, 5], None, None, [(0, 0)] * 4), ([2, 3, 4, 4], [2, 1, 2, 2], None, None, [(0, 1), (0, 0), (1, 0), (0, 0)]),
    ([2, 4, 3, 3], [1, 3, 1, 1], None, None, None), ([1, 2, 3, 4, 4], [1, 1, 2, 2, 2], [1, 1, 1, 2, 2], None, [(0, 0)] * 5),
    ([1, 2, 3, 4, 4], [1, 1, 3, 3, 3], None, None, None), ([2, 3, 6, 5], [1, 1, 1, 1], [1, 1, 2, 3], None, [(0, 0)] * 4),
]
NEGATIVE_WINDOWS = [([7], [3], None, None, [(-1, 0)]), ([7], [3], None, None, [(1, -2)]),
                    ([2, 3, 6, 5], [1, 1, 2, 2], None, None, [(0, 0), (0, -1), (-2, 1), (0, 0)])]

SUMS = {"sum": ("box", {}), "avg": ("box", {"normalize": True})}


def box() -> list[Case]:
    s = Section("4.3.2", 32)
    for setting, border in itertools.product(WINDOWS + NEGATIVE_WINDOWS, POOL_BORDERS):
        extents, size, stride, dilation, padding = setting
        window = given(dict(stride=stride, dilation=dilation, padding=padding))
        x = s.data(*extents)
        try:
            total = w.pool(x, "sum", size, border, **window)
            mean = w.pool(x, "avg", size, border, **window)
        except ValueError:
            continue
        written = dict(size=size, border=None if border == "constant" else border, **window)
        dialects = dialects_of(padding, stride, size, extents, dilation)
        s.valid("box", f"{border} {name_of(*setting)}", "y = box(x" + attributes(**written) + ")", total, {"x": x},
                tolerance=SUMMED, dialects=dialects)
        s.valid("box", f"mean {border} {name_of(*setting)}", "y = box(x" + attributes(**written, normalize=True) + ")", mean, {"x": x},
                tolerance=SUMMED, dialects=dialects)
    for setting in WINDOWS:
        extents, size, stride, dilation, padding = setting
        window = given(dict(stride=stride, dilation=dilation, padding=padding))
        x = s.data(*extents)
        for normalize in [False, True]:
            try:
                y = w.debox(x, size, normalize=normalize, **window)
            except ValueError:
                continue
            text = attributes(size=size, **window, normalize=True if normalize else None)
            s.valid("debox", f"{'mean ' if normalize else ''}{name_of(*setting)}", f"y = debox(x{text})", y, {"x": x}, tolerance=SUMMED,
                    dialects=BOTH if padding else RATIFIED_ONLY)
    for extent, shape in [(4, 8), (4, 7)]:
        x = s.data(2, extent)
        s.valid("debox", f"output shape {shape}", f"y = debox(x, size = [1, 3], stride = [1, 2], output_shape = [2, {shape}])",
                w.debox(x, [1, 3], stride=[1, 2], output_shape=[2, shape]), {"x": x}, tolerance=SUMMED)
    window_refusals(s, "box", "y = box(x, %s)")
    window_refusals(s, "debox", "y = debox(x, %s)", borders=False)
    return s.cases


def window_refusals(s: Section, operation: str, statement: str, *, borders: bool = True) -> None:
    size = "size = [1, 1, 3, 3]"
    for rule, what, text in [
            ("window.size", "size 0", "size = [1, 1, 0, 3]"), ("window.size", "size negative", "size = [1, 1, 3, -1]"),
            ("window.size", "three sizes of four", "size = [1, 1, 3]"), ("window.size", "five sizes of four", "size = [1, 1, 3, 3, 1]"),
            ("window.stride", "stride 0", size + ", stride = [1, 1, 0, 1]"), ("window.stride", "last stride negative", size + ", stride = [1, 1, 1, -2]"),
            ("window.stride", "spatial strides alone", size + ", stride = [2, 2]"),
            ("window.dilation", "dilation 0", size + ", dilation = [1, 1, 1, 0]"), ("window.dilation", "spatial dilations alone", size + ", dilation = [2, 2]"),
            ("window.padding", "spatial padding alone", size + ", padding = [(1,1), (1,1)]"),
            ("window.border", "border unknown", size + ", border = 'wrap'")]:
        s.invalid(operation, rule, what, statement % text)
    s.invalid(operation, "binding.missing-argument", "no size", (statement % "").replace(", )", ")"))
    if borders:
        s.invalid(operation, "window.fit", "a window one larger than the padded extent",
                  statement % "size = [1, 1, 9, 1], padding = [(0,0), (0,0), (0,0), (0,0)]")
        s.invalid(operation, "window.fit", "a dilated window one larger than the padded extent",
                  statement % "size = [1, 1, 1, 5], dilation = [1, 1, 1, 2], padding = [(0,0), (0,0), (0,0), (0,0)]")
        s.invalid(operation, "window.border-reach", "a reflection beyond the extent",
                  statement % "size = [1, 1, 3, 1], border = 'reflect', padding = [(0,0), (0,0), (8,0), (0,0)]")


def sampling() -> list[Case]:
    s = Section("4.3.3", 33)
    for setting, border in itertools.product(WINDOWS, POOL_BORDERS):
        extents, size, stride, dilation, padding = setting
        window = given(dict(stride=stride, dilation=dilation, padding=padding))
        x = s.distinct(*extents)
        x[x == 0] = 0.0625  # a value of the tensor is never that of a constant border
        try:
            index = w.pool(x, "argmax", size, border, **window)
        except ValueError:
            continue
        written = attributes(size=size, border=None if border == "constant" else border, **window)
        s.valid("argmax_pool", f"{border} {name_of(*setting)}", f"y = argmax_pool(x{written})", index, {"x": x}, tolerance=MOVED)
        if border == "ignore":
            if PROVISIONAL in dialects_of(padding, stride, size, extents, dilation):  # no position is in the border
                s.valid("argmax_pool", f"{border} {name_of(*setting)}", f"i = argmax_pool(x{written}); "
                        f"y = sample(x, i{attributes(size=size, **window)})", w.pool(x, "max", size, border, **window), {"x": x},
                        tolerance=MOVED, dialects=(PROVISIONAL,))
            continue
        z = s.data(*extents)
        if PROVISIONAL in dialects_of(padding, stride, size, extents, dilation):  # coordinates are seen through `sample`
            s.valid("argmax_pool", f"{border} {name_of(*setting)}", f"i = argmax_pool(x{written}); y = sample(x, i{written})",
                    w.pool(x, "max", size, border, **window), {"x": x}, tolerance=MOVED, dialects=(PROVISIONAL,))
        s.valid("sample", f"{border} {name_of(*setting)}", f"i = argmax_pool(x{written}); y = sample(z, i{written})",
                w.sample(z, index, size, border, **window), {"x": x, "z": z}, tolerance=MOVED,
                dialects=dialects_of(padding, stride, size, extents, dilation))
        if border == "constant" and padding is not None and all(p == q == 0 for p, q in padding):
            v = s.data(*index.shape)
            s.valid("desample", name_of(*setting), f"i = argmax_pool(x{written}); y = desample(v, i{written})",
                    w.desample(v, index, size, **window), {"x": x, "v": v}, tolerance=SUMMED, dialects=BOTH)
    ties = np.array([[1, 3, 3, 0], [2, 2, 2, 2]], np.float32)
    s.valid("argmax_pool", "the first of equal maxima", "y = argmax_pool(x, size = [1, 3], padding = [(0,0), (0,0)])",
            np.array([[1, 0], [0, 0]]), {"x": ties}, tolerance=MOVED)
    s.valid("argmax_pool", "a border of zeros is the maximum", "y = argmax_pool(x, size = [1, 3], padding = [(0,0), (1,1)])",
            w.pool(-ties - 1, "argmax", [1, 3], padding=[(0, 0), (1, 1)]), {"x": -ties - 1}, tolerance=MOVED)
    x = s.distinct(1, 2, 4, 4)
    window = dict(size=[1, 1, 2, 2], stride=[1, 1, 2, 2], padding=[(0, 0)] * 4)
    index, text = w.pool(x, "argmax", **window), attributes(**window)
    for shape in [[1, 2, 5, 4], [1, 2, 4, 5], [1, 2, 5, 5]]:
        v = s.data(*index.shape)
        s.valid("desample", f"output shape {shape}", f"i = argmax_pool(x{text}); y = desample(v, i{text}, output_shape = {shape})",
                w.desample(v, index, output_shape=shape, **window), {"x": x, "v": v}, tolerance=SUMMED)
    overlap = dict(size=[1, 3], stride=[1, 1], padding=[(0, 0), (1, 1)])
    x = s.distinct(2, 6) + np.float32(20)
    index, text, v = w.pool(x, "argmax", **overlap), attributes(**overlap), s.data(2, 6)
    s.valid("desample", "values of one position add up", f"i = argmax_pool(x{text}); y = desample(v, i{text})",
            w.desample(v, index, **overlap), {"x": x, "v": v}, tolerance=SUMMED, dialects=BOTH)
    window_refusals(s, "argmax_pool", "y = argmax_pool(x, %s)")
    s.invalid("sample", "window.border", "border ignore", "i = argmax_pool(x, size = [1, 1, 2, 2]); y = sample(x, i, size = [1, 1, 2, 2], border = 'ignore')")
    s.invalid("desample", "window.border", "border replicate",
              "i = argmax_pool(x, size = [1, 1, 2, 2]); y = desample(x, i, size = [1, 1, 2, 2], border = 'replicate')")
    s.invalid("sample", "sample.index", "indices of another shape", "i = argmax_reduce(x, axes = [3]); y = sample(x, i, size = [1, 1, 2, 2])")
    s.invalid("sample", "type.mismatch", "indices that are scalars", "y = sample(x, x, size = [1, 1, 2, 2])")
    return s.cases


def scaling() -> list[Case]:
    s = Section("4.3.4", 34)
    settings = [([1, 2, 6], [2]), ([1, 2, 6], [3]), ([2, 3, 4, 6], [2, 2]), ([2, 1, 4, 6], [2, 3]), ([1, 2, 4, 6], [1, 2]), ([1, 1, 2, 4, 4], [2, 2, 2])]
    for extents, factor in settings:
        x = s.data(*extents)
        steps = tuple(slice(None, None, f) for f in [1, 1, *factor])
        s.valid("nearest_downsample", f"{extents} by {factor}", f"y = nearest_downsample(x, factor = {factor})", x[steps], {"x": x},
                tolerance=MOVED, dialects=BOTH)
        window = [1, 1, *factor]
        s.valid("area_downsample", f"{extents} by {factor}", f"y = area_downsample(x, factor = {factor})",
                w.pool(x, "avg", window, stride=window, padding=[(0, 0)] * len(window)), {"x": x}, tolerance=SUMMED, dialects=BOTH)
        y = x
        for axis, f in enumerate(factor):
            y = y.repeat(f, axis + 2)
        s.valid("nearest_upsample", f"{extents} by {factor}", f"y = nearest_upsample(x, factor = {factor})", y, {"x": x}, tolerance=MOVED,
                dialects=BOTH)
        for method, border in itertools.product(["symmetric", "asymmetric", "aligned"], FILTER_BORDERS):
            s.valid("multilinear_upsample", f"{method} {border} {extents} by {factor}",
                    "y = multilinear_upsample(x" + attributes(factor=factor, method=method, border=border) + ")",
                    m.multilinear_upsample(x.astype(float), factor, method, border), {"x": x}, tolerance=SUMMED,
                    dialects=BOTH)
    x = s.data(1, 2, 3, 3)
    s.valid("multilinear_upsample", "defaults", "y = multilinear_upsample(x, factor = [2, 2])", m.multilinear_upsample(x.astype(float), [2, 2]), {"x": x},
            tolerance=SUMMED, dialects=BOTH)
    for operation in ["nearest_upsample", "multilinear_upsample", "nearest_downsample", "area_downsample"]:
        s.invalid(operation, "sampling.factor", "factor 0", f"y = {operation}(x, factor = [2, 0])")
        s.invalid(operation, "sampling.factor", "factor negative", f"y = {operation}(x, factor = [-2, 2])")
        s.invalid(operation, "sampling.factor", "one factor of two", f"y = {operation}(x, factor = [2])")
    for operation in ["nearest_downsample", "area_downsample"]:
        s.invalid(operation, "sampling.factor", "a factor that does not divide the extent", f"y = {operation}(x, factor = [3, 2])")
    s.invalid("multilinear_upsample", "sampling.method", "method unknown", "y = multilinear_upsample(x, factor = [2, 2], method = 'cubic')")
    s.invalid("multilinear_upsample", "sampling.border", "border ignore", "y = multilinear_upsample(x, factor = [2, 2], border = 'ignore')")
    return s.cases


def in_two_steps() -> list[Case]:
    s = Section("4.9.2", 92, "4.8.2")
    x = s.data(2, 4, 5, 6)
    for what, window in [("defaults", {}), ("padding", dict(padding=[(1, 0), (2, 1)])), ("stride", dict(stride=[2, 1], padding=[(1, 1), (1, 1)])),
                         ("dilation", dict(dilation=[1, 2], padding=[(0, 1), (2, 2)])), ("replicate", dict(border="replicate", padding=[(1, 1), (1, 1)])),
                         ("reflect", dict(border="reflect", padding=[(1, 1), (1, 1)])), ("reflect even", dict(border="reflect-even"))]:
        plane, point, b = s.data(4, 1, 3, 3), s.data(6, 4, 1, 1), s.data(1, 6)
        arguments = attributes(**window)
        s.valid("separable_conv", what, f"y = separable_conv(x, p, f, b{arguments})", w.conv(w.conv(x, plane, groups=0, **window), point, b),
                {"x": x}, variables={"p": plane, "f": point, "b": b}, tolerance=SUMMED, dialects=BOTH)
        if "border" in window:
            continue
        back = s.data(4, 3, 1, 1)
        planes, c = s.data(3, 1, 3, 3), s.data(1, 3)
        s.valid("separable_deconv", what, f"y = separable_deconv(x, p, f, b{arguments})",
                w.deconv(w.deconv(x, back), planes, c, groups=0, **window), {"x": x}, variables={"p": planes, "f": back, "b": c},
                tolerance=SUMMED, dialects=BOTH if window.get("padding") else RATIFIED_ONLY)
    point = s.data(6, 2, 1, 1)
    s.valid("separable_conv", "groups of the second step", "y = separable_conv(x, p, f, groups = 2)",
            w.conv(w.conv(x, plane, groups=0), point, groups=2), {"x": x}, variables={"p": plane, "f": point}, tolerance=SUMMED, dialects=BOTH)
    s.invalid("separable_conv", "conv.channels", "a plane filter of all channels", "y = separable_conv(x, p, f)", {"x": x},
              variables={"p": np.zeros([4, 4, 3, 3], np.float32), "f": np.zeros([6, 4, 1, 1], np.float32)})
    return s.cases


def pooling() -> list[Case]:
    s = Section("4.9.3", 93, "4.8.3")
    kinds = {"max_pool": "max", "avg_pool": "avg", "rms_pool": "rms"}
    for setting, border in itertools.product(WINDOWS, POOL_BORDERS):
        extents, size, stride, dilation, padding = setting
        window = given(dict(stride=stride, dilation=dilation, padding=padding))
        x = s.distinct(*extents)
        x[x == 0] = 0.0625
        written = attributes(size=size, border=None if border == "constant" else border, **window)
        dialects = dialects_of(padding, stride, size, extents, dilation)
        for operation, kind in kinds.items():
            try:
                y = w.pool(x, kind, size, border, **window)
            except ValueError:
                continue
            s.valid(operation, f"{border} {name_of(*setting)}", f"y = {operation}(x{written})", y, {"x": x},
                    tolerance=MOVED if kind == "max" else SUMMED, dialects=dialects)
            if kind == "max":
                s.valid("max_pool_with_index", f"{border} {name_of(*setting)}", f"y, i = max_pool_with_index(x{written})",
                        {"y": y, "i": w.pool(x, "argmax", size, border, **window)}, {"x": x}, tolerance=MOVED)
                if PROVISIONAL in dialects:  # whose text leaves open how a coordinate is written as a number
                    s.valid("max_pool_with_index", f"{border} {name_of(*setting)}", f"y, i = max_pool_with_index(x{written})", y, {"x": x},
                            tolerance=MOVED, dialects=(PROVISIONAL,))
    for operation in ["max_pool", "avg_pool", "rms_pool", "max_pool_with_index"]:
        target = "y, i" if operation.endswith("index") else "y"
        window_refusals(s, operation, f"{target} = {operation}(x, %s)")
    return s.cases


def partial_lists() -> list[Case]:
    """Provisional lists may end early: what is missing of size, stride and dilation is 1, of padding automatic."""
    s = Section("4.3", 39)
    x, f = s.data(1, 2, 6, 5), s.data(3, 2, 3, 3)
    only = dict(dialects=(PROVISIONAL,), tolerance=SUMMED)
    s.valid("box", "two sizes of four", "y = box(x, size = [1, 2])", w.pool(x, "sum", [1, 2, 1, 1]), {"x": x}, **only)
    s.valid("avg_pool", "sizes and strides", "y = avg_pool(x, size = [1, 1, 3], stride = [1, 1, 2])",
            w.pool(x, "avg", [1, 1, 3, 1], stride=[1, 1, 2, 1]), {"x": x}, **only)
    s.valid("max_pool", "padding of the first axes", "y = max_pool(x, size = [1, 1, 3, 3], padding = [(0,0), (0,0), (0,0)], border = 'ignore')",
            w.pool(x, "max", [1, 1, 3, 3], "ignore", padding=[(0, 0), (0, 0), (0, 0), (1, 1)]), {"x": x}, **only)
    s.valid("conv", "padding of the first axis", "y = conv(x, f, padding = [(0,1)])", w.conv(x, f, padding=[(0, 1), (1, 1)]), {"x": x},
            variables={"f": f}, **only)
    s.valid("conv", "stride of the first axis", "y = conv(x, f, stride = [2])", w.conv(x, f, stride=[2, 1]), {"x": x}, variables={"f": f}, **only)
    s.valid("conv", "dilation of the first axis", "y = conv(x, f, dilation = [2])", w.conv(x, f, dilation=[2, 1]), {"x": x}, variables={"f": f}, **only)
    # The stride of 4 is larger than the window, so that the text's automatic padding removes items.
    y = w.pool(x, "sum", [1, 1, 2, 1], stride=[1, 1, 4, 1], clamped=False)
    s.valid("box", "automatic padding that is negative", "y = box(x, size = [1, 1, 2], stride = [1, 1, 4])", y, {"x": x}, **only)
    return s.cases


def cases() -> list[Case]:
    return convolution() + box() + sampling() + scaling() + in_two_steps() + pooling() + partial_lists()
