"""NNEF models in Ray Data: batch inference with actors, and checks of many documents.

Requires `ray[data]`, `pandas` and `pyarrow`.

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
    """A callable for `Dataset.map_batches`: loads the model once per actor, and adds the outputs to each batch.

    Args:
        source: the path of the model, readable by every worker.
        columns: the column of each input; by default named like the input.
        outputs: the column of each output; by default named like the output.
        threads: the number of threads per actor; 1 suits one actor per core.
        backend, options: as in `Model.compile` and `nnefc.load`.

    The first axis of the inputs is the batch: models with a fixed batch size run once per that number of rows.
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
    """Checks documents on all workers of the cluster, with options of `nnefc.check`. Returns the reports by path.

    Documents of a lost worker are checked by another one.
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
