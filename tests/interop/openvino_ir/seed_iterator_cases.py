"""TensorIterator-1 by its documentation: models written by hand, with the iterations as a loop in NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ir_builder import Graph, Layer, Port
from seed_models import FLOAT, Case, Loop, case, disputed, finish, joined, parts, ramp

WHOLE = {True: {"start": 0, "end": -1}, False: {"start": -1, "end": 0}}  # the borders of a forward and a backward pass


def way(axis: int, stride: int) -> dict[str, int]:
    return {"axis": axis, **WHOLE[stride > 0], "stride": stride, "part_size": abs(stride)}


def running_sum(chunks: list[np.ndarray], first: np.ndarray) -> list[np.ndarray]:
    sums, state = [], first
    for chunk in chunks:
        state = (state + chunk).astype(chunk.dtype)
        sums.append(state)
    return sums


def sum_loop(graph: Graph, x: Port, part: list[int], total: list[int], take: dict[str, int], put: dict[str, int],
             type_: str = "f32", name: str = "loop") -> Layer:
    """state += part; outputs: the states and the last one."""
    loop = Loop(graph, name)
    piece = loop.feed(x, part, **take)
    state = loop.feed(graph.const(np.zeros(part), {"f32": FLOAT, "f16": np.float16, "i32": np.int32, "i64": np.int64}[type_]))
    result = loop.carry(loop.body.binary("Add", piece, state, part, type_), state)
    loop.give(result, total, **put)
    loop.give(result, part)
    return loop.close()


def grid(axis: int, take: int, put: int) -> Case:
    """Rank 4, sliced along each axis into parts of each size, in every pair of directions."""
    graph, shape = Graph(), [2, 3, 2, 2]
    shape[axis] = 4
    part = list(shape)
    part[axis] = abs(take)
    made = sum_loop(graph, graph.parameter(shape, name="x"), part, shape, way(axis, take), way(axis, put))
    data = ramp(*shape)
    sums = running_sum(parts(data, axis, *WHOLE[take > 0].values(), take), np.zeros(part, FLOAT))
    return Case(finish(graph, made[0], made[1]), {"x": data}, [joined(sums, axis, put), sums[-1]])


for place in range(4):
    for size in (1, 2, 4):
        for taken, given in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            case(f"grid-axis{place}-{size * taken}-{size * given}", place, size * taken, size * given)(grid)


def typed(type_: str, dtype: type, stride: int) -> Case:
    graph = Graph()
    made = sum_loop(graph, graph.parameter([1, 5], type_, "x"), [1, 1], [1, 5], way(1, stride), way(1, stride), type_)
    data = ramp(1, 5, dtype=dtype)
    sums = running_sum(parts(data, 1, *WHOLE[stride > 0].values(), stride), np.zeros([1, 1], dtype))
    return Case(finish(graph, made[0], made[1]), {"x": data}, [joined(sums, 1, stride), sums[-1]])


for element, numpy_type in (("f16", np.float16), ("i32", np.int32), ("i64", np.int64)):
    case(f"sum-{element}", element, numpy_type, 1)(typed)
    case(f"sum-{element}-backward", element, numpy_type, -1)(typed)


def borders(length: int, start: int, end: int, stride: int) -> Case:
    """A loop over a part of the axis, where the core, the plug-in and the converter of OpenVINO disagree on the rules."""
    graph, size = Graph(), abs(stride)
    data = ramp(1, length)
    chunks = parts(data, 1, start, end, stride)
    put = way(1, size)
    take = {"axis": 1, "start": start, "end": end, "stride": stride, "part_size": size}
    made = sum_loop(graph, graph.parameter([1, length], name="x"), [1, size], [1, len(chunks) * size], take, put)
    sums = running_sum(chunks, np.zeros([1, size], FLOAT))
    return Case(finish(graph, made[0], made[1]), {"x": data}, [joined(sums, 1), sums[-1]], "written")


case("borders-1-last", 6, 1, -1, 1)(borders)
case("borders-0-before-last", 6, 0, -2, 1)(borders)
case("borders-2-before-last-part-2", 8, 2, -3, 2)(borders)
case("borders-backward-from-before-last", 6, -2, 0, -1)(borders)
case("borders-backward-to-2", 6, -1, 2, -1)(borders)
case("borders-backward-part-3", 8, -1, 2, -3)(borders)
case("borders-backward-from-5", 6, 5, 1, -2)(borders)
case("borders-0-38-part-2", 40, 0, 38, 2)(borders)
disputed("borders-0-6", 6, 0, 6, 1)(borders)
disputed("borders-0-5", 6, 0, 5, 1)(borders)
disputed("borders-forward-negative-start", 6, -3, -1, 1)(borders)
disputed("borders-backward-5-0", 6, 5, 0, -1)(borders)
disputed("borders-backward-negative-both", 6, -1, -6, -1)(borders)


def attributes_left_out(**given: int) -> Case:
    """Omitted partition attributes have their defaults: start 0, end -1, stride 1, parts of 1."""
    graph = Graph()
    made = sum_loop(graph, graph.parameter([1, 4], name="x"), [1, 1], [1, 4], {"axis": 1, **given}, {"axis": 1})
    data = ramp(1, 4)
    sums = running_sum(parts(data, 1), np.zeros([1, 1], FLOAT))
    return Case(finish(graph, made[0], made[1]), {"x": data}, [joined(sums, 1), sums[-1]])


case("axis-alone")(attributes_left_out)
case("axis-and-start")(lambda: attributes_left_out(start=0))
case("axis-and-end")(lambda: attributes_left_out(end=-1))
case("axis-and-stride")(lambda: attributes_left_out(stride=1))


@case("example-backward")
def example_backward() -> Case:
    """The first example of the documentation: a backward slice without a part size, a merged and an invariant input."""
    graph = Graph()
    x, h, m = graph.parameter([2, 3, 2], name="x"), graph.parameter([2, 1, 2], name="h"), graph.parameter([1], name="m")
    loop, backward = Loop(graph), {"axis": 1, "start": -1, "end": 0, "stride": -1}
    piece, state, scale = loop.feed(x, **backward), loop.feed(h), loop.feed(m)
    scaled = loop.body.binary("Multiply", state, scale, [2, 1, 2])
    result = loop.carry(loop.body.binary("Add", scaled, piece, [2, 1, 2]), state)
    loop.give(result, [2, 3, 2], **backward)
    data, first, factor = ramp(2, 3, 2), ramp(2, 1, 2, start=5), np.array([0.5], FLOAT)
    states, now = [], first
    for chunk in parts(data, 1, -1, 0, -1):
        now = now * factor + chunk
        states.append(now)
    return Case(finish(graph, loop.close()[0]), {"x": data, "h": first, "m": factor}, [joined(states, 1, -1)])


@case("two-slices-of-other-axes", -1)
@case("two-slices-forward", 1)
def two_slices(stride: int) -> Case:
    """x is sliced along its last axis into parts of 2, y along its first one into single rows, in another direction."""
    graph = Graph()
    x, y = graph.parameter([3, 6], name="x"), graph.parameter([3, 2], name="y")
    loop = Loop(graph)
    a, b = loop.feed(x, **way(1, 2)), loop.feed(y, **way(0, stride))
    product = loop.body.result(loop.body.binary("Multiply", a, b, [3, 2]))
    loop.give(product, [9, 2], **way(0, 3))
    first, second = ramp(3, 6), ramp(3, 2, start=3)
    products = [p * q for p, q in zip(parts(first, 1, stride=2), parts(second, 0, *WHOLE[stride > 0].values(), stride))]
    return Case(finish(graph, loop.close()[0]), {"x": first, "y": second}, [joined(products, 0)])


@case("counter-alone")
def counter_alone() -> Case:
    """Nothing is sliced: the borders of the concatenation determine the trip count."""
    graph = Graph()
    loop = Loop(graph)
    count = loop.feed(graph.parameter([1], "i64", "first"))
    following = loop.carry(loop.body.binary("Add", count, loop.body.const([1], np.int64), [1], "i64"), count)
    loop.give(following, [5], axis=0, start=0, end=5, stride=1, part_size=1)
    loop.give(following, [1])
    made = loop.close()
    return Case(finish(graph, made[0], made[1]), {"first": np.array([10])},
                [np.arange(11, 16), np.array([15])])


@case("once")
def once() -> Case:
    """Nothing is sliced or concatenated: one iteration."""
    graph = Graph()
    loop = Loop(graph)
    state = loop.feed(graph.parameter([2, 2], name="x"))
    loop.give(loop.carry(loop.body.binary("Multiply", state, state, [2, 2]), state), [2, 2])
    data = ramp(2, 2)
    return Case(finish(graph, loop.close()[0]), {"x": data}, [data * data])


def rotation(length: int, order: list[int], openvino: str) -> Case:
    """Merged parameters that are also results: state k becomes state order[k], all at once.

    OpenVINO lets the states share memory, so that one overwrites the other before that is read; one result for two
    states ends its process.
    """
    graph = Graph()
    x = graph.parameter([length, 1], name="x")
    starts = [graph.parameter([1, 1], name=f"s{place}") for place in range(len(order))]
    loop = Loop(graph)
    piece = loop.feed(x, **way(0, 1))
    states = [loop.feed(start) for start in starts]
    results = [loop.carry(states[source], state) for source, state in zip(order, states)]
    total = piece
    for place, state in enumerate(states):
        scaled = loop.body.binary("Multiply", state, loop.body.const(10.0 ** place), [1, 1])
        total = loop.body.binary("Add", total, scaled, [1, 1])
    loop.give(loop.body.result(total), [length, 1], **way(0, 1))
    for result in results:
        loop.give(result, [1, 1])
    made = loop.close()
    data, values, totals = ramp(length, 1), [np.array([[value]], FLOAT) for value in range(1, len(order) + 1)], []
    inputs = {"x": data, **{f"s{place}": value for place, value in enumerate(values)}}
    for chunk in parts(data, 0):
        totals.append(chunk + sum(value * FLOAT(10 ** place) for place, value in enumerate(values)))
        values = [values[source] for source in order]
    return Case(finish(graph, *(made[place] for place in range(len(order) + 1))), inputs, [joined(totals, 0), *values],
                openvino)


case("swap-3", 3, [1, 0], "none")(rotation)
case("swap-4", 4, [1, 0], "none")(rotation)
case("rotation-of-three", 4, [1, 2, 0], "none")(rotation)
case("two-states-from-one", 3, [1, 1], "none")(rotation)
case("states-that-stay", 3, [0, 1], "both")(rotation)


@case("part-is-result")
def part_is_result() -> Case:
    """A sliced parameter that is also a result: the parts in another order, and the last one."""
    graph = Graph()
    loop = Loop(graph)
    result = loop.body.result(loop.feed(graph.parameter([2, 6], name="x"), **way(1, -2)))
    loop.give(result, [2, 6], **way(1, 2))
    loop.give(result, [2, 2])
    data = ramp(2, 6)
    chunks = parts(data, 1, -1, 0, -2)
    made = loop.close()
    return Case(finish(graph, made[0], made[1]), {"x": data}, [joined(chunks, 1), chunks[-1]])


@case("invariant-is-result")
def invariant_is_result() -> Case:
    """OpenVINO's process crashes."""
    graph = Graph()
    x, m = graph.parameter([3], name="x"), graph.parameter([2], name="m")
    loop = Loop(graph)
    loop.feed(x, **way(0, 1))
    result = loop.body.result(loop.feed(m))
    loop.give(result, [6], **way(0, 2))
    loop.give(result, [2])
    made = loop.close()
    value = ramp(2)
    return Case(finish(graph, made[0], made[1]), {"x": ramp(3), "m": value}, [np.tile(value, 3), value], "none")


