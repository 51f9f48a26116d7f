"""4.4: reductions; 4.5: shape operations."""

from __future__ import annotations

import itertools
import math

import numpy as np

from case import BOTH, MOVED, PROVISIONAL, RATIFIED, ROUNDED, SUMMED, Case, Section

RATIFIED_ONLY = (RATIFIED,)
PADS = {"constant": {}, "replicate": dict(mode="edge"), "reflect": dict(mode="reflect"), "reflect-even": dict(mode="symmetric")}


def subsets(rank: int) -> list[list[int]]:
    return [list(c) for k in range(rank + 1) for c in itertools.combinations(range(rank), k)]


def arg_reduce(x: np.ndarray, axes: list[int], form) -> np.ndarray:
    """One axis: the first position of the extreme. The text reduces several axes one after the other, which is not
    defined for positions, so that only single axes are tried."""
    return np.expand_dims(form(x, axis=axes[0]), axes[0])


def reduction() -> list[Case]:
    s = Section("4.4", 44)
    forms = {"sum_reduce": (np.sum, SUMMED, BOTH), "mean_reduce": (np.mean, SUMMED, BOTH), "max_reduce": (np.max, MOVED, BOTH),
             "min_reduce": (np.min, MOVED, BOTH)}
    for name, (form, tolerance, dialects) in forms.items():
        for shape in [[5], [2, 3], [2, 3, 4]]:
            x = s.data(*shape)
            for axes in subsets(len(shape)):
                y = form(x.astype(float), axis=tuple(axes), keepdims=True) if axes else x
                s.valid(name, f"{shape} axes {axes}", f"y = {name}(x, axes = {axes})", y, {"x": x}, tolerance=tolerance, dialects=dialects)
        x = s.data(2, 3, 4, 5)
        for axes in [[3, 1], [2, 0, 3], [0, 1, 2, 3], [1, 2]]:
            s.valid(name, f"order of axes {axes}", f"y = {name}(x, axes = {axes})", form(x.astype(float), axis=tuple(axes), keepdims=True), {"x": x},
                    tolerance=tolerance, dialects=dialects)
    for axes in [[], [1], [0, 2], [2, 1, 0]]:
        x = s.data(2, 3, 4)
        y = x.astype(float).mean(axis=tuple(axes), keepdims=True) if axes else x
        s.valid("sum_reduce", f"normalized axes {axes}", f"y = sum_reduce(x, axes = {axes}, normalize = true)", y, {"x": x}, tolerance=SUMMED,
                dialects=BOTH)
    for name, form in {"argmax_reduce": np.argmax, "argmin_reduce": np.argmin}.items():
        for shape in [[5], [2, 3], [2, 3, 4], [2, 1, 3, 2]]:
            x = s.distinct(*shape)
            for axis in range(len(shape)):
                s.valid(name, f"{shape} axis {axis}", f"y = {name}(x, axes = [{axis}])", arg_reduce(x, [axis], form), {"x": x}, tolerance=MOVED)
        ties = np.array([[1, 3, 3], [2, 2, 2], [0, 0, -1]], np.float32)
        s.valid(name, "the first of equal values", f"y = {name}(x, axes = [1])", arg_reduce(ties, [1], form), {"x": ties}, tolerance=MOVED)
        s.valid(name, "infinities", f"y = {name}(x, axes = [0])", arg_reduce(np.array([0, np.inf, -np.inf]), [0], form),
                {"x": np.array([0, np.inf, -np.inf], np.float32)}, tolerance=MOVED)
    for name, form in {"all_reduce": np.all, "any_reduce": np.any}.items():
        for shape in [[4], [2, 3], [2, 3, 2]]:
            x = s.random.random(shape) > (0.3 if name == "all_reduce" else 0.7)
            for axes in subsets(len(shape)):
                s.valid(name, f"{shape} axes {axes}", f"y = {name}(x, axes = {axes})", form(x, axis=tuple(axes), keepdims=True) if axes else x,
                        {"x": x}, tolerance=MOVED)
        for truth in [True, False]:
            x = np.full([2, 3], truth)
            s.valid(name, f"all {truth}", f"y = {name}(x, axes = [1])", form(x, axis=1, keepdims=True), {"x": x}, tolerance=MOVED)
        s.invalid(name, "type.mismatch", "of scalars", f"y = {name}(x, axes = [1])")
    for name in [*forms, "argmax_reduce"]:
        s.invalid(name, "axis.range", "axis one beyond", f"y = {name}(x, axes = [4])")
        s.invalid(name, "axis.range", "axis negative", f"y = {name}(x, axes = [-1])")
        s.invalid(name, "axis.repeated", "axis twice", f"y = {name}(x, axes = [2, 2])")
    s.invalid("sum_reduce", "binding.missing-argument", "no axes", "y = sum_reduce(x)")
    return s.cases


