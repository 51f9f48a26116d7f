"""NNEF models in Spark: a function for `DataFrame.mapInPandas` and one for columns.

Requires `pyspark`, `pandas` and `pyarrow`.

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
    """Returns a function for `DataFrame.mapInPandas` that runs a model on rows; it loads the model once per partition.

    Args:
        source: the path of the model, readable by every worker.
        columns: the column of each input; by default named like the input.
        outputs: the column of each output; by default named like the output.
        keep: the columns to preserve; by default all except inputs.
        threads: the number of threads per task.
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
    """Returns the argument of `pyspark.ml.functions.predict_batch_udf`: a function that loads the model, once a worker.
    Columns are the inputs in order; the result is the first output.
    """
    path = os.fspath(source)

    def make() -> Callable[..., Any]:
        runner = BatchRunner(path, threads=threads, **options)

        def predict(*arrays: Any) -> Any:
            given = dict(zip(runner.columns, arrays))
            return next(iter(runner(given).values()))

        return predict

    return make
