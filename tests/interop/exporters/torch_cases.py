"""Cases of exports, and helpers that make modules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from torch import nn


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[], nn.Module]
    inputs: tuple
    dynamic: dict[int, dict[int, str]] = field(default_factory=dict)


class Apply(nn.Module):
    """A function as a module."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs) if self.__dict__.get("takes_self") else self.function(*inputs)


def of(function, **parts):
    def make():
        module = Apply(function, **parts)
        module.takes_self = bool(parts)
        return module
    return make


class Recurrent(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.cell = kind(5, 7, batch_first=True, **options)

    def forward(self, x):
        return self.cell(x)[0]


IMAGE = (1, 3, 32, 32)
X = (2, 4, 6, 5)
