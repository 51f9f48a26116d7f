"""Compares OpenVINO's verdict and shapes with ours, on nodes that our shape functions accept, and on near misses that
they reject. NNEFC_DIFFERENTIAL is the program that makes the nodes; NNEFC_ROWS_SEEDS is the number of seeds
(default: 3)."""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ov = pytest.importorskip("openvino")
from openvino import opset1  # noqa: E402
from openvino.utils.node_factory import NodeFactory  # noqa: E402

# OpenVINO's classes whose name differs from that in a file.
CLASSES = {"ReLU": "Relu", "PReLU": "PRelu", "SoftMax": "Softmax"}
# Nodes that OpenVINO's factory cannot make: it accepts no shape as an attribute, and certain regions end the process.
NOT_ASKED = {"opset2.ROIPooling", "opset6.ReadValue"}
PROGRAM = os.environ.get("NNEFC_DIFFERENTIAL", Path(__file__).parents[2] / "build/release/bin/nnefc_differential")
SEEDS = range(1, 1 + int(os.environ.get("NNEFC_ROWS_SEEDS", "3")))

NOT_COMPILED = "OpenVINO's compilation of the model refuses it"
NOTHING_TO_DO = "what is asked for names nothing that exists"
UNDEFINED = "the documents define no such thing"
# Nodes that we reject and OpenVINO's shape functions accept: part of the row ("" is any), part of our message, the
# reason.
STRICTER: list[tuple[str, str, str]] = [
    ("opset1.ReverseSequence", "expected two axes", "a sequence along the axis of the batch has no elements to reverse"),
    ("", "is given twice", "an axis that is named twice is a mistake"),
    ("", "outside a tensor of rank 0", "a scalar has no axes"),
    ("", "expected an integer", "places and extents are integers"),
    ("", "expected a float", UNDEFINED),
    ("", "expected a number", UNDEFINED),
    ("opset1.LogicalNot", "expected boolean", UNDEFINED),
    ("opset1.FakeQuantize", "`levels`", UNDEFINED),
    ("opset1.FakeQuantize", "does not broadcast to", "limits stretch to the data, never the data to them"),
    ("Interpolate", "`data` of `Interpolate` has rank 0", NOTHING_TO_DO),
    ("Interpolate", "`image` of `Interpolate` has rank 0", NOTHING_TO_DO),
    ("Interpolate", "`pads_", NOTHING_TO_DO),
    ("Interpolate", "that is not positive", UNDEFINED),
    ("opset4.Interpolate", "`scales` of `Interpolate` has rank", UNDEFINED),
    ("opset1.Interpolate", "`output_shape`", NOT_COMPILED),
    ("opset1.LRN", "`size`", UNDEFINED),
    ("opset1.NormalizeL2", "`eps`", UNDEFINED),
    ("opset1.NormalizeL2", "has rank 0", NOTHING_TO_DO),
    ("opset1.PReLU", "does not broadcast to", NOT_COMPILED),
    ("ROIAlign", "`pooled_", NOTHING_TO_DO),
    ("CTCGreedyDecoder", "expected at least 1 class", "OpenVINO reads beyond the data"),
    ("PSROIPooling", "`group_size` of `PSROIPooling` is", UNDEFINED),
    ("PSROIPooling", "`output_dim` of `PSROIPooling` is", NOTHING_TO_DO),
    ("ScatterElementsUpdate", "`axis`", UNDEFINED),
    ("ScatterNDUpdate", "`updates`", NOT_COMPILED),
    ("opset1.Selu", "expected one element", NOT_COMPILED),
    ("opset2.SpaceToBatch", "has lists of", UNDEFINED),
    ("ToSpace", "along axis 0", "the documents leave the batch as it is; OpenVINO's kernel and shape function disagree"),
    ("ToBatch", "along axis 0", "the documents leave the batch as it is; OpenVINO's kernel and shape function disagree"),
    ("TopK", "expected at most", NOT_COMPILED),
    ("AvgPool", "`strides`", UNDEFINED),
    ("MaxPool", "`strides`", UNDEFINED),
    ("Interpolate", "expected at least", "an item for each axis"),
    ("GroupNormalization", "`epsilon`", UNDEFINED),
    ("opset1.Reverse", "has rank 0", NOTHING_TO_DO),
    ("opset1.Reshape", "which does not fit", NOT_COMPILED),
    ("opset1.VariadicSplit", "into parts of", NOT_COMPILED),
    ("RegionYolo", "`coords`", "OpenVINO applies the logistic function twice where regions have no x and y"),
    ("RegionYolo", "channels: ", UNDEFINED),
    ("RegionYolo", "`mask` of `RegionYolo` is empty", NOTHING_TO_DO),
    ("RegionYolo", "`axis` of `RegionYolo` is", UNDEFINED),
    ("RegionYolo", "`classes`", UNDEFINED),
    ("RegionYolo", "`num`", NOTHING_TO_DO),
    ("ReorgYolo", "channels, `stride` squared", "OpenVINO reads beyond the data"),
    ("ReorgYolo", "`stride` of `ReorgYolo` is", NOTHING_TO_DO),
    ("DetectionOutput", "`input_", UNDEFINED),
    ("DetectionOutput", "`objectness_score`", UNDEFINED),
    ("DetectionOutput", "`keep_top_k`", UNDEFINED),
    ("DetectionOutput", "`num_classes`", NOTHING_TO_DO),
    ("DetectionOutput", "expected a positive multiple", NOTHING_TO_DO),
    ("DetectionOutput", "four offsets for each box", NOTHING_TO_DO),
    ("DetectionOutput", "`code_type`", UNDEFINED),
    ("PriorBox", "expected more than 0", UNDEFINED),
    ("PriorBox", "`variance`", NOT_COMPILED),
    ("PriorBox", "of `height`", "OpenVINO reads beyond the shorter list"),
    ("PriorBox", "`density` of", UNDEFINED),
    ("PriorBox", "`fixed_size` and", "OpenVINO counts other boxes than it makes"),
    ("PriorBox", "`fixed_ratio` of", "OpenVINO counts other boxes than it makes"),
    ("PriorBox", "`max_size` of", "OpenVINO counts other boxes than it makes"),
    ("PriorBox", "`min_size` of", "OpenVINO counts other boxes than it makes"),
    ("PriorBox", "`image_size`", NOT_COMPILED),
    ("PriorBox", "`output_size`", "OpenVINO reads beyond a shorter list"),
    ("opset1.ConvolutionBackpropData", "has the extent 0", NOTHING_TO_DO),
    ("opset1.ConvolutionBackpropData", "leave nothing", NOTHING_TO_DO),
    ("opset1.LSTMCell", "`input_forget`", NOT_COMPILED),
    ("Cell", "along axis", NOT_COMPILED),
    ("Sequence", "along axis", NOT_COMPILED),
    ("Cell", "`clip`", UNDEFINED),
    ("Sequence", "`clip`", UNDEFINED),
    ("Cell", "`hidden_size`", NOTHING_TO_DO),
    ("Sequence", "`hidden_size`", NOTHING_TO_DO),
    ("GatherND", "holds tuples of 0", NOTHING_TO_DO),
    ("ScatterND", "holds tuples of 0", NOTHING_TO_DO),
    ("opset2.MVN", "has rank 1", NOTHING_TO_DO),
    ("opset6.MVN", "is outside a tensor", NOT_COMPILED),
    ("opset3.CumSum", "`axis`", UNDEFINED),
    ("opset3.CumSum", "is outside a tensor", NOT_COMPILED),
    ("ROIAlign", "`spatial_scale`", UNDEFINED),
    ("Adaptive", "`output_shape`", UNDEFINED),
    ("MaxPool", "`index_element_type`", UNDEFINED),
    ("ExtractImagePatches", "expected at least 1", NOTHING_TO_DO),
    ("opset4.Interpolate", "`sizes` of `Interpolate` has rank", UNDEFINED),
    ("opset13.ScaledDotProductAttention", "`attention_mask`", NOT_COMPILED),
    ("opset1.Split", "`num_splits`", "a file says how many outputs a node has; the factory of nodes makes as many as are asked for"),
    ("opset1.VariadicSplit", "`split_lengths`", "a file says how many outputs a node has; the factory makes as many as are asked for"),
    ("opset1.StridedSlice", "of extent 0", "an empty axis has no element that could be taken"),
    ("opset10.Unique", "expected i32 or i64", "places and extents are integers"),
    ("opset6.CTCGreedyDecoderSeqLen", "expected i32 or i64", UNDEFINED),
    ("DFT", "`signal_size`", NOTHING_TO_DO),
    ("NonMaxSuppression", "`output_type`", UNDEFINED),
    ("opset15.SliceScatter", "expected", "updates are of the type of the data"),
    ("opset16.ISTFT", "bins, of frames", "OpenVINO reads beyond the data"),
    ("opset16.ISTFT", "expected a last axis of extent 2", UNDEFINED),
    ("opset3.EmbeddingSegmentsSum", "`num_segments`", UNDEFINED),
    ("opset1.DeformablePSROIPooling", "expected at least 1", NOTHING_TO_DO),
    ("Proposal", "expected at least", NOTHING_TO_DO),
    ("Proposal", "expected more than 0", NOTHING_TO_DO),
    ("ExperimentalDetectron", "expected at least", NOTHING_TO_DO),
    ("Cell", "one for each activation", "a parameter belongs to a function"),
    ("Sequence", "one for each activation", "a parameter belongs to a function"),
    ("opset15.ROIAlignRotated", "`sampling_ratio`", UNDEFINED),
    ("opset1.DeformablePSROIPooling", "along axis", "OpenVINO reads beyond the data"),
    ("opset1.DeformablePSROIPooling", "two offsets for each class", "OpenVINO reads beyond the data"),
    ("ExperimentalDetectronROIFeatureExtractor", "`pyramid_scales`", UNDEFINED),
    ("ExperimentalDetectron", "along axis", "OpenVINO reads beyond the data"),
    ("Proposal", "along axis", "OpenVINO reads beyond the data"),
    ("Pad", "`pads_", "lists of pads are as long as the rank; OpenVINO looks only at those whose values are both known"),
]
# Nodes that OpenVINO rejects and we accept: part of the row, part of its message, the reason.
LAXER: list[tuple[str, str, str]] = [
    ("Pool", "Batch size is zero", "NNEF's extents may be 0, and the result has none then"),
    ("Pool", "Channel count is zero", "NNEF's extents may be 0, and the result has none then"),
    ("Pool", "after padding (dim: 0)", "NNEF's extents may be 0, and the result has none then"),
    ("Pool", "Cannot get length of dynamic dimension", "negative pads crop"),
    ("Pool", "padding below dimension: 18446744073709551615", "negative pads crop"),
    ("opset1.Interpolate", "Unable to cast Python instance", "the factory of nodes takes no empty lists, a file does"),
    ("Pad", "REFLECT padding mode requires", "an empty tensor without padding stays empty"),
    ("DFT", "element type must be f32", "f64 is computed, too"),
    ("STFT", "Expected floating point type", "f64 is computed, too"),
    ("Nms", "as element type for the", "f64 is read, too"),
    ("opset16.SparseFillEmptyRows", "out of bounds", "columns are checked in the run"),
    ("opset15.SliceScatter", "input dim size", "ends that are unknown are checked in the run that knows them"),
    ("opset15.SliceScatter", "out of the tensor rank range", "ends that are unknown are checked in the run that knows them"),
    ("opset15.SliceScatter", "must have compatible shapes", "ends that are unknown are checked in the run that knows them"),
    ("opset15.SliceScatter", "not compatible with expected slice shape", "ends that are unknown are checked in the run that knows them"),
    ("Pad", "EDGE padding mode requires", "an empty tensor without padding stays empty"),
]
# Differences of shapes: the row, the affected nodes, the reason.
OTHERWISE: list[tuple[str, Callable[[dict], bool], str]] = [
    ("opset6.ExperimentalDetectronPriorGridGenerator", lambda node: node["attributes"]["h"] or node["attributes"]["w"],
     "OpenVINO's shapes leave out the extents of the grid that its kernel goes by"),
    ("opset1.Interpolate", lambda node: any(node["attributes"]["pads_begin"] + node["attributes"]["pads_end"]),
     "OpenVINO's shapes leave out what is padded along axes that are not resized"),
    ("opset3.NonZero", lambda node: node["inputs"][0]["shape"] == [],
     "of a constant 0 there are no rows; of a 0 that is not constant OpenVINO's result is ours"),
]


