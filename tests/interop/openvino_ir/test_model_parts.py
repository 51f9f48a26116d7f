"""Parts of real models, made by OpenVINO's API with unknown extents where the models have them: run with OpenVINO's
numbers on both backends, and written as a model with which OpenVINO computes the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")
from openvino import opset5, opset13 as op  # noqa: E402

from openvino_oracle import openvino_outputs  # noqa: E402

F32 = np.float32
RANDOM = np.random.default_rng(5)
# The results, the parameters and a list of input sets.
Part = tuple[list, list, list[dict[str, np.ndarray]]]
PARTS: dict[str, Callable[[], Part]] = {}


def part(function: Callable[[], Part]) -> Callable[[], Part]:
    PARTS[function.__name__] = function
    return function


def values(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (RANDOM.standard_normal(shape) * scale).astype(F32)


def constant(value: object, dtype: type = F32):
    return op.constant(np.asarray(value, dtype))


def weights(*shape: int, scale: float = 1.0):
    return constant(values(*shape, scale=scale))


def ints(*items: int):
    return constant(items, np.int64)


def number(value: int):
    return constant(value, np.int64)


def parameter(name: str, shape: list[int], dtype: type = F32):
    node = op.parameter(ov.PartialShape(shape), dtype, name=name)
    node.output(0).set_names({name})
    return node


@part
def quantized_convolution() -> Part:
    """Ranges that represent zero exactly: OpenVINO rounds others when it converts to integers."""
    def levels(value, low: float, high: float, count: int = 256):
        ends = [constant(np.full([1] * 4, end)) for end in (low, high, low, high)]
        return op.fake_quantize(value, *ends, count)

    x = parameter("x", [1, 3, 8, 8])
    y = op.convolution(levels(x, 0, 3), levels(weights(4, 3, 3, 3), -2, 2, 255), [1, 1], [1, 1], [1, 1], [1, 1])
    y = levels(op.relu(op.add(y, weights(1, 4, 1, 1))), 0, 6)
    return [op.max_pool(y, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)], [x], [{"x": np.abs(values(1, 3, 8, 8))}]


def stored_weights(type_: object, low: int, high: int) -> Part:
    """A matrix multiplication with weights that are stored narrow and widened by Convert, Subtract and Multiply; there
    are enough fractional weights that each of 16 codes occurs."""
    x = parameter("x", [-1, 32])
    drawn = RANDOM.uniform(low, high, [8, 32]) if type_.is_real() or type_ == ov.Type.nf4 else RANDOM.integers(low, high, [8, 32])
    packed = ov.op.Constant(type_, ov.Shape([8, 32]), drawn.astype(F32).flatten().tolist())
    wide = op.multiply(op.subtract(op.convert(packed, "f32"), constant(1.0)), constant(np.full([8, 1], 0.02)))
    return [op.matmul(x, wide, False, True)], [x], [{"x": values(2, 32)}]


NARROW = {"u2": (0, 4), "u4": (0, 16), "i4": (-8, 8), "nf4": (-1, 1), "f8e4m3": (-20, 20), "f8e5m2": (-20, 20), "f8e8m0": (1, 9),
          "f4e2m1": (-4, 5), "i8": (-128, 128), "f16": (-9, 9), "bf16": (-9, 9)}
for type_name, ends in NARROW.items():
    PARTS[f"weights_of_{type_name}"] = lambda name=type_name, ends=ends: stored_weights(getattr(ov.Type, name), *ends)


@part
def transformer_block() -> Part:
    """Embeddings, attention with a mask, normalization and Gelu; batch and length are known at run time only."""
    width, heads = 16, 4
    ids, mask = parameter("ids", [-1, -1], np.int64), parameter("mask", [-1, -1], np.int64)
    length = op.gather(op.shape_of(ids), number(1), number(0))
    places = op.gather(weights(64, width), op.range(number(0), length, number(1), "i64"), number(0))
    x = op.add(op.gather(weights(50, width), ids, number(0)), op.unsqueeze(places, number(0)))

    def linear(value, size: int, to: int):
        return op.add(op.matmul(value, weights(size, to, scale=0.3), False, False), weights(to))

    def normalized(value):
        return op.add(op.multiply(op.mvn(value, ints(2), True, 1e-5, "INSIDE_SQRT"), weights(width)), weights(width))

    def by_head(value):
        target = op.concat([op.gather(op.shape_of(value), ints(0, 1), number(0)), ints(heads, width // heads)], 0)
        return op.transpose(op.reshape(value, target, False), ints(0, 2, 1, 3))

    q, k, v = (by_head(linear(x, width, width)) for _ in range(3))
    hidden = op.multiply(op.subtract(constant(1.0), op.convert(op.unsqueeze(mask, ints(1, 2)), "f32")), constant(-1e4))
    shares = op.softmax(op.add(op.multiply(op.matmul(q, k, False, True), constant(0.5)), hidden), -1)
    mixed = op.transpose(op.matmul(shares, v, False, False), ints(0, 2, 1, 3))
    x = normalized(op.add(x, linear(op.reshape(mixed, ints(0, 0, width), True), width, width)))
    inner = linear(x, width, 32)
    x = normalized(op.add(x, linear(op.gelu(inner, "erf"), 32, width)))
    x = op.add(x, linear(op.gelu(inner, "tanh"), 32, width))
    pooled = op.tanh(linear(op.gather(x, number(0), number(1)), width, width))

    def of(batch: int, size: int) -> dict[str, np.ndarray]:
        seen = np.ones([batch, size], np.int64)
        seen[:, size // 2 + 1:] = 0
        return {"ids": RANDOM.integers(0, 50, [batch, size]), "mask": seen}

    return [x, pooled], [ids, mask], [of(2, 5), of(1, 1), of(3, 7)]


@part
def detection_head() -> Part:
    """Two scales, boxes and scores, and the best ones by TopK, by NonZero and by NonMaxSuppression."""
    coarse, fine = parameter("coarse", [1, 8, 4, 4]), parameter("fine", [1, 8, 8, 8])
    upper = op.interpolate(coarse, ints(8, 8), "nearest", "sizes", axes=ints(2, 3), nearest_mode="floor",
                           coordinate_transformation_mode="asymmetric")
    plane = op.add(upper, op.convolution(fine, weights(8, 8, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1]))

    def rows(size: int):
        y = op.convolution(plane, weights(2 * size, 8, 3, 3, scale=0.2), [1, 1], [1, 1], [1, 1], [1, 1])
        return op.reshape(op.transpose(y, ints(0, 2, 3, 1)), ints(1, -1, size), False)

    scores, parts = op.sigmoid(rows(3)), op.variadic_split(rows(4), number(2), ints(2, 2))
    half = op.multiply(op.exp(op.clamp(parts.output(1), -2.0, 2.0)), constant(0.5))
    boxes = op.concat([op.subtract(parts.output(0), half), op.add(parts.output(0), half)], 2)
    best = op.reduce_max(scores, ints(2), False)
    top = op.topk(best, number(10), 1, "max", "value", index_element_type="i64")
    sure = op.non_zero(op.greater(best, constant(0.6)), "i64")
    kept = op.non_max_suppression(boxes, op.transpose(scores, ints(0, 2, 1)), number(7), constant(0.3), constant(0.4))
    return [op.gather(boxes, op.squeeze(top.output(1), ints(0)), number(1)), top.output(0),
            op.gather_nd(scores, op.transpose(sure, ints(1, 0))), kept.output(0), kept.output(1), kept.output(2)], \
        [coarse, fine], [{"coarse": values(1, 8, 4, 4), "fine": values(1, 8, 8, 8)} for _ in range(2)]


@part
def bidirectional_lstm() -> Part:
    x, lengths = parameter("x", [-1, 5, 3]), parameter("lengths", [-1], np.int32)
    batch = op.gather(op.shape_of(x), ints(0), number(0))
    zero = op.broadcast(constant(0.0), op.concat([batch, ints(2, 4)], 0))
    y = op.lstm_sequence(x, zero, zero, lengths, weights(2, 16, 3), weights(2, 16, 4), weights(2, 16), 4, "bidirectional",
                         ["sigmoid", "relu", "tanh"], [], [], 3.0)
    return list(y.outputs()), [x, lengths], [{"x": values(2, 5, 3), "lengths": np.array([3, 5], np.int32)},
                                             {"x": values(1, 5, 3), "lengths": np.array([4], np.int32)}]


@part
def gru_with_reset_behind_the_product() -> Part:
    x, state, lengths = parameter("x", [2, 5, 3]), parameter("h", [2, 1, 4]), constant([2, 5], np.int32)
    y = op.gru_sequence(x, state, lengths, weights(1, 12, 3), weights(1, 12, 4), weights(1, 16), 4, "reverse",
                        linear_before_reset=True)
    return list(y.outputs()), [x, state], [{"x": values(2, 5, 3), "h": values(2, 1, 4)}]


@part
def loop_that_data_ends() -> Part:
    trips, x, limit = parameter("trips", [], np.int64), parameter("x", [2, 3]), parameter("limit", [])
    index, state, bound = op.parameter([], np.int64), op.parameter([2, 3], F32), op.parameter([], F32)
    y = op.add(op.multiply(state, constant(1.1)), op.convert(index, "f32"))
    total = op.reduce_sum(y, ints(0, 1), False)
    results = [op.result(y), op.result(op.less(total, bound)), op.result(op.unsqueeze(total, number(0)))]
    loop = op.loop(trips, constant(True, np.bool_))
    loop.set_function(ov.Model(results, [index, state, bound], "body"))
    loop.set_special_body_ports([0, 1])
    loop.set_merged_input(state, x.output(0), results[0].output(0))
    loop.set_invariant_input(bound, limit.output(0))
    outputs = [loop.get_iter_value(results[0].output(0), -1),
               loop.get_concatenated_slices(results[2].output(0), 0, 1, 1, -1, 0)]
    return outputs, [trips, x, limit], [
        {"trips": np.array(count), "x": values(2, 3), "limit": np.array(end, F32)}
        for count, end in [(5, 1e9), (100, 50), (1, -1e9)]]


def sliced_loop(trips: object, parameters: list, runs: list[dict[str, np.ndarray]]) -> Part:
    """Running sums over the first rows of `x`, up to the trip count."""
    x, start = parameter("x", [4, 2]), parameter("start", [1, 2])
    row, state = op.parameter([1, 2], F32), op.parameter([1, 2], F32)
    results = [op.result(op.add(row, state)), op.result(constant(True, np.bool_))]
    loop = op.loop(trips, constant(True, np.bool_))
    loop.set_function(ov.Model(results, [row, state], "body"))
    loop.set_special_body_ports([-1, 1])
    loop.set_sliced_input(row, x.output(0), 0, 1, 1, -1, 0)
    loop.set_merged_input(state, start.output(0), results[0].output(0))
    outputs = [loop.get_iter_value(results[0].output(0), -1),
               loop.get_concatenated_slices(results[0].output(0), 0, 1, 1, -1, 0)]
    return outputs, [x, start, *parameters], [run | {"x": values(4, 2), "start": values(1, 2)} for run in runs]


@part
def loop_over_some_of_the_slices() -> Part:
    return sliced_loop(number(2), [], [{}])


@part
def loop_over_as_many_slices_as_the_input_says() -> Part:
    trips = parameter("trips", [], np.int64)
    return sliced_loop(trips, [trips], [{"trips": np.array(count)} for count in (1, 2, 4)])


@part
def if_in_loop_in_if() -> Part:
    condition, x, trips = parameter("c", [], np.bool_), parameter("x", [2]), parameter("trips", [], np.int64)

    def either(predicate, value):
        one, other = op.parameter([2], F32), op.parameter([2], F32)
        then_body = ov.Model([op.result(op.add(one, constant(1.0)))], [one], "then")
        else_body = ov.Model([op.result(op.multiply(other, constant(2.0)))], [other], "else")
        node = op.if_op(predicate.output(0))
        node.set_then_body(then_body)
        node.set_else_body(else_body)
        node.set_input(value, one, other)
        return node.set_output(then_body.get_results()[0], else_body.get_results()[0])

    index, state = op.parameter([], np.int64), op.parameter([2], F32)
    even = op.equal(op.floor_mod(index, number(2)), number(0))
    results = [op.result(either(even, state.output(0))), op.result(constant(True, np.bool_))]
    start, count, other = op.parameter([2], F32), op.parameter([], np.int64), op.parameter([2], F32)
    loop = op.loop(count, constant(True, np.bool_))
    loop.set_function(ov.Model(results, [index, state], "body"))
    loop.set_special_body_ports([0, 1])
    loop.set_merged_input(state, start.output(0), results[0].output(0))
    then_body = ov.Model([op.result(loop.get_iter_value(results[0].output(0), -1))], [start, count], "then")
    else_body = ov.Model([op.result(op.negative(other))], [other], "else")
    node = op.if_op(condition.output(0))
    node.set_then_body(then_body)
    node.set_else_body(else_body)
    node.set_input(x.output(0), start, other)
    node.set_input(trips.output(0), count, None)
    output = node.set_output(then_body.get_results()[0], else_body.get_results()[0])
    return [output], [condition, x, trips], [{"c": np.array(chosen), "x": values(2), "trips": np.array(count)}
                                             for chosen, count in [(True, 1), (True, 4), (False, 4)]]


@part
def boxes_that_remain() -> Part:
    """NonMaxSuppression of opset5 with centers, and without sorting."""
    corners, scores = parameter("boxes", [2, 20, 4]), parameter("scores", [2, 3, 20])
    results = []
    for encoding, ordered in [("corner", True), ("center", False)]:
        node = opset5.non_max_suppression(corners, scores, number(6), constant(0.35), constant(0.2), constant(0.0), encoding,
                                          ordered, "i32")
        results += list(node.outputs())
    low = RANDOM.random([2, 20, 2]) * 5
    return results, [corners, scores], [{"boxes": np.concatenate([low, low + 1 + RANDOM.random([2, 20, 2])], 2).astype(F32),
                                         "scores": RANDOM.random([2, 3, 20]).astype(F32)}]


# --- running them -------------------------------------------------------------------------------

@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("parts"))


def assert_alike(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.shape == other.shape and one.dtype == other.dtype
        largest = np.abs(other).max() if other.size else 0
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * largest)


@pytest.mark.parametrize("name", PARTS)
def test_part(tool: Nnefc, tmp_path: Path, name: str) -> None:
    results, parameters, runs = PARTS[name]()
    outputs = [result.output(0) if isinstance(result, ov.Node) else result for result in results]
    for index, output in enumerate(outputs):
        output.get_tensor().add_names({f"out{index}"})
    theirs, ours, again = (tmp_path / f"{kind}.xml" for kind in ("theirs", "ours", "again"))
    ov.save_model(ov.Model([op.result(output) for output in outputs], parameters, name), theirs, compress_to_fp16=False)
    assert tool.call("check", theirs, "--verify").stderr == ""
    tool.must("compile", theirs, "-o", ours)
    tool.must("compile", ours, "-o", again)
    assert ours.read_bytes() == again.read_bytes()
    for inputs in runs:
        np.savez(tmp_path / "inputs.npz", **inputs)
        expected = openvino_outputs(theirs, inputs)
        for backend in ("reference", "fast"):
            found = tool.run(theirs, "--inputs", tmp_path / "inputs.npz", "--backend", backend)
            assert_alike([found[f"out{index}"] for index in range(len(outputs))], expected)
        assert_alike(openvino_outputs(ours, inputs), expected)
