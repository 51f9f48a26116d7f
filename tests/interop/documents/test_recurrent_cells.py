"""Recurrent layers that documents write gate by gate, by NumPy, in nnefc and in OpenVINO: the layers that are
recognized as a sequence of cells, and others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

pytest.importorskip("openvino")
from openvino_oracle import openvino_outputs  # noqa: E402

STEPS, SIZE, HIDDEN = 4, 3, 2
HEADER = ("version 1.0;\nextension KHR_enable_operator_expressions;\nextension KHR_enable_fragment_definitions;\n"
          "extension NNEFC_control_flow;\n\n")
Gates = dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
Array = np.ndarray


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gates_of(names: str) -> Gates:
    """Returns W, R and b of each gate."""
    random = np.random.default_rng(len(names))
    return {name: (random.normal(size=(HIDDEN, SIZE)).astype(np.float32), random.normal(size=(HIDDEN, HIDDEN)).astype(np.float32),
                   random.normal(size=HIDDEN).astype(np.float32)) for name in names}


def literal(name: str, value: Array) -> str:
    numbers = ", ".join(repr(float(number)) for number in value.ravel())
    return f"    {name} = constant(shape = {list(value.shape)}, value = [{numbers}]);\n"


def constants(gates: Gates) -> str:
    """Returns `Wf`, `Rf`, `bf` and `Jf`, the concatenation of both matrices, of a gate f."""
    text = ""
    for name, (w, r, b) in gates.items():
        text += literal(f"W{name}", w) + literal(f"R{name}", r) + literal(f"b{name}", b[None])
        text += literal(f"J{name}", np.concatenate([w, r], 1))
    return text


def stacked(gates: Gates, order: str) -> str:
    """Returns `W`, `R` and `b` of all gates, concatenated by rows."""
    w, r, b = (np.concatenate([gates[name][i] for name in order]) for i in range(3))
    return literal("W", w) + literal("R", r) + literal("b", b[None])


def separate(name: str, h: str = "h") -> str:
    return f"(matmul(s, W{name}, transposeB = true) + matmul({h}, R{name}, transposeB = true) + b{name})"


def side_by_side(name: str, h: str = "h") -> str:
    return f"(linear(concat([s, {h}], axis = 1), J{name}) + b{name})"


def lstm_step(gates: Gates, x: Array, state: list[Array]) -> list[Array]:
    values = {name: x @ w.T + state[0] @ r.T + b for name, (w, r, b) in gates.items()}
    c = sigmoid(values["f"]) * state[1] + sigmoid(values["i"]) * np.tanh(values["g"])
    return [sigmoid(values["o"]) * np.tanh(c), c]


def gru_step(gates: Gates, x: Array, state: list[Array], *, reset_last: bool = False, keeps: bool = True) -> list[Array]:
    h = state[0]
    (wz, rz, bz), (wr, rr, br), (wn, rn, bn) = (gates[name] for name in "zrn")
    z, r = sigmoid(x @ wz.T + h @ rz.T + bz), sigmoid(x @ wr.T + h @ rr.T + br)
    n = np.tanh(x @ wn.T + r * (h @ rn.T + bn)) if reset_last else np.tanh(x @ wn.T + (r * h) @ rn.T + bn)
    return [z * h + (1 - z) * n if keeps else z * n + (1 - z) * h]


LSTM_END = "    c1 = sigmoid(f) * c + sigmoid(i) * tanh(g);\n    h1 = sigmoid(o) * tanh(c1);\n"
LSTM_TURNED = "    c1 = tanh(g) * sigmoid(i) + c * sigmoid(f);\n    h1 = tanh(c1) * sigmoid(o);\n"


def of_gates(write: object, names: str) -> str:
    return "".join(f"    {name} = {write(name)};\n" for name in names)  # type: ignore[operator]


def cut(order: str) -> str:
    return "    [" + ", ".join(order) + f"] = split(a, axis = 1, ratios = {[1] * len(order)});\n"


ALL = "    a = matmul(s, W, transposeB = true) + matmul(h, R, transposeB = true) + b;\n"
SLICES = "".join(f"    {name} = slice(a, axes = [1], begin = [{i * HIDDEN}], end = [{(i + 1) * HIDDEN}]);\n" for i, name in enumerate("ifgo"))
LSTM, GRU, RNN = gates_of("figo"), gates_of("zrn"), gates_of("a")
GRU_GATES = "    z = sigmoid(" + separate("z") + ");\n    r = sigmoid(" + separate("r") + ");\n"
GRU_NEW = "    n = tanh(" + separate("n", "(r * h)") + ");\n"
GRU_LAST = "    n = tanh(matmul(s, Wn, transposeB = true) + r * (matmul(h, Rn, transposeB = true) + bn));\n"
GRU_JOINED = ("    z = sigmoid(" + side_by_side("z") + ");\n    r = sigmoid(" + side_by_side("r") + ");\n    n = tanh(" +
              side_by_side("n", "r * h") + ");\n")

# The step from `s` and the states, the gates, their formula, and the recognized sequence; "" for none.
CASES = {
    "lstm, gate by gate": (constants(LSTM) + of_gates(separate, "figo") + LSTM_END, LSTM, lstm_step, "LSTMSequence"),
    "lstm, turned": (constants(LSTM) + of_gates(separate, "oigf") + LSTM_TURNED, LSTM, lstm_step, "LSTMSequence"),
    "lstm, joined": (constants(LSTM) + of_gates(side_by_side, "figo") + LSTM_END, LSTM, lstm_step, "LSTMSequence"),
    "lstm, in the order of PyTorch": (stacked(LSTM, "ifgo") + ALL + cut("ifgo") + LSTM_END, LSTM, lstm_step, "LSTMSequence"),
    "lstm, by slices": (stacked(LSTM, "ifgo") + ALL + SLICES + LSTM_TURNED, LSTM, lstm_step, "LSTMSequence"),
    "lstm with a bias of its own": (constants(LSTM) + of_gates(separate, "igo") + "    f = " + separate("f") + " + 1.0;\n" + LSTM_END,
                                    LSTM | {"f": (*LSTM["f"][:2], LSTM["f"][2] + 1)}, lstm_step, "LSTMSequence"),
    "lstm of another function": (constants(LSTM) + of_gates(separate, "figo") + LSTM_END.replace("tanh(g)", "sin(g)"), LSTM, None, ""),
    "lstm with a gate that a gate reads": (constants(LSTM) + of_gates(separate, "fig") + "    o = " + separate("o") + " + c;\n" + LSTM_END,
                                           LSTM, None, ""),
    "gru": (constants(GRU) + GRU_GATES + GRU_NEW + "    h1 = z * h + (1.0 - z) * n;\n", GRU, gru_step, "GRUSequence"),
    "gru, turned": (constants(GRU) + GRU_GATES + GRU_NEW + "    h1 = n * (1.0 - z) + h * z;\n", GRU, gru_step, "GRUSequence"),
    "gru by a difference": (constants(GRU) + GRU_GATES + GRU_NEW + "    h1 = n + z * (h - n);\n", GRU, gru_step, "GRUSequence"),
    "gru, joined": (constants(GRU) + GRU_JOINED + "    h1 = z * h + (1.0 - z) * n;\n", GRU, gru_step, "GRUSequence"),
    "gru of the opposite gate": (constants(GRU) + GRU_GATES + GRU_NEW + "    h1 = z * n + (1.0 - z) * h;\n", GRU,
                                 lambda g, x, s: gru_step(g, x, s, keeps=False), "GRUSequence"),
    "gru, reset last": (constants(GRU) + GRU_GATES + GRU_LAST + "    h1 = z * h + (1.0 - z) * n;\n", GRU,
                        lambda g, x, s: gru_step(g, x, s, reset_last=True), "GRUSequence"),
    "gru of two gates": (constants(GRU) + GRU_GATES + GRU_NEW + "    h1 = z * h + (1.0 - r) * n;\n", GRU, None, ""),
    "rnn": (constants(RNN) + "    h1 = tanh(" + separate("a") + ");\n", RNN,
            lambda g, x, s: [np.tanh(x @ g["a"][0].T + s[0] @ g["a"][1].T + g["a"][2])], "RNNSequence"),
    "rnn of relu": (constants(RNN) + "    h1 = relu(" + side_by_side("a") + ");\n", RNN,
                    lambda g, x, s: [np.maximum(x @ g["a"][0].T + s[0] @ g["a"][1].T + g["a"][2], 0)], "RNNSequence"),
    "rnn of elu": (constants(RNN) + "    h1 = elu(" + separate("a") + ");\n", RNN, None, ""),
}


def document(body: str, states: int, stride: int) -> str:
    names = ["h", "c"][:states]
    given = "".join(f", {name}: tensor<scalar>" for name in names)
    made = ", ".join(f"{name}1: tensor<scalar>" for name in names)
    lasts = ", ".join(f"last_{name}" for name in names)
    return (HEADER + f"fragment step( x: tensor<scalar>{given} ) -> ( {made}, y: tensor<scalar> )\n{{\n    s = squeeze(x, axes = [1]);\n"
            f"{body}    y = unsqueeze(h1, axes = [1]);\n}}\n\ngraph net( x, {', '.join(names)} ) -> ( ys, {lasts} )\n{{\n"
            f"    x = external(shape = [2, {STEPS}, {SIZE}]);\n" +
            "".join(f"    {name} = external(shape = [2, {HIDDEN}]);\n" for name in names) +
            f"    [{lasts}, ys] = tensor_iterator([x], [{', '.join(names)}], [], body = 'step', slice_axes = [1], slice_strides = [{stride}],"
            f" concat_axes = [1], concat_strides = [{stride}]);\n}}\n")


@pytest.mark.parametrize("stride", [1, -1])
@pytest.mark.parametrize("name", CASES)
def test_steps_of_gates(name: str, stride: int, nnefc: Path, tmp_path: Path) -> None:
    body, gates, step, sequence = CASES[name]
    states = 2 if "c1" in body else 1
    (tmp_path / "net.nnef").write_text(document(body, states, stride), encoding="utf-8")
    tool = Nnefc(nnefc, tmp_path)
    text = tool.must("compile", tmp_path / "net.nnef")
    assert (f".{sequence} " in text and ".TensorIterator " not in text) if sequence else ".TensorIterator " in text
    random = np.random.default_rng(3)
    inputs = {"x": random.normal(size=(2, STEPS, SIZE)).astype(np.float32)}
    for state in ["h", "c"][:states]:
        inputs[state] = random.normal(size=(2, HIDDEN)).astype(np.float32)
    np.savez(tmp_path / "inputs.npz", **inputs)
    off = tool.without_transformations()
    for backend in ("reference", "fast"):
        options = (tmp_path / "net.nnef", "--inputs", tmp_path / "inputs.npz", "--backend", backend)
        found, plain = tool.run(*options), off.run(*options)
        for key, value in plain.items():
            np.testing.assert_allclose(found[key], value, rtol=1e-5, atol=1e-6)
        if backend == "reference":
            tool.must("compile", tmp_path / "net.nnef", "-o", tmp_path / "net.xml")
            for value, other in zip(openvino_outputs(tmp_path / "net.xml", inputs), found.values(), strict=True):
                np.testing.assert_allclose(value, other, rtol=1e-4, atol=1e-5)
        if step is None:
            continue
        state, made = [inputs[key].astype(np.float64) for key in ["h", "c"][:states]], {}
        for k in range(STEPS)[::stride]:
            state = step(gates, inputs["x"][:, k].astype(np.float64), state)
            made[k] = state[0]
        np.testing.assert_allclose(found["ys"], np.stack([made[k] for k in range(STEPS)], 1), rtol=1e-5, atol=1e-6)
        for key, value in zip(["last_h", "last_c"], state):
            np.testing.assert_allclose(found[key], value, rtol=1e-5, atol=1e-6)
