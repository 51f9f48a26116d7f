"""Where nnefc and OpenVINO differ about boundary cases, and why. Each table has regular expressions of rows."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from opset_boundaries import Node
from test_openvino_rows import LAXER as ROW_LAXER
from test_openvino_rows import STRICTER as ROW_STRICTER

UNDEFINED = "the documents define no such thing"
OUT_OF_RANGE = "the documents state a range, and the element does not exist: OpenVINO reads other memory or returns 0"
NOTHING = "no element is there that the result could be made of"
OMITTED = "the documents state a default; OpenVINO's class has another one, which it refuses"

# A part of the message of what nnefc refuses when it reads or runs the node, the reason.
STRICTER: list[tuple[str, str, str]] = [
    *((f"{re.escape(part)}", text, reason) for part, text, reason in ROW_STRICTER),
    ("", "lacks the attribute", "the documents require the attribute; OpenVINO's classes have a value for it"),
    ("Convolution", "expected at least 1", "OpenVINO reads -1 as the largest number"),
    ("Convolution|Col2Im", "expected two", "OpenVINO does not count the items"),
    ("BackpropData", "leave nothing", NOTHING),
    ("DeformableConvolution", "`offsets`", "negative pads crop; OpenVINO's shape function does not check the offsets"),
    ("Gather|Scatter|ROIAlign", "is outside an axis of extent", OUT_OF_RANGE),
    ("Scatter", "reach beyond", OUT_OF_RANGE),
    ("Gather$", "`batch_dims`", "OpenVINO counts from the end beyond the first axis"),
    ("ROI", "regions of an empty map", NOTHING),
    ("ROI", "is of batch", OUT_OF_RANGE),
    ("ROIPooling", "`pooled_", UNDEFINED),
    ("ROIAlign", "`sampling_ratio`", UNDEFINED),
    ("Interpolate|GridSample", "an empty tensor cannot be", NOTHING),
    ("opset1.Interpolate", "`mode`", "OpenVINO refuses an unknown mode only when it compiles the model"),
    ("Pad", "negative pads", "Pad-1 has no negative pads"),
    ("Pad", "leaves less than nothing", UNDEFINED),
    ("Squeeze", "removes axis", "OpenVINO's class leaves the axes; its plug-in refuses the model"),
    ("StridedSlice", "takes element", OUT_OF_RANGE),
    ("Broadcast", "negative item", UNDEFINED),
    ("Eye", "`batch_shape`", UNDEFINED),
    ("SpaceToBatch", "has blocks of", UNDEFINED),
    ("LRN", "is outside a tensor", OUT_OF_RANGE),
    ("opset2.MVN", "has rank 0", "the second axis has the channels"),
    ("Sequence|CTC", "a sequence", OUT_OF_RANGE),
    ("CTC", "the blank is class", OUT_OF_RANGE),
    ("CTCLoss", "label", OUT_OF_RANGE),
    ("CTCLoss", "expected at least 1 class", NOTHING),
    ("ISTFT", "`signal_length`", UNDEFINED),
    ("RandomUniform|Multinomial", "_seed`", UNDEFINED),
    ("Multinomial", "`convert_type`", UNDEFINED),
    ("Multinomial", "`num_samples`", UNDEFINED),
    ("Embedding", "is outside", OUT_OF_RANGE),
    ("Embedding", "the bag", "offsets ascend"),
    ("Embedding", "the default index", OUT_OF_RANGE),
    ("SegmentMax", "ascending segments", UNDEFINED),
    ("SegmentMax", "`num_segments`", UNDEFINED),
    ("SparseFillEmptyRows", "`dense_shape`", UNDEFINED),
    ("SparseFillEmptyRows", "is outside a matrix", OUT_OF_RANGE),
    ("GatherTree", "is outside", OUT_OF_RANGE),
    ("MulticlassNms", "fewer than `roisnum`", OUT_OF_RANGE),
    ("Proposal", "`framework`", UNDEFINED),
    ("DeformablePSROIPooling", "`spatial_scale`", UNDEFINED),
    ("DeformablePSROIPooling", "`mode`", "the documents have one mode"),
    ("DetectronDetectionOutput", "`deltas_weights`", "one for each number of a box"),
]
# A part of the message of what OpenVINO refuses, the reason.
LAXER: list[tuple[str, str, str]] = [
    *((f"{re.escape(part)}", text, reason) for part, text, reason in ROW_LAXER),
    ("opset1.StridedSlice", "Stride needs to have same number", "no strides are strides of 1"),
    ("ShapeOf|Bucketize", "Output type must be i32 or i64", OMITTED),
    ("DepthToSpace", "divisor must not be 0", OMITTED),
    ("SpaceToDepth", "block size must be greater", OMITTED),
    ("PSROIPooling", "has to be greater than 0", OMITTED),
    ("PSROIPooling", "Expected 'average' or 'bilinear' mode. Got", OMITTED),
    ("DeformableConvolution", "must be any value starting from 1. Got: 0", OMITTED),
    ("DeformableConvolution", "not compatible with filters and 'deformable group'", OMITTED),
    ("ROIPooling", "dimension of pooled size", "`output_roi` is an attribute by another name, which OpenVINO writes"),
    ("Interpolate", "All axes values should less than input rank", "a negative axis counts from the end, as in other operations"),
    ("Transpose", "Permutation AxisVector", "a negative axis counts from the end, as in other operations"),
    ("SparseFillEmptyRows", "out of bounds", "indices are checked in the run"),
    ("GenerateProposals", "must be larger than 0", "no region is a result, too"),
]


def is_empty(node: Node) -> bool:
    return any(0 in value.array.shape for value in node.inputs)


def attribute(node: Node, name: str, default: str = "") -> str:
    return node.attributes.get(name, default).strip()


def numbers(node: Node, name: str) -> list[int]:
    return [int(float(item)) for item in attribute(node, name).split(",") if item.strip()]


def has_negative(place: int) -> Callable[[Node], bool]:
    return lambda node: len(node.inputs) > place and bool((node.inputs[place].array < 0).any())


def is_void(place: int) -> Callable[[Node], bool]:
    """An input without items."""
    return lambda node: len(node.inputs) > place and node.inputs[place].array.size == 0


def has(place: int, *items: float) -> Callable[[Node], bool]:
    return lambda node: len(node.inputs) > place and bool(np.isin(node.inputs[place].array, np.float32(items)).any())


def is_omitted(*names: str) -> Callable[[Node], bool]:
    return lambda node: any(name not in node.attributes for name in names)


def is_written(name: str, *texts: str) -> Callable[[Node], bool]:
    return lambda node: attribute(node, name) in texts


def reaches_beyond_padding(node: Node) -> bool:
    """A window of an AvgPool that counts the padding ends after it."""
    return attribute(node, "exclude-pad", "false") == "false" and attribute(node, "rounding_type") in ("ceil", "ceil_torch") or any(
        pad < 0 for pad in numbers(node, "pads_begin") + numbers(node, "pads_end"))


def has_window_in_padding(node: Node) -> bool:
    """A window of an AvgPool may have no element of the data."""
    size = numbers(node, "kernel") or [1]
    pads = (numbers(node, "pads_begin") or [0]) + (numbers(node, "pads_end") or [0])
    return max(pads) >= min(size) or attribute(node, "rounding_type") != "floor"


def is_implied_backprop(node: Node) -> bool:
    """A transposed convolution whose explicit pads are ignored, by the documents, for the extents of its result."""
    return len(node.inputs) > 2 and attribute(node, "auto_pad", "explicit") in ("explicit", "valid", "")


def selects_nothing(node: Node) -> bool:
    """A selection of boxes without a result, of which OpenVINO does not write the number."""
    limits = [attribute(node, name) for name in ("nms_top_k", "keep_top_k")]
    thresholds = [float(attribute(node, name, "0") or 0) for name in ("score_threshold", "post_threshold")]
    return is_empty(node) or "0" in limits or max(thresholds) >= 1 or (
        "NonMax" in node.row and len(node.inputs) > 2 and node.inputs[2].array.max(initial=0) <= 0)


def has_small_regions(node: Node) -> bool:
    """The anchors of a Proposal are smaller than its regions may be: those have the same score, which is no order."""
    scales = [float(item) for item in attribute(node, "scale").split(",")]
    return float(attribute(node, "base_size")) * max(scales) <= float(attribute(node, "min_size"))


def pads_of_interpolate(node: Node) -> bool:
    pads = [numbers(node, name) for name in ("pads_begin", "pads_end")]
    return any(any(items) for items in pads)


# Which nodes, the reason: results that are not compared with OpenVINO's, only those of the ways with one another.
COMPUTED_OTHERWISE: list[tuple[str, Callable[[Node], bool], str]] = [
    ("Adaptive|Pool|Backprop|DFT|STFT|SearchSorted|Proposal|Detectron|Nms|NonMax|ROI|Convolution", is_empty,
     "OpenVINO returns what is in its memory"),
    ("Reduce(Mean|Max|Min)$", is_empty, "the mean of nothing is NaN, its maximum -inf: OpenVINO returns 0 or the lowest number"),
    ("opset15.Bitwise.*Shift", is_written("auto_broadcast", "pdpd"), "the plug-in loses the axis of PaddlePaddle's rule"),
    ("Selu|HardSigmoid", lambda node: has(1, 0)(node) or has(2, 0)(node), "the plug-in takes a parameter of 0 for one that is not given"),
    ("opset1.SoftMax", is_omitted("axis"), "the default is 1; OpenVINO's class has 0"),
    ("opset16.AvgPool", lambda node: not numbers(node, "dilations"), "the process of the plug-in ends"),
    ("opset12.Pad", lambda node: any(node.inputs[place].array.min(initial=0) < -3 for place in (1, 2)), "where more is cropped than there is, the process of the plug-in ends"),
    ("(8|14).MaxPool", lambda node: not numbers(node, "dilations"), "the plug-in reads dilations that are not there"),
    ("AvgPool", reaches_beyond_padding, "test_planned_nodes.py has the divisors"),
    ("AvgPool", has_window_in_padding, "the plug-in divides by 0"),
    ("BackpropData", is_implied_backprop, "the plug-in goes by the pads that the documents ignore"),
    ("Interpolate", pads_of_interpolate, "OpenVINO leaves out the padding of axes that are not resized"),
    ("Interpolate", lambda node: any(value.constant and value.array.size == 0 for value in node.inputs), "the plug-in reads axes that are not there"),
    ("opset11.Interpolate", lambda node: "pillow" in attribute(node, "mode") and (node.inputs[0].array.ndim != 4 or [2, 3] != node.inputs[-1].array.tolist()),
     "the plug-in has Pillow's filters for the last two of four axes"),
    ("(1|7).Gather$", has_negative(1), "these versions count no index from the end; the plug-in returns 0"),
    ("ScatterUpdate", has_negative(1), "the plug-in writes outside the data"),
    ("Tile", is_void(1), "the plug-in returns what is in its memory"),
    ("opset3.Broadcast", lambda node: 0 in node.inputs[1].array, "an extent of 1 stretches to 0, as in NumPy"),
    ("SpaceToBatch", lambda node: node.inputs[1].array.max(initial=1) > 5, "the plug-in confuses pixels where a block is an axis"),
    ("LRN", lambda node: float(attribute(node, "bias", "1")) not in (1.0, 2.0), "the plug-in rounds the bias to an integer"),
    ("opset2.MVN", is_omitted("normalize_variance"), "the default is true; OpenVINO's class has false"),
    ("opset2.MVN", lambda node: has_other_reduction_axes(node), "`reduction_axes` is not documented; OpenVINO goes by it"),
    ("NormalizeL2", is_void(1), "no axes: the documents' formula makes a sign of x, their words and OpenVINO 1"),
    ("opset6.MVN", is_void(1), "no axes: the plug-in returns what is in its memory"),
    ("BatchNorm", lambda node: has(3, -1)(node) or has(4, -1)(node), "a variance is not negative"),
    ("FakeQuantize", lambda node: is_degenerate_range(node), "the lower limit is not below the upper one: OpenVINO divides by 0"),
    ("FakeConvert", has(1, 0), "a scale of 0 is divided by"),
    ("ROIAlign", has_negative(2), "the plug-in reads before the data"),
    ("NonMaxSuppression", has(3, 0, -1), "a box is dropped that overlaps more than the threshold; OpenVINO drops those that equal 0, too"),
    ("NonMaxSuppression", lambda node: len(node.inputs) > 5 and node.inputs[5].array.max(initial=0) > 0,
     "OpenVINO keeps boxes that overlap more than the threshold where a lower score hid it; ../interop/test_soft_selection.py has the steps"),
    ("Nms|NonMaxSuppression", selects_nothing, "OpenVINO does not write how many there are"),
    ("DetectionOutput", is_written("keep_top_k", "0"), "the plug-in returns what is in its memory"),
    ("PriorBox$", is_written("scale_all_sizes", "false"), "`max_size` is ignored; OpenVINO makes more boxes than its shape has"),
    ("PriorBox$", lambda node: len(numbers(node, "max_size")) > len(numbers(node, "min_size")), "OpenVINO reads beyond the shorter list"),
    ("RegionYolo", is_omitted("do_softmax"), "the default is true; OpenVINO's class has false"),
    ("CTCLoss", is_omitted("ctc_merge_repeated"), "the default is true; OpenVINO's class has false"),
    ("CTCLoss", lambda node: len(node.inputs) > 4 and int(node.inputs[4].array) != 3, "labels are not blank"),
    ("LSTMCell", lambda node: attribute(node, "weights_format", "fico") != "fico", "the plug-in does not read the order of the gates"),
    ("Sequence$", lambda node: any(v.array.dtype.kind == "i" and 0 in v.array for v in node.inputs),
     "a sequence of no step keeps the state; the plug-in returns zeros"),
    ("I?DFT", is_void(1), "no axes: the plug-in returns what is in its memory"),
    ("RDFT", lambda node: len(node.inputs) > 2 and is_longer_than_signal(node), "numpy.fft agrees with nnefc"),
    ("Unique", is_empty, "numpy.unique agrees with nnefc: equal empty slices are one"),
    ("EmbeddingBagOffsets", lambda node: node.inputs[2].array.max(initial=0) >= node.inputs[1].array.size, "the plug-in does not see that the last bag is empty"),
    ("EmbeddingSegmentsSum", lambda node: bool((np.diff(node.inputs[2].array) < 0).any()), "segments ascend"),
    ("GatherTree", lambda node: node.inputs[2].array.min(initial=1) < 1, "OpenVINO writes before the data"),
    ("SingleImage", lambda node: float(attribute(node, "min_size")) > 10 and int(attribute(node, "post_nms_count")) > 3,
     "fewer regions are large enough: the plug-in does not write the others"),
    ("TopK$", lambda node: has_unordered_ties(node), "equal elements have no order; with AVX2 the plug-in takes the last one"),
    ("TopKROIs", lambda node: int(attribute(node, "max_rois", "0")) > len(node.inputs[0].array),
     "fewer regions than `max_rois`: the plug-in does not write the others"),
    ("PriorGridGenerator", lambda node: attribute(node, "h", "0") != "0" or attribute(node, "w", "0") != "0",
     "OpenVINO's shapes leave out the extents of the grid that its kernel goes by"),
    ("PriorGridGenerator", is_omitted("flatten"), "the default is true; OpenVINO's class has false"),
    ("opset8.Slice", lambda node: has_negative(1)(node) and has_negative(3)(node), "a slice that starts before the data and goes back is empty, as in NumPy"),
    ("opset4.Proposal", is_written("pre_nms_topn", "0"), "no region: the plug-in returns what is in its memory"),
    ("opset1.Proposal|opset4.Proposal", lambda node: float(attribute(node, "nms_thresh")) < 0 or "0.001" in (
        attribute(node, "box_size_scale"), attribute(node, "box_coordinate_scale")), "regions of no or endless size have no order"),
    (r"opset(1|4)\.Proposal$", lambda node: has_small_regions(node),
     "regions smaller than `min_size` have the same score, and so no order"),
]


# Where rounding in f32 is enlarged: how far the fast backend's results may be from the reference backend's.
ILL_CONDITIONED: list[tuple[str, Callable[[Node], bool], float, str]] = [
    ("LRN", lambda node: float(attribute(node, "alpha", "0")) < 0, 1e-3, "the sum of squares cancels the bias, and a power of it is divided by"),
]


def tolerance_of_ways(node: Node) -> float:
    """How far the results of two ways to compute the node may be apart, relative to the largest number."""
    return next((tolerance for row, test, tolerance, _ in ILL_CONDITIONED if re.search(row, node.row) and test(node)), 1e-5)


def has_other_reduction_axes(node: Node) -> bool:
    """Axes of an MVN other than those of `across_channels`."""
    first = 2 - (attribute(node, "across_channels", "true") == "true")
    axes = numbers(node, "reduction_axes")
    return bool(axes) and axes != list(range(first, node.inputs[0].array.ndim))


def has_unordered_ties(node: Node) -> bool:
    """Equal elements along the axis of a TopK, which only stable sorting by values orders."""
    data, axis = node.inputs[0].array, int(attribute(node, "axis"))
    if attribute(node, "stable", "false") == "true" and attribute(node, "sort") == "value":
        return False
    if not -data.ndim <= axis < data.ndim:
        return False
    return bool((np.diff(np.sort(data, axis), axis=axis) == 0).any())


def is_degenerate_range(node: Node) -> bool:
    low, high = node.inputs[1].array, node.inputs[2].array
    try:
        return bool((low >= high).any())
    except ValueError:
        return False


def is_longer_than_signal(node: Node) -> bool:
    """A signal size beyond the data, which is padded with zeros."""
    shape, axes, sizes = node.inputs[0].array.shape, node.inputs[1].array.ravel(), node.inputs[2].array.ravel()
    rank = len(shape) - ("opset9.IRDFT" in node.row)
    if "IRDFT" in node.row:
        return any(size // 2 + 1 > shape[axis % rank] for axis, size in zip(axes, sizes))
    return any(size > shape[axis % rank] for axis, size in zip(axes, sizes))


# OpenVINO's number for the maximum of nothing.
LOWEST = np.finfo(np.float32).min


def normalized(node: Node, theirs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """OpenVINO's results, where the maximum of no element is -inf."""
    if "MaxPool" not in node.row:
        return theirs
    return {name: np.where(array == LOWEST, np.float32(-np.inf), array) if array.dtype.kind == "f" else array for name, array in theirs.items()}
