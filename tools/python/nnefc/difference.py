"""Differences between two models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nnefc.documents import Source
from nnefc.errors import ModelError
from nnefc.model import Model, Operation, load
from nnefc.port import Port


@dataclass(frozen=True)
class PortChange:
    """A changed input or output; None if a model has none at that index."""

    old: Port | None
    new: Port | None


@dataclass(frozen=True)
class OperationChange:
    """A changed operation; None if a model has no counterpart."""

    old: Operation | None
    new: Operation | None


@dataclass(frozen=True)
class VariableChange:
    """A changed variable.

    Attributes:
        label: its label in both models.
        old, new: its name, type and shape; None if a model has no such variable.
        largest: the largest difference of two elements, if shapes are equal and both models have the data.
    """

    label: str
    old: Port | None
    new: Port | None
    largest: float | None


@dataclass(frozen=True)
class Difference:
    """The differences between two models; false if there are none. `print` shows old lines with `-`, new ones with `+`.

    Attributes:
        inputs, outputs: those with different names, types or shapes, by index.
        operations: those added, removed, or with different attributes or inputs. Names of intermediate tensors are
            ignored, as are mere consequences of an earlier change.
        variables: those added, removed, or with a different type, shape or data.
    """

    inputs: tuple[PortChange, ...]
    outputs: tuple[PortChange, ...]
    operations: tuple[OperationChange, ...]
    variables: tuple[VariableChange, ...]

    def __bool__(self) -> bool:
        return bool(self.inputs or self.outputs or self.operations or self.variables)

    def __str__(self) -> str:
        return "\n".join(self._lines()) or "no difference"

    def __repr__(self) -> str:
        counts = [
            f"{len(changes)} {what}"
            for what, changes in (
                ("inputs", self.inputs),
                ("outputs", self.outputs),
                ("operations", self.operations),
                ("variables", self.variables),
            )
            if changes
        ]
        return f"<nnefc.Difference: {', '.join(counts) or 'none'}>"

    def _repr_html_(self) -> str:
        from nnefc.views import difference_html

        return difference_html(str(self))

    def _lines(self) -> Iterator[str]:
        for what, ports in (("input", self.inputs), ("output", self.outputs)):
            for port in ports:
                yield from _pair(what, port.old, port.new)
        for operation in self.operations:
            yield from _pair("", operation.old, operation.new)
        for variable in self.variables:
            if variable.largest is None:
                yield from _pair(f"variable '{variable.label}'", variable.old, variable.new)
            else:
                yield f"! variable '{variable.label}' {variable.new}: data differ by up to {variable.largest:.6g}"

def _pair(what: str, old: object, new: object) -> Iterator[str]:
    for sign, item in (("-", old), ("+", new)):
        if item is not None:
            yield " ".join(part for part in (sign, what, str(item)) if part)


def diff(old: Model | Source, new: Model | Source, *, data: bool = True, **options: Any) -> Difference:
    """Compares two models for a review: graphs by structure, variables by label.

    Args:
        old, new: models, or sources for `load`: paths or texts.
        data: also compare the data of variables, if both models have them.
        options: options of `load`, for sources.

    Raises:
        ModelError: one of the two is not valid.
    """
    before, after = (each if isinstance(each, Model) else load(each, **options) for each in (old, new))
    return Difference(
        inputs=_ports(before.inputs, after.inputs),
        outputs=_ports(before.outputs, after.outputs),
        operations=_Matching(before, after).changes(),
        variables=tuple(_variables(before, after, data)),
    )


def _ports(old: Sequence[Port], new: Sequence[Port]) -> tuple[PortChange, ...]:
    places = range(max(len(old), len(new)))
    pairs = [(old[at] if at < len(old) else None, new[at] if at < len(new) else None) for at in places]
    return tuple(PortChange(*pair) for pair in pairs if pair[0] != pair[1])


def _variables(old: Model, new: Model, data: bool) -> Iterator[VariableChange]:
    for label in [*old.variables, *(label for label in new.variables if label not in old.variables)]:
        before, after = (
            model.variables.port(label) if label in model.variables else None for model in (old, new)
        )
        if before is None or after is None or (before.type, before.shape) != (after.type, after.shape):
            yield VariableChange(label, before, after, None)
        elif data and (largest := _largest(old, new, label)) != 0:
            yield VariableChange(label, before, after, largest)


def _largest(old: Model, new: Model, label: str) -> float:
    import numpy

    try:
        before, after = (model.variables[label] for model in (old, new))
    except ModelError:  # one of them has no data
        return 0.0
    if numpy.array_equal(before, after, equal_nan=before.dtype.kind == "f"):
        return 0.0
    apart = numpy.abs(before.astype(numpy.float64) - after.astype(numpy.float64))
    return float(numpy.nanmax(apart)) if not numpy.isnan(apart).all() else float("nan")


class _Graph:
    """The operations of a model, and the producers of its tensors."""

    def __init__(self, model: Model) -> None:
        self.operations = [each for each in model.operations if each.type not in ("variable", "external")]
        self.sources: dict[str, Hashable] = {port.name: place for place, port in enumerate(model.inputs)}
        for label in model.variables:
            self.sources[model.variables.port(label).name] = ("variable", label)
        self.makers: dict[str, tuple[int, int]] = {}
        for at, operation in enumerate(self.operations):
            for place, port in enumerate(operation.outputs):
                self.makers[port.name] = (at, place)

    def reads(self, at: int, numbers: Sequence[int]) -> Hashable:
        """Returns a key of an operation's inputs; `numbers` identify the earlier operations."""
        read: list[Hashable] = []
        for name in self.operations[at].inputs:
            maker = self.makers.get(name)
            read.append(self.sources.get(name) if maker is None else (numbers[maker[0]], maker[1], "made"))
        return tuple(read)

    def computed(self, known: dict[Hashable, int]) -> list[int]:
        """Numbers operations by structure, equal for equal computations; `known` is shared by both graphs."""
        numbers: list[int] = []
        for at, operation in enumerate(self.operations):
            what = (_itself(operation), self.reads(at, numbers))
            numbers.append(known.setdefault(what, len(known)))
        return numbers


