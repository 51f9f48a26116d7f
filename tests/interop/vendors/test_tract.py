"""Our documents in tract, an independent NNEF implementation: equal shapes and numbers for its operations, and tract's
own documents in nnefc.

Excluded are features that tract reads differently from the specification: windows over channels (tract slides over the
last axes alone, including local response normalization), `max_pool` with the border 'constant' (it ignores borders),
`slice` to the end 0, the filters of `deconv` (the outputs' channels come first there).
"""

from __future__ import annotations

from pathlib import Path

import nnef
import numpy as np
import pytest
import tract

import models
from models import Nnefc, assert_agree

X, Y = {"x": (2, 4, 6, 7)}, {"x": (2, 4, 6, 7), "y": (2, 4, 6, 7)}
CONV = {"x": (2, 4, 9, 10), "w": (6, 4, 3, 3), "b": (1, 6)}
UNARY = ("copy neg exp sin cos tan atan sinh cosh tanh asinh abs sign floor ceil round sqr sigmoid relu elu softplus "
         "softmax").split()
POSITIVE = "log sqrt rsqrt log2 acosh rsqr".split()
BINARY = "add sub mul div min max lt gt le ge eq ne".split()
# The tensors of a body, by shape, and the body, which makes `z`.
CASES: dict[str, tuple[dict[str, tuple[int, ...]], str]] = {
    **{name: (X, f"z = {name}(x);") for name in UNARY},
    **{name: (X, f"a = abs(x); p = add(a, 1.0); z = {name}(p);") for name in POSITIVE},
    **{name: (Y, f"z = {name}(x, y);") for name in BINARY},
    "leaky_relu": (X, "z = leaky_relu(x, alpha = 0.1);"),
    "prelu": ({"x": (2, 4, 3), "w": (1, 4)}, "z = prelu(x, w);"),
    "pow": (X, "z = pow(x, 2.0);"),
    "clamp": (X, "z = clamp(x, -0.5, 0.5);"),
    "select": (X, "c = gt(x, 0.0); d = lt(x, 1.0); e = and(c, d); f = not(e); g = or(f, c); z = select(g, x, 2.0);"),
    **{name: (X, f"z = {name}(x, axes = [1, 3]);") for name in ("sum_reduce", "mean_reduce", "max_reduce", "min_reduce")},
    **{name: (X, f"z = {name}(x, axes = [2]);") for name in ("argmax_reduce", "argmin_reduce")},
    "normalized_sum": (X, "z = sum_reduce(x, axes = [1], normalize = true);"),
    "moments": (X, "(m, v) = moments(x, axes = [0, 2]); z = add(m, v);"),
    "reshape": (X, "z = reshape(x, shape = [0, -1]);"),
    "partial_reshape": (X, "z = reshape(x, shape = [6, 4], axis_start = 1, axis_count = 2);"),
    "partial_transpose": (X, "z = transpose(x, axes = [0, 2, 1]);"),
    "transpose": (X, "z = transpose(x, axes = [3, 0, 2, 1]);"),
    "squeeze": ({"x": (2, 1, 3)}, "z = squeeze(x, axes = [1]);"),
    "unsqueeze": ({"x": (2, 4, 3)}, "z = unsqueeze(x, axes = [1, 3]);"),
    "concat": (Y, "z = concat([x, y], axis = 2);"),
    "stack": (Y, "z = stack([x, y], axis = 1);"),
    "unstack": (X, "[a, c] = unstack(x, axis = 0); z = sub(a, c);"),
    "slice": (X, "z = slice(x, axes = [2], begin = [1], end = [-1], stride = [2]);"),
    "tile": (X, "z = tile(x, repeats = [1, 2, 1, 3]);"),
    "pad": (X, "z = pad(x, padding = [(0, 0), (0, 0), (2, 1), (1, 3)], value = 1.5);"),
    "reflected_pad": (X, "z = pad(x, padding = [(0, 0), (0, 0), (2, 1), (1, 3)], border = 'reflect');"),
    "matmul": (Y, "z = matmul(x, y, transposeB = true);"),
    "transposed_matmul": (Y, "z = matmul(x, y, transposeA = true);"),
    "linear": ({"x": (3, 4), "w": (5, 4), "b": (1, 5)}, "z = linear(x, w, b);"),
    **{f"conv_{i}": (CONV, f"z = conv(x, w, b{setting});") for i, setting in enumerate((
        "", ", stride = [2, 1]", ", padding = [(1, 0), (0, 2)]", ", dilation = [2, 1]",
        ", padding = [(0, 0), (0, 0)], stride = [2, 2]", ", stride = [3, 3], dilation = [1, 2]"))},
    "grouped_conv": ({**CONV, "w": (6, 2, 3, 3)}, "z = conv(x, w, b, groups = 2);"),
    "planewise_conv": ({"x": (2, 4, 9, 10), "w": (4, 1, 3, 3)}, "z = conv(x, w, groups = 0);"),
    "conv_1d": ({"x": (2, 4, 9), "w": (4, 4, 2)}, "z = conv(x, w, 0.5);"),
    "separable_conv": ({"x": (1, 4, 5, 5), "w": (4, 1, 3, 3), "v": (6, 4, 1, 1), "b": (1, 6)},
                       "z = separable_conv(x, w, v, b, padding = [(1, 1), (1, 1)]);"),
    "max_pool": (X, "z = max_pool(x, size = [1, 1, 3, 3], stride = [1, 1, 2, 2], border = 'ignore');"),
    "avg_pool": (X, "z = avg_pool(x, size = [1, 1, 3, 3], stride = [1, 1, 2, 2], border = 'constant');"),
    "open_avg_pool": (X, "z = avg_pool(x, size = [1, 1, 3, 3], border = 'ignore', padding = [(0, 0), (0, 0), (1, 0), "
                         "(0, 1)]);"),
    "box": (X, "z = box(x, size = [1, 1, 3, 3]);"),
    "rms_pool": (X, "z = rms_pool(x, size = [1, 1, 3, 3]);"),
    "debox": (X, "z = debox(x, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)]);"),
    "l1_normalization": (X, "z = l1_normalization(x, axes = [1], bias = 0.1);"),
    "l2_normalization": (X, "z = l2_normalization(x, axes = [1], bias = 0.1);"),
    "local_contrast_normalization": (X, "z = local_contrast_normalization(x, size = [1, 1, 3, 3], bias = 0.5, "
                                        "epsilon = 0.1);"),
    "batch_normalization": ({"x": (2, 4, 3, 3), "w": (1, 4), "v": (1, 4), "b": (1, 4), "s": (1, 4)},
                            "z = batch_normalization(x, w, v, b, s, epsilon = 0.1);"),
}
VARIABLES = ("w", "v", "b", "s")  # the other tensors are inputs


