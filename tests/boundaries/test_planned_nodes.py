"""Nodes in which values meet that the generated combinations may miss: OpenVINO, ONNX Runtime or the formula of OpenVINO's documents
computes what is expected."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

pytest.importorskip("openvino")
ort = pytest.importorskip("onnxruntime")

import numpy as np  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import nnefc_ways  # noqa: E402
from nnefc_ways import Refused, difference, load, ways  # noqa: E402
from opset_boundaries import Node, Value  # noqa: E402
from openvino_worker import Worker  # noqa: E402
from test_opset_boundaries import Runs, Verdicts, merged, result_of  # noqa: E402

RANDOM = np.random.default_rng(5)


def data(*shape: int) -> Value:
    return Value(RANDOM.standard_normal(shape).astype(np.float32), False)


def ints(*items: int) -> Value:
    return Value(np.array(items), True)


def floats(*items: float) -> Value:
    return Value(np.array(items, np.float32), True)


def rolled() -> list[Node]:
    """Shifts of one axis add up, whether the axis is written once or twice, as a positive or a negative number."""
    return [Node("opset7.Roll", f"{shifts} of {axes}", [data(3, 4), ints(*shifts), ints(*axes)], {}, ["f32"])
            for shifts, axes in [((1, 1), (1, 1)), ((1, 2), (1, -1)), ((3, -1), (0, 0)), ((1, 1, 1), (1, 0, 1)), ((5, 5), (0, -2)), ((2,), (1,))]]


def split() -> list[Node]:
    """-1 stands for what remains: nothing, one element, all."""
    return [Node("opset1.VariadicSplit", str(lengths), [data(2, 6), ints(1), ints(*lengths)], {}, ["f32"] * len(lengths))
            for lengths in [(6, -1), (-1, 6), (2, -1, 4), (5, -1), (-1,), (-1, 0), (0, 6), (0, -1, 6)]]


@pytest.mark.parametrize("nodes", [rolled, split])
def test_nodes(nodes, tmp_path: Path, nnefc: Path, worker: Worker) -> None:
    planned = nodes()
    verdicts = Verdicts(tmp_path, worker)
    accepted = verdicts.accepted(planned)
    assert len(accepted) == len(planned), verdicts.problems
    Runs(verdicts, nnefc_ways.transformations(nnefc)).run(accepted)
    assert not verdicts.problems, "\n" + "\n".join(line for lines in verdicts.problems.values() for line in lines[:5])


def compute(nodes: list[Node], folder: Path, nnefc: Path) -> list[np.ndarray]:
    """The first result of each node, which is the same in every way."""
    graph, inputs, _ = merged(nodes)
    found = ways(load(graph.save(folder / "nodes.xml")), inputs, folder, nnefc_ways.transformations(nnefc))
    reference = next(iter(found.values()))
    for way, results in found.items():
        assert not isinstance(results, Refused), f"{way}: {results}"
        for index, node in enumerate(nodes):
            ours = result_of(index, reference)
            assert (what := difference(result_of(index, results), ours, 1e-5)) is None, f"{way}: {what}\n{node.describe()}"
    return [reference[f"n{index}_out0"] for index in range(len(nodes))]


def openvino_results(nodes: list[Node], worker: Worker) -> list[np.ndarray]:
    """OpenVINO's first result of each node; each has one."""
    graph, inputs, _ = merged(nodes)
    answer = worker.answer((graph.net().encode(), graph.blobs.bytes, inputs))
    assert answer is not None and answer[0] == "computed", answer
    return answer[1]


