"""The provisional dialect by its formulas, on both backends and in OpenVINO: literals in place of tensors (P 3.3.2),
coordinates as data (P 4.3.3, P 4.5), names that are words of the ratified dialect, labels (P 4.1.3)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import numpy_operations as m
import numpy_oracle as n
from models import Nnefc
from tensor_files import write_dat

pytest.importorskip("openvino")

from openvino_oracle import openvino_outputs, result_names  # noqa: E402

RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal([2, 1, 4, 6]).astype(np.float32)
FILTER = RANDOM.standard_normal([2, 1, 3, 3]).astype(np.float32)
PLANES = RANDOM.standard_normal([2, 3, 3, 3]).astype(np.float32)


def data(name: str, array: np.ndarray) -> str:
    return f"{name} = constant(shape = {list(array.shape)}, value = {[float(v) for v in array.ravel()]})\n"


@pytest.fixture(scope="module")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("provisional_values"))


def run(tool: Nnefc, folder: Path, document: str, inputs: dict[str, np.ndarray], *options: object) -> list[dict[str, np.ndarray]]:
    """Returns the results on both backends, of the expansion with compounds lowered (if it can be printed), and of the
    IR for OpenVINO."""
    (folder / "graph.nnef").write_text(document)
    given: list[object] = [*options]
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", value)
        given += ["--input", f"{name}={folder / f'{name}.npy'}"]
    found = [tool.run(folder, *given, *extra) for extra in (["--backend", "reference", "--verify"], [])]
    (folder / "flat").mkdir(exist_ok=True)
    is_printed = tool.call("expand", folder, "--lower=all", "-o", folder / "flat" / "graph.nnef").returncode == 0
    if is_printed and "variable" not in document and "integer" not in document:
        found.append(tool.run(folder / "flat", *given))
    tool.must("compile", folder, *[option for option in options if str(option).startswith("--random")], "-o", folder / "net.xml")
    names = result_names(folder / "net.xml")
    found.append(dict(zip(names, openvino_outputs(folder / "net.xml", inputs), strict=True)))
    return found


def assert_all(found: list[dict[str, np.ndarray]], wanted: dict[str, np.ndarray]) -> None:
    for outputs in found:
        assert outputs.keys() == wanted.keys()
        for name, value in wanted.items():
            assert outputs[name].shape == np.shape(value), name
            np.testing.assert_allclose(outputs[name].astype(float), np.asarray(value, float), rtol=1e-4, atol=1e-5, err_msg=name)


ONES = np.ones([1, 1, 1, 1])
LITERALS = {
    "concat([x, 7.0, x], axis = 0)": None,  # extents differ: rejected
    "concat([7.0, 8.0], axis = 1)": np.array([[7.0, 8.0]]),
    "concat([reshape(x, shape = [1,48]), 7.0], axis = 1)": np.concatenate([X.reshape(1, 48), [[7.0]]], 1),
    "linear(reshape(x, shape = [48,1]), 2.0, 1.0)": X.reshape(48, 1) * 2.0 + 1.0,
    "linear(2.0, 3.0, constant(shape = [1,1,1], value = [0.5]))": np.full([1, 1, 1], 6.5),
    "matmul(2.0, reshape(x, shape = [1,48]))": 2.0 * X.reshape(1, 48),
    "conv(x, 2.0)": 2.0 * X,
    "conv(x, 2.0, 0.25, stride = [2,3])": 2.0 * X[:, :, 1::2, 1::3] + 0.25,
    "conv(3.0, f)": FILTER[None, :, 0, 1, 1].reshape(1, 2, 1, 1) * 3.0,
    "conv(x, f, constant(shape = [1,2,1,1,1], value = [0.5,-0.5]))": n.conv(X, FILTER) + np.array([0.5, -0.5]).reshape(1, 2, 1, 1),
    "deconv(x, 2.0)": 2.0 * X,
    "planewise_conv(constant(shape = [1,1,1], value = [2.0]), 3.0)": np.full([1, 1, 1], 6.0),
    "separable_conv(x, 2.0, 0.5, 1.0)": X + 1.0,
    "separable_deconv(x, 2.0, 0.5, 1.0)": X + 1.0,
    "softmax(0.5)": np.ones([1, 1]),
    "softmax(0.5, axes = [])": np.ones([]),
    "sum_reduce(2.5, axes = [0])": np.array([2.5]),
    "sum_reduce(2.5, axes = [])": np.array(2.5),
    "max_reduce(2.5, axes = [1,3])": np.full([1, 1, 1, 1], 2.5),
    "l2_normalization(2.0, axes = [1], bias = 5.0)": np.full([1, 1], 2.0 / 3.0),
    "transpose(2.5, perm = [1,0])": np.full([1, 1], 2.5),
    "reshape(2.5, shape = [1,0,-1])": np.full([1, 1, 1], 2.5),
    "box(2.5, size = [1,3], border = 'replicate')": np.full([1, 1 + 1 - 1], 7.5),
    "avg_pool(2.5, size = [3])": np.array([2.5 / 3.0]),
    "nearest_upsample(2.5, factor = [2])": np.full([1, 1, 2], 2.5),
    "multilinear_upsample(2.5, factor = [2,2])": np.full([1, 1, 2, 2], 2.5),
    "local_response_normalization(2.0, size = [1,3], alpha = 3.0)": np.full([1, 1 + 1 - 1], 2.0 / np.sqrt(1.0 + 4.0)),
    "batch_normalization(2.0, 1.0, 3.0, 0.5, 2.0, epsilon = 1.0)": np.array(1.5),
    "select(true, 2.0, x)": np.full_like(X, 2.0),
    "add_n([1.0, x, 2.5])": X + 3.5,
    "clamp(x, -0.5, constant(shape = [1,1,1,1,1], value = [0.25]))": np.clip(X, -0.5, 0.25)[..., None],
    "linear_quantize(x, -1.0, 1.0, bits = 2)": m.linear_quantize(X, -1.0, 1.0, 3),
}


@pytest.mark.parametrize("invocation", LITERALS)
def test_literals(tool: Nnefc, tmp_path: Path, invocation: str) -> None:
    body = "x = external(shape = [2,1,4,6])\n" + data("f", FILTER) + f"y = {invocation}\n"
    document = f"version 1.0\ngraph net( x ) -> ( y )\n{{\n{body}}}\n"
    wanted = LITERALS[invocation]
    if wanted is None:
        (tmp_path / "net.nnef").write_text(document)
        done = tool.call("check", tmp_path / "net.nnef")
        assert done.returncode == 1 and "concat" in done.stderr
        return
    assert_all(run(tool, tmp_path, document, {"x": X}), {"y": wanted})


def test_an_update_by_a_literal(tool: Nnefc, tmp_path: Path) -> None:
    document = """version 1.0
