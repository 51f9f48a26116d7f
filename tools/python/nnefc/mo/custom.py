"""Operations of a folder of extensions: shape functions and kernels in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from nnefc._nnefc import TransformError as Error
from nnefc.mo.element_types import to_numpy_type, to_type_name
from nnefc.mo.front.common.partial_infer.utils import is_fully_defined, shape_array
from nnefc.mo.graph.graph import Graph, Node, NodeId
from nnefc.mo.op import Op, row_of

# A tensor: element type, extents or None, and a function that returns its value or None.
Input = tuple[str, "list[Any] | None", Callable[[], Any]]
Output = tuple[str, "list[Any] | None", Any]


class Extender:
    """Converts the attributes of an operation that was read from IR. Overrides `extend`."""

    op: str = ""

    @staticmethod
    def extend(op: Node) -> None:
        """Changes the attributes of a node, which are texts, before its shape is inferred."""


class CustomOperation:
    """An operation that a class of a folder defines, for the compiler."""

    def __init__(self, kind: type[Op], made: Op | None, extenders: Sequence[type[Extender]]) -> None:
        attrs = made.attrs if made is not None else {}
        version = str(attrs.get("version") or kind.version or "")
        self.kind = kind
        self.set = version if version and not version.startswith("opset") else "extension"
        self.name = str(attrs.get("type") or kind.op_type or kind.op)
        self._extenders = [item for item in extenders if item.op in (kind.op, self.name)]

    def infer(self, name: str, attributes: dict[str, Any], inputs: list[Input], count: int) -> list[Output]:
        """Returns the types, shapes and values of the outputs."""
        native, node, made = self._node(name, attributes, inputs, count)
        self._call(made, "infer", node)
        self._infer_types(made, node)
        return native.outputs()

    def compute(self, name: str, attributes: dict[str, Any], arrays: list[Any], count: int) -> list[Any]:
        """Returns the values of the outputs: by `compute`, or by an `infer` that sets values."""
        inputs: list[Input] = [(to_type_name(array.dtype), list(array.shape), _constant(array)) for array in arrays]
        native, node, made = self._node(name, attributes, inputs, count)
        self._call(made, "infer", node)
        self._infer_types(made, node)
        outputs = native.outputs()
        function = getattr(made, "compute", None)
        if function is None:
            results: Any = [value for _, _, value in outputs]
            if any(value is None for value in results):
                raise Error(f"{self.kind.__name__} has no `compute`, and its `infer` does not set the value")
        else:
            results = function(node, *arrays)
            results = results if isinstance(results, (tuple, list)) else [results]
        if len(results) != len(outputs):
            raise Error(f"`compute` of {self.kind.__name__} returned {len(results)} arrays; expected {len(outputs)}")
        return [_typed(result, output[0]) for result, output in zip(results, outputs)]

    def _node(
        self, name: str, attributes: dict[str, Any], inputs: list[Input], count: int
    ) -> tuple[InferredGraph, Node, Op]:
        texts = {key: _parsed(value) for key, value in attributes.items()}
        made = self.kind(None, texts)
        defaults = {key: value for key, value in made.attrs.items() if value is not None and not callable(value)}
        native = InferredGraph(self, name, {**defaults, **texts}, inputs, count)
        node = Node(Graph(native, "middle"), NodeId(name, 0))  # type: ignore[arg-type]
        for extender in self._extenders:
            extender.extend(node)
        return native, node, made

    def _call(self, made: Op, what: str, node: Node) -> None:
        function = made.attrs.get(what) or getattr(made, what, None)
        if function is None:
            raise Error(f"{self.kind.__name__} has no `{what}`")
        function(node)

    def _infer_types(self, made: Op, node: Node) -> None:
        if made.attrs.get("type_infer") or getattr(made, "type_infer", None):
            self._call(made, "type_infer", node)


def _constant(array: Any) -> Callable[[], Any]:
    return lambda: array


def _typed(result: Any, name: str) -> Any:
    kind = to_numpy_type(name)
    return np.ascontiguousarray(result if kind is None else np.asarray(result, dtype=kind)).reshape(np.shape(result))


def _parsed(value: Any) -> Any:
    """Returns an attribute; texts of numbers, as IR has them, become numbers or lists of numbers."""
    if not isinstance(value, str):
        return value
    if value.casefold() in ("true", "false"):
        return value.casefold() == "true"
    parts = [part.strip() for part in value.split(",")]
    for kind in (int, float):
        try:
            numbers = [kind(part) for part in parts]
        except ValueError:
            continue
        return numbers[0] if len(numbers) == 1 else numbers
    return value


class InferredGraph:
    """A node that is being inferred, number 0, and its producers; with the interface of a TransformGraph."""

    def __init__(
        self, operation: CustomOperation, name: str, attributes: dict[str, Any], inputs: list[Input], count: int
    ) -> None:
        self._operation, self._name, self._attributes, self._inputs = operation, name, attributes, inputs
        self._types: list[str | None] = [None] * count
        # The arrays that the shape function set; it may change their elements.
        self._shapes: list[Any] = [None] * count
        self._values: list[Any] = [None] * count
        self._has_shape = [False] * count

    def outputs(self) -> list[Output]:
        """Returns the types, shapes and values that the shape function set."""
        results: list[Output] = []
        for i, has_shape in enumerate(self._has_shape):
            if not has_shape:
                raise Error(f"`infer` of {self._operation.kind.__name__} does not set the shape of output {i}")
            kind = self._types[i]
            value = self._values[i]
            if kind is None and value is not None and not self._inputs:
                kind = to_type_name(np.asarray(value).dtype)
            kind = kind or (self._inputs[0][0] if self._inputs else "f32")
            results.append((kind, self.shape(0, i), None if value is None else _typed(value, kind)))
        return results

    def nodes(self) -> list[int]:
        """Returns the numbers of all nodes."""
        return list(range(len(self._inputs) + 1))

    def exists(self, node: int) -> bool:
        """Returns True."""
        return True

    def op(self, node: int) -> str:
        """Returns the operation; `input` for a producer."""
        return "input" if node else self._operation.name

    def set(self, node: int) -> str:
        """Returns the operation set."""
        return self._operation.set

    def name(self, node: int) -> str:
        """Returns the name."""
        return f"{self._name}/input_{node - 1}" if node else self._name

    def attributes(self, node: int) -> dict[str, Any]:
        """Returns all attributes."""
        return {} if node else self._attributes

    def attribute(self, node: int, name: str) -> Any:
        """Returns an attribute, or None."""
        return self.attributes(node).get(name)

    def set_attribute(self, node: int, name: str, value: Any) -> None:
        """Sets an attribute for the shape function only."""
        self._attributes[name] = value

    def erase_attribute(self, node: int, name: str) -> None:
        """Removes an attribute for the shape function only."""
        self._attributes.pop(name, None)

    def num_inputs(self, node: int) -> int:
        """Returns the number of inputs."""
        return 0 if node else len(self._inputs)

    def num_outputs(self, node: int) -> int:
        """Returns the number of outputs."""
        return 1 if node else len(self._shapes)

    def source(self, node: int, idx: int) -> tuple[int, int]:
        """Returns the producer of an input."""
        return idx + 1, 0

    def destinations(self, node: int, output: int) -> list[tuple[int, int]]:
        """Returns the inputs that an output feeds."""
        return [(0, node - 1)] if node else []

    def shape(self, node: int, output: int) -> Any:
        """Returns the extents of an output, or None."""
        if node:
            return self._inputs[node - 1][1]
        held = self._shapes[output]
        return None if held is None else [int(n) if is_fully_defined(n) and n >= 0 else None for n in held]

    def held_shape(self, node: int, output: int) -> Any:
        """Returns the array that the shape function set as the shape of an output, or None."""
        return None if node else self._shapes[output]

    def value(self, node: int, output: int) -> Any:
        """Returns the value of an output, or None."""
        return self._inputs[node - 1][2]() if node else self._values[output]

    def element_type(self, node: int, output: int) -> str:
        """Returns the element type of an output."""
        return self._inputs[node - 1][0] if node else self._types[output] or "dynamic"

    def set_shape(self, node: int, output: int, shape: Any) -> None:
        """Sets the shape of an output; masked elements, -1 and None are unknown."""
        self._check(node, output)
        self._has_shape[output] = True
        if shape is not None:
            self._shapes[output] = shape_array([n if is_fully_defined(n) else None for n in _items(shape)])

    def set_value(self, node: int, output: int, value: Any) -> None:
        """Sets the value of an output, and its shape."""
        self._check(node, output)
        if value is None:
            return
        self._values[output] = None if np.ma.is_masked(value) else np.asarray(value)
        self.set_shape(node, output, np.shape(value))

    def set_type(self, node: int, output: int, name: str) -> None:
        """Sets the element type of an output."""
        self._check(node, output)
        self._types[output] = name

    def _check(self, node: int, output: int) -> None:
        if node or not 0 <= output < len(self._shapes):
            what = "an input" if node else f"output {output}"
            raise Error(f"the shape function of `{self._name}` sets {what}; it has {len(self._shapes)} outputs")


def _items(shape: Any) -> Iterator[Any]:
    return iter([shape] if np.ndim(shape) == 0 else shape)


def operations_of(modules: Sequence[ModuleType]) -> list[CustomOperation]:
    """Returns the operations defined in modules that neither OpenVINO nor NNEF has."""
    classes = [item for module in modules for item in vars(module).values() if isinstance(item, type)]
    extenders = [item for item in classes if issubclass(item, Extender)]
    found: dict[str, CustomOperation] = {}
    local = {module.__name__ for module in modules}
    for kind in dict.fromkeys(classes):
        if not issubclass(kind, Op) or kind.__module__ not in local or not kind.op:
            continue
        try:
            made: Op | None = kind(None, {})
        except Exception:  # it requires attributes or a graph
            made = None
        operation = CustomOperation(kind, made, extenders)
        if row_of(operation.name) is not None or row_of(f"nnef.{operation.name}") is not None:
            continue
        kind.custom_set = operation.set  # type: ignore[attr-defined]
        if operation.name in found:
            other = found[operation.name].kind
            raise Error(f"{other.__module__}.{other.__name__} and {kind.__module__}.{kind.__name__} define `{operation.name}`")
        found[operation.name] = operation
    return list(found.values())