def reshaping() -> list[Case]:
    s = Section("4.5.1", 451)
    x = s.data(2, 3, 4)
    for shape in [[24], [4, 6], [2, 3, 4], [1, 24, 1], [0, 12], [0, 0, 4], [0, 0, 0], [-1], [0, -1], [-1, 4], [2, -1, 2], [0, 0, -1], [0, 0, 2, 2],
                  [0, 0, 4, -1], [1, -1], [6, -1]]:
        target = [x.shape[i] if e == 0 else e for i, e in enumerate(shape)]
        positive = all(e >= 0 for e in shape)
        s.valid("reshape", f"to {shape}", f"y = reshape(x, shape = {shape})", x.reshape(target), {"x": x}, tolerance=MOVED,
                dialects=BOTH if positive or shape in ([0, -1], [-1]) else RATIFIED_ONLY)
    for shape, start, count in [([12], 0, 2), ([6], 0, 2), ([12], 1, 2), ([12], 1, -1), ([3, 1], 1, 1), ([2, 2], 2, 1), ([2, 2], 2, -1), ([1], 3, 0),
                                ([1, 1], 0, 0), ([0, 2, 2], 1, 2), ([-1], 1, 2), ([-1, 2], 2, 1), ([24], 0, 3), ([1], 3, -1)]:
        end = len(x.shape) if count == -1 else start + count
        inner = [x.shape[start + i] if e == 0 else e for i, e in enumerate(shape)]
        if math.prod(x.shape[start:end]) % max(abs(math.prod(inner)), 1) or (-1 not in inner and math.prod(inner) != math.prod(x.shape[start:end])):
            continue
        if -1 in inner:
            inner[inner.index(-1)] = math.prod(x.shape[start:end]) // abs(math.prod(inner))
        s.valid("reshape", f"axes {start} count {count} to {shape}", f"y = reshape(x, shape = {shape}, axis_start = {start}, axis_count = {count})",
                x.reshape([*x.shape[:start], *inner, *x.shape[end:]]), {"x": x}, tolerance=MOVED)
    one = s.data(1, 1)
    s.valid("reshape", "to rank 0", "y = reshape(x, shape = [])", one.reshape([]), {"x": one}, tolerance=MOVED)
    for kind, v in {"integers": np.arange(6).reshape(2, 3), "logicals": s.data(2, 3) > 0}.items():
        s.valid("reshape", kind, "y = reshape(x, shape = [3, 2])", v.reshape(3, 2), {"x": v}, tolerance=MOVED)
    for shape, axes in [([1, 3], [0]), ([3, 1], [1]), ([1, 3, 1, 2], [0, 2]), ([1, 3, 1, 2], [2]), ([1, 1], [0, 1]), ([2, 1, 1, 3], [2, 1]), ([2, 3], [])]:
        v = s.data(*shape)
        s.valid("squeeze", f"{shape} axes {axes}", f"y = squeeze(x, axes = {axes})", v.squeeze(tuple(axes)), {"x": v}, tolerance=MOVED)
    for shape, axes in [([3], [0]), ([3], [1]), ([2, 3], [0, 2]), ([2, 3], [1, 2]), ([2, 3], [3, 0]), ([2, 3], [0, 1, 4]), ([2, 3], [])]:
        v = s.data(*shape)
        s.valid("unsqueeze", f"{shape} axes {axes}", f"y = unsqueeze(x, axes = {axes})", np.expand_dims(v, tuple(axes)), {"x": v}, tolerance=MOVED)
    for rule, what, text in [("reshape.volume", "one item more", "shape = [257, 2]"), ("reshape.volume", "-1 that does not divide", "shape = [3, -1]"),
                             ("reshape.items", "two of -1", "shape = [-1, -1]"), ("reshape.items", "an item of -2", "shape = [2, -2]"),
                             ("reshape.inherit", "0 beyond the rank", "shape = [2, 4, 8, 8, 0]"),
                             ("reshape.axis-range", "axis_start beyond the rank", "shape = [1], axis_start = 5"),
                             ("reshape.axis-range", "axis_start negative", "shape = [64], axis_start = -1"),
                             ("reshape.axis-range", "axis_count one too large", "shape = [64], axis_start = 2, axis_count = 3"),
                             ("reshape.axis-range", "axis_count -2", "shape = [64], axis_start = 2, axis_count = -2")]:
        s.invalid("reshape", rule, what, f"y = reshape(x, {text})")
    s.invalid("squeeze", "squeeze.singular", "an extent of 4", "y = squeeze(x, axes = [1])")
    s.invalid("squeeze", "axis.range", "axis one beyond", "y = squeeze(x, axes = [4])")
    s.invalid("unsqueeze", "axis.range", "axis one beyond", "y = unsqueeze(x, axes = [5])")
    s.invalid("unsqueeze", "axis.repeated", "axis twice", "y = unsqueeze(x, axes = [1, 1])")
    return s.cases


