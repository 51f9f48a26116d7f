"""The fragments of Appendix C of the provisional specification, invoked without a definition: each by its formula in
NumPy, cells over several runs, documents compared with those that include the definitions, and the commands on them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import numpy_oracle as n
from models import Nnefc
from tensor_files import write_dat

ROOT = Path(__file__).resolve().parent.parent.parent.parent
SAMPLE = ROOT / "tests" / "rewriting" / "provisional" / "layers.nnef"
LIBRARY = ROOT / "stdlib" / "layers.nnef"

RANDOM = np.random.default_rng(23)
X = RANDOM.standard_normal([2, 4, 6, 5]).astype(np.float32)
ROWS = RANDOM.standard_normal([2, 3]).astype(np.float32)


@pytest.fixture(scope="module")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("layers"))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def graph(call: str, given: np.ndarray) -> str:
    return f"version 1.0\ngraph net( x ) -> ( y )\n{{\n    x = external(shape = {list(given.shape)})\n    y = {call}\n}}\n"


def labels(tool: Nnefc, document: Path) -> dict[str, list[int]]:
    """Returns the variables of the expansion: shapes by label."""
    flat = tool.must("expand", document)
    found = re.findall(r"variable\(shape = \[([0-9, ]*)\], label = '([^']*)'\)", flat)
    return {label: [int(extent) for extent in shape.split(",")] for shape, label in found}


def run(tool: Nnefc, folder: Path, document: str, x: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Returns the result, the same on both backends and with fused steps, and the weights by label, which are written
    as tensor files."""
    (folder / "graph.nnef").write_text(document)
    shapes = labels(tool, folder / "graph.nnef")
    weights = {}
    for label, shape in shapes.items():
        value = RANDOM.uniform(0.5, 1.5, shape) if "variance" in label else RANDOM.standard_normal(shape)
        weights[label] = value.astype(np.float32)
        write_dat(folder / f"{label}.dat", weights[label], "P")
    np.save(folder / "x.npy", x)
    found = [tool.run(folder, "--input", f"x={folder / 'x.npy'}", *extra)["y"]
             for extra in (["--backend", "reference", "--verify"], [], ["--enable-transformations", "middle.RecurrentStepFusion"])]
    for other in found[1:]:
        np.testing.assert_allclose(found[0], other, rtol=1e-4, atol=1e-5)
    return found[0], weights


def batch_normalization(x: np.ndarray, w: dict[str, np.ndarray], epsilon: float) -> np.ndarray:
    def column(name: str, default: float) -> np.ndarray:
        return w[name].reshape(1, -1, 1, 1) if name in w else np.float32(default)
    scaled = (x - column("s/mean", 0.0)) / np.sqrt(column("s/variance", 1.0) + epsilon)
    return scaled * column("s/gamma", 1.0) + column("s/beta", 0.0)


def bias(w: dict[str, np.ndarray]) -> np.ndarray:
    return w["s/bias"].reshape(1, -1, 1, 1) if "s/bias" in w else np.float32(0)


LAYERS = {
    "linear_layer(x, channels = 5, scope = 's')": (ROWS, {"s/filter": [5, 3], "s/bias": [1, 5]},
                                                   lambda x, w: x @ w["s/filter"].T + w["s/bias"]),
    "linear_layer(x, channels = 5, use_bias = false, scope = 's')": (ROWS, {"s/filter": [5, 3]},
                                                                     lambda x, w: x @ w["s/filter"].T),
    "conv_layer(x, channels = 3, size = [3,3], scope = 's')":
        (X, {"s/filter": [3, 4, 3, 3], "s/bias": [1, 3]}, lambda x, w: n.conv(x, w["s/filter"]) + bias(w)),
    "conv_layer(x, channels = 6, size = [1,1], use_bias = false, groups = 2, scope = 's')":
        (X, {"s/filter": [6, 2, 1, 1]},
         lambda x, w: np.concatenate([np.einsum("bchw,oc->bohw", x[:, 2 * g:2 * g + 2], w["s/filter"][3 * g:3 * g + 3, :, 0, 0])
                                      for g in range(2)], 1)),
    # Each item of the input yields a separate block if the stride equals the size.
    "deconv_layer(x, channels = 3, size = [2,2], stride = [2,2], padding = [(0,0), (0,0)], scope = 's')":
        (X, {"s/filter": [4, 3, 2, 2], "s/bias": [1, 3]},
         lambda x, w: np.einsum("bchw,coij->bohiwj", x, w["s/filter"]).reshape(2, 3, 12, 10) + bias(w)),
    "deconv_layer(x, channels = 6, size = [1,1], groups = 2, scope = 's')":
        (X, {"s/filter": [4, 3, 1, 1], "s/bias": [1, 6]},
         lambda x, w: np.concatenate([np.einsum("bchw,co->bohw", x[:, 2 * g:2 * g + 2], w["s/filter"][2 * g:2 * g + 2, :, 0, 0])
                                      for g in range(2)], 1) + bias(w)),
    "max_pool_layer(x, size = [2,2], stride = [2,2], padding = [(0,0), (0,0)])": (X, {}, lambda x, w: x.reshape(2, 4, 3, 2, 5, 1)[:, :, :, :, :4].reshape(2, 4, 3, 2, 2, 2).max((3, 5))),
    "avg_pool_layer(x, size = [3,3], border = 'ignore')": (X, {}, lambda x, w: n.pool(x, "avg", [1, 1, 3, 3], "ignore")),
    "batch_normalization_layer(x, epsilon = 0.01, scope = 's')":
        (X, {f"s/{name}": [1, 4] for name in ("gamma", "beta", "mean", "variance")},
         lambda x, w: batch_normalization(x, w, 0.01)),
    "batch_normalization_layer(x, center = false, scale = false, epsilon = 0.5, scope = 's')":
        (X, {f"s/{name}": [1, 4] for name in ("mean", "variance")}, lambda x, w: batch_normalization(x, w, 0.5)),
    "simple_recurrent_network(x, n = 4)":
        (ROWS, {"W": [4, 3], "U": [4, 4], "b": [1, 4], "s": [2, 4]},
         lambda x, w: sigmoid(x @ w["W"].T + w["s"] @ w["U"].T + w["b"])),
}


