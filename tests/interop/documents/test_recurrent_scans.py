"""Recurrent layers as loops over fragments (`tract_core_scan`), whose gates' inputs were multiplied before the loop, as
exporters write them: with operands in any order, either direction, states that are inputs, and with terms that rule
out such a layer. Against NumPy, on both backends, without the transformations that make sequences of them, and in
OpenVINO."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import openvino
import pytest

from models import Nnefc
from tensor_files import write_dat

TOLERANCE = 2e-5
GATES = {"lstm": "ifgo", "gru": "rzn", "rnn": "i"}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


@dataclass
class Layer:
    """A random layer and a form of its document, by a seed."""

    kind: str
    seed: int
    weights: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        choose = self.choose = random.Random(f"{self.kind}{self.seed}")
        self.steps, self.batch, self.inputs, self.hidden = (choose.randint(1, most) for most in (6, 4, 5, 20))
        self.backward = choose.random() < 0.4
        self.has_bias = choose.random() < 0.8
        self.constant_states = choose.random() < 0.5
        self.is_odd = choose.random() < 0.3  # a term that no layer has
        self.activation = choose.choice(["tanh", "sigmoid", "relu"]) if self.kind == "rnn" else ""
        self.transposed = {gate: choose.random() < 0.7 for gate in GATES[self.kind]}
        rng = np.random.default_rng(self.seed)
        for gate in GATES[self.kind]:
            self.weights[f"wi{gate}"] = rng.standard_normal((self.hidden, self.inputs)).astype("f4") / 2
            self.weights[f"wh{gate}"] = rng.standard_normal((self.hidden, self.hidden)).astype("f4") / self.hidden**0.5
            if self.has_bias:
                self.weights[f"b{gate}"] = rng.standard_normal((1, 1, self.hidden)).astype("f4")
        if self.kind == "gru":
            self.weights["bh"] = rng.standard_normal((1, 1, self.hidden)).astype("f4")
        shape = (1, self.batch, self.hidden)
        self.x = rng.standard_normal((self.steps, self.batch, self.inputs)).astype("f4")
        self.h, self.c = (rng.standard_normal(shape).astype("f4") for _ in range(2))

    # ---- the document ----

    def either(self, operation: str, first: str, second: str) -> str:
        pair = [first, second]
        if self.choose.random() < 0.5:
            pair.reverse()
        return f"{pair[0]} {operation} {pair[1]}"

    def sums(self, gate: str) -> str:
        product = f"matmul(h, wh{gate}, transposeB = true)" if self.transposed[gate] else f"matmul(h, wh{gate})"
        if self.kind == "gru" and gate == "n":
            product = self.either("*", "r", f"({product} + bh)")
        return self.either("+", f"x{gate}", product)

    def body(self) -> list[str]:
        odd = " + h" if self.is_odd else ""
        if self.kind == "rnn":
            return [f"n = {self.activation}({self.sums('i')}{odd});"]
        if self.kind == "gru":
            z = "z" if not self.is_odd else "(z * z)"
            mixed = self.either("+", self.either("*", f"(1.0 - {z})", "n_t"), self.either("*", z, "h"))
            return [f"r = sigmoid({self.sums('r')});", f"z = sigmoid({self.sums('z')});", f"n_t = tanh({self.sums('n')});", f"n = {mixed};"]
        lines = [f"{gate} = {'tanh' if gate == 'g' else 'sigmoid'}({self.sums(gate)}{odd if gate == 'f' else ''});" for gate in "ifgo"]
        total = self.either("+", self.either("*", "f", "c"), self.either("*", "i", "g"))
        return [*lines, f"m = {total};", f"n = {self.either('*', 'o', 'tanh(m)')};"]

    def write(self, folder: Path) -> dict[str, np.ndarray]:
        gates, has_cell = GATES[self.kind], self.kind == "lstm"
        invariant = [f"wh{gate}" for gate in gates] + (["bh"] if self.kind == "gru" else [])
        names = ["h", *(["c"] if has_cell else []), *(f"x{gate}" for gate in gates), *invariant]
        results = ["n", *(["m"] if has_cell else [])]
        declared = ", ".join(f"{name}: tensor<scalar>" for name in names)
        lines = ["version 1.0;", "extension tract_registry tract_core;",
                 f"fragment step( {declared} ) -> ( {', '.join(f'{name}: tensor<scalar>' for name in results)} )", "{",
                 *(f"    {line}" for line in self.body()), "}"]
        inputs = {"x": self.x}
        states = {"h": self.h, "c": self.c} if has_cell else {"h": self.h}
        if not self.constant_states:
            inputs |= states
        graph = [f"{name} = tract_core_external(shape = {list(value.shape)}, datum_type = 'f32');" for name, value in inputs.items()]
        weights = dict(self.weights) | (states if self.constant_states else {})
        for label, value in weights.items():
            stored = value.T if label.startswith("wh") and not self.transposed[label[2:]] else value
            stored = stored if stored.ndim == 3 else stored[None]
            write_dat(folder / f"{label}.dat", np.ascontiguousarray(stored))
            graph.append(f"{label} = variable<scalar>(label = '{label}', shape = {list(stored.shape)});")
        for gate in gates:
            bias = f" + b{gate}" if self.has_bias else ""
            graph.append(f"p{gate} = matmul(x, wi{gate}, transposeB = true){bias};")
        step = -1 if self.backward else 1
        fed = [("h", "h", "n"), ("c", "c", "m")] if has_cell else [("h", "h", "n")]
        outputs = [("n", "full"), ("n", "last"), *([("m", "last")] if has_cell else [])]
        graph.append("[y, last" + (", cell" if has_cell else "") + "] = tract_core_scan(body = 'step', scan = ["
                     + ", ".join(f"('x{gate}', p{gate}, 0, {step})" for gate in gates) + "], full = ["
                     + ", ".join(f"('{name}', {name})" for name in invariant) + "], state = ["
                     + ", ".join(f"('{a}', {b}, '{c}')" for a, b, c in fed) + "], output = ["
                     + ", ".join(f"('{name}', '{how}', 0, {step})" for name, how in outputs) + "]);")
        lines += [f"graph net( {', '.join(inputs)} ) -> ( {', '.join(self.expected)} )", "{", *(f"    {line}" for line in graph), "}"]
        (folder / "graph.nnef").write_text("\n".join(lines) + "\n")
        return inputs

    # ---- the formula ----

    @property
    def expected(self) -> dict[str, np.ndarray]:
        w = {name: value.astype(np.float64) for name, value in self.weights.items()}
        h, c = self.h[0].astype(np.float64), self.c[0].astype(np.float64)
        out = np.zeros((self.steps, self.batch, self.hidden))
        order = range(self.steps - 1, -1, -1) if self.backward else range(self.steps)
        for t in order:
            xs = {gate: self.x[t] @ w[f"wi{gate}"].T + (w[f"b{gate}"][0] if self.has_bias else 0) for gate in GATES[self.kind]}
            hs = {gate: h @ w[f"wh{gate}"].T for gate in GATES[self.kind]}
            odd = h if self.is_odd else 0
            if self.kind == "rnn":
                h = {"tanh": np.tanh, "sigmoid": sigmoid, "relu": lambda v: np.maximum(v, 0)}[self.activation](xs["i"] + hs["i"] + odd)
            elif self.kind == "gru":
                r, z = sigmoid(xs["r"] + hs["r"]), sigmoid(xs["z"] + hs["z"])
                n = np.tanh(xs["n"] + r * (hs["n"] + w["bh"][0]))
                z = z * z if self.is_odd else z
                h = (1 - z) * n + z * h
            else:
                i, f, o = (sigmoid(xs[gate] + hs[gate] + (odd if gate == "f" else 0)) for gate in "ifo")
                c = f * c + i * np.tanh(xs["g"] + hs["g"])
                h = o * np.tanh(c)
            out[t] = h
        return {"y": out, "last": h[None]} | ({"cell": c[None]} if self.kind == "lstm" else {})


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("kind", GATES)
def test_loop(kind: str, seed: int, nnefc: Path, tmp_path: Path) -> None:
    layer, tool = Layer(kind, seed), Nnefc(nnefc, tmp_path)
    folder = tmp_path / "net"
    folder.mkdir()
    inputs, expected = layer.write(folder), layer.expected
    np.savez(tmp_path / "in.npz", **inputs)
    for runner, options in ((tool, ["--verify"]), (tool, ["--backend", "reference"]), (tool.without_transformations(), [])):
        seen = runner.run(folder, "--inputs", tmp_path / "in.npz", *options)
        for name, value in expected.items():
            np.testing.assert_allclose(seen[name], value, rtol=TOLERANCE, atol=TOLERANCE, err_msg=name)
    tool.must("compile", folder, "-o", tmp_path / "net.xml")
    # A layer becomes a sequence; a similar loop remains a loop.
    text = (tmp_path / "net.xml").read_text()
    assert ('type="TensorIterator"' in text) == layer.is_odd
    assert (f'type="{kind.upper()}Sequence"' in text) != layer.is_odd
    compiled = openvino.Core().compile_model(str(tmp_path / "net.xml"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled({compiled.input(name): value for name, value in inputs.items()})
    for name, value in expected.items():
        np.testing.assert_allclose(results[compiled.output(name)], value, rtol=TOLERANCE, atol=TOLERANCE, err_msg=name)
