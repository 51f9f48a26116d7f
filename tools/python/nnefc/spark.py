"""NNEF models in Spark: a function for `DataFrame.mapInPandas` and one for columns. Needs `pyspark`, `pandas` and `pyarrow`.

    from nnefc.spark import map_in_pandas

    scores = frame.mapInPandas(map_in_pandas("model.tgz", columns={"x": "pixels"}), "id long, y array<float>")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nnefc.batches import BatchRunner
from nnefc.documents import Source

__all__ = ["map_in_pandas", "predict_batch"]


def map_in_pandas(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    outputs: Mapping[str, str] | None = None,
    keep: tuple[str, ...] | None = None,
    threads: int = 1,
    **options: Any,
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function for `DataFrame.mapInPandas` that scores rows; it opens the model once a partition.

    Args:
        source: the path of the model, which every worker can read.
        columns: the column of each input; without it columns are called as the inputs are.
        outputs: the column of each output, called as the output is without it.
        keep: the columns of the rows that stay; those that are no input without it.
        threads: how many compute in each task.
    """
    path = os.fspath(source)

    def score(frames: Iterator[Any]) -> Iterator[Any]:
        runner = BatchRunner(path, columns=columns, outputs=outputs, threads=threads, **options)
        taken = runner.columns
        for frame in frames:
            kept = [name for name in frame.columns if name not in taken] if keep is None else list(keep)
            scored = frame[kept].copy()
            if len(frame):
                for name, values in runner({name: frame[name].to_numpy() for name in taken}).items():
                    scored[name] = list(values) if values.ndim > 1 else values
                yield scored

    return score


def predict_batch(source: Source, *, threads: int = 1, **options: Any) -> Callable[[], Callable[..., Any]]:
    """What `pyspark.ml.functions.predict_batch_udf` takes: a function that opens the model, once a worker.

    Columns are the inputs in their order; the result is the first output.
    """
    path = os.fspath(source)

    def make() -> Callable[..., Any]:
        runner = BatchRunner(path, threads=threads, **options)

        def predict(*arrays: Any) -> Any:
            given = dict(zip(runner.columns, arrays))
            return next(iter(runner(given).values()))

        return predict

    return make
