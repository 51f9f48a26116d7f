"""Branches and loops: If, TensorIterator and Loop."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy

from nnefc.conversion.layers import Body, Layer, PortMap, Tensor
from nnefc.conversion.writer import Table, Unsupported, Writer, numpy_type, onnx_type, static_shape

_SMALLEST = -(2**63)


def _if(writer: Writer, layer: Layer) -> None:
    def branch(body: Body) -> object:
        def build() -> list[str]:
            for port in body.inputs:
                writer.bind(port.tensor, layer.inputs[port.port])
            writer.translate_body(body)
            made = {port.port: port.tensor for port in body.outputs}
            return [writer.node("Identity", [made[i].name]) for i in range(len(layer.outputs))]

        return writer.subgraph(f"{layer.output.name}/{body.role}", [], layer.outputs, build)

    results = [{port.port: port.tensor.rank for port in body.outputs} for body in layer.bodies.values()]
    if results[0] != results[1]:
        raise Unsupported("the branches have results of different ranks")
    then_branch, else_branch = branch(layer.bodies["then_body"]), branch(layer.bodies["else_body"])
    names = [tensor.name for tensor in layer.outputs]
    writer.nodes("If", [layer.inputs[0].name], names, then_branch=then_branch, else_branch=else_branch)


class _Slices:
    """The parts of an axis that the iterations read, or write."""

    def __init__(self, port: PortMap, tensor: Tensor) -> None:
        self.axis = int(port.attributes["axis"]) % tensor.rank
        self.size = int(port.attributes.get("part_size", 1))
        self.stride = int(port.attributes.get("stride", 1))
        self.extent = tensor.shape[self.axis]
        self._start = int(port.attributes.get("start", 0))
        self._end = int(port.attributes.get("end", -1))

    def _place(self, bound: int) -> int:
        if self.extent is None:
            raise Unsupported("an open extent is divided among iterations; pass shapes of the inputs")
        return bound + self.extent + 1 if bound < 0 else bound

    @property
    def first(self) -> int:
        """The first element of the first part."""
        return self._place(self._start) - (self.size if self.stride < 0 else 0)

    @property
    def count(self) -> int:
        """The number of parts."""
        return abs(self._place(self._end) - self._place(self._start)) // abs(self.stride)


class _Loop:
    """Writes a TensorIterator or a Loop. States are the inputs of the body that its results replace, then results whose last
    value is an output."""

    def __init__(self, writer: Writer, layer: Layer) -> None:
        self.writer, self.layer, self.body = writer, layer, layer.bodies["body"]
        self.is_loop = layer.type == "Loop"
        merged = {target.name: source for source, target in self.body.back_edges}
        self.states = [(port, merged[port.tensor.name]) for port in self.body.inputs if port.tensor.name in merged]
        self.stacked = [port for port in self.body.outputs if "axis" in port.attributes and port.port >= 0]
        self.last = [
            port for port in self.body.outputs
            if port.port >= 0 and "axis" not in port.attributes and self._state_of(port) is None
        ]  # fmt: skip

    def _state_of(self, port: PortMap) -> int | None:
        """Returns the state that an output is the last value of."""
        found = [i for i, (_, source) in enumerate(self.states) if source.name == port.tensor.name]
        return found[0] if found else None

    def write(self) -> None:
        writer, layer = self.writer, self.layer
        count, condition = self._count_and_condition()
        initial = [layer.inputs[port.port].name for port, _ in self.states]
        for port in self.last:
            shape = static_shape(port.tensor, "a result of the body")
            initial.append(writer.constant(numpy.zeros(shape, numpy_type(port.tensor.type)), port.tensor.type))
        values = [writer.new_name("state") for _ in initial]
        parts = [writer.new_name("parts") for _ in self.stacked]
        iteration, runs = writer.new_name("iteration"), writer.new_name("condition")
        inputs: list[tuple[str, str, Sequence[int] | None]] = [(iteration, "i64", ()), (runs, "boolean", ())]
        carried = [port.tensor for port, _ in self.states] + [port.tensor for port in self.last]
        names = [port.tensor.name for port, _ in self.states] + [writer.new_name("previous") for _ in self.last]
        inputs += [(name, tensor.type, None) for name, tensor in zip(names, carried)]
        boolean = Tensor("", "boolean", ())
        unknown = [Tensor("", tensor.type, (None,) * tensor.rank) for tensor in carried]
        results = [boolean, *unknown, *[port.tensor for port in self.stacked]]
        made = writer.subgraph(f"{layer.name}/body", inputs, results, lambda: self._build(iteration, runs))
        writer.nodes("Loop", [count, condition, *initial], [*values, *parts], body=made)
        self._write_outputs(values, parts)

    def _count_and_condition(self) -> tuple[str, str]:
        writer, layer = self.writer, self.layer
        if self.is_loop:
            count, condition = layer.inputs[:2]
            known = writer.value(count)
            is_endless = known is not None and int(known.reshape(-1)[0]) < 0
            if known is None:
                raise Unsupported("the number of iterations is computed by the model; expected a constant")
            trips = "" if is_endless else writer.constant(int(known.reshape(-1)[0]), "i64")
            return trips, writer.node("Reshape", [condition.name, writer.integers([])])
        sliced = [_Slices(port, layer.inputs[port.port]).count for port in self.body.inputs if "axis" in port.attributes]
        sliced += [_Slices(port, layer.outputs[port.port]).count for port in self.stacked]
        return writer.constant(sliced[0] if sliced else 1, "i64"), ""

    def _build(self, iteration: str, runs: str) -> list[str]:
        """Adds the nodes of the body; returns its results."""
        writer, layer, body = self.writer, self.layer, self.body
        carried = {port.tensor.name for port, _ in self.states}
        for port in body.inputs:
            if port.attributes.get("purpose") == "current_iteration" or port.port < 0:
                number = writer.node("Cast", [iteration], to=onnx_type(port.tensor.type))
                shape = writer.integers(static_shape(port.tensor, "the number of the iteration"))
                writer.node("Reshape", [number, shape], port.tensor)
            elif "axis" in port.attributes:
                self._slice(port, iteration)
            elif port.tensor.name not in carried:
                writer.bind(port.tensor, layer.inputs[port.port])
        writer.translate_body(body)
        conditions = [port for port in body.outputs if port.attributes.get("purpose") == "execution_condition"]
        if conditions:
            results = [writer.node("Reshape", [conditions[0].tensor.name, writer.integers([])])]
        else:
            results = [writer.node("Identity", [runs])]
        tensors = [source for _, source in self.states] + [port.tensor for port in [*self.last, *self.stacked]]
        return results + [writer.node("Identity", [tensor.name]) for tensor in tensors]

    def _slice(self, port: PortMap, iteration: str) -> None:
        writer, tensor = self.writer, self.layer.inputs[port.port]
        slices = _Slices(port, tensor)
        moved = writer.node("Mul", [iteration, writer.constant(slices.stride, "i64")])
        start = writer.node("Add", [moved, writer.constant(slices.first, "i64")])
        start = writer.node("Reshape", [start, writer.integers([1])])
        stop = writer.node("Add", [start, writer.integers([slices.size])])
        writer.node("Slice", [tensor.name, start, stop, writer.integers([slices.axis])], port.tensor)

    def _write_outputs(self, values: Sequence[str], parts: Sequence[str]) -> None:
        writer, layer = self.writer, self.layer
        for port in self.body.outputs:
            state = self._state_of(port) if port.port >= 0 and "axis" not in port.attributes else None
            if state is not None:
                writer.node("Identity", [values[state]], layer.outputs[port.port])
        for port, name in zip(self.last, values[len(self.states) :]):
            writer.node("Identity", [name], layer.outputs[port.port])
        for port, name in zip(self.stacked, parts):
            self._join(port, name)

    def _join(self, port: PortMap, stack: str) -> None:
        """Joins the parts, which are stacked along a new first axis, along their axis."""
        writer, output = self.writer, self.layer.outputs[port.port]
        slices = _Slices(port, output)
        if slices.stride < 0:
            bounds = [writer.integers([-1]), writer.integers([_SMALLEST]), writer.integers([0]), writer.integers([-1])]
            stack = writer.node("Slice", [stack, *bounds])
        if port.tensor.rank == 0:  # numbers become a list
            writer.node("Identity", [stack], output)
            return
        order = [*range(1, slices.axis + 1), 0, *range(slices.axis + 1, output.rank + 1)]
        moved = writer.node("Transpose", [stack], perm=order)
        shape = [-1 if extent is None else extent for extent in output.shape]
        if shape.count(-1) > 1:
            raise Unsupported("a result has open extents; pass shapes of the inputs")
        writer.node("Reshape", [moved, writer.integers(shape)], output, allowzero=int(math.prod(shape) == 0))


def _loop(writer: Writer, layer: Layer) -> None:
    _Loop(writer, layer).write()


TABLE: Table = {"If": _if, "Loop": _loop, "TensorIterator": _loop}
