"""Recurrent layers: the complete LSTM layer of TensorIterator's documentation, and OpenVINO's cells and sequences:
saved by OpenVINO, read, written and run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ir_builder import Graph, back_edges, mapped
from models import Nnefc
from processor import bf16_environment

ov = pytest.importorskip("openvino")
from openvino import opset13 as op  # noqa: E402

from openvino_oracle import assert_close, openvino_outputs, random_inputs  # noqa: E402

F32 = np.float32
RANDOM = np.random.default_rng(11)
LENGTH, INPUTS, HIDDEN = 25, 512, 256


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def weights(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-0.1, 0.1, shape).astype(F32)


def lstm(x: np.ndarray, h: np.ndarray, c: np.ndarray, joined: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Computes the formula of LSTMCell over axis 1 of x, gates in the order f, i, c, o."""
    x, h, c, joined, bias = (array.astype(np.float64) for array in (x, h, c, joined, bias))
    made = []
    for k in range(x.shape[1]):
        f, i, g, o = np.split(np.concatenate([x[:, k], h], 1) @ joined.T + bias, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        made.append(h)
    return np.stack(made, 1)


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("recurrent"))


def documented_layer(version: str, joined: np.ndarray, bias: np.ndarray) -> Graph:
    """Example 2 of TensorIterator-1's documentation, layer by layer: W and R in one constant, constants at port 1, most
    attributes of the port map omitted."""
    g = Graph()
    g.blobs.add(np.array([1, INPUTS], np.int64))
    g.blobs.add(joined)
    g.blobs.add(bias)
    g.blobs.add(np.array([1, 1, HIDDEN], np.int64))
    outer = [g.parameter([1, LENGTH, INPUTS], name="x"), g.parameter([1, HIDDEN], name="h"),
             g.parameter([1, HIDDEN], name="c")]
    body = Graph()

    def const(type_: str, shape: list[int], offset: int, size: int):
        data = {"element_type": type_, "shape": ",".join(map(str, shape)), "offset": offset, "size": size}
        layer = body.add("Const", "opset1", [], [(type_, shape)], data)
        layer.ids = [1]
        return layer[0]

    x = body.parameter([1, 1, INPUTS])
    row = body.add("Reshape", "opset1", [x, const("i64", [2], 0, 16)], [("f32", [1, INPUTS])])
    h, c = body.parameter([1, HIDDEN]), body.parameter([1, HIDDEN])
    wr = const("f32", [4 * HIDDEN, INPUTS + HIDDEN], 16, 3145728)
    b = const("f32", [4 * HIDDEN], 3145744, 4096)
    cell = body.add("LSTMCell", version, [row[0], h, c, wr, b], [("f32", [1, HIDDEN])] * 2, {"hidden_size": HIDDEN})
    to_c, to_h = body.result(cell[1]), body.result(cell[0])
    made = body.add("Reshape", "opset1", [cell[0], const("i64", [3], 3149840, 24)], [("f32", [1, 1, HIDDEN])])
    every = body.result(made[0])
    assert [layer.number for layer in (h.layer, c.layer, cell, to_c, to_h, every)] == [3, 4, 7, 8, 9, 12]
    maps = (mapped("input", 0, 0, axis=1, start=0) + mapped("input", 1, 3) + mapped("input", 2, 4) +
            mapped("output", 3, 12, axis=1))
    layer = g.add("TensorIterator", "opset1", outer, [("f32", [1, LENGTH, HIDDEN])],
                  more=f"<port_map>{maps}</port_map>\n{back_edges((8, 4), (9, 3))}{body.body()}")
    g.result(layer[0], "y")
    return g


@pytest.mark.parametrize("version", ["opset1", "opset4"])
@pytest.mark.parametrize("backend", ["reference", "fast"])
def test_the_documented_layer(tool: Nnefc, tmp_path: Path, version: str, backend: str) -> None:
    joined, bias = weights(4 * HIDDEN, INPUTS + HIDDEN), weights(4 * HIDDEN)
    path = documented_layer(version, joined, bias).save(tmp_path / "net.xml")
    inputs = {"x": RANDOM.standard_normal((1, LENGTH, INPUTS)).astype(F32),
              "h": RANDOM.uniform(-1, 1, (1, HIDDEN)).astype(F32), "c": RANDOM.uniform(-1, 1, (1, HIDDEN)).astype(F32)}
    np.savez(tmp_path / "inputs.npz", **inputs)
    found = tool.run(path, "--inputs", tmp_path / "inputs.npz", "--backend", backend)["y"]
    expected = lstm(inputs["x"], inputs["h"], inputs["c"], joined, bias)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


