"""If-8 and TensorIterator-1 by the cases of their rules: numbers that follow from the rules, OpenVINO where it
satisfies them, and rejected graphs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from ir_builder import Graph, Port, back_edges, mapped, sliced
from models import Nnefc

ov = pytest.importorskip("openvino")

from openvino_oracle import openvino_outputs  # noqa: E402

F32, I64 = np.float32, np.int64
REVERSE = {"start": -1, "end": 0, "stride": -1}


@dataclass
class Case:
    graph: Graph
    inputs: dict[str, np.ndarray]
    expected: list[np.ndarray]
    openvino: bool = True  # it satisfies the rules here


CASES: dict[str, Callable[[], Case]] = {}
REFUSED: dict[str, tuple[Callable[[], Case], str]] = {}


def case(make: Callable[[], Case]) -> Callable[[], Case]:
    CASES[make.__name__] = make
    return make


def refused(name: str, message: str, make: Callable[[], Case]) -> None:
    REFUSED[name] = (make, message)


# --- If -----------------------------------------------------------------------------------------

X, Y = np.array([[[1, 2], [3, 4]]], F32), np.array([[[2, 1], [2, 3]]], F32)


@dataclass
class Branch:
    """A body: a function from its parameters to its results, and its part of the port map."""
    make: Callable[..., list[Port]]
    inputs: list[int] = field(default_factory=lambda: [1, 2])  # of the If, by parameter
    outputs: list[int] | None = None                           # of the If, by result


def arithmetic(type_: str) -> Branch:
    return Branch(lambda g, a, b: [g.binary(type_, a, b, [1, 2, 2])])


def fixed(value: float) -> Branch:
    return Branch(lambda g: [g.const(value)], inputs=[])


def if_case(condition: object, then: Branch, other: Branch, data: list[np.ndarray], shapes: list[list[int]],
            expected: list[object], *, types: list[str] | None = None, indices: bool = False, constant: bool = False,
            used: int | None = None, openvino: bool = True) -> Case:
    g = Graph()
    condition = np.array(condition)
    cond = g.const(condition, condition.dtype) if constant else \
        g.parameter(list(condition.shape), "boolean" if condition.dtype == bool else "i32", "cond")
    ports = [g.parameter(list(array.shape), name=f"x{place}") for place, array in enumerate(data)]
    first = 0 if indices else 1 + len(data)
    bodies, maps = "", ""
    for tag, branch in [("then", then), ("else", other)]:
        inner = Graph(g.blobs)
        parameters = [inner.parameter(list(data[place - 1].shape)) for place in branch.inputs]
        results = [inner.result(port) for port in branch.make(inner, *parameters)]
        outputs = range(len(results)) if branch.outputs is None else branch.outputs
        maps += f"<{tag}_port_map>"
        maps += "".join(mapped("input", place, port.layer.number) for place, port in zip(branch.inputs, parameters))
        maps += "".join(mapped("output", first + place, result.number) for place, result in zip(outputs, results))
        maps += f"</{tag}_port_map>\n"
        bodies += inner.body(f"{tag}_body")
    outputs = [(type_, shape) for type_, shape in zip(types or ["f32"] * len(shapes), shapes)]
    layer = g.add("If", "opset8", [cond, *ports], outputs, more=maps + bodies)
    for place in range(len(shapes) if used is None else used):
        g.result(layer[place], f"out{place}")
    inputs = {f"x{place}": array for place, array in enumerate(data)}
    if not constant:
        inputs["cond"] = condition
    return Case(g, inputs, [np.asarray(array, F32) for array in expected], openvino)


PRODUCT = np.array([[[2, 2], [6, 12]]], F32)
SUM = np.array([[[3, 3], [5, 7]]], F32)
for value in (True, False):
    chosen = PRODUCT if value else SUM
    for label, condition in [("vector", [value]), ("scalar", value)]:
        for form in (False, True):
            CASES[f"if_{label}_{value}_{'index' if form else 'port'}"] = \
                lambda c=condition, e=chosen, f=form: if_case(c, arithmetic("Multiply"), arithmetic("Add"), [X, Y],
                                                              [[1, 2, 2]], [e], indices=f)
    CASES[f"if_constant_{value}"] = \
        lambda c=value, e=chosen: if_case(c, arithmetic("Multiply"), arithmetic("Add"), [X, Y], [[1, 2, 2]], [e],
                                          constant=True)
    CASES[f"if_without_parameters_{value}"] = \
        lambda c=value: if_case([c], fixed(8), fixed(2), [], [[]], [8 if c else 2])


def two_outputs(value: bool) -> Case:
    y, z = np.arange(16, dtype=F32).reshape(4, 2, 2), np.ones((8, 8, 8), F32)
    then = Branch(lambda g, a, b: [g.binary("Multiply", a, a, [1, 2, 2]), b], [1, 2])
    other = Branch(lambda g, a, b: [g.binary("Add", a, a, [1, 2, 2]), b], [1, 3])
    return if_case([value], then, other, [X, y, z], [[1, 2, 2], [-1, -1, -1]], [X * X, y] if value else [X + X, z])


def crossed(value: bool) -> Case:
    def both(g: Graph, a: Port, b: Port) -> list[Port]:
        return [g.binary("Multiply", a, b, [1, 2, 2]), g.binary("Add", a, b, [1, 2, 2])]
    return if_case([value], Branch(both), Branch(both, outputs=[1, 0]), [X, Y], [[1, 2, 2]] * 2,
                   [PRODUCT, SUM] if value else [SUM, PRODUCT])


def scalar_or_one(value: bool) -> Case:
    """Shapes [] and [1] are inferred as [1], also at run time."""
    scalar = Branch(lambda g: [g.const(5)], [])
    one = Branch(lambda g: [g.const([7])], [])
    return if_case([value], scalar, one, [], [[1]], [[5 if value else 7]], openvino=False)


def ranks(value: bool) -> Case:
    """Shapes [2,2] and [1,2,2]: the rank is that of the chosen branch."""
    two = Branch(lambda g, a: [g.add("Squeeze", "opset1", [a, g.const([0], I64)], [("f32", [2, 2])])[0]], [1])
    three = Branch(lambda g, a: [g.binary("Add", a, a, [1, 2, 2])], [1])
    return if_case([value], two, three, [X], [[]], [X[0] if value else X + X], openvino=False)


for value in (True, False):
    CASES[f"if_ranks_{value}"] = lambda v=value: ranks(v)
    CASES[f"if_two_outputs_{value}"] = lambda v=value: two_outputs(v)
    CASES[f"if_crossed_{value}"] = lambda v=value: crossed(v)
    CASES[f"if_scalar_or_one_{value}"] = lambda v=value: scalar_or_one(v)


@case
def if_one_input_feeds_several_parameters() -> Case:
    """OpenVINO keeps one parameter for an input."""
    then = Branch(lambda g, a, b: [g.binary("Multiply", a, b, [1, 2, 2])], [1, 1])
    other = Branch(lambda g, a: [g.binary("Add", a, a, [1, 2, 2])], [1])
    return if_case([True], then, other, [X], [[1, 2, 2]], [X * X], openvino=False)


@case
def if_output_that_nothing_uses() -> Case:
    both = Branch(lambda g, a, b: [g.binary("Multiply", a, b, [1, 2, 2]), g.binary("Add", a, b, [1, 2, 2])])
    return if_case([True], both, both, [X, Y], [[1, 2, 2]] * 2, [PRODUCT], used=1)


def nested(depth: int) -> Case:
    """Ifs within the then bodies of Ifs; the innermost doubles x, and each adds 1 to the inner result."""
    g = Graph()
    cond, x = g.parameter([], "boolean", "cond"), g.parameter([1, 2, 2], name="x0")
    maps = "".join(f"<{tag}_port_map>{inputs}</{tag}_port_map>\n" for tag, inputs in [
        ("then", mapped("input", 0, 0) + mapped("input", 1, 1) + mapped("output", 2, 4)),
        ("else", mapped("input", 1, 0) + mapped("output", 2, 1))])
    within = None
    for _ in range(depth):
        then = Graph(g.blobs)
        inner_cond, inner_x = then.parameter([], "boolean"), then.parameter([1, 2, 2])
        if within is None:
            value = then.binary("Add", inner_x, inner_x, [1, 2, 2])
            then.add("Convert", "opset1", [inner_cond], [("f32", [])], {"destination_type": "f32"})
        else:
            branch = then.add("If", "opset8", [inner_cond, inner_x], [("f32", [1, 2, 2])], more=maps + within)
            value = then.binary("Add", branch[0], inner_x, [1, 2, 2])
        then.result(value)
        other = Graph(g.blobs)
        other.result(other.parameter([1, 2, 2]))
        within = then.body("then_body") + other.body("else_body")
    layer = g.add("If", "opset8", [cond, x], [("f32", [1, 2, 2])], more=maps + within)
    g.result(layer[0], "out0")
    return Case(g, {"cond": np.array(True), "x0": X}, [X * (depth + 1)], openvino=False)


CASES["if_nested_64_deep"] = lambda: nested(64)
refused("if_nested_1024_deep", "nesting depth", lambda: nested(1024))

multiply, add = arithmetic("Multiply"), arithmetic("Add")
as_integer = Branch(lambda g, a, b: [g.add("Convert", "opset1", [a], [("i32", [1, 2, 2])],
                                           {"destination_type": "i32"})[0]])
refused("if_types_differ", "element type",
        lambda: if_case([True], multiply, as_integer, [X, Y], [[1, 2, 2]], []))
both_ways = Branch(lambda g, a, b: [g.binary("Multiply", a, b, [1, 2, 2]), g.binary("Add", a, b, [1, 2, 2])])
refused("if_output_in_then_only", "associated",
        lambda: if_case([True], both_ways, multiply, [X, Y], [[1, 2, 2]] * 2, []))
twice = Branch(both_ways.make, outputs=[0, 0])
refused("if_two_results_to_one_output", "", lambda: if_case([True], twice, multiply, [X, Y], [[1, 2, 2]], []))
refused("if_without_results", "no Result",
        lambda: if_case([True], Branch(lambda g, a, b: []), multiply, [X, Y], [[1, 2, 2]], []))
refused("if_condition_of_rank_2", "rank", lambda: if_case([[True]], multiply, add, [X, Y], [[1, 2, 2]], []))
refused("if_condition_is_no_logical", "element type",
        lambda: if_case(np.array([1], np.int32), multiply, add, [X, Y], [[1, 2, 2]], []))
refused("if_constant_condition_of_2", "one element",
        lambda: if_case([True, False], multiply, add, [X, Y], [[1, 2, 2]], [], constant=True))
refused("if_constant_condition_of_0", "one element",
        lambda: if_case(np.zeros(0, bool), multiply, add, [X, Y], [[1, 2, 2]], [], constant=True))


# --- TensorIterator -----------------------------------------------------------------------------

def running_sum(x: object, cut: dict[str, int], joined: dict[str, int], expected: object, last: object, *,
                axis: int = 1, h: object = None, openvino: bool = True, shuffled: bool = False,
                dtype: type = F32) -> Case:
    """y = x + h along an axis, the concatenation of all y and the last."""
    x = np.array(x, dtype)
    part = cut["part_size"]
    shape = list(x.shape)
    shape[axis] = part
    h = np.zeros(shape, dtype) if h is None else np.array(h, dtype).reshape(shape)
    type_ = "f32" if dtype == F32 else "i64"
    g = Graph()
    outer = [g.parameter(list(x.shape), type_, "x"), g.parameter(shape, type_, "h")]
    body = Graph(g.blobs, numbering=[70, 7, 30, 2, 11] if shuffled else None)
    a, b = body.parameter(shape, type_), body.parameter(shape, type_)
    total = body.binary("Add", a, b, shape, type_)
    every, final = body.result(total), body.result(total)
    if shuffled:
        body.layers.reverse()
    maps = ("<port_map>" + mapped("input", 0, a.layer.number, **cut) + mapped("input", 1, b.layer.number) +
            mapped("output", 2, every.number, **joined) + mapped("output", 3, final.number) + "</port_map>\n" +
            back_edges((final.number, b.layer.number)))
    expected = np.array(expected, dtype)
    layer = g.add("TensorIterator", "opset1", outer, [(type_, list(expected.shape)), (type_, shape)],
                  more=maps + body.body())
    g.result(layer[0], "out0")
    g.result(layer[1], "out1")
    return Case(g, {"x": x, "h": h}, [expected, np.array(last, dtype).reshape(shape)], openvino)


ROW = [[1, 2, 3, 4]]
FORWARD, BACKWARD = sliced(1), sliced(1, **REVERSE)
CASES |= {
    "forward": lambda: running_sum(ROW, FORWARD, FORWARD, [[1, 3, 6, 10]], 10),
    "reverse": lambda: running_sum(ROW, BACKWARD, BACKWARD, [[10, 9, 7, 4]], 10),
    "reverse_in": lambda: running_sum(ROW, BACKWARD, FORWARD, [[4, 7, 9, 10]], 10),
    "reverse_out": lambda: running_sum(ROW, FORWARD, BACKWARD, [[10, 6, 3, 1]], 10),
    "parts_of_two": lambda: running_sum(ROW, sliced(1, stride=2), sliced(1, stride=2), [[1, 2, 4, 6]], [4, 6]),
    "parts_of_two_reverse": lambda: running_sum(ROW, sliced(1, -1, 0, -2), sliced(1, -1, 0, -2), [[4, 6, 3, 4]],
                                                [4, 6]),
    "one_part": lambda: running_sum(ROW, sliced(1, stride=4), sliced(1, stride=4), ROW, [1, 2, 3, 4]),
    "integers": lambda: running_sum(ROW, FORWARD, FORWARD, [[1, 3, 6, 10]], 10, dtype=I64),
    "shuffled_layers": lambda: running_sum(ROW, FORWARD, FORWARD, [[1, 3, 6, 10]], 10, shuffled=True),
    "inner_axis": lambda: running_sum([[1, 2, 3], [4, 5, 6]], FORWARD, FORWARD, [[1, 3, 6], [4, 9, 15]], [6, 15]),
    "inner_axis_reverse": lambda: running_sum([[1, 2, 3], [4, 5, 6]], BACKWARD, BACKWARD,
                                              [[6, 5, 3], [15, 11, 6]], [6, 15]),
    # `end` is exclusive and a negative start counts from the extent + 1: there OpenVINO's two formulas differ.
    "explicit_end": lambda: running_sum([[1, 2, 3, 4, 5, 6]], sliced(1, 0, 6), FORWARD, [[1, 3, 6, 10, 15, 21]], 21,
                                        openvino=False),
    "a_part_of_the_axis": lambda: running_sum([[1, 2, 3, 4, 5, 6]], sliced(1, 1, 4), FORWARD, [[2, 5, 9]], 9,
                                              openvino=False),
    "negative_start": lambda: running_sum([[1, 2, 3, 4, 5, 6]], sliced(1, -3, -1), FORWARD, [[5, 11]], 11,
                                          openvino=False),
    "backward_from_within": lambda: running_sum([[1, 2, 3, 4, 5, 6]], sliced(1, 4, 1, -1), FORWARD, [[4, 7, 9]], 9,
                                                openvino=False),
}
FIVE = [[1, 2, 3, 4, 5]]
refused("length_is_no_multiple", "multiple",
        lambda: running_sum(FIVE, sliced(1, stride=2), sliced(1, stride=2), FIVE, [0, 0]))
refused("stride_0", "stride is 0",
        lambda: running_sum(ROW, sliced(1, stride=0, part_size=1), FORWARD, ROW, 0))
refused("part_size_is_not_the_stride", "part size",
        lambda: running_sum(ROW, sliced(1, stride=2, part_size=1), FORWARD, ROW, 0))
refused("part_size_0", "part size",
        lambda: running_sum(ROW, sliced(1, stride=1, part_size=0), FORWARD, ROW, []))
refused("empty_span", "cut", lambda: running_sum(ROW, sliced(1, 2, 2), FORWARD, ROW, 0))
refused("beyond_the_axis", "cut", lambda: running_sum(ROW, sliced(1, 0, 9), FORWARD, ROW, 0))


def loop(body: Graph, maps: str, edges: str, outer: Graph, inputs: list[Port], outputs: list[tuple[str, list[int]]]
         ) -> None:
    layer = outer.add("TensorIterator", "opset1", inputs, outputs,
                      more=f"<port_map>{maps}</port_map>\n{edges}{body.body()}")
    for place in range(len(outputs)):
        outer.result(layer[place], f"out{place}")


@case
def swap() -> Case:
    """r0 = b, r1 = a: all back edges read before any is written."""
    g = Graph()
    ports = [g.parameter([3], name="x"), g.parameter([1], name="a"), g.parameter([1], name="b")]
    body = Graph(g.blobs)
    _, a, b = (body.parameter([1]) for _ in range(3))
    results = [body.result(b), body.result(a)]
    loop(body, mapped("input", 0, 0, **sliced()) + mapped("input", 1, 1) + mapped("input", 2, 2) +
         mapped("output", 3, results[0].number) + mapped("output", 4, results[1].number),
         back_edges((results[0].number, 1), (results[1].number, 2)), g, ports, [("f32", [1])] * 2)
    one, two = np.array([1], F32), np.array([2], F32)
    return Case(g, {"x": np.zeros(3, F32), "a": one, "b": two}, [two, one])


@case
def delay_line() -> Case:
    """Each state is the previous state of an earlier iteration; the first is a slice. OpenVINO uses the newest for all."""
    g = Graph()
    ports = [g.parameter([2, 5], name="x")] + [g.parameter([2, 1], name=name) for name in "abc"]
    body = Graph(g.blobs)
    x, a, b, c = (body.parameter([2, 1]) for _ in range(4))
    total = body.binary("Add", body.binary("Add", x, a, [2, 1]), body.binary("Add", b, c, [2, 1]), [2, 1])
    every, to_a, to_b, to_c = (body.result(port) for port in (total, x, a, b))
    loop(body, mapped("input", 0, 0, **sliced(1)) + "".join(mapped("input", k, k) for k in (1, 2, 3)) +
         mapped("output", 4, every.number, **sliced(1)) + mapped("output", 5, to_c.number),
         back_edges((to_a.number, 1), (to_b.number, 2), (to_c.number, 3)), g, ports, [("f32", [2, 5]), ("f32", [2, 1])])
    values = np.arange(10, dtype=F32).reshape(2, 5)
    start = {name: np.full((2, 1), number, F32) for number, name in enumerate("abc", 100)}
    state, sums = [start[name] for name in "abc"], []
    for k in range(5):
        now = values[:, k:k + 1]
        sums.append(now + sum(state))
        state = [now, state[0], state[1]]
    return Case(g, {"x": values, **start}, [np.concatenate(sums, 1), state[2]], openvino=False)


@case
def two_slices_and_an_invariant() -> Case:
    g = Graph()
    ports = [g.parameter([1, 2], name="x"), g.parameter([2, 1], name="y"), g.parameter([1, 1], name="m")]
    body = Graph(g.blobs)
    x, y, m = (body.parameter([1, 1]) for _ in range(3))
    z = body.result(body.binary("Multiply", body.binary("Add", x, y, [1, 1]), m, [1, 1]))
    loop(body, mapped("input", 0, 0, **sliced(1)) + mapped("input", 1, 1, **sliced(0)) + mapped("input", 2, 2) +
         mapped("output", 3, z.number), back_edges((z.number, 2)), g, ports, [("f32", [1, 1])])
    inputs = {"x": np.array([[2, 3]], F32), "y": np.array([[4], [5]], F32), "m": np.array([[5]], F32)}
    return Case(g, inputs, [np.array([[240]], F32)])


def counter(shape: list[int], axis: int = 0, **cut: int) -> Case:
    """Nothing is sliced: the concatenated output determines the trip count."""
    g = Graph()
    start = g.parameter(shape, name="c")
    body = Graph(g.blobs)
    c = body.parameter(shape)
    more = body.binary("Add", c, body.const(1), shape)
    every, final = body.result(more), body.result(more)
    loop(body, mapped("input", 0, 0) + mapped("output", 1, every.number, **sliced(axis, **cut)) +
         mapped("output", 2, final.number), back_edges((final.number, 0)), g, [start],
         [("f32", [cut["end"]]), ("f32", shape)])
    return Case(g, {"c": np.zeros(shape, F32)}, [np.array([1, 2, 3], F32), np.full(shape, 3, F32)], openvino=False)


CASES["counter"] = lambda: counter([1], start=0, end=3)
CASES["counter_of_scalars"] = lambda: counter([], start=0, end=3)
refused("scalars_along_axis_1", "axis", lambda: counter([], axis=1, start=0, end=3))
refused("counts_beyond_all_bounds", "iterations", lambda: counter([1], start=0, end=2**31))


@case
def logical_states() -> Case:
    g = Graph()
    ports = [g.parameter([1, 4], "boolean", "x"), g.parameter([1, 1], "boolean", "h")]
    body = Graph(g.blobs)
    x, h = body.parameter([1, 1], "boolean"), body.parameter([1, 1], "boolean")
    either = body.binary("LogicalXor", x, h, [1, 1], "boolean")
    every, final = body.result(either), body.result(either)
    loop(body, mapped("input", 0, 0, **sliced(1)) + mapped("input", 1, 1) +
         mapped("output", 2, every.number, **sliced(1)) + mapped("output", 3, final.number),
         back_edges((final.number, 1)), g, ports, [("boolean", [1, 4]), ("boolean", [1, 1])])
    x = np.array([[True, True, False, True]])
    return Case(g, {"x": x, "h": np.array([[False]])}, [np.array([[True, False, False, True]]), np.array([[True]])])


def sum_body(g: Graph) -> tuple[str, Graph]:
    body = Graph(g.blobs)
    x, h = body.parameter([1, 1]), body.parameter([1, 1])
    total = body.binary("Add", x, h, [1, 1])
    every, final = body.result(total), body.result(total)
    maps = (mapped("input", 0, 0, **sliced(1)) + mapped("input", 1, 1) + mapped("output", 2, every.number, **sliced(1)) +
            mapped("output", 3, final.number))
    return f"<port_map>{maps}</port_map>\n{back_edges((final.number, 1))}{body.body()}", body


def iterator_in_if(value: bool) -> Case:
    def iterated(g: Graph, x: Port, h: Port) -> list[Port]:
        return [g.add("TensorIterator", "opset1", [x, h], [("f32", [1, 4]), ("f32", [1, 1])], more=sum_body(g)[0])[0]]
    row, start = np.array(ROW, F32), np.array([[1]], F32)
    return if_case([value], Branch(iterated), Branch(lambda g, x, h: [x]), [row, start], [[1, 4]],
                   [np.cumsum(row, 1) + 1 if value else row])


for value in (True, False):
    CASES[f"iterator_in_if_{value}"] = lambda v=value: iterator_in_if(v)


@case
def if_in_iterator() -> Case:
    """Adds if the mask is set, otherwise multiplies by 2; the mask is also sliced."""
    g = Graph()
    ports = [g.parameter([1, 4], name="x"), g.parameter([4], "boolean", "mask"), g.parameter([1, 1], name="h")]
    body = Graph(g.blobs)
    x, mask, h = body.parameter([1, 1]), body.parameter([1], "boolean"), body.parameter([1, 1])
    then, other = Graph(g.blobs), Graph(g.blobs)
    then.result(then.binary("Add", then.parameter([1, 1]), then.parameter([1, 1]), [1, 1]))
    other.result(other.binary("Multiply", other.parameter([1, 1]), other.const(2), [1, 1]))
    maps = ("<then_port_map>" + mapped("input", 1, 0) + mapped("input", 2, 1) + mapped("output", 3, 3) +
            "</then_port_map>\n<else_port_map>" + mapped("input", 2, 0) + mapped("output", 3, 3) + "</else_port_map>\n")
    branch = body.add("If", "opset8", [mask, x, h], [("f32", [1, 1])],
                      more=maps + then.body("then_body") + other.body("else_body"))
    every, final = body.result(branch[0]), body.result(branch[0])
    loop(body, mapped("input", 0, 0, **sliced(1)) + mapped("input", 1, 1, **sliced(0)) + mapped("input", 2, 2) +
         mapped("output", 3, every.number, **sliced(1)) + mapped("output", 4, final.number),
         back_edges((final.number, 2)), g, ports, [("f32", [1, 4]), ("f32", [1, 1])])
    inputs = {"x": np.array(ROW, F32), "mask": np.array([True, False, True, False]), "h": np.array([[1]], F32)}
    return Case(g, inputs, [np.array([[2, 4, 7, 14]], F32), np.array([[14]], F32)])


@case
def iterator_in_iterator() -> Case:
    """Running sums along both axes; OpenVINO has no iterator within an iterator."""
    g = Graph()
    ports = [g.parameter([3, 4], name="x"), g.parameter([1, 4], name="h")]
    body = Graph(g.blobs)
    row, above = body.parameter([1, 4]), body.parameter([1, 4])
    zero = body.const([[0]])
    sums = body.add("TensorIterator", "opset1", [row, zero], [("f32", [1, 4]), ("f32", [1, 1])],
                    more=sum_body(g)[0])
    total = body.binary("Add", sums[0], above, [1, 4])
    every, final = body.result(total), body.result(total)
    loop(body, mapped("input", 0, 0, **sliced(0)) + mapped("input", 1, 1) +
         mapped("output", 2, every.number, **sliced(0)) + mapped("output", 3, final.number),
         back_edges((final.number, 1)), g, ports, [("f32", [3, 4]), ("f32", [1, 4])])
    x = np.arange(12, dtype=F32).reshape(3, 4)
    both = np.cumsum(np.cumsum(x, 1), 0)
    return Case(g, {"x": x, "h": np.zeros((1, 4), F32)}, [both, both[2:]], openvino=False)


@case
def length_of_each_run() -> Case:
    """The sliced extent is known at run time."""
    made = running_sum(np.ones((1, 7)), FORWARD, FORWARD, np.arange(1, 8).reshape(1, 7), 7)
    made.graph.layers[0].data["shape"] = "1,?"
    made.graph.layers[0].outputs = [("f32", [1, -1])]
    made.graph.layers[2].outputs[0] = ("f32", [1, -1])
    return made


@case
def a_state_that_grows() -> Case:
    """h <- concat(h, x): another shape in each iteration."""
    g = Graph()
    ports = [g.parameter([4, 1], name="x"), g.parameter([1, 1], name="h")]
    body = Graph(g.blobs)
    x, h = body.parameter([1, 1]), body.parameter([-1, 1])
    both = body.result(body.add("Concat", "opset1", [h, x], [("f32", [-1, 1])], {"axis": 0})[0])
    loop(body, mapped("input", 0, 0, **sliced()) + mapped("input", 1, 1) + mapped("output", 2, both.number),
         back_edges((both.number, 1)), g, ports, [("f32", [-1, 1])])
    x, h = np.arange(4, dtype=F32).reshape(4, 1), np.array([[9]], F32)
    return Case(g, {"x": x, "h": h}, [np.concatenate([h, x])], openvino=False)


# --- running them -------------------------------------------------------------------------------

@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("control_flow"))


def assert_equal(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", CASES)
def test_runs_by_the_rules(tool: Nnefc, tmp_path: Path, name: str) -> None:
    made = CASES[name]()
    path = made.graph.save(tmp_path / "net.xml")
    np.savez(tmp_path / "inputs.npz", **made.inputs)
    if made.openvino:
        assert_equal(openvino_outputs(path, made.inputs), made.expected)
    again = tmp_path / "again.xml"
    tool.must("compile", path, "-o", again)
    for model, backend in [(path, "reference"), (path, "fast"), (again, "fast")]:
        outputs = tool.run(model, "--inputs", tmp_path / "inputs.npz", "--backend", backend)
        assert_equal([outputs[f"out{place}"] for place in range(len(outputs))], made.expected)


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(tool: Nnefc, tmp_path: Path, name: str) -> None:
    make, message = REFUSED[name]
    path = make().graph.save(tmp_path / "net.xml")
    done = tool.call("run", path, "--random-inputs", "1")
    assert done.returncode == 1, done.stderr
    assert "error: " in done.stderr and message in done.stderr, done.stderr


# --- damage -------------------------------------------------------------------------------------

ATTRIBUTE = re.compile(r' (\w[\w-]*)="([^"]*)"')


def damaged(text: str) -> Iterator[tuple[str, str]]:
    """Yields the text with each attribute of port maps and back edges dropped, emptied, made negative or huge in turn."""
    for part in re.finditer(r"<(\w*port_map|back_edges)>.*?</\1>", text, re.DOTALL):
        for found in ATTRIBUTE.finditer(text, part.start(), part.end()):
            for value in (None, "", "-7", "3", "9223372036854775807"):
                replaced = "" if value is None else f' {found.group(1)}="{value}"'
                yield f"{found.group(0)} -> {replaced}", text[:found.start()] + replaced + text[found.end():]


@pytest.mark.parametrize("name", ["reverse", "counter", "if_in_iterator"])
def test_damage_ends_with_a_message(tool: Nnefc, tmp_path: Path, name: str) -> None:
    made = CASES[name]()
    path = made.graph.save(tmp_path / "net.xml")
    np.savez(tmp_path / "inputs.npz", **made.inputs)
    refused_ones = 0
    for what, text in damaged(path.read_text()):
        path.write_text(text)
        done = tool.call("run", path, "--inputs", tmp_path / "inputs.npz", "--threads", "1")
        assert done.returncode == 0 or done.returncode == 1 and "error: " in done.stderr, (what, done.stderr)
        refused_ones += done.returncode
    assert refused_ones > 20
