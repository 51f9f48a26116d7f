"""The colours of operations by their costs, with the amounts as text."""

from __future__ import annotations

import re

import numpy as np
import openvino as ov
import openvino.opset8 as ops
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


def product(x, rows: int, columns: int, name: str):
    return ops.matmul(x, ops.constant(np.ones((rows, columns), np.float32)), False, False, name=name)


@pytest.fixture
def with_bodies(tmp_path):
    """An If of 96 + 48 or 6 multiply-accumulates for [3, 2], and a loop of 8 in each of 3 iterations."""
    x = ops.parameter([3, 2], np.float32, name="x")
    condition = ops.parameter([], bool, name="condition")
    choice = ops.if_op(condition)
    choice.set_friendly_name("choice")
    first, second = (ops.parameter([3, 2], np.float32) for _ in range(2))
    long = ov.Model([ops.result(product(product(first, 2, 16, "wide"), 16, 1, "narrow"))], [first], "long")
    short = ov.Model([ops.result(product(second, 2, 1, "short"))], [second], "short")
    choice.set_then_body(long)
    choice.set_else_body(short)
    choice.set_input(x.output(0), first, second)
    chosen = choice.set_output(long.results[0], short.results[0])
    loop = ops.tensor_iterator()
    loop.set_friendly_name("loop")
    item = ops.parameter([1, 2], np.float32)
    body = ov.Model([ops.result(product(item, 2, 4, "step"))], [item], "body")
    loop.set_body(body)
    loop.set_sliced_input(item, x.output(0), 0, 1, 1, -1, 0)
    steps = loop.get_concatenated_slices(body.results[0].output(0), 0, 1, 1, -1, 0)
    path = tmp_path / "bodies.xml"
    ov.save_model(ov.Model([ops.result(chosen), ops.result(steps)], [x, condition], "bodies"), path, compress_to_fp16=False)
    return path


def test_bodies(draw, with_bodies):
    """The shares of operations of bodies are those of one run of the body; the whole graph has all iterations."""
    drawing = draw(with_bodies, "--costs")
    page, legend = drawing.page, drawing.page.locator("#legend")
    whole = "Share of 168 MACs of the graph:"
    page.select_option("#measure", "macs")
    assert legend.inner_text().split("\n")[0] == whole
    assert drawing.item("If, choice").get_attribute("aria-label").endswith("144 MACs (86 %)")
    assert drawing.item("TensorIterator, loop").get_attribute("aria-label").endswith("24 MACs (14 %)")
    for operation, role, total, amounts in (
            ("If, choice", "then_body", 144, {"wide": "96 MACs (67 %)", "narrow": "48 MACs (33 %)"}),
            ("If, choice", "else_body", 6, {"short": "6 MACs (100 %)"}),
            ("TensorIterator, loop", "body", 8, {"step": "8 MACs (100 %)"})):
        drawing.item(operation).click()
        drawing.details.get_by_role("button", name=f"Show {role}", exact=True).click()
        assert legend.inner_text().split("\n")[0] == f"Share of {total} MACs of one run of this body:"
        for name, amount in amounts.items():
            item = drawing.item(f"MatMul, {name},")
            assert item.get_attribute("aria-label").endswith(amount)
            assert "level4" in item.get_attribute("class")
            assert amount in item.locator("text").all_text_contents()
        assert drawing.overlaps() == []
        page.locator("#trail").get_by_role("button", name="bodies", exact=True).click()
        assert legend.inner_text().split("\n")[0] == whole
    drawing.item("If, choice").click()
    drawing.details.get_by_role("button", name="Show then_body").click()
    page.select_option("#measure", "parameters")
    assert drawing.item("MatMul, wide,").get_attribute("aria-label").endswith("32 parameters (67 %)")
    page.select_option("#measure", "")
    assert legend.is_hidden()
    assert page.locator("#canvas g[class*=level]").count() == 0
    page.locator("#trail").get_by_role("button", name="bodies", exact=True).click()
    assert page.locator("#canvas g[class*=level]").count() == 0, "the graph around it has no colours either"


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