graph net( x ) -> ( y, z )
{
    x = external(shape = [2])
    v = variable(shape = [1,1], label = 'v')
    z = update(v, 4.5)
    y = x + v
}
"""
    (tmp_path / "graph.nnef").write_text(document)
    np.save(tmp_path / "x.npy", np.array([1.0, 2.0], np.float32))
    for backend in ("reference", "fast"):
        found = tool.run(tmp_path, "--input", f"x={tmp_path / 'x.npy'}", "--random-weights", "1", "--backend", backend)
        assert found["z"].shape == (1, 1) and found["z"].item() == 4.5
        assert found["y"].shape == (2, 1)


def test_deconvolutions_with_several_channels_for_each(tool: Nnefc, tmp_path: Path) -> None:
    x = RANDOM.standard_normal([1, 2, 4, 5]).astype(np.float32)
    document = "version 1.0\ngraph net( x ) -> ( y, z )\n{\nx = external(shape = [1,2,4,5])\n" + data("f", PLANES) + \
        "y = planewise_deconv(x, f, 0.5, stride = [2,1])\n" + data("p", np.ones([2, 2, 1, 1], np.float32)) + \
        "z = separable_deconv(x, f, p)\n}\n"
    mixed = np.repeat(x.sum(1, keepdims=True), 2, 1)
    assert_all(run(tool, tmp_path, document, {"x": x}),
               {"y": n.deconv(x, PLANES, 0.5, stride=[2, 1], groups=2), "z": n.deconv(mixed, PLANES, groups=2)})


# ---- coordinates: the number of the position in its window, row-major ----

def test_coordinates_are_data(tool: Nnefc, tmp_path: Path) -> None:
    window = dict(size=[1, 1, 2, 3], stride=[1, 1, 2, 3], padding=[(0, 0)] * 4)
    text = "size = [1,1,2,3], stride = [1,1,2,3], padding = [(0,0),(0,0),(0,0),(0,0)]"
    document = f"""version 1.0
