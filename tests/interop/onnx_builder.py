"""Builds an ONNX model node by node from the tensors of an NNEF graph."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 19
IR_VERSION = 9
ITEM_TYPES = {"scalar": TensorProto.FLOAT, "integer": TensorProto.INT64, "logical": TensorProto.BOOL}
NUMPY_TYPES = {"scalar": np.float32, "integer": np.int64, "logical": np.bool_}
RATIFIED_HEADER = 128


class Unsupported(Exception):
    """An operation or setting without a translation."""


def header_of(path: Path) -> tuple[int, np.dtype]:
    """Returns the offset of the data of a tensor file of either dialect, and the type of its items."""
    with open(path, "rb") as file:
        head = file.read(RATIFIED_HEADER)
    if head[:2] != b"N\xef":
        raise Unsupported(f"{path}: not a tensor file")
    first, rank = struct.unpack_from("<2I", head, 4)
    if path.stat().st_size == RATIFIED_HEADER + first:
        bits, code = struct.unpack_from("<2I", head, 44)
        kinds = {0: "f", 1: "u", 4: "i", 5: "b"}
        offset = RATIFIED_HEADER
    else:
        code, bits = struct.unpack_from("<2B", head, 12 + 4 * rank)
        kinds = {0: "f", 2: "i", 3: "u"}
        offset = first
    kind = kinds.get(code)
    if kind is None or bits % 8:
        raise Unsupported(f"{path}: items of type {code} with {bits} bits")
    return offset, np.dtype(np.bool_ if kind == "b" else f"<{kind}{bits // 8}")


class Builder:
    """Collects nodes and initializers; tensors have their NNEF names.

    Weights stay in their .dat files: an initializer refers to them as external data, so the model must be saved in the
    folder of the NNEF model.
    """

    def __init__(self, graph: Any, folder: Path) -> None:
        self.graph, self.folder = graph, folder
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, TensorProto] = {}
        self.labels: dict[str, str] = {}
        self.shapes = {name: list(t.shape) for name, t in graph.tensors.items() if t.shape is not None}
        self.count = 0

    # --- names and shapes ---

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}/{self.count}"

    def dtype(self, value: Any) -> str:
        if isinstance(value, str):
            return self.graph.tensors[value].dtype
        return {bool: "logical", int: "integer"}.get(type(value), "scalar")

    def shape(self, value: Any) -> list[int]:
        return self.shapes[value] if isinstance(value, str) else []

    def rank(self, value: Any) -> int:
        return len(self.shape(value))

    # --- nodes ---

    def node(self, op: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        """Adds a node with one output; returns the output's name."""
        output = output or self.fresh(op)
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def nodes_of(self, op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        """Adds a node with several outputs."""
        self.nodes.append(helper.make_node(op, inputs, outputs, name=outputs[0], **attributes))

    # --- initializers ---

    def constant(self, value: Any, dtype: Any) -> str:
        """Adds an initializer of these values; equal ones are shared."""
        array = np.ascontiguousarray(np.array(value, dtype))
        name = f"const/{array.dtype}/{list(array.shape)}/{array.tobytes().hex()}"
        if len(name) > 200:
            name = self.fresh("const")
        if name not in self.initializers:
            self.initializers[name] = numpy_helper.from_array(array, name)
        return name

    def ints(self, value: list[int]) -> str:
        return self.constant(value, np.int64)

    def scalar(self, value: float) -> str:
        return self.constant(value, np.float32)

    def filled(self, shape: list[int], value: float) -> str:
        return self.constant(np.full(shape, value), np.float32)

    def variable(self, name: str, label: str) -> None:
        """Declares `name` as a variable with data in the file of its label."""
        self.labels[name] = label
        self.initializers[name] = self._stored(name, label, self.shapes[name])

    def _stored(self, name: str, label: str, shape: list[int]) -> TensorProto:
        path = self.folder / (label.lstrip("/") + ".dat")
        offset, item = header_of(path)
        count = math.prod(shape)
        if path.stat().st_size != offset + count * item.itemsize:
            raise Unsupported(f"{path}: the data does not have the shape {shape}")
        dtype = self.graph.tensors[name].dtype if name in self.graph.tensors else "scalar"
        if dtype != "scalar" or item != np.dtype("<f4") or count * 4 < 1024:
            data = np.fromfile(path, item, offset=offset).reshape(shape)
            return numpy_helper.from_array(data.astype(NUMPY_TYPES[dtype]), name)
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        location = path.relative_to(self.folder).as_posix()
        for key, value in (("location", location), ("offset", offset), ("length", count * 4)):
            tensor.external_data.add(key=key, value=str(value))
        return tensor

    # --- operands ---

    def reshaped(self, value: Any, shape: list[int]) -> str:
        """Returns the tensor with another shape; a variable is declared again instead of reshaped."""
        name = self.operand(value)
        if not isinstance(value, str) and not shape:
            return name
        if isinstance(value, str) and self.shape(value) == list(shape):
            return name
        if value in self.labels and self.dtype(value) == "scalar":
            view = f"{value}/{'x'.join(map(str, shape))}"
            if view not in self.initializers:
                self.initializers[view] = self._stored(view, self.labels[value], list(shape))
            return view
        return self.node("Reshape", [name, self.ints(list(shape))])

    def operand(self, value: Any, rank: int = 0) -> str:
        """Returns the ONNX name of a tensor or literal; shapes align on the left, so 1s are appended."""
        if not isinstance(value, str):
            return self.constant(value, NUMPY_TYPES[self.dtype(value)])
        if 0 < self.rank(value) < rank:
            return self.reshaped(value, self.shape(value) + [1] * (rank - self.rank(value)))
        return value

    def operands(self, values: list[Any]) -> list[str]:
        """Returns tensors and literals with a common rank."""
        rank = max(self.rank(value) for value in values)
        return [self.operand(value, rank) for value in values]

    # --- the model ---

    def _info(self, name: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, ITEM_TYPES[self.dtype(name)], self.shapes[name])

    def model(self) -> onnx.ModelProto:
        """Returns the model built so far; weights are initializers and never inputs."""
        for name in self.graph.outputs:
            if name in self.initializers or name in self.graph.inputs:
                raise Unsupported(f"`{name}` is a result without a computation")
        used = {name for node in self.nodes for name in node.input}
        weights = [tensor for name, tensor in self.initializers.items() if name in used]
        graph = helper.make_graph(
            self.nodes, self.graph.name, [self._info(name) for name in self.graph.inputs],
            [self._info(name) for name in self.graph.outputs], weights)
        opset = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION,
                                 producer_name="nnef_to_onnx")
