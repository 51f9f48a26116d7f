"""Recurrent layers: LSTM, GRU and RNN, as sequences and as single steps."""

from __future__ import annotations

from collections.abc import Sequence

from nnefc.conversion.layers import Layer, Tensor
from nnefc.conversion.shape_ops import integers_of
from nnefc.conversion.writer import Table, Translation, Unsupported, Writer, onnx_type

# ONNX's gate i of a cell is this gate of OpenVINO: input, output, forget and cell of forget, input, cell and output.
_LSTM_GATES = (1, 3, 0, 2)
_GRU_GATES = (0, 1, 2)
_RNN_GATES = (0,)

# Functions of the gates by ONNX's names, and whether they have the parameters alpha and beta.
_FUNCTIONS = {
    "sigmoid": ("Sigmoid", False), "tanh": ("Tanh", False), "relu": ("Relu", False), "softsign": ("Softsign", False),
    "hardsigmoid": ("HardSigmoid", True), "elu": ("Elu", True), "affine": ("Affine", True),
}  # fmt: skip


def _ordered(writer: Writer, tensor: str, gates: Sequence[int], axis: int) -> str:
    """Returns the parts of an axis in another order."""
    if list(gates) == sorted(gates):
        return tensor
    parts = [writer.new_name("gate") for _ in gates]
    writer.nodes("Split", [tensor], parts, axis=axis, num_outputs=len(parts))
    return writer.node("Concat", [parts[gate] for gate in gates], axis=axis)


def _biases(writer: Writer, tensor: str, layer: Layer, gates: Sequence[int], axis: int) -> str:
    """Returns the biases of the inputs, then those of the states. OpenVINO adds both, except for the new state of a GRU with
    `linear_before_reset`, whose second bias is the last part."""
    hidden = layer.integer("hidden_size")
    if layer.type.startswith("GRU") and layer.flag("linear_before_reset"):
        shared, last = writer.new_name("gate"), writer.new_name("gate")
        sizes = writer.integers([3 * hidden, hidden])
        writer.nodes("Split", [tensor, sizes], [shared, last], axis=axis)
        zeros = writer.node("Mul", [last, writer.constant(0.0, "f32")])
        return writer.node("Concat", [shared, zeros, zeros, last], axis=axis)
    first = _ordered(writer, tensor, gates, axis)
    return writer.node("Concat", [first, writer.node("Mul", [first, writer.constant(0.0, "f32")])], axis=axis)


def _activations(layer: Layer, defaults: Sequence[str], directions: int) -> dict[str, object]:
    """Returns ONNX's attributes of the functions; empty for the defaults."""
    named = [item.strip().lower() for item in layer.text("activations").split(",") if item.strip()] or list(defaults)
    if named == list(defaults):
        return {}
    for name in named:
        if name not in _FUNCTIONS:
            raise Unsupported(f"the activation `{name}`")
        if _FUNCTIONS[name][1]:
            raise Unsupported(f"the activation `{name}`, whose parameters differ")
    return {"activations": [_FUNCTIONS[name][0] for name in named] * directions}


def _attributes(layer: Layer, defaults: Sequence[str]) -> dict[str, object]:
    direction = layer.text("direction", "forward")
    directions = 2 if direction == "bidirectional" else 1
    made: dict[str, object] = {"hidden_size": layer.integer("hidden_size"), "direction": direction}
    made |= _activations(layer, defaults, directions)
    if layer.number("clip") not in (0.0, float("inf")):
        made["clip"] = layer.number("clip")
    if layer.type.startswith("GRU"):
        made["linear_before_reset"] = int(layer.flag("linear_before_reset"))
    return made


def _require_f32(layer: Layer) -> None:
    if layer.output.type != "f32":
        raise Unsupported(f"elements of type {layer.output.type}; expected f32")


def _sequence(operation: str, gates: Sequence[int], defaults: Sequence[str]) -> Translation:
    def translate(writer: Writer, layer: Layer) -> None:
        _require_f32(layer)
        states = layer.inputs[1 : 3 if operation == "LSTM" else 2]
        lengths, w, r, b = layer.inputs[1 + len(states) : 5 + len(states)]
        x = writer.node("Transpose", [layer.inputs[0].name], perm=[1, 0, 2])
        initial = [writer.node("Transpose", [state.name], perm=[1, 0, 2]) for state in states]
        counts = writer.node("Cast", [integers_of(writer, lengths)], to=onnx_type("i32"))
        weights = [_ordered(writer, tensor.name, gates, 1) for tensor in (w, r)]
        inputs = [x, *weights, _biases(writer, b.name, layer, gates, 1), counts, *initial]
        outputs = [writer.new_name("output") for _ in layer.outputs]
        writer.nodes(operation, inputs, outputs, **_attributes(layer, defaults))
        # [steps, directions, batch, hidden] -> [batch, directions, steps, hidden]
        writer.node("Transpose", [outputs[0]], layer.outputs[0], perm=[2, 1, 0, 3])
        for name, tensor in zip(outputs[1:], layer.outputs[1:]):
            writer.node("Transpose", [name], tensor, perm=[1, 0, 2])

    return translate


def _cell(operation: str, gates: Sequence[int], defaults: Sequence[str]) -> Translation:
    def translate(writer: Writer, layer: Layer) -> None:
        _require_f32(layer)

        def stacked(name: str) -> str:  # with an axis for the steps, or the directions
            return writer.node("Unsqueeze", [name, writer.integers([0])])

        states = layer.inputs[1 : 3 if operation == "LSTM" else 2]
        w, r = layer.inputs[1 + len(states) : 3 + len(states)]
        weights = [stacked(_ordered(writer, tensor.name, gates, 0)) for tensor in (w, r)]
        bias: Sequence[Tensor] = layer.inputs[3 + len(states) :]
        biases = stacked(_biases(writer, bias[0].name, layer, gates, 0)) if bias else ""
        inputs = [stacked(layer.inputs[0].name), *weights, biases, "", *[stacked(state.name) for state in states]]
        outputs = ["", *[writer.new_name("output") for _ in layer.outputs]]
        writer.nodes(operation, inputs, outputs, **_attributes(layer, defaults))
        for name, tensor in zip(outputs[1:], layer.outputs):
            writer.node("Squeeze", [name, writer.integers([0])], tensor)

    return translate


_CELLS = {
    "LSTM": (_LSTM_GATES, ("sigmoid", "tanh", "tanh")),
    "GRU": (_GRU_GATES, ("sigmoid", "tanh")),
    "RNN": (_RNN_GATES, ("tanh",)),
}

TABLE: Table = {
    **{f"{name}Sequence": _sequence(name, *cell) for name, cell in _CELLS.items()},
    **{f"{name}Cell": _cell(name, *cell) for name, cell in _CELLS.items()},
}
