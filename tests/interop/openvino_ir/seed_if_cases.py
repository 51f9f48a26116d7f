"""If-8 by its documentation: models written by hand, with the results of either branch by NumPy."""

from __future__ import annotations

import numpy as np

from ir_builder import Graph, Port
from seed_models import FLOAT, Branches, Case, case, finish, kind, ramp

TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
         "boolean": bool}


def condition(graph: Graph, shape: list[int] | None = None) -> Port:
    return graph.parameter(shape or [], "boolean", "cond")


def truth(value: bool, shape: list[int] | None = None) -> np.ndarray:
    return np.full(shape or [], value)


def printed_example(choose: bool, shape: list[int], by_index: bool) -> Case:
    """The typical structure of the documentation: x + z or x + w."""
    graph = Graph()
    cond = condition(graph, shape)
    x, z, w = (graph.parameter([2, 4], name=name) for name in "xzw")
    choice = Branches(graph, cond, "if/cond", by_index=by_index)
    ports = [choice.port(value) for value in (x, z, w)]
    sums = [branch.binary("Add", choice.feed(key, ports[0]), choice.feed(key, ports[second]), [2, 4])
            for key, branch, second in (("then", choice.then, 1), ("else", choice.other, 2))]
    choice.give(*sums)
    data = {name: ramp(2, 4, start=start) for start, name in enumerate("xzw")}
    expected = data["x"] + (data["z"] if choose else data["w"])
    return Case(finish(graph, choice.close()[0]), {"cond": truth(choose, shape), **data}, [expected])


for chosen in (True, False):
    for extents in ([], [1]):
        for indexed in (True, False):
            case(f"example-{chosen}-{len(extents)}-{'index' if indexed else 'id'}", chosen, extents, indexed)(printed_example)


@case("constant-true", True)
@case("constant-false", False)
def constant_condition(choose: bool) -> Case:
    graph = Graph()
    x = graph.parameter([3], name="x")
    choice = Branches(graph, graph.const(choose, bool))
    then, other = choice.take(x)
    choice.give(choice.then.binary("Multiply", then, then, [3]), choice.other.binary("Add", other, other, [3]))
    data = ramp(3)
    return Case(finish(graph, choice.close()[0]), {"x": data}, [data * data if choose else data + data])


@case("bodies-of-constants-true", True)
@case("bodies-of-constants-false", False)
def bodies_of_constants(choose: bool) -> Case:
    graph = Graph()
    choice = Branches(graph, condition(graph))
    choice.give(choice.then.const([2.5, -1]), choice.other.const([0.5, 7]))
    expected = np.array([2.5, -1] if choose else [0.5, 7], FLOAT)
    return Case(finish(graph, choice.close()[0]), {"cond": truth(choose)}, [expected])


@case("crossed-results-true", True)
@case("crossed-results-false", False)
def crossed_results(choose: bool) -> Case:
    """The then body's results are mapped to the outputs in the reverse of their order in the body."""
    graph = Graph()
    cond, x, y = condition(graph), graph.parameter([2], name="x"), graph.parameter([3], name="y")
    choice = Branches(graph, cond)
    (x_then, x_else), (y_then, y_else) = choice.take(x), choice.take(y)
    choice.outputs = [("f32", [2]), ("f32", [3])]
    first, second = choice.then.result(choice.then.binary("Add", y_then, y_then, [3])), choice.then.result(x_then)
    choice.results["then"] = [(1, first), (0, second)]
    choice.results["else"] = [(0, choice.other.result(choice.other.binary("Multiply", x_else, x_else, [2]))),
                              (1, choice.other.result(y_else))]
    made = choice.close()
    a, b = ramp(2), ramp(3, start=5)
    return Case(finish(graph, made[0], made[1]), {"cond": truth(choose), "x": a, "y": b},
                [a, b + b] if choose else [a * a, b])


