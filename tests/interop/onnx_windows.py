"""Translations of the sliding-window operations: convolution, box filters, pooling, sampling."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onnx_builder import Builder, Unsupported

Padding = list[tuple[int, int]]


def auto_padding(extents: list[int], size: list[int], stride: list[int], dilation: list[int]) -> Padding:
    """Returns the padding for ceil(X / s) outputs, with the odd element after the data."""
    pads = []
    for extent, f, s, d in zip(extents, size, stride, dilation):
        down = -(-extent // s)
        total = max((down - 1) * s + (f - 1) * d + 1 - extent, 0)
        pads.append((total // 2, total - total // 2))
    return pads


@dataclass(frozen=True)
class Window:
    """The geometry of a window: one entry for each dimension of `extents`."""

    extents: list[int]
    size: list[int]
    stride: list[int]
    dilation: list[int]
    padding: Padding

    @staticmethod
    def of(extents: list[int], size: list[int], stride: list[int] = (), dilation: list[int] = (),
           padding: Padding = ()) -> Window:
        """Completes the empty lists of an operation."""
        ones = [1] * len(extents)
        stride, dilation = list(stride) or ones, list(dilation) or ones
        pads = list(padding) or auto_padding(extents, size, stride, dilation)
        return Window(list(extents), list(size), stride, dilation, pads)

    @staticmethod
    def from_attributes(extents: list[int], size: list[int], attributes: dict[str, Any]) -> Window:
        return Window.of(extents, size, attributes["stride"], attributes["dilation"],
                         attributes["padding"])

    def moving(self) -> list[int]:
        """Returns the dimensions in which the window has an effect."""
        still = (1, 1, (0, 0))
        return [i for i, what in enumerate(zip(self.size, self.stride, self.padding)) if what != still]

    def pick(self, axes: list[int]) -> Window:
        """Returns the window restricted to the given dimensions."""
        lists = (self.extents, self.size, self.stride, self.dilation, self.padding)
        return Window(*([values[axis] for axis in axes] for values in lists))

    def padded(self) -> Window:
        """Returns the window for an input that includes the padding."""
        extents = [x + p + q for x, (p, q) in zip(self.extents, self.padding)]
        return replace(self, extents=extents, padding=[(0, 0)] * len(extents))

    def pads(self) -> list[int]:
        """Returns the padding in ONNX's order: all begins, then all ends."""
        return [p for p, _ in self.padding] + [q for _, q in self.padding]

    def zeros_seen(self) -> np.ndarray:
        """Returns 0 for each output whose window reaches into the padding, else -inf."""
        seen = np.zeros([1] * len(self.extents), bool)
        for axis, (count, x, f, s, d, (p, _)) in enumerate(
                zip(self.outputs(), self.extents, self.size, self.stride, self.dilation, self.padding)):
            first = np.arange(count) * s - p
            outside = (first < 0) | (first + (f - 1) * d >= x)
            shape = [-1 if i == axis else 1 for i in range(len(self.extents))]
            seen = seen | outside.reshape(shape)
        return np.where(seen, 0.0, -math.inf)

    def outputs(self) -> list[int]:
        """Returns the down-scaled extents."""
        return [(p + x + q - (f - 1) * d - 1) // s + 1 for x, f, s, d, (p, q)
                in zip(self.extents, self.size, self.stride, self.dilation, self.padding)]


# --- borders ------------------------------------------------------------------------------------


def border_indices(extent: int, before: int, after: int, border: str) -> np.ndarray:
    """Returns for each index of the padded extent the index of its value in the input."""
    i = np.arange(-before, extent + after)
    if border == "replicate":
        return np.clip(i, 0, extent - 1)
    if border == "reflect":
        return np.where(i < 0, -i, np.where(i >= extent, 2 * (extent - 1) - i, i))
    if border == "reflect-even":
        return np.where(i < 0, -i - 1, np.where(i >= extent, 2 * extent - 1 - i, i))
    raise Unsupported(f"border '{border}'")


def pad(b: Builder, x: str, extents: list[int], padding: Padding, border: str,
        value: float = 0.0) -> str:
    """Pads or, for negative padding, crops all dimensions of a tensor.

    It avoids ONNX's Pad: ONNX Runtime fuses that into poolings, which then reject or change it.
    """
    extents = list(extents)
    for axis, (p, q) in enumerate(padding):
        if border != "constant" and (p or q):
            indices = border_indices(extents[axis], p, q, border)
            x = b.node("Gather", [x, b.ints(indices.tolist())], axis=axis)
        elif p or q:
            x = _fill(b, _crop(b, x, extents[axis], axis, p, q), extents, axis, p, q, value)
        extents[axis] += p + q
    return x


def _crop(b: Builder, x: str, extent: int, axis: int, p: int, q: int) -> str:
    if p >= 0 and q >= 0:
        return x
    ends = [max(-p, 0)], [extent + min(q, 0)]
    return b.node("Slice", [x, b.ints(ends[0]), b.ints(ends[1]), b.ints([axis])])


