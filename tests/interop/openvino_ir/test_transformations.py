"""Transformations of graphs preserve the results: documents in which each one applies, with all enabled, with all
disabled, and by NumPy."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Callable

import numpy as np
import pytest
from models import Nnefc

NETWORKS = Path(__file__).resolve().parent.parent.parent / "networks"
TARGET_NAMES = ("target.ConvertVectorsToMatrices", "target.TransposeLeftOperands", "target.QuantizeConcatParts",
                "target.RemoveRepeatedQuantization", "target.InsertLookupTables", "target.RemoveQuantizationAfterMoves",
                "target.QuantizeAfterMaxPool", "target.QuantizeAfterMoves",
                "target.QuantizeChannelsEqually", "target.ConvolveQuantizedScales", "target.RoundZeroPoints", "target.FuseChannelPermutations",
                "target.MarkQuantizedProducts", "target.MarkQuantizedValues", "target.UnmarkSlowRegions",
                "target.StoreImagesInF32")
HEADER = "version 1.0;\nextension KHR_enable_operator_expressions;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2, 3, 4]);\n"
# Small and large numbers of either sign, infinities and NaN.
SPECIAL = np.array([0.0, -0.0, 1e-30, -1e-30, 0.5, -0.5, 3.0, -3.0, 2.9999, -2.9999, 6.0, 10.0, -10.0, 30.0, -30.0, 80.0, -80.0, 88.0,
                    1e4, -1e4, 1.0, np.inf, -np.inf, np.nan], np.float32).reshape(2, 3, 4)
PLAIN = np.random.default_rng(7).normal(size=(2, 3, 4)).astype(np.float32)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _gelu(x: np.ndarray) -> np.ndarray:
    return x * _sigmoid(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))  # 0.5 * (1 + tanh(z)) = sigmoid(2 * z)


def _normalized(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(x, 0)


# Statements, the operations after compilation, and the formula.
Case = tuple[str, str, Callable[[np.ndarray], np.ndarray]]
CASES: dict[str, Case] = {
    "softplus": ("y = log(exp(x) + 1.0);", "SoftPlus", _softplus),
    "mish": ("y = x * tanh(softplus(x));", "Mish", lambda x: x * np.tanh(_softplus(x))),
    "mish by hand": ("y = x * tanh(log(exp(x) + 1.0));", "Mish", lambda x: x * np.tanh(_softplus(x))),
    "swish": ("y = sigmoid(x) * x;", "Swish", lambda x: x * _sigmoid(x)),
    "swish with a factor": ("y = x * sigmoid(x * 1.702);", "Swish", lambda x: x * _sigmoid(1.702 * x)),
    "hswish": ("y = x * clamp(x + 3.0, 0.0, 6.0) / 6.0;", "HSwish", lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "hswish divided first": ("y = x * (clamp(3.0 + x, 0.0, 6.0) / 6.0);", "HSwish", lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "gelu": ("y = 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x^3.0)));", "Gelu", _gelu),
    "gelu by squares": ("y = (tanh(x * 0.7978845608 * (0.044715 * x * x + 1.0)) + 1.0) * (x / 2.0);", "Gelu", _gelu),
    "mvn": ("m = mean_reduce(x, axes = [2]); d = x - m; y = d / sqrt(mean_reduce(d * d, axes = [2]) + 0.00001);", "MVN",
            lambda x: _normalized(x, (2,))),
    "mvn over channels": ("d = x - mean_reduce(x, axes = [1]); y = d * rsqrt(mean_reduce(sqr(d), axes = [1]) + 0.00001);", "MVN",
                          lambda x: _normalized(x, (1,))),
    "mvn over a plane": ("d = x - mean_reduce(x, axes = [1, 2]); y = d / sqrt(mean_reduce(d^2.0, axes = [1, 2]) + 0.00001);", "MVN",
                         lambda x: _normalized(x, (1, 2))),
    "mvn of the batch": ("d = x - mean_reduce(x, axes = [0]); y = d / sqrt(mean_reduce(d^2.0, axes = [0]) + 0.00001);", "MVN",
                         lambda x: _normalized(x, (0,))),
    "transposes": ("y = transpose(transpose(x, axes = [1,2,0]), axes = [2,0,1]) * 2.0;", "Multiply", lambda x: 2 * x),
    "other transposes": ("y = transpose(transpose(x, axes = [1,2,0]), axes = [0,2,1]);", "Transpose",
                         lambda x: x.transpose(1, 2, 0).transpose(0, 2, 1)),
    "views": ("y = abs(unsqueeze(reshape(x, shape = [6,4]), axes = [0]));", "Reshape Abs", lambda x: np.abs(x.reshape(1, 6, 4))),
    "equal nodes": ("y = exp(x) + exp(x);", "Exp Add", lambda x: 2 * np.exp(x)),
    "constants": ("y = x * exp(sqrt(4.0) - 1.0);", "Multiply", lambda x: x * np.exp(1.0)),
    "an infinite constant": ("y = x * log(sqrt(4.0) - 2.0);", "Multiply", lambda x: x * -np.inf),
    "factors": ("y = (x * 3.0) * 0.5;", "Multiply", lambda x: x * 1.5),
    "terms": ("y = (x + 3.0) + 0.5;", "Add", lambda x: x + 3.5),
    "one": ("y = exp(x * 1.0 - 0.0) / 1.0;", "Exp", np.exp),
    "a zero that counts": ("y = rcp(x + 0.0);", "Add", lambda x: 1 / (x + np.float32(0))),
}


def _run(nnefc: Path, folder: Path, backend: str, x: np.ndarray, *, off: bool) -> np.ndarray:
    names = [line.split()[0] for line in subprocess.run([str(nnefc), "transform", "--list-transformations"], capture_output=True,
                                                        text=True, timeout=60, check=True).stdout.splitlines()
             if "::" in line]
    np.save(folder / "x.npy", x)
    done = subprocess.run([str(nnefc), "run", "net.nnef", "--input", "x.npy", "-o", "y.npz", "--backend", backend], cwd=folder,
                          env=os.environ | ({"NNEFC_DISABLED_TRANSFORMS": ",".join(names)} if off else {}), capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "y.npz")["y"]


@pytest.mark.parametrize("backend", ["reference", "fast"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_computed_stays(name: str, backend: str, nnefc: Path, tmp_path: Path) -> None:
    statements, operations, formula = CASES[name]
    (tmp_path / "net.nnef").write_text(f"{HEADER}    {statements}\n}}\n", encoding="utf-8")
    text = subprocess.run([str(nnefc), "compile", "net.nnef"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          check=True).stdout
    made = [word.partition(".")[2] for line in text.splitlines() for word in line.split()[2:3] if word.startswith("opset")]
    assert [op for op in made if op not in ("Parameter", "Const")] == operations.split() or name == "a zero that counts"
    # oneDNN rounds functions of large negative numbers to zero.
    smallest = 1e-37 if backend == "reference" else 1e-6
    for x in (PLAIN, SPECIAL):
        with np.errstate(all="ignore"):
            expected = formula(x.astype(np.float64)).astype(np.float32)
        on, off = _run(nnefc, tmp_path, backend, x, off=False), _run(nnefc, tmp_path, backend, x, off=True)
        np.testing.assert_allclose(on, expected, rtol=2e-6, atol=smallest)
        if x is PLAIN:
            np.testing.assert_allclose(on, off, rtol=2e-6, atol=smallest)


# Statements after a padded `p`, and the operation that replaces the padding.
WINDOWS = {
    "convolution": ("w = constant(shape = [1,1,3,3], value = [1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0]);\n"
                    "    y = conv(p, w, padding = [(0,0), (1,0)], border = 'constant');", "Convolution"),
    "average": ("y = avg_pool(p, size = [1,1,3,3], padding = [(0,0), (0,0), (0,0), (0,0)]);", "AvgPool"),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_padding_in_front_of_windows(name: str, nnefc: Path, tmp_path: Path) -> None:
    statements, operation = WINDOWS[name]
    document = ("version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 1, 4, 6]);\n"
                "    p = pad(x, padding = [(0,0), (0,0), (1,2), (0,1)], border = 'constant', value = 0.0);\n    " + statements + "\n}\n")
    (tmp_path / "net.nnef").write_text(document, encoding="utf-8")
    text = subprocess.run([str(nnefc), "compile", "net.nnef"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          check=True).stdout
    assert f".{operation} " in text and ".Pad " not in text
    x = np.random.default_rng(3).normal(size=(1, 1, 4, 6)).astype(np.float32)
    padded = np.pad(x[0, 0].astype(np.float64), ((1, 2), (0, 1)))
    weights = np.full((3, 3), 1 / 9)
    if name == "convolution":
        padded, weights = np.pad(padded, ((0, 0), (1, 0))), np.arange(1.0, 10.0).reshape(3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    for backend in ("reference", "fast"):
        y = _run(nnefc, tmp_path, backend, x, off=False)
        np.testing.assert_allclose(y[0, 0], np.einsum("hwij,ij->hw", windows, weights), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("groups", [2, 3])
def test_convolutions_of_parts(groups: int, bias: bool, nnefc: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(groups)
    filters = random.normal(size=(groups, 2, 2, 3, 2)).astype(np.float32)
    biases = random.normal(size=(groups, 2)).astype(np.float32) * bias
    statements = [f"[{', '.join(f'p{i}' for i in range(groups))}] = split(x, axis = 1, ratios = {[1] * groups});"]
    for i in range(groups):
        numbers = ", ".join(str(float(value)) for value in filters[i].ravel())
        statements.append(f"w{i} = constant(shape = [2, 2, 3, 2], value = [{numbers}]);")
        statements.append(f"b{i} = constant(shape = [1, 2], value = {[float(value) for value in biases[i]]});")
        statements.append(f"c{i} = conv(p{i}, w{i}{f', b{i}' if bias else ''}, padding = [(0,0), (0,0)], stride = [1, 2]);")
    statements.append(f"y = concat([{', '.join(f'c{i}' for i in range(groups))}], axis = 1);")
    (tmp_path / "net.nnef").write_text("version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = "
                                       f"[2, {2 * groups}, 5, 7]);\n    " + "\n    ".join(statements) + "\n}\n", encoding="utf-8")
    text = subprocess.run([str(nnefc), "compile", "net.nnef"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          check=True).stdout
    assert ".GroupConvolution " in text and ".Split " not in text and ".VariadicSplit " not in text
    x = random.normal(size=(2, 2 * groups, 5, 7)).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 2), axis=(2, 3))[:, :, :, ::2]
    parts = [np.einsum("nchwij,ocij->nohw", windows[:, 2 * i:2 * i + 2], filters[i]) + biases[i][:, None, None] for i in range(groups)]
    for backend in ("reference", "fast"):
        on, off = _run(nnefc, tmp_path, backend, x, off=False), _run(nnefc, tmp_path, backend, x, off=True)
        np.testing.assert_allclose(on, np.concatenate(parts, 1), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(on, off, rtol=1e-4, atol=1e-5)


# Statements after a convolution `c`, the remaining operations, and the formula.
SCALED: dict[str, tuple[str, str, Callable[[np.ndarray], np.ndarray]]] = {
    "batch normalization": ("m = constant(shape = [1,3], value = [0.5,-1.0,2.0]);\n"
                            "    v = constant(shape = [1,3], value = [4.0,0.25,1.0]);\n"
                            "    y = batch_normalization(c, m, v, 3.0, 0.5, epsilon = 0.01);", "Convolution Add",
                            lambda c: 3 + 0.5 * (c - _channels(0.5, -1, 2)) / np.sqrt(_channels(4, 0.25, 1) + 0.01)),
    "a scale behind a bias": ("s = constant(shape = [1,3,1,1], value = [0.5,-1.0,20.0]);\n    y = (c + 2.0) / s;", "Convolution Add",
                              lambda c: (c + 2) / _channels(0.5, -1, 20)),
    "a variance below zero": ("y = batch_normalization(c, 0.0, -1.0, 3.0, 0.5, epsilon = 0.01);", "Convolution BatchNormInference",
                              lambda c: c * np.nan),
    "nothing": ("y = c * 0.0 + 1.0;", "Convolution Add", lambda c: c * 0.0 + 1.0),
}


def _channels(*numbers: float) -> np.ndarray:
    return np.array(numbers).reshape(1, 3, 1, 1)


@pytest.mark.parametrize("name", SCALED)
def test_scales_behind_convolutions(name: str, nnefc: Path, tmp_path: Path) -> None:
    statements, operations, formula = SCALED[name]
    (tmp_path / "net.nnef").write_text(
        "version 1.0;\nextension KHR_enable_operator_expressions;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 2, 3, 4]);\n"
        "    w = constant(shape = [3,2,1,1], value = [1.0,2.0,-3.0,4.0,0.5,-0.25]);\n"
        f"    c = conv(x, w, 0.0);\n    {statements}\n}}\n", encoding="utf-8")
    text = subprocess.run([str(nnefc), "compile", "net.nnef"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          check=True).stdout
    made = [word.partition(".")[2] for line in text.splitlines() for word in line.split()[2:3] if word.startswith("opset")]
    assert [op for op in made if op not in ("Parameter", "Const")] == operations.split()
    weights = np.array([[1, 2], [-3, 4], [0.5, -0.25]])
    for x in (PLAIN.reshape(1, 2, 3, 4), SPECIAL.reshape(1, 2, 3, 4)):
        with np.errstate(all="ignore"):
            expected = formula(np.einsum("oi,bihw->bohw", weights, x.astype(np.float64)))
        for backend in ("reference", "fast"):
            for off in (False, True):
                np.testing.assert_allclose(_run(nnefc, tmp_path, backend, x, off=off), expected, rtol=1e-5, atol=1e-5)


W = np.arange(1.0, 9.0).reshape(1, 2, 4)
PRODUCTS: dict[str, tuple[str, str, Callable[[np.ndarray], np.ndarray]]] = {
    "a constant that is transposed": ("y = matmul(x, transpose(w, axes = [0,2,1]));", "MatMul", lambda x: x @ W.transpose(0, 2, 1)),
    "a tensor that is transposed": ("y = matmul(x, transpose(x, axes = [0,2,1]));", "MatMul", lambda x: x @ x.transpose(0, 2, 1)),
    "one that is transposed twice": ("y = matmul(transpose(x, axes = [0,2,1]), x, transposeA = true, transposeB = true);", "MatMul",
                                     lambda x: x @ x.transpose(0, 2, 1)),
    "the left of a constant": ("y = matmul(transpose(x, axes = [0,2,1]), z);", "Transpose MatMul",
                               lambda x: x.transpose(0, 2, 1) @ np.array([1.0, -1, 0.5]).reshape(1, 3, 1)),
    "columns that are scaled": ("y = (matmul(x, w, transposeB = true) + 1.0) * s;", "MatMul Add",
                                lambda x: (x @ W.transpose(0, 2, 1) + 1) * np.array([0.5, -3.0])),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, nnefc: Path, tmp_path: Path) -> None:
    statements, operations, formula = PRODUCTS[name]
    (tmp_path / "net.nnef").write_text(
        f"{HEADER}    w = constant(shape = [1,2,4], value = [1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0]);\n"
        "    z = constant(shape = [1,3,1], value = [1.0,-1.0,0.5]);\n    s = constant(shape = [1,1,2], value = [0.5,-3.0]);\n"
        f"    {statements}\n}}\n", encoding="utf-8")
    text = subprocess.run([str(nnefc), "compile", "net.nnef"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          check=True).stdout
    made = [word.partition(".")[2] for line in text.splitlines() for word in line.split()[2:3] if word.startswith("opset")]
    assert [op for op in made if op not in ("Parameter", "Const")] == operations.split()
    for backend in ("reference", "fast"):
        for off in (False, True):
            np.testing.assert_allclose(_run(nnefc, tmp_path, backend, PLAIN, off=off), formula(PLAIN.astype(np.float64)),
                                       rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rank", [3, 4])
def test_normalization_by_no_variance(rank: int, nnefc: Path, tmp_path: Path) -> None:
    """offset + scale * (x - mean) / sqrt(variance + epsilon) is infinite there, except for the mean itself."""
    shape = [2, 3, 4, 5][:rank]
    (tmp_path / "net.nnef").write_text(
        f"version 1.0;\n\ngraph net( x ) -> ( y )\n{{\n    x = external(shape = {shape});\n"
        "    m = constant(shape = [1,3], value = [0.5,-1.0,2.0]);\n    v = constant(shape = [1,3], value = [0.0,0.25,0.0]);\n"
        "    y = batch_normalization(x, m, v, 3.0, 0.5, epsilon = 0.0);\n}\n", encoding="utf-8")
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    x[0, 0, 0] = 0.5
    along = (1, 3) + (1,) * (rank - 2)
    with np.errstate(all="ignore"):
        expected = 3 + 0.5 * (x - np.reshape([0.5, -1, 2], along)) / np.sqrt(np.reshape([0, 0.25, 0], along))
    for backend in ("reference", "fast"):
        for off in (False, True):
            np.testing.assert_allclose(_run(nnefc, tmp_path, backend, x, off=off), expected, rtol=1e-5, atol=1e-5)


BRANCHES = """version 1.0;
extension KHR_enable_fragment_definitions KHR_enable_operator_expressions NNEFC_control_flow;

