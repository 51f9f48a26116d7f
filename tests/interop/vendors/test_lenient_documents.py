"""Documents in the style of exporters, written by hand: each deviation that lenient mode accepts, and tract's
operations, on both backends against NumPy. Strict mode rejects them, unless tract's own extension makes them valid.
The output of `expand` is strict, and computes the same if standard operations suffice."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc
from tensor_files import write_dat

F32, I64 = np.float32, np.int64
RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal((2, 4, 6, 5)).astype(F32)
V = RANDOM.standard_normal(4).astype(F32)
TRACT = "extension tract_registry tract_core;\nextension tract_registry tract_transformers;\n"
OPERATORS = "extension KHR_enable_operator_expressions;\n"
FRAGMENTS = "extension KHR_enable_fragment_definitions;\n"


@dataclass
class Case:
    statements: str
    expected: np.ndarray
    deviations: set[str]
    inputs: dict[str, np.ndarray] = field(default_factory=lambda: {"x": X})
    variables: dict[str, np.ndarray] = field(default_factory=dict)
    head: str = ""
    is_open: bool = False  # extents that are known at run time
    has_standard_form: bool = True  # in ratified operations, or those of NNEFC_control_flow

    @property
    def is_tracts(self) -> bool:
        return "tract" in self.head

    def external(self, name: str, value: np.ndarray) -> str:
        types = {np.dtype(F32): ("scalar", "f32"), np.dtype(I64): ("integer", "i64"), np.dtype(bool): ("logical", "bool")}
        ours, theirs = types[value.dtype]
        shape = ["N", *value.shape[1:]] if self.is_open else list(value.shape)
        shape = f"[{', '.join(map(str, shape))}]"
        if self.is_tracts:
            return f"    {name} = tract_core_external(shape = {shape}, datum_type = '{theirs}');\n"
        return f"    {name} = external<{ours}>(shape = {shape});\n"

    def write(self, folder: Path) -> Path:
        folder.mkdir()
        for label, value in self.variables.items():
            write_dat(folder / f"{label}.dat", value)
        lines = "".join(self.external(name, value) for name, value in self.inputs.items())
        lines += "".join(f"    {label} = variable<scalar>(shape = {list(value.shape)}, label = '{label}');\n"
                         for label, value in self.variables.items())
        statements = "".join(f"    {line.strip()}\n" for line in self.statements.strip().splitlines())
        (folder / "graph.nnef").write_text(f"version 1.0;\n{self.head}graph network( {', '.join(self.inputs)} ) -> ( y )\n{{\n"
                                           f"{lines}{statements}}}\n")
        return folder


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def shifted_sum(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Computes a convolution of 1x1 windows."""
    return np.einsum("nchw,fc->nfhw", x, w)