def transposing() -> list[Case]:
    s = Section("4.5.2", 452)
    x = s.data(2, 3, 4, 5)
    for axes in [*map(list, itertools.permutations(range(3))), [0], [1, 0], [], [3, 2, 1, 0], [0, 2, 3, 1], [0, 3, 1, 2], [1, 0, 3, 2], [2, 3, 0, 1]]:
        order = [*axes, *range(len(axes), 4)]
        for name, dialect in [("axes", RATIFIED), ("perm", PROVISIONAL)]:
            s.valid("transpose", f"{name} {axes}", f"y = transpose(x, {name} = {axes})", x.transpose(order), {"x": x}, tolerance=MOVED, dialects=(dialect,))
    i = np.arange(6).reshape(2, 3)
    s.valid("transpose", "integers", "y = transpose(x, axes = [1, 0])", i.T, {"x": i}, tolerance=MOVED)
    for what, axes in [("an axis twice", [0, 1, 1]), ("an axis left out", [0, 2]), ("an axis beyond", [0, 1, 2, 4]), ("negative", [-1, 0]),
                       ("more axes than the rank", [0, 1, 2, 3, 4])]:
        s.invalid("transpose", "transpose.axes", what, f"y = transpose(x, axes = {axes})")
    return s.cases


def splitting() -> list[Case]:
    s = Section("4.5.3", 453)
    x = s.data(2, 6, 4)
    for axis, ratios in [(1, [1, 1]), (1, [1, 2]), (1, [2, 1]), (1, [1, 1, 1]), (1, [1, 2, 3]), (1, [6]), (0, [1, 1]), (2, [1, 3]), (2, [1, 1, 2])]:
        step = x.shape[axis] // sum(ratios)
        parts = np.split(x, np.cumsum(ratios)[:-1] * step, axis)
        names = [f"y{i}" for i in range(len(parts))]
        s.valid("split", f"axis {axis} ratios {ratios}", f"[{', '.join(names)}] = split(x, axis = {axis}, ratios = {ratios})",
                dict(zip(names, parts)), {"x": x}, tolerance=MOVED, dialects=BOTH)
    for axis, shapes in [(0, [[1, 3], [2, 3]]), (1, [[2, 1], [2, 3]]), (1, [[2, 2], [2, 2], [2, 1]]), (2, [[1, 2, 3], [1, 2, 4]]), (0, [[3]]),
                         (0, [[1], [2], [3], [4]]), (3, [[1, 2, 1, 2], [1, 2, 1, 1]])]:
        given = {f"x{i}": s.data(*shape) for i, shape in enumerate(shapes)}
        s.valid("concat", f"axis {axis} of {shapes}", f"y = concat([{', '.join(given)}], axis = {axis})", np.concatenate(list(given.values()), axis),
                given, tolerance=MOVED, dialects=BOTH)
    v = s.data(2, 3)
    s.valid("concat", "a tensor twice", "y = concat([x, x], axis = 1)", np.concatenate([v, v], 1), {"x": v}, tolerance=MOVED, dialects=BOTH)
    i = np.arange(3)
    s.valid("concat", "integers", "y = concat([x, x], axis = 0)", np.concatenate([i, i]), {"x": i}, tolerance=MOVED)
    for shape, axis, count in [([3], 0, 2), ([3], 1, 2), ([2, 3], 0, 2), ([2, 3], 1, 3), ([2, 3], 2, 2), ([2, 3], 2, 1)]:
        given = {f"x{i}": s.data(*shape) for i in range(count)}
        s.valid("stack", f"{count} of {shape} axis {axis}", f"y = stack([{', '.join(given)}], axis = {axis})", np.stack(list(given.values()), axis), given,
                tolerance=MOVED)
    for shape, axis in [([3], 0), ([2, 3], 0), ([2, 3], 1), ([2, 1, 3], 2), ([2, 1, 3], 1)]:
        u = s.data(*shape)
        parts = {f"y{i}": part for i, part in enumerate(np.moveaxis(u, axis, 0))}
        s.valid("unstack", f"{shape} axis {axis}", f"[{', '.join(parts)}] = unstack(x, axis = {axis})", parts, {"x": u}, tolerance=MOVED)
    three = {"x": np.zeros([2, 3], np.float32), "z": np.zeros([2, 4], np.float32)}
    s.invalid("concat", "concat.extents", "an extent beside the axis", "y = concat([x, z], axis = 0)", three)
    s.invalid("concat", "concat.rank", "ranks 2 and 1", "y = concat([x, z], axis = 0)", {"x": np.zeros([2, 3], np.float32), "z": np.zeros([2], np.float32)})
    s.invalid("concat", "axis.range", "axis one beyond", "y = concat([x, z], axis = 2)", three)
    s.invalid("concat", "axis.range", "axis negative", "y = concat([x, z], axis = -1)", three)
    s.invalid("stack", "stack.shapes", "unequal shapes", "y = stack([x, z], axis = 0)", three)
    s.invalid("stack", "axis.range", "axis one beyond", "y = stack([x, x], axis = 3)", {"x": np.zeros([2, 3], np.float32)})
    s.invalid("split", "split.ratios", "ratios that do not divide", "[y, z] = split(x, axis = 1, ratios = [1, 2])")
    s.invalid("split", "split.ratios", "a ratio of 0", "[y, z] = split(x, axis = 1, ratios = [0, 2])")
    s.invalid("split", "split.ratios", "a ratio that is negative", "[y, z] = split(x, axis = 1, ratios = [-1, 2])")
    s.invalid("split", "axis.range", "axis one beyond", "[y, z] = split(x, axis = 4, ratios = [1, 1])")
    s.invalid("unstack", "axis.range", "axis one beyond", "[y, z] = unstack(x, axis = 4)")
    s.invalid("unstack", "unstack.count", "two results of four", "[y, z] = unstack(x, axis = 1)")
    return s.cases


