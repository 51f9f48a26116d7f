"""Models of ONNX with names of frameworks and open extents, which tract writes as NNEF: recurrent layers, normalizations,
convolutions and their transposes, embeddings, attention, top-k. `MODELS` has a function for each, and the extents of its
symbols in three runs. The batch of recurrent layers is known: tract 0.23.9 ends the process for an open one, and runs layers
of the direction `reverse` forward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, I64 = np.float32, np.int64
TYPES = {np.dtype(F32): TensorProto.FLOAT, np.dtype(I64): TensorProto.INT64, np.dtype(bool): TensorProto.BOOL}
Extents = dict[str, int]


class Net:
    """A graph under construction. Tensors are names; a shape lists numbers and names of symbols."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: dict[str, tuple[np.dtype, list[int | str], int]] = {}

    def input(self, name: str, *shape: int | str, dtype: type = F32, below: int = 0) -> str:
        """Adds an input; integers are less than `below`."""
        self.inputs[name] = (np.dtype(dtype), list(shape), below)
        return name

    def weight(self, name: str, *shape: int) -> str:
        return self.constant(name, self.random.standard_normal(shape).astype(F32) / np.sqrt(max(shape[-1] if shape else 1, 1)).astype(F32))

    def constant(self, name: str, value: object) -> str:
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, kind: str, inputs: list[str], name: str, count: int = 1, **attributes: object) -> str:
        """Adds a node `name` and returns its first result, `name` as well."""
        outputs = [name, *[f"{name}.{i}" for i in range(1, count)]]
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=name, **attributes))
        return name

    def model(self, *outputs: str) -> onnx.ModelProto:
        inputs = [helper.make_tensor_value_info(name, TYPES[dtype], shape) for name, (dtype, shape, _) in self.inputs.items()]
        infos = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", inputs, infos, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        known = onnx.shape_inference.infer_shapes(model)
        onnx.checker.check_model(known)
        return known

    def data(self, extents: Extents) -> dict[str, np.ndarray]:
        values = {}
        for name, (dtype, shape, below) in self.inputs.items():
            sizes = [extents[extent] if isinstance(extent, str) else extent for extent in shape]
            if dtype == np.dtype(F32):
                values[name] = self.random.standard_normal(sizes).astype(F32)
            else:
                values[name] = self.random.integers(0, below or 2, sizes).astype(dtype)
        return values


@dataclass
class Model:
    make: Callable[[Net], list[str]]  # returns the names of outputs
    extents: tuple[Extents, Extents, Extents]


MODELS: dict[str, Model] = {}
BATCHES = ({"N": 1}, {"N": 2}, {"N": 5})
LENGTHS = ({"S": 4}, {"S": 7}, {"S": 12})
BOTH = ({"N": 1, "S": 4}, {"N": 3, "S": 6}, {"N": 2, "S": 9})
IMAGES = ({"N": 1, "H": 8, "W": 8}, {"N": 2, "H": 12, "W": 8}, {"N": 3, "H": 8, "W": 16})


def model(*extents: Extents) -> Callable[[Callable[[Net], list[str]]], Callable[[Net], list[str]]]:
    def keep(make: Callable[[Net], list[str]]) -> Callable[[Net], list[str]]:
        MODELS[make.__name__] = Model(make, extents)
        return make
    return keep


def layer_norm(net: Net, x: str, width: int, name: str) -> str:
    """Layer normalization as PyTorch exports it before opset 17."""
    mean = net.add("ReduceMean", [x], f"{name}/ReduceMean", axes=[-1])
    centred = net.add("Sub", [x, mean], f"{name}/Sub")
    squares = net.add("Pow", [centred, net.constant(f"{name}/two", F32(2))], f"{name}/Pow")
    variance = net.add("ReduceMean", [squares], f"{name}/ReduceMean_1", axes=[-1])
    root = net.add("Sqrt", [net.add("Add", [variance, net.constant(f"{name}/epsilon", F32(1e-5))], f"{name}/Add")], f"{name}/Sqrt")
    scaled = net.add("Mul", [net.add("Div", [centred, root], f"{name}/Div"), net.weight(f"{name}.weight", width)], f"{name}/Mul")
    return net.add("Add", [scaled, net.weight(f"{name}.bias", width)], f"{name}/Add_1")


