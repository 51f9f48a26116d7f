"""Rows in batches, independent of the model's own number of rows."""

import numpy as np
import pytest
from conftest import LINEAR

import nnefc
from nnefc.batches import BatchRunner


@pytest.fixture(name="folder")
def folder_fixture(linear, tmp_path):
    """Returns the path of the model LINEAR, which has two rows."""
    linear.save(tmp_path / "model")
    return str(tmp_path / "model")


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_any_number_of_rows_is_scored(folder, weights, count):
    x = np.random.default_rng(1).standard_normal((count, 3))
    runner = BatchRunner(folder, columns={"x": "data"}, outputs={"y": "score"})
    assert runner.columns == ("data",)
    scored = runner({"data": x, "other": np.zeros(count)})
    assert list(scored) == ["score"]
    np.testing.assert_allclose(scored["score"], x @ weights["fc/w"].T + weights["fc/b"], rtol=1e-4, atol=1e-6)


def test_rows_that_are_lists_are_taken(folder, weights):
    rows = np.empty(3, object)
    rows[:] = [[1.0, 2.0, 3.0], np.array([4, 5, 6], np.float32), (7.0, 8.0, 9.0)]
    expected = np.arange(1, 10).reshape(3, 3) @ weights["fc/w"].T + weights["fc/b"]
    np.testing.assert_allclose(BatchRunner(folder)({"x": rows})["y"], expected, rtol=1e-4)


def test_what_does_not_fit_is_told(folder):
    with pytest.raises(ValueError, match="no input `z`; it has `x`"):
        BatchRunner(folder, columns={"z": "data"})
    with pytest.raises(KeyError, match="no column `x`.*other"):
        BatchRunner(folder)({"other": np.zeros(3)})
    text = LINEAR.replace("y = linear(x, w, b);", "z = linear(x, w, b);\n    y = max_reduce(z, axes = [0, 1]);")
    runner = BatchRunner(text, random_weights=1)
    with pytest.raises(ValueError, match=r"\(1, 1\); expected a row for each of 2"):
        runner({"x": np.zeros((2, 3))})
    assert nnefc.check(text)
