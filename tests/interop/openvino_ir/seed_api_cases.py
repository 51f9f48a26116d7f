"""If-8 and TensorIterator-1 as OpenVINO's API makes and saves them."""

from __future__ import annotations

import numpy as np
import openvino as ov
from openvino import opset8 as ops

from seed_models import FLOAT, Case, case, joined, parts, ramp


def named(shape: list[int], type_: type = FLOAT, name: str = "x") -> ov.op.Parameter:
    parameter = ops.parameter(shape, type_, name=name)
    parameter.output(0).set_names({name})
    return parameter


def model(results: list[ov.Output], parameters: list[ov.op.Parameter]) -> ov.Model:
    return ov.Model([ops.result(value) for value in results], parameters, "net")


def make_if(cond: object, values: list[object], then: object, other: object) -> object:
    """Makes an If whose bodies are functions from parameters to lists of values; both read every value."""
    choice, bodies = ops.if_op(cond.output(0)), []
    for body in (then, other):
        own = [ops.parameter(value.output(0).get_partial_shape(), value.output(0).get_element_type()) for value in values]
        bodies.append((own, [ops.result(value) for value in body(*own)]))
    choice.set_then_body(ov.Model(bodies[0][1], bodies[0][0], "then"))
    choice.set_else_body(ov.Model(bodies[1][1], bodies[1][0], "else"))
    for value, first, second in zip(values, bodies[0][0], bodies[1][0]):
        choice.set_input(value.output(0), first, second)
    for first, second in zip(bodies[0][1], bodies[1][1]):
        choice.set_output(first, second)
    return choice


@case("api-if-true", True, [])
@case("api-if-false", False, [])
@case("api-if-vector-condition-true", True, [1])
@case("api-if-vector-condition-false", False, [1])
def api_if(choose: bool, shape: list[int]) -> Case:
    """Two outputs with different shapes and types."""
    cond, x, y = named(shape, bool, "cond"), named([2, 2]), named([3], np.int32, "y")
    made = make_if(cond, [x, y], lambda a, b: [ops.multiply(a, a), b], lambda a, b: [ops.negative(a), ops.add(b, b)])
    data, whole = ramp(2, 2), ramp(3, dtype=np.int32)
    return Case(model([made.output(0), made.output(1)], [cond, x, y]),
                {"cond": np.full(shape, choose), "x": data, "y": whole},
                [data * data, whole] if choose else [-data, whole + whole])


@case("api-if-in-if-tt", True, True)
@case("api-if-in-if-tf", True, False)
@case("api-if-in-if-ft", False, True)
def api_nested(outer: bool, inner: bool) -> Case:
    cond, second, x = named([], bool, "cond"), named([1], bool, "second"), named([4])
    made = make_if(cond, [second, x],
                   lambda c, a: [make_if(c, [a], lambda v: [ops.exp(v)], lambda v: [ops.abs(v)]).output(0)],
                   lambda c, a: [ops.relu(a)])
    data = np.array([-2, -1, 0.5, 1], FLOAT)
    expected = np.exp(data) if outer and inner else np.abs(data) if outer else np.maximum(data, 0)
    return Case(model([made.output(0)], [cond, second, x]),
                {"cond": np.array(outer), "second": np.array([inner]), "x": data}, [expected.astype(FLOAT)])


@case("api-if-open-true", True, 4)
@case("api-if-open-false", False, 2)
def api_open(choose: bool, rows: int) -> Case:
    cond, x = named([], bool, "cond"), named([-1, 2])
    made = make_if(cond, [x], lambda a: [ops.concat([a, a], 0)],
                   lambda a: [ops.reduce_sum(a, ops.constant(np.array([0])), keep_dims=True)])
    data = ramp(rows, 2)
    return Case(model([made.output(0)], [cond, x]), {"cond": np.array(choose), "x": data},
                [np.concatenate([data, data]) if choose else data.sum(0, keepdims=True)])


def scan(stride: int, back: int, size: int) -> Case:
    """h = part * m + h, its concatenation and its last value, in the order of the API's calls."""
    x, h, m = named([2, 6]), named([2, size], name="h"), named([1], name="m")
    piece, state, scale = ops.parameter([2, size]), ops.parameter([2, size]), ops.parameter([1])
    after = ops.add(ops.multiply(piece, scale), state)
    loop = ops.tensor_iterator()
    loop.set_body(ov.Model([ops.result(after)], [piece, state, scale], "body"))
    begin, end = (0, -1) if stride > 0 else (-1, 0)
    loop.set_invariant_input(scale, m.output(0))
    loop.set_sliced_input(piece, x.output(0), begin, stride, size, end, 1)
    loop.set_merged_input(state, h.output(0), after.output(0))
    last = loop.get_iter_value(after.output(0), -1)
    begin, end = (0, -1) if back > 0 else (-1, 0)
    whole = loop.get_concatenated_slices(after.output(0), begin, back, size, end, 1)
    data, now, seen = ramp(2, 6), ramp(2, size, start=3), []
    inputs = {"x": data, "h": now, "m": np.array([2], FLOAT)}
    for chunk in parts(data, 1, *((0, -1) if stride > 0 else (-1, 0)), stride):
        now = chunk * inputs["m"] + now
        seen.append(now)
    return Case(model([whole, last], [m, x, h]), inputs, [joined(seen, 1, back), now])


