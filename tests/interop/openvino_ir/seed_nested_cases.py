"""If within TensorIterator, TensorIterator within If, several levels of both, and the complete layer of the documentation."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from ir_builder import Graph, Port
from seed_if_cases import condition, truth
from seed_iterator_cases import running_sum, sum_loop, way
from seed_models import FLOAT, Branches, Case, Loop, case, finish, joined, parts, ramp


@case("loop-in-then-true", True)
@case("loop-in-then-false", False)
def loop_in_then(choose: bool) -> Case:
    """The then body iterates, the else body processes the whole."""
    graph = Graph()
    cond, x = condition(graph), graph.parameter([2, 4], name="x")
    choice = Branches(graph, cond)
    then, other = choice.take(x)
    made = sum_loop(choice.then, then, [2, 1], [2, 4], way(1, 1), way(1, 1), name="inner")
    choice.give(made[0], choice.other.binary("Multiply", other, other, [2, 4]))
    choice.give(made[1], choice.other.const(np.full([2, 1], -1)))
    outputs = choice.close()
    data = ramp(2, 4)
    sums = running_sum(parts(data, 1), np.zeros([2, 1], FLOAT))
    expected = [joined(sums, 1), sums[-1]] if choose else [data * data, np.full([2, 1], -1, FLOAT)]
    return Case(finish(graph, outputs[0], outputs[1]), {"cond": truth(choose), "x": data}, expected)


@case("loop-in-both-forward", True)
@case("loop-in-both-backward", False)
def loop_in_both(choose: bool) -> Case:
    """The branches iterate in the two directions; parts of 2."""
    graph = Graph()
    cond, x = condition(graph, [1]), graph.parameter([6], name="x")
    choice = Branches(graph, cond)
    then, other = choice.take(x)
    choice.give(sum_loop(choice.then, then, [2], [6], way(0, 2), way(0, 2), name="forward")[0],
                sum_loop(choice.other, other, [2], [6], way(0, -2), way(0, -2), name="backward")[0])
    data, stride = ramp(6), 2 if choose else -2
    sums = running_sum(parts(data, 0, *((0, -1) if choose else (-1, 0)), stride), np.zeros(2, FLOAT))
    return Case(finish(graph, choice.close()[0]), {"cond": truth(choose, [1]), "x": data}, [joined(sums, 0, stride)])


def if_in_loop(stride: int, outside: bool) -> Case:
    """Each iteration decides again: by the part's own sum, or by a constant condition from outside."""
    graph = Graph()
    x, cond = graph.parameter([4, 2], name="x"), graph.parameter([], "boolean", "cond")
    loop = Loop(graph)
    piece, state, kept = loop.feed(x, **way(0, stride)), loop.feed(graph.const([[1, 1]])), loop.feed(cond)
    total = loop.body.add("ReduceSum", "opset1", [piece, loop.body.const([0, 1], np.int64)], [("f32", [])],
                          {"keep_dims": "false"})[0]
    greater = loop.body.binary("Greater", total, loop.body.const(8), [], "boolean")
    choice = Branches(loop.body, kept if outside else greater)
    (piece_then, piece_else), (state_then, state_else) = choice.take(piece), choice.take(state)
    choice.give(choice.then.binary("Add", state_then, piece_then, [1, 2]),
                choice.other.binary("Subtract", state_else, piece_else, [1, 2]))
    choice.give(state_then, piece_else)
    chosen = choice.close()
    result = loop.carry(chosen[0], state)
    loop.give(result, [1, 2])
    loop.give(loop.body.result(chosen[1]), [4, 2], **way(0, 1))
    made = loop.close()
    data, now, seen = ramp(4, 2), np.array([[1, 1]], FLOAT), []
    for chunk in parts(data, 0, *((0, -1) if stride > 0 else (-1, 0)), stride):
        add = outside or chunk.sum() > 8
        seen.append(now if add else chunk)
        now = now + chunk if add else now - chunk
    inputs = {"x": data, "cond": np.array(True)}
    return Case(finish(graph, made[0], made[1]), inputs, [now, joined(seen, 0)])


case("if-in-loop", 1, False)(if_in_loop)
case("if-in-loop-backward", -1, False)(if_in_loop)
case("if-in-loop-by-outer-condition", 1, True)(if_in_loop)


@case("if-by-counter")
def if_by_counter() -> Case:
    """A counter next to the state decides: the third iteration doubles instead of adding."""
    graph = Graph()
    loop = Loop(graph)
    piece, count = loop.feed(graph.parameter([5], name="x"), **way(0, 1)), loop.feed(graph.const([0], np.int64))
    state = loop.feed(graph.const([0.0]))
    loop.carry(loop.body.binary("Add", count, loop.body.const([1], np.int64), [1], "i64"), count)
    choice = Branches(loop.body, loop.body.binary("Equal", count, loop.body.const([2], np.int64), [1], "boolean"))
    state_then, state_else = choice.take(state)
    piece_else, = choice.take(piece, "else")
    choice.give(choice.then.binary("Add", state_then, state_then, [1]),
                choice.other.binary("Add", state_else, piece_else, [1]))
    result = loop.carry(choice.close()[0], state)
    loop.give(result, [5], **way(0, 1))
    data, now, seen = ramp(5), np.zeros(1, FLOAT), []
    for place, chunk in enumerate(parts(data, 0)):
        now = now * 2 if place == 2 else now + chunk
        seen.append(now)
    return Case(finish(graph, loop.close()[0]), {"x": data}, [joined(seen, 0)])