@pytest.mark.parametrize("call", LAYERS)
def test_formula(tool: Nnefc, tmp_path: Path, call: str) -> None:
    x, shapes, formula = LAYERS[call]
    found, weights = run(tool, tmp_path, graph(call, x), x)
    assert {label: list(value.shape) for label, value in weights.items()} == shapes
    wanted = formula(x.astype(np.float64), weights)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def gate(x: np.ndarray, w: dict[str, np.ndarray], name: str) -> np.ndarray:
    return x @ w[f"cell/{name}/filter"].T + w[f"cell/{name}/bias"]


def test_lstm(tool: Nnefc, tmp_path: Path) -> None:
    found, w = run(tool, tmp_path, graph("lstm(x, channels = 5, scope = 'cell')", ROWS), ROWS)
    joined = np.concatenate([ROWS, w["cell/h"]], 1)
    state = w["cell/c"] * sigmoid(gate(joined, w, "f")) + np.tanh(gate(joined, w, "z")) * sigmoid(gate(joined, w, "i"))
    np.testing.assert_allclose(found, np.tanh(state) * sigmoid(gate(joined, w, "o")), rtol=1e-4, atol=1e-5)


def test_gru(tool: Nnefc, tmp_path: Path) -> None:
    found, w = run(tool, tmp_path, graph("gru(x, channels = 5, scope = 'cell')", ROWS), ROWS)
    h = w["cell/h"]
    joined = np.concatenate([ROWS, h], 1)
    z, r = sigmoid(gate(joined, w, "z")), sigmoid(gate(joined, w, "r"))
    s = np.tanh(gate(np.concatenate([ROWS, r * h], 1), w, "s"))
    np.testing.assert_allclose(found, z * s + (1 - z) * h, rtol=1e-4, atol=1e-5)


def defined(document: str) -> str:
    """Returns the document with the library's definitions in it."""
    definitions = LIBRARY.read_text().split("version 1.0\n")[1]
    return document.replace("version 1.0\n", f"version 1.0\n{definitions}", 1)


def test_definitions_written_out_change_nothing(tool: Nnefc, tmp_path: Path) -> None:
    (tmp_path / "own.nnef").write_text(defined(SAMPLE.read_text()))
    assert "fragment conv_layer(" in (tmp_path / "own.nnef").read_text()
    assert tool.must("expand", tmp_path / "own.nnef") == tool.must("expand", SAMPLE)


def test_expansion_is_a_fixed_point(tool: Nnefc, tmp_path: Path) -> None:
    tool.must("expand", SAMPLE, "-o", tmp_path / "flat.nnef")
    again = tool.must("expand", tmp_path / "flat.nnef")
    assert again == (tmp_path / "flat.nnef").read_text()
    assert "_layer(" not in again


def test_upgrade_runs_alike(tool: Nnefc, tmp_path: Path) -> None:
    (tmp_path / "new.nnef").write_text(tool.must("upgrade", SAMPLE))
    assert tool.call("check", tmp_path / "new.nnef").stderr == ""
    options = ["--random-weights", 1, "--random-inputs", 2]
    old, new = tool.run(SAMPLE, *options), tool.run(tmp_path / "new.nnef", *options)
    assert old.keys() == new.keys() == {"probabilities", "enlarged", "state"}
    for name, value in old.items():
        np.testing.assert_array_equal(new[name], value, err_msg=name)


def test_silent_but_for_lint(tool: Nnefc) -> None:
    assert tool.call("check", SAMPLE).stderr == ""
    found = tool.call("lint", SAMPLE, "--disable", "not-ratified").stderr
    for name in re.findall(r"^fragment (\w+)\(", LIBRARY.read_text(), flags=re.M):
        assert found.count(f"`{name}` is not defined here") == 1, name
