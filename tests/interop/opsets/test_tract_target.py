"""`nnefc convert --target tract` on each operation with a form for tract: OpenVINO computes a model of its settings, and tract
the document that it becomes, within 1e-4. Settings without a form are those of `TRACT_NO_FORM`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")
tract = pytest.importorskip("tract")
from openvino import opset8, opset13  # noqa: E402

from openvino_oracle import openvino_outputs  # noqa: E402
from opset_cases import CASES  # noqa: E402
from raised_settings import OF_TRACT, RAISED, TRACT_NO_FORM  # noqa: E402
from test_raised_operations import REFUSED, save  # noqa: E402

F32, I32, I64 = np.float32, np.int32, np.int64
RANDOM = np.random.default_rng(11)
ROWS = [row for row in CASES if row.split(".")[1] in RAISED | OF_TRACT]


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("tract_target"))


def by_tract(folder: Path, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Runs a model folder in tract. Integers of its inputs have 64 bits."""
    text = (folder / "graph.nnef").read_text()
    listed = re.search(r"graph \w+\(([^)]*)\)", text)
    assert listed
    names = [name for name in listed[1].replace(",", " ").split()]
    runnable = tract.nnef().with_onnx().load(str(folder)).into_runnable()
    wide = [inputs[name].astype(I64) if inputs[name].dtype.kind in "iu" else inputs[name] for name in names]
    return [result.to_numpy() for result in runnable.run([np.ascontiguousarray(value) for value in wide])]


def assert_same(found: list[np.ndarray], expected: list[np.ndarray], what: str) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape, what
        np.testing.assert_allclose(one.astype(other.dtype), other, rtol=1e-4, atol=1e-5, err_msg=what)


@pytest.mark.parametrize("row", ROWS)
def test_row(tool: Nnefc, tmp_path: Path, row: str) -> None:
    cases = dict(enumerate(CASES[row]))
    xml, folder = tmp_path / "net.xml", tmp_path / "model"
    _, inputs = save(row, cases, xml)
    done = tool.call("convert", xml, "-o", folder, "--target", "tract")
    refused = {int(case) for case in REFUSED.findall(done.stderr)}
    assert refused == TRACT_NO_FORM.get(row, set()), done.stderr
    if refused:
        assert done.returncode == 1 and not folder.exists()
        if len(refused) == len(cases):
            return
        _, inputs = save(row, {case: cases[case] for case in cases if case not in refused}, xml)
        tool.must("convert", xml, "-o", folder, "--target", "tract")
    else:
        assert done.returncode == 0, done.stderr
    assert_same(by_tract(folder, inputs), openvino_outputs(xml, inputs), row)


def test_the_settings_name_rows_with_cases() -> None:
    assert set(TRACT_NO_FORM) <= set(ROWS)
    assert all(max(refused) < len(CASES[row]) for row, refused in TRACT_NO_FORM.items())


# ---- models ----

Model = tuple[object, dict[str, np.ndarray]]
MODELS: dict[str, Callable[[], Model]] = {}


def model(function: Callable[[], Model]) -> Callable[[], Model]:
    MODELS[function.__name__] = function
    return function


def floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(F32)


def integers() -> dict[str, np.ndarray]:
    """Returns pairs of all signs, also such that products and sums exceed 32 bits."""
    x = np.array([[7, -7, 7, -7, 0, 6], [2**31 - 1, -(2**31), 2**31 - 1, 65537, -(2**31), 1]], I32)
    y = np.array([[3, 3, -3, -3, 5, -3], [2, 1, 1, 65537, -1, 1]], I32)
    return {"x": x, "y": y}


def parameters(inputs: dict[str, np.ndarray]) -> list[object]:
    return [opset8.parameter(value.shape, value.dtype, name=name) for name, value in inputs.items()]


@model
def arithmetic_on_integers() -> Model:
    inputs = integers()
    x, y = given = parameters(inputs)
    divisors = np.array([[3, 3, -3, -3, 5, -3], [2, 1, 7, 65537, -1, -8]], I32)
    small = opset8.clamp(x, -1000.4, 1000.6)
    results = [opset8.add(x, y), opset8.subtract(x, y), opset8.multiply(x, y), opset8.multiply(small, small), opset8.maximum(x, y), opset8.minimum(x, y),
               opset8.floor_mod(small, divisors), opset8.mod(small, divisors), opset8.divide(small, divisors), opset8.squared_difference(small, y), small,
               opset8.negative(small), opset8.abs(small), opset8.sign(x), opset8.reduce_sum(small, 1), opset8.reduce_max(small, 1),
               opset8.reduce_min(small, 1, keep_dims=True), opset8.reduce_prod(y, 1)]
    return ov.Model(results, given, "integers"), inputs