@dataclass(frozen=True)
class Windows:
    """The windows of an AvgPool along one spatial axis of its data."""

    extent: int
    before: int
    after: int
    starts: tuple[int, ...]
    taps: tuple[int, ...]

    @staticmethod
    def of(node: Node, axis: int = 0) -> Windows:
        size, stride, before, after, dilation = (int(node.attributes.get(name, "1,1").split(",")[axis]) for name in
                                                 ("kernel", "strides", "pads_begin", "pads_end", "dilations"))
        extent = node.inputs[0].array.shape[2 + axis]
        room = extent + before + after - dilation * (size - 1) - 1
        rounding = node.attributes["rounding_type"]
        count = (room // stride if rounding == "floor" else -(-room // stride)) + 1
        if rounding == "ceil_torch" and (count - 1) * stride >= extent + before:  # the last window does not start in the padding
            count -= 1
        return Windows(extent, before, after, tuple(i * stride - before for i in range(count)), tuple(i * dilation for i in range(size)))

    @staticmethod
    def all_of(node: Node) -> list[Windows]:
        return [Windows.of(node, axis) for axis in range(node.inputs[0].array.ndim - 2)]

    def inside(self, start: int, padded: bool = False) -> list[int]:
        """The elements of a window that are in the data, or in the data and its padding."""
        return [start + tap for tap in self.taps if (padded or start + tap >= 0) and start + tap < self.extent + padded * self.after]

    def reach_beyond(self) -> bool:
        """Whether a window has elements after the padding."""
        return self.starts[-1] + self.taps[-1] >= self.extent + self.after

    def has_empty(self) -> bool:
        return not all(map(self.inside, self.starts))

    def is_valid(self, exclude: str) -> bool:
        """Whether the windows fit, and none is excluded as a whole."""
        reach = self.taps[-1] + 1
        return self.extent + self.before + self.after >= reach and (exclude == "false" or max(self.before, self.after) < reach)


def means(node: Node) -> np.ndarray:
    """The formula of AvgPool: the divisor of a window is the number of its elements in the data, or in the data and its padding unless
    they are excluded. Elements after the padding are not counted, and a window without elements has the mean 0."""
    axes, x = Windows.all_of(node), node.inputs[0].array.astype(np.float64)
    is_padded = node.attributes["exclude-pad"] == "false"
    result = np.zeros((*x.shape[:2], *(len(windows.starts) for windows in axes)))
    for index in np.ndindex(*result.shape[2:]):
        starts = [(windows, windows.starts[i]) for windows, i in zip(axes, index)]
        counted = math.prod(len(windows.inside(start, is_padded)) for windows, start in starts)
        window = x[np.ix_(*map(range, x.shape[:2]), *(windows.inside(start) for windows, start in starts))]
        result[:, :, *index] = window.sum(axis=tuple(range(2, x.ndim))) / max(counted, 1)
    return result.astype(np.float32)


def means_by_onnx(node: Node) -> np.ndarray:
    """ONNX Runtime's result for an AvgPool along one axis."""
    read = lambda name: int(node.attributes.get(name, "1"))  # noqa: E731
    return run_onnx(node.inputs[0].array, helper.make_node(
        "AveragePool", ["x"], ["y"], kernel_shape=[read("kernel")], strides=[read("strides")], dilations=[read("dilations")],
        pads=[read("pads_begin"), read("pads_end")], ceil_mode=int(node.attributes["rounding_type"] != "floor"),
        count_include_pad=int(node.attributes["exclude-pad"] == "false")))


def run_onnx(x: np.ndarray, node, *constants, reference: bool = False) -> np.ndarray:
    """The result of ONNX Runtime, or of ONNX's reference implementation, for a node whose data is `x`."""
    graph = helper.make_graph([node], "node", [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(x.shape))],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    if reference:
        return ReferenceEvaluator(model).run(None, {"x": x})[0]
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def pool(x: Value, kernel, dilations, strides, pads, rounding: str, exclude: str) -> Node:
    """An AvgPool along one axis, or along two, for which the arguments are pairs."""
    text = lambda given: ",".join(map(str, given)) if isinstance(given, tuple) else str(given)  # noqa: E731
    before, after = pads if x.array.ndim == 3 else zip(*pads)
    attributes = {"kernel": text(kernel), "strides": text(strides), "pads_begin": text(before), "pads_end": text(after),
                  "rounding_type": rounding, "exclude-pad": exclude, "auto_pad": "explicit"}
    row = "opset14.AvgPool"
    if dilations not in (1, (1, 1)):
        row, attributes = "opset16.AvgPool", attributes | {"dilations": text(dilations)}
    return Node(row, "planned", [x], attributes, ["f32"])


ROUNDINGS, EXCLUDES, PADS = ("floor", "ceil", "ceil_torch"), ("true", "false"), tuple(itertools.product(range(3), repeat=2))


def pools() -> list[Node]:
    """Windows that end inside the data, inside the padding, at its end, and one element or more after it; 16 channels are in blocks."""
    three = (1, 2, 3)
    nodes = [pool(data(1, 1, 5), *values) for values in itertools.product(three, three, three, PADS, ROUNDINGS, EXCLUDES)]
    nodes += [pool(data(1, 16, 6), *values) for values in itertools.product((2, 3), (1, 2), (2, 3), PADS, ("ceil",), EXCLUDES)]
    pick = lambda values: tuple(values[i] for i in RANDOM.integers(0, len(values), 2))  # noqa: E731
    nodes += [pool(data(1, 1 + 15 * (index % 2), 4, 5), pick(three), pick(three), pick(three), pick(PADS), ROUNDINGS[index % 3], EXCLUDES[index // 3 % 2])
              for index in range(180)]
    return [node for node in nodes if all(windows.is_valid(node.attributes["exclude-pad"]) for windows in Windows.all_of(node))]


def test_divisors_of_average_pools(tmp_path: Path, nnefc: Path, worker: Worker) -> None:
    """The formula decides. ONNX Runtime, which leaves out windows that start in the padding, agrees where it has as many windows.
    OpenVINO's plug-in divides windows that reach beyond the padding by the whole kernel, and the sum of no element by 0."""
    nodes = pools()
    with_openvino = with_onnx = 0
    for node, found, theirs in zip(nodes, compute(nodes, tmp_path, nnefc), openvino_results(nodes, worker), strict=True):
        expected, axes = means(node), Windows.all_of(node)
        assert difference({"out": found}, {"out": expected}, 1e-5) is None, node.describe()
        is_empty = any(windows.has_empty() for windows in axes)
        if not is_empty and not (any(windows.reach_beyond() for windows in axes) and node.attributes["exclude-pad"] == "false"):
            with_openvino += 1
            assert difference({"out": theirs}, {"out": expected}, 1e-4) is None, node.describe()
        # ONNX Runtime refuses pads from the size of the kernel on; the windows of 16 channels are those of one.
        if is_empty or node.inputs[0].array.shape[1] > 1 or len(axes) > 1 or max(axes[0].before, axes[0].after) >= len(axes[0].taps):
            continue
        onnx = means_by_onnx(node)
        if onnx.shape == expected.shape:
            with_onnx += 1
            assert difference({"out": onnx}, {"out": expected}, 1e-4) is None, node.describe()
    assert (with_openvino > 900, with_onnx > 600) == (True, True)


def test_pads_of_average_pools(tmp_path: Path, worker: Worker) -> None:
    """Where the padding is excluded, it is smaller than the window at either end, so that no window is excluded as a whole."""
    verdicts = Verdicts(tmp_path, worker)
    for dilation, (before, after), exclude in itertools.product((1, 2), ((0, 0), (1, 0), (0, 1)), EXCLUDES):
        reach = 2 * dilation + 1
        for more in (-1, 0):
            node = pool(data(1, 1, 5), 3, dilation, 1, (before * (reach + more), after * (reach + more)), "floor", exclude)
            is_excluded = more == 0 and before + after > 0 and exclude == "true"
            assert verdicts.accepted([node]) == ([] if is_excluded else [node]), node.describe()
            assert not verdicts.problems, verdicts.problems


def test_automatic_padding_of_no_elements(tmp_path: Path, worker: Worker) -> None:
    """The padding of an extent of 0 is smaller than the window of a pool, which does not fit."""
    verdicts = Verdicts(tmp_path, worker)
    for extent, auto_pad, rounding in itertools.product((0, 1), ("same_upper", "same_lower"), ROUNDINGS):
        for kernel, stride in ((1, 1), (3, 1), (3, 3), (6, 3)):
            node = pool(data(1, 2, extent), kernel, 1, stride, (0, 0), rounding, "false")
            node.attributes["auto_pad"] = auto_pad
            assert verdicts.accepted([node]) == ([] if extent == 0 else [node]), node.describe()
            assert not verdicts.problems, verdicts.problems


def resized(mode: str, coordinates: str, nearest: str, extent: int, scale: float, row: str) -> Node:
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates, "nearest_mode": nearest,
                  "shape_calculation_mode": "scales", "antialias": "false", "pads_begin": "0", "pads_end": "0", "cube_coeff": "-0.75"}
    sizes = [ints(extent)] if row == "opset4.Interpolate" else []
    return Node(row, f"{extent} by {scale}", [data(1, 1, 3, extent), *sizes, floats(scale), ints(3)], attributes, ["f32"])


def resized_by_onnx(node: Node) -> np.ndarray:
    """The result of ONNX's reference implementation for a node that is resized along its last axis."""
    attributes = node.attributes
    mode = {"linear_onnx": "linear"}.get(attributes["mode"], attributes["mode"])
    scales = helper.make_tensor("scales", TensorProto.FLOAT, [4], [1.0, 1.0, 1.0, float(node.inputs[-2].array[0])])
    more = {"nearest_mode": attributes["nearest_mode"]} if mode == "nearest" else {}
    resize = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode=mode, cubic_coeff_a=-0.75,
                              coordinate_transformation_mode=attributes["coordinate_transformation_mode"], **more)
    return run_onnx(node.inputs[0].array, resize, scales, reference=True)


def test_scales_that_keep_the_extent(tmp_path: Path, nnefc: Path, worker: Worker) -> None:
    """The coordinates go by the scale by OpenVINO's documents and ONNX's reference implementation, also where the extent stays.
    OpenVINO's plug-in (and ONNX Runtime) copy the data there."""
    nodes = [resized(mode, coordinates, nearest, extent, scale, row)
             for row in ("opset4.Interpolate", "opset11.Interpolate")
             for extent, scale in ((5, 1.19), (6, 1.16), (1, 1.9), (5, 1.0), (5, 1.21))
             for coordinates in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
             for mode, nearest in (("linear_onnx", "floor"), ("cubic", "floor"), ("nearest", "floor"), ("nearest", "ceil"),
                                   ("nearest", "round_prefer_floor"), ("nearest", "round_prefer_ceil"))
             if coordinates != "align_corners" or scale < 1.2]
    moved = 0
    for node, found, theirs in zip(nodes, compute(nodes, tmp_path, nnefc), openvino_results(nodes, worker), strict=True):
        x = node.inputs[0].array
        is_aligned = node.attributes["coordinate_transformation_mode"] == "align_corners"  # which goes by the extents alone
        assert difference({"out": found}, {"out": x if is_aligned and found.shape == x.shape else resized_by_onnx(node)}, 1e-5) is None, node.describe()
        is_copied = found.shape == x.shape and not np.array_equal(found, x)
        moved += is_copied
        assert difference({"out": theirs}, {"out": x if is_copied else found}, 1e-4) is None, node.describe()
    assert moved > len(nodes) // 5


def antialiased(extent: int, count: int, antialias: bool) -> np.ndarray:
    """The weights of the mode `linear` along an axis by OpenVINO's documents: a triangle, as wide as the elements of a smaller result."""
    scale = count / extent
    slope = scale if antialias and scale < 1 else 1.0
    distances = (np.arange(count)[:, None] + 0.5) / scale - 0.5 - np.arange(extent)
    weights = np.maximum(0, 1 - slope * np.abs(distances))
    return weights / weights.sum(1, keepdims=True)


def test_antialiasing(tmp_path: Path, nnefc: Path) -> None:
    """The formula decides: OpenVINO's plug-in does not read `antialias` in the mode `linear`."""
    extents = [(1, 1), (3, 2), (4, 6), (5, 7), (8, 3), (1, 12)]
    nodes = [Node("opset11.Interpolate", "planned", [data(1, 2, 4, 6), ints(*sizes), ints(2, 3)], {
        "mode": "linear", "coordinate_transformation_mode": "half_pixel", "nearest_mode": "floor", "shape_calculation_mode": "sizes",
        "antialias": text, "pads_begin": "0", "pads_end": "0", "cube_coeff": "-0.75"}, ["f32"]) for sizes in extents for text in ("false", "true")]
    for node, found in zip(nodes, compute(nodes, tmp_path, nnefc), strict=True):
        rows, columns = (antialiased(n, int(count), node.attributes["antialias"] == "true")
                         for n, count in zip((4, 6), node.inputs[1].array))
        expected = np.einsum("ih,nchw,jw->ncij", rows, node.inputs[0].array.astype(np.float64), columns).astype(np.float32)
        assert difference({"out": found}, {"out": expected}, 1e-5) is None, node.describe()


def transposed() -> list[Node]:
    """Transposed convolutions along one axis, whose result is smaller than what the windows reach, equal and larger."""
    nodes = []
    for channels, stride, auto_pad, extent, extra, pads in itertools.product(
            (1, 16), (1, 3), ("explicit", "valid", "same_upper", "same_lower"), (None, -2, -1, 0, 1, 3), (0, 1), (("0", "0"), ("1", "0"), ("0", "1"))):
        if extra >= stride or (pads != ("0", "0") and auto_pad != "explicit"):
            continue
        x, filters = data(1, channels, 4), Value(RANDOM.standard_normal((channels, 2, 3)).astype(np.float32), True)
        shape = [] if extent is None else [ints(3 * stride + 3 + extent)]
        nodes.append(Node("opset1.ConvolutionBackpropData", "planned", [x, filters, *shape], {
            "strides": f"{stride}", "dilations": "1", "pads_begin": pads[0], "pads_end": pads[1], "auto_pad": auto_pad,
            "output_padding": f"{extra}"}, ["f32"]))
    return nodes


def spread(node: Node) -> np.ndarray:
    """The formula of OpenVINO's documents: without an extent of the result, pads are those of `explicit`. An extent implies pads, half of
    them at each end; a larger one adds zeros to the end, as the gradient of a convolution has them."""
    x, filters = (value.array.astype(np.float64) for value in node.inputs[:2])
    stride, extra, before, after = (int(node.attributes[name]) for name in ("strides", "output_padding", "pads_begin", "pads_end"))
    whole = np.zeros((1, filters.shape[1], stride * (x.shape[2] - 1) + filters.shape[2] + extra))
    for place in range(x.shape[2]):
        whole[:, :, place * stride:place * stride + filters.shape[2]] += np.einsum("bi,iok->bok", x[:, :, place], filters)
    if len(node.inputs) == 2:
        if node.attributes["auto_pad"] != "explicit":
            before = after = 0
        return whole[:, :, before:whole.shape[2] - after].astype(np.float32)
    extent = int(node.inputs[2].array[0])
    total = max(whole.shape[2] - extent, 0)
    before = total - total // 2 if node.attributes["auto_pad"] == "same_upper" else total // 2
    cropped = whole[:, :, before:before + extent]
    return np.pad(cropped, ((0, 0), (0, 0), (0, extent - cropped.shape[2]))).astype(np.float32)


def test_extents_of_transposed_convolutions(tmp_path: Path, nnefc: Path, worker: Worker) -> None:
    """The formula decides: where an extent is given, OpenVINO's plug-in goes by explicit pads, too."""
    nodes = transposed()
    for node, found, theirs in zip(nodes, compute(nodes, tmp_path, nnefc), openvino_results(nodes, worker), strict=True):
        expected = spread(node)
        assert difference({"out": found}, {"out": expected}, 1e-5) is None, node.describe()
        if len(node.inputs) == 2 or node.attributes["auto_pad"].startswith("same"):
            assert difference({"out": theirs}, {"out": expected}, 1e-4) is None, node.describe()


def test_clamp_of_integers(tmp_path: Path, nnefc: Path, worker: Worker) -> None:
    """Bounds are rounded inwards; where no integer is between them, min(max(x, low), high) is the upper one."""
    x = np.arange(-4, 5, dtype=np.int32)
    bounds = [(-1.5, 1.5), (0.25, 0.75), (-0.75, -0.25), (1.0, 1.0), (0.5, 1.0), (0.0, 0.5)]
    nodes = [Node("opset1.Clamp", "planned", [Value(x, False)], {"min": f"{low}", "max": f"{high}"}, ["i32"]) for low, high in bounds]
    for (low, high), found, theirs in zip(bounds, compute(nodes, tmp_path, nnefc), openvino_results(nodes, worker), strict=True):
        expected = np.minimum(np.maximum(x, np.int32(np.ceil(low))), np.int32(np.floor(high)))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(theirs, expected)


@pytest.mark.parametrize("kind,dtype", [("boolean", np.bool_), ("i32", np.int32), ("f32", np.float32)])
@pytest.mark.parametrize("rows,columns,diagonal", [(2, 3, 0), (3, 2, -2), (2, 3, 2), (2, 3, 3), (0, 3, 0), (2, 0, 0)])
def test_eye_of_each_kind(kind, dtype, rows, columns, diagonal, tmp_path: Path, nnefc: Path) -> None:
    node = Node("opset9.Eye", "planned", [Value(np.array(item), True) for item in (rows, columns, diagonal)], {"output_type": kind}, [kind])
    np.testing.assert_array_equal(compute([node], tmp_path, nnefc)[0], np.eye(rows, columns, diagonal, dtype=dtype), strict=True)


@pytest.mark.parametrize("batch", [1, 2])
def test_causal_attention_ignores_the_mask(batch: int, tmp_path: Path, nnefc: Path, worker: Worker) -> None:
    inputs = [data(1, 3, 4, 8), data(1, 3, 5, 8), data(1, 3, 5, 6)]
    row, attributes = "opset13.ScaledDotProductAttention", {"causal": "true"}
    masked = Node(row, "masked", [*inputs, data(batch, 1, 4, 5)], attributes, ["f32"])
    found, expected = compute([masked, Node(row, "plain", inputs, attributes, ["f32"])], tmp_path, nnefc)
    np.testing.assert_array_equal(found, expected, strict=True)
    np.testing.assert_allclose(found, openvino_results([masked], worker)[0], rtol=1e-4, atol=1e-5)


def slice_inputs(step: int, more: int = 0) -> list[Value]:
    """Inputs of Slice and SliceScatter after the data: along axis 1, and `more` elements along axis 0 before it."""
    lead = [[0], [more], [1], [0]] if more else [[], [], [], []]
    return [ints(*lead[0], 1), ints(*lead[1], 5), ints(*lead[2], step), ints(*lead[3], 1)]


STEPS = [("opset8.Slice", 3, lambda step: [data(2, 6), *slice_inputs(step)]),
         ("opset8.Slice", 3, lambda step: [data(1, 6, 2, 2), *slice_inputs(step)]),
         ("opset8.Slice", 3, lambda step: [data(1, 6, 2, 2), *slice_inputs(step, 1)]),
         ("opset1.StridedSlice", 3, lambda step: [data(2, 6), ints(0, 1), ints(2, 5), ints(1, step)]),
         ("opset15.SliceScatter", 4, lambda step: [data(2, 6), data(2, 4 if step > 0 else 0), *slice_inputs(step)])]


@pytest.mark.parametrize("row,place,inputs", STEPS)
def test_steps_of_zero_are_refused(row, place, inputs, tmp_path: Path, nnefc: Path, worker: Worker) -> None:
    """A step of 1 and of -1 is valid, 0 breaks a rule: of a constant when the model is read, of other steps in a run."""
    attributes = {"begin_mask": "", "end_mask": ""} if row == "opset1.StridedSlice" else {}
    verdicts = Verdicts(tmp_path, worker)
    near = [Node(row, f"step {step}", inputs(step), attributes, ["f32"]) for step in (1, -1)]
    assert verdicts.accepted(near) == near, verdicts.problems
    zero = Node(row, "step 0", inputs(0), attributes, ["f32"])
    with pytest.raises(Refused) as refused:
        load(zero.graph().save(tmp_path / "zero.xml"))
    assert refused.value.rules == ["opset.constant-input"]
    zero.inputs[place] = replace(zero.inputs[place], constant=False)
    found = ways(load(zero.graph().save(tmp_path / "zero.xml")), zero.data(), tmp_path, nnefc_ways.transformations(nnefc))
    assert [(way, getattr(results, "rules", results)) for way, results in found.items() if getattr(results, "rules", 0) != ["opset.constant-input"]] == []