def difference_model(choose: bool, **ports: object) -> Case:
    """Outputs x - y and y, or y - x and x: any confusion of ports changes the numbers."""
    graph = Graph()
    cond, x, y = condition(graph), graph.parameter([2], name="x"), graph.parameter([2], name="y")
    listed = ports.pop("listed", [])
    openvino = ports.pop("openvino", "both")
    choice = Branches(graph, cond, **ports)
    choice.listed = listed
    (x_then, x_else), (y_then, y_else) = choice.take(x), choice.take(y)
    choice.give(choice.then.binary("Subtract", x_then, y_then, [2]), choice.other.binary("Subtract", y_else, x_else, [2]))
    choice.give(y_then, x_else)
    made = choice.close()
    a, b = np.array([1, 5], FLOAT), np.array([10, 3], FLOAT)
    return Case(finish(graph, made[0], made[1]), {"cond": truth(choose), "x": a, "y": b},
                [a - b, b] if choose else [b - a, a], openvino)


# OpenVINO orders inputs by index and outputs by the rank of their ids, so it agrees if both match the ids.
case("outputs-far-ids", True)(lambda choose: difference_model(choose, output_ids=[20, 31]))
case("outputs-descending-ids", True)(lambda choose: difference_model(choose, output_ids=[9, 4], openvino="written"))
case("outputs-descending-ids-false", False)(
    lambda choose: difference_model(choose, output_ids=[9, 4], openvino="written"))
case("outputs-listed-backwards", True)(lambda choose: difference_model(choose, listed=[1, 0], openvino="written"))
case("outputs-listed-backwards-false", False)(
    lambda choose: difference_model(choose, listed=[1, 0], openvino="written"))
case("outputs-by-index", False)(lambda choose: difference_model(choose, by_index=True))
case("inputs-crossed-ids", True)(lambda choose: difference_model(choose, input_ids=[0, 2, 1], openvino="written"))
case("inputs-far-ids", False)(
    lambda choose: difference_model(choose, input_ids=[7, 30, 12], output_ids=[2, 1], openvino="written"))
case("shuffled-bodies", True)(
    lambda choose: difference_model(choose, numbering=([9, 4, 11, 2, 7], [3, 1, 0, 12, 5])))


@case("port-feeds-twice-true", True)
@case("port-feeds-twice-false", False)
def port_feeds_twice(choose: bool) -> Case:
    """One input port feeds two parameters of the then body and one of the else body (OpenVINO keeps the first entry)."""
    graph = Graph()
    cond, x, y = condition(graph), graph.parameter([3], name="x"), graph.parameter([3], name="y")
    choice = Branches(graph, cond)
    p, q = choice.port(x), choice.port(y)
    a, b, c = choice.feed("then", p), choice.feed("then", q), choice.feed("then", p)
    product = choice.then.binary("Multiply", a, b, [3])
    choice.give(choice.then.binary("Subtract", product, c, [3]), choice.feed("else", p))
    one, two = ramp(3), ramp(3, start=4)
    return Case(finish(graph, choice.close()[0]), {"cond": truth(choose), "x": one, "y": two},
                [one * two - one if choose else one], "written")


@case("outer-value-at-two-ports", True)
def outer_value_at_two_ports(choose: bool) -> Case:
    graph = Graph()
    cond, x = condition(graph), graph.parameter([2, 2], name="x")
    choice = Branches(graph, cond)
    a, b = choice.take(x, "then") + choice.take(x, "then")
    choice.give(choice.then.binary("Multiply", a, b, [2, 2]), *choice.take(x, "else"))
    data = ramp(2, 2)
    return Case(finish(graph, choice.close()[0]), {"cond": truth(choose), "x": data}, [data * data if choose else data])


