"""`nnefc convert --fragments`: the documents of networks become shorter, are accepted by Khronos' parser, expand to the operations of the
flat documents, and compute the same bits; tract reads them, too."""

from __future__ import annotations

import collections
import re
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

nnef = pytest.importorskip("nnef")

NETWORKS = Path(__file__).resolve().parents[2] / "networks"


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("fragments"))


def operations(text: str) -> collections.Counter[str]:
    """Returns the operations of a flat document without the names of their tensors, but with their attributes."""
    found: collections.Counter[str] = collections.Counter()
    for statement in re.findall(r"^    (?:\w|\[)[^;]*;", text, re.MULTILINE):
        call = " ".join(statement.split()).partition(" = ")[2]
        name, _, arguments = call.partition("(")
        attributes = re.findall(r"\w+ = (?:\[.*?\](?=[,)])|[^,)]+)", arguments)
        found[f"{name} {arguments.count(',')} {sorted(attributes)}"] += 1
    return found


@pytest.mark.parametrize("name", ["resnet50", "mobilenetv2"])
def test_networks(tool: Nnefc, tmp_path: Path, name: str) -> None:
    tool.must("compile", NETWORKS / f"{name}.nnef", "--random-weights", "1", "-o", tmp_path / "net.xml")
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "flat", "--compare-outputs", "never")
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "short", "--compare-outputs", "never", "--fragments")
    flat, short = ((tmp_path / folder / "graph.nnef").read_text() for folder in ("flat", "short"))
    assert short.count("\nfragment ") > 0 and len(short.splitlines()) < len(flat.splitlines()) and len(short) < len(flat)
    tool.must("check", tmp_path / "short", "--strict")
    nnef.parse_file(str(tmp_path / "short" / "graph.nnef"))
    expanded = tool.must("expand", tmp_path / "short")
    assert "fragment" not in expanded and operations(expanded) == operations(flat)
    found, expected = (tool.run(tmp_path / folder, "--random-inputs", "1") for folder in ("short", "flat"))
    assert list(found) == list(expected)
    for key, value in expected.items():
        np.testing.assert_array_equal(found[key], value)


def test_tract_reads_fragments(tool: Nnefc, tmp_path: Path) -> None:
    tract = pytest.importorskip("tract")
    tool.must("compile", NETWORKS / "mobilenetv2.nnef", "--random-weights", "1", "-o", tmp_path / "net.xml")
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "model", "--compare-outputs", "never", "--fragments", "--target", "tract")
    assert "\nfragment " in (tmp_path / "model" / "graph.nnef").read_text()
    x = np.random.default_rng(1).normal(size=(1, 3, 224, 224)).astype(np.float32)
    found = tract.nnef().with_onnx().load(str(tmp_path / "model")).into_runnable().run([x])
    np.savez(tmp_path / "x.npz", input=x)
    expected = tool.run(tmp_path / "model", "--inputs", tmp_path / "x.npz")
    for one, other in zip(found, expected.values(), strict=True):
        np.testing.assert_allclose(one.to_numpy(), other, rtol=1e-4, atol=1e-4 * np.abs(other).max())


def test_names_that_conflict(tool: Nnefc, tmp_path: Path) -> None:
    """Tensors are called as the fragment, its parameters and its tensors would be."""
    names = ["tanh_add_relu_block", "output", "tanh_1", "x", "conv", "y"]
    lines, last = [], "input"
    for place, name in enumerate(names):
        lines += [f"    a{place} = tanh({last});", f"    b{place} = add(a{place}, {last});", f"    {name} = relu(b{place});"]
        last = name
    text = "\n".join(["version 1.0;", "graph tanh_add_relu_block( input ) -> ( y )", "{", "    input = external<scalar>(shape = [2, 3]);",
                      *lines, "}", ""])
    (tmp_path / "net.nnef").write_text(text)
    tool.must("convert", tmp_path / "net.nnef", "-o", tmp_path / "short.nnef", "--fragments", "--compare-outputs", "always")
    short = (tmp_path / "short.nnef").read_text()
    assert short.count("tanh_add_relu_block_2(") == 1 + len(names), short
    nnef.parse_file(str(tmp_path / "short.nnef"))
    assert operations(tool.must("expand", tmp_path / "short.nnef")) == operations(text.replace("<scalar>", ""))
