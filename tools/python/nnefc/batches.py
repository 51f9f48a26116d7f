"""Batch inference for data frame engines with columnar data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy

from nnefc.executable import Session
from nnefc.model import load

if TYPE_CHECKING:
    Columns = Mapping[str, numpy.ndarray[Any, Any]]


class BatchRunner:
    """Runs a model on any number of rows: `runner(columns)` returns the output columns.

    The first axis of every input and output is the batch. A model with a fixed batch size runs once per batch; the last
    batch is padded with copies of a row, and their results are dropped. With an open batch size all rows are one run.
    """

    def __init__(
        self,
        source: str,
        *,
        columns: Mapping[str, str] | None = None,
        outputs: Mapping[str, str] | None = None,
        threads: int = 1,
        backend: Any = "fast",
        **options: Any,
    ) -> None:
        model = load(source, **options)
        self._session: Session = model.compile(backend=backend, threads=threads).session()
        self._inputs = model.inputs
        self._columns = dict(columns or {})
        self._outputs = dict(outputs or {})
        for given, ports, what in ((self._columns, model.inputs, "input"), (self._outputs, model.outputs, "output")):
            for name in given:
                if name not in {port.name for port in ports}:
                    known = ", ".join(f"`{port.name}`" for port in ports)
                    raise ValueError(f"the model has no {what} `{name}`; it has {known}")
        extents = {port.shape[0] if port.shape else None for port in model.inputs}
        if len(extents) > 1:
            raise ValueError(f"the first extents of the inputs differ, {extents}: there is no batch to score")
        self._rows: int | None = extents.pop()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the inputs, in their order."""
        return tuple(self._columns.get(port.name, port.name) for port in self._inputs)

    def __call__(self, columns: Columns) -> dict[str, numpy.ndarray[Any, Any]]:
        arrays = {port.name: self._array(columns, port) for port in self._inputs}
        count = len(next(iter(arrays.values())))
        size = self._rows or count
        found: dict[str, list[numpy.ndarray[Any, Any]]] = {}
        for start in range(0, count, size):
            rows = min(size, count - start)
            part = {name: _filled(array[start : start + rows], size) for name, array in arrays.items()}
            for name, value in self._session.run(part).items():
                if not value.ndim or len(value) != size:
                    raise ValueError(f"output `{name}` has the shape {value.shape}; expected a row for each of {size}")
                found.setdefault(name, []).append(value[:rows])
        return {self._outputs.get(name, name): numpy.concatenate(parts) for name, parts in found.items()}

    def _array(self, columns: Columns, port: Any) -> numpy.ndarray[Any, Any]:
        column = self._columns.get(port.name, port.name)
        if column not in columns:
            raise KeyError(f"there is no column `{column}` for input `{port.name}`; there are {list(columns)}")
        array = numpy.asarray(columns[column])
        if array.dtype == object:  # rows that are lists or arrays
            array = numpy.stack([numpy.asarray(row) for row in array])
        if port.shape is not None and None not in port.shape[1:]:
            array = array.reshape(len(array), *port.shape[1:])
        return array.astype(port.dtype, copy=False) if array.dtype.kind == "f" and port.type == "f32" else array


def _filled(rows: numpy.ndarray[Any, Any], size: int) -> numpy.ndarray[Any, Any]:
    if len(rows) == size:
        return rows
    return numpy.concatenate([rows, numpy.repeat(rows[-1:], size - len(rows), axis=0)])