def slicing() -> list[Case]:
    s = Section("4.5.4", 454)
    x = s.data(3, 8)
    # A begin before the first item is treated as -1 and one beyond the last as the extent, where no item is: both are left out.
    for begin, end, stride in [(0, 8, None), (2, 5, None), (0, 1, None), (7, 8, None), (-3, 8, None), (-8, -1, None), (1, -2, None), (-5, -2, None),
                               (3, 100, None), (0, 8, 1), (0, 8, 2), (1, 8, 3), (0, 8, 8), (0, 8, 9), (2, -1, 2),
                               (7, 0, -1), (7, 3, -2), (-1, 0, -3), (5, -100, -1), (-1, -100, -1), (6, 5, -1)]:
        upper = lambda v: max(-1, min(8, v + 8 if v < 0 else v))  # noqa: E731
        b, e = upper(begin), upper(end)
        index = list(range(b, e, stride or 1))
        text = f"axes = [1], begin = [{begin}], end = [{end}]" + (f", stride = [{stride}]" if stride else "")
        s.valid("slice", f"{begin} to {end} by {stride or 1}", f"y = slice(x, {text})", x[:, index], {"x": x}, tolerance=MOVED)
    s.valid("slice", "end 0 without strides is the end", "y = slice(x, axes = [1], begin = [3], end = [0])", x[:, 3:], {"x": x}, tolerance=MOVED)
    s.valid("slice", "end 0 with strides of 1 is the end", "y = slice(x, axes = [1], begin = [3], end = [0], stride = [1])", x[:, 3:], {"x": x},
            tolerance=MOVED)
    v = s.data(2, 3, 4, 5)
    for what, text, y in [("two axes", "axes = [1, 3], begin = [1, 2], end = [3, 4]", v[:, 1:3, :, 2:4]),
                          ("axes in reverse order", "axes = [3, 0], begin = [2, 1], end = [4, 2]", v[1:2, :, :, 2:4]),
                          ("two strides", "axes = [2, 3], begin = [0, 4], end = [4, 1], stride = [2, -1]", v[:, :, 0:4:2, 4:1:-1]),
                          ("no axes", "axes = [], begin = [], end = []", v)]:
        s.valid("slice", what, f"y = slice(x, {text})", y, {"x": v}, tolerance=MOVED)
    i = np.arange(6)
    s.valid("slice", "integers", "y = slice(x, axes = [0], begin = [1], end = [4])", i[1:4], {"x": i}, tolerance=MOVED)
    for rule, what, text in [("slice.lengths", "one begin of two", "axes = [1, 2], begin = [0], end = [2, 2]"),
                             ("slice.lengths", "one end of two", "axes = [1, 2], begin = [0, 0], end = [2]"),
                             ("slice.lengths", "one stride of two", "axes = [1, 2], begin = [0, 0], end = [2, 2], stride = [1]"),
                             ("slice.stride", "stride 0", "axes = [1], begin = [0], end = [2], stride = [0]"),
                             ("slice.range", "begin after end", "axes = [1], begin = [3], end = [2]"),
                             ("slice.range", "begin before end by -1", "axes = [1], begin = [1], end = [3], stride = [-1]"),
                             ("axis.range", "axis one beyond", "axes = [4], begin = [0], end = [1]"),
                             ("axis.range", "axis negative", "axes = [-1], begin = [0], end = [1]"),
                             ("axis.repeated", "axis twice", "axes = [1, 1], begin = [0, 0], end = [2, 2]")]:
        s.invalid("slice", rule, what, f"y = slice(x, {text})")
    return s.cases


