"""4.2: element-wise operations."""

from __future__ import annotations

import numpy as np

import numpy_operations as m
from case import BOTH, MOVED, RATIFIED, ROUNDED, SUMMED, Case, Section

SHAPES = [[5], [2, 3], [2, 3, 4], [1, 2, 3, 2], [2, 1, 2, 1, 3]]
ONLY_RATIFIED = {prefix + name + suffix for prefix in ("", "a") for name in ("sin", "cos", "tan") for suffix in ("", "h")}

# Formula, domain of random inputs, inputs of interest, tolerance.
UNARY = {
    "neg": (np.negative, (-3, 3), [0.0, -0.0, np.inf, -np.inf, np.nan], MOVED),
    "rcp": (lambda x: 1 / x, (0.25, 4), [1.0, -2.0, np.inf, -np.inf, 1e30, 1e-30, np.nan], ROUNDED),
    "exp": (np.exp, (-4, 4), [0.0, 1.0, -80.0, 80.0, -np.inf, np.inf, np.nan], ROUNDED),
    "log": (np.log, (0.1, 9), [1.0, 1e-30, 1e30, np.inf, np.nan], SUMMED),
    "sin": (np.sin, (-4, 4), [0.0, np.pi / 2, -np.pi, 100.0, np.nan], SUMMED),
    "cos": (np.cos, (-4, 4), [0.0, np.pi, -1.0, 100.0, np.nan], SUMMED),
    "tan": (np.tan, (-1.4, 1.4), [0.0, 1.0, -1.0, np.nan], SUMMED),
    "sinh": (np.sinh, (-4, 4), [0.0, 1e-4, -1e-4, 80.0, np.inf, np.nan], ROUNDED),
    "cosh": (np.cosh, (-4, 4), [0.0, 80.0, -np.inf, np.nan], ROUNDED),
    "tanh": (np.tanh, (-4, 4), [0.0, 1e-4, 40.0, -40.0, np.inf, -np.inf, np.nan], ROUNDED),
    "asin": (np.arcsin, (-1, 1), [0.0, 1.0, -1.0, np.nan], ROUNDED),
    "acos": (np.arccos, (-1, 1), [0.0, 1.0, -1.0, np.nan], ROUNDED),
    "atan": (np.arctan, (-9, 9), [0.0, 1e30, np.inf, -np.inf, np.nan], ROUNDED),
    "asinh": (np.arcsinh, (-9, 9), [0.0, 1e-4, -1e-4, 1e30, -1e30, np.inf, np.nan], SUMMED),
    "acosh": (np.arccosh, (1, 9), [1.0, 1e30, np.inf, np.nan], SUMMED),
    "atanh": (np.arctanh, (-0.95, 0.95), [0.0, 1e-4, -1e-4, 1.0, -1.0, np.nan], SUMMED),
    "abs": (np.abs, (-3, 3), [0.0, -0.0, -np.inf, np.inf, np.nan], MOVED),
    "sign": (np.sign, (-3, 3), [0.0, -0.0, 1e-40, -1e-30, np.inf, -np.inf], MOVED),
    "floor": (np.floor, (-3, 3), [0.5, -0.5, 2.0, -2.0, 8388607.5, 1e30, -0.0, np.inf, np.nan], MOVED),
    "ceil": (np.ceil, (-3, 3), [0.5, -0.5, 2.0, -2.0, 4194303.5, -1e30, np.inf, np.nan], MOVED),
    "round": (m.round_up, (-3, 3), [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 8388609.0, -8388609.0, 1e30, np.inf, np.nan], MOVED),
}


