"""A document that `nnefc upgrade` writes has the extension for operator expressions if and only if it has one (1.0.5, 2.1)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

# The statements of a fragment of x: tensor, a: scalar[], n: extent, c: tensor (logical).
WITH_OPERATOR = [
    "y = x",
    "y = -x",
    "y = x + x",
    "y = (relu(x))",
    "y = relu(relu(x))",
    "y = relu(-x)",
    "y = relu(x * 2.0)",
    "y = relu((x))",
    "y = select(!c, x, x)",
    "y = select(x < 0.0, x, x)",
    "y = relu(x) if n > 0 else tanh(x)",
    "y = leaky_relu(x, alpha = 0.5 if true else 0.25)",
    "y = leaky_relu(x, alpha = a[0])",
    "y = leaky_relu(x, alpha = +0.5)",
    "y = leaky_relu(x, alpha = -a[0])",
    "y = leaky_relu(x, alpha = (0.5))",
    "y = leaky_relu(x, alpha = scalar(n))",
    "y = leaky_relu(x, alpha = 0.5 ^ 2.0)",
    "y = softmax(x, axes = [n + 1])",
    "y = softmax(x, axes = [(1)])",
    "y = softmax(x, axes = [1] * 1)",
    "y = softmax(x, axes = [i for i in [1]])",
    "y = concat([z for z in [x, x]], axis = 0)",
    "y = concat([x, x][0:1], axis = 0)",
    "y = concat([x, relu(x)], axis = 0)",
    "z = [x, x] y = concat(z, axis = 0)",
    "y = max_pool(x, size = [1, 1], padding = [(0, 0 + 0), (0, 0)], border = 'ignore')",
]
WITHOUT_OPERATOR = [
    "y = relu(x)",
    "y = relu(2.0)",
    "y = relu(-2.0)",
    "y = leaky_relu(x, alpha = -0.5)",
    "y = leaky_relu(x, alpha = 0.5)",
    "y = softmax(x, axes = [1])",
    "y = softmax(x, axes = [n])",
    "y = softmax(x, axes = [])",
    "y = concat([x, x], axis = 0)",
    "y = select(c, x, x)",
    "y = max_pool(x, size = [1, 1], padding = [(0, 0), (0, 0)], border = 'ignore')",
    "m, v = moments(x, axes = [1]) y = add(m, v)",
    "[m, v] = split(x, axis = 1, ratios = [1, 1]) y = add(m, v)",
]


@pytest.mark.parametrize(("statement", "has_operator"), [(each, True) for each in WITH_OPERATOR] + [(each, False) for each in WITHOUT_OPERATOR])
def test_extension_for_operators(statement: str, has_operator: bool, nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "old.nnef").write_text("version 1.0\nfragment f( x: tensor, c: tensor, a: scalar[], n: extent ) -> ( y: tensor )\n{\n    "
                                       f"{statement}\n}}\ngraph g( x, w ) -> ( y )\n{{\n    x = external(shape = [2, 2])\n"
                                       "    w = external(shape = [2, 2])\n    c = lt(x, w)\n    y = f(x, c, a = [0.5], n = 0)\n}\n")

    def run(*arguments: str) -> None:
        done = subprocess.run([str(nnefc), *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")

    run("upgrade", "old.nnef", "-o", "new.nnef")
    text = (tmp_path / "new.nnef").read_text()
    assert "fragment f(" in text
    assert ("extension KHR_enable_operator_expressions;" in text) == has_operator
    run("check", "--strict", "--werror", "new.nnef")