def comparison_of_large_integers() -> Model:
    inputs = {"x": np.array([2**24, 2**24 + 1, -(2**24) - 1], I32), "y": np.array([2**24 + 1, 2**24 + 1, -(2**24)], I32)}
    x, y = given = parameters(inputs)
    results = [opset8.less(x, y), opset8.less_equal(x, y), opset8.equal(x, y), opset8.not_equal(x, y), opset8.greater(x, y),
               opset8.greater_equal(x, y)]
    return ov.Model(results, given, "order"), inputs


@model
def bits_of_integers() -> Model:
    inputs = {"x": np.array([0, 1, -1, 255, -256, 2**31 - 1], I32), "y": np.array([3, -1, 255, 15, 7, -(2**31)], I32)}
    x, y = given = parameters(inputs)
    results = [opset13.bitwise_and(x, y), opset13.bitwise_or(x, y), opset13.bitwise_xor(x, y), opset13.bitwise_not(x)]
    return ov.Model(results, given, "bits"), inputs


@model
def transposed_convolutions() -> Model:
    """Windows that overlap, touch, and have gaps: tract has automatic padding for the first alone."""
    inputs = {"x": floats(1, 2, 3, 4)}
    (x,) = given = parameters(inputs)
    results = []
    for size, stride, extra in [(1, 1, 0), (2, 2, 0), (1, 2, 1), (2, 3, 1), (4, 2, 0), (3, 2, 0)]:
        results.append(opset8.convolution_backprop_data(x, opset8.constant(floats(2, 3, size, size)), strides=[stride, stride],
                                                        output_padding=[extra, extra]))
    return ov.Model(results, given, "windows"), inputs


@model
def gather_by_data() -> Model:
    inputs = {"x": floats(5, 4), "index": np.array([[0, 4, 2], [-1, -5, 3]], I64)}
    x, index = given = parameters(inputs)
    return ov.Model([opset8.gather(x, index, np.array(0))], given, "embedding"), inputs


@model
def conversions() -> Model:
    inputs = {"x": np.array([-2.7, -2.5, -0.5, 0.0, 0.5, 2.5, 2.7], F32), "b": np.array([True, False])}
    x, b = given = parameters(inputs)
    results = [opset8.convert(x, "i32"), opset8.convert(x, "i64"), opset8.convert(x, "boolean"), opset8.convert(b, "f32"),
               opset8.convert(b, "i64"), opset8.convert(opset8.convert(x, "i64"), "f32")]
    return ov.Model(results, given, "types"), inputs


@model
def softplus_of_large_values() -> Model:
    inputs = {"x": np.array([-200, -20, 0, 20, 200], F32)}
    (x,) = given = parameters(inputs)
    return ov.Model([opset8.softplus(x), opset8.mish(x), opset8.selu(x, np.array(1.6, F32), np.array(1.05, F32))], given, "soft"), inputs


@model
def attention() -> Model:
    inputs = {"x": floats(1, 6, 8)}
    (x,) = given = parameters(inputs)
    q, k, v = (opset8.matmul(x, floats(8, 8), False, False) for _ in range(3))
    share = opset8.softmax(opset8.multiply(opset8.matmul(q, k, False, True), np.array(0.35, F32)), 2)
    mixed = opset8.gelu(opset8.matmul(share, v, False, False), "erf")
    return ov.Model([opset8.add(x, mixed)], given, "attention"), inputs


@model
def image() -> Model:
    inputs = {"x": floats(1, 3, 16, 16)}
    (x,) = given = parameters(inputs)
    filtered = opset8.convolution(x, floats(8, 3, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1])
    biased = opset8.relu(opset8.add(filtered, floats(1, 8, 1, 1)))
    pooled = opset8.avg_pool(biased, [2, 2], [0, 0], [0, 0], [2, 2], True)
    flat = opset8.reshape(pooled, np.array([1, -1]), False)
    return ov.Model([opset8.matmul(flat, floats(128, 5), False, False)], given, "image"), inputs


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("half", [False, True], ids=["f32", "f16_weights"])
def test_model(tool: Nnefc, tmp_path: Path, name: str, half: bool) -> None:
    net, inputs = MODELS[name]()
    xml, folder = tmp_path / "net.xml", tmp_path / "model"
    ov.save_model(net, xml, compress_to_fp16=half)
    tool.must("convert", xml, "-o", folder, "--target", "tract", "--compare-outputs", "always")
    assert_same(by_tract(folder, inputs), openvino_outputs(xml, inputs), name)


# ---- symbols ----

def parameter(name: str, *shape: int, dtype: type = F32) -> object:
    return opset8.parameter(ov.PartialShape(list(shape)), dtype, name=name)


def open_mlp() -> object:
    x = parameter("x", -1, 6)
    hidden = opset8.relu(opset8.add(opset8.matmul(x, floats(6, 8), False, False), floats(1, 8)))
    return ov.Model([opset8.softmax(opset8.matmul(hidden, floats(8, 3), False, False), 1)], [x], "mlp")