def max_pool(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return windows.max((-2, -1))


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    return softmax(scores, -1) @ v


def lstm(x: np.ndarray, w: np.ndarray, r: np.ndarray, backward: bool = False) -> np.ndarray:
    """Returns all outputs of a cell with gates input, forget, new, output; x: [time, batch, features]."""
    h = c = np.zeros((x.shape[1], r.shape[1]), F32)
    outputs = {}
    for t in sorted(range(len(x)), reverse=backward):
        i, f, g, o = np.split(x[t] @ w.T + h @ r.T, 4, axis=-1)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        outputs[t] = h
    return np.stack([outputs[t] for t in range(len(x))])


LSTM = FRAGMENTS + OPERATORS + """extension tract_registry tract_core;
fragment cell( c: tensor<scalar>, x_t: tensor<scalar>, r: tensor<scalar>, w: tensor<scalar>, h: tensor<scalar> )
-> ( next_h: tensor<scalar>, next_c: tensor<scalar> )
{
    gates = matmul(x_t, w, transposeB = true) + matmul(h, r, transposeB = true);
    i = slice(gates, axes = [2], begin = [0], end = [3]);
    f = slice(gates, axes = [2], begin = [3], end = [6]);
    g = slice(gates, axes = [2], begin = [6], end = [9]);
    o = slice(gates, axes = [2], begin = [9], end = [12]);
    next_c = sigmoid(f) * c + sigmoid(i) * tanh(g);
    next_h = sigmoid(o) * tanh(next_c);
}
"""
LOOP = """(y, last) = tract_core_scan(body = 'cell', scan = [('x_t', x, 0, CHUNK)], full = [('w', w), ('r', r)],
state = [('h', zero, 'next_h'), ('c', zero, 'next_c')], output = [('next_h', 'full', 0, CHUNK), ('next_h', 'last', 0, CHUNK)], skip = 0);"""
T = RANDOM.standard_normal((5, 2, 4)).astype(F32)
WX, WH = RANDOM.standard_normal((1, 12, 4)).astype(F32), RANDOM.standard_normal((1, 12, 3)).astype(F32)
GATES = {"w": WX, "r": WH, "zero": np.zeros((1, 2, 3), F32)}
W1, W2 = RANDOM.standard_normal((3, 4, 1, 1)).astype(F32), RANDOM.standard_normal((4, 3, 1, 1)).astype(F32)
M = RANDOM.standard_normal((7, 5)).astype(F32)
Q, K, U = (RANDOM.standard_normal((1, 2, 3, 4)).astype(F32) for _ in range(3))
PLACES = RANDOM.integers(0, 4, (2, 3)).astype(I64)
SCATTERED = X[:, :, 0, 0].copy()
np.add.at(SCATTERED, (np.arange(2)[:, None], PLACES), X[:, :3, 1, 1])
ERF = np.vectorize(math.erf)

CASES = {
    # ---- deviations ----
    "array_for_tensor": Case("y = mul(x, [[[[0.5]], [[1.0]], [[1.5]], [[2.0]]]]);",
                             X * np.array([0.5, 1, 1.5, 2], F32).reshape(1, 4, 1, 1), {"array-for-tensor"}),
    "vector_for_tensor": Case("y = mul(x, [3.0, -1.0]);", X * np.array([3, -1], F32).reshape(2, 1, 1, 1), {"array-for-tensor"}),
    "array_operand": Case("y = x * [3.0, -1.0];", X * np.array([3, -1], F32).reshape(2, 1, 1, 1),
                          {"array-for-tensor", "operator-expressions"}),
    "raised_number": Case("two = unsqueeze(2, axes = [0, 1, 2, 3]);\ny = add(x, two);", X + 2, {"array-for-tensor"}),
    "tensor_for_attribute": Case("y = leaky_relu(x, alpha = slope);", np.where(X < 0, X * F32(0.3), X), {"tensor-for-attribute"},
                                 variables={"slope": np.array(0.3, F32)}),
    "tensor_in_list": Case("k = constant<integer>(shape = [1], value = [2]);\ny = slice(x, axes = [1], begin = [k], end = [4]);",
                           X[:, 2:], {"tensor-for-attribute"}),
    "tensor_through_views": Case("k = constant<integer>(shape = [1], value = [2]);\na = unsqueeze(k, axes = [0]);\n"
                                 "b = squeeze(a, axes = [1]);\ny = slice(x, axes = [1], begin = [b], end = [4]);",
                                 X[:, 2:], {"tensor-for-attribute"}),
    "quoted_name": Case("i\"block.0/a\" = relu(x);\ny = neg(i'block.0/a');", -np.maximum(X, 0), {"quoted-name"}),
    "positional_attribute": Case("y = leaky_relu(x, 0.5);", np.where(X < 0, X * F32(0.5), X), {"positional-attribute"}),
    "single_item": Case("y = softmax(x, axes = 3);", softmax(X, 3), {"single-item"}),
    "array_for_tuple": Case("y = pad(x, padding = [[0, 0], [0, 0], [1, 0], [2, 1]], value = 3.0);",
                            np.pad(X, ((0, 0), (0, 0), (1, 0), (2, 1)), constant_values=3), {"array-for-tuple"}),
    "number_type": Case("a = add(x, 1);\ny = clamp(a, 0, 1);", np.clip(X + 1, 0, 1), {"number-type"}),
    "data_type": Case("c = gt(x, 0.0);\ny = mul(x, c);", np.where(X > 0, X, 0), {"data-type"}),
    "whole_tensors": Case("s = add(i, i);\nt = mul(s, 3);\ny = gather(x, t, axis = 3);", X[..., [0, 0]], {"data-type", "number-type"},
                          inputs={"x": X, "i": np.zeros(2, I64)}),
    "reassigned": Case("a = neg(x);\nb = relu(a);\na = add(b, b);\ny = sub(a, x);", 2 * np.maximum(-X, 0) - X, {"reassigned"}),
    "surplus_argument": Case("y = sigmoid(x, axes = [1]);", 1 / (1 + np.exp(-X)), {"surplus-argument"}),
    "surplus_position": Case("y = relu(x, 0.0);", np.maximum(X, 0), {"surplus-argument"}),
    "negative_axis": Case("a = unsqueeze(x, axes = [-1]);\nb = squeeze(a, axes = [-1]);\nc = concat([b, b], axis = -1);\n"
                          "y = sum_reduce(c, axes = [-2]);", np.concatenate([X, X], -1).sum(-2, keepdims=True), {"negative-axis"}),
    "negative_index": Case("i = constant<integer>(shape = [2, 2], value = [0, -1, 2, -4]);\ny = gather(x, i, axis = 3);",
                           X[..., [[0, -1], [2, -4]]], {"negative-index"}),
    "vector_operand": Case("y = conv(x, w, b);", shifted_sum(X, W1[..., 0, 0]) + V[:3].reshape(1, 3, 1, 1), {"vector-operand"},
                           variables={"w": W1, "b": V[:3]}),
    "matrix_rank": Case("y = linear(x, w);", X @ M.T, {"matrix-rank"}, variables={"w": M}),
    "operators": Case("y = x * 2.0 - x / 4.0;", X * 2 - X / 4, {"operator-expressions"}),
    "fragments": Case("y = twice(x);", 2 * X, {"fragment-definitions"},
                      head="fragment twice( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = add(x, x); }\n"),
    "own_operation": Case("y = elu(x, 2.0);", np.where(X < 0, 2 * np.expm1(X), X), {"redefined-operation", "positional-attribute"},
                          head=FRAGMENTS + OPERATORS + "fragment elu( x: tensor<scalar>, alpha: scalar = 1.0 ) -> ( y: tensor<scalar> )\n"
                          "{ y = select(x < 0.0, alpha * (exp(x) - 1.0), x); }\n"),
    "non_finite": Case("y = max(min(x, inf), -inf);", X, {"non-finite", "operator-expressions"}),
    # ---- tract ----
    "erf": Case("y = tract_core_erf(x);", ERF(X), set(), head=TRACT, has_standard_form=False),
    "round_even": Case("a = mul(x, 4.0);\ny = tract_core_round_even(a);", np.round(X * 4), set(), head=TRACT, has_standard_form=False),
    "hard_swish": Case("y = tract_core_hard_swish(x);", X * np.clip(X + 3, 0, 6) / 6, set(), head=TRACT),
    "silu": Case("y = tract_core_silu(x);", X / (1 + np.exp(-X)), set(), head=TRACT),
    "gelu_approx": Case("y = tract_core_gelu_approx(x, fast_impl = true);",
                        0.5 * X * (1 + np.tanh(math.sqrt(2 / math.pi) * (X + 0.044715 * X**3))), set(), head=TRACT),
    "log_softmax": Case("a = mul(x, 100.0);\ny = tract_core_log_softmax(a, axes = [1]);",
                        (lambda z: z - z.max(1, keepdims=True) - np.log(np.exp(z - z.max(1, keepdims=True)).sum(1, keepdims=True)))(
                            X * 100), set(), head=TRACT),
    "rms_norm": Case("y = tract_core_rms_norm(x, axis = 3, eps = 0.001);", X / np.sqrt((X**2).mean(3, keepdims=True) + 1e-3), set(),
                     head=TRACT),
    "to_integer": Case("i = tract_core_cast(x, to = 'i64');\ny = tract_core_cast(i, to = 'f32');", np.trunc(X), set(), head=TRACT,
                       has_standard_form=False),
    "is_inf": Case("a = div(x, 0.0);\nc = tract_core_is_inf(a);\ny = tract_core_cast(c, to = 'f32');", np.ones_like(X), set(), head=TRACT),
    "gather": Case("y = tract_core_gather(x, i, axis = 1);", X[:, PLACES], set(), inputs={"x": X, "i": PLACES}, head=TRACT),
    "gather_elements": Case("y = tract_core_gather_elements(x, i, axis = 1);", np.take_along_axis(X[:, :, 0, 0], PLACES, 1), set(),
                            inputs={"x": X[:, :, 0, 0], "i": PLACES}, head=TRACT, has_standard_form=False),
    "einsum": Case("y = tract_core_einsum([x, x], expr = 'nchw,ndhw->ncd', acc = 'f32', output = '');",
                   np.einsum("nchw,ndhw->ncd", X, X), set(), head=TRACT, has_standard_form=False),
    "topk": Case("y, places = tract_core_topk(x, k = 2, axis = 1, largest = true);", -np.sort(-X, 1)[:, :2], set(), head=TRACT,
                 has_standard_form=False),
    "scatter_elements": Case("y = tract_core_scatter_elements(x, i, u, axis = 1, reduction = 'add');", SCATTERED, set(),
                             inputs={"x": X[:, :, 0, 0], "i": PLACES, "u": X[:, :3, 1, 1]}, head=TRACT, has_standard_form=False),
    "product_reduce": Case("y = tract_core_product_reduce(x, axes = [2]);", X.prod(2, keepdims=True), set(), head=TRACT,
                           has_standard_form=False),
    "one_hot": Case("y = tract_core_one_hot(i, axis = 1, dim = 4);", np.eye(4, dtype=F32)[PLACES].swapaxes(1, 2), set(),
                    inputs={"i": PLACES}, head=TRACT),
    "raised_broadcast": Case("y = tract_core_broadcast(x, shape = [3, 2, 4, 6, 5]);", np.broadcast_to(X, (3, *X.shape)), set(), head=TRACT),
    "trilu_upper": Case("y = tract_core_trilu(x, k = 1, upper = true);", np.triu(X, 1), set(), head=TRACT),
    "trilu_lower": Case("y = tract_core_trilu(x, k = -1, upper = false);", np.tril(X, -1), set(), head=TRACT),
    "range": Case("i = tract_core_range(1, 6, step = 2);\nj = tract_core_cast(i, to = 'f32');\nk = unsqueeze(j, axes = [0, 1, 2]);\n"
                  "s = slice(x, axes = [3], begin = [0], end = [3]);\ny = mul(s, k);", X[..., :3] * np.array([1, 3, 5], F32),
                  set(), head=TRACT),
    "broadcast": Case("s = slice(x, axes = [1], begin = [0], end = [1]);\ny = tract_core_broadcast(s, shape = [2, 3, 6, 5]);",
                      np.broadcast_to(X[:, :1], (2, 3, 6, 5)), set(), head=TRACT),
    "downsample": Case("y = tract_core_downsample(x, axis = 2, stride = 2, modulo = 1);", X[:, :, 1::2], set(), head=TRACT),
    "resize_nearest": Case("y = tract_core_resize(x, scales = s, interpolator = 'nearest', coord_transformer = 'asymmetric');",
                           X.repeat(2, 2).repeat(3, 3), set(), variables={"s": np.array([1, 1, 2, 3], F32)}, head=TRACT),
    "attention": Case("y = tract_transformers_sdpa(q, k, v, is_causal = false);", attention(Q, K, U, False), set(),
                      inputs={"q": Q, "k": K, "v": U}, head=TRACT),
    "causal_attention": Case("y = tract_transformers_sdpa(q, k, v, is_causal = true);", attention(Q, K, U, True), set(),
                             inputs={"q": Q, "k": K, "v": U}, head=TRACT),
    "masked_attention": Case("m = ge(w, 0.0);\ny = tract_transformers_sdpa(q, k, v, m);", attention(Q, K, U, True), set(),
                             inputs={"q": Q, "k": K, "v": U}, variables={"w": np.where(np.tri(3), 1, -1).astype(F32)[None, None]},
                             head=TRACT, has_standard_form=False),
    "added_mask": Case("y = tract_transformers_sdpa(q, k, v, w, scale = 0.5);",
                       softmax(Q @ K.swapaxes(-1, -2) / 2 + V[:3], -1) @ U, set(), inputs={"q": Q, "k": K, "v": U},
                       variables={"w": V[:3].reshape(1, 1, 1, 3)}, head=TRACT),
    "windows": Case("y = max_pool(x, size = [1, 1, 3, 3], padding = [(0, 0), (0, 0), (1, 1), (1, 1)], border = 'constant');",
                    max_pool(X), set(), head=TRACT),
    "deconvolution": Case("y = deconv(x, w);", shifted_sum(X, W1[..., 0, 0]), set(), variables={"w": W1}, head=TRACT),
    "grouped_deconvolution": Case(
        "y = deconv(x, w, groups = 2);",
        np.concatenate([shifted_sum(X[:, :2], W2[:2, :2, 0, 0]), shifted_sum(X[:, 2:], W2[2:, :2, 0, 0])], 1), set(),
        variables={"w": W2[:, :2]}, head=TRACT),
    "shapes": Case("s = tract_core_shape_of(x);\nn = slice(s, axes = [0], begin = [0], end = [1]);\nd = squeeze(n, axes = [0]);\n"
                   "m = mul(d, 4);\ny = reshape(x, shape = [m, -1]);", X.reshape(8, 30), set(), head=TRACT),
    "computed_extents": Case(
        "s = tract_core_shape_of(x);\nn = squeeze(slice(s, axes = [0], begin = [1], end = [2]), axes = [0]);\n"
        "f = div(tract_core_cast(n, to = 'f32'), 2.0);\nh = tract_core_cast(select(f < 0.0, ceil(f), floor(f)), to = 'i64');\n"
        "from = bounded(-3, n);\np = slice(x, axes = [1], begin = [from], end = [n]);\nq = reshape(p, shape = [h, -1]);\n"
        "r = tract_core_range(0, n);\ng = tract_core_gather(x, r, axis = 1);\nt = sum_reduce(g, axes = [1, 2, 3]);\n"
        "y = add(q, reshape(t, shape = [h, 1]));", X[:, 1:].reshape(2, -1) + X.sum((1, 2, 3))[:, None],
        {"tensor-for-attribute"},
        head=TRACT + "extension tract_symbol N;\n" + FRAGMENTS + OPERATORS +
        """fragment bounded( index: tensor<scalar>, size: tensor<scalar> ) -> ( place: tensor<scalar> )
{
    offset = select(ge(index, 0), 0, size);
    place = tract_core_cast(min(max(0, offset + index), size), to = 'tdim');
}
""", is_open=True),
    "symbols": Case("s = tract_core_shape_of(x);\nn = slice(s, axes = [0], begin = [0], end = [1]);\nd = squeeze(n, axes = [0]);\n"
                    "t = mul(x, 2.0);\ny = add(t, w);", X * 2 + X, set(), inputs={"x": X, "w": X},
                    head=TRACT + "extension tract_symbol N;\nextension tract_assert N >= 1;\n", is_open=True),
}


CASES.update({
    "scan": Case(LOOP.replace("CHUNK", "1").replace("\n", " "), lstm(T, WX[0], WH[0]), set(), inputs={"x": T}, variables=GATES, head=LSTM),
    "scan_from_the_end": Case(LOOP.replace("CHUNK", "-1").replace("\n", " "), lstm(T, WX[0], WH[0], True), set(), inputs={"x": T},
                              variables=GATES, head=LSTM),
    "running_sum": Case("first = slice(x, axes = [1], begin = [0], end = [1]);\nzero = sub(first, first);\ny = running_sum(x, zero);",
                        X.cumsum(1), set(), head=FRAGMENTS + OPERATORS + TRACT.splitlines()[0] + """
fragment add_to( part: tensor<scalar>, sum: tensor<scalar> ) -> ( next: tensor<scalar> ) { next = part + sum; }
fragment running_sum( input: tensor<scalar>, zero: tensor<scalar> ) -> ( output: tensor<scalar> )
{
    output = tract_core_scan(body = 'add_to', scan = [('part', input, 1, 1)], full = [], state = [('sum', zero, 'next')],
        output = [('next', 'full', 1, 1)], skip = 0, reset_every_turn = false);
}
"""),
    "scan_last": Case(LOOP.replace("(y, last)", "(all, y)").replace("CHUNK", "1").replace("\n", " "), lstm(T, WX[0], WH[0])[-1:], set(),
                      inputs={"x": T}, variables=GATES, head=LSTM),
})


def told(stderr: str) -> set[str]:
    return set(re.findall(r"\[lenient\.([a-z-]+)\]", stderr))


@pytest.mark.parametrize("name", CASES)
def test_lenient_document(name: str, nnefc: Path, tmp_path: Path) -> None:
    tool = Nnefc(nnefc, tmp_path)
    case = CASES[name]
    model = case.write(tmp_path / "model")
    np.savez(tmp_path / "in.npz", **case.inputs)
    shapes = [f"--input-shape={key}={','.join(map(str, value.shape))}" for key, value in case.inputs.items()] if case.is_open else []
    checked = tool.call("check", model, "--lenient", *shapes)
    assert checked.returncode == 0, checked.stderr
    assert told(checked.stderr) == case.deviations
    if case.deviations and not case.is_tracts:
        assert tool.call("check", model, "--strict").returncode == 1
    for backend in ("reference", "fast"):
        outputs = tool.run(model, "--lenient", "--inputs", tmp_path / "in.npz", "--backend", backend)
        np.testing.assert_allclose(outputs["y"], case.expected, rtol=1e-4, atol=1e-5)
    strict = case.write(tmp_path / "strict")
    (strict / "graph.nnef").write_text(tool.must("expand", model, "--lenient", *shapes))
    tool.must("upgrade", model, "--lenient", *shapes, "-o", tmp_path / "upgraded")
    assert ("extension tract" in (strict / "graph.nnef").read_text()) == (not case.has_standard_form)
    for printed in (strict, tmp_path / "upgraded"):
        again = tool.call("check", printed, "--strict")
        assert (again.returncode, again.stderr) == (0, "")
        outputs = tool.run(printed, "--strict", "--inputs", tmp_path / "in.npz")
        np.testing.assert_allclose(outputs["y"], case.expected, rtol=1e-4, atol=1e-5)


def test_each_deviation_is_told_once(nnefc: Path, tmp_path: Path) -> None:
    tool = Nnefc(nnefc, tmp_path)
    case = Case("a = add(x, 1);\nb = add(a, 2);\ny = add(b, 3);", X, set())
    told_of = tool.call("check", case.write(tmp_path / "model"), "--lenient").stderr
    assert told_of.count("[lenient.number-type]") == 1
    assert "graph.nnef:5:16: warning" in told_of and "(the first of 3 places)" in told_of


@pytest.mark.parametrize("argument,parameter", [("ax = [1]", None), ("axis = [1]", "axes"), ("axess = [1]", "axes"), ("axse = [1]", "axes"),
                                                ("axes = [1], axess = [2]", None)])
def test_a_misspelt_name_is_no_surplus_argument(argument: str, parameter: str | None, nnefc: Path, tmp_path: Path) -> None:
    """Without the argument, the result would be another one."""
    path = tmp_path / "net.nnef"
    path.write_text("version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n"
                    f"    y = softmax(x, {argument});\n}}\n")
    done = Nnefc(nnefc, tmp_path).call("check", "--lenient", path)
    if parameter is None:
        assert done.returncode == 0 and "is left out [lenient.surplus-argument]" in done.stderr
    else:
        assert done.returncode == 1 and f"did you mean `{parameter}`?" in done.stderr, done.stderr


def test_a_mark_of_an_exporter_is_enough(nnefc: Path, tmp_path: Path) -> None:
    tool = Nnefc(nnefc, tmp_path)
    marked = Case("two_aligned_rank_expanded = unsqueeze(2, axes = [0, 1, 2, 3]);\ny = add(x, two_aligned_rank_expanded);", X + 2, set())
    model = marked.write(tmp_path / "model")
    assert tool.call("check", model).returncode == 0
    assert tool.call("check", model, "--strict").returncode == 1


def test_symbols_are_told_by_the_data(nnefc: Path, tmp_path: Path) -> None:
    """One document for several extents; `check` runs without any."""
    tool = Nnefc(nnefc, tmp_path)
    (tmp_path / "net.nnef").write_text("""version 1.0;
extension tract_registry tract_core;
extension tract_symbol N;
extension tract_symbol M;
extension tract_assert N >= 1;
graph net( x, y ) -> ( z )
{
    x = tract_core_external(shape = [N, M, 6], datum_type = 'f32');
    y = tract_core_external(shape = [M, 3], datum_type = 'f32');
    s = tract_core_shape_of(x);
    n = slice(s, axes = [0], begin = [0], end = [1]);
    m = slice(s, axes = [0], begin = [1], end = [2]);
    m0 = squeeze(m, axes = [0]);
    r = reshape(x, shape = [squeeze(n, axes = [0]), m0, 2, 3]);
    u = unsqueeze(y, axes = [0, 2]);
    z = add(r, u);
}
""")
    assert tool.call("check", tmp_path / "net.nnef").returncode == 0
    done = tool.call("compile", tmp_path / "net.nnef", "-o", tmp_path / "net.xml")
    assert done.returncode == 0, done.stderr
    for n, m in ((1, 1), (2, 5), (7, 3)):
        x, y = RANDOM.standard_normal((n, m, 6)).astype(F32), RANDOM.standard_normal((m, 3)).astype(F32)
        np.savez(tmp_path / "in.npz", x=x, y=y)
        for model in ("net.nnef", "net.xml"):
            outputs = tool.run(tmp_path / model, "--inputs", tmp_path / "in.npz")
            np.testing.assert_allclose(outputs["z"], x.reshape(n, m, 2, 3) + y[None, :, None], rtol=1e-6)
    np.savez(tmp_path / "in.npz", x=np.zeros((2, 5, 6), F32), y=np.zeros((4, 3), F32))
    wrong = tool.call("run", tmp_path / "net.nnef", "--inputs", tmp_path / "in.npz")
    assert wrong.returncode == 1 and "[external.symbol]" in wrong.stderr


@pytest.mark.parametrize("operand", ["[[1.0, 2.0], [3.0]]", "[]", "[[1.0], 2.0]", "[1.0, 'b']"])
def test_lists_that_are_no_tensors(operand: str, nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text("version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2, 2]);\n"
                                       f"    y = add(x, {operand});\n}}\n", encoding="utf-8")
    done = Nnefc(nnefc, tmp_path).call("check", tmp_path / "net.nnef", "--lenient")
    assert done.returncode == 1 and done.stderr.count("error: ") == 1, done.stderr


# Operations on the extent of an open axis: unknown when the document is checked, and known at run time.
OF_EXTENT = {
    "range_up": ("y = x * unsqueeze(tract_core_range(0, n, step = 1), axes = [0]);", lambda x: x * np.arange(x.shape[1])),
    "range_down": ("y = x * unsqueeze(tract_core_range(n, 0, step = -1), axes = [0]);", lambda x: x * np.arange(x.shape[1], 0, -1)),
    "range_in_halves": ("y = x * unsqueeze(tract_core_range(0.0, 0.5 * n, step = 0.5), axes = [0]);", lambda x: x * np.arange(0, x.shape[1] / 2, 0.5)),
    "condition": ("y = relu(x) if n > 3 else neg(x);", lambda x: np.maximum(x, 0) if x.shape[1] > 3 else -x),
    "condition_in_list": ("y = pad(x, padding = [(0, 0), (0, 2 if n > 3 else 1)], value = 7.0);",
                          lambda x: np.pad(x, ((0, 0), (0, 2 if x.shape[1] > 3 else 1)), constant_values=7)),
    "comprehension": ("y = concat([for i in range_of([0] * n) yield x * scalar(i)], axis = 0);",
                      lambda x: np.concatenate([x * i for i in range(x.shape[1])])),
    "subscript": ("k = [for i in range_of([0] * 16) yield scalar(i + 2)];\n    y = x * k[n - 1];", lambda x: x * (x.shape[1] + 1)),
    "part": ("k = [for i in range_of([0] * 16) yield scalar(i + 2)];\n    y = x * unsqueeze(k[:n], axes = [0]);",
             lambda x: x * np.arange(2, x.shape[1] + 2)),
    "equal": ("y = relu(x) if n == 5 || n < 2 else neg(x);", lambda x: np.maximum(x, 0) if x.shape[1] in (1, 5) else -x),
}


@pytest.mark.parametrize("case", OF_EXTENT)
def test_an_extent_that_the_data_tell(case: str, nnefc: Path, tmp_path: Path) -> None:
    statement, formula = OF_EXTENT[case]
    tool = Nnefc(nnefc, tmp_path)
    (tmp_path / "net.nnef").write_text(f"""version 1.0;
extension tract_registry tract_core;
extension KHR_enable_fragment_definitions;
extension KHR_enable_operator_expressions;
extension tract_symbol S;
fragment of_extent( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{{
    n = shape_of(x)[1];
    {statement}
}}
graph net( x ) -> ( y )
{{
    x = tract_core_external(shape = [2, S], datum_type = 'f32');
    y = of_extent(x);
}}
""", encoding="utf-8")
    done = tool.call("check", tmp_path / "net.nnef")
    assert done.returncode == 0, done.stderr
    for extent in (5, 1, 4, 7):
        x = RANDOM.standard_normal((2, extent)).astype(F32)
        np.savez(tmp_path / "in.npz", x=x)
        for backend in ("reference", "fast"):
            found = tool.run(tmp_path / "net.nnef", "--inputs", tmp_path / "in.npz", "--backend", backend)["y"]
            np.testing.assert_allclose(found, formula(x), rtol=1e-6)


ASSERTING = """version 1.0;
extension tract_registry tract_core;
extension tract_symbol B;
extension tract_symbol S;
{}
graph net( x, y ) -> ( z )
{{
    x = tract_core_external(shape = [B, S], datum_type = 'f32');
    y = tract_core_external(shape = [S, 3], datum_type = 'f32');
    z = matmul(x, y);
}}
"""


@pytest.mark.parametrize("condition, extents, holds", [
    ("S >= 1", (2, 5), True), ("S + B <= 16", (2, 14), True), ("S + B <= 16", (2, 15), False), ("1 <= B < 4", (4, 3), False),
    ("1 <= B < 4", (3, 3), True), ("2*S == B", (6, 3), True), ("2*S == B", (5, 3), False), ("(S - 1) / 2 != B", (3, 7), False),
    ("-S > -4", (1, 4), False), ("B != 7", (7, 1), False), ("tg: S == 1", (2, 5), True), ("Q >= 100", (2, 5), True),
])
def test_assertions_are_checked_by_the_data(condition: str, extents: tuple[int, int], holds: bool, nnefc: Path, tmp_path: Path) -> None:
    tool = Nnefc(nnefc, tmp_path)
    (tmp_path / "net.nnef").write_text(ASSERTING.format(f"extension tract_assert {condition};"))
    assert tool.call("check", tmp_path / "net.nnef").returncode == 0
    b, s = extents
    np.savez(tmp_path / "in.npz", x=np.ones((b, s), F32), y=np.ones((s, 3), F32))
    done = tool.call("run", tmp_path / "net.nnef", "--inputs", tmp_path / "in.npz")
    assert done.returncode == (0 if holds else 1), done.stderr
    assert ("[assertion.fails]" in done.stderr) == (not holds)
    assert holds or f"`{condition}` does not hold" in done.stderr


@pytest.mark.parametrize("command", ["expand", "upgrade"])
def test_infinities_are_printed_in_strict_form(command: str, nnefc: Path, tmp_path: Path) -> None:
    """As in attention masks: a number out of range of f32, which is an infinity there, on both backends and in OpenVINO
    IR."""
    tool = Nnefc(nnefc, tmp_path)
    x = np.array([[-1, 0, 2, 3.0e38]], F32)
    (tmp_path / "net.nnef").write_text(f"version 1.0;\n{TRACT}graph net( x ) -> ( y, z, m )\n{{\n"
                                       "    x = external<scalar>(shape = [1, 4]);\n    y = add(x, [[0.0, -inf, inf, 0.0]]);\n"
                                       "    z = min(max(x, -inf), inf);\n    m = pad(x, padding = [(0, 0), (1, 1)], value = -inf);\n}\n",
                                       encoding="utf-8")
    np.savez(tmp_path / "in.npz", x=x)
    strict = tmp_path / "strict.nnef"
    strict.write_text(tool.must(command, tmp_path / "net.nnef"), encoding="utf-8")
    assert "inf" not in strict.read_text() and "extension" not in strict.read_text()
    done = tool.call("check", strict, "--strict")
    assert (done.returncode, done.stderr) == (0, "")
    tool.must("compile", strict, "-o", tmp_path / "net.xml")
    for model in (strict, tmp_path / "net.xml"):
        for backend in ("reference", "fast"):
            outputs = tool.run(model, "--inputs", tmp_path / "in.npz", "--backend", backend)
            np.testing.assert_array_equal(outputs["y"], x + np.array([[0, -np.inf, np.inf, 0]], F32))
            np.testing.assert_array_equal(outputs["z"], x)
            np.testing.assert_array_equal(outputs["m"], np.pad(x, ((0, 0), (1, 1)), constant_values=-np.inf))
