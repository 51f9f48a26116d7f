"""`--target FILE.json` of `upgrade`, `expand` and `convert`: what replaces compounds and attribute values that a device does not accept
computes what NumPy computes by the formulas of the specification, and is accepted by `check --target`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import window_formulas as w

RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((1, 4, 7, 6)).astype(np.float32)
FILTER = RANDOM.standard_normal((4, 4, 3, 3)).astype(np.float32)
SMALL = RANDOM.standard_normal((4, 1, 3, 3)).astype(np.float32)
MATRIX = RANDOM.standard_normal((1, 4, 7, 5)).astype(np.float32)
DATA = {"x": X, "f": FILTER, "g": SMALL, "m": MATRIX}


def document(statement: str, *, is_ratified: bool = True) -> str:
    lines = [f"    {name} = external{'<scalar>' if is_ratified else ''}(shape = {list(array.shape)});"
             for name, array in DATA.items() if f"({name}" in statement or f" {name}" in statement]
    names = ", ".join(line.split()[0] for line in lines)
    return "\n".join(["version 1.0;", f"graph net( {names} ) -> ( y )", "{", *lines, f"    y = {statement};", "}", ""])


def call(nnefc: Path, folder: Path, command: str, text: str, profile: Any) -> subprocess.CompletedProcess[str]:
    (folder / "net.nnef").write_text(text, "utf-8")
    (folder / "device.json").write_text(json.dumps(profile), "utf-8")
    words = [str(nnefc), command, "net.nnef", "--target", "device.json", "-o", "made.nnef"]
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)


def computed(nnefc: Path, folder: Path, document: str = "made.nnef") -> np.ndarray:
    """Checks the document that a command wrote and returns the result of a run."""
    check = [str(nnefc), "check", "--strict", "--target", "device.json", document]
    done = subprocess.run(check, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    text = (folder / document).read_text("utf-8")
    given = []
    for name, array in DATA.items():
        if f"    {name} = external" in text:
            np.save(folder / f"{name}.npy", array)
            given += ["--input", f"{name}={name}.npy"]
    subprocess.run([str(nnefc), "run", document, *given, "--outputs", "y.npz"], check=True, capture_output=True, cwd=folder)
    return np.load(folder / "y.npz")["y"]


def pads(*axes: int) -> list[tuple[int, int]]:
    return [(0, 0), (0, 0), *((p, p) for p in axes)]


# The statement, the restricted attributes of its operation, the other operations of the device, a text of the result, and the values.
CASES: dict[str, tuple[str, dict[str, Any], list[str], str, Callable[[], np.ndarray]]] = {
    "automatic padding": ("conv(x, f)", {"padding": [{"min": 0}]}, [], "padding = [(1, 1), (1, 1)]", lambda: w.conv(X, FILTER)),
    "strided padding": ("conv(x, f, stride = [2, 2])", {"padding": [{"min": 0}]}, [], "padding = [(1, 1), (0, 1)]",
                        lambda: w.conv(X, FILTER, stride=(2, 2))),
    "no stride": ("conv(x, f)", {"stride": [1, 2]}, [], "", lambda: w.conv(X, FILTER)),
    "groups": ("conv(x, g, groups = 0)", {"groups": {"min": 1}}, ["reshape"], "groups = 4", lambda: w.conv(X, SMALL, groups=0)),
    "padding before": ("conv(x, f, padding = [(1, 0), (2, 1)])", {"padding": [0]}, ["pad"], "pad(x",
                       lambda: w.conv(X, FILTER, padding=[(1, 0), (2, 1)])),
    "a border": ("conv(x, f, border = 'reflect')", {"border": ["constant"]}, ["pad"], "border = 'reflect'",
                 lambda: w.conv(X, FILTER, border="reflect")),
    "a dilation": ("conv(x, f, dilation = [2, 1])", {"dilation": [[], 1]}, ["pad", "reshape", "slice"], "slice(",
                   lambda: w.conv(X, FILTER, dilation=(2, 1))),
    "border and dilation": ("conv(x, f, border = 'replicate', dilation = [2, 2])", {"border": ["constant"], "dilation": [[], 1]},
                            ["pad", "reshape", "slice"], "slice(", lambda: w.conv(X, FILTER, border="replicate", dilation=(2, 2))),
    "a pooling": ("max_pool(x, size = [1, 1, 3, 2], border = 'replicate', stride = [1, 1, 2, 2])", {"border": ["constant"]}, ["pad"],
                  "pad(x", lambda: w.pool(X, "max", (1, 1, 3, 2), border="replicate", stride=(1, 1, 2, 2))),
    "a mean": ("avg_pool(x, size = [1, 1, 3, 3], padding = [(0, 0), (0, 0), (1, 1), (1, 1)])", {"padding": [[], 0]}, ["pad"], "pad(x",
               lambda: w.pool(X, "avg", (1, 1, 3, 3), padding=pads(1, 1))),
    "axes": ("max_reduce(x, axes = [1, 3])", {"axes": [[1], [2], [3]]}, [], "axes = [3]", lambda: X.max((1, 3), keepdims=True)),
    "normalized axes": ("sum_reduce(x, axes = [2, 3], normalize = true)", {"axes": [[2], [3]]}, [], "axes = [2]",
                        lambda: X.mean((2, 3), keepdims=True)),
    "a transposed operand": ("matmul(x, m, transposeA = true)", {"transposeA": [False]}, ["transpose"], "transpose(x",
                             lambda: np.swapaxes(X, 2, 3) @ MATRIX),
}


@pytest.mark.parametrize("command", ["upgrade", "expand", "convert"])
@pytest.mark.parametrize("name", CASES)
def test_values_are_replaced(nnefc: Path, tmp_path: Path, command: str, name: str) -> None:
    statement, attributes, others, part, expected = CASES[name]
    operation = statement.partition("(")[0]
    listed = {"external": {}, operation: {"attributes": attributes}, **{other: {} for other in others}}
    done = call(nnefc, tmp_path, command, document(statement), {"operations": listed})
    assert done.returncode == 0, done.stderr
    assert command == "convert" or part in (tmp_path / "made.nnef").read_text("utf-8")
    found, wanted = computed(nnefc, tmp_path), expected()
    assert np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max()


@pytest.mark.parametrize("command", ["upgrade", "expand", "convert"])
@pytest.mark.parametrize(("statement", "attributes", "others"), [
    ("conv(x, f, border = 'reflect')", {"border": ["constant"]}, []),  # without `pad`
    ("conv(x, f, dilation = [2, 1])", {"dilation": [[], 1]}, ["pad", "reshape"]),  # without `slice`
    ("conv(x, f, stride = [2, 2])", {"stride": [[], 1]}, ["pad"]),
    ("max_pool(x, size = [1, 1, 3, 3], border = 'ignore')", {"border": ["constant"]}, ["pad"]),
    ("max_reduce(x, axes = [1, 3])", {"axes": [[1], [2]]}, []),
    ("matmul(x, m, transposeA = true)", {"transposeA": [False]}, []),
])
def test_others_are_reported(nnefc: Path, tmp_path: Path, command: str, statement: str, attributes: dict[str, Any], others: list[str]) -> None:
    operation = statement.partition("(")[0]
    listed = {"external": {}, operation: {"attributes": attributes}, **{other: {} for other in others}}
    done = call(nnefc, tmp_path, command, document(statement), {"operations": listed})
    # `convert` lowers documents to OpenVINO's operations first, and these may need others.
    rules = ["[device.attribute]"] + ["[device.operation]"] * (command == "convert")
    assert done.returncode == 1 and any(rule in done.stderr for rule in rules), done.stderr
    assert not (tmp_path / "made.nnef").exists()


LAYERS = """version 1.0;
extension KHR_enable_fragment_definitions;