@case("scalar-state", 1)
@case("scalar-state-backward", -1)
def scalar_state(stride: int) -> Case:
    """Scalars of the body are concatenated along axis 0; OpenVINO uses the reshaped part's memory for the state."""
    graph = Graph()
    loop = Loop(graph)
    piece = loop.feed(graph.parameter([4], name="x"), **way(0, 1))
    state = loop.feed(graph.parameter([], name="s"))
    value = loop.body.add("Reshape", "opset1", [piece, loop.body.const(np.zeros(0), np.int64)], [("f32", [])],
                          {"special_zero": "false"})[0]
    result = loop.carry(loop.body.binary("Add", value, state, []), state)
    loop.give(result, [4], **way(0, stride))
    loop.give(result, [])
    made = loop.close()
    data, first = ramp(4), np.array(0.5, FLOAT)
    sums = [np.array(first + data[:count + 1].sum(), FLOAT) for count in range(4)]
    return Case(finish(graph, made[0], made[1]), {"x": data, "s": first}, [joined(sums, 0, stride), sums[-1]],
                "none")


@case("boolean-state")
def boolean_state() -> Case:
    graph = Graph()
    loop = Loop(graph)
    piece = loop.feed(graph.parameter([2, 4], "boolean", "x"), **way(1, 1))
    state = loop.feed(graph.parameter([2, 1], "boolean", "s"))
    result = loop.carry(loop.body.add("LogicalXor", "opset1", [piece, state], [("boolean", [2, 1])],
                                      {"auto_broadcast": "numpy"})[0], state)
    loop.give(result, [2, 4], **way(1, -1))
    loop.give(result, [2, 1])
    made = loop.close()
    data, now, seen = ramp(2, 4) % 3 == 0, np.array([[True], [False]]), []
    first = now
    for chunk in parts(data, 1):
        now = now ^ chunk
        seen.append(now)
    return Case(finish(graph, made[0], made[1]), {"x": data, "s": first}, [joined(seen, 1, -1), now])