# --- models that OpenVINO saves -----------------------------------------------------------------

def parameter(name: str, shape: list[int]):
    node = op.parameter(shape, F32, name=name)
    node.output(0).set_names({name})
    return node


def model(results: list, parameters: list):
    for place, output in enumerate(results):
        output.set_names({f"out{place}"})
    return ov.Model([op.result(output) for output in results], parameters, "net")


def iterated_cells():
    """An LSTM cell and a GRU cell on its output, in one body; sequences from the end."""
    x, h, c, s = parameter("x", [2, 6, 5]), parameter("h", [2, 4]), parameter("c", [2, 4]), parameter("s", [2, 3])
    inner = [op.parameter(shape, F32) for shape in ([2, 1, 5], [2, 4], [2, 4], [2, 3])]
    row = op.squeeze(inner[0], op.constant(np.array([1], np.int64)))
    cell = op.lstm_cell(row, inner[1], inner[2], op.constant(weights(16, 5)), op.constant(weights(16, 4)),
                        op.constant(weights(16)), 4)
    gru = op.gru_cell(cell.output(0), inner[3], op.constant(weights(9, 4)), op.constant(weights(9, 3)),
                      op.constant(weights(9)), 3)
    every = op.unsqueeze(gru, op.constant(np.array([1], np.int64)))
    results = [op.result(port) for port in (cell.output(0), cell.output(1), gru.output(0), every.output(0))]
    loop = op.tensor_iterator()
    loop.set_body(ov.Model(results, inner, "body"))
    loop.set_sliced_input(inner[0], x.output(0), -1, -1, 1, 0, 1)
    for node, outer, result in zip(inner[1:], (h, c, s), results):
        loop.set_merged_input(node, outer.output(0), result.output(0))
    every = loop.get_concatenated_slices(results[3].output(0), -1, -1, 1, 0, 1)
    return model([every, loop.get_iter_value(results[0].output(0), -1)], [x, h, c, s])


def sequences():
    x, h, c = parameter("x", [2, 6, 5]), parameter("h", [2, 2, 4]), parameter("c", [2, 2, 4])
    lengths = op.constant(np.array([6, 4], np.int32))
    made = op.lstm_sequence(x, h, c, lengths, op.constant(weights(2, 16, 5)), op.constant(weights(2, 16, 4)),
                            op.constant(weights(2, 16)), 4, "bidirectional")
    first = op.reshape(made.output(0), op.constant(np.array([2, 6, 8], np.int64)), False)
    gru = op.gru_sequence(first, op.constant(weights(2, 1, 4)), lengths, op.constant(weights(1, 12, 8)),
                          op.constant(weights(1, 12, 4)), op.constant(weights(1, 12)), 4, "reverse")
    rnn = op.rnn_sequence(first, op.constant(weights(2, 1, 4)), lengths, op.constant(weights(1, 4, 8)),
                          op.constant(weights(1, 4, 4)), op.constant(weights(1, 4)), 4, "forward")
    return model([*made.outputs(), *gru.outputs(), *rnn.outputs()], [x, h, c])


def counted_loop():
    """A Loop that ends by its condition: doubles x until the sum is 100 or more."""
    x = parameter("x", [1, 3])
    inner, number = op.parameter([1, 3], F32), op.parameter([1], np.int64)
    doubled = op.add(inner, inner)
    total = op.reduce_sum(op.abs(doubled), op.constant(np.array([0, 1], np.int64)), False)
    go = op.reshape(op.less(total, op.constant(F32(100))), op.constant(np.array([1], np.int64)), False)
    results = [op.result(port) for port in (doubled.output(0), go.output(0), op.convert(number, "f32").output(0))]
    loop = op.loop(op.constant(np.int64(-1)), op.constant(np.array(True)))
    loop.set_function(ov.Model(results, [inner, number], "body"))
    loop.set_special_body_ports([1, 1])
    loop.set_merged_input(inner, x.output(0), results[0].output(0))
    every = loop.get_concatenated_slices(results[0].output(0), 0, 1, 1, -1, 0)
    numbers = loop.get_concatenated_slices(results[2].output(0), 0, 1, 1, -1, 0)
    return model([every, numbers, loop.get_iter_value(results[0].output(0), -1)], [x])