def linear(net: Net, x: str, rows: int, columns: int, name: str) -> str:
    product = net.add("MatMul", [x, net.weight(f"{name}.weight", rows, columns)], f"{name}/MatMul")
    return net.add("Add", [net.weight(f"{name}.bias", columns), product], f"{name}/Add")


def heads(net: Net, x: str, count: int, width: int, name: str, order: list[int]) -> str:
    split = net.add("Reshape", [x, net.constant(f"{name}/shape", np.array([0, -1, count, width]))], f"{name}/Reshape")
    return net.add("Transpose", [split], f"{name}/Transpose", perm=order)


def attention(net: Net, x: str, width: int, count: int, name: str, mask: str = "") -> str:
    q = heads(net, linear(net, x, width, width, f"{name}/query"), count, width // count, f"{name}/q", [0, 2, 1, 3])
    k = heads(net, linear(net, x, width, width, f"{name}/key"), count, width // count, f"{name}/k", [0, 2, 3, 1])
    v = heads(net, linear(net, x, width, width, f"{name}/value"), count, width // count, f"{name}/v", [0, 2, 1, 3])
    scores = net.add("Div", [net.add("MatMul", [q, k], f"{name}/MatMul"), net.constant(f"{name}/scale", F32(np.sqrt(width // count)))], f"{name}/Div")
    if mask:
        scores = net.add("Add", [scores, mask], f"{name}/Add")
    weights = net.add("Softmax", [scores], f"{name}/Softmax", axis=-1)
    joined = net.add("Transpose", [net.add("MatMul", [weights, v], f"{name}/MatMul_1")], f"{name}/Transpose", perm=[0, 2, 1, 3])
    flat = net.add("Reshape", [joined, net.constant(f"{name}/flat", np.array([0, -1, width]))], f"{name}/Reshape")
    return linear(net, flat, width, width, f"{name}/output")


def gelu(net: Net, x: str, name: str) -> str:
    """The approximation by tanh, as transformers export it; tract 0.23.9 cannot write the exact one."""
    cube = net.add("Pow", [x, net.constant(f"{name}/three", F32(3))], f"{name}/Pow")
    inner = net.add("Add", [x, net.add("Mul", [net.constant(f"{name}/part", F32(0.044715)), cube], f"{name}/Mul")], f"{name}/Add")
    curve = net.add("Tanh", [net.add("Mul", [net.constant(f"{name}/root", F32(np.sqrt(2 / np.pi))), inner], f"{name}/Mul_1")], f"{name}/Tanh")
    one = net.add("Add", [net.constant(f"{name}/one", F32(1)), curve], f"{name}/Add_1")
    return net.add("Mul", [net.add("Mul", [net.constant(f"{name}/half", F32(0.5)), x], f"{name}/Mul_2"), one], f"{name}/Mul_3")


def recurrent(net: Net, kind: str, gates: int, name: str, x: str, directions: int = 1, **attributes: object) -> str:
    inputs = [x, net.weight(f"{name}.W", directions, gates * 6, 5), net.weight(f"{name}.R", directions, gates * 6, 6),
              net.weight(f"{name}.B", directions, gates * 12)]
    return net.add(kind, inputs, name, count=2, hidden_size=6, **attributes)


# ---- recurrent layers ----

@model(*LENGTHS)
def lstm(net: Net) -> list[str]:
    y = recurrent(net, "LSTM", 4, "/rnn/LSTM", net.input("tokens", "S", 3, 5))
    return [net.add("Squeeze", [y, net.constant("axes", np.array([1]))], "/rnn/Squeeze:0")]


@model(*LENGTHS)
def lstm_forward_and_back(net: Net) -> list[str]:
    y = recurrent(net, "LSTM", 4, "bi/lstm:0", net.input("x", "S", 2, 5), 2, direction="bidirectional")
    turned = net.add("Transpose", [y], "bi/transpose:0", perm=[0, 2, 1, 3])
    return [net.add("Reshape", [turned, net.constant("joined", np.array([0, 0, 12]))], "bi/joined:0")]


@model(*LENGTHS)
def lstm_last_state(net: Net) -> list[str]:
    recurrent(net, "LSTM", 4, "/encoder/LSTM", net.input("x", "S", 1, 5))
    return [net.add("Relu", ["/encoder/LSTM.1"], "/encoder/Relu")]


@model(*LENGTHS)
def gru(net: Net) -> list[str]:
    y = recurrent(net, "GRU", 3, "/rnn/GRU", net.input("x", "S", 1, 5), linear_before_reset=1)
    return [net.add("Squeeze", [y, net.constant("axes", np.array([1]))], "/rnn/Squeeze")]


@model(*LENGTHS)
def gru_reset_first(net: Net) -> list[str]:
    return [net.add("Tanh", [recurrent(net, "GRU", 3, "layer.0/gru", net.input("x", "S", 2, 5))], "layer.0/tanh")]


@model(*LENGTHS)
def gru_forward_and_back(net: Net) -> list[str]:
    return [net.add("Tanh", [recurrent(net, "GRU", 3, "layer.0/gru", net.input("x", "S", 2, 5), 2, direction="bidirectional", linear_before_reset=1)], "out:0")]


@model(*LENGTHS)
def rnn(net: Net) -> list[str]:
    y = recurrent(net, "RNN", 1, "simple/RNN:0", net.input("x:0", "S", 2, 5))
    return [net.add("Squeeze", [y, net.constant("axes", np.array([1]))], "simple/out:0")]


@model(*LENGTHS)
def two_recurrent_layers(net: Net) -> list[str]:
    first = net.add("Squeeze", [recurrent(net, "GRU", 3, "/gru.0/GRU", net.input("x", "S", 2, 5), linear_before_reset=1), net.constant("axes", np.array([1]))], "/gru.0/Squeeze")
    cut = linear(net, first, 6, 5, "/between")
    return [recurrent(net, "RNN", 1, "/rnn.1/RNN", cut)]


# ---- agents of games ----

def dense(net: Net, x: str, rows: int, columns: int, name: str) -> str:
    product = net.add("MatMul", [x, net.weight(f"{name}/MatMul/ReadVariableOp:0", rows, columns)], f"{name}/MatMul:0")
    return net.add("Add", [product, net.weight(f"{name}/BiasAdd/ReadVariableOp:0", columns)], f"{name}/BiasAdd:0")


@model(*BATCHES)
def agent(net: Net) -> list[str]:
    x = net.input("vector_observation:0", "N", 7)
    for layer in range(2):
        x = net.add("Elu", [dense(net, x, 7 if layer == 0 else 8, 8, f"policy/hidden_{layer}")], f"policy/hidden_{layer}/Elu:0")
    return [net.add("Tanh", [dense(net, x, 8, 3, "policy/mu")], "action:0")]


@model(*BATCHES)
def agent_with_noise(net: Net) -> list[str]:
    x, noise = net.input("visual/observation:0", "N", 5, 5, 2), net.input("epsilon:0", "N", 3)
    planes = net.add("Transpose", [x], "policy/Transpose:0", perm=[0, 3, 1, 2])
    y = net.add("Relu", [net.add("Conv", [planes, net.weight("policy/conv/kernel:0", 4, 2, 3, 3)], "policy/conv/Conv2D:0", kernel_shape=[3, 3])], "policy/conv/Relu:0")
    y = net.add("Reshape", [y, net.constant("policy/shape:0", np.array([-1, 36]))], "policy/Reshape:0")
    mu, width = dense(net, y, 36, 3, "policy/mu"), net.add("Exp", [net.weight("policy/log_std:0", 3)], "policy/Exp:0")
    action = net.add("Add", [mu, net.add("Mul", [width, noise], "policy/noise/mul:0")], "policy/sample/add:0")
    return [net.add("Clip", [action, net.constant("low:0", F32(-3)), net.constant("high:0", F32(3))], "action:0"), net.add("Softmax", [mu], "chances:0", axis=-1)]


@model(*LENGTHS)
def recurrent_agent(net: Net) -> list[str]:
    h, c = net.input("recurrent_in_h:0", 1, 2, 6), net.input("recurrent_in_c:0", 1, 2, 6)
    x = net.add("Relu", [dense(net, net.input("obs.0", "S", 2, 5), 5, 5, "body/dense")], "body/dense/Relu:0")
    inputs = [x, net.weight("cell.W", 1, 24, 5), net.weight("cell.R", 1, 24, 6), net.weight("cell.B", 1, 48), "", h, c]
    net.add("LSTM", inputs, "cell.x", count=3, hidden_size=6)
    y = net.add("Squeeze", ["cell.x", net.constant("axes", np.array([1]))], "cell.y")
    return [dense(net, y, 6, 3, "policy/mu"), "cell.x.1", "cell.x.2"]


# ---- normalizations ----

@model(*BOTH)
def layer_normalization(net: Net) -> list[str]:
    return [layer_norm(net, net.input("hidden_states", "N", "S", 8), 8, "/encoder/layer.0/LayerNorm")]


@model(*BOTH)
def layer_normalization_of_opset_17(net: Net) -> list[str]:
    x = net.input("x", "N", "S", 8)
    return [net.add("LayerNormalization", [x, net.weight("norm.weight", 8), net.weight("norm.bias", 8)], "/norm/LayerNormalization", axis=-1, epsilon=1e-5)]


@model(*BOTH)
def root_mean_square(net: Net) -> list[str]:
    x = net.input("x", "N", "S", 8)
    squares = net.add("Pow", [x, net.constant("two", F32(2))], "/norm/Pow")
    mean = net.add("Add", [net.add("ReduceMean", [squares], "/norm/ReduceMean", axes=[-1]), net.constant("epsilon", F32(1e-6))], "/norm/Add")
    root = net.add("Reciprocal", [net.add("Sqrt", [mean], "/norm/Sqrt")], "/norm/Reciprocal")
    return [net.add("Mul", [net.weight("norm.weight", 8), net.add("Mul", [x, root], "/norm/Mul")], "/norm/Mul_1")]


@model(*IMAGES)
def batch_normalization(net: Net) -> list[str]:
    x = net.input("input:0", "N", 3, "H", "W")
    variance = net.constant("bn/variance:0", np.array([0.5, 1, 2], F32))
    return [net.add("BatchNormalization", [x, net.weight("bn/gamma:0", 3), net.weight("bn/beta:0", 3), net.weight("bn/mean:0", 3), variance], "bn/FusedBatchNorm:0")]


@model(*IMAGES)
def instance_normalization(net: Net) -> list[str]:
    x = net.input("x", "N", 3, "H", "W")
    return [net.add("InstanceNormalization", [x, net.weight("in.weight", 3), net.weight("in.bias", 3)], "/in/InstanceNormalization")]


@model(*IMAGES)
def local_response_normalization(net: Net) -> list[str]:
    return [net.add("LRN", [net.input("data", "N", 6, "H", "W")], "norm1/lrn", size=5, alpha=0.1, beta=0.75, bias=1.5)]


# ---- convolutions ----

@model(*IMAGES)
def convolution(net: Net) -> list[str]:
    x = net.add("Conv", [net.input("x:0", "N", 3, "H", "W"), net.weight("block1/kernel:0", 4, 3, 3, 3), net.weight("block1/bias:0", 4)],
                "block1/conv:0", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    return [net.add("Relu", [x], "block1/relu:0")]


@model(*IMAGES)
def residual_block(net: Net) -> list[str]:
    x = net.input("x", "N", 4, "H", "W")
    for i in range(2):
        y = net.add("Conv", [x, net.weight(f"layer{i}.conv1.weight", 4, 4, 3, 3)], f"/layer{i}/conv1/Conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        y = net.add("Conv", [net.add("Relu", [y], f"/layer{i}/Relu"), net.weight(f"layer{i}.conv2.weight", 4, 4, 1, 1)], f"/layer{i}/conv2/Conv", kernel_shape=[1, 1])
        x = net.add("Relu", [net.add("Add", [y, x], f"/layer{i}/Add")], f"/layer{i}/Relu_1")
    return [x]


@model(*IMAGES)
def depthwise_and_pointwise(net: Net) -> list[str]:
    x = net.add("Conv", [net.input("x", "N", 4, "H", "W"), net.weight("dw.weight", 4, 1, 3, 3)], "/dw/Conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=4, strides=[2, 2])
    x = net.add("Clip", [x, net.constant("low", F32(0)), net.constant("high", F32(6))], "/dw/Clip")
    return [net.add("Conv", [x, net.weight("pw.weight", 6, 4, 1, 1)], "/pw/Conv", kernel_shape=[1, 1])]


@model(*BOTH)
def convolution_of_a_signal(net: Net) -> list[str]:
    x = net.input("signal", "N", 3, "S")
    return [net.add("Conv", [x, net.weight("tdnn.weight", 4, 3, 3), net.weight("tdnn.bias", 4)], "/tdnn/Conv", kernel_shape=[3], dilations=[1], pads=[2, 0])]


@model(*IMAGES)
def transposed_convolution(net: Net) -> list[str]:
    x = net.input("x", "N", 3, "H", "W")
    return [net.add("ConvTranspose", [x, net.weight("up.weight", 3, 4, 2, 2), net.weight("up.bias", 4)], "/up/ConvTranspose", kernel_shape=[2, 2], strides=[2, 2])]


@model({"N": 1}, {"N": 2}, {"N": 3})
def transposed_convolution_in_groups(net: Net) -> list[str]:
    x = net.input("x", "N", 4, 5, 5)
    return [net.add("ConvTranspose", [x, net.weight("up.weight", 4, 3, 3, 3)], "/up/ConvTranspose", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], group=2)]


@model(*BATCHES)
def encoder_and_decoder(net: Net) -> list[str]:
    x = net.input("x", "N", 3, 8, 8)
    down = net.add("MaxPool", [net.add("Conv", [x, net.weight("enc.weight", 4, 3, 3, 3)], "/enc/Conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1])], "/enc/MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    up = net.add("ConvTranspose", [down, net.weight("dec.weight", 4, 3, 2, 2)], "/dec/ConvTranspose", kernel_shape=[2, 2], strides=[2, 2])
    return [net.add("Sigmoid", [net.add("Concat", [up, x], "/Concat", axis=1)], "/Sigmoid")]


@model(*IMAGES)
def pooling_and_classifier(net: Net) -> list[str]:
    x = net.add("AveragePool", [net.input("x", "N", 3, "H", "W")], "/pool/AveragePool", kernel_shape=[2, 2], strides=[2, 2])
    pooled = net.add("GlobalAveragePool", [x], "/avgpool/GlobalAveragePool")
    flat = net.add("Flatten", [pooled], "/Flatten", axis=1)
    return [net.add("Gemm", [flat, net.weight("fc.weight", 5, 3), net.weight("fc.bias", 5)], "/fc/Gemm", transB=1)]


@model(*BATCHES)
def upsampling(net: Net) -> list[str]:
    x = net.input("x", "N", 2, 4, 5)
    scales = net.constant("scales", np.array([1, 1, 2, 2], F32))
    return [net.add("Resize", [x, "", scales], "/up/Resize", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")]


@model(*BATCHES)
def linear_resizing(net: Net) -> list[str]:
    x = net.input("x", "N", 2, 4, 5)
    scales = net.constant("scales", np.array([1, 1, 2, 1.5], F32))
    return [net.add("Resize", [x, "", scales], "/up/Resize", mode="linear", coordinate_transformation_mode="half_pixel")]


# ---- embeddings and attention ----

@model(*BOTH)
def embedding(net: Net) -> list[str]:
    ids = net.input("input_ids", "N", "S", dtype=I64, below=11)
    return [net.add("Gather", [net.weight("embeddings.word_embeddings.weight", 11, 6), ids], "/embeddings/word_embeddings/Gather")]


@model(*BOTH)
def embedding_with_positions(net: Net) -> list[str]:
    ids = net.input("input_ids", "N", "S", dtype=I64, below=11)
    words = net.add("Gather", [net.weight("word.weight", 11, 6), ids], "/embeddings/Gather")
    extents = net.add("Shape", [ids], "/embeddings/Shape")
    length = net.add("Gather", [extents, net.constant("one", np.array(1))], "/embeddings/Gather_1")
    end = net.add("Unsqueeze", [length, net.constant("axis", np.array([0]))], "/embeddings/Unsqueeze")
    positions = net.add("Slice", [net.weight("position.weight", 16, 6), net.constant("start", np.array([0])), end, net.constant("rows", np.array([0]))], "/embeddings/Slice")
    return [net.add("Add", [words, positions], "/embeddings/Add")]


@model(*BOTH)
def self_attention(net: Net) -> list[str]:
    return [attention(net, net.input("x", "N", "S", 8), 8, 2, "/encoder/layer.0/attention")]


@model(*BOTH)
def masked_attention(net: Net) -> list[str]:
    mask = net.add("Cast", [net.input("attention_mask", "N", 1, 1, "S", dtype=I64)], "/mask/Cast", to=TensorProto.FLOAT)
    kept = net.add("Sub", [net.constant("one", F32(1)), mask], "/mask/Sub")
    low = net.add("Mul", [kept, net.constant("lowest", F32(-10000))], "/mask/Mul")
    return [attention(net, net.input("x", "N", "S", 8), 8, 2, "/encoder/layer.0/attention", low)]


@model(*BOTH)
def transformer_layer(net: Net) -> list[str]:
    x, name = net.input("hidden_states", "N", "S", 8), "/encoder/layer.0"
    x = layer_norm(net, net.add("Add", [attention(net, x, 8, 4, f"{name}/attention"), x], f"{name}/Add"), 8, f"{name}/LayerNorm")
    y = linear(net, gelu(net, linear(net, x, 8, 16, f"{name}/intermediate"), f"{name}/gelu"), 16, 8, f"{name}/output")
    return [layer_norm(net, net.add("Add", [y, x], f"{name}/Add_1"), 8, f"{name}/LayerNorm_1")]


@model(*BOTH)
def language_model(net: Net) -> list[str]:
    ids = net.input("input_ids", "N", "S", dtype=I64, below=11)
    x = net.add("Gather", [net.weight("wte.weight", 11, 8), ids], "/wte/Gather")
    x = net.add("Add", [x, attention(net, layer_norm(net, x, 8, "/h.0/ln_1"), 8, 2, "/h.0/attn")], "/h.0/Add")
    logits = net.add("MatMul", [layer_norm(net, x, 8, "/ln_f"), net.weight("lm_head.weight", 8, 11)], "/lm_head/MatMul")
    return [net.add("LogSoftmax", [logits], "/LogSoftmax", axis=-1)]


@model(*LENGTHS)
def rotary_embedding(net: Net) -> list[str]:
    x = net.input("q", 1, "S", 8)
    cuts = [net.constant(f"cut{i}", np.array([i * 4])) for i in range(3)]
    axis = net.constant("axis", np.array([2]))
    first = net.add("Slice", [x, cuts[0], cuts[1], axis], "/rotary/Slice")
    second = net.add("Slice", [x, cuts[1], cuts[2], axis], "/rotary/Slice_1")
    turned = net.add("Concat", [net.add("Neg", [second], "/rotary/Neg"), first], "/rotary/Concat", axis=2)
    angles = net.weight("angles", 8)
    return [net.add("Add", [net.add("Mul", [x, net.add("Cos", [angles], "/rotary/Cos")], "/rotary/Mul"),
                            net.add("Mul", [turned, net.add("Sin", [angles], "/rotary/Sin")], "/rotary/Mul_1")], "/rotary/Add")]


# ---- selections and shapes ----

@model(*BATCHES)
def top_k(net: Net) -> list[str]:
    net.add("TopK", [net.input("scores:0", "N", 9), net.constant("k", np.array([3]))], "top/values:0", count=2, axis=-1)
    return ["top/values:0", "top/values:0.1"]


@model(*BATCHES)
def smallest(net: Net) -> list[str]:
    net.add("TopK", [net.input("scores", "N", 4, 6), net.constant("k", np.array([2]))], "/TopK", count=2, axis=1, largest=0)
    return ["/TopK"]


@model(*BOTH)
def greatest_class(net: Net) -> list[str]:
    return [net.add("ArgMax", [linear(net, net.input("x", "N", "S", 4), 4, 5, "/classifier")], "/ArgMax", axis=-1, keepdims=0)]


@model(*BOTH)
def mean_of_tokens(net: Net) -> list[str]:
    mask = net.add("Cast", [net.input("attention_mask", "N", "S", dtype=bool)], "/Cast", to=TensorProto.FLOAT)
    wide = net.add("Unsqueeze", [mask, net.constant("axis", np.array([2]))], "/Unsqueeze")
    summed = net.add("ReduceSum", [net.add("Mul", [net.input("tokens", "N", "S", 6), wide], "/Mul"), net.constant("axes", np.array([1]))], "/ReduceSum", keepdims=0)
    count = net.add("Clip", [net.add("ReduceSum", [wide, "axes"], "/ReduceSum_1", keepdims=0), net.constant("least", F32(1e-9))], "/Clip")
    return [net.add("Div", [summed, count], "/Div")]


@model(*BOTH)
def choice_by_a_mask(net: Net) -> list[str]:
    mask = net.input("mask", "N", "S", dtype=bool)
    return [net.add("Where", [mask, net.input("x", "N", "S"), net.constant("fill", F32(-1))], "/Where")]


@model(*BOTH)
def batch_into_rows(net: Net) -> list[str]:
    x = net.add("Reshape", [net.input("x", "N", "S", 6), net.constant("rows", np.array([-1, 6]))], "/Reshape")
    return [net.add("Reshape", [linear(net, x, 6, 4, "/fc"), net.constant("flat", np.array([-1]))], "/Reshape_1")]


@model(*BATCHES)
def pixels_into_channels(net: Net) -> list[str]:
    x = net.add("SpaceToDepth", [net.input("x", "N", 2, 4, 6)], "/SpaceToDepth", blocksize=2)
    return [net.add("DepthToSpace", [net.add("Mul", [x, x], "/Mul")], "/DepthToSpace", blocksize=2, mode="DCR")]


@model(*BOTH)
def edges_by_padding(net: Net) -> list[str]:
    x = net.add("Pad", [net.input("x", "N", 2, "S"), net.constant("pads", np.array([0, 0, 1, 0, 0, 2]))], "/Pad", mode="reflect")
    return [net.add("Sub", [net.add("CumSum", [x, net.constant("axis", np.array(2))], "/CumSum"), x], "/Sub")]


@model(*BOTH)
def parts_of_channels(net: Net) -> list[str]:
    net.add("Split", [net.input("x", "N", "S", 8), net.constant("sizes", np.array([3, 5]))], "gate/split:0", count=2, axis=2)
    gate = net.add("HardSigmoid", ["gate/split:0"], "gate/hard:0", alpha=0.2, beta=0.5)
    return [gate, net.add("Softplus", ["gate/split:0.1"], "gate/soft:0")]
