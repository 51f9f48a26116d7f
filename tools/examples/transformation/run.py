"""Runs a model with the transformations of the folder `extensions`"""

import pathlib

import numpy as np

import nnefc

HERE = pathlib.Path(__file__).resolve().parent
TEXT = """version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = leaky_relu(x, alpha = 0.5);
}
"""

x = np.array([[-2.0, -1.0, 0.0, 1.0]], np.float32)
model = nnefc.load(TEXT)
plain = model.compile()(x=x)["y"]
changed = model.compile(extensions=str(HERE / "extensions"))(x=x)["y"]
print("leaky_relu:", plain)
print("elu:       ", changed)
assert np.allclose(plain, np.where(x < 0, 0.5 * x, x))
assert np.allclose(changed, np.where(x < 0, 0.5 * (np.exp(x) - 1), x), atol=1e-6)
