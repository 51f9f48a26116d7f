"""Provisional documents whose externals leave extents open (0, P 4.1.1): written with unknown extents for OpenVINO, and
run with the extents of the data; both compared with the formulas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import numpy_oracle as oracle
from models import Nnefc

pytest.importorskip("openvino")

from openvino_oracle import openvino_outputs  # noqa: E402

TEXT = """version 1.0
graph net( x, f ) -> ( strided, same, mean, peak, whole )
{
    x = external(shape = [0, 3, 0, 0])
    f = external(shape = [4, 3, 3, 2])
    strided = conv(x, f, 0.5, stride = [3, 2], border = 'constant')
    same = conv(x, f, 0.0, border = 'constant')
    mean = avg_pool(x, size = [1, 1, 3, 2], stride = [1, 1, 2, 2], border = 'ignore')
    peak = max_pool(relu(x), size = [1, 1, 3, 3], stride = [1, 1, 2, 1], border = 'constant')
    whole = mean_reduce(x, axes = [2, 3])
}
"""
PADDED = """version 1.0
graph net( x ) -> ( y )
{
    x = external(shape = [1, 2, 0, 0])
    y = max_pool(x, size = [1, 1, 3, 3], stride = [1, 1, 2, 2], border = 'replicate')
}
"""
SHAPES = [(1, 3, 9, 7), (2, 3, 8, 12), (3, 3, 5, 5)]


def formulas(x: np.ndarray, f: np.ndarray) -> dict[str, np.ndarray]:
    return {"strided": oracle.conv(x, f, 0.5, stride=[3, 2]),
            "same": oracle.conv(x, f),
            "mean": oracle.pool(x, "avg", [1, 1, 3, 2], "ignore", stride=[1, 1, 2, 2]),
            "peak": oracle.pool(np.maximum(x, 0), "max", [1, 1, 3, 3], "constant", stride=[1, 1, 2, 1]),
            "whole": x.mean((2, 3), keepdims=True)}


@pytest.fixture(scope="module")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("open_extents"))


@pytest.fixture(scope="module")
def written(tool: Nnefc) -> tuple[Path, Path]:
    """Returns the document, and the IR written from it."""
    document, xml = tool.scratch / "net.nnef", tool.scratch / "net.xml"
    document.write_text(TEXT)
    tool.must("compile", document, "-o", xml, "--verify")
    return document, xml


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_extents_come_with_the_data(tool: Nnefc, written: tuple[Path, Path], shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(sum(shape))
    inputs = {"x": random.standard_normal(shape).astype(np.float32),
              "f": random.standard_normal((4, 3, 3, 2)).astype(np.float32)}
    expected = formulas(**inputs)
    np.savez(tool.scratch / "inputs.npz", **inputs)
    for model in written:
        for backend in ("reference", "fast"):
            found = tool.run(model, "--inputs", tool.scratch / "inputs.npz", "--backend", backend)
            assert found.keys() == expected.keys()
            for name, value in found.items():
                np.testing.assert_allclose(value, expected[name], rtol=1e-4, atol=1e-5, err_msg=f"{model.name} {name}")
    for value, (name, formula) in zip(openvino_outputs(written[1], inputs), expected.items()):
        np.testing.assert_allclose(value, formula, rtol=1e-4, atol=1e-5, err_msg=f"OpenVINO {name}")


def test_padding_beforehand_needs_the_extents(tool: Nnefc) -> None:
    """A border other than zeros needs padding with numbers that depend on the extents."""
    document = tool.scratch / "padded.nnef"
    document.write_text(PADDED)
    refused = tool.call("compile", document)
    assert refused.returncode == 1 and "[lower.unknown-extent]" in refused.stderr and "along axis 2" in refused.stderr
    x = np.random.default_rng(3).standard_normal((1, 2, 6, 7)).astype(np.float32)
    np.save(tool.scratch / "x.npy", x)
    found = tool.run(document, "--input", f"x={tool.scratch / 'x.npy'}")
    expected = oracle.pool(x, "max", [1, 1, 3, 3], "replicate", stride=[1, 1, 2, 2])
    np.testing.assert_allclose(found["y"], expected, rtol=1e-6)


@pytest.mark.parametrize("lists", ["stride = [1,1,3,2]", "stride = [1,1,2,2], padding = [(0,0),(0,0),(0,1)]"])
def test_padding_that_waits_for_the_extents(tool: Nnefc, lists: str) -> None:
    """P 4.3: if the window is smaller than its stride, or padding is given for part of the axes, the automatic padding
    may be negative; the document is valid and has no graph before its extents are known (3.3.4)."""
    document = tool.scratch / "waits.nnef"
    document.write_text(f"version 1.0\ngraph net( x ) -> ( y ) {{\n    x = external(shape = [1,1,0,0])\n"
                        f"    y = max_pool(x, size = [1,1,2,1], {lists})\n}}\n")
    assert tool.call("check", document).stderr == ""
    refused = tool.call("compile", document)
    assert refused.returncode == 1 and "[lower.unknown-extent]" in refused.stderr and "`--input-shape`" in refused.stderr
    tool.must("compile", document, "--input-shape", "x=1,1,4,4")


def test_data_keep_what_the_document_says(tool: Nnefc, written: tuple[Path, Path]) -> None:
    np.savez(tool.scratch / "wrong.npz", x=np.zeros((1, 4, 9, 7), np.float32), f=np.zeros((4, 3, 3, 2), np.float32))
    for model in written:
        refused = tool.call("run", model, "--inputs", tool.scratch / "wrong.npz")
        assert refused.returncode == 1 and "[1,4,9,7]" in refused.stderr and "[?,3,?,?]" in refused.stderr