@case("unused-body-parameter-true", True)
@case("unused-body-parameter-false", False)
def unused_body_parameter(choose: bool) -> Case:
    graph = Graph()
    cond, x, y = condition(graph), graph.parameter([2], name="x"), graph.parameter([5], name="y")
    choice = Branches(graph, cond)
    _, x_else = choice.take(x)
    y_then, _ = choice.take(y)
    total = choice.then.add("ReduceSum", "opset1", [y_then, choice.then.const([0], np.int64)], [("f32", [1])],
                            {"keep_dims": "true"})
    choice.give(total[0], choice.other.add("ReduceMax", "opset1", [x_else, choice.other.const([0], np.int64)],
                                           [("f32", [1])], {"keep_dims": "true"})[0])
    a, b = ramp(2), ramp(5)
    return Case(finish(graph, choice.close()[0]), {"cond": truth(choose), "x": a, "y": b},
                [np.array([b.sum() if choose else a.max()], FLOAT)])


@case("parameters-are-results-true", True)
@case("parameters-are-results-false", False)
def parameters_are_results(choose: bool) -> Case:
    """The then body swaps its parameters, the else body returns them unchanged."""
    graph = Graph()
    cond, x, y = condition(graph), graph.parameter([2], name="x"), graph.parameter([2], name="y")
    choice = Branches(graph, cond)
    (x_then, x_else), (y_then, y_else) = choice.take(x), choice.take(y)
    choice.give(y_then, x_else)
    choice.give(x_then, y_else)
    made = choice.close()
    a, b = ramp(2), ramp(2, start=6)
    return Case(finish(graph, made[0], made[1]), {"cond": truth(choose), "x": a, "y": b}, [b, a] if choose else [a, b])


def one_sided(type_: str, choose: bool) -> Case:
    """The then body computes, the else body returns its input; for each element type."""
    graph, dtype = Graph(), TYPES[type_]
    cond, x = condition(graph), graph.parameter([2, 3], type_, "x")
    choice = Branches(graph, cond)
    then, other = choice.take(x)
    if type_ == "boolean":
        work = choice.then.add("LogicalNot", "opset1", [then], [(type_, [2, 3])])[0]
    else:
        work = choice.then.binary("Add", then, then, [2, 3], type_)
    choice.give(work, other)
    data = ramp(2, 3, dtype=dtype)
    if type_ == "boolean":
        data = ramp(2, 3) % 2 == 0
        return Case(finish(graph, choice.close()[0]), {"cond": truth(choose), "x": data}, [~data if choose else data])
    return Case(finish(graph, choice.close()[0]), {"cond": truth(choose), "x": data},
                [(data + data).astype(dtype) if choose else data])


for element in TYPES:
    for chosen in (True, False):
        case(f"one-sided-{element}-{chosen}", element, chosen)(one_sided)


def other_shapes(choose: bool, then_shape: list[int], else_shape: list[int], union: list[int], openvino: str) -> Case:
    """Branches whose results differ in shape: the output has the shape of the selected branch."""
    graph = Graph()
    cond = condition(graph)
    x, y = graph.parameter(then_shape, name="x"), graph.parameter(else_shape, name="y")
    choice = Branches(graph, cond)
    then, = choice.take(x, "then")
    other, = choice.take(y, "else")
    choice.give(choice.then.add("ReLU", "opset1", [then], [kind(then)])[0], other, union)
    a, b = ramp(*then_shape) - FLOAT(3), ramp(*else_shape)
    return Case(finish(graph, choice.close()[0]), {"cond": truth(choose), "x": a, "y": b},
                [np.maximum(a, 0).astype(FLOAT) if choose else b], openvino)


for chosen in (True, False):
    case(f"extents-differ-{chosen}", chosen, [2, 3], [4, 3], [-1, 3], "both")(other_shapes)
    case(f"scalars-{chosen}", chosen, [], [], [], "both")(other_shapes)
    case(f"no-entries-or-some-{chosen}", chosen, [0, 2], [3, 2], [-1, 2], "both")(other_shapes)