def unary() -> list[Case]:
    s = Section("4.2.1", 21)
    for name, (form, (low, high), points, tolerance) in UNARY.items():
        dialects = (RATIFIED,) if name in ONLY_RATIFIED else BOTH
        for shape in SHAPES:
            x = s.data(*shape, low=low, high=high)
            s.valid(name, f"rank {len(shape)}", f"y = {name}(x)", form(x.astype(float)), {"x": x}, tolerance=tolerance, dialects=dialects)
        x = np.array(points, np.float32)
        with np.errstate(all="ignore"):
            for value in x:  # one by one, so that a large result does not hide the error of a small one
                s.valid(name, f"of {value}", f"y = {name}(x)", form(np.array([value], float)), {"x": np.array([value])},
                        tolerance=tolerance, dialects=(RATIFIED,))
            s.valid(name, "rank 0", f"y = {name}(x)", form(x[0].astype(float)), {"x": x[0]}, tolerance=tolerance)
    for name, dialect in [("copy", RATIFIED), ("idn", "provisional")]:
        for shape in SHAPES:
            x = s.data(*shape)
            s.valid(name, f"rank {len(shape)}", f"y = {name}(x)", x, {"x": x}, tolerance=MOVED, dialects=(dialect,))
    for kind, x in {"integer": np.array([[3, -2**50]]), "logical": np.array([True, False])}.items():
        s.valid("copy", kind, "y = copy(x)", x, {"x": x}, tolerance=MOVED)
    for shape in SHAPES[:3]:
        x = s.data(*shape)
        s.valid("not", f"rank {len(shape)}", "c = lt(x, 0.0); y = not(c)", ~(x < 0), {"x": x}, tolerance=MOVED, dialects=BOTH)
    s.invalid("not", "type.mismatch", "of scalars", "y = not(x)")
    s.invalid("neg", "type.mismatch", "of integers", "i = argmax_reduce(x, axes = [1]); y = neg(i)")
    s.invalid("exp", "binding.too-many-arguments", "of two tensors", "y = exp(x, x)")
    return s.cases


# Shapes of the two operands: equal, singular on either side, of lower rank on either side, of rank 0.
PAIRS = [([2, 3, 4], [2, 3, 4]), ([2, 3, 4], [1, 3, 1]), ([1, 3, 1], [2, 3, 4]), ([2, 1, 4], [1, 3, 1]), ([2, 3, 4], [2]),
         ([2, 3], [2, 1, 4]), ([], [2, 3]), ([2, 3], []), ([1], [1, 1, 3]), ([2, 3, 1, 2, 1], [1, 3, 2, 1, 2])]


def aligned(*operands: np.ndarray) -> list[np.ndarray]:
    """The operands with trailing extents of 1 up to the largest rank: NNEF aligns shapes at the first axis."""
    rank = max(x.ndim for x in operands)
    return [x.reshape([*x.shape, *[1] * (rank - x.ndim)]) for x in operands]


ARITHMETIC = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power}
COMPARISON = {"lt": np.less, "gt": np.greater, "le": np.less_equal, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal}
LOGICAL = {"and": np.logical_and, "or": np.logical_or}
POWERS = [(2, 3), (2, -1), (-2, 3), (-2, 2), (0, 2), (4, 0.5), (0, 0), (9, -0.5), (1, 80)]


