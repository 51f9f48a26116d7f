"""Boundary cases that are generated: defaults that are written, and windows, slices and factors at their smallest and largest values.

Cases of one operation share a document, which has a result for each of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

import numpy_operations as m
import window_formulas as w
from case import BOTH, MOVED, PROVISIONAL, RATIFIED, SUMMED, Case, Section
from coverage import attributes as attributes_of
from coverage import declared
from covering import covering_array
from sections.windows import attributes, given

RATIFIED_ONLY = (RATIFIED,)


def with_defaults(cases: Iterable[Case]) -> list[Case]:
    """For each attribute that has a default a copy of a case without it, where the default is written; the results are the same."""
    made: list[Case] = []
    missing = {(dialect, operation, p.name) for dialect in BOTH for operation in declared(dialect) for p in attributes_of(dialect, operation)}
    for case in cases:
        if not case.is_valid or case.body.startswith("version"):
            continue
        call = re.compile(rf"\b{case.operation}\(([^;]*)\)(?=;|$)")
        calls = call.findall(case.body)
        if len(calls) != 1 or case.body.count(f"{case.operation}(") != 1:
            continue
        absent = {p.name: p.default for p in attributes_of(case.dialect, case.operation) if not re.search(rf"\b{p.name}\b *=", calls[0])}
        if not any((case.dialect, case.operation, attribute) in missing for attribute in absent):
            continue
        missing -= {(case.dialect, case.operation, attribute) for attribute in absent}
        written = "".join(f", {attribute} = {value}" for attribute, value in absent.items())
        body = call.sub(lambda found: f"{case.operation}({found.group(1)}{written})", case.body)
        made.append(replace(case, name=f"defaults_{case.name}"[:60], body=body))
    return made


class Document:
    """Statements of one operation that share inputs; each has a result of its own."""

    def __init__(self, inputs: dict[str, np.ndarray]) -> None:
        self.inputs, self.statements, self.results = inputs, [], {}

    def add(self, call: str, expected: np.ndarray) -> None:
        name = f"y{len(self.results)}"
        self.statements.append(f"{name} = {call}")
        self.results[name] = expected

    def add_to(self, s: Section, operation: str, what: str, **more) -> None:
        if self.results:
            s.valid(operation, what, "; ".join(self.statements), self.results, self.inputs, **more)


# Formulas of the operations whose window spans all axes: kind, attributes beyond those of the window, tolerance.
WINDOWS = {"box": ("sum", {}, SUMMED), "max_pool": ("max", {}, MOVED), "avg_pool": ("avg", {}, SUMMED), "rms_pool": ("rms", {}, SUMMED),
           "argmax_pool": ("argmax", {}, MOVED)}
BORDERS = ["constant", "replicate", "reflect", "reflect-even", "ignore"]


def windows() -> list[Case]:
    """Windows along one axis of extent 1, 4 and 5; each side of the padding alone, of as many items as the window and one more or less."""
    s = Section("4.3.2", 1032)
    numbers = {"box": "4.3.2", "argmax_pool": "4.3.3"}
    for operation, (kind, more, tolerance) in WINDOWS.items():
        s.numbers = {RATIFIED: numbers.get(operation, "4.9.3"), PROVISIONAL: numbers.get(operation, "4.8.3")}
        rejected: dict[str, tuple[str, int]] = {}
        for extent in (1, 4, 5):
            x = s.distinct(extent) - np.float32(extent)  # negative numbers: a constant border is the maximum
            document, negative = Document({"x": x}), Document({"x": x})
            for setting in _window_settings(extent):
                border, size, stride, dilation, padding = setting
                window = given(dict(stride=[stride], dilation=[dilation], padding=[padding]))
                text = attributes(size=[size], border=border, **window)
                try:
                    y = w.pool(x, kind, [size], border, **window, **more)
                except ValueError as error:
                    rule = {"does not fit": "window.fit", "reaches too far": "window.border-reach"}.get(str(error))
                    if rule and extent > 1:
                        rejected.setdefault(f"{rule} {border} {max(padding) > 0}", (f"y = {operation}(x{text})", extent))
                    continue
                target = negative if min(padding) < 0 else document
                target.add(f"{operation}(x{text})", y)
            document.add_to(s, operation, f"boundaries of extent {extent}", tolerance=tolerance,
                            dialects=RATIFIED_ONLY if operation == "argmax_pool" else BOTH)
            negative.add_to(s, operation, f"boundaries of negative padding extent {extent}", tolerance=tolerance)
        for key, (statement, extent) in rejected.items():
            s.invalid(operation, key.split()[0], f"boundary {statement[len(operation) + 8:-1]}", statement, {"x": np.zeros([extent], np.float32)})
    return s.cases


def _window_settings(extent: int) -> list[tuple]:
    """Every border with each padding, and pairs of the other values."""
    settings = []
    for size in dict.fromkeys([1, 2, 3, extent, extent + 1]):
        sides = dict.fromkeys([0, 1, size - 1, size, size + 1, -1])
        paddings = [(side, 0) for side in sides] + [(0, side) for side in sides if side] + [(size, size), (-1, size)]
        parameters = {"border": BORDERS, "stride": list(dict.fromkeys([1, 2, 3, extent, extent + 1])), "dilation": [1, 2], "padding": paddings}
        settings += [(row["border"], size, row["stride"], row["dilation"], row["padding"]) for row in covering_array(parameters)]
    return settings


def filters() -> list[Case]:
    """Convolutions along one axis, with the same windows."""
    s = Section("4.3.1", 1031)
    for extent in (1, 4, 5):
        x, bias = s.data(1, 2, extent), s.data(1, 2)
        for size in dict.fromkeys([1, 2, extent]):
            f = s.data(2, 2, size)
            document, negative = Document({"x": x}), Document({"x": x})
            for border, window_size, stride, dilation, padding in _window_settings(extent):
                if window_size != size or border == "ignore":
                    continue
                window = dict(stride=[stride], dilation=[dilation], padding=[padding])
                try:
                    y = w.conv(x, f, bias, border, **window)
                except ValueError:
                    continue
                target = negative if min(padding) < 0 else document
                target.add("conv(x, f, b" + attributes(border=border, **window) + ")", y)
            for target, name in [(document, "boundaries"), (negative, "boundaries of negative padding")]:
                target.add_to(s, "conv", f"{name} extent {extent} filter {size}", tolerance=SUMMED, variables={"f": f, "b": bias},
                              dialects=BOTH if target is document else RATIFIED_ONLY)
    return s.cases


def slices() -> list[Case]:
    """Each begin and end around an axis of extent 3 with strides of both signs, of the last axis and of channels."""
    s = Section("4.5.4", 1454)
    extent = 3
    for axis, shape in [(1, [2, 3]), (1, [2, 3, 2, 2])]:
        x = s.data(*shape)
        document = Document({"x": x})
        for stride in (-2, -1, 1, 2, 3):
            for begin in range(-extent - 1, extent + 2):
                for end in range(-extent - 1, extent + 2):
                    if stride == 1 and end == 0:
                        continue  # the end of the axis: slicing() has it
                    first, last = (max(-1, min(extent, at + extent if at < 0 else at)) for at in (begin, end))
                    index = list(range(first, last, stride))
                    if not index or first in (-1, extent) or begin < -extent:
                        continue
                    text = f"axes = [{axis}], begin = [{begin}], end = [{end}], stride = [{stride}]"
                    document.add(f"slice(x, {text})", x[:, index])
        document.add_to(s, "slice", f"boundaries of axis {axis} of {shape}", tolerance=MOVED)
        parts = Document({"x": x})
        for stride in (-2, -1, 2):
            index = list(range(2, 0, stride)) if stride < 0 else [0, 2]
            begin, end = (2, 0) if stride < 0 else (0, 3)
            parts.add(f"concat([x, slice(x, axes = [1], begin = [{begin}], end = [{end}], stride = [{stride}])], axis = 1)",
                      np.concatenate([x, x[:, index]], 1))
        for place, statement in enumerate(parts.statements):  # flat documents have no nested calls
            name, call = statement.split(" = concat([x, ")
            parts.statements[place] = f"s{place} = {call.removesuffix('], axis = 1)')}; {name} = concat([x, s{place}], axis = 1)"
        parts.add_to(s, "concat", f"slices of axis {axis} of {shape}", tolerance=MOVED)
    for axis in (0, 1, 3):
        for begin, end in [(0, 1), (1, 1), (0, 0), (1, 0)]:
            s.invalid("slice", "slice.stride", f"stride 0 of axis {axis} from {begin} to {end}",
                      f"y = slice(x, axes = [{axis}], begin = [{begin}], end = [{end}], stride = [0])")
        s.invalid("slice", "slice.stride", f"the second stride 0 of axis {axis}",
                  f"y = slice(x, axes = [2, {axis}], begin = [0, 0], end = [2, 1], stride = [1, 0])")
    return s.cases


def factors() -> list[Case]:
    """Factors of 1, alone and with another, and of the whole extent; extents of 1."""
    s = Section("4.3.4", 1034)
    for shape in [(1, 2, 1, 4), (2, 1, 4, 4), (1, 1, 1, 1)]:
        x = s.data(*shape)
        for factor in [(1, 1), (1, 2), (2, 1), (shape[2], shape[3]), (3, 1)]:
            document = Document({"x": x})
            for method in ["symmetric", "asymmetric", "aligned"]:
                for border in ["constant", "replicate"]:
                    document.add(f"multilinear_upsample(x{attributes(factor=list(factor), method=method, border=border)})",
                                 m.multilinear_upsample(x.astype(float), list(factor), method, border))
            document.add_to(s, "multilinear_upsample", f"boundaries of {list(shape)} by {list(factor)}", tolerance=SUMMED, dialects=BOTH)
            s.valid("nearest_upsample", f"boundaries of {list(shape)} by {list(factor)}", f"y = nearest_upsample(x, factor = {list(factor)})",
                    x.repeat(factor[0], 2).repeat(factor[1], 3), {"x": x}, tolerance=MOVED, dialects=BOTH)
            if shape[2] % factor[0] or shape[3] % factor[1]:
                continue
            window = [1, 1, *factor]
            s.valid("nearest_downsample", f"boundaries of {list(shape)} by {list(factor)}", f"y = nearest_downsample(x, factor = {list(factor)})",
                    x[:, :, ::factor[0], ::factor[1]], {"x": x}, tolerance=MOVED, dialects=BOTH)
            s.valid("area_downsample", f"boundaries of {list(shape)} by {list(factor)}", f"y = area_downsample(x, factor = {list(factor)})",
                    w.pool(x, "avg", window, stride=window, padding=[(0, 0)] * 4), {"x": x}, tolerance=SUMMED, dialects=BOTH)
    return s.cases


def omitted() -> list[Case]:
    """Attributes that the cases of the sections always write, and values other than their defaults."""
    s = Section("4.3.3", 1033)
    x = s.distinct(4) + np.float32(9)
    for what, window in [("defaults", dict(size=[2], stride=[2])), ("no padding", dict(size=[2], stride=[2], padding=[])),
                         ("dilation", dict(size=[2], dilation=[2], padding=[(0, 0)])),
                         ("the whole extent", dict(size=[4], stride=[4], padding=[(0, 0)]))]:
        text = attributes(**window)
        index = w.pool(x, "argmax", **window)
        v = s.data(*index.shape)
        shape = dict(output_shape=[4])
        s.valid("desample", f"boundary {what}", f"i = argmax_pool(x{text}); y = desample(v, i{text}{attributes(**shape)})",
                w.desample(v, index, **window, **shape), {"x": x, "v": v}, tolerance=SUMMED)
        s.valid("desample", f"boundary {what} without shape", f"i = argmax_pool(x{text}); y = desample(v, i{text})",
                w.desample(v, index, **window), {"x": x, "v": v}, tolerance=SUMMED)
    r = Section("4.6.2", 1062)
    image = r.data(1, 2, 4, 5)
    regions = {"x": image, "r": np.array([[0, 0, 4, 4], [1, 1, 3, 5]], np.float32), "b": np.zeros([2, 1], np.int64)}
    fine = m.roi_resample(image.astype(float), regions["r"], [0, 0], [4, 4])
    r.valid("roi_resample", "boundary method omitted", "y = roi_resample(x, r, b, output_size = [4, 4])", fine, regions, tolerance=SUMMED)
    for kind, form in {"avg": np.mean, "max": np.max}.items():
        r.valid(f"{kind}_roi_align", "boundary method omitted", f"y = {kind}_roi_align(x, r, b, output_size = [2, 2], sampling_rate = [2, 2])",
                m.blocks(fine, [2, 2], form), regions, tolerance=SUMMED)
    d = Section("4.9.2", 1092, "4.8.2")
    small, point, plane = d.data(1, 4, 3, 2), d.data(4, 3, 1, 1), d.data(6, 1, 2, 2)
    window = dict(stride=[2, 2], padding=[(0, 0), (0, 0)])
    d.valid("separable_deconv", "boundary groups", f"y = separable_deconv(x, p, f{attributes(**window)}, groups = 2)",
            w.deconv(w.deconv(small, point, groups=2), plane, groups=0, **window), {"x": small}, variables={"p": plane, "f": point},
            tolerance=SUMMED, dialects=BOTH)
    d.valid("separable_deconv", "boundary output shape", f"y = separable_deconv(x, p, f{attributes(**window)}, groups = 2, output_shape = [1, 6, 7, 4])",
            w.deconv(w.deconv(small, point, groups=2), plane, groups=0, output_shape=[1, 6, 7, 4], **window), {"x": small},
            variables={"p": plane, "f": point}, tolerance=SUMMED)
    n = Section("4.9.4", 1094, "4.8.4")
    z = n.data(2, 3, 4, low=0.5, high=2)
    mean = w.pool(z, "sum", [1, 3, 1]) / 3
    variance = lambda v: np.sqrt(w.pool(v * v, "sum", [1, 3, 1]) / 3)  # noqa: E731
    only = dict(tolerance=SUMMED, dialects=(PROVISIONAL,))
    n.valid("local_variance_normalization", "boundary no bias", "y = local_variance_normalization(x, size = [1, 3, 1])", z / variance(z), {"x": z}, **only)
    n.valid("local_contrast_normalization", "boundary no bias", "y = local_contrast_normalization(x, size = [1, 3, 1])",
            (z - mean) / variance(z - mean), {"x": z}, **only)
    n.valid("l1_normalization", "boundary no bias", "y = l1_normalization(x, axes = [1])", z / abs(z.astype(float)).sum(1, keepdims=True), {"x": z}, **only)
    n.valid("l2_normalization", "boundary no bias", "y = l2_normalization(x, axes = [2])", z / np.sqrt((z.astype(float) ** 2).sum(2, keepdims=True)),
            {"x": z}, **only)
    p = Section("4.3.1", 1131, "4.3.1")
    f = p.data(2, 1, 2, 2)
    y = p.data(1, 2, 3, 3)
    strided = dict(stride=[2, 1], padding=[(0, 0), (1, 0)])
    p.valid("planewise_deconv", "boundary stride", f"y = planewise_deconv(x, f{attributes(**strided)})", w.deconv(y, f, groups=2, **strided), {"x": y},
            variables={"f": f}, **only)
    return s.cases + r.cases + d.cases + n.cases + p.cases


def cases() -> list[Case]:
    return omitted() + windows() + filters() + slices() + factors()
