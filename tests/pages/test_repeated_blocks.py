"""Repeated blocks of flat documents, which drawings fold into one group."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT, nnefc, violations
from test_drawings import word_without_squares

# The operations around the blocks; documents of at most 60 items are not folded.
FILLER = ("sin", "cos", "exp")
BLOCK = ("{y}_a = leaky_relu({x}, alpha = 0.1);", "{y}_b = sigmoid({y}_a);", "{y}_c = mul({y}_b, {x});", "{y} = tanh({y}_c);")


def document(path: Path, blocks: list[tuple[str, ...]], before: int = 40, after: int = 40, extent: int = 8) -> Path:
    """A chain of operations that do not repeat, with blocks in its middle."""
    lines = [f"x0 = external<scalar>(shape = [1, {extent}]);"]
    word = word_without_squares(before + after)
    for i in range(before):
        lines.append(f"x{i + 1} = {FILLER[word[i]]}(x{i});")
    last = f"x{before}"
    for index, block in enumerate(blocks, 1):
        lines += [line.format(x=last, y=f"block{index}", first=f"x{before}") for line in block]
        last = f"block{index}"
    for i in range(after):
        lines.append(f"y{i} = {FILLER[word[before + i]]}({last});")
        last = f"y{i}"
    path.write_text(f"version 1.0;\ngraph net(x0) -> ({last})\n{{\n" + "\n".join(lines) + "\n}\n")
    return path


def repeats(drawing) -> list[tuple[int, str, str, int]]:
    """Returns the number of blocks, the first and the last operation, and the number of operations of each group of repeated blocks."""
    pattern = r"group block × (\d+): (.*) to (.*), (\d+) operations"
    return [(int(found[1]), found[2], found[3], int(found[4])) for label in drawing.labels() if (found := re.search(pattern, label))]


@pytest.mark.parametrize("count", [1, 2, 3, 12])
def test_blocks_that_occur_twice_are_a_group(draw, tmp_path, count):
    drawing = draw(document(tmp_path / "net.nnef", [BLOCK] * count))
    assert repeats(drawing) == ([] if count == 1 else [(count, "block1_a", f"block{count}", 4 * count)])
    assert drawing.overlaps() == []


CHANGES = {
    "attribute": ("{y}_a = leaky_relu({x}, alpha = 0.2);", *BLOCK[1:]),
    "operation": (*BLOCK[:3], "{y} = sigmoid({y}_c);"),
    "connection": (*BLOCK[:2], "{y}_c = mul({y}_b, {y}_a);", *BLOCK[3:]),
    "order of inputs": (*BLOCK[:2], "{y}_c = mul({x}, {y}_b);", *BLOCK[3:]),
    "literal": (*BLOCK[:2], "{y}_c = mul({y}_b, 2.0);", *BLOCK[3:]),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_differences_break_repeats(draw, tmp_path, change, place):
    """Of four blocks, one differs: the others repeat if they are neighbours."""
    blocks = [BLOCK] * 4
    blocks[place] = CHANGES[change]
    found = repeats(draw(document(tmp_path / "net.nnef", blocks)))
    expected = {0: [(3, "block2_a", "block4", 12)], 1: [(2, "block3_a", "block4", 8)], 2: [(2, "block1_a", "block2", 8)],
                3: [(3, "block1_a", "block3", 12)]}[place]
    assert found == expected


def test_shapes_are_equal_in_repeats(draw, tmp_path):
    """Each block doubles an extent, so that no block has the shapes of another."""
    block = ("{y}_a = concat([{x}, {x}], axis = 1);", "{y}_b = tanh({y}_a);", "{y}_c = relu({y}_b);", "{y} = sigmoid({y}_c);")
    same = ("{y}_a = concat([{x}, {x}], axis = 1);", "{y}_b = tanh({y}_a);", "{y}_c = relu({y}_b);",
            "{y} = slice({y}_c, axes = [1], begin = [0], end = [8]);")
    assert repeats(draw(document(tmp_path / "growing.nnef", [block] * 4))) == []
    assert repeats(draw(document(tmp_path / "same.nnef", [same] * 4))) == [(4, "block1_a", "block4", 16)]


def test_blocks_may_read_the_same_result(draw, tmp_path):
    """All blocks read the result before the first one, at other distances."""
    block = (*BLOCK[:3], "{y} = add({y}_c, {first});")
    assert repeats(draw(document(tmp_path / "net.nnef", [block] * 3))) == [(3, "block1_a", "block3", 12)]


@pytest.mark.parametrize(("before", "is_folded"), [(16, False), (17, True)])
def test_small_documents_are_not_folded(draw, tmp_path, before, is_folded):
    """With the input and the output, 60 items are shown as they are."""
    drawing = draw(document(tmp_path / "net.nnef", [BLOCK] * 5, before=before, after=22))
    assert bool(repeats(drawing)) == is_folded


@pytest.mark.parametrize(("count", "is_folded"), [(3, False), (4, True)])
def test_repeats_have_at_least_four_operations(draw, tmp_path, count, is_folded):
    drawing = draw(document(tmp_path / "net.nnef", [("{y} = relu({x});",)] * count))
    assert repeats(drawing) == ([(count, "block1", f"block{count}", count)] if is_folded else [])


def test_groups_fold_and_unfold_like_fragments(draw, tmp_path):
    drawing = draw(document(tmp_path / "net.nnef", [BLOCK] * 3))
    before = drawing.labels()
    drawing.item("group block × 3").click()
    assert "same operations, attributes, shapes and connections" in drawing.details.inner_text()
    blocks = [label for label in drawing.labels() if label.startswith("group block ") and "×" not in label]
    assert blocks == [f"group block {i}: block{i}_a to block{i}, 4 operations, folded" for i in (1, 2, 3)]
    drawing.item("group block 2: ").click()
    assert any("block2_b" in label for label in drawing.labels())
    assert not any("block1_b" in label for label in drawing.labels())
    assert drawing.overlaps() == []
    drawing.page.keyboard.press("Escape")
    drawing.page.click("#fold")
    assert drawing.labels() == before
    drawing.search("block3_b")
    drawing.page.keyboard.press("Enter")
    assert drawing.focused().startswith("sigmoid, block3_b")
    assert violations(drawing.page) == []


def test_fragments_remain(draw, tmp_path):
    """Equal fragments remain groups of their own, in a long list with a repeat."""
    text = document(tmp_path / "net.nnef", [BLOCK] * 3).read_text()
    fragment = "fragment twice(x: tensor<scalar>) -> (y: tensor<scalar>)\n{\n    a = relu(x);\n    y = sigmoid(a);\n}\n"
    text = text.replace("version 1.0;\n", "version 1.0;\nextension KHR_enable_fragment_definitions;\n" + fragment)
    text = text.replace("y0 = ", "f1 = twice(block3);\nf2 = twice(f1);\nf3 = twice(f2);\ny0 = ").replace("(block3);\ny1", "(f3);\ny1")
    (tmp_path / "net.nnef").write_text(text)
    drawing = draw(tmp_path / "net.nnef")
    assert repeats(drawing) == [(3, "block1_a", "block3", 12)]
    assert len([label for label in drawing.labels() if label.startswith("group twice: ")]) == 3


def test_resnet50(draw, tmp_path):
    """The flat document has stages of 3, 4, 6 and 3 units, of which all but the first of each stage are equal: 10 operations each."""
    nnefc("expand", ROOT / "tests" / "networks" / "resnet50.nnef", "-o", tmp_path / "flat.nnef")
    drawing = draw(tmp_path / "flat.nnef")
    assert [(count, operations) for count, _, _, operations in repeats(drawing)] == [(2, 20), (3, 30), (5, 50), (2, 20)]
    assert drawing.overlaps() == []
