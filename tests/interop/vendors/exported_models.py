"""ONNX models of every kind of operation that Khronos' converter `nnef_tools` translates correctly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Builder = Callable[["Model"], list[str]]


@dataclass
class Model:
    """A graph under construction; constants are passed as arrays in place of names."""
    shapes: dict[str, tuple[int, ...]]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def weights(self, *shape: int, positive: bool = False) -> np.ndarray:
        data = self.random.standard_normal(shape).astype(np.float32)
        return np.abs(data) + np.float32(0.1) if positive else data

    def op(self, kind: str, *inputs: str | np.ndarray, outputs: int = 1, **attributes: object) -> list[str]:
        names = [self._constant(value) if isinstance(value, np.ndarray) else value for value in inputs]
        results = [f"{kind.lower()}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, names, results, **attributes))
        return results

    def one(self, kind: str, *inputs: str | np.ndarray, **attributes: object) -> str:
        return self.op(kind, *inputs, **attributes)[0]

    def finish(self, name: str, outputs: list[str]) -> onnx.ModelProto:
        inputs = [helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in self.shapes.items()]
        infos = [onnx.ValueInfoProto(name=output) for output in outputs]
        graph = helper.make_graph(self.nodes, name, inputs, infos, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        model = onnx.shape_inference.infer_shapes(model)
        onnx.checker.check_model(model)
        return model

    def _constant(self, data: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(data, name))
        return name


def _ints(*items: int) -> np.ndarray:
    return np.array(items, np.int64)


def _scalar(value: float) -> np.ndarray:
    return np.array(value, np.float32)


def _windows(kind: str, settings: list[dict[str, object]]) -> Builder:
    """Adds the operation in each setting, on one input of 4 channels."""
    def build(model: Model) -> list[str]:
        results = []
        for setting in settings:
            groups = setting.get("group", 1)
            if kind == "Conv":
                parameters = [model.weights(8, 4 // groups, 3, 3), model.weights(8)]
            elif kind == "ConvTranspose":
                parameters = [model.weights(4, 6 // groups, 3, 3), model.weights(6)]
            else:
                parameters, setting = [], {"kernel_shape": [3, 3], **setting}
            results.append(model.one(kind, "x", *parameters, **setting))
        return results
    return build


def _normalizations(m: Model) -> list[str]:
    a = m.one("BatchNormalization", "x", m.weights(4), m.weights(4), m.weights(4), m.weights(4, positive=True),
              epsilon=1e-3)
    b = m.one("InstanceNormalization", "x", m.weights(4), m.weights(4))
    c = m.one("LRN", "x", size=3, alpha=1e-2, beta=0.6, bias=1.5)
    return [a, b, c, m.one("LpNormalization", "x", axis=1, p=2), m.one("LpNormalization", "x", axis=2, p=1)]


def _resizes(m: Model) -> list[str]:
    factors = np.array([1, 1, 2, 2], np.float32)
    linear = [m.one("Resize", "x", "", factors, mode="linear", coordinate_transformation_mode=mode)
              for mode in ("half_pixel", "asymmetric", "align_corners")]
    nearest = m.one("Resize", "x", "", np.array([1, 1, 2, 3], np.float32), mode="nearest",
                    coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    down = m.one("Resize", "x", "", "", _ints(1, 4, 5, 3), mode="nearest",
                 coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    return [*linear, nearest, down]


def _shaping(m: Model) -> list[str]:
    turned = m.one("Transpose", "x", perm=[0, 2, 3, 1])
    flat = m.one("Reshape", turned, _ints(0, -1))
    wide = m.one("Unsqueeze", flat, _ints(0, 3))
    tiled = m.one("Tile", "x", _ints(1, 2, 1, 3))
    return [turned, flat, wide, m.one("Squeeze", wide, _ints(0)), m.one("Flatten", "x"), tiled,
            m.one("Concat", "x", "x", axis=-1),
            m.one("DepthToSpace", "x", blocksize=2), m.one("DepthToSpace", "x", blocksize=2, mode="CRD"),
            m.one("Gather", "x", _ints(3, 0), axis=1)]


def _parts(m: Model) -> list[str]:
    end = np.iinfo(np.int64).max
    slices = [m.one("Slice", "x", _ints(1, 2), _ints(3, 7), _ints(1, 2), _ints(1, 2)),
              m.one("Slice", "x", _ints(-3), _ints(end), _ints(2)), m.one("Slice", "x", _ints(0), _ints(-1), _ints(3)),
              m.one("Slice", "x", _ints(-1), _ints(-end), _ints(2), _ints(-1))]
    pads = [m.one("Pad", "x", _ints(0, 0, 1, 2, 0, 0, 3, 1), mode=mode) for mode in ("edge", "reflect")]
    filled = m.one("Pad", "x", _ints(0, 0, 1, 2, 0, 0, 3, 1), _scalar(1.5), mode="constant")
    return [*slices, *m.op("Split", "x", _ints(1, 3), axis=1, outputs=2), *pads, filled]


def _reductions(m: Model) -> list[str]:
    results = [m.one(kind, "x", axes=axes, keepdims=keep) for kind in ("ReduceMean", "ReduceMax", "ReduceMin")
               for axes, keep in (([1], 0), ([-1, 0], 1))]
    results += [m.one("ReduceL1", "x", axes=[2, 3], keepdims=0), m.one("ReduceL2", "x", axes=[1], keepdims=1)]
    return results + [m.one("ArgMax", "x", axis=1), m.one("ArgMin", "x", axis=2, keepdims=0)]


def _products(m: Model) -> list[str]:
    rows = m.one("Reshape", "x", _ints(1, 360))
    return [m.one("Gemm", rows, m.weights(5, 360), m.weights(5), transB=1),
            m.one("Gemm", rows, m.weights(360, 5), m.weights(5)), m.one("MatMul", "x", m.weights(9, 6)),
            m.one("MatMul", "x", m.one("Transpose", "x", perm=[0, 1, 3, 2]))]


def _activations(m: Model) -> list[str]:
    kinds = ("Abs Neg Ceil Floor Sin Cos Atan Sinh Tanh Asinh Sigmoid Relu Elu Selu Softplus Erf Sign Exp Identity "
             "Dropout").split()
    results = [m.one(kind, "x") for kind in kinds]
    results += [m.one("Sqrt", m.one("Abs", "x")), m.one("Log", m.one("Exp", "x")), m.one("LeakyRelu", "x", alpha=0.3),
                m.one("PRelu", "x", m.weights(4, 1, 1)), m.one("Clip", "x", _scalar(-0.5), _scalar(0.5)),
                m.one("Clip", "x", _scalar(0.0), "")]
    return results + [m.one("Softmax", "x", axis=axis) for axis in (1, -1, 0)]


def _pairs(m: Model) -> list[str]:
    row = m.weights(9, positive=True)
    results = [m.one(kind, "x", row) for kind in ("Add", "Sub", "Mul", "Div", "Max", "Min")]
    truths = [m.one(kind, "x", row) for kind in ("Less", "Greater", "Equal")]
    either = m.one("Or", m.one("And", truths[0], truths[1]), m.one("Not", truths[2]))
    return [*results, *truths, m.one("Where", either, "x", row), m.one("Pow", m.one("Abs", "x"), row),
            m.one("Sum", "x", "x", "x"), m.one("Cast", truths[0], to=TensorProto.FLOAT)]


def _residual(m: Model) -> list[str]:
    value, channels = "x", 4
    for count, stride in ((8, 1), (8, 2)):
        value = m.one("Conv", value, m.weights(count, channels, 3, 3) / 6, m.weights(count), pads=[1] * 4,
                      strides=[stride] * 2)
        value = m.one("Relu", m.one("BatchNormalization", value, m.weights(count), m.weights(count), m.weights(count),
                                    m.weights(count, positive=True)))
        channels = count
    depth = m.one("Conv", value, m.weights(8, 1, 3, 3), group=8, pads=[1] * 4)
    value = m.one("Add", value, m.one("Clip", depth, _scalar(0.0), _scalar(6.0)))
    value = m.one("MaxPool", value, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    value = m.one("Flatten", m.one("GlobalAveragePool", value))
    return [m.one("Softmax", m.one("Gemm", value, m.weights(10, 8), m.weights(10), transB=1), axis=1)]


def _segmentation(m: Model) -> list[str]:
    top = m.one("Relu", m.one("Conv", "x", m.weights(4, 4, 3, 3), m.weights(4), pads=[1] * 4))
    low = m.one("MaxPool", top, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    low = m.one("LeakyRelu", m.one("Conv", low, m.weights(8, 4, 3, 3), m.weights(8), pads=[1] * 4), alpha=0.1)
    up = m.one("ConvTranspose", low, m.weights(8, 4, 2, 2), m.weights(4), strides=[2, 2])
    up = m.one("Slice", up, _ints(0, 0), _ints(10, 9), _ints(2, 3))
    return [m.one("Sigmoid", m.one("Conv", m.one("Concat", up, top, axis=1), m.weights(1, 8, 1, 1), m.weights(1)))]


def _attention(m: Model) -> list[str]:
    def heads(value: str) -> str:
        return m.one("Transpose", m.one("Reshape", value, _ints(0, 0, 3, 3)), perm=[0, 2, 1, 3])

    words = m.one("Reshape", "x", _ints(1, 40, 9))
    query = m.one("Add", m.one("MatMul", words, m.weights(9, 9)), m.weights(9))
    key, value = m.one("MatMul", words, m.weights(9, 9)), m.one("MatMul", words, m.weights(9, 9))
    scores = m.one("MatMul", heads(query), m.one("Transpose", heads(key), perm=[0, 1, 3, 2]))
    mixed = m.one("MatMul", m.one("Softmax", m.one("Div", scores, _scalar(2.0)), axis=-1), heads(value))
    mixed = m.one("Add", m.one("Reshape", m.one("Transpose", mixed, perm=[0, 2, 1, 3]), _ints(1, 40, 9)), words)
    centred = m.one("Sub", mixed, m.one("ReduceMean", mixed, axes=[-1]))
    variance = m.one("ReduceMean", m.one("Mul", centred, centred), axes=[-1])
    return [m.one("Div", centred, m.one("Sqrt", m.one("Add", variance, _scalar(1e-5))))]


_STRIDES, _BORDER = {"strides": [2, 2]}, {"pads": [1, 0, 1, 2]}
# All have one input, `x`, of shape [1, 4, 10, 9].
SHAPE = (1, 4, 10, 9)
MODELS: dict[str, Builder] = {
    "conv": _windows("Conv", [{}, {**_BORDER, "strides": [2, 1]}, {"dilations": [2, 1], "pads": [2, 1, 2, 1]},
                              {"group": 2}, {"group": 4, "pads": [1] * 4}, {"auto_pad": "SAME_UPPER", **_STRIDES},
                              {"auto_pad": "VALID"}]),
    "deconv": _windows("ConvTranspose", [{}, {**_STRIDES, "pads": [1] * 4}, {**_STRIDES, "group": 2},
                                         {**_STRIDES, "pads": [1] * 4, "output_padding": [1, 1]},
                                         {"dilations": [2, 2]}]),
    "max_pool": _windows("MaxPool", [{}, {**_BORDER, **_STRIDES}, {**_STRIDES, "ceil_mode": 1},
                                     {"auto_pad": "SAME_UPPER", **_STRIDES}, {"dilations": [2, 2]}]),
    "avg_pool": _windows("AveragePool", [{}, {**_BORDER, **_STRIDES}, {**_STRIDES, "ceil_mode": 1},
                                         {"pads": [1] * 4, "count_include_pad": 1}]),
    "normalizations": _normalizations, "resizes": _resizes, "shaping": _shaping, "parts": _parts,
    "reductions": _reductions, "products": _products, "activations": _activations, "pairs": _pairs,
    "residual": _residual, "segmentation": _segmentation, "attention": _attention,
}


def make(name: str) -> onnx.ModelProto:
    model = Model({"x": SHAPE})
    return model.finish(name, MODELS[name](model))
