"""`if_else` and `tensor_iterator` of NNEF documents (NNEFC_control_flow): run by both backends and, written as IR, by
OpenVINO against the formulas of the rules in NumPy. An expanded document becomes the same IR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")
from openvino import opset8 as op  # noqa: E402

from openvino_oracle import assert_close, openvino_outputs  # noqa: E402

F32, I64 = np.float32, np.int64
HEAD = """version 1.0;
extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
extension NNEFC_control_flow;
"""
TYPES = {np.dtype(F32): "", np.dtype(I64): "<integer>", np.dtype(bool): "<logical>"}


@dataclass
class Case:
    fragments: str
    inputs: dict[str, np.ndarray]
    statements: str
    results: list[str]
    expected: list[np.ndarray]
    openvino: bool = True  # its CPU plug-in runs it; results of an If of dynamic rank it only reads

    def document(self) -> str:
        externals = "\n".join(f"    {name} = external{TYPES[value.dtype]}(shape = {list(value.shape)});"
                              for name, value in self.inputs.items())
        return (f"{HEAD}{self.fragments}\ngraph net( {', '.join(self.inputs)} ) -> ( {', '.join(self.results)} )\n"
                f"{{\n{externals}\n    {self.statements}\n}}\n")


CASES: dict[str, Callable[[], Case]] = {}


def case(make: Callable[[], Case]) -> Callable[[], Case]:
    CASES[make.__name__] = make
    return make


def random(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(F32)


# --- if_else ------------------------------------------------------------------------------------

X, Y = np.array([[[1, 2], [3, 4]]], F32), np.array([[[2, 1], [2, 3]]], F32)
BRANCHES = """
fragment times( x: tensor<scalar>, y: tensor<scalar> ) -> ( z: tensor<scalar>, first: tensor<scalar> )
{ z = x * y; first = x; }
fragment plus( x: tensor<scalar>, y: tensor<scalar> ) -> ( z: tensor<scalar>, first: tensor<scalar> )
{ z = x + y; first = 2.0 * x; }
"""


def choice(condition: np.ndarray) -> Case:
    taken = bool(condition.reshape(-1)[0])
    return Case(BRANCHES, {"c": condition, "x": X, "y": Y},
                "[z, first] = if_else(c, [x, y], then_body = 'times', else_body = 'plus');", ["z", "first"],
                [X * Y, X] if taken else [X + Y, 2 * X])


for _name, _condition in {"then": [True], "else": [False], "then_of_rank_0": True, "else_of_rank_0": False,
                          "then_of_rank_3": [[[True]]], "else_of_rank_3": [[[False]]]}.items():
    CASES[f"if_{_name}"] = lambda condition=_condition: choice(np.array(condition))


RANKS = """
fragment row( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = squeeze(x, axes = [0]); }
fragment doubled( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = 2.0 * x; }
fragment same( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = copy(x); }
fragment positive( x: tensor<scalar> ) -> ( y: tensor<logical> ) { y = x > 0.0; }
fragment last( x: tensor<scalar> ) -> ( y: tensor<logical> ) { y = squeeze(x > 0.0, axes = [0, 1]); }
"""


def ranks(first: bool, second: bool) -> Case:
    """The rank of a result is that of the chosen body; another choice, a copy and a cast take it."""
    z = X[0] if first else 2 * X
    return Case(RANKS, {"c": np.array([first]), "d": np.array([second]), "x": X},
                "[z] = if_else(c, [x], then_body = 'row', else_body = 'doubled');"
                " [t] = if_else(d, [z], then_body = 'same', else_body = 'same'); i = cast<integer>(t); y = copy(t);",
                ["z", "i", "y"], [z, np.floor(z).astype(I64), z], openvino=False)


for _first in (True, False):
    for _second in (True, False):
        CASES[f"if_ranks_{_first}_{_second}"] = lambda one=_first, two=_second: ranks(one, two)


def condition_of_unknown_rank(first: bool) -> Case:
    """The condition of an `if_else` is the result of another one, of rank 1 or 3."""
    x = np.array([[[-1.0 if first else 1.0]]], F32)
    return Case(RANKS + BRANCHES, {"c": np.array([first]), "x": x, "v": X, "w": Y},
                "[d] = if_else(c, [x], then_body = 'last', else_body = 'positive');"
                " [z, u] = if_else(d, [v, w], then_body = 'times', else_body = 'plus');", ["z", "u"],
                [X + Y, 2 * X] if first else [X * Y, X], openvino=False)


CASES["condition_of_rank_1"] = lambda: condition_of_unknown_rank(True)
CASES["condition_of_rank_3"] = lambda: condition_of_unknown_rank(False)


def nested(outer: bool, inner: bool) -> Case:
    fragments = BRANCHES + """
