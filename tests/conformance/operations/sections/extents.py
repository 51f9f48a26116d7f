"""Cases of the ranks, extents and data types that the cases of the other sections lack, one for each.

A tensor with an extent of 0 is a slice whose begin is its end (1.0.5, 4.5.4): no other operation makes one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

import numpy_operations as m
import window_formulas as w
from case import BOTH, MOVED, PROVISIONAL, RATIFIED, SUMMED, Arrays, Case, Section
from coverage import Coverage, cover, declared, ranks, required_extents, required_kinds
from sections.compounds import ACTIVATIONS, min_max, zero_point
from sections.elementwise import ARITHMETIC, COMPARISON, LOGICAL, UNARY, aligned
from sections.windows import attributes

# The first extents are those of a tensor of a lower rank: one of 1 and an odd one from rank 2 on.
EXTENTS = [1, 3, 2, 1, 5, 2]


@dataclass
class Call:
    """Statements that apply an operation to `x`, and what they compute."""

    body: str
    expected: Arrays | np.ndarray
    tolerance: float = SUMMED
    inputs: Arrays = field(default_factory=dict)
    variables: Arrays = field(default_factory=dict)


def unary(name: str, form: Callable, tolerance: float = SUMMED, low: float = -1, high: float = 1) -> Callable:
    def build(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
        x = s.data(*shape, low=low, high=high)
        return x, Call(f"y = {name}(x)", form(x.astype(float)), tolerance)
    return build


def moved(form: Callable) -> Callable:
    """An operation that moves items of any type: `form` returns the statement and the result."""
    def build(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
        x = items(s, shape, kind)
        return x, Call(*form(x, dialect), MOVED)
    return build


def summed(form: Callable, **more) -> Callable:
    """An operation on scalars: `form` returns the statement and the result."""
    def build(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
        x = s.data(*shape, **more)
        return x, Call(*form(x.astype(float), dialect))
    return build


def items(s: Section, shape: list[int], kind: str) -> np.ndarray:
    """Items of a type: floats, 64-bit integers or logicals."""
    if kind == "i":
        return s.random.integers(-2**40, 2**40, shape)
    return s.data(*shape) > 0 if kind == "b" else s.data(*shape)


def largest(x: np.ndarray) -> int:
    """The axis of the largest extent."""
    return int(np.argmax(x.shape))


def not_(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
    x = s.data(*shape)
    if dialect == PROVISIONAL:
        return x, Call("c = lt(x, 0.0); y = not(c)", ~(x < 0), MOVED)
    return x > 0, Call("y = not(x)", ~(x > 0), MOVED)


def binary(name: str, form: Callable) -> Callable:
    def build(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
        other = [e or 1 for e in shape]  # an extent of 1 is repeated 0 times
        x, z = (s.data(*extents, low=0.5, high=3) for extents in (shape, other))
        return x, Call(f"y = {name}(x, z)", form(x.astype(float), z.astype(float)), inputs={"z": z})
    return build


def logical(name: str, form: Callable) -> Callable:
    def build(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
        x, z = s.data(*shape), s.data(*[e or 1 for e in shape])
        if dialect == PROVISIONAL:
            return x, Call(f"a = gt(x, 0.0); b = lt(x, 0.5); y = {name}(a, b)", form(x > 0, x < 0.5), MOVED)
        return x > 0, Call(f"y = {name}(x, z)", form(x > 0, z > 0), MOVED, {"z": z > 0})
    return build


def select(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
    if dialect == PROVISIONAL:
        x = s.data(*shape)
        return x, Call("c = gt(x, 0.0); y = select(c, x, 0.5)", np.where(x > 0, x, np.float32(0.5)), MOVED)
    x, (a, b) = s.data(*shape) > 0, (items(s, [e or 1 for e in shape], kind) for _ in range(2))
    return x, Call("y = select(x, a, b)", np.where(x, a, b), MOVED, {"a": a, "b": b})


def reduction(name: str, form: Callable, tolerance: float) -> Callable:
    def build(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
        axes = [0, 2] if 0 in shape else list(range(len(shape) % 2, len(shape), 2)) or [0]
        x = items(s, shape, "b" if name in ("all_reduce", "any_reduce") else "f")
        y = form(x if x.dtype == bool else x.astype(float), axis=tuple(axes), keepdims=True)
        return x, Call(f"y = {name}(x, axes = {axes})", y, tolerance)
    return build


def position(name: str, form: Callable) -> Callable:
    def build(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
        x = s.distinct(*shape)
        axis = largest(x)
        return x, Call(f"y = {name}(x, axes = [{axis}])", np.expand_dims(form(x, axis=axis), axis), MOVED)
    return build


def update(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
    x, v = items(s, shape, kind), items(s, shape, kind)
    return x, Call("y = update(v, x)", x, MOVED, variables={"v": v})


def constant(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
    v = s.data(*shape).astype(float).round(3)
    value = ", ".join(repr(item) for item in v.ravel().tolist())
    x = np.full([1] * len(shape), 0.5, np.float32)
    return x, Call(f"c = constant(shape = {shape}, value = [{value}]); y = add(c, x)", v + 0.5)


def variable(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
    x, v = s.data(*shape), s.data(*shape)
    return x, Call("y = sub(x, v)", x - v, variables={"v": v})


def window_of(x: np.ndarray) -> list[int]:
    """A window of at most 2 items along each axis."""
    return [min(2, extent) for extent in x.shape]


def pool(name: str, kind: str) -> Callable:
    def build(s: Section, shape: list[int], _: str, dialect: str) -> tuple[np.ndarray, Call]:
        x = s.distinct(*shape) + np.float32(40)
        size, padding = window_of(x), [(0, 0)] * x.ndim
        text = attributes(size=size, padding=padding)
        y = w.pool(x, kind, size, padding=padding)
        tolerance = MOVED if kind in ("max", "argmax") else SUMMED
        if name == "max_pool_with_index":
            both = {"y": y, "i": w.pool(x, "argmax", size, padding=padding)}
            return x, Call(f"y, i = {name}(x{text})", both if dialect == RATIFIED else y, tolerance)
        if name in ("sample", "argmax_pool") and (dialect == PROVISIONAL or name == "sample"):
            y = w.pool(x, "max", size, padding=padding)
            return x, Call(f"i = argmax_pool(x{text}); y = sample(x, i{text})", y, tolerance)
        return x, Call(f"y = {name}(x{text})", y, tolerance)
    return build


def desample(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
    x = s.distinct(*shape) + np.float32(40)
    size, padding = window_of(x), [(0, 0)] * x.ndim
    text, index = attributes(size=size, padding=padding), w.pool(x, "argmax", size, padding=padding)
    v = s.data(*index.shape)
    return x, Call(f"i = argmax_pool(x{text}); y = desample(v, i{text})", w.desample(v, index, size, padding=padding), inputs={"v": v})


def debox(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
    x = s.data(*shape)
    size, padding = window_of(x), [(0, 0)] * x.ndim
    return x, Call(f"y = debox(x{attributes(size=size, padding=padding)})", w.debox(x, size, padding=padding))


def convolution(name: str, form: Callable) -> Callable:
    def build(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
        channels, spatial = shape[1], len(shape) - 2
        x, padding = s.data(*shape), [(1, 0)] * spatial
        plane, text = s.data(channels, 1, *[2] * spatial), attributes(padding=padding)
        if name in ("conv", "deconv"):
            f = s.data(2 if name == "conv" else channels, channels if name == "conv" else 2, *[2] * spatial)
            return x, Call(f"y = {name}(x, f{text})", form(x, f, padding=padding), variables={"f": f})
        if name.startswith("planewise"):
            return x, Call(f"y = {name}(x, f{text})", form(x, plane, groups=channels, padding=padding), variables={"f": plane})
        point = s.data(*((2, channels) if name == "separable_conv" else (channels, 2)), *[1] * spatial)
        if name == "separable_conv":
            y = form(form(x, plane, groups=0, padding=padding), point)
        else:
            plane = s.data(2, 1, *[2] * spatial)
            y = form(form(x, point), plane, groups=0, padding=padding)
        return x, Call(f"y = {name}(x, p, f{text})", y, variables={"p": plane, "f": point})
    return build


def local(name: str) -> Callable:
    def build(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
        x = s.data(*shape, low=0.5, high=2)
        size = [3 if extent > 1 else 1 for extent in shape]
        mean = lambda v: w.pool(v, "sum", size) / np.prod(size)  # noqa: E731
        centred = x - mean(x) if name in ("local_mean_normalization", "local_contrast_normalization") else x.astype(float)
        bias = ", bias = 0.5" if name in ("local_variance_normalization", "local_contrast_normalization") else ""
        y = centred
        if name == "local_response_normalization":
            y = x / (1 + mean(x.astype(float) ** 2)) ** 0.5
        elif bias:
            root = np.sqrt(mean(centred**2))
            y = centred / (root + 0.5 if dialect == RATIFIED else np.sqrt(root**2 + 0.5))
        return x, Call(f"y = {name}(x, size = {size}{bias})", y)
    return build


def batch_normalization(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
    x = s.data(*shape)
    if 0 in shape:
        return x, Call("y = batch_normalization(x, 0.5, 4.0, 1.0, 2.0, epsilon = 0.0)", x)
    v = {name: s.data(1, shape[1], low=0.5, high=2) for name in "mvog"}
    mean, variance, offset, scale = (aligned(x, v[name])[1].astype(float) for name in "mvog")
    return x, Call("y = batch_normalization(x, m, v, o, g, epsilon = 0.5)", offset + scale * (x - mean) / np.sqrt(variance + 0.5), variables=v)


def matmul(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
    x, z = s.data(*shape), s.data(*shape[:-2], shape[-1], 4) if 0 not in shape else s.data(2, 3, 4)
    return x, Call("y = matmul(x, z)", x.astype(float) @ z, inputs={"z": z})


def linear(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
    x, f = s.data(*shape), s.data(4, shape[1])
    return x, Call("y = linear(x, f)", x.astype(float) @ f.T, variables={"f": f})


def quantize(name: str) -> Callable:
    def build(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
        x = s.data(*shape, low=0.05, high=3)
        v = x.astype(float)
        if name == "zero_point_linear_quantize":
            return x, Call(f"y = {name}(x, z, 0.25, bits = 4, signed = true, symmetric = false)", zero_point(v, 1, 0.25, 4, True, False),
                           variables={"z": np.array(1)})
        if name == "logarithmic_quantize":
            y = np.sign(v) * 2.0 ** m.round_up(np.clip(np.log2(v), 2 - 15, 2))
            if dialect == PROVISIONAL:
                y = 2.0 ** m.round_up(np.log2(np.clip(v, 0.25, 4.0) / 0.25))
            return x, Call(f"y = {name}(x, 3.0, bits = 4)", y)
        more = "" if name == "linear_quantize" else ", signed = false, symmetric = false"
        return x, Call(f"y = {name}(x, -2.0, 2.5, bits = 4{more})", min_max(v, -2.0, 2.5, 4, False, False))
    return build


def regions(name: str) -> Callable:
    def build(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
        x = s.data(1, 3, 4, 5)
        corners, batch = np.array([[0, 0, 4, 4], [1, 1, 3, 5]], np.float32), np.zeros([2, 1], np.int64)
        y = m.roi_pool(x.astype(float), corners, [0, 0], [2, 2], name[:3])
        return x, Call(f"y = {name}(x, r, b, output_size = [2, 2])", y, inputs={"r": corners, "b": batch})
    return build


def split(x: np.ndarray, dialect: str) -> tuple[str, Arrays]:
    axis, extent = largest(x), max(x.shape)
    ratios = [1, extent - 1] if extent > 1 else [1]
    parts = {f"y{i}": part for i, part in enumerate(np.split(x, [1] if extent > 1 else [], axis))}
    return f"[{', '.join(parts)}] = split(x, axis = {axis}, ratios = {ratios})", parts


def unstack(x: np.ndarray, dialect: str) -> tuple[str, Arrays]:
    parts = {f"y{i}": part for i, part in enumerate(np.moveaxis(x, largest(x), 0))}
    return f"[{', '.join(parts)}] = unstack(x, axis = {largest(x)})", parts


def squeeze(x: np.ndarray, dialect: str) -> tuple[str, np.ndarray]:
    axes = [axis for axis, extent in enumerate(x.shape) if extent == 1]
    return f"y = squeeze(x, axes = {axes})", x.squeeze(tuple(axes))


def sliced(x: np.ndarray, dialect: str) -> tuple[str, np.ndarray]:
    axis, begin = largest(x), int(max(x.shape) > 1)
    text = f"axes = [{axis}], begin = [{begin}], end = [{max(x.shape)}]"
    return f"y = slice(x, {text})", np.take(x, range(begin, max(x.shape)), axis)


def gather(s: Section, shape: list[int], kind: str, dialect: str) -> tuple[np.ndarray, Call]:
    x = items(s, shape, kind)
    index = np.array([max(shape) - 1, 0])
    return x, Call(f"y = gather(x, i, axis = {largest(x)})", np.take(x, index, largest(x)), MOVED, {"i": index})


def moments(x: np.ndarray, dialect: str) -> tuple[str, Arrays]:
    axes = (largest(x),)
    return f"y, z = moments(x, axes = {list(axes)})", {"y": x.mean(axes, keepdims=True), "z": x.var(axes, keepdims=True)}


def softmax(x: np.ndarray, dialect: str) -> tuple[str, np.ndarray]:
    axis = largest(x)
    e = np.exp(x - x.max(axis, keepdims=True))
    return f"y = softmax(x, axes = [{axis}])", e / e.sum(axis, keepdims=True)


def normalized(name: str, form: Callable) -> Callable:
    return summed(lambda x, dialect: (f"y = {name}(x, axes = [{largest(x)}])", x / form(x, largest(x))))


def pad(x: np.ndarray, dialect: str) -> tuple[str, np.ndarray]:
    pairs = [(axis % 2, 1 - axis % 2) for axis in range(x.ndim)]
    return f"y = pad(x, padding = {str(pairs).replace(' ', '')})", np.pad(x, pairs)


def tile(x: np.ndarray, dialect: str) -> tuple[str, np.ndarray]:
    repeats = [1 + axis % 2 for axis in range(x.ndim)]
    return f"y = tile(x, repeats = {repeats})", np.tile(x, repeats)


def transpose(x: np.ndarray, dialect: str) -> tuple[str, np.ndarray]:
    return f"y = transpose(x, {'axes' if dialect == RATIFIED else 'perm'} = {list(range(x.ndim))[::-1]})", x.T


SIMPLE = {"sqr": np.square, "sqrt": np.sqrt, "rsqr": lambda x: x**-2.0, "rsqrt": lambda x: x**-0.5, "log2": np.log2}
REDUCTIONS = {"sum_reduce": np.sum, "mean_reduce": np.mean, "max_reduce": np.max, "min_reduce": np.min, "all_reduce": np.all, "any_reduce": np.any}
POOLS = {"box": "sum", "avg_pool": "avg", "rms_pool": "rms", "max_pool": "max", "max_pool_with_index": "max", "argmax_pool": "argmax", "sample": "max"}
CONVOLUTIONS = {"conv": w.conv, "deconv": w.deconv, "planewise_conv": w.conv, "planewise_deconv": w.deconv, "separable_conv": w.conv,
                "separable_deconv": w.deconv}

BUILDERS: dict[str, Callable] = {
    **{name: unary(name, form, tolerance, *domain) for name, (form, domain, _, tolerance) in UNARY.items()},
    **{name: unary(name, form, SUMMED, 0.2, 5) for name, form in SIMPLE.items()},
    **{name: unary(name, form) for name, (form, *_) in ACTIVATIONS.items() if name not in UNARY},
    **{name: binary(name, form) for name, form in (ARITHMETIC | COMPARISON | {"min": np.minimum, "max": np.maximum}).items()},
    **{name: logical(name, form) for name, form in LOGICAL.items()},
    **{name: reduction(name, form, MOVED if form in (np.max, np.min, np.all, np.any) else SUMMED) for name, form in REDUCTIONS.items()},
    **{name: pool(name, kind) for name, kind in POOLS.items()},
    **{name: convolution(name, form) for name, form in CONVOLUTIONS.items()},
    **{name: local(name) for name in ("local_response_normalization", "local_mean_normalization", "local_variance_normalization",
                                      "local_contrast_normalization")},
    **{name: quantize(name) for name in ("min_max_linear_quantize", "zero_point_linear_quantize", "linear_quantize", "logarithmic_quantize")},
    **{name: regions(name) for name in ("avg_roi_pool", "max_roi_pool")},
    "not": not_, "select": select, "update": update, "constant": constant, "variable": variable, "desample": desample, "debox": debox,
    "matmul": matmul, "linear": linear, "batch_normalization": batch_normalization, "gather": gather,
    "argmax_reduce": position("argmax_reduce", np.argmax), "argmin_reduce": position("argmin_reduce", np.argmin),
    "external": moved(lambda x, dialect: ("y = neg(x)", -x)), "copy": moved(lambda x, dialect: ("y = copy(x)", x)),
    "idn": moved(lambda x, dialect: ("y = idn(x)", x)), "clamp": summed(lambda x, dialect: ("y = clamp(x, -0.5, 0.5)", np.clip(x, -0.5, 0.5))),
    "reshape": moved(lambda x, dialect: (f"y = reshape(x, shape = {list(x.shape)[::-1]})", x.reshape(x.shape[::-1]))),
    "squeeze": moved(squeeze), "transpose": moved(transpose), "split": moved(split), "unstack": moved(unstack), "slice": moved(sliced),
    "unsqueeze": moved(lambda x, dialect: (f"y = unsqueeze(x, axes = [0, {x.ndim + 1}])", x[None, ..., None])),
    "concat": moved(lambda x, dialect: (f"y = concat([x, x], axis = {largest(x)})", np.concatenate([x, x], largest(x)))),
    "stack": moved(lambda x, dialect: (f"y = stack([x, x], axis = {x.ndim})", np.stack([x, x], x.ndim))), "pad": moved(pad), "tile": moved(tile),
    "cast": moved(lambda x, dialect: ("y = cast<integer>(x)", np.floor(x).astype(np.int64))), "moments": summed(moments),
    "copy_n": moved(lambda x, dialect: ("[y, z] = copy_n(x, times = 2)", {"y": x, "z": x})),
    "add_n": summed(lambda x, dialect: ("y = add_n([x, x, x])", 3 * x)), "softmax": summed(softmax),
    "l1_normalization": normalized("l1_normalization", lambda x, axis: abs(x).sum(axis, keepdims=True)),
    "l2_normalization": normalized("l2_normalization", lambda x, axis: np.sqrt((x * x).sum(axis, keepdims=True))),
    "prelu": summed(lambda x, dialect: ("y = prelu(x, 0.25)", np.where(x < 0, 0.25 * x, x))),
    "leaky_relu": summed(lambda x, dialect: ("y = leaky_relu(x, alpha = 0.25)", np.where(x < 0, 0.25 * x, x))),
}


def cases(others: Iterable[Case]) -> list[Case]:
    """The cases that complete `others`."""
    others = [*(case for case in others if case.is_valid), *of_nothing()]
    numbers = {(case.dialect, case.operation): case.section for case in reversed(others)}
    found, made = cover(others), of_nothing()
    for dialect in BOTH:
        for operation in declared(dialect):
            section = Section(numbers[dialect, operation], 1000)
            section.numbers = dict.fromkeys(BOTH, numbers[dialect, operation])
            made += _missing(section, dialect, operation, found)
    return made


def _missing(s: Section, dialect: str, operation: str, found: Coverage) -> list[Case]:
    """One operation's cases: each rank, then extents and types of items that are still missing."""
    def add(what: str, shape: list[int], kind: str = "f", empty: bool = False) -> None:
        x, call = BUILDERS[operation](s, shape, kind, dialect)
        body, inputs = call.body, {"x": x}
        if empty:
            axis = shape.index(0)
            body = f"x = slice(w, axes = [{axis}], begin = [1], end = [1]); {body}"
            inputs = {"w": items(s, [extent or 2 for extent in shape], x.dtype.kind)}
        s.valid(operation, f"extents {what}", body, call.expected, {**inputs, **call.inputs}, tolerance=call.tolerance, dialects=(dialect,),
                variables=call.variables)

    highest = max(ranks(dialect, operation))
    for rank in ranks(dialect, operation):
        if (dialect, operation, rank) not in found.ranks:
            add(f"rank {rank}", EXTENTS[:rank])
    made = cover(s.cases)
    for extent in required_extents(dialect, operation):
        if (dialect, operation, extent) not in found.extents | made.extents:
            add(f"extent {extent}", ([2, 0, 3] if highest > 2 else [0, 3]) if extent == 0 else EXTENTS[:highest], empty=extent == 0)
    for kind, name in {"f": "scalar", "i": "integer", "b": "logical"}.items():
        if kind in required_kinds(dialect, operation) and (dialect, operation, kind) not in found.kinds | made.kinds:
            add(f"type {name}", [3, 1] if operation == "squeeze" else [2, 3], kind)
    return s.cases


