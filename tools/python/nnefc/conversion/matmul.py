"""Matrix multiplication, Einsum and attention."""

from __future__ import annotations

from nnefc.conversion.layers import Layer, Tensor
from nnefc.conversion.writer import Table, Unsupported, Writer


def _transposed(writer: Writer, tensor: Tensor, is_transposed: bool) -> str:
    if not is_transposed or tensor.rank < 2:
        return tensor.name
    order = [*range(tensor.rank - 2), tensor.rank - 1, tensor.rank - 2]
    return writer.node("Transpose", [tensor.name], perm=order)


def _matmul(writer: Writer, layer: Layer) -> None:
    left, right = layer.inputs
    transposes = layer.flag("transpose_a"), layer.flag("transpose_b")
    if any(transposes) and left.rank == right.rank == 2 and layer.output.is_float:
        writer.node("Gemm", [left.name, right.name], layer.output, transA=int(transposes[0]), transB=int(transposes[1]))
        return
    factors = [_transposed(writer, left, transposes[0]), _transposed(writer, right, transposes[1])]
    writer.node("MatMul", factors, layer.output)


def _einsum(writer: Writer, layer: Layer) -> None:
    equation = layer.attributes.get("equation", "")
    writer.node("Einsum", [tensor.name for tensor in layer.inputs], layer.output, equation=equation)


def _attention(writer: Writer, layer: Layer) -> None:
    query, key, value = layer.inputs[:3]
    width = query.shape[-1]
    if layer.flag("causal"):
        raise Unsupported("a causal mask is not written")
    if len(layer.inputs) > 4:
        scale = layer.inputs[4].name
    elif width is not None:
        scale = writer.constant(width**-0.5, query.type)
    else:
        raise Unsupported("the width of the heads is open")
    scores = writer.node("MatMul", [writer.node("Mul", [query.name, scale]), _transposed(writer, key, True)])
    if len(layer.inputs) > 3:
        mask = layer.inputs[3]
        if mask.type == "boolean":
            zero, lowest = writer.constant(0.0, query.type), writer.constant(float("-inf"), query.type)
            scores = writer.node("Add", [scores, writer.node("Where", [mask.name, zero, lowest])])
        else:
            scores = writer.node("Add", [scores, mask.name])
    writer.node("MatMul", [writer.node("Softmax", [scores], axis=-1), value.name], layer.output)


TABLE: Table = {"Einsum": _einsum, "MatMul": _matmul, "ScaledDotProductAttention": _attention}