graph net( x ) -> ( index, turned, flat, joined, a, b, chosen, again, back, sum )
{{
    x = external(shape = [2,1,4,6])
    index = argmax_pool(x, {text})
    turned = transpose(index, perm = [0,1,3,2])
    flat = reshape(index, shape = [2,-1])
    other = argmax_pool(-x, {text})
    joined = concat([index, other], axis = 1)
    [a, b] = split(joined, axis = 1, ratios = [1,1])
    chosen = select(max_reduce(x, axes = [2,3]) > 1.5, index, other)
    [again, copied] = copy_n(chosen, times = 2)
    back = sample(x, transpose(turned, perm = [0,1,3,2]), {text})
    sum = desample(back, chosen, {text})
}}
"""
    index, other = m.argmax_pool(X, **window), m.argmax_pool(-X, **window)
    chosen = np.where(X.max((2, 3), keepdims=True) > 1.5, index, other)
    back = n.pool(X, "max", **window)
    wanted = {"index": index, "turned": index.transpose(0, 1, 3, 2), "flat": index.reshape(2, -1),
              "joined": np.concatenate([index, other], 1), "a": index, "b": other, "chosen": chosen, "again": chosen, "back": back,
              "sum": m.desample(back, chosen, [1, 1, 2, 3], [2, 1, 4, 6], [1, 1, 2, 3], [(0, 0)] * 4)}
    found = run(tool, tmp_path, document, {"x": X})
    assert found[0]["index"].dtype == np.int64
    assert_all(found, wanted)


def renumbered(index: np.ndarray, size: list[int], common: list[int]) -> np.ndarray:
    return np.ravel_multi_index(np.unravel_index(index, size), common)


@pytest.mark.parametrize("made, read", [([1, 1, 2, 2], [1, 1, 2, 3]), ([1, 1, 2, 3], [1, 1, 3, 2]), ([1, 1, 3, 3], [1, 1, 2, 2]),
                                        ([2, 1, 2, 2], [1, 1, 3, 3]), ([1, 1, 1, 1], [1, 1, 2, 2])])
def test_coordinates_of_windows_of_several_sizes(tool: Nnefc, tmp_path: Path, made: list[int], read: list[int]) -> None:
    """A coordinate is a position along each axis (P 4.3.3), whatever the size of its window."""
    padding = "[(0,0),(0,0),(1,1),(1,1)]"
    first, second = ([(0, 0), (0, 0), (1, 1), (1, 1)] for _ in range(2))
    document = f"""version 1.0