def make(node: dict):
    """Makes the node in OpenVINO; raises OpenVINO's exception if it is rejected."""
    inputs = []
    for given in node["inputs"]:
        kind = getattr(ov.Type, given["type"])
        if given["values"] is None:
            inputs.append(opset1.parameter(ov.PartialShape(given["shape"]), kind).output(0))
        else:
            inputs.append(ov.op.Constant(kind, ov.Shape(given["shape"]), given["values"]).output(0))
    attributes = dict(node["attributes"])
    if "activations" in attributes:  # a file has a list of words, the factory a Python list
        attributes["activations"] = attributes["activations"].split(",")
    if node["name"] == "ReorgYolo":  # one number in a file, a list to the factory
        attributes["stride"] = [attributes["stride"]]
    return NodeFactory(node["set"]).create(CLASSES.get(node["name"], node["name"]), inputs, attributes)


def judge(node: dict) -> dict:
    """Returns OpenVINO's verdict: the reason for a rejection, or the types and shapes of the results."""
    try:
        outputs = make(node).outputs()
    except Exception as error:  # noqa: BLE001
        return {"refused": str(error).strip() or type(error).__name__}
    return {"results": [[output.get_element_type().get_type_name(), str(output.get_partial_shape())] for output in outputs]}


def verdicts(nodes: list[dict], folder: Path) -> list[dict | None]:
    """Returns OpenVINO's verdict on each node, from a separate process: certain nodes make it crash, which is not a
    verdict. The process reads a file: OpenVINO forks another process, which would wait forever while standard input
    is being read."""
    found: list[dict | None] = []
    asked = folder / "nodes.jsonl"
    while len(found) < len(nodes):
        asked.write_text("".join(json.dumps(node) + "\n" for node in nodes[len(found):]))
        done = subprocess.run([sys.executable, __file__, asked], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        found += [json.loads(line) for line in done.stdout.splitlines() if line.endswith("}")]
        if len(found) < len(nodes):
            found.append(None)
    return found


def allowed(table: list[tuple[str, str, str]], row: str, message: str) -> bool:
    return any(part in row and text in message for part, text, _ in table)


def compare(node: dict, verdict: dict | None) -> str | None:
    """Returns the difference of the verdicts, or nothing."""
    row, message = f"{node['set']}.{node['name']}", node["message"]
    if verdict is None or "outputs" in message:  # a file states their number; OpenVINO's class counts them itself
        return None
    if reason := verdict.get("refused"):
        known = message or allowed(LAXER, row, reason)
        return None if known else f"{row}: OpenVINO refuses: {reason.splitlines()[-1]}"
    if message:
        return None if allowed(STRICTER, row, message) else f"{row}: we refuse: {message}"
    ours = [[result["type"], "[" + ",".join(map(str, result["shape"])) + "]"] for result in node["results"]]
    theirs = verdict["results"][: len(ours)]
    # OpenVINO may leave extents open that we know.
    if all(mine == other and ov.PartialShape(shape).compatible(ov.PartialShape(wide))
           for (mine, shape), (other, wide) in zip(ours, theirs, strict=True)):
        return None
    if any(row == entry and differs(node) for entry, differs, _ in OTHERWISE):
        return None
    return f"{row}: we infer {ours}, OpenVINO {theirs}"


@pytest.mark.parametrize("seed", SEEDS)
def test_verdicts_are_openvinos(seed: int, tmp_path: Path) -> None:
    done = subprocess.run([PROGRAM, "--describe", "--seed", str(seed)], check=True, capture_output=True, text=True)
    nodes = [json.loads(line) for line in done.stdout.splitlines()]
    nodes = [node for node in nodes if f"{node['set']}.{node['name']}" not in NOT_ASKED]
    assert len(nodes) > 1000
    differing: dict[str, list[str]] = collections.defaultdict(list)
    for node, verdict in zip(nodes, verdicts(nodes, tmp_path), strict=True):
        if difference := compare(node, verdict):
            differing[f"{node['set']}.{node['name']}"].append(f"{difference}\n    {json.dumps(node)[:600]}")
    assert not differing, "\n" + "\n".join(line for lines in differing.values() for line in lines[:3])


if __name__ == "__main__":
    for text in Path(sys.argv[1]).read_text().splitlines():
        print(json.dumps(judge(json.loads(text))), flush=True)
