"""Which ranks, extents, data types and pairs of attributes the cases of each operation have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from case import PROVISIONAL, RATIFIED, Arrays, Case

STDLIB = Path(__file__).resolve().parents[3] / "stdlib"
_PARAMETER = re.compile(r"(\w+): *((?:tensor|[a-z?]+|\([a-z,]+\))(?:<[^>]*>)?(?:\[\])?)(?: *= *('[^']*'|\[[^\]]*\]|[^,\s)]+))?")
_CALL = re.compile(r"(?:^|; *)(\[?[\w, ]+\]?) = (\w+)(?:<\w+>)?\(([^;]*)\)(?=;|$)")
_COMPARISON = re.compile(r"\b(\w+) = (?:lt|gt)\((\w+), [\d.]+\)")
_EMPTY = re.compile(r"\b(\w+) = slice\((\w+), axes = \[(\d+)\], begin = \[(\d+)\], end = \[\4\]\)")


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operation. `default` is None where the argument is required."""

    name: str
    type: str
    default: str | None

    @property
    def is_tensor(self) -> bool:
        return self.type.startswith("tensor")


@cache
def declared(dialect: str) -> dict[str, list[Parameter]]:
    """The parameters of each operation, as the library of the dialect declares them."""
    text = re.sub(r"#.*", "", (STDLIB / f"{dialect}.nnef").read_text())
    found = re.findall(r"^fragment (\w+)(?:<[^>]*>)?\((.*?)\)\s*->", text, re.MULTILINE | re.DOTALL)
    return {name: [Parameter(parameter, kind, default or None) for parameter, kind, default in _PARAMETER.findall(signature)]
            for name, signature in found}


def _split(arguments: str) -> list[str]:
    """The arguments of a call: commas within brackets do not separate."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def calls(case: Case) -> list[dict[str, str]]:
    """The arguments of each call of the case's operation, by the names of the parameters."""
    parameters = declared(case.dialect)[case.operation]
    found = []
    for _, name, arguments in _CALL.findall(case.body):
        if name != case.operation:
            continue
        named = {}
        for position, argument in enumerate(_split(arguments)):
            key = re.match(r"(\w+) = ", argument)
            named[key.group(1) if key else parameters[position].name] = argument[key.end():] if key else argument
        found.append(named)
    return found


def tensors(case: Case) -> Arrays:
    """The tensors of the case whose shapes are known: inputs, variables, results, slices of no items, comparisons with a literal."""
    known = {**case.expected, **case.inputs, **case.variables}
    for name, source, axis, _ in _EMPTY.findall(case.body):
        if source in known:
            known[name] = np.take(known[source], [], int(axis))
    for name, source in _COMPARISON.findall(case.body):
        if source in known:
            known[name] = known[source] > 0
    return known


def operands(case: Case) -> Iterable[tuple[Parameter, np.ndarray]]:
    """The tensors that are arguments of the case's operation; of an array its first item."""
    known = tensors(case)
    for arguments in calls(case):
        for parameter in declared(case.dialect)[case.operation]:
            name = re.split(r"[,\]]", arguments.get(parameter.name, "").lstrip("["))[0]
            if parameter.is_tensor and name in known:
                yield parameter, known[name]
    if case.operation in ("external", "variable", "constant"):
        source = {"external": case.inputs, "variable": case.variables}.get(case.operation)
        text = re.findall(r"constant(?:<(\w+)>)?\(shape = \[([\d, ]*)\]", case.body)
        for x in source.values() if source is not None else ():
            yield Parameter("", "tensor<?>", None), x
        for kind, shape in text:
            extents = [int(item) for item in shape.split(",") if item.strip()]
            yield Parameter("", "tensor<?>", None), np.zeros(extents, {"": "f4", "integer": "i8", "logical": "?"}[kind])


Key = tuple[str, str, object]


@dataclass
class Coverage:
    """What occurs, by dialect and operation. Ranks and extents are those of the first tensor."""

    ranks: set[Key]
    extents: set[Key]  # 0, 1 and "odd"
    kinds: set[Key]  # the letters of NumPy's types, for parameters of any type
    pairs: set[Key]  # two attributes of one call that are not as declared