fragment choose( d: tensor<logical>, x: tensor<scalar>, y: tensor<scalar> ) -> ( z: tensor<scalar> )
{ zs = if_else(d, [x, y], then_body = 'times', else_body = 'plus'); z = zs[0] + zs[1]; }
fragment minus( d: tensor<logical>, x: tensor<scalar>, y: tensor<scalar> ) -> ( z: tensor<scalar> )
{ z = select(d, x - y, y); }
"""
    chosen = (X * Y + X if inner else X + Y + 2 * X) if outer else (X - Y if inner else Y)
    return Case(fragments, {"c": np.array([outer]), "d": np.array([inner]), "x": X, "y": Y},
                "[z] = if_else(c, [d, x, y], then_body = 'choose', else_body = 'minus');", ["z"], [chosen])


for _outer in (True, False):
    for _inner in (True, False):
        CASES[f"nested_{_outer}_{_inner}".lower()] = lambda o=_outer, i=_inner: nested(o, i)


def constants(taken: bool) -> Case:
    fragments = """
fragment eight( x: tensor<scalar> ) -> ( z: tensor<scalar>, n: tensor<integer> )
{ z = 8.0; n = 1; }
fragment two( x: tensor<scalar> ) -> ( z: tensor<scalar>, n: tensor<integer> )
{ z = 2.0; n = 0; }
"""
    return Case(fragments, {"c": np.array([taken]), "x": X},
                "[z, n] = if_else(c, [x], then_body = 'eight', else_body = 'two');", ["z", "n"],
                [np.array(8 if taken else 2, F32), np.array(int(taken), I64)])


CASES["constants_then"] = lambda: constants(True)
CASES["constants_else"] = lambda: constants(False)


# --- tensor_iterator ----------------------------------------------------------------------------

SUM = """
fragment step( x: tensor<scalar>, h: tensor<scalar> ) -> ( next: tensor<scalar>, y: tensor<scalar> )
{ next = x + h; y = next; }
"""
PARTS = np.array([[1, 2, 3, 4]], F32)


def cut(x: np.ndarray, axis: int, stride: int = 1, start: int | None = None, end: int | None = None) -> list[np.ndarray]:
    """Returns the parts by the rule: [start, end) or, backwards, [end, start), where -1 is the position after the last."""
    extent, size = x.shape[axis], abs(stride)
    start = (-1 if stride < 0 else 0) if start is None else start
    end = (0 if stride < 0 else -1) if end is None else end
    first, last = sorted(extent + 1 + v if v < 0 else v for v in (start, end))
    parts = [x.take(range(at, at + size), axis) for at in range(first, last, size)]
    return parts[::-1] if stride < 0 else parts


def joined(parts: list[np.ndarray], axis: int, stride: int = 1) -> np.ndarray:
    return np.concatenate(parts[::-1] if stride < 0 else parts, axis)


def running_sum(x: np.ndarray, stride: int = 1, start: int | None = None, end: int | None = None,
                concat: int = 1) -> Case:
    parts = cut(x, 1, stride, start, end)
    state, states = np.zeros_like(parts[0]), []
    for part in parts:
        state = part + state
        states.append(state)
    lists = [f"slice_axes = [1], slice_strides = [{stride}], concat_axes = [1], concat_strides = [{concat}]"]
    lists += [f"slice_starts = [{start}]"] if start is not None else []
    lists += [f"slice_ends = [{end}]"] if end is not None else []
    return Case(SUM, {"x": x, "h": np.zeros_like(parts[0])},
                f"[last, ys] = tensor_iterator([x], [h], [], body = 'step', {', '.join(lists)});", ["last", "ys"],
                [state, joined(states, 1, concat)])


CASES |= {
    "forward": lambda: running_sum(PARTS),
    "reverse_in_and_out": lambda: running_sum(PARTS, stride=-1, concat=-1),
    "reverse_in": lambda: running_sum(PARTS, stride=-1),
    "reverse_out": lambda: running_sum(PARTS, concat=-1),
    "parts_of_2": lambda: running_sum(PARTS, stride=2, concat=2),
    "parts_of_2_reverse": lambda: running_sum(PARTS, stride=-2, concat=-2),
    "one_part": lambda: running_sum(PARTS, stride=4, concat=4),
    "from_1": lambda: running_sum(random(2, 6, 3), start=1),
    "to_last_but_one": lambda: running_sum(random(2, 6, 3), end=-2),
    "from_1_to_5_by_2": lambda: running_sum(random(2, 6, 3), stride=2, start=1, end=5, concat=2),
    "from_minus_3": lambda: running_sum(random(2, 6, 3), start=-3, end=6),
    "backwards_from_5_to_1": lambda: running_sum(random(2, 6, 3), stride=-2, start=5, end=1, concat=-2),
}


@case
def swap() -> Case:
    fragments = """
