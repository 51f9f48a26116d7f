"""Blocks of networks as torch exports them to ONNX become strict NNEF with ONNX Runtime's results: windows with shifts, attention,
channel shuffles, gates, class tokens, and shapes that the graph computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("nnef")
pytest.importorskip("openvino")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from converted_models import Program, difference, ir_apart  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402
from onnx_cases import load_front_end  # noqa: E402

SECONDS = 60
BOUND = 1e-5


class Graph:
    """A graph with the input `x`; each call adds a node and returns the name of its first result. Arrays become initializers."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(3)

    def constant(self, value: object) -> str:
        array = np.asarray(value)
        self.constants.append(numpy_helper.from_array(array, f"c{len(self.constants)}"))
        return self.constants[-1].name

    def weights(self, *shape: int) -> np.ndarray:
        return (self.random.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)

    def __call__(self, operation: str, *inputs: object, count: int = 1, **attributes: object) -> str:
        names = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        base = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, names, [base, *(f"{base}_{i}" for i in range(1, count))], **attributes))
        return base

    def linear(self, x: str, inputs: int, outputs: int) -> str:
        return self("Add", self("MatMul", x, self.weights(inputs, outputs)), self.weights(outputs))

    def norm(self, x: str, width: int) -> str:
        return self("LayerNormalization", x, 1 + self.weights(width), self.weights(width), axis=-1, epsilon=1e-5)

    def roll(self, x: str, shift: int, axis: int) -> str:
        """Adds a roll as torch writes it: two slices in the other order."""
        largest = np.iinfo(np.int64).max
        parts = [self("Slice", x, np.array([start]), np.array([end]), np.array([axis])) for start, end in ((-shift, largest), (0, -shift))]
        return self("Concat", *parts, axis=axis)

    def windows(self, x: str, extent: int, size: int, width: int) -> str:
        count = extent // size
        x = self("Transpose", self("Reshape", x, np.array([1, count, size, count, size, width])), perm=[0, 1, 3, 2, 4, 5])
        return self("Reshape", x, np.array([count * count, size * size, width]))

    def whole(self, x: str, extent: int, size: int, width: int) -> str:
        count = extent // size
        x = self("Transpose", self("Reshape", x, np.array([1, count, count, size, size, width])), perm=[0, 1, 3, 2, 4, 5])
        return self("Reshape", x, np.array([1, extent, extent, width]))

    def model(self, result: str) -> onnx.ModelProto:
        inputs = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, self.shape)]
        outputs = [helper.make_tensor_value_info(result, onnx.TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "block", inputs, outputs, self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        made.ir_version = 10
        return made


def attention(add: Graph, x: str, count: int, width: int, *, cosine: bool) -> str:
    """Adds attention inside of windows of 16 places, with position biases and a mask for shifted windows."""
    heads, part = 2, width // 2
    x = add("Transpose", add("Reshape", add.linear(x, width, 3 * width), np.array([count, 16, 3, heads, part])), perm=[2, 0, 3, 1, 4])
    q, k, v = (add("Gather", x, np.array(i), axis=0) for i in range(3))
    if cosine:
        q, k = (add("Div", each, add("Max", add("ReduceL2", each, np.array([-1]), keepdims=1), np.float32(1e-12))) for each in (q, k))
    else:
        q = add("Mul", q, np.float32(part**-0.5))
    scores = add("MatMul", q, add("Transpose", k, perm=[0, 1, 3, 2]))
    if cosine:
        scores = add("Mul", scores, np.exp(add.weights(heads, 1, 1)))
    scores = add("Add", scores, add.weights(1, heads, 16, 16))
    mask = np.where(add.random.random((1, count, 1, 16, 16)) < 0.3, -100, 0).astype(np.float32)
    scores = add("Add", add("Reshape", scores, np.array([1, count, heads, 16, 16])), mask)
    scores = add("Softmax", add("Reshape", scores, np.array([-1, heads, 16, 16])), axis=-1)
    x = add("Transpose", add("MatMul", scores, v), perm=[0, 2, 1, 3])
    return add.linear(add("Reshape", x, np.array([count, 16, width])), width, width)


def shifted_windows(*, cosine: bool) -> onnx.ModelProto:
    """A block of Swin: the norm before attention, or after it (cosine)."""
    add = Graph((1, 8, 8, 12))
    x = "x" if cosine else add.norm("x", 12)
    for axis in (1, 2):
        x = add.roll(x, -2, axis)
    x = add.whole(attention(add, add.windows(x, 8, 4, 12), 4, 12, cosine=cosine), 8, 4, 12)
    for axis in (1, 2):
        x = add.roll(x, 2, axis)
    x = add("Add", "x", add.norm(x, 12) if cosine else x)
    even_and_odd = [add("Slice", x, np.array([i, j]), np.array([8, 8]), np.array([1, 2]), np.array([2, 2])) for j in (0, 1) for i in (0, 1)]
    return add.model(add.linear(add.norm(add("Concat", *even_and_odd, axis=-1), 48), 48, 24))


def grid_windows() -> onnx.ModelProto:
    """A grid of MaxViT: partitions of channels-first images, with places of a window far apart."""
    add = Graph((1, 6, 8, 8))
    x = add("Transpose", add("Reshape", "x", np.array([-1, 6, 4, 2, 4, 2])), perm=[0, 3, 5, 2, 4, 1])
    x = add("Reshape", x, np.array([-1, 4, 16, 6]))
    x = add("Transpose", x, perm=[0, 2, 1, 3])
    x = add("Transpose", x, perm=[0, 2, 1, 3])
    x = add("Add", x, add.linear(add.norm(x, 6), 6, 6))
    x = add("Transpose", add("Reshape", x, np.array([-1, 2, 2, 4, 4, 6])), perm=[0, 5, 3, 1, 4, 2])
    return add.model(add("Reshape", x, np.array([-1, 6, 8, 8])))


def channel_shuffle() -> onnx.ModelProto:
    """A unit of ShuffleNet, whose extents come from Shape."""
    add = Graph((1, 8, 6, 6))
    left = add("Split", "x", count=2, axis=1, num_outputs=2)
    x = add("Concat", left, add("Relu", add("Conv", left + "_1", add.weights(4, 4, 1, 1), add.weights(4))), axis=1)
    shape = add("Shape", x)
    extents = [add("Unsqueeze", add("Gather", shape, np.array(i), axis=0), np.array([0])) for i in range(4)]
    half = add("Div", extents[1], np.array([2]))
    x = add("Reshape", x, add("Concat", extents[0], np.array([2]), half, *extents[2:], axis=0))
    x = add("Reshape", add("Transpose", x, perm=[0, 2, 1, 3, 4]), add("Concat", extents[0], np.array([-1]), *extents[2:], axis=0))
    return add.model(add("Flatten", add("ReduceMean", x, np.array([2, 3]), keepdims=0), axis=1))


def gate() -> onnx.ModelProto:
    """Squeeze and excitation of MobileNetV3."""
    add = Graph((1, 8, 6, 6))
    x = add("HardSwish", "x")
    scale = add("Relu", add("Conv", add("GlobalAveragePool", x), add.weights(4, 8, 1, 1), add.weights(4)))
    scale = add("HardSigmoid", add("Conv", scale, add.weights(8, 4, 1, 1), add.weights(8)), alpha=1 / 6, beta=0.5)
    return add.model(add("AveragePool", add("Mul", scale, x), kernel_shape=[2, 2], strides=[2, 2]))


def class_token() -> onnx.ModelProto:
    """The ends of a ViT: a token that is expanded to the batch, places, and the result of the first place."""
    add = Graph((1, 6, 4, 4))
    shape = add("Shape", "x")
    batch = add("Unsqueeze", add("Gather", shape, np.array(0), axis=0), np.array([0]))
    x = add("Transpose", add("Reshape", "x", add("Concat", batch, np.array([6, -1]), axis=0)), perm=[0, 2, 1])
    token = add("Expand", add.weights(1, 1, 6), add("Concat", batch, np.array([-1, -1]) * -1, axis=0))
    x = add("Add", add("Concat", token, x, axis=1), add.weights(1, 17, 6))
    return add.model(add.linear(add("Gather", add.norm(x, 6), np.array(0), axis=1), 6, 3))


BLOCKS = {
    "shifted windows": lambda: shifted_windows(cosine=False),
    "shifted windows of cosines": lambda: shifted_windows(cosine=True),
    "grid windows": grid_windows,
    "channel shuffle": channel_shuffle,
    "gate": gate,
    "class token": class_token,
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks(nnefc: Path, tmp_path: Path, name: str) -> None:
    load_front_end()
    program, made = Program(nnefc, SECONDS), BLOCKS[name]()
    source = tmp_path / "block.onnx"
    onnx.save(made, source)
    shape = [each.dim_value for each in made.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(5).normal(size=shape).astype(np.float32)
    expected = ort.InferenceSession(str(source), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    ir_apart(source, tmp_path / "net.xml", [x])
    program.convert(tmp_path / "net.xml", tmp_path / "model", "ratified")
    program.check_strict(tmp_path / "model")
    assert difference(program.run_document(tmp_path / "model", [x]), expected) <= BOUND