def _fill(b: Builder, x: str, extents: list[int], axis: int, p: int, q: int, value: float) -> str:
    if p <= 0 and q <= 0:
        return x
    before, after = ([b.filled([*extents[:axis], n, *extents[axis + 1:]], value)] if n > 0 else []
                     for n in (p, q))
    return b.node("Concat", [*before, x, *after], axis=axis)


def pad_operation(b: Builder, op: Any) -> None:
    x, border = op.inputs["input"], op.attribs["border"]
    padded = pad(b, b.operand(x), b.shape(x), op.attribs["padding"], border, op.attribs["value"])
    b.node("Identity", [padded], op.outputs["output"])


# --- box filters and pooling --------------------------------------------------------------------


def box(b: Builder, x: str, window: Window, kind: str, border: str) -> str:
    """Slides a window over all dimensions; kind is one of `max`, `avg`, `sum`."""
    if not window.moving():
        return x
    if border == "ignore" and kind == "sum":
        border = "constant"
    if border not in ("ignore", "constant") or min(window.pads()) < 0:
        inner = "constant" if border == "ignore" else border
        x, window = pad(b, x, window.extents, window.padding, inner), window.padded()
    elif kind == "max" and border == "constant" and any(window.pads()):
        # ONNX Runtime fuses zero padding into MaxPool, where it becomes -inf: add the zeros afterwards.
        ignored = box(b, x, window, "max", "ignore")
        return b.node("Max", [ignored, b.constant(window.zeros_seen(), np.float32)])
    elif any(max(pq) >= f for pq, f in zip(window.padding, window.size)):
        return _wide_box(b, x, window, kind, border)
    return _pool(b, x, window, kind, border)


def _wide_box(b: Builder, x: str, window: Window, kind: str, border: str) -> str:
    """Adds a window that may be entirely in the padding, which ONNX Runtime rejects."""
    if kind == "max":
        x = pad(b, x, window.extents, window.padding, "constant", -math.inf)
        return _pool(b, x, window.padded(), kind, "ignore")
    padded = pad(b, x, window.extents, window.padding, "constant")
    total = _pool(b, padded, window.padded(), kind, "constant")
    if kind == "sum" or border == "constant":
        return total
    ones = pad(b, b.filled(window.extents, 1.0), window.extents, window.padding, "constant")
    return b.node("Div", [total, _pool(b, ones, window.padded(), kind, "constant")])


def _pool(b: Builder, x: str, window: Window, kind: str, border: str) -> str:
    rank, moving = len(window.extents), window.moving()
    if not moving:
        return x
    if min(moving) >= 2 and 3 <= rank <= 5:
        pooled = _spatial_pool(b, x, window.pick(list(range(2, rank))), kind, border)
    else:
        pooled = _moved_pool(b, x, window, kind, border)
    if kind != "sum":
        return pooled
    return b.node("Mul", [pooled, b.scalar(float(math.prod(window.size)))])


def _moved_pool(b: Builder, x: str, window: Window, kind: str, border: str) -> str:
    """Pools over batch or channels as well: the moving dimensions become the spatial ones."""
    moving = window.moving()
    if len(moving) > 3:
        raise Unsupported(f"a window over {len(moving)} dimensions")
    still = [axis for axis in range(len(window.extents)) if axis not in moving]
    order, inner = still + moving, window.pick(moving)
    rows = math.prod(window.extents[axis] for axis in still)
    x = b.node("Transpose", [x], perm=order)
    x = b.node("Reshape", [x, b.ints([rows, 1, *inner.extents])])
    x = _spatial_pool(b, x, inner, kind, border)
    x = b.node("Reshape", [x, b.ints([window.extents[axis] for axis in still] + inner.outputs())])
    return b.node("Transpose", [x], perm=[order.index(axis) for axis in range(len(order))])


def _spatial_pool(b: Builder, x: str, window: Window, kind: str, border: str) -> str:
    attributes = dict(kernel_shape=window.size, strides=window.stride, dilations=window.dilation,
                      pads=window.pads())
    if kind == "max":
        return b.node("MaxPool", [x], **attributes)
    return b.node("AveragePool", [x], count_include_pad=int(border == "constant"), **attributes)


def pooling(kind: str) -> Any:
    def translate(b: Builder, op: Any) -> None:
        x = op.inputs["input"]
        how = "avg" if kind == "sum" and op.attribs["normalize"] else kind
        window = Window.from_attributes(b.shape(x), op.attribs["size"], op.attribs)
        y = box(b, b.operand(x), window, how, op.attribs["border"])
        _finish(b, y, x, op.outputs["output"])
    return translate


def _finish(b: Builder, y: str, x: str, output: str) -> None:
    """Renames the last node of a translation to the operation's result."""
    if y != x and b.nodes and b.nodes[-1].output[0] == y:
        b.nodes[-1].output[0] = b.nodes[-1].name = output
    else:
        b.node("Identity", [y], output)