fragment step( x: tensor<scalar>, a: tensor<scalar>, b: tensor<scalar> ) -> ( c: tensor<scalar>, d: tensor<scalar> )
{ c = b; d = a; }
"""
    x, a, b = random(3), np.array([1], F32), np.array([2], F32)
    return Case(fragments, {"x": x, "a": a, "b": b},
                "[c, d] = tensor_iterator([x], [a, b], [], body = 'step', slice_axes = [0]);", ["c", "d"], [b, a])


@case
def two_sliced_and_invariant() -> Case:
    fragments = """
fragment step( x: tensor<scalar>, y: tensor<scalar>, m: tensor<scalar>, f: tensor<scalar> ) -> ( z: tensor<scalar> )
{ z = (x + y) * m + f; }
"""
    return Case(fragments, {"x": np.array([[2, 3]], F32), "y": np.array([[4], [5]], F32), "m": np.array([[5]], F32),
                            "f": np.array([[0]], F32)},
                "[z] = tensor_iterator([x, y], [m], [f], body = 'step', slice_axes = [1, 0]);", ["z"],
                [np.array([[240]], F32)])


@case
def counter_beside_state() -> Case:
    fragments = """
fragment step( x: tensor<scalar>, n: tensor<integer>, h: tensor<scalar> )
-> ( m: tensor<integer>, next: tensor<scalar>, even: tensor<logical>, y: tensor<scalar> )
{ m = select(x > 0.0, n, 7); next = h + x; even = next > 1.0; y = 2.0; }
"""
    x = random(5, 2)
    sums = np.cumsum(x, 0, dtype=F32)
    n = np.array([[3, 4]], I64)
    for row in x:
        n = np.where(row > 0, n, 7)
    return Case(fragments, {"x": x, "n": np.array([[3, 4]], I64), "h": np.zeros([1, 2], F32)},
                "[m, h1, even, ys] = tensor_iterator([x], [n, h], [], body = 'step', slice_axes = [0],"
                " concat_axes = [0, 0]);", ["m", "h1", "even", "ys"],
                [n, sums[-1:], sums > 1, np.full(5, 2, F32)])


@case
def nothing_sliced() -> Case:
    fragments = """
fragment step( h: tensor<scalar>, x: tensor<scalar> ) -> ( next: tensor<scalar>, y: tensor<scalar> )
{ next = x + h; y = next; }
"""
    return Case(fragments, {"x": PARTS, "h": PARTS},
                "[last, ys] = tensor_iterator([], [h], [x], body = 'step', slice_axes = [], concat_axes = [1],"
                " concat_strides = [4]);", ["last", "ys"], [2 * PARTS, 2 * PARTS])


def loop_in_if(taken: bool) -> Case:
    fragments = SUM + """
fragment scan( x: tensor<scalar>, h: tensor<scalar> ) -> ( z: tensor<scalar> )
{ [last, z] = tensor_iterator([x], [h], [], body = 'step', slice_axes = [1], concat_axes = [1]); }
fragment twice( x: tensor<scalar>, h: tensor<scalar> ) -> ( z: tensor<scalar> )
{ z = 2.0 * x; }
"""
    return Case(fragments, {"c": np.array([taken]), "x": PARTS, "h": np.zeros([1, 1], F32)},
                "[z] = if_else(c, [x, h], then_body = 'scan', else_body = 'twice');", ["z"],
                [np.cumsum(PARTS, 1, dtype=F32) if taken else 2 * PARTS])


CASES["loop_in_if_then"] = lambda: loop_in_if(True)
CASES["loop_in_if_else"] = lambda: loop_in_if(False)


@case
def if_in_loop() -> Case:
    fragments = """
