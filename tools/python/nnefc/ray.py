"""NNEF models in Ray Data: batches scored by actors, and thousands of documents checked. Needs `ray[data]`, `pandas` and `pyarrow`.

    import ray
    from nnefc.ray import Predictor

    scores = ray.data.read_parquet("images").map_batches(
        Predictor, fn_constructor_args=["model.tgz"], fn_constructor_kwargs={"columns": {"x": "pixels"}},
        batch_size=32, concurrency=4)
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy

from nnefc.batches import BatchRunner
from nnefc.documents import Source, check
from nnefc.report import Report

if TYPE_CHECKING:
    Batch = dict[str, numpy.ndarray[Any, Any]]

__all__ = ["Predictor", "check_all"]


class Predictor:
    """A callable for `Dataset.map_batches`: opens the model once an actor, and adds the outputs to each batch.

    Args:
        source: the path of the model, which every worker can read.
        columns: the column of each input; without it columns are called as the inputs are.
        outputs: the column of each output, called as the output is without it.
        threads: how many compute in each actor; 1 suits an actor for each core.
        backend, options: as in `Model.compile` and `nnefc.load`.

    The first extent of the inputs is the batch: models whose document fixes it are run once for as many rows.
    """

    def __init__(
        self,
        source: Source,
        *,
        columns: Mapping[str, str] | None = None,
        outputs: Mapping[str, str] | None = None,
        threads: int = 1,
        **options: Any,
    ) -> None:
        self._runner = BatchRunner(os.fspath(source), columns=columns, outputs=outputs, threads=threads, **options)

    def __call__(self, batch: Batch) -> Batch:
        return {**batch, **self._runner(batch)}


def check_all(sources: Iterable[Source], **options: Any) -> dict[str, Report]:
    """Checks documents on all workers of the cluster; `options` are those of `nnefc.check`. The reports by path.

    What a worker was at when it was lost is checked by another.
    """
    import ray  # type: ignore[import-untyped,import-not-found,unused-ignore]

    paths = [os.fspath(source) for source in sources]
    several = [paths[start : start + 16] for start in range(0, len(paths), 16)]
    task = ray.remote(max_retries=3)(_check_several)
    reports: dict[str, Report] = {}
    for found in ray.get([task.remote(part, options) for part in several]):
        reports.update(found)
    return reports


def _check_several(paths: list[str], options: dict[str, Any]) -> dict[str, Report]:
    return {path: check(path, **options) for path in paths}
