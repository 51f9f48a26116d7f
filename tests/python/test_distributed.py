"""Rows scored by two workers of Ray and Spark, one of which is killed during the run.

Needs ray and pyspark, which the test environment lacks: `python -m venv venv; venv/bin/pip install "ray[data]" pyspark
pandas pyarrow pytest`, then `PYTHONPATH=build/release/python venv/bin/python -m pytest
tests/python/test_distributed.py`.
"""

import os
import pathlib
import sys

import numpy as np
import pytest
from conftest import LINEAR, SUM

ROWS = 400


@pytest.fixture(name="data")
def data_fixture(linear, weights, tmp_path):
    """Returns the path of a model, that of a Parquet data set of rows with ids, and the expected scores by id."""
    pandas = pytest.importorskip("pandas")
    linear.save(tmp_path / "model")
    x = np.random.default_rng(2).standard_normal((ROWS, 3)).astype(np.float32)
    (tmp_path / "rows").mkdir()
    for part in range(8):
        ids = np.arange(part * ROWS // 8, (part + 1) * ROWS // 8)
        pandas.DataFrame({"id": ids, "x": list(x[ids])}).to_parquet(tmp_path / "rows" / f"{part}.parquet")
    return str(tmp_path / "model"), str(tmp_path / "rows"), x @ weights["fc/w"].T + weights["fc/b"]


def die_once(flag: str) -> None:
    """Kills this worker, unless one has died already."""
    try:
        pathlib.Path(flag).touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), 9)


def check_rows(rows, expected):
    """Checks that every row was scored once."""
    assert sorted(row["id"] for row in rows) == list(range(ROWS))
    for row in rows:
        np.testing.assert_allclose(row["y"], expected[row["id"]], rtol=1e-4, atol=1e-5)


@pytest.fixture(name="ray", scope="module")
def ray_fixture():
    """Starts a cluster of two workers on this machine."""
    ray = pytest.importorskip("ray")
    tests = str(pathlib.Path(__file__).parent)
    paths = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    # Two for the actors, the others for reading and writing.
    ray.init(num_cpus=4, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
    yield ray
    ray.shutdown()


def test_ray_scores_every_row_though_a_worker_is_killed(ray, data, tmp_path):
    model, rows, expected = data
    flag = str(tmp_path / "died")
    predictor = __import__("nnefc.ray").ray.Predictor

    class Mortal(predictor):
        def __call__(self, batch):
            if 200 in batch["id"]:
                die_once(flag)
            return super().__call__(batch)

    scored = ray.data.read_parquet(rows).map_batches(Mortal, fn_constructor_args=[model], batch_size=20, concurrency=2)
    check_rows(scored.take_all(), expected)
    assert pathlib.Path(flag).exists()


def test_ray_checks_documents(ray, tmp_path):
    from nnefc.ray import check_all

    paths = []
    for index in range(40):
        path = tmp_path / f"{index}.nnef"
        path.write_text(SUM if index % 4 else SUM.replace("add(", "addd("))
        paths.append(path)
    reports = check_all(paths)
    assert [bool(reports[str(path)]) for path in paths] == [bool(index % 4) for index in range(40)]
    assert "`addd`" in reports[str(paths[0])].errors[0].message


@pytest.fixture(name="spark", scope="module")
def spark_fixture():
    """Starts Spark with two executors of one core on this machine."""
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    tests = str(pathlib.Path(__file__).parent)
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]))
        .getOrCreate()
    )
    yield session
    session.stop()


def test_spark_scores_every_row_though_a_worker_is_killed(spark, data, tmp_path):
    from nnefc.spark import map_in_pandas

    model, rows, expected = data
    flag = str(tmp_path / "died")
    score = map_in_pandas(model)

    def mortal(frames):
        for frame in frames:
            if (frame["id"] == 200).any():
                die_once(flag)
            yield from score(iter([frame]))

    frame = spark.read.parquet(rows).repartition(8)
    check_rows(frame.mapInPandas(mortal, "id long, y array<float>").collect(), expected)
    assert pathlib.Path(flag).exists()


def test_spark_scores_columns(spark, data):
    from pyspark.ml.functions import predict_batch_udf
    from pyspark.sql.types import ArrayType, FloatType

    from nnefc.spark import predict_batch

    model, rows, expected = data
    score = predict_batch_udf(predict_batch(model), return_type=ArrayType(FloatType()), batch_size=32,
                              input_tensor_shapes=[[3]])  # fmt: skip
    frame = spark.read.parquet(rows)
    check_rows(frame.select("id", score("x").alias("y")).collect(), expected)