fragment scaled( x: tensor<scalar>, w: tensor<scalar>, s: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    c = conv(x, w, 0.0);
    y = batch_normalization(c, s, 4.0, 3.0, 0.5, epsilon = 0.0) * sqrt(s);
}
fragment plain( x: tensor<scalar>, w: tensor<scalar>, s: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = conv(x, w, 0.0) * 3.0 * s;
}
graph net( x, k ) -> ( y )
{
    x = external(shape = [1, 2, 3, 4]);
    k = external<logical>(shape = []);
    w = constant(shape = [3,2,1,1], value = [1.0,2.0,-3.0,4.0,0.5,-0.25]);
    s = constant(shape = [1,3], value = [4.0,9.0,0.25]);
    [y] = if_else(CONDITION, [x, w, s], then_body = 'scaled', else_body = 'plain');
}
"""


@pytest.mark.parametrize("condition", ["k", "true", "false"])
def test_constants_of_branches(condition: str, nnefc: Path, tmp_path: Path) -> None:
    openvino = pytest.importorskip("openvino")
    (tmp_path / "net.nnef").write_text(BRANCHES.replace("CONDITION", condition), encoding="utf-8")
    text = subprocess.run([str(nnefc), "compile", "net.nnef"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          check=True).stdout
    assert (".If " in text) == (condition == "k")
    assert ".BatchNormInference " not in text and ".Sqrt " not in text and ".Multiply " not in text
    subprocess.run([str(nnefc), "compile", "net.nnef", "-o", "net.xml"], cwd=tmp_path, timeout=60, check=True)
    x = PLAIN.reshape(1, 2, 3, 4)
    scale = np.array([4, 9, 0.25]).reshape(1, 3, 1, 1)
    c = np.einsum("oi,bihw->bohw", np.array([[1, 2], [-3, 4], [0.5, -0.25]]), x.astype(np.float64))
    np.save(tmp_path / "x.npy", x)
    for k in (True, False):
        taken = k if condition == "k" else condition == "true"
        expected = (3 + 0.5 * (c - scale) / 2) * np.sqrt(scale) if taken else c * 3 * scale
        np.save(tmp_path / "k.npy", np.array(k))
        for backend in ("reference", "fast"):
            subprocess.run([str(nnefc), "run", "net.nnef", "--input", "x=x.npy", "--input", "k=k.npy", "--backend", backend,
                            "-o", "y.npz"], cwd=tmp_path, timeout=60, check=True)
            np.testing.assert_allclose(np.load(tmp_path / "y.npz")["y"], expected, rtol=1e-5, atol=1e-5)
        compiled = openvino.Core().compile_model(tmp_path / "net.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        found = compiled({"x": x, "k": np.array(k)})["y"]
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


# Statements that make y from q, k, v and a mask; whether the mask has an effect; the factor of scores.
ATTENTION = {
    "plain": ("y = matmul(softmax(matmul(q, k, transposeB = true), axes = [3]), v);", False, 1.0),
    "scaled": ("y = matmul(softmax(matmul(q, k, transposeB = true) / 8.0, axes = [3]), v);", False, 0.125),
    "scaled query": ("y = matmul(softmax(matmul(0.25 * q, k, transposeB = true), axes = [3]), v);", False, 0.25),
    "masked": ("y = matmul(softmax(mask + 0.5 * matmul(q, k, transposeB = true), axes = [3]), v);", True, 0.5),
    "transposed key": ("t = transpose(k, axes = [0, 1, 3, 2]); y = matmul(softmax(matmul(q, t) + mask, axes = [3]), v);", True, 1.0),
}


@pytest.mark.parametrize("name", ATTENTION)
def test_attention(name: str, nnefc: Path, tmp_path: Path) -> None:
    statements, masked, scale = ATTENTION[name]
    shapes = {"q": (2, 3, 37, 16), "k": (2, 3, 45, 16), "v": (2, 3, 45, 8), "mask": (2, 1, 1, 45)}
    shapes = {key: shape for key, shape in shapes.items() if masked or key != "mask"}
    externals = "".join(f"    {key} = external(shape = {list(shape)});\n" for key, shape in shapes.items())
    (tmp_path / "net.nnef").write_text(f"version 1.0;\nextension KHR_enable_operator_expressions;\n\ngraph net( {', '.join(shapes)} ) -> "
                                       f"( y )\n{{\n{externals}    {statements}\n}}\n", encoding="utf-8")
    random = np.random.default_rng(5)
    inputs = {key: random.normal(size=shape).astype(np.float32) for key, shape in shapes.items()}
    if masked:
        inputs["mask"][random.random(inputs["mask"].shape) < 0.3] = -np.inf
    np.savez(tmp_path / "in.npz", **inputs)
    scores = np.einsum("abqw,abkw->abqk", inputs["q"].astype(np.float64), inputs["k"]) * scale + inputs.get("mask", 0.0)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = np.einsum("abqk,abkv->abqv", weights / weights.sum(-1, keepdims=True), inputs["v"])
    subprocess.run([str(nnefc), "compile", "net.nnef", "-o", "net.xml"], cwd=tmp_path, timeout=60, check=True)
    assert 'type="ScaledDotProductAttention"' in (tmp_path / "net.xml").read_text(encoding="utf-8")
    for backend in ("reference", "fast"):
        subprocess.run([str(nnefc), "run", "net.nnef", "--inputs", "in.npz", "-o", "y.npz", "--backend", backend], cwd=tmp_path,
                       timeout=60, check=True)
        np.testing.assert_allclose(np.load(tmp_path / "y.npz")["y"], expected, rtol=1e-4, atol=1e-5)
    openvino = pytest.importorskip("openvino")
    compiled = openvino.Core().compile_model(tmp_path / "net.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    np.testing.assert_allclose(compiled(inputs)[0], expected, rtol=1e-4, atol=1e-5)


def test_values_on_the_way_are_computed(nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text(HEADER + "    s = sigmoid(x);\n    y = x * s;\n}\n", encoding="utf-8")
    np.save(tmp_path / "x.npy", PLAIN)
    subprocess.run([str(nnefc), "run", "net.nnef", "--input", "x.npy", "--dump", "s", "-o", "y.npz"], cwd=tmp_path, timeout=60, check=True)
    np.testing.assert_allclose(np.load(tmp_path / "y.npz")["s"], _sigmoid(PLAIN.astype(np.float64)), rtol=1e-5)


def test_commands_that_run_take_options_of_transformations(nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text(HEADER + "    s = sigmoid(x);\n    y = x * s;\n}\n", encoding="utf-8")
    (tmp_path / "c.json").write_text('[{"id": "T", "match_kind": "points", "op": "Sin", '
                                     '"instances": {"start_points": ["s"], "end_points": ["s"]}}]', encoding="utf-8")
    np.save(tmp_path / "x.npy", PLAIN)
    for command in ("run", "bench --iterations 1"):
        done = subprocess.run([str(nnefc), *command.split(), "net.nnef", "--input", "x.npy", "--transformations-config", "c.json",
                               "--disable-transformations", "middle.SwishFusion", *(["-o", "y.npz"] if command == "run" else [])],
                              cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    np.testing.assert_allclose(np.load(tmp_path / "y.npz")["y"], PLAIN * np.sin(PLAIN), rtol=1e-5, atol=1e-6)


def test_bisect_on_data_that_are_given(nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text("version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external<scalar>(shape = [2]);\n"
                                       "    a = exp(x);\n    y = sqrt(a);\n}\n", encoding="utf-8")
    (tmp_path / "c.json").write_text('[{"id": "Wrong", "match_kind": "points", "instances": {"start_points": ["y"], "end_points": '
                                     '["y"]}, "op": "Sin", "custom_attributes": {}}]', encoding="utf-8")
    np.save(tmp_path / "x.npy", np.zeros(2, np.float32))
    np.savez(tmp_path / "in.npz", x=np.zeros(2, np.float32))
    tool = Nnefc(nnefc, tmp_path)
    for data in (["--input", f"x={tmp_path / 'x.npy'}"], ["--inputs", tmp_path / "in.npz"]):
        done = tool.call("transform", tmp_path / "net.nnef", "--bisect", "--transformations-config", tmp_path / "c.json", *data)
        assert done.returncode == 1, done.stderr
        assert "the worst is [0]: 0.841471, expected 1\n" in done.stdout, done.stdout  # sin 1 compared with the root of 1


@pytest.mark.parametrize("shape", [(), (5,), (4, 5), (4, 1), (2, 1, 1, 5)], ids=str)
def test_attention_of_a_mask(shape: tuple[int, ...], nnefc: Path, tmp_path: Path) -> None:
    """OpenVINO requires masks of two axes or more."""
    openvino = pytest.importorskip("openvino")
    op, random = openvino.opset13, np.random.default_rng(7)
    q, k, v = (op.parameter(list(extents), np.float32, name=name)
               for name, extents in (("q", (2, 3, 4, 8)), ("k", (2, 3, 5, 8)), ("v", (2, 3, 5, 6))))
    mask = op.constant(random.normal(size=shape).astype(np.float32))
    weights = op.softmax(op.add(op.matmul(q, k, False, True), mask), -1)
    openvino.save_model(openvino.Model([op.matmul(weights, v, False, False)], [q, k, v]), tmp_path / "net.xml", compress_to_fp16=False)
    inputs = {each.friendly_name: random.normal(size=tuple(each.shape)).astype(np.float32) for each in (q, k, v)}
    done = subprocess.run([str(nnefc), "compile", "net.xml", "-o", "again.xml"], cwd=tmp_path, timeout=60, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ("ScaledDotProductAttention" in (tmp_path / "again.xml").read_text(encoding="utf-8")) == (len(shape) >= 2)
    first, second = (openvino.Core().compile_model(tmp_path / name, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(list(inputs.values()))[0]
                     for name in ("net.xml", "again.xml"))
    np.testing.assert_allclose(second, first, rtol=1e-4, atol=1e-5)


# A Normalize of the Model Optimizer, as its extensions write it: `across_spatial`, `channel_shared`, the weights.
NORMALIZED = {
    "channels": (0, 0, [20.0, 30.0, 0.5]),
    "channels and space": (1, 0, [20.0, 30.0, 0.5]),
    "one weight": (0, 1, [20.0, 30.0, 0.5]),
    "weights of one": (1, 0, [1.0, 1.0, 1.0]),
}


def _normalize_ir(folder: Path, across_spatial: int, channel_shared: int, weights: list[float]) -> None:
    (folder / "net.bin").write_bytes(np.array(weights, np.float32).tobytes())
    port = "<dim>2</dim><dim>3</dim><dim>4</dim><dim>5</dim></port>"
    x, y = f'<port id="0" precision="FP32">{port}', f'<port id="2" precision="FP32" names="y">{port}'
    (folder / "net.xml").write_text(f"""<?xml version="1.0"?>