def padding() -> list[Case]:
    s = Section("4.5.5", 455)
    for extents, pads in [([5], [(1, 0)]), ([5], [(0, 2)]), ([5], [(2, 1)]), ([5], [(0, 0)]), ([5], [(4, 4)]), ([3, 4], [(1, 0), (0, 1)]),
                          ([3, 4], [(0, 0), (3, 2)]), ([2, 3, 4], [(0, 1), (1, 2), (3, 0)]), ([1, 2, 4, 5], [(0, 0), (0, 0), (1, 2), (2, 1)])]:
        x = s.data(*extents)
        for border, mode in PADS.items():
            if border == "reflect" and any(max(p) >= e for p, e in zip(pads, extents)):
                continue
            if border == "reflect-even" and any(max(p) > e for p, e in zip(pads, extents)):
                continue
            text = str(pads).replace(" ", "")
            s.valid("pad", f"{border} {pads}", f"y = pad(x, padding = {text}, border = '{border}')", np.pad(x, pads, **mode), {"x": x}, tolerance=MOVED)
        s.valid("pad", f"value {pads}", f"y = pad(x, padding = {str(pads).replace(' ', '')}, value = -1.5)", np.pad(x, pads, constant_values=-1.5), {"x": x},
                tolerance=MOVED)
    x = s.data(2, 6)
    for pads, y in [([(0, 0), (-1, 0)], x[:, 1:]), ([(0, 0), (0, -2)], x[:, :-2]), ([(0, 0), (-2, -3)], x[:, 2:3]),
                    ([(1, 0), (-1, 1)], np.pad(x[:, 1:], [(1, 0), (0, 1)])), ([(0, -1), (1, -1)], np.pad(x[:-1, :-1], [(0, 0), (1, 0)]))]:
        s.valid("pad", f"negative {pads}", f"y = pad(x, padding = {str(pads).replace(' ', '')})", y, {"x": x}, tolerance=MOVED)
    for rule, what, text in [("pad.length", "two pairs of four", "padding = [(1,1), (1,1)]"), ("pad.length", "five pairs of four", "padding = [(0,0), (0,0), (0,0), (0,0), (0,0)]"),
                             ("pad.border", "border ignore", "padding = [(0,0), (0,0), (1,1), (1,1)], border = 'ignore'"),
                             ("pad.border", "border unknown", "padding = [(0,0), (0,0), (1,1), (1,1)], border = 'edge'"),
                             ("pad.extent", "nothing is left", "padding = [(0,0), (0,0), (-4,-4), (0,0)]"),
                             ("pad.border-reach", "a reflection beyond the extent", "padding = [(0,0), (0,0), (8,0), (0,0)], border = 'reflect'"),
                             ("pad.border-reach", "an even reflection beyond the extent", "padding = [(0,0), (0,0), (0,9), (0,0)], border = 'reflect-even'")]:
        s.invalid("pad", rule, what, f"y = pad(x, {text})")
    return s.cases


