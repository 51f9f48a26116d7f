"""Differences between two models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nnefc import _nnefc
from nnefc.documents import Source
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
        largest: the largest difference of two elements, if shapes are equal and both models have the data; infinite if
            only one of two elements is finite.
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
        tensors: results of operations of both models with a different type or shape.
        text: a line for each old item and each new one.
    """

    inputs: tuple[PortChange, ...]
    outputs: tuple[PortChange, ...]
    operations: tuple[OperationChange, ...]
    variables: tuple[VariableChange, ...]
    tensors: tuple[PortChange, ...] = ()
    text: str = field(default="", repr=False, compare=False)

    def __bool__(self) -> bool:
        return bool(self.inputs or self.outputs or self.operations or self.variables or self.tensors)

    def __str__(self) -> str:
        return self.text.rstrip("\n") or "no difference"

    def __repr__(self) -> str:
        counts = [
            f"{len(changes)} {what}"
            for what, changes in (
                ("inputs", self.inputs),
                ("outputs", self.outputs),
                ("operations", self.operations),
                ("variables", self.variables),
                ("tensors", self.tensors),
            )
            if changes
        ]
        return f"<nnefc.Difference: {', '.join(counts) or 'none'}>"

    def _repr_html_(self) -> str:
        from nnefc.views import difference_html

        return difference_html(str(self))


_Item = TypeVar("_Item")


def _at(items: Sequence[_Item], index: int | None) -> _Item | None:
    return None if index is None else items[index]


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
    found = _nnefc.diff(before._native, after._native, data)
    return Difference(
        inputs=tuple(PortChange(_at(before.inputs, i), _at(after.inputs, k)) for i, k in found.inputs),
        outputs=tuple(PortChange(_at(before.outputs, i), _at(after.outputs, k)) for i, k in found.outputs),
        operations=tuple(OperationChange(_at(before.operations, i), _at(after.operations, k)) for i, k in found.operations),
        variables=tuple(
            VariableChange(label, Port(*was) if was else None, Port(*now) if now else None, largest)
            for label, was, now, largest in found.variables
        ),
        tensors=tuple(PortChange(Port(*was), Port(*now)) for was, now in found.tensors),
        text=found.text,
    )
