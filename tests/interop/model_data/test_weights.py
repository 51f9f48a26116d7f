"""The rule for random values: its vectors, its statistics, and the files with them."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import nnef
import numpy as np
import pytest

import flat
import make_weights
from make_weights import Tensor

VECTORS = json.loads((Path(make_weights.__file__).parent / "weights_vectors.json").read_text())

GRAPH = """version 1.0;

graph test( input ) -> ( output )
{
    input = external(shape = [2, 3, 8, 8]);
    filter = variable(shape = [16, 3, 3, 3], label = 'Conv/filter');
    again = variable(shape = [16, 3, 3, 3], label = 'conv/Filter');
    bias = variable(shape = [1, 16], label = 'conv/bias');
    scale = variable(shape = [1, 16], label = 'norm/scale');
    variance = variable(shape = [1, 16], label = 'norm/variance');
    filtered = conv(input, filter, bias);
    output = batch_normalization(filtered, 0.0, variance, offset = bias, scale = scale, epsilon = 0.1);
}
"""


def key_of(vector: dict) -> str:
    external = vector["role"] == "data"
    return (make_weights.external_key if external else make_weights.variable_key)(vector["name"])


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v['name']}-{v['seed']}")
def test_vectors(vector: dict) -> None:
    tensor = Tensor(vector["name"], key_of(vector), tuple(vector["shape"]), vector["type"],
                    vector["role"])
    first = next(make_weights.generate(tensor, vector["seed"]))[:4]
    if vector["type"] == "scalar":
        assert [f"{bits:08x}" for bits in first.view(np.uint32)] == vector["first"]
    else:
        assert first.tolist() == vector["first"]


def test_chunks_continue() -> None:
    """The boundaries of chunks do not change the values."""
    tensor = Tensor("t", "t", (make_weights.CHUNK + 5,), "scalar", "data")
    state = make_weights.stream_key(3, "t")
    tail = list(make_weights.generate(tensor, 3))[1]
    expected = make_weights.values(make_weights.words(state, make_weights.CHUNK, 5), tensor)
    assert tail.tobytes() == expected.tobytes()


@pytest.mark.parametrize("role, mean, deviation", [
    ("data", 0.0, 1.0), ("bias", 0.0, 0.01), ("mean", 0.0, 0.1), ("offset", 0.0, 0.1),
    ("variance", 1.0, 12**-0.5), ("scale", 1.0, 0.4 * 12**-0.5), ("filter", 0.0, (2 / 50) ** 0.5),
])
def test_statistics(role: str, mean: float, deviation: float) -> None:
    items = next(make_weights.generate(Tensor("t", "t", (2000, 50), "scalar", role), 1))
    assert abs(items.mean() - mean) < 0.02 * deviation
    assert abs(items.std() / deviation - 1.0) < 0.01


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "test.nnef"
    path.write_text(GRAPH)
    return path


def test_roles_and_labels(document: Path) -> None:
    """The first use decides the role; labels that differ in case share their data."""
    made = make_weights.tensors(flat.parse_flat_file(document), {})
    assert [(tensor.name, tensor.role) for tensor in made] == [
        ("input", "data"), ("Conv/filter", "filter"), ("conv/bias", "bias"), ("norm/scale", "scale"),
        ("norm/variance", "variance")]


def test_files_are_read_elsewhere(document: Path, tmp_path: Path) -> None:
    made = make_weights.make_model(document, tmp_path / "model", seed=5)
    for tensor in made:
        with open(tmp_path / "model" / f"{tensor.name}.dat", "rb") as file:
            stored = nnef.read_tensor(file)
        assert stored.shape == tensor.shape
        expected = np.concatenate(list(make_weights.generate(tensor, 5)))
        assert stored.astype(np.float32).tobytes() == expected.tobytes()


def test_layouts_differ_in_their_headers_only(document: Path, tmp_path: Path) -> None:
    make_weights.make_model(document, tmp_path / "r")
    make_weights.make_model(document, tmp_path / "p", provisional=True)
    for path in (tmp_path / "r").rglob("*.dat"):
        ratified = path.read_bytes()
        provisional = (tmp_path / "p" / path.relative_to(tmp_path / "r")).read_bytes()
        rank = int.from_bytes(provisional[8:12], "little")
        assert provisional[16 + 4 * rank:] == ratified[128:]
        assert int.from_bytes(provisional[4:8], "little") == 16 + 4 * rank


def test_archive(document: Path, tmp_path: Path) -> None:
    make_weights.make_model(document, tmp_path / "model", shapes={"input": [1, 3, 4, 4]})
    make_weights.pack(tmp_path / "model", tmp_path / "model.tgz")
    with tarfile.open(tmp_path / "model.tgz") as tar:
        names = tar.getnames()
    assert names[0] == "graph.nnef" and "Conv/filter.dat" in names
    assert (tmp_path / "model/input.dat").stat().st_size == 128 + 4 * 48