for label, taken, given in (("forward", 1, 1), ("backward", -1, -1), ("crossed", -1, 1), ("parts-of-2", 2, -2),
                            ("parts-of-3", -3, -3), ("one-part", 6, 6)):
    case(f"api-scan-{label}", taken, given, abs(taken))(scan)


@case("api-scan-relu-chain")
def api_chain() -> Case:
    """Two loops in sequence over the same axis; the second runs backwards."""
    x = named([1, 5, 2])

    def loop_over(value: ov.Output, stride: int) -> ov.Output:
        piece, state = ops.parameter([1, 1, 2]), ops.parameter([1, 1, 2])
        after = ops.maximum(ops.subtract(piece, state), ops.constant(FLOAT(0)))
        loop = ops.tensor_iterator()
        loop.set_body(ov.Model([ops.result(after)], [piece, state], "body"))
        begin, end = (0, -1) if stride > 0 else (-1, 0)
        loop.set_sliced_input(piece, value, begin, stride, 1, end, 1)
        loop.set_merged_input(state, ops.constant(np.zeros([1, 1, 2], FLOAT)).output(0), after.output(0))
        return loop.get_concatenated_slices(after.output(0), begin, stride, 1, end, 1)

    data = ramp(1, 5, 2)
    expected = data
    for stride in (1, -1):
        now, seen = np.zeros([1, 1, 2], FLOAT), []
        for chunk in parts(expected, 1, *((0, -1) if stride > 0 else (-1, 0)), stride):
            now = np.maximum(chunk - now, 0)
            seen.append(now)
        expected = joined(seen, 1, stride)
    return Case(model([loop_over(loop_over(x.output(0), 1), -1)], [x]), {"x": data}, [expected])


@case("api-loop-in-if-true", True)
@case("api-loop-in-if-false", False)
def api_loop_in_if(choose: bool) -> Case:
    cond, x = named([], bool, "cond"), named([4, 2])

    def running(value: object) -> list[ov.Output]:
        piece, state = ops.parameter([1, 2]), ops.parameter([1, 2])
        after = ops.add(piece, state)
        loop = ops.tensor_iterator()
        loop.set_body(ov.Model([ops.result(after)], [piece, state], "body"))
        loop.set_sliced_input(piece, value.output(0), 0, 1, 1, -1, 0)
        loop.set_merged_input(state, ops.constant(np.zeros([1, 2], FLOAT)).output(0), after.output(0))
        return [loop.get_concatenated_slices(after.output(0), 0, 1, 1, -1, 0)]

    made = make_if(cond, [x], running, lambda a: [ops.negative(a)])
    data = ramp(4, 2)
    return Case(model([made.output(0)], [cond, x]), {"cond": np.array(choose), "x": data},
                [np.cumsum(data, 0) if choose else -data])


@case("api-if-in-loop")
def api_if_in_loop() -> Case:
    """Parts with an odd sum are added, the others subtracted; integers."""
    x = named([6], np.int64)
    piece, state = ops.parameter([1], np.int64), ops.parameter([1], np.int64)
    odd = ops.equal(ops.mod(piece, ops.constant(np.array([2]))), ops.constant(np.array([1])))
    chosen = make_if(odd, [state, piece], lambda s, p: [ops.add(s, p)], lambda s, p: [ops.subtract(s, p)])
    loop = ops.tensor_iterator()
    loop.set_body(ov.Model([ops.result(chosen.output(0))], [piece, state], "body"))
    loop.set_sliced_input(piece, x.output(0), 0, 1, 1, -1, 0)
    loop.set_merged_input(state, ops.constant(np.array([100])).output(0), chosen.output(0))
    whole = loop.get_concatenated_slices(chosen.output(0), 0, 1, 1, -1, 0)
    data = np.array([3, 4, 8, 5, 7, 2])
    return Case(model([whole], [x]), {"x": data}, [100 + np.cumsum(np.where(data % 2 == 1, data, -data))])


@case("api-swap")
def api_swap() -> Case:
    """Results that are also parameters, swapped (see `rotation` on OpenVINO)."""
    x, a, b = named([3, 1]), named([1, 2], name="a"), named([1, 2], name="b")
    piece, first, second = ops.parameter([1, 1]), ops.parameter([1, 2]), ops.parameter([1, 2])
    mixed = ops.add(ops.multiply(first, piece), second)
    body = ov.Model([ops.result(mixed), ops.result(second), ops.result(first)], [piece, first, second], "body")
    loop = ops.tensor_iterator()
    loop.set_body(body)
    loop.set_sliced_input(piece, x.output(0), 0, 1, 1, -1, 0)
    loop.set_merged_input(first, a.output(0), second.output(0))
    loop.set_merged_input(second, b.output(0), first.output(0))
    whole = loop.get_concatenated_slices(mixed.output(0), 0, 1, 1, -1, 0)
    last = loop.get_iter_value(second.output(0), -1)
    data, one, two, seen = ramp(3, 1), np.array([[1, 2]], FLOAT), np.array([[30, 40]], FLOAT), []
    inputs = {"x": data, "a": one, "b": two}
    for chunk in parts(data, 0):
        seen.append(one * chunk + two)
        kept = two
        one, two = two, one
    return Case(model([whole, last], [x, a, b]), inputs, [joined(seen, 0), kept],
                "none")