def variables():
    """A running sum that is kept between runs."""
    x = parameter("x", [3])
    old = op.read_value(op.constant(np.zeros(3, F32)), "sum")
    new = op.add(old, x)
    new.output(0).set_names({"out0"})
    return ov.Model([op.result(new)], [op.assign(new, "sum")], [x], "net")


MODELS = {"iterated_cells": iterated_cells, "sequences": sequences, "counted_loop": counted_loop, "variables": variables}


@pytest.mark.parametrize("name", MODELS)
def test_their_model_runs_alike(tool: Nnefc, tmp_path: Path, name: str) -> None:
    theirs, again = tmp_path / "theirs.xml", tmp_path / "again.xml"
    ov.save_model(MODELS[name](), theirs, compress_to_fp16=False)
    inputs = random_inputs(theirs)
    expected = openvino_outputs(theirs, inputs)
    np.savez(tmp_path / "inputs.npz", **inputs)
    tool.must("compile", theirs, "-o", again)
    assert_close(openvino_outputs(again, inputs), expected)
    for backend in ("reference", "fast"):
        outputs = tool.run(theirs, "--inputs", tmp_path / "inputs.npz", "--backend", backend)
        assert_close([outputs[f"out{place}"] for place in range(len(expected))], expected)


# --- loops over one cell ------------------------------------------------------------------------

CELLS = {"lstm": (4, 4), "gru": (3, 3), "gru_linear_before_reset": (3, 4), "rnn": (1, 1)}  # gates, and those of the bias


def looped_cell(kind: str, axis: int, step: int):
    """A cell of 4 units over 6 steps of 5 inputs; W comes from outside of the body."""
    gates, biases = CELLS[kind]
    shape = [2, 2, 5]
    shape[axis], part = 6, [2, 2, 5]
    part[axis] = 1
    states = [parameter(name, [2, 4]) for name in ("h", "c")[:2 if kind == "lstm" else 1]]
    x, w = parameter("x", shape), parameter("w", [4 * gates, 5])
    inner = [op.parameter(each, F32) for each in [part, *[[2, 4]] * len(states), [4 * gates, 5]]]
    along = op.constant(np.array([axis], np.int64))
    fixed = [inner[-1], op.constant(weights(4 * gates, 4)), op.constant(weights(4 * biases))]
    row = op.squeeze(inner[0], along)
    if kind == "lstm":
        cell = op.lstm_cell(row, inner[1], inner[2], *fixed, 4)
    elif kind == "rnn":
        cell = op.rnn_cell(row, inner[1], *fixed, 4, ["relu"], [], [])
    else:
        cell = op.gru_cell(row, inner[1], *fixed, 4, linear_before_reset=kind != "gru")
    results = [op.result(port) for port in [*cell.outputs(), op.unsqueeze(cell.output(0), along).output(0)]]
    loop = op.tensor_iterator()
    loop.set_body(ov.Model(results, inner, "body"))
    ends = (0, step, 1, -1) if step > 0 else (-1, step, 1, 0)
    loop.set_sliced_input(inner[0], x.output(0), *ends, axis)
    for node, outer, result in zip(inner[1:], states, results):
        loop.set_merged_input(node, outer.output(0), result.output(0))
    loop.set_invariant_input(inner[-1], w.output(0))
    every = loop.get_concatenated_slices(results[-1].output(0), *ends, axis)
    return model([every, *[loop.get_iter_value(result.output(0), -1) for result in results[:-1]]], [x, *states, w])


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("kind", CELLS)
def test_a_loop_over_a_cell_is_a_sequence(tool: Nnefc, tmp_path: Path, kind: str, axis: int, step: int) -> None:
    theirs, again = tmp_path / "theirs.xml", tmp_path / "again.xml"
    ov.save_model(looped_cell(kind, axis, step), theirs, compress_to_fp16=False)
    inputs = random_inputs(theirs)
    expected = openvino_outputs(theirs, inputs)
    np.savez(tmp_path / "inputs.npz", **inputs)
    tool.must("compile", theirs, "-o", again)
    text = again.read_text(encoding="utf-8")
    assert 'type="TensorIterator"' not in text and f'type="{kind.partition("_")[0].upper()}Sequence"' in text
    assert_close(openvino_outputs(again, inputs), expected)
    for backend in ("reference", "fast"):
        for runner in (tool, tool.without_transformations()):
            outputs = runner.run(theirs, "--inputs", tmp_path / "inputs.npz", "--backend", backend)
            assert_close([outputs[f"out{place}"] for place in range(len(expected))], expected)


