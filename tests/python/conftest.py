"""Fixtures of the tests of the Python package."""

import pathlib

import numpy as np
import pytest

import nnefc

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

SUM = """version 1.0;
graph net(a, b) -> (y)
{
    a = external<scalar>(shape = [2, 3]);
    b = external<scalar>(shape = [2, 3]);
    y = add(a, b);
}
"""

LINEAR = """version 1.0;
# A layer.
graph net(x) -> (y)
{
    x = external<scalar>(shape = [2, 3]);
    w = variable<scalar>(shape = [4, 3], label = 'fc/w');
    b = variable<scalar>(shape = [1, 4], label = 'fc/b');
    y = linear(x, w, b);
}
"""

COUNTER = """version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [2]);
    v = variable<scalar>(shape = [2], label = 'v');
    y = add(v, x);
    u = update(v, y);
}
"""


@pytest.fixture
def weights() -> dict[str, np.ndarray]:
    """Returns data for the variables of LINEAR."""
    generator = np.random.default_rng(1)
    return {
        "fc/w": generator.standard_normal((4, 3), dtype=np.float32),
        "fc/b": generator.standard_normal((1, 4), dtype=np.float32),
    }


@pytest.fixture
def linear(weights: dict[str, np.ndarray]) -> nnefc.Model:
    """Returns LINEAR with its data."""
    return nnefc.load(LINEAR, variables=weights)
