"""Collects the nodes and initializers of an ONNX model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy
import numpy.typing as npt

from nnefc.conversion.layers import Body, Graph, Layer, Tensor
from nnefc.conversion.packages import required

onnx = required("onnx")
helper, numpy_helper, TensorProto = onnx.helper, onnx.numpy_helper, onnx.TensorProto

OPSET = 20
# The version of the file format that came with the set.
IR_VERSION = 9

# A level of bodies nests messages of a node, an attribute and a graph; protobuf reads 100 levels of messages.
_MAX_DEPTH = 30

_TYPES = {
    "f16": TensorProto.FLOAT16, "f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE,
    "i8": TensorProto.INT8, "i16": TensorProto.INT16, "i32": TensorProto.INT32, "i64": TensorProto.INT64,
    "u8": TensorProto.UINT8, "u16": TensorProto.UINT16, "u32": TensorProto.UINT32, "u64": TensorProto.UINT64,
    "boolean": TensorProto.BOOL,
}  # fmt: skip


class Unsupported(Exception):
    """An operation without a form in ONNX; its text is the reason."""


class Writer:
    """An ONNX model in construction. Tensors are identified by their names."""

    def __init__(self, graph: Graph, translate: Callable[[Writer, Layer], str | None]) -> None:
        """Creates an empty model. `translate` adds the nodes of a layer of a body, or returns why it has no form."""
        self._graph, self._translate = graph, translate
        self._constants = dict(graph.constants)
        self._nodes: list[Any] = []
        self._used: set[str] = set()
        self._depth = 0
        self._initializers: dict[str, Any] = {}
        self._taken = {tensor.name for tensor in graph.inputs} | {name for name, _ in graph.results} | set(graph.constants)
        self._taken |= _names_of(graph.layers)
        self._shared: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._prefix = ""
        self._makers = {tensor.name: layer.type for layer in graph.layers for tensor in layer.outputs}

    # --- nodes ---

    def begin(self, layer: Layer) -> None:
        """Names the following intermediate tensors after a layer."""
        self._prefix = layer.output.name if layer.outputs else layer.name

    def node(self, operation: str, inputs: Sequence[str], output: Tensor | None = None, **attributes: Any) -> str:
        """Adds a node with one output, the tensor or a new one; returns the output's name."""
        name = self.new_name(operation) if output is None else output.name
        self._append(operation, inputs, [name], **attributes)
        return name

    def nodes(self, operation: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> None:
        """Adds a node with several outputs."""
        self._append(operation, inputs, outputs, **attributes)

    def _append(self, operation: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> None:
        self._used.update(inputs)
        name = next(filter(None, outputs))
        self._nodes.append(helper.make_node(operation, list(inputs), list(outputs), name=name, **attributes))

    def new_name(self, stem: str) -> str:
        """Returns an unused name for an intermediate tensor."""
        name, count = f"{self._prefix}/{stem}", 1
        while name in self._taken:
            count += 1
            name = f"{self._prefix}/{stem}.{count}"
        self._taken.add(name)
        return name

    def maker(self, tensor: Tensor) -> str:
        """Returns the type of the layer that makes a tensor; empty for inputs and constants."""
        return self._makers.get(tensor.name, "")

    # --- bodies ---

    def subgraph(
        self,
        name: str,
        inputs: Sequence[tuple[str, str, Sequence[int] | None]],
        outputs: Sequence[Tensor],
        build: Callable[[], Sequence[str]],
    ) -> Any:
        """Returns a graph whose nodes `build` adds. They read tensors of the outer graph by name, and constants are in the model.

        Args:
            inputs: names, types and shapes, None for unknown ones.
            outputs: types and shapes of the tensors whose names `build` returns.
        """
        if self._depth == _MAX_DEPTH:
            raise Unsupported(f"bodies are nested more than {_MAX_DEPTH} levels")
        outer, prefix = self._nodes, self._prefix
        self._nodes = []
        self._depth += 1
        try:
            results = build()
            nodes = self._nodes
        finally:
            self._depth -= 1
            self._nodes, self._prefix = outer, prefix
        self._used.update(results)
        return helper.make_graph(
            nodes,
            name,
            [helper.make_tensor_value_info(each, onnx_type(type_), shape) for each, type_, shape in inputs],
            [_info(each, tensor) for each, tensor in zip(results, outputs)],
        )

    def bind(self, inner: Tensor, outer: Tensor) -> None:
        """Makes an input of a body a tensor of the outer graph."""
        value = self.value(outer)
        if value is None:
            self.node("Identity", [outer.name], inner)
        else:
            self._constants[inner.name] = value

    def translate_body(self, body: Body) -> None:
        """Adds the nodes of a body. Raises Unsupported with the reasons of all layers without a form."""
        self._constants.update(body.constants)
        self._makers |= {tensor.name: layer.type for layer in body.layers for tensor in layer.outputs}
        problems = [problem for layer in body.layers if (problem := self._translate(self, layer))]
        if problems:
            raise Unsupported("; ".join(problems))

    # --- constants ---

    def constant(self, value: npt.ArrayLike, type_: str) -> str:
        """Adds an initializer of the values, or returns that of equal ones."""
        array = numpy.ascontiguousarray(numpy.array(value, numpy_type(type_)))
        array = array.reshape(numpy.shape(value))
        key = (type_, array.shape, array.tobytes())
        if key not in self._shared:
            name = self.new_name("constant")
            self._initializers[name] = numpy_helper.from_array(array, name)
            self._shared[key] = name
        return self._shared[key]

    def integers(self, values: Sequence[int]) -> str:
        """Adds an initializer with a list of 64-bit integers."""
        return self.constant(values, "i64")

    def value(self, tensor: Tensor) -> numpy.ndarray[Any, Any] | None:
        """Returns the data of a constant, or None for other tensors."""
        return self._constants.get(tensor.name)

    def known(self, tensor: Tensor, what: str) -> list[int]:
        """Returns the elements of a constant of integers, or raises Unsupported."""
        array = self.value(tensor)
        if array is None:
            raise Unsupported(f"{what} are computed by the model; expected constants")
        return [int(item) for item in array.reshape(-1)]

    def reshaped(self, tensor: Tensor, shape: Sequence[int]) -> str:
        """Returns the tensor with another shape; a constant is stored in this shape."""
        if list(tensor.shape) == list(shape):
            return tensor.name
        array = self.value(tensor)
        if array is None or tensor.type not in _TYPES:
            return self.node("Reshape", [tensor.name, self.integers(shape)], allowzero=int(0 in shape))
        name = self.new_name("reshaped")
        self._initializers[name] = numpy_helper.from_array(numpy.ascontiguousarray(array).reshape(shape), name)
        return name

    # --- the model ---

    def model(self, producer_version: str) -> Any:
        """Returns the model. Constants without readers are left out."""
        for name, tensor in self._graph.results:
            if name != tensor.name:
                self._append("Identity", [tensor.name], [name])
        initializers = [tensor for name, tensor in self._initializers.items() if name in self._used]
        initializers += [_initializer(name, data) for name, data in self._constants.items() if name in self._used]
        graph = helper.make_graph(
            self._nodes,
            self._graph.name,
            [_info(tensor.name, tensor) for tensor in self._graph.inputs],
            [_info(name, tensor) for name, tensor in self._graph.results],
            initializers,
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="nnefc",
            producer_version=producer_version,
        )


def numpy_type(type_: str) -> numpy.dtype[Any]:
    """Returns NumPy's type of an element type. Raises Unsupported without one."""
    made: numpy.dtype[Any] = helper.tensor_dtype_to_np_dtype(onnx_type(type_))
    return made


def onnx_type(type_: str) -> int:
    """Returns ONNX's element type. Raises Unsupported without one."""
    if type_ not in _TYPES:
        raise Unsupported(f"elements of type {type_} are not written")
    return int(_TYPES[type_])


def _names_of(layers: Sequence[Layer]) -> set[str]:
    """Returns the names of all tensors, also those of bodies."""
    names = {tensor.name for layer in layers for tensor in layer.outputs}
    for layer in layers:
        for body in layer.bodies.values():
            names |= {port.tensor.name for port in body.inputs} | set(body.constants) | _names_of(body.layers)
    return names


def _initializer(name: str, array: numpy.ndarray[Any, Any]) -> Any:
    return numpy_helper.from_array(numpy.ascontiguousarray(array).reshape(array.shape), name)


def _info(name: str, tensor: Tensor) -> Any:
    return helper.make_tensor_value_info(name, onnx_type(tensor.type), list(tensor.shape))


def static_shape(tensor: Tensor, what: str) -> list[int]:
    """Returns the extents of a tensor. Raises Unsupported if one is open."""
    extents = [extent for extent in tensor.shape if extent is not None]
    if len(extents) < tensor.rank:
        raise Unsupported(f"{what} has open extents; pass shapes of the inputs")
    return extents


Translation = Callable[[Writer, Layer], None]
Table = Mapping[str, Translation]