@case("loop-in-if-in-loop")
def loop_in_if_in_loop() -> Case:
    """Rows of x are summed up from left to right if they begin with a positive entry, and unchanged otherwise."""
    graph = Graph()
    loop = Loop(graph, "rows")
    row = loop.feed(graph.parameter([3, 4], name="x"), **way(0, 1))
    head = loop.body.add("ReduceMin", "opset1", [row, loop.body.const([0, 1], np.int64)], [("f32", [])],
                         {"keep_dims": "false"})[0]
    choice = Branches(loop.body, loop.body.binary("Greater", head, loop.body.const(0), [], "boolean"))
    then, other = choice.take(row)
    choice.give(sum_loop(choice.then, then, [1, 1], [1, 4], way(1, 1), way(1, 1), name="columns")[0], other)
    loop.give(loop.body.result(choice.close()[0]), [3, 4], **way(0, 1))
    data = np.array([[1, 2, 3, 4], [5, -6, 7, 8], [2, 2, 2, 2]], FLOAT)
    expected = np.array([np.cumsum(row) if row.min() > 0 else row for row in data], FLOAT)
    return Case(finish(graph, loop.close()[0]), {"x": data}, [expected])


@case("loop-in-loop", 1)
@case("loop-in-loop-backward", -1)
def loop_in_loop(stride: int) -> Case:
    """Prefix sums along both axes; OpenVINO has no TensorIterator within TensorIterator."""
    graph = Graph()
    loop = Loop(graph, "rows")
    row, state = loop.feed(graph.parameter([3, 4], name="x"), **way(0, 1)), loop.feed(graph.const(np.zeros([1, 4])))
    inner = sum_loop(loop.body, row, [1, 1], [1, 4], way(1, stride), way(1, stride), name="columns")
    result = loop.carry(loop.body.binary("Add", inner[0], state, [1, 4]), state)
    loop.give(result, [3, 4], **way(0, 1))
    data = ramp(3, 4)
    across = np.cumsum(data, 1) if stride > 0 else np.cumsum(data[:, ::-1], 1)[:, ::-1]
    return Case(finish(graph, loop.close()[0]), {"x": data}, [np.cumsum(across, 0).astype(FLOAT)], "none")


@case("if-between-loops-true", True)
@case("if-between-loops-false", False)
def if_between_loops(choose: bool) -> Case:
    """A loop, an If on its outputs, and a loop over the result of the If."""
    graph = Graph()
    x, cond = graph.parameter([1, 4], name="x"), condition(graph)
    first = sum_loop(graph, x, [1, 1], [1, 4], way(1, 1), way(1, 1), name="first")
    choice = Branches(graph, cond)
    sums, other = choice.take(first[0])
    choice.give(choice.then.binary("Multiply", sums, *choice.take(first[1], "then"), [1, 4]), other)
    second = sum_loop(graph, choice.close()[0], [1, 1], [1, 4], way(1, -1), way(1, 1), name="second")
    data = ramp(1, 4)
    middle = np.cumsum(data, 1)
    middle = middle * middle[:, -1:] if choose else middle
    states = running_sum(parts(middle, 1, -1, 0, -1), np.zeros([1, 1], FLOAT))
    return Case(finish(graph, second[0], second[1]), {"x": data, "cond": truth(choose)}, [joined(states, 1), states[-1]])


@case("branches-of-other-lengths-true", True)
@case("branches-of-other-lengths-false", False)
def branches_of_other_lengths(choose: bool) -> Case:
    """The If returns 2 or 5 entries: the next loop has as many iterations."""
    graph = Graph()
    cond, x = condition(graph), graph.parameter([2], name="x")
    choice = Branches(graph, cond)
    then, = choice.take(x, "then")
    choice.give(then, choice.other.const([5, 4, 3, 2, 1]), [-1])
    made = sum_loop(graph, choice.close()[0], [1], [-1], way(0, 1), way(0, 1))
    data = ramp(2)
    sums = np.cumsum(data if choose else np.array([5, 4, 3, 2, 1], FLOAT))
    return Case(finish(graph, made[0], made[1]), {"cond": truth(choose), "x": data}, [sums, sums[-1:]])


# The complete layer of TensorIterator's documentation: an LSTM over 25 steps with 512 inputs and 256 states.
STEPS, INPUTS, STATES = 25, 512, 256