def _write(folder: Path, shapes: dict[str, tuple[int, ...]], body: str) -> dict[str, np.ndarray]:
    """Writes a model of the body; returns its inputs."""
    random, inputs = np.random.default_rng(5), {}
    lines = []
    for name, shape in shapes.items():
        data = random.standard_normal(shape).astype(np.float32)
        if name in VARIABLES:
            with (folder / f"{name}.dat").open("wb") as file:
                nnef.write_tensor(file, np.abs(data))
            lines.append(f"{name} = variable(shape = {list(shape)}, label = '{name}');")
        else:
            inputs[name] = data
            lines.append(f"{name} = external(shape = {list(shape)});")
    text = "\n    ".join([*lines, body])
    (folder / "graph.nnef").write_text(f"version 1.0;\ngraph net( {', '.join(inputs)} ) -> ( z )\n{{\n    {text}\n}}\n")
    return inputs


def _tract(model: Path, inputs: list[np.ndarray]) -> list[np.ndarray]:
    return [tensor.to_numpy() for tensor in tract.nnef().load(str(model)).into_runnable().run(inputs)]


@pytest.mark.parametrize("case", CASES)
def test_operation(nnefc: Path, tmp_path: Path, case: str) -> None:
    inputs = _write(tmp_path, *CASES[case])
    np.savez(tmp_path / "inputs.npz", **inputs)
    actual = Nnefc(nnefc, tmp_path).run(tmp_path, "--inputs", tmp_path / "inputs.npz")
    expected, = _tract(tmp_path, list(inputs.values()))
    # tract's argmax returns a type other than integer.
    assert_agree(actual, {"z": expected.astype(actual["z"].dtype)}, 1e-5)


@pytest.mark.parametrize("name", ["mobilenetv2", "resnet18_spp"])
def test_network(nnefc: Path, tmp_path: Path, cache: Path, name: str) -> None:
    tool = Nnefc(nnefc, tmp_path)
    model = models.flat_model(name, tool.expand(models.NETWORKS / f"{name}.nnef"), cache)
    actual = tool.outputs(model, "fast")
    expected = _tract(model, [models.input_of(model, "input", [1, 3, 224, 224])])
    expected = [b.astype(a.dtype) for a, b in zip(actual.values(), expected, strict=True)]
    assert_agree(actual, dict(zip(actual, expected)))


@pytest.mark.parametrize("body", ["z = elu(x);", "z = softmax(x, axes = [1]);", "z = max_reduce(x, axes = [2]);",
                                  "z = max_pool(x, size = [1, 1, 3, 3], padding = [(0, 0), (0, 0), (1, 1), (1, 1)], border = 'ignore');"])
def test_its_own_documents(nnefc: Path, tmp_path: Path, body: str) -> None:
    """Documents that tract writes from ours compute the same in nnefc."""
    tool = Nnefc(nnefc, tmp_path)
    (tmp_path / "ours").mkdir()
    _write(tmp_path / "ours", X, body)
    tract.nnef().write_model_to_dir(tract.nnef().load(str(tmp_path / "ours")), str(tmp_path / "theirs"))
    data = np.random.default_rng(3).standard_normal(X["x"]).astype(np.float32)
    np.savez(tmp_path / "in.npz", x=data)
    ours = tool.run(tmp_path / "ours", "--inputs", tmp_path / "in.npz")
    theirs = tool.run(tmp_path / "theirs", "--inputs", tmp_path / "in.npz")
    np.testing.assert_allclose(next(iter(theirs.values())), ours["z"], rtol=1e-5, atol=1e-6)
