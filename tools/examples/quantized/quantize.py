"""Writes a convolution whose input and filter have 8 bits, with a graph.quant, and compares it with the original."""

import pathlib
import tempfile

import numpy as np

import nnefc

TEXT = """version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4, 16, 16]);
    filter = variable(shape = [8, 4, 3, 3], label = 'filter');
    y = conv(x, filter);
}
"""
# Values in [-1, 1] in 8 bits each. `--quantize`, and `quantize=True` in Python, make the lines effective.
QUANT = """"x": linear_quantize(min = -1.0, max = 1.0, bits = 8);
"filter": linear_quantize(min = -1.0, max = 1.0, bits = 8);
"""

generator = np.random.default_rng(1)
x = generator.uniform(-1, 1, size=(1, 4, 16, 16)).astype(np.float32)
weights = generator.uniform(-1, 1, size=(8, 4, 3, 3)).astype(np.float32)

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name) / "net"
    nnefc.load(TEXT, variables={"filter": weights}).save(folder)
    (folder / "graph.quant").write_text(QUANT, encoding="utf-8")
    original = nnefc.load(folder).compile()(x=x)["y"]
    quantized = nnefc.load(folder, quantize=True)
    print(quantized.expand())
    y = quantized.compile()(x=x)["y"]

difference = np.abs(y - original).max() / np.abs(original).max()
print(f"difference by quantization: {difference:.1e}")
assert 1e-4 < difference < 2e-2