def loop_with_ids(openvino: str, listed: list[int], **ports: object) -> Case:
    """x sliced, two asymmetric states, four outputs; only the ids or the order of the ports differ between cases."""
    graph = Graph()
    x, h, m = graph.parameter([1, 3], name="x"), graph.parameter([1, 1], name="h"), graph.parameter([1, 1], name="m")
    loop = Loop(graph, **ports)
    loop.listed = listed
    piece, state, scale = loop.feed(x, **way(1, 1)), loop.feed(h), loop.feed(m)
    product = loop.body.binary("Multiply", state, scale, [1, 1])
    result = loop.carry(loop.body.binary("Add", product, piece, [1, 1]), state)
    other = loop.body.result(loop.body.binary("Subtract", piece, product, [1, 1]))
    loop.give(result, [1, 3], **way(1, 1))
    loop.give(result, [1, 1])
    loop.give(other, [1, 3], **way(1, -1))
    loop.give(other, [1, 1])
    made = loop.close()
    data, now, scale_by = ramp(1, 3), np.array([[4]], FLOAT), np.array([[2]], FLOAT)
    inputs, states, others = {"x": data, "h": now, "m": scale_by}, [], []
    for chunk in parts(data, 1):
        states.append(now * scale_by + chunk)
        others.append(chunk - now * scale_by)
        now = states[-1]
    return Case(finish(graph, *(made[place] for place in range(4))), inputs,
                [joined(states, 1), now, joined(others, 1, -1), others[-1]], openvino)