def cover(cases: Iterable[Case]) -> Coverage:
    """The coverage of the valid cases."""
    found = Coverage(set(), set(), set(), set())
    for case in cases:
        if not case.is_valid:
            continue
        key = (case.dialect, case.operation)
        first = declared(case.dialect)[case.operation][0].name
        for parameter, x in operands(case):
            if parameter.name in ("", first):
                found.ranks.add((*key, x.ndim))
                found.extents |= {(*key, 0 if e == 0 else 1 if e == 1 else "odd") for e in x.shape if e < 2 or e % 2}
            if parameter.type in ("tensor<?>", "tensor<>", "tensor<?>[]"):
                found.kinds.add((*key, x.dtype.kind))
        for arguments in calls(case):
            changed = [p.name for p in attributes(case.dialect, case.operation) if arguments.get(p.name, p.default) != p.default]
            found.pairs |= {(*key, frozenset((a, b))) for a in changed for b in changed if a != b}
    return found


def attributes(dialect: str, operation: str) -> list[Parameter]:
    """The attributes of an operation that have defaults."""
    return [p for p in declared(dialect)[operation] if not p.is_tensor and p.default is not None]


WINDOWS = ("box", "debox", "argmax_pool", "sample", "desample", "max_pool", "avg_pool", "rms_pool", "max_pool_with_index")
LOCAL = ("local_response_normalization", "local_mean_normalization", "local_variance_normalization", "local_contrast_normalization")
# The smallest and largest rank of the first tensor of which cases are required, where they are not 0 and 6 (4.2: any rank).
RANKS = {
    **dict.fromkeys(["conv", "deconv", "separable_conv", "separable_deconv", "planewise_conv", "planewise_deconv"], (3, 5)),
    **dict.fromkeys([*WINDOWS, *LOCAL], (1, 5)),
    **dict.fromkeys(["nearest_downsample", "area_downsample", "nearest_upsample", "multilinear_upsample"], (3, 5)),
    **dict.fromkeys(["avg_roi_pool", "max_roi_pool", "roi_resample", "avg_roi_align", "max_roi_align"], (4, 4)),
    **dict.fromkeys(["sum_reduce", "max_reduce", "min_reduce", "mean_reduce", "argmax_reduce", "argmin_reduce", "all_reduce", "any_reduce",
                     "moments", "split", "concat", "unstack", "slice", "pad", "tile", "gather", "squeeze", "l1_normalization",
                     "l2_normalization"], (1, 6)),
    "unsqueeze": (0, 5), "stack": (0, 5), "matmul": (2, 6), "linear": (2, 2), "softmax": (2, 6), "batch_normalization": (2, 5),
}


def ranks(dialect: str, operation: str) -> range:
    """The ranks of the first tensor of which cases are required. The provisional text has no externals of rank 0."""
    low, high = RANKS.get(operation, (0, 6))
    if dialect == PROVISIONAL:
        low, high = max(low, 1), 2 if operation == "matmul" else high
    return range(low, high + 1)


# Operations without cases of an extent of 0, which only slices of the ratified text make, and why.
WITHOUT_EMPTY = {
    **dict.fromkeys(["external", "variable", "constant", "update"], "4.1: extents are positive"),
    **dict.fromkeys([*WINDOWS, "conv", "deconv", "separable_conv", "separable_deconv", "nearest_downsample", "area_downsample", "nearest_upsample",
                     "multilinear_upsample", *LOCAL], "4.3: no window fits"),
    **dict.fromkeys(["avg_roi_pool", "max_roi_pool", "roi_resample", "avg_roi_align", "max_roi_align"], "4.6: regions have items"),
}


def required_extents(dialect: str, operation: str) -> list[object]:
    """The kinds of extents of the first tensor of which cases are required."""
    return [1, "odd"] if dialect == PROVISIONAL or operation in WITHOUT_EMPTY else [0, 1, "odd"]


def required_kinds(dialect: str, operation: str) -> list[str]:
    """The types of items of which cases are required: all three where a parameter may be of any type."""
    generic = any(p.type in ("tensor<?>", "tensor<>", "tensor<?>[]") for p in declared(dialect)[operation])
    return ["f", "i", "b"] if dialect == RATIFIED and (generic or operation in ("external", "variable", "constant")) else []