def _itself(operation: Operation) -> Hashable:
    """Returns a key of the operation without its tensors."""
    return operation.type, tuple(sorted((name, repr(value)) for name, value in operation.attributes.items()))


class _Matching:
    """A matching of the operations of two models."""

    def __init__(self, old: Model, new: Model) -> None:
        self.old, self.new = _Graph(old), _Graph(new)
        self.pairs: dict[int, int] = {}  # new index -> old index
        self._pair_equal()
        self._pair_named()
        self._pair_rest()

    def changes(self) -> tuple[OperationChange, ...]:
        """Returns changes in the order of the new model; removed operations precede their successors in the old one."""
        changed: list[OperationChange] = []
        removed = self._left()[0]
        # A pair has the index of the old model's operation.
        numbers = [self.pairs.get(at, -1 - at) for at in range(len(self.new.operations))]
        for at, operation in enumerate(self.new.operations):
            before = self.pairs.get(at)
            while before is not None and removed and removed[0] < before:
                changed.append(OperationChange(self.old.operations[removed.pop(0)], None))
            if before is None:
                changed.append(OperationChange(None, operation))
                continue
            was = self.old.operations[before]
            reads = self.old.reads(before, range(len(self.old.operations)))
            if _itself(was) != _itself(operation) or reads != self.new.reads(at, numbers):
                changed.append(OperationChange(was, operation))
        return (*changed, *(OperationChange(self.old.operations[at], None) for at in removed))

    def _left(self) -> tuple[list[int], list[int]]:
        taken = set(self.pairs.values())
        return (
            [at for at in range(len(self.old.operations)) if at not in taken],
            [at for at in range(len(self.new.operations)) if at not in self.pairs],
        )

    def _pair_equal(self) -> None:
        known: dict[Hashable, int] = {}
        places: dict[int, list[int]] = defaultdict(list)
        for at, number in enumerate(self.old.computed(known)):
            places[number].append(at)
        for at, number in enumerate(self.new.computed(known)):
            if places[number]:
                self.pairs[at] = places[number].pop(0)

    def _pair_named(self) -> None:
        """Pairs operations with equal types and result names."""
        left, right = self._left()
        called = {self._key(self.old.operations[at]): at for at in left}
        for at in right:
            before = called.pop(self._key(self.new.operations[at]), None)
            if before is not None:
                self.pairs[at] = before

    @staticmethod
    def _key(operation: Operation) -> Hashable:
        return operation.type, tuple(port.name for port in operation.outputs)

    def _pair_rest(self) -> None:
        """Pairs operations with equal types in the same order."""
        import difflib

        left, right = self._left()
        before = [self.old.operations[at].type for at in left]
        after = [self.new.operations[at].type for at in right]
        for block in difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
            for step in range(block.size):
                self.pairs[right[block.b + step]] = left[block.a + step]
