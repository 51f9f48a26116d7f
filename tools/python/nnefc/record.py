"""Immutable records, like `dataclasses.dataclass(frozen=True)` without its code generation, to import this package
faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["record"]

_T = TypeVar("_T", bound=type)


class _Made:
    """A class attribute that is computed on access."""

    def __init__(self, make: Callable[[type], object]) -> None:
        self._make = make

    def __get__(self, instance: object, owner: type) -> object:
        return self._make(owner)


def _dataclass(owner: type) -> Any:
    import dataclasses

    return dataclasses.make_dataclass(owner.__name__, owner.__annotations__.items(), frozen=True)


def _signature(owner: type) -> object:
    import inspect

    return inspect.signature(_dataclass(owner))


def _init(self: Any, *values: object, **named: object) -> None:
    fields = self.__match_args__
    name = type(self).__qualname__
    if len(values) > len(fields):
        raise TypeError(f"{name}() takes {len(fields)} arguments, {len(values)} were given")
    given = dict(zip(fields, values))
    for field, value in named.items():
        if field not in fields:
            raise TypeError(f"{name}() got an unexpected argument {field!r}")
        if field in given:
            raise TypeError(f"{name}() got {field!r} twice")
        given[field] = value
    missing = [repr(field) for field in fields if field not in given]
    if missing:
        raise TypeError(f"{name}() is missing {', '.join(missing)}")
    self.__dict__.update(given)


def _values(self: Any) -> tuple[object, ...]:
    return tuple(getattr(self, field) for field in self.__match_args__)


def _eq(self: Any, other: Any) -> Any:
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _repr(self: Any) -> str:
    fields = ", ".join(f"{field}={value!r}" for field, value in zip(self.__match_args__, _values(self)))
    return f"{type(self).__qualname__}({fields})"


def _refuse(self: Any, name: str, *_value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change field {name!r}")


if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen: bool) -> Any:
        """Turns a class into a record with its annotated fields; `frozen` must be true."""
        assert frozen

        def make(made: _T) -> _T:
            made.__match_args__ = tuple(made.__annotations__)
            # Protocols of `dataclasses` and `inspect`.
            made.__dataclass_fields__ = _Made(lambda owner: _dataclass(owner).__dataclass_fields__)
            made.__signature__ = _Made(_signature)
            made.__init__, made.__eq__, made.__hash__, made.__repr__ = _init, _eq, _hash, _repr
            made.__setattr__ = made.__delattr__ = _refuse
            return made

        return make