def binary() -> list[Case]:
    s = Section("4.2.2", 22)
    ranked = lambda a, b: BOTH if a and b else (RATIFIED,)  # noqa: E731
    for name, form in (ARITHMETIC | COMPARISON).items():
        positive = name in ("div", "pow")
        for a, b in PAIRS:
            x, z = (s.data(*shape, low=0.5, high=3) if positive else s.data(*shape) for shape in (a, b))
            if name in COMPARISON:
                x, z = np.round(x), np.round(z)
            p, q = aligned(x.astype(float), z.astype(float))
            s.valid(name, f"{a} and {b}", f"y = {name}(x, z)", form(p, q), {"x": x, "z": z},
                    tolerance=MOVED if name in COMPARISON else SUMMED if name == "pow" else ROUNDED, dialects=ranked(a, b))
        x = np.array([-1.0, 0.0, 1.0, 2.0], np.float32)
        for what, body, pair in [("literal second", f"y = {name}(x, 2.0)", (x, np.float32(2))),
                                 ("literal first", f"y = {name}(2.0, x)", (np.float32(2), x))]:
            if name in ARITHMETIC:
                pair, given = tuple(np.abs(v) + 1 if np.ndim(v) else v for v in pair), {"x": np.abs(x) + 1}
            else:
                given = {"x": x}
            s.valid(name, what, body, form(*map(np.float64, pair)), given, tolerance=SUMMED if name == "pow" else ROUNDED, dialects=BOTH)
    for base, exponent in POWERS:
        s.valid("pow", f"{base} to {exponent}", "y = pow(x, z)", np.array([float(base)]) ** exponent,
                {"x": np.array([base], np.float32), "z": np.array([exponent], np.float32)}, dialects=BOTH)
    special = [np.nan, np.inf, -np.inf, 0.0, 1.0]
    x, z = (np.array(v, np.float32).ravel() for v in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        for name in ["add", "mul", "lt", "ge", "eq", "ne"]:
            form = (ARITHMETIC | COMPARISON)[name]
            s.valid(name, "infinities and NaN", f"y = {name}(x, z)", form(x, z), {"x": x, "z": z}, tolerance=MOVED)
    for name, form in LOGICAL.items():
        for a, b in PAIRS[:6]:
            x, z = s.data(*a) > 0, s.data(*b) > 0
            s.valid(name, f"{a} and {b}", f"y = {name}(x, z)", form(*aligned(x, z)), {"x": x, "z": z}, tolerance=MOVED)
        x, z = s.data(2, 3), s.data(2, 3)
        s.valid(name, "of comparisons", f"a = gt(x, 0.0); b = lt(z, 0.5); y = {name}(a, b)", form(x > 0, z < 0.5),
                {"x": x, "z": z}, tolerance=MOVED, dialects=BOTH)
    broadcast = "binary.broadcast"
    for what, shape in [("3 for 4", [2, 3]), ("the last axes alone agree", [8, 8]), ("one more than the extent", [2, 5, 1, 1])]:
        s.invalid("add", broadcast, what, "y = add(x, z)", {"x": np.zeros([2, 4, 8, 8], np.float32), "z": np.zeros(shape, np.float32)},
                  dialects=BOTH)
    s.invalid("and", "type.mismatch", "of scalars", "y = and(x, x)")
    s.invalid("add", "type.mismatch", "of a scalar and an integer", "i = argmax_reduce(x, axes = [1]); y = add(x, i)")
    s.invalid("mul", "binding.missing-argument", "of one tensor", "y = mul(x)")
    return s.cases


def select() -> list[Case]:
    s = Section("4.2.3", 23)
    shapes = [([2, 3], [2, 3], [2, 3]), ([2, 1], [2, 3], [2, 3]), ([2, 3], [1, 3], [2, 1]), ([1], [2, 3], [2, 3]),
              ([2, 3], [], []), ([2], [2, 3], [1, 3]), ([1, 1], [2, 3], [1]), ([2, 3, 1], [1, 1, 4], [2])]
    for c, a, b in shapes:
        k, x, z = s.data(*c) > 0, s.data(*a), s.data(*b)
        s.valid("select", f"{c} {a} {b}", "y = select(k, x, z)", np.where(*aligned(k, x, z)), {"k": k, "x": x, "z": z}, tolerance=MOVED)
    x, z = s.data(2, 3), s.data(2, 3)
    s.valid("select", "literals", "k = gt(x, 0.0); y = select(k, 1.0, -1.0)", np.where(x > 0, 1, -1).astype(np.float32), {"x": x},
            tolerance=MOVED, dialects=BOTH)
    s.valid("select", "by a comparison", "k = gt(x, z); y = select(k, x, z)", np.maximum(x, z), {"x": x, "z": z}, tolerance=MOVED,
            dialects=BOTH)
    k, i = np.array([True, False, True]), np.array([1, 2, 3])
    s.valid("select", "integers", "y = select(k, i, j)", np.where(k, i, -i), {"k": k, "i": i, "j": -i}, tolerance=MOVED)
    for truth in [True, False]:
        s.valid("select", f"one condition that is {truth}", "y = select(k, x, z)", x if truth else z,
                {"k": np.array(truth), "x": x, "z": z}, tolerance=MOVED)
    n = np.array([np.nan, 1.0], np.float32)
    s.valid("select", "NaN that is not selected", "k = eq(x, x); y = select(k, x, 0.0)", np.array([0, 1], np.float32), {"x": n}, tolerance=MOVED)
    s.invalid("select", "type.mismatch", "a condition of scalars", "y = select(x, x, x)")
    s.invalid("select", "binary.broadcast", "extents 3 for 4", "k = gt(x, 0.0); y = select(k, x, z)",
              {"x": np.zeros([2, 4], np.float32), "z": np.zeros([2, 3], np.float32)})
    return s.cases


def simplifiers() -> list[Case]:
    s = Section("4.2.4", 24)
    forms = {"sqr": np.square, "sqrt": np.sqrt, "rsqr": lambda x: x ** -2.0, "rsqrt": lambda x: x ** -0.5, "log2": np.log2}
    for name, form in forms.items():
        for shape in SHAPES:
            x = s.data(*shape, low=0.2, high=5)
            s.valid(name, f"rank {len(shape)}", f"y = {name}(x)", form(x.astype(float)), {"x": x}, tolerance=ROUNDED, dialects=BOTH)
    for name, points in {"sqr": [-3.0, 0.0, 1e15], "sqrt": [0.0, 1.0, 1e30, 1e-30], "rsqrt": [1e30, 1e-30, 4.0], "rsqr": [-2.0, 1e-12, 1e12],
                         "log2": [1.0, 8.0, 0.125, 1e30]}.items():
        for value in np.array(points, np.float32):
            s.valid(name, f"of {value}", f"y = {name}(x)", forms[name](np.array([value], float)), {"x": np.array([value])}, tolerance=ROUNDED)
    for name, form in {"min": np.minimum, "max": np.maximum}.items():
        for a, b in PAIRS:
            x, z = s.data(*a), s.data(*b)
            # The provisional text defines both by a `select` whose values have one shape, or one element.
            provisional = a and b and (a == b or 1 in (np.prod(a), np.prod(b)))
            s.valid(name, f"{a} and {b}", f"y = {name}(x, z)", form(*aligned(x, z)), {"x": x, "z": z}, tolerance=MOVED,
                    dialects=BOTH if provisional else (RATIFIED,))
    x = np.array([np.nan, 1.0, np.nan], np.float32)
    z = np.array([1.0, np.nan, np.nan], np.float32)
    for name in ["min", "max"]:  # by `select(x < y, x, y)`, y is the result where a comparison with NaN fails
        s.valid(name, "NaN on either side", f"y = {name}(x, z)", z, {"x": x, "z": z}, tolerance=MOVED)
    x = s.data(2, 3, 4)
    for a, b in [((), ()), ((2, 3, 4), (2, 3, 4)), ((2, 1, 1), (1, 3, 1)), ((2,), (1, 3)), ((), (1, 1, 4))]:
        p, q = s.data(*a) - 0.5, s.data(*b) + 0.5
        v, c, d = aligned(x, p, q)
        s.valid("clamp", f"bounds {list(a)} {list(b)}", "y = clamp(x, a, b)", np.maximum(np.minimum(v, d), c), {"x": x, "a": p, "b": q},
                tolerance=MOVED)
    for low, high in [(-0.5, 0.5), (0.0, 0.0), (0.5, -0.5), (-100.0, 100.0)]:
        s.valid("clamp", f"literals {low} {high}", f"y = clamp(x, {low}, {high})", np.maximum(np.minimum(x, np.float32(high)), np.float32(low)),
                {"x": x}, tolerance=MOVED, dialects=BOTH)
    s.invalid("clamp", "binding.missing-argument", "one bound", "y = clamp(x, 0.0)")
    s.invalid("min", "binary.broadcast", "3 for 4", "y = min(x, z)", {"x": np.zeros([2, 4], np.float32), "z": np.zeros([2, 3], np.float32)})
    return s.cases


def cases() -> list[Case]:
    return unary() + binary() + select() + simplifiers()