def of_nothing() -> list[Case]:
    """Results with items of tensors without items."""
    s = Section("4.5.4", 1455)
    x = s.data(2, 3)
    begin = {"x": x}
    none = "e = slice(x, axes = [0], begin = [2], end = [2]); "
    for operation, number, call, y in [
            ("slice", "4.5.4", "y = slice(x, axes = [1], begin = [1], end = [1], stride = [2])", x[:, 1:1]),
            ("slice", "4.5.4", "y = slice(x, axes = [1], begin = [2], end = [2], stride = [-1])", x[:, 2:2]),
            ("slice", "4.5.4", "y = slice(x, axes = [1, 0], begin = [1, -1], end = [1, 2])", x[1:, 1:1]),
            ("concat", "4.5.3", none + "y = concat([e, x, e], axis = 0)", x),
            ("sum_reduce", "4.4", none + "y = sum_reduce(e, axes = [0])", np.zeros([1, 3])),
            ("pad", "4.5.5", none + "y = pad(e, padding = [(1,2), (0,1)], value = 0.5)", np.full([3, 4], 0.5)),
            ("matmul", "4.7", none + "y = matmul(e, e, transposeA = true)", np.zeros([3, 3])),
            ("reshape", "4.5.1", none + "y = reshape(e, shape = [-1])", x[:0].ravel())]:
        s.numbers = {RATIFIED: number}
        s.valid(operation, "extents of no items", call, y, begin, tolerance=MOVED)
    s.numbers = {RATIFIED: "4.4"}
    for operation, truth in [("all_reduce", True), ("any_reduce", False)]:
        s.valid(operation, "extents of no items", f"{none}y = {operation}(e, axes = [0])", np.full([1, 3], truth), {"x": x > 0}, tolerance=MOVED)
    return s.cases