@case("scalar-or-vector-of-one-true", True)
@case("scalar-or-vector-of-one-false", False)
def scalar_or_vector(choose: bool) -> Case:
    """A scalar of one branch becomes a vector of one if the other branch returns that."""
    made = other_shapes(choose, [], [1], [1], "both")
    made.expected = [made.expected[0].reshape(1)]
    return made


@case("output-without-consumer-true", True)
@case("output-without-consumer-false", False)
def output_without_consumer(choose: bool) -> Case:
    graph = Graph()
    cond, x = condition(graph), graph.parameter([3], name="x")
    choice = Branches(graph, cond)
    then, other = choice.take(x)
    choice.give(choice.then.binary("Multiply", then, then, [3]), other)
    choice.give(then, choice.other.binary("Add", other, other, [3]))
    choice.give(choice.then.binary("Subtract", then, then, [3]), choice.other.binary("Multiply", other, other, [3]))
    data = ramp(3)
    return Case(finish(graph, choice.close()[1]), {"cond": truth(choose), "x": data}, [data if choose else data + data])


@case("condition-is-data-true", True)
@case("condition-is-data-false", False)
def condition_is_data(choose: bool) -> Case:
    """Port 0 feeds a parameter like any other input."""
    graph = Graph()
    choice = Branches(graph, condition(graph, [1]))
    then, other = choice.feed("then", 0), choice.feed("else", 0)
    choice.give(choice.then.add("LogicalNot", "opset1", [then], [("boolean", [1])])[0], other)
    return Case(finish(graph, choice.close()[0]), {"cond": truth(choose, [1])}, [np.array([False])])


@case("open-extents-true", True, 3)
@case("open-extents-false", False, 5)
def open_extents(choose: bool, rows: int) -> Case:
    graph = Graph()
    cond, x = graph.parameter([-1], "boolean", "cond"), graph.parameter([-1, 2], name="x")
    choice = Branches(graph, cond)
    then, other = choice.take(x)
    shape = [-1, 2]
    choice.give(choice.then.binary("Add", then, choice.then.const(1), shape),
                choice.other.binary("Multiply", other, choice.other.const(2), shape))
    data = ramp(rows, 2)
    return Case(finish(graph, choice.close()[0]), {"cond": truth(choose, [1]), "x": data},
                [data + FLOAT(1) if choose else data * FLOAT(2)])


@case("computed-condition-true", 4.0)
@case("computed-condition-false", 40.0)
def computed_condition(bound: float) -> Case:
    """Two Ifs in sequence; the second one's condition is computed from the first one's output."""
    graph = Graph()
    cond, x = condition(graph), graph.parameter([2], name="x")
    first = Branches(graph, cond, "first")
    then, other = first.take(x)
    first.give(first.then.binary("Multiply", then, then, [2]), other)
    middle = first.close()[0]
    total = graph.add("ReduceSum", "opset1", [middle, graph.const([0], np.int64)], [("f32", [])], {"keep_dims": "false"})
    greater = graph.binary("Greater", total[0], graph.const(bound), [], "boolean")
    second = Branches(graph, greater, "second")
    then, other = second.take(middle)
    second.give(second.then.add("Negative", "opset1", [then], [("f32", [2])])[0], other)
    data = ramp(2, start=2)
    squares = data * data
    return Case(finish(graph, second.close()[0], middle), {"cond": truth(True), "x": data},
                [-squares if squares.sum() > bound else squares, squares])


