"""Provisional documents with the formulas of chapter 4 in NumPy.

Written from chapters 3 and 4 of the text. A case is the statements of a graph over its inputs; the names of the
expected values are the graph's results.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import numpy_operations as m
import numpy_oracle as n

RANDOM = np.random.default_rng(21)
Arrays = dict[str, np.ndarray]


@dataclass
class Case:
    name: str
    body: str
    expected: Callable[[], Arrays]
    inputs: Arrays
    fragments: str = ""
    variables: Arrays = field(default_factory=dict)

    def text(self) -> str:
        externals = "".join(f"    {name} = external(shape = {list(x.shape)})\n" for name, x in self.inputs.items())
        return (f"version 1.0\n{self.fragments}graph net( {', '.join(self.inputs)} ) -> ( {', '.join(self.expected())} )\n"
                f"{{\n{externals}{self.body}\n}}\n")


def data(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


X = data(2, 4, 6, 5)
POSITIVE = np.abs(X) + np.float32(0.25)
M = data(2, 3)
V = data(4)
LINE = data(1, 1, 8)
FILTER = data(3, 4, 3, 2)
EVEN = data(1, 2, 4, 4)
ROWS = data(2, 1, 3)
SQUARE = data(4, 4)
T = V.reshape(1, 1, 4)
CASES: list[Case] = []


def case(name: str, body: str, expected: Callable[[], Arrays], inputs: Arrays | None = None, fragments: str = "",
         **variables: np.ndarray) -> None:
    CASES.append(Case(name, body, expected, inputs or {"x": X}, fragments, variables))


def matrix(name: str, body: str, expected: Callable[[], Arrays], **more) -> None:
    case(name, body, expected, {"x": M}, **more)


def fragment(name: str, text: str, expected: Callable[[], np.ndarray], inputs: Arrays | None = None) -> None:
    """Returns a fragment f whose only tensor is x."""
    case(name, "    y = f(x)", lambda: {"y": expected()}, inputs, text)


# 4.3: windows, with this text's rule for lists and padding: missing entries are 1, or automatic, which may be negative.

def auto(X: int, f: int, s: int, d: int) -> tuple[int, int]:
    t = (math.ceil(X / s) - 1) * s + (f - 1) * d + 1 - X
    return math.floor(t / 2), math.ceil(t / 2)


def lists(extents, size, stride=(), dilation=(), padding=()) -> dict:
    rank = len(extents)
    fill = lambda a: [*a, *[1] * (rank - len(a))]  # noqa: E731
    size, stride, dilation = fill(size), fill(stride), fill(dilation)
    automatic = [auto(*each) for each in zip(extents, size, stride, dilation)]
    return dict(size=size, stride=stride, dilation=dilation, padding=[*padding, *automatic[len(padding):]])


def box(x: np.ndarray, size, border="constant", normalize=False, **window) -> np.ndarray:
    y = n.pool(x, "sum", border=border, **lists(x.shape, size, **window))
    return y / math.prod(size) if normalize else y


def pool(x: np.ndarray, kind: str, size, border="constant", **window) -> np.ndarray:
    return n.pool(x, kind, border=border, **lists(x.shape, size, **window))


def argmax(x: np.ndarray, size, border="constant", **window) -> np.ndarray:
    return m.argmax_pool(x, border=border, **lists(x.shape, size, **window))


def conv(x: np.ndarray, filter: np.ndarray, bias=0.0, border="constant", groups=1, **window) -> np.ndarray:
    arguments = lists(x.shape[2:], filter.shape[2:], **window)
    arguments.pop("size")
    return n.conv(x, filter, bias, border, groups=groups, **arguments)


def reverse(x: np.ndarray, size, border, stride, dilation, padding) -> tuple[list[int], Callable]:
    """Returns the up-scaled extents, and the elements of the window at an up-scaled position: pairs of an index and a
    value."""
    large = [(e - 1) * s + (f - 1) * d + 1 - p - q for e, s, f, d, (p, q) in zip(x.shape, stride, size, dilation, padding)]

    def seen(at):
        for j in itertools.product(*map(range, size)):
            scaled = [a + p - k * d for a, (p, _), k, d in zip(at, padding, j, dilation)]
            if any(a % s for a, s in zip(scaled, stride)):
                continue
            source = [n.source(a // s, z, border) for a, s, z in zip(scaled, stride, x.shape)]
            if None not in source:
                yield j, float(x[tuple(source)])

    return large, seen


def debox(x: np.ndarray, size, border="constant", normalize=False, stride=(), dilation=(), padding=()) -> np.ndarray:
    size, stride, dilation, padding = reverse_lists(x.shape, size, stride, dilation, padding)
    large, seen = reverse(x, size, border, stride, dilation, padding)
    y = np.array([sum(value for _, value in seen(at)) for at in np.ndindex(*large)]).reshape(large)
    return y / math.prod(size) if normalize else y


def deconv(x: np.ndarray, filter: np.ndarray, bias=0.0, border="constant", groups=1, **window) -> np.ndarray:
    lists_of = reverse_lists(x.shape[2:], filter.shape[2:], **window)
    inputs, outputs = filter.shape[0] // groups, filter.shape[1]
    planes = []
    for b, k1 in np.ndindex(x.shape[0], outputs * groups):
        total = 0.0
        for k2 in range(inputs):
            row = k1 // outputs * inputs + k2
            large, seen = reverse(x[b, row], lists_of[0], border, *lists_of[1:])
            plane = [sum(value * filter[(row, k1 % outputs, *j)] for j, value in seen(at)) for at in np.ndindex(*large)]
            total = total + np.array(plane).reshape(large)
        planes.append(total)
    y = np.stack(planes).reshape(x.shape[0], outputs * groups, *planes[0].shape)
    return y + n.per_channel(bias, y.ndim)


def reverse_lists(extents, size, stride=(), dilation=(), padding=()):
    """Completes lists as `lists` does; the automatic padding is that of the up-scaled extent x * s."""
    known = lists(extents, size, stride, dilation)
    large = [e * s for e, s in zip(extents, known["stride"])]
    padding = lists(large, size, stride, dilation, padding)["padding"]
    return known["size"], known["stride"], known["dilation"], padding


def contrast(x: np.ndarray, size, bias: float) -> np.ndarray:
    centred = x - box(x, size, normalize=True)
    return centred / np.sqrt(box(centred * centred, size, normalize=True) + bias)


def softmax(x: np.ndarray, axes=(1,)) -> np.ndarray:
    e = np.exp(x - x.max(axes, keepdims=True))
    return e / e.sum(axes, keepdims=True)


def channels(*values: float) -> np.ndarray:
    return np.array(values).reshape(1, -1, 1, 1)


CENTRES = V.reshape(1, 4, 1, 1).astype(float)
ROUND = m.round_up
SIGMOID = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731

# 3.1 and 3.2: names and lines

case("names_of_the_ratified_keywords", """    yield = neg(integer)
    extension = add(yield, version)
    integer_2 = mul(version, 3.0)""", lambda: {"yield": -M, "extension": 2 * M - M, "integer_2": 6 * M},
     {"integer": M, "version": 2 * M})
case("names_beside_renamed_ones", "    y = sub(integer, integer_2)\n    z = div(yield_2, yield)",
     lambda: {"y": M - 2 * M, "z": M / (M * M + 1)},
     {"integer": M, "integer_2": 2 * M, "yield": M * M + 1, "yield_2": M})
case("parameter_named_as_a_ratified_operation", "    y = add(copy, sin)", lambda: {"y": M + 2 * M}, {"copy": M, "sin": 2 * M})
matrix("statements_on_one_line", "    a = neg(x) b = abs(a); y = add(a, b)", lambda: {"y": np.abs(M) - M})
matrix("numbers_of_each_form", "    y = mul(x, 1.5E+1) z = add(x, 25e-2) t = sub(x, 0010.50)",
       lambda: {"y": M * 15, "z": M + 0.25, "t": M - 10.5})

# 3.2.3: precedence, tested by the values of scalars

PRECEDENCE = {
    "minus_of_a_power": ("-r ^ 2.0 + 1.0", 1 - 0.25), "power_of_a_minus": ("(-r) ^ 2.0 + 1.0", 1.25),
    "power_by_a_minus": ("2.0 ^ -1.0 * 4.0", 2.0), "powers_from_the_left": ("2.0 ^ 3.0 ^ 2.0", 64.0),
    "quotients_from_the_left": ("8.0 / 4.0 / 2.0", 1.0), "differences_from_the_left": ("8.0 - 4.0 - 2.0", 2.0),
    "product_by_a_minus": ("2.0 * -1.0 + 3.0", 1.0), "select_is_loosest": ("1.0 if r > 1.0 else 2.0 + 3.0", 5.0),
    "select_over_a_condition_of_logic": ("1.0 if !(r > 1.0) && r == 0.5 else 2.0", 1.0),
    "selects_from_the_right": ("1.0 if true else 2.0 if false else 3.0", 1.0),
    "and_or_from_the_left": ("1.0 if true || true && false else 2.0", 2.0),
    "extents_truncate": ("scalar(-7 / 2) + scalar(7 / -2) * 10.0", -33.0),
    "casts_round_down": ("scalar(extent(-1.5)) + scalar(extent(2.9)) * 10.0", 18.0),
    "string_casts": ("scalar('2.5e1') + scalar(extent('7')) + scalar(logical('false'))", 33.0),
    "string_arithmetic": ("scalar(length_of(('ab' + string(true)) * 3 + string(0.5)[1:]))", 20.0),
    "string_items": ("scalar(string(1234)[1:3] + '.' + 'x5'[1])", 23.5),
    "array_arithmetic": ("([1.0] * 2 + [2.0, 4.0][1:] + [])[2] * scalar(length_of([1.0] * 2 + [3.0]))", 12.0),
    "loop_with_a_condition": ("[i * i for i in [1.0, 2.0, 3.0, 4.0] if i > 1.5 && i != 3.0][1]", 16.0),
    "loop_over_two_arrays": ("[a * b[0] for a in [1.0, 2.0] if a > 0.0][1] * scalar([j + 1 for j in range_of(b)][2])", 15.0),
    "loop_in_a_loop": ("[[i * j for j in b] for i in [10.0, 100.0]][1][2]", 450.0),
    "tuple_items": ("(1.0, (2.0, [3.0, 4.0]))[1][1][0] - p[0] * scalar(p[1])", 3.0 - 0.75),
    "lazy_select": ("b[9] if length_of(b) > 9 else 1.0 / r", 2.0),
}
for name, (expression, value) in PRECEDENCE.items():
    fragment("value_of_" + name, f"""fragment f(x: tensor, r: scalar = 0.5, b: scalar[] = [2.5, 3.5, 4.5], p: (scalar,extent) = (0.25, 3)) -> (y: tensor)
{{
    y = x * ({expression})
}}
""", lambda value=value: M * value, {"x": M})

# 3.3: fragments

fragment("recursion_over_an_array", """fragment product(of: scalar[]) -> (p: scalar)
{
    p = 1.0 if length_of(of) == 0 else product(of[:length_of(of) - 1]) * of[length_of(of) - 1]
}
fragment f(x: tensor) -> (y: tensor)
{
    y = x * product(of = [0.5, 4.0, 2.0]) + product([])
}
""", lambda: 4 * M + 1, {"x": M})
fragment("recursion_over_a_number", """fragment power(x: tensor, n: extent) -> (y: tensor)
{
    y = x * power(x, n = n - 1) if n > 1 else x
}
fragment f(x: tensor) -> (y: tensor)
{
    y = power(x, n = 4)
}
""", lambda: M ** 4, {"x": M})
fragment("attribute_results", """fragment sizes(t: tensor, by: extent) -> (n: extent, to: extent[], border: string, flag: logical, half: scalar)
{
    n = length_of(shape_of(t)) - 1
    to = [by, -1]
    border = 'repli' + 'cate'
    flag = n == 3
    half = scalar(n) / 6.0
}
fragment f(x: tensor) -> (y: tensor)
{
    n, to, border, flag, half = sizes(x, by = 8)
    y = reshape(box(x, size = [1,1,n], border = border, normalize = flag) * half, shape = to)
}
""", lambda: 0.5 * box(X, [1, 1, 3], "replicate", True).reshape(8, -1))
fragment("results_chained", """fragment normal(x: tensor, m: (tensor,tensor)) -> (y: tensor)
{
    y = (x - m[0]) / sqrt(m[1] + 0.5)
}
fragment f(x: tensor) -> (y: tensor)
{
    y = normal(x, moments(x, axes = [2,3]))
}
""", lambda: (X - X.mean((2, 3), keepdims=True)) / np.sqrt(X.var((2, 3), keepdims=True) + 0.5))
fragment("tensors_in_tuples_and_arrays", """fragment g(p: (extent,tensor,scalar[]), q: (tensor,logical)[]) -> (y: tensor, z: tensor[])
{
    y = p[1] * p[2][p[0]] + (q[0][0] if q[0][1] else q[1][0])
    z = [t[0] for t in q] + [y]
}
fragment f(x: tensor) -> (y: tensor)
{
    a, [b, c, d] = g((1, x, [0.5, 2.0]), [(x, false), (3.0, true)])
    y = a + 10.0 * b + 100.0 * c + d
}
""", lambda: 2 * (2 * M + 3) + 10 * M + 300, {"x": M})
fragment("shape_of_low_ranks", """fragment f(x: tensor) -> (y: tensor)
{
    s = shape_of(x)
    y = x * scalar(s[0] * 100 + s[1] * 10 + length_of(shape_of(0.5)) + length_of(s))
}
""", lambda: V * (400 + 10 + 4), {"x": V})
fragment("operators_of_tensors", """fragment f(x: tensor) -> (y: tensor)
{
    m = !(x > 0.5) && x != 0.0 || x >= 1.0
    y = select(m, -x ^ 2.0, +x * 2.0 - 1.0 / (x * x + 1.0))
}
""", lambda: np.where((X <= 0.5) | (X >= 1), -X * X, 2 * X - 1 / (X * X + 1)))
fragment("literals_of_a_loop", """fragment f(x: tensor) -> (y: tensor)
{
    y = add_n([x * scalar(i) for i in range_of('abcd') if i != 2] + [1.0] * 3)
}
""", lambda: M * 4 + 3, {"x": M})
fragment("even_and_odd", """fragment even(n: extent) -> (e: logical)
{
    e = odd(n = n - 1) if n > 0 else true
}
fragment odd(n: extent) -> (o: logical)
{
    o = even(n = n - 1) if n > 0 else false
}
fragment f(x: tensor) -> (y: tensor)
{
    y = x if odd(n = 6) else x * 2.0 if odd(n = 7) else x * 3.0
}
""", lambda: 2 * M, {"x": M})

# 4.1 and 4.7: constants, variables, updates

matrix("constants_with_one_value", """    a = constant(shape = [1,3], value = [2.0])
    b = constant(shape = [2], value = [10.0, 20.0])
    c = constant(shape = [], value = [100.0])
    y = add_n([a, b, c, x])""", lambda: {"y": M + 102 + np.array([[10.0], [20.0]])})
matrix("constant_in_row_major_order", """    a = constant(shape = [3,2], value = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    y = matmul(x, a)""", lambda: {"y": M @ np.arange(1.0, 7).reshape(3, 2)})
matrix("variables", """    a = variable(shape = [1,3], label = 'my weights/a')
    b = variable(shape = [2], label = "it's")
    y = add(mul(x, a), b)""", lambda: {"y": M * np.array([[1.0, 2, 3]]) + np.array([[4.0], [5]])},
       **{"my weights/a": np.array([[1, 2, 3]], np.float32), "it's": np.array([4, 5], np.float32)})
matrix("variables_that_share_a_label", """    a = variable(shape = [1,3], label = 'w')
    b = variable(shape = [1,3], label = 'w')
    y = add(mul(x, a), b)""", lambda: {"y": M * np.array([[1.0, 2, 3]]) + np.array([[1.0, 2, 3]])},
       w=np.array([[1, 2, 3]], np.float32))
matrix("updates_by_each_other", """    a = variable(shape = [2,3], label = 'a')
    b = variable(shape = [2,3], label = 'b')
    c = update(a, b)
    d = update(b, a)
    y = sub(mul(a, 2.0), b)
    z = sub(mul(c, 2.0), d)""", lambda: {"c": M * 3, "d": M + 1, "y": 2 * (M + 1) - 3 * M, "z": 6 * M - M - 1},
       a=M + np.float32(1), b=M * np.float32(3))
matrix("update_by_a_literal", """    a = variable(shape = [1], label = 'a')
    b = update(a, 5.0)
    y = add(mul(x, a), b)""", lambda: {"b": np.array([5.0]), "y": M * 7 + 5}, a=np.array([7], np.float32))
matrix("update_in_a_fragment", "    a = step(x, by = 2.0, label = 'sum')\n    y = step(a, by = 1.0, label = 'last')",
       lambda: {"a": 10 + 2 * M, "y": 20 + 10 + 2 * M},
       fragments="""fragment step(x: tensor, by: scalar, label: string) -> (y: tensor)
{
    old = variable(shape = shape_of(x), label = label)
    y = update(old, old + by * x)
}
""", sum=np.full((2, 3), 10, np.float32), last=np.full((2, 3), 20, np.float32))

# 4.2: element by element

matrix("unary_operations", "    a = rcp(x) b = sign(x) c = round(mul(x, 2.0)) d = idn(x) e = abs(x) g = ceil(x)",
       lambda: {"a": 1 / M, "b": np.sign(M), "c": ROUND(2 * M), "d": M, "e": np.abs(M), "g": np.ceil(M)})
case("ties_round_up", "    y = round(x)", lambda: {"y": np.array([-2.0, -1, 0, 1, 2, 3])},
     {"x": np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], np.float32)})
case("unary_operations_of_literals", """    y = add_n([exp(0.0), log(1.0), sqr(3.0), sqrt(4.0), rsqr(2.0), rsqrt(4.0), log2(8.0), neg(1.0), rcp(4.0)])
    z = add(x, y)""", lambda: {"y": np.array(1 + 0 + 9 + 2 + 0.25 + 0.5 + 3 - 1 + 0.25), "z": V + 15.0}, {"x": V})
case("broadcasts_from_the_left", "    y = add(x, v)\n    z = sub(v, x)\n    t = mul(c, w)",
     lambda: {"y": X + V[:2].reshape(2, 1, 1, 1), "z": V[:2].reshape(2, 1, 1, 1) - X, "t": V.reshape(1, 4, 1) * ROWS},
     {"x": X, "v": V[:2], "c": V.reshape(1, 4), "w": ROWS})
matrix("select_of_literals", "    y = select(true, x, 0.5)\n    z = select(false, 0.25, 0.5)\n    t = select(false, x, 0.5)",
       lambda: {"y": M, "z": np.array(0.5), "t": np.full((2, 3), 0.5)})
matrix("logic_with_literals", """    a = gt(x, 0.0)
    y = and(a, true)
    z = or(not(a), false)
    t = select(a, a, false)""", lambda: {"y": M > 0, "z": M <= 0, "t": M > 0})
matrix("minimum_and_maximum", "    y = min(x, 0.25)\n    z = max(0.25, x)\n    t = clamp(x, 0.5, -0.5)\n    u = clamp(0.1, x, 1.0)",
       lambda: {"y": np.minimum(M, 0.25), "z": np.maximum(M, 0.25), "t": np.full((2, 3), 0.5), "u": np.maximum(0.1, M)})
case("comparisons_with_nan", "    y = min(x, 0.0)\n    z = max(x, 0.0)\n    t = relu(x)\n    u = min(0.0, x)",
     lambda: {"y": np.array([0.0, -1]), "z": np.array([0.0, 0]), "t": np.array([0.0, 0]), "u": np.array([np.nan, -1])},
     {"x": np.array([np.nan, -1], np.float32)})

# 4.3: windows

W = FILTER.astype(float)
case("conv", "    y = conv(x, f)\n    z = conv(x, f, 0.5, stride = [2], padding = [(2,0)])\n    t = conv(x, f, dilation = [1,2], border = 'reflect')",
     lambda: {"y": conv(X, W), "z": conv(X, W, 0.5, stride=[2], padding=[(2, 0)]),
              "t": conv(X, W, dilation=[1, 2], border="reflect")}, {"x": X, "f": FILTER})
case("conv_with_a_stride_beyond_the_filter", "    y = conv(x, f, stride = [3])\n    z = conv(x, f, stride = [5], border = 'replicate')",
     lambda: {"y": conv(LINE, W[:2, :1, :1, 0], stride=[3]), "z": conv(LINE, W[:2, :1, :1, 0], stride=[5])},
     {"x": LINE, "f": FILTER[:2, :1, :1, 0]})
case("conv_of_a_filter_of_lower_rank", "    y = conv(x, f)\n    z = conv(x, g, padding = [(1,1)])",
     lambda: {"y": conv(X, W[:, :, :1, :1]), "z": conv(X, W[:, :, :, :1], padding=[(1, 1)])},
     {"x": X, "f": FILTER[:, :, 0, 0].copy(), "g": FILTER[:, :, :, 0].copy()})
case("conv_of_a_filter_of_higher_rank", "    y = conv(x, f, padding = [(1,1),(0,2)])",
     lambda: {"y": conv(M[:, :, None, None], W[:, :3], padding=[(1, 1), (0, 2)])}, {"x": M, "f": FILTER[:, :3].copy()})
case("conv_without_spatial_dimensions", "    y = conv(x, f)\n    z = deconv(x, g, 0.5)",
     lambda: {"y": M @ W[:, :3, 0, 0].T, "z": M @ W[:, :, 0, 0] + 0.5},
     {"x": M, "f": FILTER[:, :3, 0, 0].copy(), "g": FILTER[:, :, 0, 0].copy()})
FIVE = data(1, 2, 2, 3, 2, 3)
FIVE_FILTER = data(2, 2, 2, 1, 2, 3)
case("conv_of_four_spatial_dimensions", "    y = conv(x, f)\n    z = deconv(x, f, 0.5, stride = [2,1,1,1], padding = [(0,0),(0,0),(0,1),(1,1)])",
     lambda: {"y": conv(FIVE, FIVE_FILTER), "z": deconv(FIVE, FIVE_FILTER, 0.5, stride=[2, 1, 1, 1],
                                                        padding=[(0, 0), (0, 0), (0, 1), (1, 1)])},
     {"x": FIVE, "f": FIVE_FILTER})
case("conv_with_literals", "    y = conv(x, 2.0, 0.5)\n    z = conv(x, 2.0, stride = [3], padding = [(0,0)])\n    t = deconv(x, 2.0, 1.0, stride = [2], padding = [(0,0)])",
     lambda: {"y": 2 * LINE + 0.5, "z": 2 * LINE[:, :, ::3], "t": deconv(LINE, np.array([[[2.0]]]), 1.0, stride=[2], padding=[(0, 0)])},
     {"x": LINE})
case("conv_of_a_literal", "    y = conv(0.5, f, 1.0)\n    z = conv(0.5, 2.0)",
     lambda: {"y": conv(np.full((1, 1, 1, 1), 0.5), W[:, :1], 1.0), "z": np.array(1.0)}, {"f": FILTER[:, :1].copy()})
case("conv_with_biases", "    y = conv(x, f, b)\n    z = conv(x, f, c)\n    t = conv(x, f, d)",
     lambda: {"y": conv(X, W, channels(1, 2, 3)), "z": conv(X, W, channels(1, 2, 3)), "t": conv(X, W, 7.0)},
     {"x": X, "f": FILTER, "b": np.array([[1, 2, 3]], np.float32), "c": np.array([1, 2, 3], np.float32).reshape(1, 3, 1, 1, 1, 1),
      "d": np.full((1, 1, 1), 7, np.float32)})
case("conv_of_rank_3_with_a_bias_of_rank_5", "    y = conv(x, f, b)", lambda: {"y": conv(LINE, W[:2, :1, :, 0], np.array([[[1.0], [2.0]]]))},
     {"x": LINE, "f": FILTER[:2, :1, :, 0].copy(), "b": np.array([1, 2], np.float32).reshape(1, 2, 1, 1, 1)})
GROUPED = data(4, 2, 3, 3)
case("conv_of_groups", "    y = conv(x, f, groups = 2)\n    z = conv(x, g, groups = 4, stride = [2,2])",
     lambda: {"y": conv(X, GROUPED, groups=2), "z": conv(X, GROUPED[:, :1], groups=4, stride=[2, 2])},
     {"x": X, "f": GROUPED, "g": GROUPED[:, :1].copy()})
for border in ["constant", "replicate", "reflect", "reflect-even"]:
    case(f"deconv_{border}", f"    y = deconv(x, f, 0.5, border = '{border}', stride = [2,1])\n    z = deconv(x, f, border = '{border}', padding = [(0,0),(0,1)])",
         lambda border=border: {"y": deconv(EVEN, GROUPED[:2, :, :, :2], 0.5, border, stride=[2, 1]),
                                "z": deconv(EVEN, GROUPED[:2, :, :, :2], 0.0, border, padding=[(0, 0), (0, 1)])},
         {"x": EVEN, "f": GROUPED[:2, :, :, :2].copy()})
    case(f"box_{border}", f"    y = box(x, size = [1,1,3,2], border = '{border}')\n    z = box(x, size = [1,2,1,3], border = '{border}', stride = [1,1,2,2], normalize = true)",
         lambda border=border: {"y": box(X, [1, 1, 3, 2], border),
                                "z": box(X, [1, 2, 1, 3], border, True, stride=[1, 1, 2, 2])})
    case(f"max_pool_{border}", f"    y = max_pool(x, size = [1,1,3,2], border = '{border}', stride = [1,1,2], padding = [(0,0),(0,0),(1,2)])",
         lambda border=border: {"y": pool(X, "max", [1, 1, 3, 2], border, stride=[1, 1, 2], padding=[(0, 0), (0, 0), (1, 2)])})
case("deconv_with_more_output_channels", "    y = deconv(x, f, stride = [2,2], padding = [(1,0),(0,1)], dilation = [2,1])",
     lambda: {"y": deconv(EVEN, GROUPED[:2].repeat(2, 1), stride=[2, 2], padding=[(1, 0), (0, 1)], dilation=[2, 1])},
     {"x": EVEN, "f": GROUPED[:2].repeat(2, 1)})
case("deconv_of_groups", "    y = deconv(x, f, groups = 2)", lambda: {"y": deconv(X, GROUPED, groups=2)}, {"x": X, "f": GROUPED})
case("deconv_that_leaves_one_entry", "    y = deconv(x, f, padding = [(3,2),(2,3)])",
     lambda: {"y": deconv(EVEN, GROUPED[:2], padding=[(3, 2), (2, 3)])}, {"x": EVEN, "f": GROUPED[:2].copy()})
case("box_with_short_lists", "    y = box(x, size = [1,3])\n    z = box(x, size = [])\n    t = box(x, size = [2,1,3], stride = [2], dilation = [1,1,2])",
     lambda: {"y": box(X, [1, 3]), "z": X, "t": box(X, [2, 1, 3], stride=[2], dilation=[1, 1, 2])})
case("box_with_a_stride_beyond_the_size", "    y = box(x, size = [1], stride = [1,1,3])\n    z = box(x, size = [1,1,2], stride = [1,1,5], border = 'ignore')",
     lambda: {"y": LINE[:, :, 1::3], "z": box(LINE, [1, 1, 2], stride=[1, 1, 5])}, {"x": LINE})
matrix("box_beyond_the_rank", "    y = box(x, size = [1,1,3], border = 'replicate')\n    z = box(x, size = [1,1,2], padding = [(0,0),(0,0),(1,1)])",
       lambda: {"y": 3 * M[:, :, None], "z": np.stack([M, M], 2)})
case("box_of_a_literal", "    y = box(0.5, size = [3,2], border = 'replicate')\n    z = avg_pool(0.5, size = [2], padding = [(1,1)])\n    t = add(x, y)",
     lambda: {"y": np.array([[3.0]]), "z": np.array([0.25, 0.25]), "t": V.reshape(4) + 3}, {"x": V})
case("debox", "    y = debox(x, size = [1,1,3], stride = [1,1,2], normalize = true)\n    z = debox(x, size = [2,1,2,2], padding = [(0,1),(0,0),(0,0),(1,0)], dilation = [1,1,2])",
     lambda: {"y": debox(EVEN, [1, 1, 3], normalize=True, stride=[1, 1, 2]),
              "z": debox(EVEN, [2, 1, 2, 2], padding=[(0, 1), (0, 0), (0, 0), (1, 0)], dilation=[1, 1, 2])}, {"x": EVEN})
for border in ["replicate", "reflect", "reflect-even"]:
    case(f"debox_{border}", f"    y = debox(x, size = [1,1,3,2], border = '{border}', stride = [1,1,2], padding = [(0,0),(0,0),(1,1),(0,1)])",
         lambda border=border: {"y": debox(EVEN, [1, 1, 3, 2], border, stride=[1, 1, 2], padding=[(0, 0), (0, 0), (1, 1), (0, 1)])},
         {"x": EVEN})
case("pools_that_ignore", "    y = max_pool(x, size = [1,1,3,2], border = 'ignore', stride = [1,1,2,2])\n    z = avg_pool(x, size = [1,3], border = 'ignore')",
     lambda: {"y": pool(X, "max", [1, 1, 3, 2], "ignore", stride=[1, 1, 2, 2]), "z": pool(X, "avg", [1, 3, 1, 1], "ignore")})
case("window_wholly_in_an_ignored_border", "    y = max_pool(x, size = [1,1,2], padding = [(0,0),(0,0),(2,0)], border = 'ignore')\n    z = avg_pool(x, size = [1,1,2], padding = [(0,0),(0,0),(2,0)])",
     lambda: {"y": np.concatenate([[[[-np.inf]]], LINE[:, :, :1], np.maximum(LINE[:, :, 1:], LINE[:, :, :-1])], 2),
              "z": np.concatenate([[[[0.0]]], LINE[:, :, :1] / 2, (LINE[:, :, 1:] + LINE[:, :, :-1]) / 2], 2)}, {"x": LINE})
case("rms_pool", "    y = rms_pool(x, size = [1,1,2,2], stride = [1,1,2,2])",
     lambda: {"y": np.sqrt(box(X.astype(float) ** 2, [1, 1, 2, 2], normalize=True, stride=[1, 1, 2, 2]))})
case("planewise_and_separable", """    a = planewise_conv(x, p, 0.5, stride = [2,2])
    b = planewise_deconv(x, p, padding = [(1,1),(0,2)])
    y = separable_conv(x, p, q, 1.0)""",
     lambda: {"a": conv(X, GROUPED[:, :1], 0.5, groups=4, stride=[2, 2]),
              "b": deconv(X, GROUPED[:, :1], groups=4, padding=[(1, 1), (0, 2)]),
              "y": conv(conv(X, GROUPED[:, :1], groups=4), W[:, :, :1, :1], 1.0)},
     {"x": X, "p": GROUPED[:, :1].copy(), "q": FILTER[:, :, 0, 0].copy()})
case("sampling_by_factors", """    a = nearest_downsample(x, factor = [3])
    b = area_downsample(x, factor = [2,5])
    c = nearest_upsample(x, factor = [1,3])
    d = area_downsample(x, factor = [])""",
     lambda: {"a": X[:, :, ::3], "b": X.reshape(2, 4, 3, 2, 1, 5).mean((3, 5)), "c": X.repeat(3, 3), "d": X})
for method, border in itertools.product(["symmetric", "asymmetric", "aligned"], ["constant", "replicate"]):
    case(f"multilinear_upsample_{method}_{border}",
         f"    y = multilinear_upsample(x, factor = [3,2], method = '{method}', border = '{border}')\n    z = multilinear_upsample(x, factor = [2], method = '{method}', border = '{border}')",
         lambda method=method, border=border: {"y": m.multilinear_upsample(X.astype(float), [3, 2], method, border),
                                               "z": m.multilinear_upsample(X.astype(float), [2], method, border)})

# 3.3.2, 4.3.3 and 4.5: coordinates. A position in a window is its row-major number.

HALVES = "size = [1,1,2,2], stride = [1,1,2,2], padding = [(0,0),(0,0),(0,0),(0,0)]"
BY_TWO = dict(size=[1, 1, 2, 2], stride=[1, 1, 2, 2], padding=[(0, 0)] * 4)
INDEX = lambda: argmax(EVEN, **BY_TWO)  # noqa: E731
case("index_of_a_tensor_without_dimensions", "    i = argmax_pool(x, size = [])\n    y = desample(sample(x, i, size = []), i, size = [])",
     lambda: {"y": np.array(2.5)}, {"x": np.array(2.5, np.float32)})
case("index_as_a_result", f"    y = argmax_pool(x, {HALVES})", lambda: {"y": INDEX()}, {"x": EVEN})
case("index_through_operations_on_shapes", f"""    i = argmax_pool(x, {HALVES})
    a = reshape(i, shape = [0,0,4])
    b = transpose(a, perm = [1,0,2])
    [c, d] = split(b, axis = 0, ratios = [1,1])
    e = concat([d, c], axis = 0)
    y = reshape(e, shape = [-1])""",
     lambda: {"a": INDEX().reshape(1, 2, 4), "b": INDEX().reshape(2, 1, 4), "c": INDEX().reshape(2, 1, 4)[:1],
              "e": INDEX().reshape(2, 1, 4)[::-1], "y": INDEX().reshape(2, 4)[::-1].reshape(-1)}, {"x": EVEN})
case("index_selected", f"""    i = argmax_pool(x, {HALVES})
    j = argmax_pool(neg(x), {HALVES})
    c = gt(sum_reduce(s, axes = [0,1]), 0.0)
    y = select(c, i, j)
    z = sample(x, y, {HALVES})""",
     lambda: {"y": argmax(-EVEN, **BY_TWO), "z": -pool(-EVEN, "max", **BY_TWO)}, {"x": EVEN, "s": -np.abs(M)})
case("index_selected_by_a_literal", f"    i = argmax_pool(x, {HALVES})\n    j = argmax_pool(neg(x), {HALVES})\n    y = select(true, i, j)",
     lambda: {"y": INDEX()}, {"x": EVEN})
case("index_copied", f"    i = argmax_pool(x, {HALVES})\n    [a, b] = copy_n(i, times = 2)\n    y = concat([a, b], axis = 1)",
     lambda: {"y": np.concatenate([INDEX()] * 2, 1)}, {"x": EVEN})
case("index_there_and_back", f"""    i = argmax_pool(x, {HALVES})
    a = reshape(transpose(transpose(i, perm = [3,1,2,0]), perm = [3,1,2,0]), shape = [8])
    [b, c] = split(a, axis = 0, ratios = [1,1])
    y = desample(sample(x, reshape(concat([b, c], axis = 0), shape = [1,2,2,2]), {HALVES}), i, {HALVES})""",
     lambda: {"y": m.desample(pool(EVEN, "max", **BY_TWO), INDEX(), shape=EVEN.shape, **BY_TWO)}, {"x": EVEN})
case("index_of_another_tensor", f"    i = argmax_pool(x, {HALVES})\n    y = sample(c, i, {HALVES})",
     lambda: {"y": m.sample(X[:1, :2, :5], INDEX(), [1, 1, 2, 2], stride=[1, 1, 2, 2], padding=[(0, 0)] * 4)},
     {"x": EVEN, "c": X[:1, :2, :5].copy()})
case("max_pool_with_index", "    y, i = max_pool_with_index(x, size = [1,1,3,3], border = 'ignore')\n    z = transpose(i, perm = [1,0])",
     lambda: {"y": pool(EVEN, "max", [1, 1, 3, 3], "ignore"), "i": argmax(EVEN, [1, 1, 3, 3], "ignore"),
              "z": argmax(EVEN, [1, 1, 3, 3], "ignore").transpose(1, 0, 2, 3)}, {"x": EVEN})
case("index_of_a_literal", "    i = argmax_pool(0.5, size = [3], border = 'ignore')\n    y = add(x, sample(0.5, argmax_pool(0.5, size = [1]), size = [1]))",
     lambda: {"i": np.array([1]), "y": V + 0.5}, {"x": V})

# 4.4 to 4.6: reductions, shapes, matrix multiplications

case("reductions", """    a = sum_reduce(x, axes = [3,0])
    b = sum_reduce(x, axes = [1,2], normalize = true)
    c = max_reduce(x, axes = [])
    d = min_reduce(x, axes = [2])
    e = mean_reduce(x, axes = [5,4])
    g = sum_reduce(x, axes = [9,1], normalize = true)""",
     lambda: {"a": X.sum((0, 3), keepdims=True), "b": X.mean((1, 2), keepdims=True), "c": X, "d": X.min(2, keepdims=True),
              "e": X, "g": X.mean(1, keepdims=True)})
matrix("reductions_of_literals", """    a = sum_reduce(2.5, axes = [0])
    b = max_reduce(2.5, axes = [2,1])
    c, d = moments(2.5, axes = [0])
    y = add_n([a, b, c, d, x])""", lambda: {"y": M + 7.5})
case("reshapes", """    a = reshape(x, shape = [0,-1])
    b = reshape(x, shape = [-1,0,0])
    c = reshape(x, shape = [0,0,0,0,0,0])
    d = reshape(x, shape = [240,-1])""",
     lambda: {"a": X.reshape(2, -1), "b": X.reshape(10, 4, 6), "c": X[..., None, None], "d": X.reshape(240, 1)})
matrix("reshapes_of_literals_and_logicals", """    a = reshape(0.5, shape = [1,-1,0])
    b = reshape(gt(x, 0.0), shape = [3,-1])
    c = reshape(true, shape = [1,1])
    y = add(x, a)""", lambda: {"b": (M > 0).reshape(3, 2), "c": np.array([[True]]), "y": M[:, :, None] + 0.5})
case("transposes", "    a = transpose(x, perm = [1,0])\n    b = transpose(x, perm = [])\n    c = transpose(x, perm = [4,3,2,1,0])\n    d = transpose(x, perm = [3,0,1,2])",
     lambda: {"a": X.transpose(1, 0, 2, 3), "b": X, "c": X[..., None].transpose(4, 3, 2, 1, 0), "d": X.transpose(3, 0, 1, 2)})
matrix("transposes_of_literals", "    a = transpose(0.5, perm = [2,0,1])\n    b = transpose(gt(x, 0.0), perm = [1,0])\n    y = add(x, a)",
       lambda: {"b": (M > 0).T, "y": M[:, :, None] + 0.5})
case("splits", """    [a, b] = split(x, axis = 2, ratios = [1,2])
    [c] = split(x, axis = 5, ratios = [1])
    [d, e, g] = split(x, axis = 1, ratios = [1,2,1])""",
     lambda: {"a": X[:, :, :2], "b": X[:, :, 2:], "c": X, "e": X[:, 1:3], "g": X[:, 3:]})
matrix("joins_beyond_the_rank", "    y = concat([x, x, x], axis = 2)\n    z = concat([x, x], axis = 3)\n    t = concat([x], axis = 5)",
       lambda: {"y": np.stack([M] * 3, 2), "z": np.stack([M] * 2, 2)[:, :, None], "t": M[..., None, None, None, None]})
case("joins_with_literals", """    a = concat([r, 7.0], axis = 1)
    b = concat([1.0, c, 2.0], axis = 0)
    d = concat([t, 0.5, t], axis = 2)
    e = concat([1.0, 2.0, 3.0], axis = 1)
    g = concat([true, gt(c, 0.0)], axis = 0)""",
     lambda: {"a": np.append(M[:1], [[7]], 1), "b": np.concatenate([[1], V, [2]]), "d": np.concatenate([T, [[[0.5]]], T], 2),
              "e": np.array([[1.0, 2, 3]]), "g": np.append([True], V > 0)},
     {"r": M[:1].copy(), "c": V, "t": T})
case("joins_of_different_ranks", "    y = concat([a, b, c], axis = 1)\n    z = concat([c, b], axis = 1)",
     lambda: {"y": np.concatenate([V[:2, None], M, 2 * M], 1)[:, :, None, None], "z": np.concatenate([2 * M, M], 1)[:, :, None, None]},
     {"a": V[:2].copy(), "b": M, "c": (2 * M)[:, :, None, None]})
matrix("products", "    a = matmul(x, x, trB = true)\n    b = matmul(x, x, trA = true)\n    c = matmul(x, transpose(x, perm = [1,0]), trA = true, trB = true)",
       lambda: {"a": M @ M.T, "b": M.T @ M, "c": M.T @ M})
case("products_of_vectors", """    inner = matmul(a, a, trA = true)
    outer = matmul(a, a, trB = true)
    left = matmul(a, s, trA = true)
    right = matmul(s, a)""",
     lambda: {"inner": np.array([[V @ V]]), "outer": np.outer(V, V), "left": V[None] @ SQUARE, "right": SQUARE @ V[:, None]},
     {"a": V, "s": SQUARE})
case("products_with_literals", "    a = matmul(2.0, r)\n    b = matmul(c, 0.5)\n    d = matmul(2.0, 3.0)\n    e = linear(c, 2.0, 1.0)\n    g = linear(c, 2.0)",
     lambda: {"a": 2 * M[:1], "b": V[:, None] / 2, "d": np.array([[6.0]]), "e": 2 * V[:, None] + 1, "g": 2 * V[:, None]},
     {"r": M[:1].copy(), "c": V})
case("products_with_singletons_behind", "    y = matmul(a, b)", lambda: {"y": M @ M.T},
     {"a": M[:, :, None, None].copy(), "b": M.T[:, :, None].copy()})
case("linear_layers", "    y = linear(x, w, b)\n    z = linear(x, w, 0.5)\n    t = linear(x, w)",
     lambda: {"y": M @ W[:, :3, 0, 0].T + [[1, 2, 3]], "z": M @ W[:, :3, 0, 0].T + 0.5, "t": M @ W[:, :3, 0, 0].T},
     {"x": M, "w": FILTER[:, :3, 0, 0].copy(), "b": np.array([[1, 2, 3]], np.float32)})

# 4.8: compounds

matrix("activations", "    a = sigmoid(x) b = leaky_relu(x, alpha = 0.1) c = elu(x) d = tanh(x) e = softplus(x) g = relu(neg(x))",
       lambda: {"a": SIGMOID(M), "b": np.where(M < 0, 0.1 * M, M), "c": np.where(M < 0, np.exp(M) - 1, M), "d": np.tanh(M),
                "e": np.log(np.exp(M) + 1), "g": np.maximum(-M, 0)})
matrix("activations_of_literals", """    a = add_n([sigmoid(0.5), relu(-0.5), leaky_relu(-0.5, alpha = 0.1), elu(-0.5), tanh(0.5), softplus(0.5)])
    b = softmax(0.5)
    c = softmax(0.5, axes = [0,2])
    y = add_n([a, b, c, x])""",
       lambda: {"y": M + SIGMOID(0.5) - 0.05 + np.exp(-0.5) - 1 + np.tanh(0.5) + np.log(np.exp(0.5) + 1) + 2})
case("softmax", "    a = softmax(x)\n    b = softmax(x, axes = [3,0])\n    c = softmax(x, axes = [4])\n    d = softmax(v)\n    e = softmax(v, axes = [0])",
     lambda: {"a": softmax(X), "b": softmax(X, (0, 3)), "c": np.ones_like(X), "d": np.ones_like(V), "e": softmax(V, 0)}, {"x": X, "v": V})
case("normalizations", """    a = local_response_normalization(x, size = [1,3], alpha = 0.5, beta = 0.75, bias = 2.0)
    b = local_mean_normalization(x, size = [1,1,3,3])
    c = local_variance_normalization(x, size = [1,1,3], bias = 0.5)
    d = l1_normalization(x, axes = [1], bias = 0.5)
    e = l2_normalization(x, axes = [2,3,4], bias = 0.5)
    g = local_response_normalization(x, size = [1])""",
     lambda: {"a": X / (2 + 0.5 * box(X * X, [1, 3], normalize=True)) ** 0.75, "b": X - box(X, [1, 1, 3, 3], normalize=True),
              "c": X / np.sqrt(box(X * X, [1, 1, 3], normalize=True) + 0.5), "d": X / (np.abs(X).sum(1, keepdims=True) + 0.5),
              "e": X / np.sqrt((X * X).sum((2, 3), keepdims=True) + 0.5), "g": X / np.sqrt(1 + X * X)})
case("contrast_normalization", "    y = local_contrast_normalization(x, size = [1,1,3,2], bias = 0.25)",
     lambda: {"y": contrast(X, [1, 1, 3, 2], 0.25)})
case("batch_normalizations", """    a = batch_normalization(x, c, p, c, p, epsilon = 0.1)
    b = batch_normalization(x, 0.5, 4.0, 1.0, 3.0, epsilon = 0.0)
    d = batch_normalization(x, mean = c, variance = 1.0, offset = 0.25, scale = x, epsilon = 0.21)""",
     lambda: {"a": CENTRES + (CENTRES ** 2 + 1) * (X - CENTRES) / np.sqrt(CENTRES ** 2 + 1.1), "b": 1 + 3 * (X - 0.5) / 2,
              "d": 0.25 + X * (X - CENTRES) / 1.1},
     {"x": X, "c": V.reshape(1, 4), "p": V.reshape(1, 4, 1, 1) ** 2 + 1})
case("quantizations", """    a = linear_quantize(x, -1.0, 1.0, bits = 3)
    b = linear_quantize(x, min = -0.5, max = 2.0, bits = 1)
    c = logarithmic_quantize(p, 3.0, bits = 3)""",
     lambda: {"a": m.linear_quantize(X.astype(float), -1.0, 1.0, 7), "b": m.linear_quantize(X.astype(float), -0.5, 2.0, 1),
              "c": 2.0 ** ROUND(np.log2(np.clip(POSITIVE.astype(float), 0.5, 4.0) / 0.5))},
     {"x": X, "p": POSITIVE})
case("quantization_of_each_channel", """    b = max_reduce(p, axes = [0,2,3])
    y = linear_quantize(p, min = 0.0, max = b, bits = 4)""",
     lambda: {"y": m.linear_quantize(POSITIVE.astype(float), 0.0, POSITIVE.max((0, 2, 3), keepdims=True).astype(float), 15)},
     {"p": POSITIVE})
matrix("sums_and_copies", """    a = add_n([])
    [b, c] = copy_n(x, times = 2)
    [d] = copy_n(0.5, times = 1)
    y = add_n([a, b, c, d, 0.25])""", lambda: {"y": 2 * M + 0.75})
case("moments_beyond_the_rank", "    a, b = moments(x, axes = [0,7])\n    c, d = moments(x, axes = [])",
     lambda: {"a": V.mean(keepdims=True), "b": V.var(keepdims=True), "c": V, "d": np.zeros(4)}, {"x": V})
