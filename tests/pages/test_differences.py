"""The page of `nnefc diff`, as a reader uses it by mouse, by keyboard and by assistive technology."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset8 as ops
import pytest
from conftest import ROOT, Drawing, binary, violations
from playwright.sync_api import Browser, Page

OLD = """version 1.0;
graph net(x, u) -> (y, z)
{
    x = external<scalar>(shape = [1, 4]);
    u = external<scalar>(shape = [1, 4]);
    w = variable<scalar>(shape = [4, 4], label = 'w');
    a = relu(x);
    b = matmul(a, w);
    c = softmax(b, axes = [1]);
    y = add(c, u);
    z = exp(u);
}
"""
NEW = (OLD.replace("relu(x)", "leaky_relu(x, alpha = 0.5)").replace("axes = [1]", "axes = [0]").replace("(y, z)", "(y, v)")
       .replace("    z = exp(u);\n", "    z = exp(u);\n    v = tanh(z);\n").replace("label = 'w'", "label = 'v'"))
HOSTILE = "</code><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"


@pytest.fixture
def compared(browser: Browser, tmp_path: Path):
    """Opens the page of the differences between two models. Afterwards, nothing may have gone wrong in it."""
    opened: list[Drawing] = []

    def compare(old: Path, new: Path, *options: str, scheme: str = "light", width: int = 1280) -> Page:
        path = tmp_path / f"diff{len(opened)}.html"
        done = subprocess.run([binary(), "diff", old, new, *options, "-o", path], capture_output=True, text=True, timeout=120)
        assert done.returncode in (0, 1), done.stderr
        page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 700})
        opened.append(Drawing(page))
        page.goto(path.as_uri())
        return page

    yield compare
    for drawing in opened:
        drawing.page.close()
        assert drawing.problems == []
        assert len(drawing.requests) == 1, "a page needs no other files"


@pytest.fixture
def pair(tmp_path):
    for name, text in (("old.nnef", OLD), ("new.nnef", NEW)):
        (tmp_path / name).write_text(text)
    return tmp_path / "old.nnef", tmp_path / "new.nnef"


def rows(page: Page, caption: str) -> list[list[str]]:
    """Returns the cells of the visible rows of a table."""
    table = page.locator("table").filter(has=page.locator(f"caption:text-is('{caption}')"))
    return [[cell.inner_text().split("\n")[0] for cell in row.locator("th, td").all()] for row in table.locator("tbody tr").all() if row.is_visible()]


def test_both_graphs_are_side_by_side(compared, pair):
    page = compared(*pair)
    found = rows(page, "Operations")
    assert any("relu" in old for _, old, _ in found) and any("leaky_relu" in new for _, _, new in found)
    assert any("softmax" in old and "softmax" in new for _, old, new in found)
    note = page.locator("tr.changed", has_text="softmax").locator("li").first.inner_text()
    assert note.startswith("attribute axes: ")
    assert [row[0] for row in rows(page, "Outputs")] == ["changed"]
    assert sorted(row[0] for row in rows(page, "Variables")) == ["added", "removed"]


def test_unchanged_operations_can_be_hidden_by_keyboard(compared, pair):
    page = compared(*pair)
    before = rows(page, "Operations")
    assert any(change == "none" for change, *_ in before)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "only"
    page.keyboard.press("Space")
    assert rows(page, "Operations") == [row for row in before if row[0] != "none"]
    page.keyboard.press("Space")
    assert rows(page, "Operations") == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_accessibility(compared, pair, tmp_path, scheme, width):
    page = compared(*pair, scheme=scheme, width=width)
    assert violations(page) == []
    page.check("#only")
    assert violations(page) == []
    assert not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    page = compared(pair[0], pair[0], scheme=scheme, width=width)
    assert "The models do not differ." in page.inner_text("main")
    assert violations(page) == []


def test_values_of_outputs(compared, pair, tmp_path):
    changed = tmp_path / "changed.nnef"
    changed.write_text(OLD.replace("relu(x)", "leaky_relu(x, alpha = 0.5)"))
    page = compared(pair[0], changed, "--random-inputs", "1", "--random-weights", "1")
    assert page.get_by_role("heading", name="Values of outputs").count() == 1
    assert "y" in page.locator("pre").inner_text()
    assert violations(page) == []


def test_hostile_names(compared, tmp_path):
    paths = []
    for name, operation in (("old", ops.relu), ("new", ops.tanh)):
        x = ops.parameter([1, 2], np.float32, name="x" + HOSTILE)
        x.output(0).set_names({"x" + HOSTILE})
        y = operation(x, name="y" + HOSTILE)
        y.output(0).set_names({"y" + HOSTILE})
        paths.append(tmp_path / f"{name}.xml")
        ov.save_model(ov.Model([y], [x], HOSTILE), paths[-1], compress_to_fp16=False)
    page = compared(*paths)
    page.wait_for_timeout(100)
    assert page.title() != "broken"
    assert page.locator("img, main script").count() == 0
    assert HOSTILE in page.inner_text("main")


@pytest.mark.parametrize("network", ["googlenet", "mobilenetv2"])
def test_networks(compared, described, network):
    path = ROOT / "tests" / "networks" / f"{network}.nnef"
    page = compared(path, path)
    operations = [node for node in described(path)["graph"]["nodes"] if node["kind"] == "operation"]
    found = rows(page, "Operations")
    assert [row[0] for row in found] == ["none"] * len(operations)
    assert all(old == new for _, old, new in found)
    assert violations(page) == []