PORTS: dict[str, Callable[[], Case]] = {
    "ids-plain": lambda: loop_with_ids("both", []),
    "ids-outputs-by-index": lambda: loop_with_ids("both", [], by_index=True),
    "ids-outputs-far": lambda: loop_with_ids("both", [], output_ids=[5, 9, 20, 31]),
    "ids-outputs-crossed": lambda: loop_with_ids("written", [], output_ids=[9, 3, 20, 7]),
    "ids-outputs-listed-backwards": lambda: loop_with_ids("written", [3, 2, 1, 0]),
    "ids-outputs-listed-crossed": lambda: loop_with_ids("both", [2, 0, 3, 1], output_ids=[12, 14, 11, 13]),
    "ids-inputs-crossed": lambda: loop_with_ids("written", [], input_ids=[1, 2, 0]),
    "ids-inputs-far": lambda: loop_with_ids("written", [], input_ids=[30, 10, 20], output_ids=[40, 41, 42, 43]),
    "ids-inputs-behind-outputs": lambda: loop_with_ids("written", [], input_ids=[4, 5, 6], output_ids=[0, 1, 2, 3]),
    "body-shuffled": lambda: loop_with_ids("both", [], numbering=[8, 3, 5, 90, 1, 0, 7, 2]),
}
for label, maker in PORTS.items():
    case(label)(maker)


