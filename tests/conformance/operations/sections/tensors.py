"""4.1: tensors that no operation computes; 4.8 (provisional 4.7): updates of variables."""

from __future__ import annotations

import numpy as np

from case import BOTH, MOVED, Case, Section

SHAPES = [[1], [3], [2, 3], [1, 4, 1], [2, 3, 2, 2], [1, 2, 1, 3, 2]]


def items(values) -> str:
    return "[" + ", ".join("true" if v is np.True_ else "false" if v is np.False_ else repr(v.item()) for v in values) + "]"


def external() -> list[Case]:
    s = Section("4.1.1", 11)
    for shape in SHAPES:
        x = s.data(*shape)
        s.valid("external", f"rank {len(shape)} extents {shape}", "y = neg(x)", -x, {"x": x}, tolerance=MOVED, dialects=BOTH)
    s.valid("external", "rank 0", "y = neg(x)", -np.float32(1.5), {"x": np.array(1.5, np.float32)}, tolerance=MOVED)
    i = np.array([[0, -7, 2**40]])
    s.valid("external", "integer beyond 32 bits", "y = copy(x)", i, {"x": i}, tolerance=MOVED)
    b = np.array([True, False])
    s.valid("external", "logical", "y = not(x)", ~b, {"x": b}, tolerance=MOVED)
    two = {"x": s.data(2, 3), "z": s.data(2, 3)}
    s.valid("external", "two externals", "y = sub(x, z)", two["x"] - two["z"], two, dialects=BOTH)
    for what, shape in [("zero", "[1, 0]"), ("negative", "[-1, 2]"), ("last item zero", "[2, 3, 0]")]:
        s.invalid("external", "external.shape", f"an extent is {what}",
                  "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = %s);\n    y = neg(x);\n}\n" % shape)
    return s.cases


def constant() -> list[Case]:
    s = Section("4.1.2", 12)
    x = s.data(2, 3)
    for shape in SHAPES:
        v = s.data(*shape).astype(np.float64).round(3)
        text = f"c = constant(shape = {shape}, value = {items(v.ravel())}); y = add(c, x)"
        s.valid("constant", f"rank {len(shape)} extents {shape}", text, v + np.float64(0.5),
                {"x": np.full([1] * len(shape), 0.5, np.float32)}, dialects=BOTH)
    s.valid("constant", "one value for all", "c = constant(shape = [2, 3], value = [0.25]); y = mul(c, x)", 0.25 * x, {"x": x},
            tolerance=MOVED, dialects=BOTH)
    s.valid("constant", "a literal is a constant of rank 0", "y = add(x, 3.0)", x + np.float32(3), {"x": x}, dialects=BOTH)
    i = np.array([2, 0, 1])
    s.valid("constant", "integer", "i = constant<integer>(shape = [3], value = [2, 0, 1]); y = gather(x, i, axis = 1)", x[:, i],
            {"x": x}, tolerance=MOVED)
    b = np.array([[True, False, True]])
    s.valid("constant", "logical", "c = constant<logical>(shape = [1, 3], value = [true, false, true]); y = select(c, x, 0.0)",
            np.where(b, x, 0), {"x": x}, tolerance=MOVED)
    for what, rule, text in [("one value less", "constant.value", "shape = [2, 2], value = [1.0, 2.0, 3.0]"),
                             ("one value more", "constant.value", "shape = [2], value = [1.0, 2.0, 3.0]"),
                             ("no value", "constant.value", "shape = [1], value = []"),
                             ("extent zero", "constant.shape", "shape = [0, 2], value = [1.0]"),
                             ("extent negative", "constant.shape", "shape = [2, -1], value = [1.0]")]:
        s.invalid("constant", rule, what, f"c = constant({text}); y = add(x, c)")
    return s.cases


