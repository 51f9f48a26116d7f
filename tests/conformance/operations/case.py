"""A case of the conformance suite: a document, its data, the expected results and how closely they must be met."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import tensor_file

Arrays = dict[str, np.ndarray]

# Bounds of max|a-b| / max|b| over one result. `MOVED` is for results whose elements are copied, compared or counted.
MOVED, ROUNDED, SUMMED, CANCELLED = 0.0, 1e-6, 1e-5, 1e-4
REASONS = {MOVED: "elements are moved, compared, counted or exact in 32-bit floats",
           ROUNDED: "a few roundings of 32-bit floats",
           SUMMED: "sums and functions in 32-bit floats, in any order",
           CANCELLED: "differences of nearly equal 32-bit floats"}

RATIFIED, PROVISIONAL = "ratified", "provisional"
BOTH = (RATIFIED, PROVISIONAL)

_TYPES = {"f": "scalar", "i": "integer", "u": "integer", "b": "logical"}


@dataclass
class Case:
    """One document. `expected` is empty where the document is invalid; `rule` then names what it breaks."""

    dialect: str
    section: str
    operation: str
    name: str
    body: str
    inputs: Arrays = field(default_factory=dict)
    variables: Arrays = field(default_factory=dict)
    expected: Arrays = field(default_factory=dict)
    tolerance: float = ROUNDED
    rule: str = ""
    note: str = ""
    operators: bool = False  # the body has operator expressions

    @property
    def is_valid(self) -> bool:
        return not self.rule

    @property
    def path(self) -> str:
        """The folder of the case below the suite's folder."""
        kind = self.operation if self.is_valid else "invalid"
        return f"{self.dialect}/{self.section}/{kind}/{self.name}"

    def text(self) -> str:
        """The document, with its externals and variables declared."""
        if self.body.startswith("version"):
            return self.body
        ratified = self.dialect == RATIFIED
        lines = ["version 1.0;" if ratified else "version 1.0"]
        if ratified and self.operators:
            lines.append("extension KHR_enable_operator_expressions;")
        results = list(self.expected) or ["y"]
        lines += ["", f"graph net( {', '.join(self.inputs)} ) -> ( {', '.join(results)} )", "{"]
        for name, x in self.inputs.items():
            kind = f"<{_TYPES[x.dtype.kind]}>" if ratified else ""
            lines.append(f"    {name} = external{kind}(shape = {list(x.shape)});")
        for name, x in self.variables.items():
            kind = f"<{_TYPES[x.dtype.kind]}>" if ratified else ""
            lines.append(f"    {name} = variable{kind}(shape = {list(x.shape)}, label = '{name}');")
        lines += [f"    {statement.strip()};" for statement in self.body.split(";") if statement.strip()]
        text = "\n".join([*lines, "}", ""])
        return text if ratified else text.replace(";\n", "\n")

    def write(self, suite: Path) -> None:
        """Writes graph.nnef, the tensor files, inputs.npz, expected.npz and case.json below `suite`."""
        folder = suite / self.path
        folder.mkdir(parents=True)
        (folder / "graph.nnef").write_text(self.text())
        for name, x in self.variables.items():
            (folder / f"{name}.dat").write_bytes(tensor_file.pack(x, self.dialect))
        facts = {"dialect": self.dialect, "section": self.section, "operation": self.operation}
        if self.is_valid:
            np.savez(folder / "inputs.npz", **self.inputs)
            np.savez(folder / "expected.npz", **self.expected)
            facts |= {"tolerance": self.tolerance, "reason": self.note or REASONS[self.tolerance]}
        else:
            facts |= {"rule": self.rule, "reason": self.note}
        (folder / "case.json").write_text(json.dumps(facts, indent=1) + "\n")


class Section:
    """Collects the cases of one section of a specification."""

    def __init__(self, number: str, seed: int, provisional: str = "") -> None:
        self.numbers = {RATIFIED: number, PROVISIONAL: provisional or number}
        self.cases: list[Case] = []
        self.random = np.random.default_rng(seed)
        self._count: dict[tuple[str, str, bool], Iterator[int]] = {}

    def data(self, *shape: int, low: float | None = None, high: float | None = None) -> np.ndarray:
        """Random 32-bit floats: normal ones, or between two bounds."""
        if low is None:
            return self.random.standard_normal(shape).astype(np.float32)
        return self.random.uniform(low, high, shape).astype(np.float32)

    def distinct(self, *shape: int) -> np.ndarray:
        """Floats no two of which are equal, so that positions of maxima are certain."""
        volume = int(np.prod(shape))
        return ((self.random.permutation(volume) - volume // 2) / 8).astype(np.float32).reshape(shape)

    def _name(self, dialect: str, operation: str, what: str, valid: bool) -> str:
        counter = self._count.setdefault((dialect, operation if valid else "", valid), itertools.count(1))
        slug = re.sub(r"[^a-z0-9]+", "_", what.lower()).strip("_")
        return f"{next(counter):03}_{slug}"[:60].rstrip("_")

    def valid(self, operation: str, what: str, body: str, expected: Arrays | np.ndarray, inputs: Arrays | None = None, *,
              tolerance: float = ROUNDED, dialects: tuple[str, ...] = (RATIFIED,), **more) -> None:
        """Adds a valid case in each of `dialects`; an array alone is the result `y`."""
        results = expected if isinstance(expected, dict) else {"y": expected}
        for dialect in dialects:
            self.cases.append(Case(dialect, self.numbers[dialect], operation, self._name(dialect, operation, what, True), body,
                                   inputs or {}, expected={k: as_result(v) for k, v in results.items()}, tolerance=tolerance, **more))

    def invalid(self, operation: str, rule: str, what: str, body: str, inputs: Arrays | None = None, *,
                dialects: tuple[str, ...] = (RATIFIED,), **more) -> None:
        """Adds a document that breaks `rule` in each of `dialects`."""
        for dialect in dialects:
            self.cases.append(Case(dialect, self.numbers[dialect], operation,
                                   self._name(dialect, operation, f"{operation} {what}", False), body,
                                   inputs if inputs is not None else {"x": np.zeros([2, 4, 8, 8], np.float32)},
                                   rule=rule, note=what, **more))


def as_result(x: np.ndarray) -> np.ndarray:
    """The array in the type of a result: 32-bit floats, 64-bit integers or logicals."""
    x = np.asarray(x)
    return x.astype({"f": np.float32, "i": np.int64, "b": np.bool_}[x.dtype.kind])
