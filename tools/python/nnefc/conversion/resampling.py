"""Resampling: Interpolate and GridSample."""

from __future__ import annotations

from nnefc.conversion.layers import Layer
from nnefc.conversion.writer import Table, Unsupported, Writer, static_shape

_MODES = {"nearest": "nearest", "linear_onnx": "linear", "linear": "linear", "cubic": "cubic"}
_COORDINATES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
_NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def _interpolate(writer: Writer, layer: Layer) -> None:
    if layer.opset < 4:
        raise Unsupported("the first version of Interpolate")
    x = layer.inputs[0]
    mode, coordinates = layer.text("mode"), layer.text("coordinate_transformation_mode", "half_pixel")
    nearest = layer.text("nearest_mode", "round_prefer_floor")
    if mode not in _MODES or coordinates not in _COORDINATES:
        raise Unsupported(f"mode `{mode}` with coordinates `{coordinates}`")
    if mode == "nearest" and nearest not in _NEAREST:
        raise Unsupported(f"`nearest_mode` is `{nearest}`")
    if layer.flag("antialias"):
        raise Unsupported("`antialias` is set")
    pads = [layer.integers(name) or [0] for name in ("pads_begin", "pads_end")]
    if any(pads[0] + pads[1]):
        raise Unsupported("the tensor is padded before it is resampled")
    settings: dict[str, object] = {"mode": _MODES[mode], "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        settings["nearest_mode"] = nearest
    if mode == "cubic":
        settings["cubic_coeff_a"] = layer.number("cube_coeff", -0.75)
    writer.node("Resize", [x.name, "", _scales(writer, layer)], layer.output, **settings)


def _scales(writer: Writer, layer: Layer) -> str:
    """Returns the scales of all axes."""
    x = layer.inputs[0]
    by_sizes = layer.text("shape_calculation_mode") == "sizes"
    if layer.opset >= 11:  # x, sizes or scales, axes
        given, axes_input = layer.inputs[1], layer.inputs[2:]
    else:  # x, sizes, scales, axes
        given, axes_input = layer.inputs[1 if by_sizes else 2], layer.inputs[3:]
    axes = [axis % x.rank for axis in writer.known(axes_input[0], "the axes")] if axes_input else list(range(x.rank))
    scales = [1.0] * x.rank
    if by_sizes:
        extents, made = static_shape(x, "the input"), static_shape(layer.output, "the output")
        for axis in axes:
            scales[axis] = made[axis] / extents[axis]
    else:
        values = writer.value(given)
        if values is None:
            raise Unsupported("the scales are computed by the model; expected constants")
        for axis, scale in zip(axes, values.reshape(-1)):
            scales[axis] = float(scale)
    return writer.constant(scales, "f32")


TABLE: Table = {"Interpolate": _interpolate}
