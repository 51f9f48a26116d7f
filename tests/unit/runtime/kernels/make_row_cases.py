#!/usr/bin/env python3
"""Writes row_cases.txt: operations of detection, signals, sparse tensors, sampling and random numbers, in the form of cases.txt.

The nodes are those of `tests/interop/opset_*.py`, which test_opset_rows.py runs as whole models; here the tests of the kernels
run them one by one, those that a run must refuse with a part of the message (`fault TEXT` in place of outputs). A node with many equal siblings is taken once in several of them, so that the file stays small.
"""
import pathlib
import sys

import numpy as np
from openvino.utils.node_factory import NodeFactory

import make_cases
from make_cases import LINES, case

sys.path += [str(pathlib.Path(__file__).parents[3] / folder) for folder in ["interop", "interop/opsets", "networks"]]
from opset_cases import CASES, Const, Dynamic  # noqa: E402
from test_opset_rows import UNFIT  # noqa: E402

CLASSES = {"ReLU": "Relu", "PReLU": "PRelu", "SoftMax": "Softmax"}
# Of nodes whose inputs do not fit, where there is more than one.
OUTPUTS = {"opset9.MulticlassNms": 3, "opset16.SparseFillEmptyRows": 3, "opset6.CTCGreedyDecoderSeqLen": 2}
# The rows, and of how many of their nodes one is taken.
ROWS = {
    "opset1.CTCGreedyDecoder": 1, "opset6.CTCGreedyDecoderSeqLen": 2, "opset4.CTCLoss": 1,
    "opset1.DetectionOutput": 5, "opset8.DetectionOutput": 4,
    "opset2.ROIPooling": 1, "opset3.ROIAlign": 1, "opset9.ROIAlign": 2, "opset15.ROIAlignRotated": 1,
    "opset1.PSROIPooling": 2, "opset1.DeformablePSROIPooling": 1,
    "opset1.DeformableConvolution": 2, "opset8.DeformableConvolution": 4,
    "opset1.NonMaxSuppression": 1, "opset3.NonMaxSuppression": 3, "opset5.NonMaxSuppression": 1, "opset9.NonMaxSuppression": 2,
    "opset8.MatrixNms": 1, "opset8.MulticlassNms": 3, "opset9.MulticlassNms": 1,
    "opset9.GenerateProposals": 1, "opset1.Proposal": 1, "opset4.Proposal": 1,
    "opset6.ExperimentalDetectronGenerateProposalsSingleImage": 1, "opset6.ExperimentalDetectronPriorGridGenerator": 1,
    "opset6.ExperimentalDetectronTopKROIs": 1, "opset6.ExperimentalDetectronROIFeatureExtractor": 1,
    "opset6.ExperimentalDetectronDetectionOutput": 1,
    "opset1.PriorBox": 2, "opset8.PriorBox": 2, "opset1.PriorBoxClustered": 2, "opset1.RegionYolo": 2, "opset2.ReorgYolo": 1,
    "opset9.GridSample": 1, "opset7.DFT": 1, "opset7.IDFT": 2, "opset9.RDFT": 1, "opset9.IRDFT": 1, "opset15.STFT": 3,
    "opset16.ISTFT": 3, "opset10.Unique": 2, "opset8.RandomUniform": 1, "opset13.Multinomial": 1,
    "opset8.NV12toBGR": 2, "opset8.NV12toRGB": 2, "opset8.I420toBGR": 2, "opset8.I420toRGB": 2, "opset13.FakeConvert": 2,
    "opset3.EmbeddingBagOffsetsSum": 1, "opset15.EmbeddingBagOffsets": 1, "opset3.EmbeddingBagPackedSum": 1,
    "opset15.EmbeddingBagPacked": 1, "opset3.EmbeddingSegmentsSum": 1, "opset16.SegmentMax": 1,
    "opset16.SparseFillEmptyRows": 1, "opset1.GatherTree": 1, "opset13.ScaledDotProductAttention": 1,
    "opset13.BitwiseAnd": 1, "opset13.BitwiseOr": 1, "opset13.BitwiseXor": 1, "opset13.BitwiseNot": 1,
    "opset15.BitwiseLeftShift": 1, "opset15.BitwiseRightShift": 1, "opset15.Col2Im": 1, "opset15.SliceScatter": 1,
    "opset15.SearchSorted": 1, "opset16.OneHot": 1, "opset14.MaxPool": 1, "opset14.AvgPool": 1,
    "opset8.AdaptiveMaxPool": 1, "opset8.AdaptiveAvgPool": 1, "opset16.AvgPool": 1, "opset3.ExtractImagePatches": 1,
    "opset7.Einsum": 1, "opset1.ReverseSequence": 1, "opset1.Reverse": 1, "opset7.Roll": 1, "opset14.Inverse": 1,
    "opset1.OneHot": 1, "opset3.Bucketize": 1, "opset9.Eye": 1, "opset1.Interpolate": 1, "opset11.Interpolate": 3,
    "opset3.ShapeOf": 1, "opset1.Range": 1, "opset4.Range": 1, "opset1.Power": 1, "opset1.Mod": 1, "opset1.FloorMod": 1,
    "opset10.IsInf": 1, "opset14.ConvertPromoteTypes": 1, "opset1.Convert": 1, "opset1.VariadicSplit": 1, "opset3.CumSum": 1,
    "opset4.NonMaxSuppression": 1,
}
TOLERANCE = 2e-5
RANDOM = np.random.default_rng(5)
LARGEST = 4000  # elements of an input
# Smaller inputs of rows whose nodes elsewhere are larger than that.
MAPS = [RANDOM.uniform(-2, 2, (1, 2, *extents)).astype(np.float32) for extents in [(16, 15), (8, 7), (4, 5)]]
REGIONS = np.array([[10, 10, 60, 70], [0, 5, 300, 200], [30, 30, 30, 40], [5, 5, 12, 9], [100, 40, 500, 480]], np.float32)
SMALLER = {
    "opset6.ExperimentalDetectronROIFeatureExtractor": [REGIONS, *MAPS],
    "opset6.ExperimentalDetectronPriorGridGenerator": [MAPS[0][0, 0, :3, :4], MAPS[1][:, :, :3, :4], MAPS[0]],
}


