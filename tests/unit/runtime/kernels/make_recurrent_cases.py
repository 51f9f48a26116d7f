#!/usr/bin/env python3
"""Writes recurrent_cases.txt: cells and sequences in the form of cases.txt (see make_cases.py)."""
import pathlib

import numpy as np

from openvino.utils.node_factory import NodeFactory

from make_cases import LINES, case, const, f32

BATCH, LENGTH, INPUTS, HIDDEN = 2, 5, 7, 6
SETS = {"RNNCell": "opset1", "GRUCell": "opset3", "LSTMCell": "opset4"}
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
ACTIVATIONS = {"RNN": ["tanh"], "GRU": ["sigmoid", "tanh"], "LSTM": ["sigmoid", "tanh", "tanh"]}
OTHERS = {"RNN": ["relu"], "GRU": ["tanh", "sigmoid"], "LSTM": ["tanh", "relu", "sigmoid"]}


def weights(*shape):
    return ("const", f32(*shape, low=-0.6, high=0.6))


def attributes(kind, **more):
    made = {"hidden_size": HIDDEN, "activations": ACTIVATIONS[kind], "activations_alpha": [], "activations_beta": [],
            "clip": 0.0}
    if kind == "GRU":
        made["linear_before_reset"] = False
    return made | more


def states(kind, *shape):
    return [f32(*shape, low=-1, high=1) for _ in range(2 if kind == "LSTM" else 1)]


def cell(name, kind, **more):
    made = attributes(kind, **more)
    rows = GATES[kind] * HIDDEN
    bias = rows + HIDDEN if made.get("linear_before_reset") else rows

    def make(*nodes):
        factory = NodeFactory(SETS[f"{kind}Cell"])
        return factory.create(f"{kind}Cell", [node.output(0) for node in nodes], made)
    case(name, make, f32(BATCH, INPUTS), *states(kind, BATCH, HIDDEN), weights(rows, INPUTS), weights(rows, HIDDEN),
         weights(bias), tolerance=2e-5)


def sequence(name, kind, direction, lengths=(LENGTH, LENGTH), **more):
    made = attributes(kind, direction=direction, **more)
    directions = 2 if direction == "bidirectional" else 1
    rows = GATES[kind] * HIDDEN
    bias = rows + HIDDEN if made.get("linear_before_reset") else rows

    def make(*nodes):
        return NodeFactory("opset5").create(f"{kind}Sequence", [node.output(0) for node in nodes], made)
    case(name, make, f32(BATCH, LENGTH, INPUTS), *states(kind, BATCH, directions, HIDDEN), const(lengths, np.int32),
         weights(directions, rows, INPUTS), weights(directions, rows, HIDDEN), weights(directions, bias),
         tolerance=2e-5)


def larger():
    """Sizes around those of vectors, and batches whose sequences differ in length."""
    global BATCH, LENGTH, INPUTS, HIDDEN
    for BATCH, LENGTH, INPUTS, HIDDEN in [(1, 3, 17, 19), (3, 2, 5, 18)]:
        for kind in GATES:
            name = f"{kind.lower()}_{BATCH}x{LENGTH}x{INPUTS}x{HIDDEN}"
            cell(f"{name}_cell", kind)
            sequence(f"{name}_both", kind, "bidirectional", lengths=(LENGTH,) * BATCH)
            sequence(f"{name}_reverse", kind, "reverse", lengths=(1, 2, 2)[:BATCH])
        cell(f"gru_linear_{HIDDEN}", "GRU", linear_before_reset=True)


def main():
    for kind in GATES:
        name = kind.lower()
        cell(f"{name}_cell", kind)
        cell(f"{name}_cell_clip", kind, clip=0.4)
        cell(f"{name}_cell_others", kind, activations=OTHERS[kind])
        for direction in ["forward", "reverse", "bidirectional"]:
            sequence(f"{name}_sequence_{direction}", kind, direction)
            sequence(f"{name}_sequence_{direction}_lengths", kind, direction, lengths=(3, 5))
        sequence(f"{name}_sequence_others", kind, "reverse", activations=OTHERS[kind], clip=0.7)
    cell("gru_cell_linear", "GRU", linear_before_reset=True)
    sequence("gru_sequence_linear", "GRU", "bidirectional", lengths=(2, 4), linear_before_reset=True)
    larger()
    pathlib.Path(__file__).with_name("recurrent_cases.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
