"""Standard operations with another meaning in documents of tract's registries, against tract, on both backends; the
output of `expand` for them is strict and computes the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tract

from models import Nnefc

REGISTRY = "extension tract_registry tract_core;\n"
RANDOM = np.random.default_rng(5)


def write(folder: Path, shape: tuple[int, ...], statements: str, head: str = REGISTRY) -> Path:
    folder.mkdir()
    type_of = "tract_core_external(shape = {}, datum_type = 'f32')" if head else "external<scalar>(shape = {})"
    body = "\n    ".join([f"x = {type_of.format(list(shape))};", *statements.splitlines()])
    (folder / "graph.nnef").write_text(f"version 1.0;\n{head}graph net( x ) -> ( y )\n{{\n    {body}\n}}\n")
    return folder


CASES = {
    **{f"unsqueeze_{'_'.join(map(str, axes))}": ((2, 3), f"y = unsqueeze(x, axes = {axes});")
       for axes in ([0, 0], [0, 1], [1, 0], [2, 0], [1, 1], [0, 0, 1], [0, 0, 3], [2, 2, 0])},
    **{f"squeeze_{'_'.join(map(str, axes))}": ((1, 1, 3, 1, 1), f"y = squeeze(x, axes = {axes});")
       for axes in ([0, 0], [0, 1], [1, 0], [3, 3], [4, 3, 0], [0, 0, 3])},
    "deconv_by_plain_external": ((1, 2, 4, 4), "w = [[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]];\n"
                                 "y = deconv(x, w, stride = [2, 2], padding = [(0, 0), (0, 0)]);"),
    "padded_max_pool": ((1, 1, 4, 4), "z = sub(x, 9.0);\ny = max_pool(z, size = [1, 1, 3, 3], padding = [(0, 0), (0, 0), (1, 1), (1, 1)], "
                        "stride = [1, 1, 2, 2], border = 'constant');"),
    "replicated_border": ((1, 2, 3, 4), "y = pad(x, padding = [(0, 0), (0, 0), (1, 2), (0, 1)], border = 'replicated');"),
    "square": ((2, 3), "y = square(x);"),
    "relabelled_reshape": ((2, 3, 4), "y = reshape<integer>(x, shape = [-1], axis_start = 1, axis_count = 2);"),
    "relabelled_transpose": ((2, 3, 4), "y = transpose<integer>(x, axes = [2, 0, 1]);"),
}
POOLS = [
    ((2, 3, 6, 5), "[1, 1, 2, 2]", "[(0, 0), (0, 0), (0, 0), (0, 0)]", "[1, 1, 2, 2]", "[1, 1, 1, 1]"),
    ((1, 2, 7, 9), "[1, 1, 3, 3]", "[(0, 0), (0, 0), (1, 1), (1, 1)]", "[1, 1, 2, 1]", "[1, 1, 1, 1]"),
    ((1, 2, 9, 8), "[1, 1, 2, 3]", "[(0, 0), (0, 0), (0, 0), (0, 0)]", "[1, 1, 1, 2]", "[1, 1, 2, 1]"),
    ((2, 2, 11), "[1, 1, 3]", "[(0, 0), (0, 0), (1, 0)]", "[1, 1, 3]", "[1, 1, 1]"),
    ((2, 2, 5, 6), "[1, 1, 1, 1]", "[(0, 0), (0, 0), (0, 0), (0, 0)]", "[1, 1, 2, 2]", "[1, 1, 1, 1]"),
    ((2, 2, 5, 6), "[1, 1, 1, 3]", "[(0, 0), (0, 0), (0, 0), (0, 0)]", "[1, 1, 2, 1]", "[1, 1, 1, 1]"),
    ((2, 2, 5, 6), "[1, 1, 3, 1]", "[(0, 0), (0, 0), (1, 1), (0, 0)]", "[1, 1, 2, 1]", "[1, 1, 1, 1]"),
]
for number, (shape, size, padding, stride, dilation) in enumerate(POOLS):
    window = f"size = {size}, padding = {padding}, stride = {stride}, dilation = {dilation}, border = 'constant'"
    CASES[f"max_pool_with_index_{number}"] = shape, f"m, i = max_pool_with_index(x, {window});\ny = tract_core_cast(i, to = 'i64');"
    CASES[f"max_pool_with_index_value_{number}"] = shape, f"y, i = max_pool_with_index(x, {window});"


@pytest.mark.parametrize("name", CASES)
def test_meaning(name: str, nnefc: Path, tmp_path: Path) -> None:
    shape, statements = CASES[name]
    model, tool = write(tmp_path / "model", shape, statements), Nnefc(nnefc, tmp_path)
    x = RANDOM.standard_normal(shape).astype(np.float32)
    expected = tract.nnef().load(str(model)).into_runnable().run([x])[0].to_numpy()
    np.savez(tmp_path / "in.npz", x=x)
    tool.must("expand", model, "-o", tmp_path / "flat.nnef")
    tool.must("check", tmp_path / "flat.nnef", "--strict")
    for document in (model, tmp_path / "flat.nnef"):
        for backend in ("reference", "fast"):
            actual = tool.run(document, "--inputs", tmp_path / "in.npz", "--backend", backend)["y"]
            assert actual.shape == expected.shape
            np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_indices_as_torch_numbers_them(nnefc: Path, tmp_path: Path) -> None:
    """Indices in the plane of a channel, row by row: by NumPy."""
    model = write(tmp_path / "model", (2, 3, 4, 6), "m, y = max_pool_with_index(x, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], "
                  "padding = [(0, 0), (0, 0), (0, 0), (0, 0)], border = 'constant');")
    x = RANDOM.standard_normal((2, 3, 4, 6)).astype(np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    blocks = x.reshape(2, 3, 2, 2, 3, 2).transpose(0, 1, 2, 4, 3, 5).reshape(2, 3, 2, 3, 4)
    place = blocks.argmax(-1)
    rows, columns = 2 * np.arange(2)[:, None] + place // 2, 2 * np.arange(3) + place % 2
    np.testing.assert_array_equal(Nnefc(nnefc, tmp_path).run(model, "--inputs", tmp_path / "in.npz")["y"], rows * 6 + columns)


def test_indices_without_a_registry(nnefc: Path, tmp_path: Path) -> None:
    """The text of the standard numbers the positions of the window."""
    model = write(tmp_path / "model", (1, 1, 4, 4), "m, y = max_pool_with_index(x, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], "
                  "padding = [(0, 0), (0, 0), (0, 0), (0, 0)], border = 'constant');", head="")
    np.savez(tmp_path / "in.npz", x=np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
    np.testing.assert_array_equal(Nnefc(nnefc, tmp_path).run(model, "--inputs", tmp_path / "in.npz")["y"], np.full((1, 1, 2, 2), 3))


@pytest.mark.parametrize("repeats, shape", [([2, 1, 3], (2, 3)), ([2, 2, 1, 2], (3, 2)), ([3], ()), ([2, 3], (4,))])
def test_repeats_of_new_axes(repeats: list[int], shape: tuple[int, ...], nnefc: Path, tmp_path: Path) -> None:
    """The Khronos target of torch_to_nnef writes torch's repeats, which add leading axes; tract refuses them."""
    model, tool = write(tmp_path / "model", shape, f"y = tile(x, repeats = {repeats});", head=""), Nnefc(nnefc, tmp_path)
    x = RANDOM.standard_normal(shape).astype(np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    np.testing.assert_array_equal(tool.run(model, "--lenient", "--inputs", tmp_path / "in.npz")["y"], np.tile(x, repeats))
    assert tool.call("check", model, "--strict").returncode == 1


@pytest.mark.parametrize("statement, notes", [
    ("y = tile(x, repeats = [2, 1, 1]);", 1),      # a known deviation of lenient mode
    ("y = softmax(x, axes = [-1]);", 1),
    ("y = softmax(x, axes = [0], axis = 1);", 0),  # an argument that lenient mode drops may be misspelt
    ("y = softmax(z, axes = [-1]);", 0),           # another mistake as well
    ("y = softmax(x, axes = [7]);", 0),            # a mistake in either mode
])
def test_note_of_lenient_reading(statement: str, notes: int, nnefc: Path, tmp_path: Path) -> None:
    model, tool = write(tmp_path / "model", (2, 3), statement, head=""), Nnefc(nnefc, tmp_path)
    done = tool.call("check", model)
    assert done.returncode == 1
    assert done.stderr.count("`--lenient` reads it") == notes, done.stderr
    assert "`--lenient` reads it" not in tool.call("check", model, "--lenient").stderr


def test_indices_beyond_the_integers_of_f32(nnefc: Path, tmp_path: Path) -> None:
    """An odd position above 2^24 in the last of five long rows, by NumPy."""
    width, stride = 2**22, 2**21
    model = write(tmp_path / "model", (1, 1, 5, width), f"m, y = max_pool_with_index(x, size = [1, 1, 3, 3], stride = [1, 1, 2, {stride}], "
                  "padding = [(0, 0), (0, 0), (0, 0), (0, 0)], border = 'constant');")
    x = np.zeros((1, 1, 5, width), np.float32)
    expected = np.array([[[[width + 1, stride], [4 * width + 1, 3 * width + stride + 1]]]])
    x.reshape(-1)[expected] = 1
    np.savez(tmp_path / "in.npz", x=x)
    tool = Nnefc(nnefc, tmp_path)
    tool.must("expand", model, "-o", tmp_path / "flat.nnef")
    for document in (model, tmp_path / "flat.nnef"):
        found = tool.run(document, "--inputs", tmp_path / "in.npz")["y"]
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, expected)
