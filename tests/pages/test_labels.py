"""Pictures of labels, in which overlaps are found. Those of networks are examined in test_drawings.py."""

from __future__ import annotations

import pytest
from conftest import ROOT, overlapping_pixels

# Moves the first label onto the last one, less some pixels.
MOVE = """() => {
  const labels = [...document.querySelectorAll("svg text.label")];
  const [first, last] = [labels[0], labels[labels.length - 1]];
  const [from, to] = [first.getBoundingClientRect(), last.getBoundingClientRect()];
  first.setAttribute("x", Number(first.getAttribute("x")) + to.left - from.left);
  first.setAttribute("y", Number(first.getAttribute("y")) + to.top - from.top + DISTANCE);
}"""


@pytest.mark.parametrize("distance", [0, 5, 9])
def test_pictures_show_overlaps(browser, draw, tmp_path, distance):
    path = tmp_path / "net.nnef"
    path.write_text("version 1.0;\ngraph net(x) -> (y)\n{\n    x = external<scalar>(shape = [1, 4]);\n    y = relu(x);\n}\n")
    page = draw(path).page
    assert overlapping_pixels(browser, page) == 0
    assert overlapping_pixels(browser, page, script=MOVE.replace("DISTANCE", str(distance))) > 0


def test_labels_of_costs(browser, draw):
    drawing = draw(ROOT / "tests" / "networks" / "mobilenetv2.nnef", "--costs")
    drawing.page.select_option("#measure", "macs")
    drawing.page.click("#unfold")
    assert overlapping_pixels(browser, drawing.page) == 0