def ints(*items):
    return Const(np.array(items, np.int64))


def more_nodes():
    """Nodes that the others lack: two shifts of one axis, and dilated windows that reach beyond the padding."""
    x = RANDOM.uniform(-2, 2, (3, 4, 5)).astype(np.float32)
    for shifts, axes in [((1, 2), (1, 1)), ((2, -3, 1), (0, -3, 2)), ((3, 5, -2), (2, 2, -1)), ((-1, 1), (1, 1))]:
        yield "opset7.Roll", [x, Const(np.array(shifts[0] if len(shifts) == 1 else shifts, np.int64)), ints(*axes)], {}
    image = RANDOM.uniform(-2, 2, (1, 2, 7, 6)).astype(np.float32)
    for dilations, end in [([2, 3], [1, 1])]:
        for kernel in [[2, 2], [3, 2]]:
            for excludes in [True, False]:
                yield "opset16.AvgPool", [image], {
                    "kernel": kernel, "strides": [2, 3], "pads_begin": [1, 0], "pads_end": end, "dilations": dilations,
                    "rounding_type": "ceil", "auto_pad": "explicit", "exclude-pad": excludes}


def as_entry(given):
    """In the form of `make_cases.case`."""
    if isinstance(given, Const):
        return "const", given.value
    return given.value if isinstance(given, Dynamic) else given


def header(name, row, outputs, entries, attributes):
    """The lines of a case up to its outputs."""
    opset, operation = row.split(".")
    lines = [f"case {name}", f"op {opset} {operation} {outputs}"]
    for attribute, value in attributes.items():
        if value == "":  # the default
            continue
        kind, items = make_cases.kind_and_items(attribute, value)
        if operation == "FakeConvert":
            kind = "string"
        if operation == "ReorgYolo":
            kind = "int"
        if value == []:  # of sizes of boxes
            kind = "doubles"
        lines.append(" ".join(["attr", attribute, kind] + items))
    for entry in entries:
        is_const = isinstance(entry, tuple)
        tensor, items = make_cases.tensor_text(np.asarray(entry[1] if is_const else entry))
        lines.append(f"input {tensor} {'const' if is_const else 'param'} {items}")
    return lines


def numbers():
    more = list(more_nodes())
    for row, step in ROWS.items():
        opset, operation = row.split(".")
        own = [(inputs, attributes) for name, inputs, attributes in more if name == row]
        for number, (inputs, attributes) in enumerate(CASES[row][::step] + own):
            if row in SMALLER:
                inputs, attributes = SMALLER[row], attributes | ({"pyramid_scales": [16, 32, 64]} if len(inputs) > 3 else {})
            entries = [as_entry(given) for given in inputs]
            if any(np.asarray(entry[1] if isinstance(entry, tuple) else entry).size > LARGEST for entry in entries):
                print(f"{row}: node {number * step} is left out for its size")
                continue
            begin = len(LINES)

            def make(*nodes, opset=opset, operation=operation, attributes=attributes):
                return NodeFactory(opset).create(CLASSES.get(operation, operation), [node.output(0) for node in nodes], attributes)

            name = f"{row.replace('.', '_')}_{number}"
            case(name, make, *entries, tolerance=TOLERANCE)
            # As many inputs as given, each in its role, and the attributes that the node was given.
            outputs = [line for line in LINES[begin:] if line.startswith("output ")]
            LINES[begin:-1] = header(name, row, len(outputs), entries, attributes) + outputs


def faults():
    for row, (inputs, attributes, message) in UNFIT.items():
        name = f"unfit_{row.replace('.', '_')}"
        LINES.extend(header(name, row, OUTPUTS.get(row, 1), [as_entry(given) for given in inputs], attributes))
        LINES.append(f"fault {message}")


def main():
    make_cases.TYPE_ATTRIBUTES |= {"roi_num_type", "convert_type", "classes_index_type", "sequence_length_type",
                                   "count_element_type", "u64_integer_promotion_target"}
    numbers()
    faults()
    pathlib.Path(__file__).with_name("row_cases.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