@case("outer-value-at-three-ports")
def outer_value_at_three_ports() -> Case:
    """One tensor, sliced forward, sliced backward and whole."""
    graph = Graph()
    x = graph.parameter([1, 4], name="x")
    loop = Loop(graph)
    front, rear, whole = loop.feed(x, **way(1, 1)), loop.feed(x, **way(1, -1)), loop.feed(x)
    product = loop.body.binary("Multiply", front, rear, [1, 1])
    result = loop.body.result(loop.body.binary("Add", product, whole, [1, 4]))
    loop.give(result, [4, 4], **way(0, 1))
    data = ramp(1, 4, start=2)
    rows = [p * q + data for p, q in zip(parts(data, 1), parts(data, 1, -1, 0, -1))]
    return Case(finish(graph, loop.close()[0]), {"x": data}, [joined(rows, 0)])


@case("unused-parts-and-states")
def unused_parts_and_states() -> Case:
    """A sliced, a merged and an invariant parameter without readers, and outputs without readers."""
    graph = Graph()
    x, y = graph.parameter([3, 2], name="x"), graph.parameter([3], name="y")
    loop = Loop(graph)
    piece, _ = loop.feed(x, **way(0, 1)), loop.feed(y, **way(0, -1))
    state, idle = loop.feed(graph.const(np.zeros([1, 2]))), loop.feed(graph.const([7.0]))
    loop.feed(y)
    result = loop.carry(loop.body.binary("Add", piece, state, [1, 2]), state)
    loop.carry(loop.body.const([1.0]), idle)
    loop.give(loop.body.result(loop.body.binary("Multiply", piece, piece, [1, 2])), [3, 2], **way(0, 1))
    loop.give(result, [1, 2])
    loop.give(result, [3, 2], **way(0, 1))
    data = ramp(3, 2)
    return Case(finish(graph, loop.close()[1]), {"x": data, "y": ramp(3)}, [data.sum(0, keepdims=True)])


@case("open-length-1", 1)
@case("open-length-7", 7)
def open_length(length: int) -> Case:
    graph = Graph()
    made = sum_loop(graph, graph.parameter([2, -1], name="x"), [2, 1], [2, -1], way(1, 1), way(1, -1))
    data = ramp(2, length)
    sums = running_sum(parts(data, 1), np.zeros([2, 1], FLOAT))
    return Case(finish(graph, made[0], made[1]), {"x": data}, [joined(sums, 1, -1), sums[-1]])