def open_attention() -> object:
    x, bias = parameter("x", -1, -1, 8), parameter("bias", 1, 1, -1)
    split = opset8.transpose(opset8.reshape(x, np.array([0, 0, 2, 4]), True), np.array([0, 2, 1, 3]))
    scores = opset8.matmul(split, split, False, True)
    mixed = opset8.matmul(opset8.softmax(opset8.add(scores, bias), 3), split, False, False)
    return ov.Model([opset8.reshape(opset8.transpose(mixed, np.array([0, 2, 1, 3])), np.array([0, 0, 8]), True)], [x, bias], "attention")


def open_token() -> object:
    """A token before the others, and sections whose bounds depend on the extent."""
    x = parameter("x", -1, 5, 4)
    count = opset8.gather(opset8.shape_of(x), np.array([0]), np.array(0))
    shape = opset8.concat([count, np.array([1, 4], I64)], 0)
    token = opset8.broadcast(floats(1, 1, 4), shape)
    return ov.Model([opset8.concat([token, x], 1)], [x], "token")


@pytest.mark.parametrize(("net", "shapes"), [
    (open_mlp, [{"x": (1, 6)}, {"x": (5, 6)}]),
    (open_attention, [{"x": (1, 3, 8), "bias": (1, 1, 3)}, {"x": (2, 7, 8), "bias": (1, 1, 7)}]),
    (open_token, [{"x": (1, 5, 4)}, {"x": (3, 5, 4)}])], ids=["mlp", "attention", "token"])
def test_open_extents_are_symbols(tool: Nnefc, tmp_path: Path, net: Callable[[], object], shapes: list[dict[str, tuple]]) -> None:
    xml, folder = tmp_path / "net.xml", tmp_path / "model"
    ov.save_model(net(), xml, compress_to_fp16=False)
    tool.must("convert", xml, "-o", folder, "--target", "tract")
    assert "extension tract_symbol N" in (folder / "graph.nnef").read_text()
    for each in shapes:
        inputs = {name: floats(*shape) for name, shape in each.items()}
        expected = openvino_outputs(xml, inputs)
        assert_same(by_tract(folder, inputs), expected, str(each))
        np.savez(tmp_path / "io.npz", **inputs)
        found = tool.run(folder, "--inputs", tmp_path / "io.npz")
        assert_same(list(found.values()), expected, str(each))


def test_an_extent_without_a_symbol(tool: Nnefc, tmp_path: Path) -> None:
    """A constant has as many elements as the input."""
    x = parameter("x", 1, 3, -1)
    count = opset8.gather(opset8.shape_of(x), np.array(2), np.array(0))
    numbers = opset8.convert(opset8.range(np.array(0, I64), count, np.array(1, I64)), "f32")
    ov.save_model(ov.Model([opset8.add(x, numbers)], [x], "numbers"), tmp_path / "net.xml")
    done = tool.call("convert", tmp_path / "net.xml", "-o", tmp_path / "model", "--target", "tract")
    assert done.returncode == 1 and "no symbols stand for them; set them by `--input-shape x=..` [raise.open-extent]" in done.stderr
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "model", "--target", "tract", "--input-shape", "x=1,3,9")
    inputs = {"x": floats(1, 3, 9)}
    assert_same(by_tract(tmp_path / "model", inputs), openvino_outputs(tmp_path / "net.xml", inputs), "9")


def test_comparison_of_large_integers(tool: Nnefc, tmp_path: Path) -> None:
    """NumPy's results: OpenVINO compares integers as scalars."""
    net, inputs = comparison_of_large_integers()
    ov.save_model(net, tmp_path / "net.xml")
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "model", "--target", "tract")
    x, y = inputs["x"], inputs["y"]
    assert_same(by_tract(tmp_path / "model", inputs), [x < y, x <= y, x == y, x != y, x > y, x >= y], "order")


@pytest.mark.parametrize("is_result", [True, False])
def test_small_results_of_sigmoid(tool: Nnefc, tmp_path: Path, is_result: bool) -> None:
    """A sigmoid that is a result, here as another shape, is exact to a part of itself. tract's own one is exact to a part of 1."""
    values = np.array([[-200, -88, -30, -20, -15, -10], [-5, -1, 0, 1, 20, 200]], F32)
    x = opset13.parameter(values.shape, F32, name="x")
    x.output(0).set_names({"x"})
    y = opset13.sigmoid(x)
    last = opset13.reshape(y, opset13.constant([3, 4], I64), False) if is_result else opset13.multiply(y, x)
    ov.save_model(ov.Model([opset13.result(last)], [x]), tmp_path / "net.xml", compress_to_fp16=False)
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "model", "--target", "tract")
    assert ("sigmoid(" in (tmp_path / "model" / "graph.nnef").read_text()) == (not is_result)
    found, = by_tract(tmp_path / "model", {"x": values})
    with np.errstate(over="ignore"):
        expected = 1 / (1 + np.exp(-values.astype(np.float64)))
    if is_result:
        np.testing.assert_allclose(found, expected.reshape(3, 4), rtol=1e-5, atol=1e-38)
    else:
        np.testing.assert_allclose(found, expected * values, rtol=0, atol=1e-4)