# --- packed weights -----------------------------------------------------------------------------

def drawn_sequence(seed: int):
    """A random sequence with packed weights, of extents that fill blocks and of others."""
    random = np.random.default_rng(seed)
    kind = list(CELLS)[seed % len(CELLS)]
    gates, biases = CELLS[kind]
    batch, length = int(random.choice([1, 2, 5, 17])), int(random.choice([1, 3, 40]))
    inputs, hidden = int(random.choice([1, 30, 130])), int(random.choice([182, 192, 200, 256]))
    direction = str(random.choice(["forward", "reverse", "bidirectional"]))
    count = 2 if direction == "bidirectional" else 1
    lengths = random.integers(1, length + 1, batch) if random.integers(2) else np.full(batch, length)
    x = parameter("x", [batch, length, inputs])
    states = [parameter(name, [batch, count, hidden]) for name in ("h", "c")[:2 if kind == "lstm" else 1]]
    fixed = [op.constant(lengths.astype(np.int32)), op.constant(weights(count, gates * hidden, inputs)),
             op.constant(weights(count, gates * hidden, hidden)), op.constant(weights(count, biases * hidden)), hidden,
             direction]
    more = {"clip": F32(0.3)} if random.integers(4) == 0 else {}
    if kind == "lstm":
        made = op.lstm_sequence(x, *states, *fixed, **more)
    elif kind == "rnn":
        made = op.rnn_sequence(x, *states, *fixed, ["tanh"], **more)
    else:
        made = op.gru_sequence(x, *states, *fixed, linear_before_reset=kind != "gru", **more)
    return model(made.outputs(), [x, *states])


def drawn_cell(seed: int):
    random = np.random.default_rng(seed)
    kind = list(CELLS)[seed % len(CELLS)]
    gates, biases = CELLS[kind]
    batch, inputs, hidden = (int(random.choice(extents)) for extents in ([1, 3, 16], [7, 64], [184, 192, 320]))
    states = [parameter(name, [batch, hidden]) for name in ("h", "c")[:2 if kind == "lstm" else 1]]
    x = parameter("x", [batch, inputs])
    fixed = [op.constant(weights(gates * hidden, inputs)), op.constant(weights(gates * hidden, hidden)),
             op.constant(weights(biases * hidden)), hidden]
    if kind == "lstm":
        made = op.lstm_cell(x, *states, *fixed)
    elif kind == "rnn":
        made = op.rnn_cell(x, *states, *fixed, ["relu"], [], [])
    else:
        made = op.gru_cell(x, *states, *fixed, linear_before_reset=kind != "gru")
    return model(made.outputs(), [x, *states])


@pytest.mark.parametrize("make", [drawn_sequence, drawn_cell], ids=["sequence", "cell"])
@pytest.mark.parametrize("seed", range(24))
def test_large_weights(tool: Nnefc, tmp_path: Path, make, seed: int) -> None:
    path = tmp_path / "net.xml"
    ov.save_model(make(seed), path, compress_to_fp16=False)
    inputs = random_inputs(path)
    expected = openvino_outputs(path, inputs)
    np.savez(tmp_path / "inputs.npz", **inputs)
    for engine in (["reference"], ["fast", "--threads", 1], ["fast", "--threads", 3]):
        outputs = tool.run(path, "--inputs", tmp_path / "inputs.npz", "--backend", *engine)
        assert_close([outputs[f"out{place}"] for place in range(len(expected))], expected)
    rounded = Nnefc(tool.path, tool.scratch)
    rounded.environment.update(bf16_environment())
    outputs = rounded.run(path, "--inputs", tmp_path / "inputs.npz", "--precision", "bf16")
    for place, right in enumerate(expected):
        assert np.abs(outputs[f"out{place}"] - right).max() <= 0.02 * max(1, np.abs(right).max())
