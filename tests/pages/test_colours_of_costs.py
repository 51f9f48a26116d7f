"""The colours of operations by their costs, with the amounts as text."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT, violations
from contrast import contrast

MOBILENET = ROOT / "tests" / "networks" / "mobilenetv2.nnef"

# Matrix multiplications of 1,000 multiply-accumulates in all: 20 % and 5 % and 1 % of them, and one less.
SIZES = {"a": 200, "b": 199, "c": 50, "d": 49, "e": 10, "f": 9, "g": 483}
LEVELS = {"a": 4, "b": 3, "c": 3, "d": 2, "e": 2, "f": 1, "g": 4}


@pytest.fixture
def products(tmp_path):
    lines = "".join(f"    {name}x = external<scalar>(shape = [1, {size}]);\n    {name} = matmul({name}x, {name}w);\n"
                    .replace(f"    {name} =", f"    {name}w = external<scalar>(shape = [{size}, 1]);\n    {name} =") for name, size in SIZES.items())
    inputs = ", ".join(f"{name}x, {name}w" for name in SIZES)
    path = tmp_path / "net.nnef"
    path.write_text(f"version 1.0;\ngraph net({inputs}) -> ({', '.join(SIZES)}, z)\n{{\n{lines}    z = relu(a);\n}}\n")
    return path


def test_levels_are_shares_of_the_whole(draw, products):
    drawing = draw(products, "--costs")
    assert drawing.page.locator("#canvas g[class*=level]").count() == 0
    assert drawing.page.locator("#legend").is_hidden()
    drawing.page.select_option("#measure", "macs")
    for name, size in SIZES.items():
        item = drawing.page.locator(f"#canvas g[role=button][aria-label^='MatMul, {name},']")
        assert re.search(r"level(\d)", item.get_attribute("class"))[1] == str(LEVELS[name]), name
        text = f"{size} MACs ({size / 10:.2g} %)"
        assert text in item.locator("text").all_text_contents()
        assert item.get_attribute("aria-label").endswith(text)
    assert "level" not in drawing.item("ReLU").get_attribute("class"), "it has no multiply-accumulates"
    legend = drawing.page.locator("#legend")
    assert legend.inner_text().split("\n") == ["Share of 1.00 k MACs of the graph:", "below 1 %", "from 1 %", "from 5 %", "from 20 %"]
    assert drawing.overlaps() == []
    colours = [legend.locator(f".level{level}").evaluate("(swatch) => getComputedStyle(swatch).backgroundColor") for level in (1, 2, 3, 4)]
    boxes = [drawing.page.locator(f"#canvas g.level{level} > .box").first.evaluate("(box) => getComputedStyle(box).fill") for level in (1, 2, 3, 4)]
    assert colours == boxes and len(set(colours)) == 4
    drawing.page.select_option("#measure", "")
    assert drawing.page.locator("#canvas g[class*=level]").count() == 0
    assert legend.is_hidden()


@pytest.mark.parametrize("measure", ["macs", "parameters", "parameter_bytes", "output_bytes"])
def test_folded_groups_have_the_sum(draw, described, measure):
    drawing = draw(MOBILENET, "--costs")
    drawing.page.select_option("#measure", measure)
    drawing.page.click("#fold")
    total = sum(node.get(measure, 0) for node in described(MOBILENET, "--costs")["graph"]["nodes"])
    assert total > 0
    shares = [float(found[1]) for label in drawing.labels() if (found := re.search(r"\(([\d.e-]+) %\)", label))]
    assert sum(shares) == pytest.approx(100, abs=3), "each share has two digits"
    assert drawing.overlaps() == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400)])
def test_accessibility(draw, products, scheme, width):
    """Texts on coloured boxes have a contrast of at least 4.5; axe-core does not examine SVG."""
    drawing = draw(products, "--costs", scheme=scheme, width=width)
    drawing.page.select_option("#measure", "macs")
    assert violations(drawing.page) == []
    assert not drawing.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    for level in (1, 2, 3, 4):
        box = drawing.page.locator(f"#canvas g.level{level}").first
        fill = box.locator(".box").evaluate("(box) => getComputedStyle(box).fill")
        for text in box.locator("text").all():
            assert contrast(text.evaluate("(text) => getComputedStyle(text).fill"), fill) >= 4.5