def tiling() -> list[Case]:
    s = Section("4.5.6", 456)
    for shape, repeats in [([3], [1]), ([3], [4]), ([2, 3], [2, 1]), ([2, 3], [1, 2]), ([2, 3], [3, 2]), ([1, 2, 1], [2, 1, 3]), ([2, 1, 2, 2], [1, 3, 2, 1])]:
        x = s.data(*shape)
        s.valid("tile", f"{shape} by {repeats}", f"y = tile(x, repeats = {repeats})", np.tile(x, repeats), {"x": x}, tolerance=MOVED)
    for kind, v in {"integers": np.arange(3), "logicals": np.array([True, False, True])}.items():
        s.valid("tile", kind, "y = tile(x, repeats = [2])", np.tile(v, 2), {"x": v}, tolerance=MOVED)
    for what, repeats in [("one repeat less", [1, 2, 1]), ("one repeat more", [1, 1, 1, 1, 2]), ("repeat 0", [1, 1, 0, 1]), ("repeat negative", [1, -1, 1, 1])]:
        s.invalid("tile", "tile.repeats", what, f"y = tile(x, repeats = {repeats})")
    return s.cases


def gathering() -> list[Case]:
    s = Section("4.5.7", 457)
    x = s.data(3, 4, 5)
    for axis in range(3):
        last = x.shape[axis] - 1
        for i in [[0], [last], [last, 0, last], [[0, 1], [last, 0]], [[[1]], [[0]]]]:
            index = np.array(i)
            s.valid("gather", f"axis {axis} indices {list(index.shape)}", f"y = gather(x, i, axis = {axis})", np.take(x, index, axis), {"x": x, "i": index},
                    tolerance=MOVED)
    s.valid("gather", "axis by default", "y = gather(x, i)", x[[2, 0]], {"x": x, "i": np.array([2, 0])}, tolerance=MOVED)
    s.valid("gather", "an index of rank 0", "y = gather(x, i, axis = 1)", x[:, 2], {"x": x, "i": np.array(2)}, tolerance=MOVED)
    n = np.arange(8).reshape(2, 4)
    s.valid("gather", "of integers", "y = gather(x, i, axis = 1)", n[:, [3, 1]], {"x": n, "i": np.array([3, 1])}, tolerance=MOVED)
    s.invalid("gather", "axis.range", "axis one beyond", "i = argmax_reduce(x, axes = [3]); y = gather(x, i, axis = 4)")
    s.invalid("gather", "axis.range", "axis negative", "i = argmax_reduce(x, axes = [3]); y = gather(x, i, axis = -1)")
    s.invalid("gather", "type.mismatch", "indices that are scalars", "y = gather(x, x)")
    return s.cases


def casting() -> list[Case]:
    s = Section("4.5.8", 458)
    x = np.array([-1.5, -1.0, -0.25, 0.0, 0.75, 2.0, 1e9], np.float32)
    i, b = np.array([-3, 0, 7, 2**24]), np.array([True, False])
    for source, target, given, y in [("scalar", "integer", x, np.floor(x).astype(np.int64)), ("scalar", "logical", x, x != 0), ("scalar", "scalar", x, x),
                                     ("integer", "scalar", i, i.astype(np.float32)), ("integer", "logical", i, i != 0), ("integer", "integer", i, i),
                                     ("logical", "scalar", b, b.astype(np.float32)), ("logical", "integer", b, b.astype(np.int64)), ("logical", "logical", b, b)]:
        s.valid("cast", f"{source} to {target}", f"y = cast<{target}>(x)", y, {"x": given}, tolerance=MOVED)
    s.invalid("cast", "generic.undeduced", "no type", "y = cast(x)")
    return s.cases


def cases() -> list[Case]:
    return reduction() + reshaping() + transposing() + splitting() + slicing() + padding() + tiling() + gathering() + casting()