def nested(*chosen: bool) -> Case:
    """Ifs within the then bodies: each adds a power of ten if its condition is true, the innermost 1000."""
    graph, x_data = Graph(), ramp(2)
    conds = [graph.parameter([], "boolean", f"cond{level}") for level in range(len(chosen))]
    x = graph.parameter([2], name="x")

    def build(inside: Graph, levels: list[Port], value: Port, depth: int) -> Port:
        if not levels:
            return inside.binary("Add", value, inside.const(1000), [2])
        choice = Branches(inside, levels[0], f"level{depth}")
        passed = [choice.take(cond, "then")[0] for cond in levels[1:]]
        then, other = choice.take(value)
        deeper = build(choice.then, passed, then, depth + 1)
        choice.give(choice.then.binary("Add", deeper, choice.then.const(10 ** depth), [2]), other)
        return choice.close()[0]

    expected = x_data.copy()
    taken = next((level for level, value in enumerate(chosen) if not value), len(chosen))
    for level in range(taken):
        expected = expected + FLOAT(10 ** level)
    expected = expected + FLOAT(1000 if taken == len(chosen) else 0)
    made = build(graph, conds, x, 0)
    inputs = {f"cond{level}": truth(value) for level, value in enumerate(chosen)}
    return Case(finish(graph, made), {**inputs, "x": x_data}, [expected])


case("nested-2", True, True)(nested)
case("nested-2-inner-false", True, False)(nested)
case("nested-3", True, True, True)(nested)
case("nested-3-inner-false", True, True, False)(nested)
case("nested-3-outer-false", False, True, True)(nested)


@case("if-in-else", False, True)
@case("if-in-else-false", False, False)
def if_in_else(choose: bool, inner: bool) -> Case:
    graph = Graph()
    cond, other_cond, x = condition(graph), graph.parameter([1], "boolean", "inner"), graph.parameter([3], name="x")
    choice = Branches(graph, cond, "outer")
    then, other = choice.take(x)
    passed, = choice.take(other_cond, "else")
    deeper = Branches(choice.other, passed, "inside")
    a, b = deeper.take(other)
    deeper.give(deeper.then.binary("Add", a, a, [3]), deeper.other.binary("Multiply", b, b, [3]))
    choice.give(then, deeper.close()[0])
    data = ramp(3, start=2)
    return Case(finish(graph, choice.close()[0]), {"cond": truth(choose), "inner": truth(inner, [1]), "x": data},
                [data if choose else data + data if inner else data * data])


@case("one-value-two-results-true", True)
@case("one-value-two-results-false", False)
def one_value_two_results(choose: bool) -> Case:
    """Both results of the then body read one value; every output has several readers outside."""
    graph = Graph()
    cond, x = condition(graph), graph.parameter([2], name="x")
    choice = Branches(graph, cond)
    then, other = choice.take(x)
    square = choice.then.binary("Multiply", then, then, [2])
    choice.give(square, other)
    choice.give(square, choice.other.binary("Add", other, other, [2]))
    made = choice.close()
    data = ramp(2, start=3)
    one, two = (data * data, data * data) if choose else (data, data + data)
    return Case(finish(graph, graph.binary("Multiply", made[0], made[0], [2]),
                       graph.binary("Subtract", made[0], made[1], [2]), made[1]),
                {"cond": truth(choose), "x": data}, [one * one, one - two, two])


@case("outputs-of-several-types-true", True)
@case("outputs-of-several-types-false", False)
def outputs_of_several_types(choose: bool) -> Case:
    graph = Graph()
    cond, x = condition(graph), graph.parameter([3], name="x")
    choice = Branches(graph, cond)
    then, other = choice.take(x)
    whole = [branch.add("Convert", "opset1", [value], [("i64", [3])], {"destination_type": "i64"})[0]
             for branch, value in ((choice.then, then), (choice.other, other))]
    choice.give(*whole)
    choice.give(choice.then.binary("Greater", then, choice.then.const(2), [3], "boolean"),
                choice.other.binary("Less", other, choice.other.const(2), [3], "boolean"))
    choice.give(then, choice.other.const(np.zeros(3)))
    made = choice.close()
    data = ramp(3)
    return Case(finish(graph, made[0], made[1], made[2]), {"cond": truth(choose), "x": data},
                [data.astype(np.int64), data > 2 if choose else data < 2, data if choose else np.zeros(3, FLOAT)])