def random_weights() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(11)
    return (random.standard_normal((4 * STATES, INPUTS + STATES)).astype(FLOAT) / 32,
            random.standard_normal(4 * STATES).astype(FLOAT) / 4)


def lstm(x: np.ndarray, h: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Computes the formula of LSTMCell, gates in the order forget, input, cell, output, step by step."""
    weights, bias = random_weights()
    states, wide, h, c = [], weights.astype(float), h.astype(float), c.astype(float)
    for step in parts(x, 1):
        gates = np.concatenate([step[:, 0], h], 1) @ wide.T + bias
        f, i, g, o = np.split(gates, 4, 1)
        f, i, o = (1 / (1 + np.exp(-gate)) for gate in (f, i, o))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        states.append(h[:, None])
    return joined(states, 1).astype(FLOAT)


def complete_layer(graph: Graph, merged_weights: bool) -> Port:
    """The layer in the documentation's numbers: ids of ports, of layers and of blobs.

    merged_weights: one matrix for inputs and states, as in the documentation; otherwise the two of opset1.
    """
    weights, bias = random_weights()
    x = graph.parameter([1, STEPS, INPUTS], name="x")
    h, c = graph.parameter([1, STATES], name="h"), graph.parameter([1, STATES], name="c")
    more = [] if merged_weights else [13]
    loop = Loop(graph, numbering=[0, 3, 4, 1, 2, 5, *more, 6, 7, 8, 9, 10, 11, 12])
    step, hidden, cell = loop.feed(x, axis=1, start=0), loop.feed(h), loop.feed(c)
    flat = loop.body.add("Reshape", "opset1", [step, loop.body.const([1, INPUTS], np.int64)], [("f32", [1, INPUTS])],
                         {"special_zero": "true"})[0]
    matrices = [weights] if merged_weights else [weights[:, :INPUTS], weights[:, INPUTS:]]
    cells = loop.body.add("LSTMCell", "opset1", [flat, hidden, cell, *(loop.body.const(matrix) for matrix in matrices),
                                                 loop.body.const(bias)],
                          [("f32", [1, STATES]), ("f32", [1, STATES])], {"hidden_size": STATES})
    loop.carry(cells[1], cell)
    loop.carry(cells[0], hidden)
    long = loop.body.add("Reshape", "opset1", [cells[0], loop.body.const([1, 1, STATES], np.int64)],
                         [("f32", [1, 1, STATES])], {"special_zero": "true"})[0]
    loop.give(loop.body.result(long), [1, STEPS, STATES], axis=1)
    return loop.close()[0]


def as_printed(text: str) -> str:
    """Returns the body's Parameters without data, and Consts with only the offset of their bytes."""
    before, body, after = re.split("(<body>.*</body>)", text, flags=re.DOTALL)
    body = re.sub(r'<data shape="[^"]*" element_type="f32"/>\n', "", body)
    body = re.sub(r'<data element_type="[^"]*" shape="[^"]*" offset', "<data offset", body)
    return before + body + after


@case("complete-layer", False, str)
@case("complete-layer-without-data", False, as_printed)
@case("complete-layer-as-printed", True, as_printed)
def complete_example(merged_weights: bool, edit: Callable[[str], str]) -> Case:
    """OpenVINO reads neither Parameters without data nor the single matrix of the documented cell."""
    random, graph = np.random.default_rng(12), Graph()
    made = complete_layer(graph, merged_weights)
    inputs = {"x": random.standard_normal((1, STEPS, INPUTS)).astype(FLOAT),
              "h": random.standard_normal((1, STATES)).astype(FLOAT),
              "c": random.standard_normal((1, STATES)).astype(FLOAT)}
    return Case(finish(graph, made), inputs, [lstm(**inputs)], "both" if edit is str else "written", edit)


def without_data(text: str) -> str:
    return re.sub(r'(type="Parameter"[^>]*>\n)<data [^>]*/>\n', r"\1", text)


@case("parameters-without-data-true", True)
@case("parameters-without-data-false", False)
def parameters_without_data(choose: bool) -> Case:
    """Parameters of the model and of bodies state their type and shape by their ports alone."""
    graph = Graph()
    cond, x = condition(graph), graph.parameter([2, 3], "i64", "x")
    choice = Branches(graph, cond)
    then, other = choice.take(x)
    loop = Loop(choice.then, "inner")
    piece, state = loop.feed(then, **way(1, -1)), loop.feed(choice.then.const(np.zeros([2, 1]), np.int64))
    loop.give(loop.carry(loop.body.binary("Add", piece, state, [2, 1], "i64"), state), [2, 3], **way(1, -1))
    choice.give(loop.close()[0], other)
    data = ramp(2, 3, dtype=np.int64)
    return Case(finish(graph, choice.close()[0]), {"cond": truth(choose), "x": data},
                [np.cumsum(data[:, ::-1], 1)[:, ::-1] if choose else data], "written", without_data)
