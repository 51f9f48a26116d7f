"""Makes a model of NumPy arrays, saves and runs it, and compares the result with NumPy."""

import tempfile

import numpy as np

import nnefc

TEXT = """version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [4, 8]);
    filter = variable(shape = [3, 8], label = 'filter');
    bias = variable(shape = [1, 3], label = 'bias');
    scores = linear(x, filter, bias);
    y = softmax(scores);
}
"""

generator = np.random.default_rng(1)
weights = generator.normal(size=(3, 8)).astype(np.float32)
bias = generator.normal(size=(1, 3)).astype(np.float32)
x = generator.normal(size=(4, 8)).astype(np.float32)

with tempfile.TemporaryDirectory() as folder:
    nnefc.load(TEXT, variables={"filter": weights, "bias": bias}).save(f"{folder}/net")
    model = nnefc.load(f"{folder}/net")
    print([operation.type for operation in model.operations])
    y = model.compile()(x=x)["y"]

scores = x @ weights.T + bias
expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
difference = np.abs(y - expected).max() / np.abs(expected).max()
print(f"difference to NumPy: {difference:.1e}")
assert difference < 1e-5