def rms_pool(b: Builder, op: Any) -> None:
    x = op.inputs["input"]
    window = Window.from_attributes(b.shape(x), op.attribs["size"], op.attribs)
    squares = b.node("Mul", [b.operand(x), b.operand(x)])
    b.node("Sqrt", [box(b, squares, window, "avg", op.attribs["border"])], op.outputs["output"])


# --- convolution --------------------------------------------------------------------------------


def _biased(b: Builder, name: str, inputs: list[str], bias: Any, op: Any, **attributes: Any) -> None:
    """Adds a (de)convolution; a bias per channel becomes its third input."""
    output, channels = op.outputs["output"], b.shape(op.outputs["output"])[1]
    if isinstance(bias, str) and math.prod(b.shape(bias)) == channels:
        b.node(name, [*inputs, b.reshaped(bias, [channels])], output, **attributes)
    elif isinstance(bias, str) or bias != 0.0:
        rank = b.rank(output)
        b.node("Add", [b.node(name, inputs, **attributes), b.operand(bias, rank)], output)
    else:
        b.node(name, inputs, output, **attributes)


def conv(b: Builder, op: Any) -> None:
    x, f = op.inputs["input"], op.inputs["filter"]
    extents, size = b.shape(x), b.shape(f)[2:]
    window = Window.from_attributes(extents[2:], size, op.attribs)
    name, border = b.operand(x), op.attribs["border"]
    if border != "constant" or min(window.pads(), default=0) < 0:
        name = pad(b, name, extents, [(0, 0), (0, 0), *window.padding], border)
        window = window.padded()
    _biased(b, "Conv", [name, b.operand(f)], op.inputs["bias"], op, kernel_shape=size,
            strides=window.stride, dilations=window.dilation, pads=window.pads(),
            group=op.attribs["groups"] or extents[1])


def deconv(b: Builder, op: Any) -> None:
    x, f, output = op.inputs["input"], op.inputs["filter"], op.outputs["output"]
    if op.attribs["border"] != "constant":
        raise Unsupported(f"`deconv` with border '{op.attribs['border']}'")
    size, up = b.shape(f)[2:], b.shape(output)[2:]
    window = Window.from_attributes(up, size, op.attribs)
    natural = [(n - 1) * s + (k - 1) * d + 1 - p - q for n, s, k, d, (p, q) in
               zip(b.shape(x)[2:], window.stride, size, window.dilation, window.padding)]
    extra = [want - have for want, have in zip(up, natural)]
    _biased(b, "ConvTranspose", [b.operand(x), b.operand(f)], op.inputs["bias"], op,
            kernel_shape=size, strides=window.stride, dilations=window.dilation,
            pads=window.pads(), output_padding=extra, group=op.attribs["groups"] or b.shape(f)[0])


# --- sampling -----------------------------------------------------------------------------------


def nearest_downsample(b: Builder, op: Any) -> None:
    x, factor = op.inputs["input"], op.attribs["factor"]
    axes = list(range(2, 2 + len(factor)))
    ends = [b.shape(x)[axis] for axis in axes]
    b.node("Slice", [b.operand(x), b.ints([0] * len(axes)), b.ints(ends), b.ints(axes),
                     b.ints(factor)], op.outputs["output"])


def area_downsample(b: Builder, op: Any) -> None:
    x, size = op.inputs["input"], [1, 1] + op.attribs["factor"]
    window = Window.of(b.shape(x), size, size, [], [(0, 0)] * len(size))
    _finish(b, box(b, b.operand(x), window, "avg", "constant"), x, op.outputs["output"])


def upsample(b: Builder, op: Any, **attributes: Any) -> None:
    scales = b.constant([1.0, 1.0] + op.attribs["factor"], np.float32)
    b.node("Resize", [b.operand(op.inputs["input"]), "", scales], op.outputs["output"], **attributes)


def nearest_upsample(b: Builder, op: Any) -> None:
    upsample(b, op, mode="nearest", coordinate_transformation_mode="asymmetric",
             nearest_mode="floor")


def multilinear_upsample(b: Builder, op: Any) -> None:
    modes = {"symmetric": "half_pixel", "asymmetric": "asymmetric", "aligned": "align_corners"}
    if op.attribs["border"] != "replicate":
        raise Unsupported(f"`multilinear_upsample` with border '{op.attribs['border']}'")
    upsample(b, op, mode="linear", coordinate_transformation_mode=modes[op.attribs["method"]])


TRANSLATIONS = {
    "conv": conv, "deconv": deconv, "box": pooling("sum"), "avg_pool": pooling("avg"),
    "max_pool": pooling("max"), "rms_pool": rms_pool, "pad": pad_operation,
    "nearest_downsample": nearest_downsample, "area_downsample": area_downsample,
    "nearest_upsample": nearest_upsample, "multilinear_upsample": multilinear_upsample,
}