fragment add_it( x: tensor<scalar>, h: tensor<scalar> ) -> ( z: tensor<scalar> )
{ z = x + h; }
fragment keep_it( x: tensor<scalar>, h: tensor<scalar> ) -> ( z: tensor<scalar> )
{ z = h; }
fragment step( x: tensor<scalar>, h: tensor<scalar> ) -> ( next: tensor<scalar>, y: tensor<scalar> )
{ [next] = if_else(x > 0.0, [x, h], then_body = 'add_it', else_body = 'keep_it'); y = next; }
"""
    x = random(1, 9)
    sums = np.cumsum(np.where(x > 0, x, 0), 1, dtype=F32)
    return Case(fragments, {"x": x, "h": np.zeros([1, 1], F32)},
                "[last, ys] = tensor_iterator([x], [h], [], body = 'step', slice_axes = [1], concat_axes = [1]);",
                ["last", "ys"], [sums[:, -1:], sums])


@case
def loop_in_loop() -> Case:
    fragments = SUM + """
fragment row( x: tensor<scalar>, h: tensor<scalar> ) -> ( last: tensor<scalar>, ys: tensor<scalar> )
{ [last, ys] = tensor_iterator([x], [h], [], body = 'step', slice_axes = [1], concat_axes = [1]); }
"""
    x = random(3, 4)
    sums = np.cumsum(x.reshape(-1), dtype=F32).reshape(3, 4)
    return Case(fragments, {"x": x, "h": np.zeros([1, 1], F32)},
                "[last, ys] = tensor_iterator([x], [h], [], body = 'row', slice_axes = [0], concat_axes = [0]);",
                ["last", "ys"], [sums[-1:, -1:], sums])


LSTM = """
fragment gate( x: tensor<scalar>, h: tensor<scalar>, w: tensor<scalar>, r: tensor<scalar>, b: tensor<scalar> )
-> ( y: tensor<scalar> )
{ y = matmul(x, w, transposeB = true) + matmul(h, r, transposeB = true) + b; }

fragment lstm( x: tensor<scalar>, h: tensor<scalar>, c: tensor<scalar>, w: tensor<scalar>, r: tensor<scalar>,
               b: tensor<scalar> )
-> ( h1: tensor<scalar>, c1: tensor<scalar>, y: tensor<scalar> )
{
    gates = gate(squeeze(x, axes = [1]), h, w, r, b);
    [f, i, g, o] = split(gates, axis = 1, ratios = [1, 1, 1, 1]);
    c1 = sigmoid(f) * c + sigmoid(i) * tanh(g);
    h1 = sigmoid(o) * tanh(c1);
    y = unsqueeze(h1, axes = [1]);
}
"""


# --- while_loop ---------------------------------------------------------------------------------

WHILE = """
fragment double( go: tensor<logical>, h: tensor<scalar>, limit: tensor<scalar> )
-> ( more: tensor<logical>, next: tensor<scalar>, kept: tensor<scalar> )
{ next = 2.0 * h; more = next < limit; kept = unsqueeze(next, axes = [0]); }
fragment add_rows( row: tensor<scalar>, go: tensor<logical>, h: tensor<scalar>, limit: tensor<scalar> )
-> ( more: tensor<logical>, next: tensor<scalar>, kept: tensor<scalar> )
{ next = row + h; more = squeeze(sum_reduce(next, axes = [1]) < limit, axes = [0]); kept = copy(next); }
"""


def doubled(trips: int, go: bool, limit: float) -> Case:
    """h <- 2 h below the limit, at most so often. OpenVINO does not set the last condition without iterations."""
    h, kept, goes_on = np.array([1], F32), [], go
    while goes_on and (trips < 0 or len(kept) < trips):
        h = 2 * h
        kept.append(h)
        goes_on = bool(h[0] < limit)
    return Case(WHILE, {"n": np.array(trips), "c": np.array([go]), "h": np.array([1], F32), "limit": np.array([limit], F32)},
                "[go, last, all] = while_loop(n, [], [c, h], [limit], body = 'double', slice_axes = [], concat_axes = [0]);",
                ["go", "last", "all"], [np.array([goes_on]), h, np.array(kept, F32).reshape(-1, 1)],
                openvino=bool(kept))


for _trips in (0, 1, 3, 9, -1):
    for _go in (True, False):
        for _limit in (1.0, 8.0, 9.0):
            CASES[f"while_{_trips}_{_go}_{_limit}"] = lambda n=_trips, go=_go, limit=_limit: doubled(n, go, limit)


def rows_added(trips: int, limit: float, stride: int) -> Case:
    """The rows of a matrix, from either end, until their sum reaches the limit; a loop without a trip count has one for each row."""
    x, h, kept, goes_on = np.arange(15, dtype=F32).reshape(5, 3), np.zeros((1, 3), F32), [], True
    for row in x[::stride]:
        if not goes_on or len(kept) == trips:
            break
        h = h + row
        kept.append(h)
        goes_on = bool(h.sum() < limit)
    count = "" if trips < 0 else f"trip_count = {trips}, "
    return Case(WHILE, {"x": x, "h": np.zeros((1, 3), F32), "limit": np.array([limit], F32)},
                "c = constant<logical>(shape = [1], value = [true]);"
                f" [go, last, all] = while_loop({count}sliced = [x], merged = [c, h], invariant = [limit], body = 'add_rows',"
                f" slice_axes = [0], slice_strides = [{stride}], concat_axes = [0], concat_strides = [1]);", ["go", "last", "all"], [np.array([goes_on]), h, np.concatenate(kept)])


for _trips in (1, 3, 5, -1):
    for _limit in (0.0, 20.0, 1000.0):
        for _stride in (1, -1):
            CASES[f"while_rows_{_trips}_{_limit}_{_stride}"] = \
                lambda n=_trips, limit=_limit, stride=_stride: rows_added(n, limit, stride)


def lstm(stride: int) -> Case:
    """The complete layer of the documentation of TensorIterator-1, batch 1, 25 steps of 512 inputs and 256 states,
    compared with OpenVINO's LSTMSequence, whose gates are also in the order f, i, c, o."""
    steps, size, hidden = 25, 512, 256
    x, h, c = random(1, steps, size, seed=2), random(1, hidden, seed=3), random(1, hidden, seed=4)
    w, r = random(4 * hidden, size, seed=5) / 16, random(4 * hidden, hidden, seed=6) / 16
    b = random(1, 4 * hidden, seed=7)
    direction = "forward" if stride > 0 else "reverse"
    sequence = op.lstm_sequence(op.constant(x), op.constant(h[:, None]), op.constant(c[:, None]),
                                op.constant(np.array([steps], np.int32)), op.constant(w[None]), op.constant(r[None]),
                                op.constant(b), hidden, direction)
    compiled = ov.Core().compile_model(ov.Model([op.result(output) for output in sequence.outputs()], []), "CPU",
                                       {"INFERENCE_PRECISION_HINT": "f32"})
    ys, last_h, last_c = (compiled([])[index] for index in range(3))
    return Case(LSTM, {"x": x, "h": h, "c": c, "w": w, "r": r, "b": b},
                f"[hn, cn, ys] = tensor_iterator([x], [h, c], [w, r, b], body = 'lstm', slice_axes = [1],"
                f" slice_strides = [{stride}], concat_axes = [1], concat_strides = [{stride}]);",
                ["hn", "cn", "ys"], [last_h[:, 0], last_c[:, 0], ys[:, 0]])