<net name="net" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,3,4,5" element_type="f32"/><output>{x}</output></layer>
<layer id="1" name="w" type="Const" version="opset1"><data element_type="f32" shape="3" offset="0" size="12"/>
<output><port id="0" precision="FP32"><dim>3</dim></port></output></layer>
<layer id="2" name="n" type="Normalize" version="extension">
<data across_spatial="{across_spatial}" channel_shared="{channel_shared}" eps="1e-3"/>
<input>{x}<port id="1" precision="FP32"><dim>3</dim></port></input><output>{y}</output></layer>
<layer id="3" name="y" type="Result" version="opset1"><input>{x}</input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/><edge from-layer="2" from-port="2" to-layer="3" to-port="0"/></edges></net>
""", encoding="utf-8")


@pytest.mark.parametrize("name", NORMALIZED)
def test_normalize_of_the_model_optimizer(name: str, nnefc: Path, tmp_path: Path) -> None:
    across_spatial, channel_shared, weights = NORMALIZED[name]
    _normalize_ir(tmp_path, across_spatial, channel_shared, weights)
    x = np.random.default_rng(3).normal(size=(2, 3, 4, 5)).astype(np.float32)
    axes = (1, 2, 3) if across_spatial else 1
    norm = np.sqrt((x.astype(np.float64)**2).sum(axes, keepdims=True) + 1e-3)
    expected = x / norm * (weights[0] if channel_shared else np.reshape(weights, (1, 3, 1, 1)))
    np.save(tmp_path / "x.npy", x)
    for backend in ("reference", "fast"):
        subprocess.run([str(nnefc), "run", "net.xml", "--input", "x.npy", "-o", "y.npz", "--backend", backend], cwd=tmp_path,
                       timeout=60, check=True)
        np.testing.assert_allclose(np.load(tmp_path / "y.npz")["y"], expected, rtol=2e-6, atol=1e-6)
    subprocess.run([str(nnefc), "compile", "net.xml", "-o", "new.xml"], cwd=tmp_path, timeout=60, check=True)
    text = (tmp_path / "new.xml").read_text(encoding="utf-8")
    assert ('type="Multiply"' in text) == (name != "weights of one")
    openvino = pytest.importorskip("openvino")
    compiled = openvino.Core().compile_model(tmp_path / "new.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    np.testing.assert_allclose(compiled([x])[0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("variable", ["MO_DISABLED_TRANSFORMS", "NNEFC_DISABLED_TRANSFORMS"])
def test_normalize_of_the_model_optimizer_without_its_transformation(variable: str, nnefc: Path, tmp_path: Path) -> None:
    """The name is the example in the Model Optimizer's documentation."""
    _normalize_ir(tmp_path, 0, 0, [20.0, 30.0, 0.5])
    name = "extensions.back.NonmalizeToNormalizeL2.NormalizeToNormalizeL2"
    done = subprocess.run([str(nnefc), "run", "net.xml", "--random-inputs", "1"], cwd=tmp_path, env=os.environ | {variable: name},
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "openvino.unknown-operation" in done.stderr and "Normalize" in done.stderr
    assert "is not a transformation" not in done.stderr


# Networks with random weights. Sums in another order round differently: max |a - b| <= 1e-4 * max |b|.
@pytest.mark.parametrize("network", sorted(path.stem for path in NETWORKS.glob("*.nnef")))
def test_networks_without_transformations(network: str, nnefc: Path, tmp_path: Path) -> None:
    done = subprocess.run([str(nnefc), "transform", str(NETWORKS / f"{network}.nnef"), "--bisect", "--random-weights", "1",
                           "--random-inputs", "1", "--tolerance", "approximate"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "transformations keep the outputs within `approximate`" in done.stdout


def _quantized(x: np.ndarray) -> np.ndarray:
    """Rounds to the 256 values from 0 to 255 (R 4.9.5)."""
    return np.floor(np.clip(x, 0, 255) + 0.5)


# Documents that the fast backend's transformations of the target phase change: the shape of x, statements, an operation of the
# plan, and the formula.
TARGET_CASES: dict[str, tuple[list[int], str, str, Callable[[np.ndarray], np.ndarray]]] = {
    "a transposed left operand": ([3, 4], "w = constant(shape = [3,2], value = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]); "
                                  "y = matmul(x, w, transposeA = true);", "Transpose",
                                  lambda x: x.T @ np.arange(1, 7, dtype=np.float32).reshape(3, 2)),
    "shuffled channels": ([1, 16, 3, 3], "g = reshape(x, shape = [1,2,8,3,3]); t = transpose(g, axes = [0,2,1,3,4]); "
                          "s = reshape(t, shape = [1,16,3,3]); "
                          f"w = constant(shape = [1,16,1,1], value = [{', '.join(f'{i}.0' for i in range(16))}]); y = conv(s, w);",
                          "Gather", lambda x: np.einsum("nchw,c->nhw", x.reshape(1, 2, 8, 3, 3).swapaxes(1, 2).reshape(1, 16, 3, 3),
                                                        np.arange(16, dtype=np.float32))[:, None]),
    "a function of quantized values": ([32, 32], "q = min_max_linear_quantize(x, 0.0, 255.0, bits = 8, signed = false, "
                                       "symmetric = false); r = sqrt(q); y = tanh(r);", "Gather",
                                       lambda x: np.tanh(np.sqrt(_quantized(x)))),
    "a convolution of quantized values": ([1, 4, 8, 8], "q = min_max_linear_quantize(x, 0.0, 255.0, bits = 8, signed = false, "
                                          "symmetric = false); w = constant(shape = [1,4,1,1], value = [1.0, 2.0, -3.0, 4.0]); "
                                          "y = conv(q, w);", "nnefc:quantize",
                                          lambda x: np.einsum("nchw,c->nhw", _quantized(x),
                                                              np.array([1, 2, -3, 4], np.float32))[:, None]),
}


@pytest.mark.parametrize("name", TARGET_CASES)
def test_transformations_for_the_fast_backend(name: str, nnefc: Path, tmp_path: Path) -> None:
    shape, body, operation, formula = TARGET_CASES[name]
    (tmp_path / "net.nnef").write_text(f"version 1.0;\n\ngraph net( x ) -> ( y )\n{{\n    x = external(shape = {shape});\n    {body}\n}}\n")
    x = np.random.default_rng(3).uniform(-10, 300, shape).astype(np.float32)
    on, off = (_run(nnefc, tmp_path, "fast", x, off=off) for off in (False, True))
    np.testing.assert_allclose(on, formula(x), rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(off, formula(x), rtol=1e-5, atol=1e-3)
    plans = [subprocess.run([str(nnefc), "run", "net.nnef", "--input", "x.npy", "--profile", *options], cwd=tmp_path,
                            capture_output=True, text=True, timeout=60, check=True)
             for options in ([], ["--disable-transformations", ",".join(TARGET_NAMES)])]
    assert [operation in plan.stdout + plan.stderr for plan in plans] == [True, False]
