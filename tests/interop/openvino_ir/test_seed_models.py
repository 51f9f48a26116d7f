"""Models after the documentation of If-8 and TensorIterator-1: valid ones yield the numbers of their formulas in nnefc,
in OpenVINO where it follows the documentation, and after `compile` wrote them again; invalid ones are rejected by
the layer's name."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

pytest.importorskip("openvino")

import seed_again_cases  # noqa: E402, F401
import seed_api_cases  # noqa: E402, F401
import seed_if_cases  # noqa: E402, F401
import seed_iterator_cases  # noqa: E402, F401
import seed_nested_cases  # noqa: E402, F401
import seed_refusals  # noqa: E402, F401
from ir_builder import Graph  # noqa: E402
from openvino_oracle import openvino_outputs  # noqa: E402
from seed_models import CASES, DISPUTED, REFUSED, Case, Refusal  # noqa: E402


@pytest.fixture
def program(nnefc: Path, tmp_path: Path) -> Nnefc:
    return Nnefc(nnefc, tmp_path)


def assert_expected(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.shape == other.shape and one.dtype == other.dtype, (one, other)
        if np.issubdtype(other.dtype, np.floating):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(one, other)


def results(program: Nnefc, path: Path, made: Case | Refusal, backend: str) -> list[np.ndarray]:
    inputs = path.with_name("inputs.npz")
    np.savez(inputs, **made.inputs)
    return list(program.run(path, "--inputs", inputs, "--backend", backend).values())


@pytest.mark.parametrize("name", CASES)
def test_right(program: Nnefc, tmp_path: Path, name: str) -> None:
    made = CASES[name]()
    path = made.save(tmp_path / "net.xml")
    for backend in ("reference", "fast"):
        assert_expected(results(program, path, made, backend), made.expected)
    if made.openvino == "both":
        assert_expected(openvino_outputs(path, made.inputs), made.expected)


@pytest.mark.parametrize("name", CASES)
def test_written_again(program: Nnefc, tmp_path: Path, name: str) -> None:
    made, again = CASES[name](), tmp_path / "again.xml"
    program.must("compile", made.save(tmp_path / "net.xml"), "-o", again)
    assert_expected(results(program, again, made, "reference"), made.expected)
    if made.openvino != "none":
        assert_expected(openvino_outputs(again, made.inputs), made.expected)


@pytest.mark.parametrize("name", CASES)
def test_unrolled(program: Nnefc, tmp_path: Path, name: str) -> None:
    """Unrolled loops against the formula, and in OpenVINO, which supports all of them then."""
    made, again = CASES[name](), tmp_path / "again.xml"
    path = made.save(tmp_path / "net.xml")
    if not re.search('type="(TensorIterator|Loop)"', path.read_text()):
        pytest.skip("no loop")
    unrolling = program.with_transformations("middle.UnrollLoops")
    unrolling.must("compile", path, "-o", again)
    for backend in ("reference", "fast"):
        assert_expected(results(unrolling, path, made, backend), made.expected)
    assert_expected(results(program, again, made, "reference"), made.expected)
    if made.openvino != "none" or not re.search('type="(TensorIterator|Loop)"', again.read_text()):
        assert_expected(openvino_outputs(again, made.inputs), made.expected)


def printed_layer(text: str) -> str:
    """Returns the complete TensorIterator of the documentation's text, with a name and a version where it omits them."""
    layer = re.findall(r'<layer type="TensorIterator" \.\.\.>.*?</body>\s*</layer>', text, re.DOTALL)[-1]
    names = iter(range(1000))
    return re.sub(r" \.\.\.>", lambda _: f' name="printed{next(names)}" version="opset1">', layer)


def test_printed_text(program: Nnefc, tmp_path: Path, shared_data: Path) -> None:
    """The layer as in the documentation, with three Parameters before it and a Result after it."""
    pages = sorted((shared_data.parent / "seeds").glob("002*.txt"))
    if not pages:
        pytest.skip("no text of TensorIterator's documentation beside the shared data")
    made, path = CASES["complete-layer-as-printed"](), tmp_path / "net.xml"
    graph = Graph()
    ports = [graph.parameter(list(value.shape), name=name) for name, value in made.inputs.items()]
    layer = graph.add("TensorIterator", "opset1", ports, [("f32", list(made.expected[0].shape))])
    graph.result(layer[0])
    layer_text = printed_layer(pages[0].read_text()).replace("<layer ", f'<layer id="{layer.number}" ', 1)
    path.write_text(re.sub(r'<layer id="3" .*?</layer>', lambda _: layer_text, graph.net(), count=1, flags=re.DOTALL))
    weights, bias = seed_nested_cases.random_weights()
    shapes = np.array([1, 512], np.int64), np.array([1, 1, 256], np.int64)
    path.with_suffix(".bin").write_bytes(b"".join(blob.tobytes() for blob in (shapes[0], weights, bias, shapes[1])))
    for backend in ("reference", "fast"):
        assert_expected(results(program, path, made, backend), made.expected)
    again = tmp_path / "again.xml"
    program.must("compile", path, "-o", again)
    assert_expected(openvino_outputs(again, made.inputs), made.expected)


@pytest.mark.parametrize("name", DISPUTED)
def test_disputed_borders(program: Nnefc, tmp_path: Path, name: str) -> None:
    """Rejected or warned of by the layer's name; otherwise the numbers are those of the half-open formula."""
    made = DISPUTED[name]()
    path = made.save(tmp_path / "net.xml")
    done = program.call("check", path)
    assert "`loop`" in done.stderr
    if done.returncode == 0:
        assert "warning" in done.stderr
        assert_expected(results(program, path, made, "reference"), made.expected)
    else:
        assert done.returncode == 1


@pytest.mark.parametrize("name", REFUSED)
def test_wrong(program: Nnefc, tmp_path: Path, name: str) -> None:
    made = REFUSED[name]()
    path = made.save(tmp_path / "net.xml")
    inputs = tmp_path / "inputs.npz"
    np.savez(inputs, **made.inputs)
    done = program.call("run", path, "--inputs", inputs) if made.at_run else program.call("check", path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"`{made.layer}`" in done.stderr, done.stderr
    for word in made.words:
        assert word in done.stderr, done.stderr
