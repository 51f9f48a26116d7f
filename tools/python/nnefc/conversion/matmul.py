"""Matrix multiplication, Einsum and attention."""

from __future__ import annotations

from nnefc.conversion.layers import Layer, Tensor
from nnefc.conversion.writer import Table, Writer


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


TABLE: Table = {"MatMul": _matmul}
