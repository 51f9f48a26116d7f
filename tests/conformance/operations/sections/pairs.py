"""Two attributes of an operation away from their defaults together: covering arrays over the attributes that have defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

import window_formulas as w
from case import BOTH, MOVED, PROVISIONAL, RATIFIED, SUMMED, Case, Section
from covering import covering_array
from sections.windows import attributes, given, is_clamped

FILTER_BORDERS = [None, "replicate", "reflect", "reflect-even"]
WINDOW = {"padding": [None, [(1, 0), (0, 2)]], "stride": [None, [2, 1], [1, 3]], "dilation": [None, [1, 2]]}


def rows(parameters: Mapping[str, Sequence]) -> Iterator[dict]:
    """The combinations of a covering array, without the attributes that are omitted."""
    for row in covering_array(parameters):
        yield given(row)


def reverse_rows(groups: Sequence, extents: Sequence[int], size: Sequence[int], leading: Sequence[int]) -> Iterator[tuple[dict, tuple[str, ...]]]:
    """Attributes of a deconvolution or its like, and their dialects. The provisional text has no `output_shape`, and leaves automatic padding of
    deconvolutions open."""
    for row in rows({**WINDOW, "output_shape": [None, True], "groups": groups}):
        if row.pop("output_shape", None):
            row["output_shape"] = [*leading, *output_extents(extents, size, row)]
        yield row, (RATIFIED,)
    for row in rows({**WINDOW, "groups": groups}):
        yield {**row, "padding": [(1, 0), (0, 2)]}, (PROVISIONAL,)


def named(row: dict) -> str:
    return "pair " + " ".join(row)


def output_extents(extents: Sequence[int], size: Sequence[int], window: dict) -> list[int]:
    """The largest extents that the window scales down to `extents`, which a stride makes ambiguous."""
    one = [1] * len(size)
    stride, dilation, padding = window.get("stride", one), window.get("dilation", one), window.get("padding")
    if not padding:
        return [x * s - (s > 1) for x, s in zip(extents, stride)]
    return [x * s + (f - 1) * d - p - q for x, f, s, d, (p, q) in zip(extents, size, stride, dilation, padding)]


def convolutions() -> list[Case]:
    s = Section("4.3.1", 2031)
    x = s.data(2, 4, 5, 6)
    for row in rows({"border": FILTER_BORDERS, **WINDOW, "groups": [None, 2, 4, 0]}):
        f = s.data(4, 4 // (row.get("groups", 1) or 4), 3, 2)
        dialects = BOTH if row.get("groups") != 0 and is_clamped([5, 6], [3, 2], row) else (RATIFIED,)
        s.valid("conv", named(row), f"y = conv(x, f{attributes(**row)})", w.conv(x, f, **row), {"x": x}, variables={"f": f}, tolerance=SUMMED,
                dialects=dialects)
    for row, dialects in reverse_rows([None, 2, 4], [5, 6], [3, 2], [2, 4]):
        f = s.data(4, 4 // row.get("groups", 1), 3, 2)
        s.valid("deconv", named(row), f"y = deconv(x, f{attributes(**row)})", w.deconv(x, f, **row), {"x": x}, variables={"f": f}, tolerance=SUMMED,
                dialects=dialects)
    f = s.data(4, 1, 3, 2)
    for name, form, borders in [("planewise_conv", w.conv, FILTER_BORDERS), ("planewise_deconv", w.deconv, [None])]:
        for row in rows({"border": borders, **WINDOW}):
            if row.get("padding") or name == "planewise_conv" and is_clamped([5, 6], [3, 2], row):
                s.valid(name, named(row), f"y = {name}(x, f{attributes(**row)})", form(x, f, groups=4, **row), {"x": x}, variables={"f": f},
                        tolerance=SUMMED, dialects=(PROVISIONAL,))
    return s.cases


def in_two_steps() -> list[Case]:
    s = Section("4.9.2", 2092, "4.8.2")
    x = s.data(1, 4, 5, 6)
    for row in rows({"border": FILTER_BORDERS, **WINDOW, "groups": [None, 2, 4]}):
        groups = row.get("groups", 1)
        plane, point = s.data(4, 1, 3, 2), s.data(4, 4 // groups, 1, 1)
        window = {name: value for name, value in row.items() if name != "groups"}
        s.valid("separable_conv", named(row), f"y = separable_conv(x, p, f{attributes(**row)})",
                w.conv(w.conv(x, plane, groups=0, **window), point, groups=groups), {"x": x}, variables={"p": plane, "f": point}, tolerance=SUMMED,
                dialects=BOTH if is_clamped([5, 6], [3, 2], row) else (RATIFIED,))
    for row, dialects in reverse_rows([None, 2, 4], [5, 6], [3, 2], [1, 4]):
        groups = row.get("groups", 1)
        point, plane = s.data(4, 4 // groups, 1, 1), s.data(4, 1, 3, 2)
        window = {name: value for name, value in row.items() if name != "groups"}
        s.valid("separable_deconv", named(row), f"y = separable_deconv(x, p, f{attributes(**row)})",
                w.deconv(w.deconv(x, point, groups=groups), plane, groups=0, **window), {"x": x}, variables={"p": plane, "f": point},
                tolerance=SUMMED, dialects=dialects)
    return s.cases


def scattered() -> list[Case]:
    """`debox` and `desample`, whose windows span all axes."""
    boxes, samples = Section("4.3.2", 2032), Section("4.3.3", 2033)
    x = boxes.data(5, 6)
    for row in rows({**WINDOW, "output_shape": [None, True], "normalize": [None, True]}):
        if row.pop("output_shape", None):
            row["output_shape"] = output_extents([5, 6], [3, 2], row)
        provisional = row.get("padding") and "output_shape" not in row
        boxes.valid("debox", named(row), f"y = debox(x, size = [3, 2]{attributes(**row)})", w.debox(x, [3, 2], **row), {"x": x}, tolerance=SUMMED,
                    dialects=BOTH if provisional else (RATIFIED,))
    z = samples.distinct(7, 9) + np.float32(40)  # no position of a maximum is in the border
    for row in rows({**WINDOW, "output_shape": [None, True]}):
        written = row.pop("output_shape", None)
        index = w.pool(z, "argmax", [3, 2], **row)
        window, v = dict(row), samples.data(*index.shape)
        if written:
            row["output_shape"] = output_extents(index.shape, [3, 2], row)
        provisional = row.get("padding") and not written and "dilation" not in row
        samples.valid("desample", named(row), f"i = argmax_pool(x, size = [3, 2]{attributes(**window)}); "
                      f"y = desample(v, i, size = [3, 2]{attributes(**row)})", w.desample(v, index, [3, 2], **row), {"x": z, "v": v},
                      tolerance=SUMMED, dialects=BOTH if provisional else (RATIFIED,))
    return boxes.cases + samples.cases


def others() -> list[Case]:
    pads, local = Section("4.5.5", 2055), Section("4.9.4", 2094, "4.8.4")
    x = pads.data(3, 4)
    for border, mode in {"replicate": "edge", "reflect": "reflect", "reflect-even": "symmetric"}.items():
        # The value is that of a constant border alone.
        pads.valid("pad", f"pair {border} value", f"y = pad(x, padding = [(1,0), (2,1)], border = '{border}', value = 2.0)",
                   np.pad(x, [(1, 0), (2, 1)], mode), {"x": x}, tolerance=MOVED)
    square = w.pool(x.astype(float) ** 2, "sum", [3, 1]) / 3
    for row in rows({"alpha": [None, 0.3, 2.0], "beta": [None, 0.75, 2.0], "bias": [None, 2.0, 0.5]}):
        y = x / (row.get("bias", 1) + row.get("alpha", 1) * square) ** row.get("beta", 0.5)
        local.valid("local_response_normalization", named(row), f"y = local_response_normalization(x, size = [3, 1]{attributes(**row)})", y,
                    {"x": x}, tolerance=SUMMED, dialects=BOTH)
    return pads.cases + local.cases


def cases() -> list[Case]:
    return convolutions() + in_two_steps() + scattered() + others()