CASES["lstm_forward"] = lambda: lstm(1)
CASES["lstm_reverse"] = lambda: lstm(-1)


@pytest.fixture(params=CASES)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Case, Path]:
    made_case = CASES[request.param]()
    document = tmp_path / "net.nnef"
    document.write_text(made_case.document(), encoding="utf-8")
    return made_case, document


def test_openvino_runs_what_is_written(made: tuple[Case, Path], nnefc: Path, tmp_path: Path) -> None:
    made_case, document = made
    tool = Nnefc(nnefc, tmp_path)
    tool.must("compile", document, "-o", tmp_path / "net.xml")
    if made_case.openvino:
        assert_close(openvino_outputs(tmp_path / "net.xml", made_case.inputs), made_case.expected)
    else:
        assert len(ov.Core().read_model(tmp_path / "net.xml").outputs) == len(made_case.expected)


@pytest.mark.parametrize("backend", ["reference", "fast"])
def test_nnefc_runs(made: tuple[Case, Path], backend: str, nnefc: Path, tmp_path: Path) -> None:
    made_case, document = made
    np.savez(tmp_path / "inputs.npz", **made_case.inputs)
    found = Nnefc(nnefc, tmp_path).run(document, "--inputs", tmp_path / "inputs.npz", "--backend", backend)
    assert_close([found[name] for name in made_case.results], made_case.expected)


def test_flat_documents_mean_the_same(made: tuple[Case, Path], nnefc: Path, tmp_path: Path) -> None:
    _, document = made
    tool = Nnefc(nnefc, tmp_path)
    flat = tmp_path / "flat.nnef"
    flat.write_text(tool.must("expand", document), encoding="utf-8")
    assert tool.must("expand", flat) == flat.read_text(encoding="utf-8")
    tool.must("compile", document, "-o", tmp_path / "net.xml")
    tool.must("compile", flat, "-o", tmp_path / "flat.xml")
    assert (tmp_path / "net.bin").read_bytes() == (tmp_path / "flat.bin").read_bytes()
    assert (tmp_path / "net.xml").read_bytes() == (tmp_path / "flat.xml").read_bytes()