@case("open-batch", 3)
def open_batch(rows: int) -> Case:
    """An open extent next to the sliced axis; the state comes from outside with the same open extent."""
    graph = Graph()
    x, h = graph.parameter([-1, 4], name="x"), graph.parameter([-1, 2], name="h")
    loop = Loop(graph)
    piece, state = loop.feed(x, **way(1, 2)), loop.feed(h)
    result = loop.carry(loop.body.binary("Maximum", piece, state, [-1, 2]), state)
    loop.give(result, [-1, 4], **way(1, 2))
    data, now, seen = ramp(rows, 4), ramp(rows, 2, start=4), []
    first = now
    for chunk in parts(data, 1, stride=2):
        now = np.maximum(chunk, now)
        seen.append(now)
    return Case(finish(graph, loop.close()[0]), {"x": data, "h": first}, [joined(seen, 1)])


@case("growing-state")
def growing_state() -> Case:
    """A state that is one entry longer after each iteration."""
    graph = Graph()
    loop = Loop(graph)
    piece, state = loop.feed(graph.parameter([3], name="x"), **way(0, 1)), loop.feed(graph.parameter([-1], name="h"), [-1])
    longer = loop.body.add("Concat", "opset1", [state, piece], [("f32", [-1])], {"axis": 0})[0]
    loop.give(loop.carry(longer, state), [-1])
    data, first = ramp(3), ramp(2, start=7)
    return Case(finish(graph, loop.close()[0]), {"x": data, "h": first}, [np.concatenate([first, data])])


def chained(count: int) -> Case:
    """Loops in sequence: each one's concatenation is sliced by the next, in the other direction, and its last value
    added."""
    graph, shape = Graph(), [2, 4]
    value, data = graph.parameter(shape, name="x"), ramp(2, 4)
    expected, lasts = data, []
    for place in range(count):
        stride = -1 if place % 2 else 1
        made = sum_loop(graph, value, [2, 1], shape, way(1, stride), way(1, 1), name=f"loop{place}")
        sums = running_sum(parts(expected, 1, *WHOLE[stride > 0].values(), stride), np.zeros([2, 1], FLOAT))
        value, expected = graph.binary("Subtract", made[0], made[1], shape), joined(sums, 1) - sums[-1]
        lasts.append((made[1], sums[-1]))
    return Case(finish(graph, value, *(port for port, _ in lasts)), {"x": data}, [expected, *(last for _, last in lasts)])


case("chain-of-2", 2)(chained)
case("chain-of-3", 3)(chained)


@case("constant-slices")
def constant_slices() -> Case:
    """The sliced value is a constant; the state is the model's only input, and a constant of the body scales it."""
    graph, table = Graph(), ramp(4, 3, start=2)
    loop = Loop(graph)
    row, state = loop.feed(graph.const(table), **way(0, -1)), loop.feed(graph.parameter([1, 3], name="h"))
    scaled = loop.body.binary("Multiply", state, loop.body.const(0.5), [1, 3])
    result = loop.carry(loop.body.binary("Add", row, scaled, [1, 3]), state)
    loop.give(result, [4, 3], **way(0, -1))
    now, seen = np.array([[8, 4, 2]], FLOAT), []
    first = now
    for chunk in parts(table, 0, -1, 0, -1):
        now = chunk + now * FLOAT(0.5)
        seen.append(now)
    return Case(finish(graph, loop.close()[0]), {"h": first}, [joined(seen, 0, -1)])


@case("concatenation-longer-than-parts")
def longer_results() -> Case:
    """Parts of 1 yield results of 3 entries along the axis of the concatenation."""
    graph = Graph()
    loop = Loop(graph)
    piece = loop.feed(graph.parameter([2, 1], name="x"), **way(0, 1))
    tripled = loop.body.add("Concat", "opset1", [piece, piece, loop.body.const([[0.5]])], [("f32", [1, 3])], {"axis": 1})[0]
    loop.give(loop.body.result(tripled), [1, 6], **way(1, -3))
    data = ramp(2, 1)
    rows = [np.concatenate([chunk, chunk, np.array([[0.5]], FLOAT)], 1) for chunk in parts(data, 0)]
    return Case(finish(graph, loop.close()[0]), {"x": data}, [joined(rows, 1, -3)])
