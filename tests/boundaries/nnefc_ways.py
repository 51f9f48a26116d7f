"""A model of nnefc's in every way that must agree: both backends, with and without transformations, and as IR that is written."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

import nnefc

Arrays = dict[str, np.ndarray]


class Refused(Exception):
    """The model is invalid, or its run fails. `rules` has the labels of the errors."""

    def __init__(self, error: nnefc.NnefError) -> None:
        super().__init__(str(error))
        self.rules = [diagnostic.rule for diagnostic in error.diagnostics if diagnostic.severity == "error"]


def load(source: Path | str, **options) -> nnefc.Model:
    try:
        return nnefc.load(source, **options)
    except nnefc.NnefError as error:
        raise Refused(error) from None


def run(model: nnefc.Model, inputs: Arrays, backend: str) -> Arrays:
    try:
        return model.compile(backend=backend, precision="exact", threads=1).run(inputs)
    except nnefc.NnefError as error:
        raise Refused(error) from None


@cache
def transformations(binary: Path) -> tuple[str, ...]:
    """The names of the transformations that run unless they are disabled."""
    import subprocess

    listed = subprocess.run([binary, "transform", "--list-transformations"], check=True, capture_output=True, text=True).stdout
    return tuple(line.split()[0] for line in listed.splitlines() if line.split()[-1] == "enabled")


def ways(model: nnefc.Model, inputs: Arrays, folder: Path, disabled: tuple[str, ...]) -> dict[str, Arrays | Refused]:
    """The results in each way; the first is the reference backend without transformations."""
    results: dict[str, Arrays | Refused] = {}

    def attempt(way: str, compute) -> None:
        try:
            results[way] = compute()
        except Refused as refused:
            results[way] = refused

    def written() -> Arrays:
        path = folder / "written.xml"
        try:
            model.save(path)
        except nnefc.NnefError as error:
            raise Refused(error) from None
        return run(load(path), inputs, "reference")

    plain = model.transform(disable=disabled)
    attempt("reference, not transformed", lambda: run(plain, inputs, "reference"))
    attempt("fast, not transformed", lambda: run(plain, inputs, "fast"))
    attempt("reference", lambda: run(model, inputs, "reference"))
    attempt("fast", lambda: run(model, inputs, "fast"))
    attempt("written IR", written)
    return results


def difference(found: Arrays, expected: Arrays, tolerance: float) -> str | None:
    """How the results differ, or nothing. NaN is equal to NaN."""
    for name, want in expected.items():
        have = found[name]
        if have.shape != want.shape or have.dtype != want.dtype:
            return f"{name} is {have.dtype}{list(have.shape)}, expected {want.dtype}{list(want.shape)}"
        if have.dtype.kind != "f":
            if not np.array_equal(have, want):
                return f"{name} is {have.ravel()[:12]}, expected {want.ravel()[:12]}"
            continue
        scale = np.abs(want[np.isfinite(want)]).max(initial=0)
        if not np.allclose(have, want, rtol=tolerance, atol=tolerance * (scale + 1e-3), equal_nan=True):
            return f"{name} is {have.ravel()[:12]}, expected {want.ravel()[:12]}"
    return None