# A layer.
fragment layer( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = tanh(x);
}

fragment limited( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = clamp(x, -0.5, 0.5);  # within the limits
}

graph net( x ) -> ( y )
{
    x = external<scalar>(shape = [1, 4, 7, 6]);
    first = layer(x);
    second = limited(first);
    y = layer(second);
}
"""


def test_upgrade_retains_the_other_fragments(nnefc: Path, tmp_path: Path) -> None:
    listed = ["external", "tanh", "max", "min"]
    done = call(nnefc, tmp_path, "upgrade", LAYERS, {"operations": {name: {} for name in listed}})
    assert done.returncode == 0 and "the device has no operation `clamp`" in done.stderr, done.stderr
    text = (tmp_path / "made.nnef").read_text("utf-8")
    assert "fragment layer(" in text and "# A layer." in text and "fragment limited(" not in text and "clamp" not in text
    np.testing.assert_allclose(computed(nnefc, tmp_path), np.tanh(np.clip(np.tanh(X), -0.5, 0.5)), rtol=1e-5, atol=1e-6)


def test_upgrade_of_provisional_documents(nnefc: Path, tmp_path: Path) -> None:
    old = "version 1.0\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 4, 7, 6]);\n    y = relu(x);\n}\n"
    done = call(nnefc, tmp_path, "upgrade", old, {"operations": {"external": {}, "max": {}}, "dialect": "ratified"})
    assert done.returncode == 0 and "the device has no operation `relu`" in done.stderr, done.stderr
    np.testing.assert_array_equal(computed(nnefc, tmp_path), np.maximum(X, 0))


@pytest.mark.parametrize(("profile", "rule"), [
    ({"operations": {"external": {}, "tanh": {}, "clamp": {}}, "fragments": False}, "device.fragment"),
    ({"operations": {"external": {}, "tanh": {}}}, "device.operation"),
    ({"limits": {"operations": 2}}, "device.operation-count"),
    ({"extensions": []}, "device.extension"),
    ({"operations": {"clip": {}}}, "device.profile-unknown-name"),
])
def test_upgrade_reports_what_remains(nnefc: Path, tmp_path: Path, profile: Any, rule: str) -> None:
    done = call(nnefc, tmp_path, "upgrade", LAYERS, profile)
    assert done.returncode == 1 and f"[{rule}]" in done.stderr, done.stderr
    assert not (tmp_path / "made.nnef").exists()


def test_upgrade_of_an_accepted_document(nnefc: Path, tmp_path: Path) -> None:
    done = call(nnefc, tmp_path, "upgrade", LAYERS, {"operations": {"external": {}, "tanh": {}, "clamp": {}, "max": {}, "min": {}}})
    assert done.returncode == 0 and (tmp_path / "made.nnef").read_text("utf-8") == LAYERS