def variable() -> list[Case]:
    s = Section("4.1.3", 13)
    for shape in SHAPES:
        x, v = s.data(*shape), s.data(*shape)
        s.valid("variable", f"rank {len(shape)} extents {shape}", "y = sub(x, v)", x - v, {"x": x}, variables={"v": v}, dialects=BOTH)
    x = s.data(2, 3)
    s.valid("variable", "integer", "y = gather(x, v, axis = 1)", x[:, [1, 1, 0]], {"x": x}, variables={"v": np.array([1, 1, 0])},
            tolerance=MOVED)
    c = np.array([[True], [False]])
    s.valid("variable", "logical", "y = select(v, x, 1.0)", np.where(c, x, 1), {"x": x}, variables={"v": c}, tolerance=MOVED)
    for kind in ["f2", "f4", "f8"]:
        v = np.array([[0.5, -2, 1.25]], kind)
        s.valid("variable", f"stored in {8 * v.itemsize} bit floats", "y = sub(x, v)", x - v.astype(np.float32), {"x": x}, variables={"v": v},
                dialects=BOTH)
    for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
        limits = np.iinfo(kind)
        largest = min(limits.max, 2**62)  # of u8, a value that 64-bit integers have, too
        v = np.array([[limits.min, 0, largest]], kind)
        s.valid("variable", f"stored in {8 * v.itemsize} bit {'un' if kind[0] == 'u' else ''}signed integers", "y = copy(v); z = neg(x)",
                {"y": v.astype(np.int64), "z": -x}, {"x": x}, variables={"v": v}, tolerance=MOVED)
    s.valid("variable", "two of one label share their data",
            "w = variable<scalar>(shape = [2, 3], label = 'V'); a = add(x, v); y = add(a, w)", x + v_of(s, x) * 2, {"x": x},
            variables={"v": v_of(s, x)})
    label = "variable.label"
    for what, rule, text in [("empty label", label, "shape = [1], label = ''"), ("a blank in the label", label, "shape = [1], label = 'a b'"),
                             ("a colon in the label", label, "shape = [1], label = 'a:0'"),
                             ("extent zero", "variable.shape", "shape = [0], label = 'w'"),
                             ("extent negative", "variable.shape", "shape = [-2], label = 'w'")]:
        s.invalid("variable", rule, what, f"v = variable<scalar>({text}); y = add(x, v)")
    s.invalid("variable", "variable.shared-label", "two shapes of one label",
              "v = variable<scalar>(shape = [1], label = 'w'); w = variable<scalar>(shape = [2], label = 'W'); "
              "a = add(x, v); y = add(a, w)")
    return s.cases


def v_of(s: Section, x: np.ndarray) -> np.ndarray:
    return (np.arange(x.size, dtype=np.float32) / 4).reshape(x.shape)


def update() -> list[Case]:
    s = Section("4.8", 48, "4.7")
    x, v, w = s.data(2, 3), s.data(2, 3), s.data(2, 3)
    s.valid("update", "the result is the new value", "y = update(v, x)", x, {"x": x}, variables={"v": v}, tolerance=MOVED, dialects=BOTH)
    s.valid("update", "the variable keeps its old value in the cycle", "r = update(v, x); y = sub(r, v)",
            {"r": x, "y": x - v}, {"x": x}, variables={"v": v}, dialects=BOTH)
    s.valid("update", "two variables swap their values", "y = update(v, w); z = update(w, v); a = add(x, y)",
            {"y": w, "z": v, "a": x + w}, {"x": x}, variables={"v": v, "w": w}, dialects=BOTH)
    s.valid("update", "an accumulator", "a = add(v, x); y = update(v, a)", v + x, {"x": x}, variables={"v": v}, dialects=BOTH)
    variable = "v = variable<scalar>(shape = [2, 4], label = 'v'); "
    s.invalid("update", "update.shape", "one extent is less", variable + "y = update(v, x)", {"x": np.zeros([2, 3], np.float32)})
    s.invalid("update", "update.shape", "a rank is more", variable + "y = update(v, x)")
    s.invalid("update", "update.once", "a variable is updated twice",
              variable + "a = update(v, v); y = update(v, a); b = copy(x)", {"x": np.zeros([2, 4], np.float32)})
    s.invalid("update", "graph.update-target", "a result is updated", variable + "a = update(v, v); y = update(a, x)",
              {"x": np.zeros([2, 4], np.float32)})
    s.invalid("update", "graph.update-target", "an external is updated", variable + "a = update(v, v); y = update(x, a)",
              {"x": np.zeros([2, 4], np.float32)})
    return s.cases


def cases() -> list[Case]:
    return external() + constant() + variable() + update()