graph net( x, v ) -> ( index, y, z )
{{
    x = external(shape = [2,1,4,6])
    index = argmax_pool(x, size = {made}, padding = {padding})
    v = external(shape = INDEX)
    y = sample(x, index, size = {read}, padding = READ, border = 'constant')
    z = desample(v, index, size = {read}, padding = READ)
}}
"""
    index = m.argmax_pool(X, size=made, padding=first)
    # With this padding, the reading window has as many positions as the producing one.
    second = [(p, q + b - a) for (p, q), a, b in zip(second, made, read)]
    if any(q < 0 for _, q in second):
        pytest.skip("negative padding is not of the dialect")
    v = RANDOM.standard_normal(index.shape).astype(np.float32)
    common = [max(a, b) for a, b in zip(made, read)]
    places = np.unravel_index(index, made)
    y, z = np.zeros(index.shape), np.zeros(X.shape)
    for i in np.ndindex(*index.shape):
        at = [a + int(j[i]) - p for a, j, (p, _) in zip(i, places, second)]
        if all(0 <= a < extent for a, extent in zip(at, X.shape)):
            y[i] = X[tuple(at)]
            if all(j[i] < f for j, f in zip(places, read)):
                z[tuple(at)] += v[i]
    pads = "[" + ",".join(f"({p},{q})" for p, q in second) + "]"
    found = run(tool, tmp_path, document.replace("INDEX", str(list(index.shape))).replace("READ", pads), {"x": X, "v": v})
    assert_all(found, {"index": renumbered(index, made, common), "y": y, "z": z})


# ---- names ----

NAMES = """version 1.0
graph yield( integer, integer_2, extension ) -> ( version, version_2, y )
{
    integer = external(shape = [2])
    integer_2 = external(shape = [2])
    extension = external(shape = [2])
    yield_2 = integer_2 - extension
    version = integer * 2.0
    version_2 = integer_2 * 3.0
    y = yield_2
}
"""


def test_names_are_those_of_the_document(tool: Nnefc, tmp_path: Path) -> None:
    inputs = {name: np.array([k, k + 0.5], np.float32) for k, name in enumerate(["integer", "integer_2", "extension"])}
    wanted = {"version": inputs["integer"] * 2, "version_2": inputs["integer_2"] * 3, "y": inputs["integer_2"] - inputs["extension"]}
    assert_all(run(tool, tmp_path, NAMES, inputs), wanted)
    told = tool.must("inspect", tmp_path)
    assert "integer_3" not in told and " integer" in told


@pytest.mark.parametrize("command", ["expand", "upgrade"])
def test_printed_names_do_not_collide(tool: Nnefc, tmp_path: Path, command: str) -> None:
    (tmp_path / "net.nnef").write_text(NAMES)
    (tmp_path / "new").mkdir()
    tool.must(command, tmp_path / "net.nnef", "-o", tmp_path / "new" / "graph.nnef")
    assert "integer_3, integer_2, extension_2 ) -> ( version_3, version_2, y )" in (tmp_path / "new" / "graph.nnef").read_text()
    values = {"integer_3": [1.0, 2.0], "integer_2": [3.0, 4.0], "extension_2": [5.0, 6.0]}
    given: list[object] = []
    for name, value in values.items():
        np.save(tmp_path / f"{name}.npy", np.array(value, np.float32))
        given += ["--input", f"{name}={tmp_path / f'{name}.npy'}"]
    found = tool.run(tmp_path / "new", *given)
    assert found["version_3"].tolist() == [2.0, 4.0] and found["version_2"].tolist() == [9.0, 12.0] and found["y"].tolist() == [-2.0, -2.0]


# ---- labels ----

def test_labels_are_taken_as_they_are_written(tool: Nnefc, tmp_path: Path) -> None:
    document = """version 1.0
graph net( x ) -> ( y, z, w )
{
    x = external(shape = [2])
    a = variable(shape = [2], label = 'w')
    b = variable(shape = [2,1], label = 'W')
    c = variable(shape = [2,1], label = 'a b/c: d')
    d = variable(shape = [2], label = 'a b/c: d')
    u = update(d, x + 1.0)
    y = x * a
    z = b - c
    w = c + d
}
"""
    values = {"w": [1.0, 2.0], "W": [3.0, 5.0], "a b/c: d": [7.0, 11.0]}
    for label, value in values.items():
        write_dat(tmp_path / f"{label}.dat", np.array(value), "P")
    x = np.array([0.5, 0.25], np.float32)
    assert_all(run(tool, tmp_path, document, {"x": x}), {"y": x * [1, 2], "z": np.array([[-4.0], [-6.0]]), "w": np.array([[14.0], [22.0]])})


def test_a_constant_in_the_quantization_file(tool: Nnefc, tmp_path: Path) -> None:
    """P 7.1: ranges for each channel; the items of the tensor file are read with them."""
    document = "version 1.0\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1,3])\n" \
        "    b = variable(shape = [1,3], label = 'b')\n    y = x + b\n}\n"
    (tmp_path / "graph.quant").write_text('"b": linear_quantize(min = 0.0, max = constant(shape = [1,3,1], value = [1.5, 3.0, 15.0]), bits = 4)\n')
    codes, text = [15, 5, 2], b""
    (tmp_path / "b.dat").write_bytes(b"\x4e\xef\x01\x00" + np.array([24, 2, 1, 3], "<u4").tobytes() + bytes([1, 8]) +
                                     np.array([len(text)], "<u2").tobytes() + bytes(codes))
    x = np.zeros([1, 3], np.float32)
    assert_all(run(tool, tmp_path, document, {"x": x}), {"y": np.array([[1.5, 1.0, 2.0]])})
