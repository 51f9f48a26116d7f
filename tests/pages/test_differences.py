"""The page of `nnefc diff`, as a reader uses it by mouse, by keyboard and by assistive technology."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import nnef
import numpy as np
import openvino as ov
import openvino.opset8 as ops
import pytest
from conftest import ROOT, Clock, Drawing, binary, labels_of, nnefc, overlaps, painted, violations
from contrast import contrast
from playwright.sync_api import Browser, Locator, Page

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
        return show("diff", old, new, *options, scheme=scheme, width=width)

    def show(*command: str | Path, scheme: str = "light", width: int = 1280) -> Page:
        path = tmp_path / f"diff{len(opened)}.html"
        done = subprocess.run([binary(), *command, "-o", path], capture_output=True, text=True, timeout=120)
        assert done.returncode in (0, 1), done.stderr
        page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 700})
        opened.append(Drawing(page))
        compare.clock = Clock(page.context.new_cdp_session(page))
        page.goto(path.as_uri())
        return page

    compare.show = show
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
    return table.locator("tbody tr").evaluate_all(
        "(rows) => rows.filter((row) => row.checkVisibility()).map((row) => [...row.cells].map((cell) => cell.innerText.split('\\n')[0]))")


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
    assert "The models do not differ." in page.inner_text("#subtitle")
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


class Side:
    """One of the two graphs of a page."""

    def __init__(self, page: Page, name: str):
        self.page = page
        self.canvas = page.locator(f"#{name} .canvas")
        self.details = page.locator(f"#{name} .details")

    @property
    def items(self) -> Locator:
        return self.canvas.locator("g[role=button]")

    def labels(self) -> list[str]:
        return labels_of(self.items)

    def item(self, words: str) -> Locator:
        return self.canvas.locator(f"g[role=button][aria-label*='{words}']").first

    def shown(self) -> list[str]:
        """The labels of the items that are selected."""
        return labels_of(self.canvas.locator("g.shown"))

    def place(self, words: str) -> float:
        """The height of the middle of an item in the canvas, in pixels."""
        box, canvas = self.item(words).bounding_box(), self.canvas.bounding_box()
        return box["y"] + box["height"] / 2 - canvas["y"]


def sides(page: Page) -> tuple[Side, Side]:
    return Side(page, "old"), Side(page, "new")


def row(page: Page, words: str) -> Locator:
    return page.locator("#tables tr", has_text=words).first


def write_chain(path: Path, length: int, changed: dict[int, str] | None = None) -> Path:
    """A document with operations x1, x2 ..; `changed` has other operations."""
    lines = [f"x{i} = {(changed or {}).get(i, 'relu')}(x{i - 1});" for i in range(1, length + 1)]
    path.write_text(f"version 1.0;\ngraph net(x0) -> (x{length})\n{{\nx0 = external<scalar>(shape = [1, 8]);\n" + "\n".join(lines) + "\n}\n")
    return path


def test_graphs_mark_what_differs(compared, pair):
    page = compared(*pair)
    old, new = sides(page)
    assert [label for label in old.labels() if label.endswith(", removed")] == ["relu, a, f32[1,4], removed"]
    assert any(label.startswith("leaky_relu, a, f32[1,4], added") for label in new.labels())
    assert any(label.startswith("tanh, v, f32[1,4], added") for label in new.labels())
    for side, label, change in ((old, "w", "removed"), (new, "v", "added")):
        softmax = side.item("softmax")
        assert softmax.get_attribute("aria-label").endswith("changed, attribute axes: [1] became [0]")
        assert "≠ changed" in softmax.locator("text").all_text_contents()
        assert "input 0: a has another producer" in side.item("matmul").get_attribute("aria-label")
        assert f"variable '{label}' is {change}" in side.item("matmul").get_attribute("aria-label")
        for same in ("add, y", "exp, z"):
            assert re.search("changed|added|removed", side.item(same).get_attribute("aria-label")) is None
        outlines = {label: side.item(label).locator(".box").evaluate("(box) => { const style = getComputedStyle(box);"
                                                                     " return [style.strokeWidth, style.strokeDasharray]; }")
                    for label in ("softmax", "add, y")}
        assert outlines["softmax"] != outlines["add, y"], "a change is an outline, too"
        assert overlaps(side.canvas) == []
    dashes = [side.canvas.locator(f"g.{change} > .box").first.evaluate("(box) => getComputedStyle(box).strokeDasharray")
              for side, change in ((old, "removed"), (new, "added"), (old, "changed"))]
    assert len(set(dashes)) == 3, dashes


def test_graphs_without_differences_have_no_marks(compared, pair):
    page = compared(pair[0], pair[0])
    for side in sides(page):
        assert side.canvas.locator("g.added, g.removed, g.changed, g.differs").count() == 0
        assert side.items.count() == 9  # operations, inputs and outputs
    assert page.locator("#next").is_disabled()
    assert page.inner_text("#position") == ""


def test_rows_select_in_both_graphs(compared, pair):
    page = compared(*pair)
    old, new = sides(page)
    row(page, "softmax").locator("code").first.click()
    assert [label.split(",")[0] for label in old.shown() + new.shown()] == ["softmax", "softmax"]
    assert "attribute axes: [1] became [0]" in old.details.inner_text()
    assert "This is changed." in new.details.inner_text()
    assert "selected" in row(page, "softmax").get_attribute("class")
    row(page, "leaky_relu").locator("code").first.click()
    assert old.shown() == []
    assert [label.split(",")[0] for label in new.shown()] == ["leaky_relu"]
    assert page.locator("#tables tr.selected").count() == 1
    # Data are lines of the operations that read them.
    page.locator("#tables tr.removed", has_text="'w'").locator("code").click()
    assert [label.split(",")[0] for label in old.shown()] == ["matmul"]
    assert new.shown() == []
    page.locator("#tables tr.same", has_text="exp(u)").get_by_role("button").press("Enter")
    assert [label.split(",")[0] for label in old.shown() + new.shown()] == ["exp", "exp"]


def test_items_select_their_counterparts(compared, pair):
    page = compared(*pair)
    old, new = sides(page)
    new.item("softmax").click()
    assert [label.split(",")[0] for label in old.shown()] == ["softmax"]
    assert "softmax" in page.locator("#tables tr.selected").inner_text()
    old.item("relu, a").click()
    assert new.shown() == []
    assert "removed" in page.locator("#tables tr.selected").get_attribute("class")
    old.item("external, u").click()
    assert [label.split(",")[1] for label in new.shown()] == [" u"]
    assert page.locator("#tables tr.selected").count() == 0, "the inputs are equal"


def test_differences_are_reached_by_keyboard(compared, pair):
    page = compared(*pair)
    differing = page.locator("#tables tr:not(.same)[data-old], #tables tr:not(.same)[data-new]").count()
    assert page.inner_text("#position") == f"{differing} to show"
    page.keyboard.press("n")
    assert page.inner_text("#position") == f"1 of {differing}"
    page.keyboard.press("n")
    assert page.inner_text("#position") == f"2 of {differing}"
    page.keyboard.press("p")
    page.keyboard.press("p")
    assert page.inner_text("#position") == f"{differing} of {differing}", "the last one precedes the first"
    page.keyboard.press("n")
    assert page.inner_text("#position") == f"1 of {differing}"
    page.keyboard.press("Control+n")
    assert page.inner_text("#position") == f"1 of {differing}"
    page.fill("#search", "n")
    assert page.inner_text("#position") == f"1 of {differing}"
    assert page.locator("#found button").count() > 0
    old, new = sides(page)
    for side in (old, new):
        assert side.canvas.locator("g[tabindex='0']").count() == 1, "a drawing is one stop of the tabulator"
    new.canvas.locator("g[tabindex='0']").focus()
    page.keyboard.press("Home")
    page.keyboard.press("PageDown")
    page.keyboard.press("Enter")
    assert len(new.shown()) == 1


def test_search_finds_operations_of_both_graphs(compared, pair):
    page = compared(*pair)
    page.fill("#search", "softmax")
    assert page.locator("#found button").all_text_contents() == ["softmax c (old)", "softmax c (new)"]
    page.locator("#found button").first.click()
    assert [label.split(",")[0] for side in sides(page) for label in side.shown()] == ["softmax", "softmax"]
    page.fill("#search", "tanh")
    assert page.locator("#found button").all_text_contents() == ["tanh v (new)"]


@pytest.mark.parametrize(("length", "is_folded"), [(58, False), (59, True)])
def test_equal_regions_of_large_graphs_are_folded(compared, tmp_path, length, is_folded):
    """With the input and the output, graphs of at most 60 items are not folded."""
    page = compared(write_chain(tmp_path / "old.nnef", length), write_chain(tmp_path / "new.nnef", length, {30: "tanh"}))
    for side in sides(page):
        groups = [label for label in side.labels() if label.startswith("group equal: ")]
        if is_folded:
            assert [re.search("equal: (.*) to (.*), .* operations, folded", group).groups() for group in groups] == [("x0", "x28"), ("x33", "x59")]
            assert side.items.count() == 2 + 4, "x29 and x32 are next to x30, and x31, which has another producer"
        else:
            assert groups == []
        assert overlaps(side.canvas) == []


@pytest.mark.parametrize(("distance", "groups"), [(6, 2), (7, 3)])
def test_short_equal_regions_are_not_folded(compared, tmp_path, distance, groups):
    """Between two changes and the operations next to them, two equal operations are shown and three are folded."""
    changed = {40: "tanh", 40 + distance: "exp"}
    page = compared(write_chain(tmp_path / "old.nnef", 80), write_chain(tmp_path / "new.nnef", 80, changed))
    for side in sides(page):
        assert len([label for label in side.labels() if label.startswith("group equal: ")]) == groups


def test_counterparts_are_folded_together(compared, tmp_path):
    page = compared(write_chain(tmp_path / "old.nnef", 100), write_chain(tmp_path / "new.nnef", 100, {50: "tanh"}))
    old, new = sides(page)
    old.item("group equal: x0").click()
    for side in (old, new):
        assert "unfolded" in side.item("group equal: x0").get_attribute("aria-label")
    new.canvas.locator("g.open text.label").first.click()
    for side in (old, new):
        assert ", folded" in side.item("group equal: x0").get_attribute("aria-label")
    page.locator("#tables tr", has_text="x90: ").first.locator("code").first.click()
    for side in (old, new):
        assert [label.split(",")[1] for label in side.shown()] == [" x90"], "the groups around it are unfolded"
    page.click("#fold")
    page.click("#unfold")
    for side in (old, new):
        assert len([label for label in side.labels() if label.startswith("relu")]) >= 99


def test_groups_count_the_differences_in_them(compared, tmp_path):
    changed = {10 * i: "tanh" for i in range(1, 26)}
    page = compared(write_chain(tmp_path / "old.nnef", 260), write_chain(tmp_path / "new.nnef", 260, changed))
    page.click("#fold")
    counts = [int(match[1]) for side in sides(page)[1:] for label in side.labels() if (match := re.search(r"(\d+) difference", label))]
    labels = [label for label in sides(page)[1].labels() if not label.startswith("group ")]
    shown = sum(1 for label in labels if re.search("added|removed|changed", label))
    assert sum(counts) + shown >= 25


def test_graphs_scroll_together(compared, tmp_path):
    text = write_chain(tmp_path / "old.nnef", 50).read_text()
    longer = text.replace("x20 = relu(x19);", "y1 = exp(x19); y2 = exp(y1); y3 = exp(y2); y4 = exp(y3); y5 = exp(y4); x20 = relu(y5);")
    (tmp_path / "new.nnef").write_text(longer)
    page = compared(tmp_path / "old.nnef", tmp_path / "new.nnef")
    old, new = sides(page)
    for here, there in ((old, new), (new, old)):
        here.canvas.hover()
        here.canvas.evaluate("(canvas) => canvas.scrollTo(0, 0)")
        page.wait_for_timeout(50)
        for words in ("relu, x10,", "relu, x40,"):
            distance = here.place(words) - here.canvas.bounding_box()["height"] / 2
            page.mouse.wheel(0, distance)
            page.wait_for_timeout(100)
            assert abs(here.place(words) - there.place(words)) < 30
    page.uncheck("#together")
    old.canvas.hover()
    before = new.canvas.evaluate("(canvas) => canvas.scrollTop")
    page.mouse.wheel(0, -500)
    page.wait_for_timeout(100)
    assert new.canvas.evaluate("(canvas) => canvas.scrollTop") == before


def test_data_of_variables_mark_their_readers(compared, tmp_path):
    folders = []
    for name, value in (("old", 1.0), ("new", 1.5)):
        folders.append(tmp_path / name)
        folders[-1].mkdir()
        (folders[-1] / "graph.nnef").write_text("version 1.0;\ngraph net(x) -> (y)\n{\n    x = external<scalar>(shape = [1, 2]);\n"
                                                "    w = variable<scalar>(shape = [1, 2], label = 'w');\n    a = mul(x, w);\n    y = relu(a);\n}\n")
        with open(folders[-1] / "w.dat", "wb") as file:
            nnef.write_tensor(file, np.array([[1.0, value]], np.float32))
    page = compared(*folders)
    for side in sides(page):
        label = side.item("mul").get_attribute("aria-label")
        assert label.endswith("changed, variable 'w': data differ by up to 0.5 in 1 element")
        assert "changed" not in side.item("relu").get_attribute("aria-label")
    page.locator("#tables tr", has_text="'w'").locator("code").first.click()
    for side in sides(page):
        assert [text.split(",")[0] for text in side.shown()] == ["mul"]


@pytest.mark.parametrize(("tolerance", "first"), [("very", None), ("exact", "a")])
def test_first_operation_beyond_the_tolerance(compared, tmp_path, tolerance, first):
    """Slopes of 0.5 and of 0.5 + 2^-20 differ by 2e-6 of the results."""
    text = ("version 1.0;\ngraph net(x) -> (c)\n{\n    x = external<scalar>(shape = [1, 64]);\n    z = copy(x);\n    a = leaky_relu(z, alpha = 0.5);\n"
            "    b = mul(a, 10.0);\n    c = relu(b);\n    d = copy(b);\n}\n").replace("(c)", "(c, d)")
    (tmp_path / "old.nnef").write_text(text)
    (tmp_path / "new.nnef").write_text(text.replace("0.5)", "0.500000953674316)"))
    page = compared(tmp_path / "old.nnef", tmp_path / "new.nnef", "--random-inputs", "1", "--tolerance", tolerance)
    note = "the first operation whose results leave the tolerance"
    for side in sides(page):
        assert [label.split(", ")[1] for label in side.labels() if note in label] == ([first] if first else [])
        assert side.canvas.locator("g.first").count() == (1 if first else 0)
    assert page.locator("#tables tr", has_text=note).count() == (1 if first else 0)
    assert violations(page) == []


def test_shapes_and_results(compared, tmp_path):
    (tmp_path / "old.nnef").write_text(OLD)
    (tmp_path / "new.nnef").write_text(OLD.replace("shape = [1, 4]", "shape = [2, 4]"))
    page = compared(tmp_path / "old.nnef", tmp_path / "new.nnef")
    for side in sides(page):
        assert "x: f32[1,4] became x: f32[2,4]" in side.item("external, x").get_attribute("aria-label")
        assert "c: f32[1,4] became c: f32[2,4]" in side.item("softmax").get_attribute("aria-label")
    page.locator("#tables tr", has_text="c: f32[1,4]").last.locator("code").first.click()
    for side in sides(page):
        assert [label.split(",")[0] for label in side.shown()] == ["softmax"]


def body_model(path: Path, operation) -> Path:
    x = ops.parameter([3, 2], np.float32, name="x")
    condition = ops.parameter([], bool, name="condition")
    choice = ops.if_op(condition)
    choice.set_friendly_name("choice")
    bodies = []
    for name, make in (("then", operation), ("else", ops.negative)):
        inner = ops.parameter([3, 2], np.float32, name=f"{name}_x")
        result = make(inner, name=f"{name}_y")
        result.output(0).set_names({f"{name}_y"})
        bodies.append((inner, ov.Model([ops.result(result)], [inner], name)))
    choice.set_then_body(bodies[0][1])
    choice.set_else_body(bodies[1][1])
    choice.set_input(x.output(0), bodies[0][0], bodies[1][0])
    last = ops.exp(choice.set_output(bodies[0][1].results[0], bodies[1][1].results[0]), name="last")
    last.output(0).set_names({"last"})
    ov.save_model(ov.Model([last], [x, condition], "net"), path, compress_to_fp16=False)
    return path


def negated(operation):
    """An operation of a body, below another one."""
    return lambda x, name: operation(ops.negative(x, name="then_z"), name=name)


def test_bodies(compared, tmp_path):
    page = compared(body_model(tmp_path / "old.xml", negated(ops.relu)), body_model(tmp_path / "new.xml", negated(ops.tanh)))
    old, new = sides(page)
    for side in (old, new):
        label = side.item("If, choice").get_attribute("aria-label")
        assert "changed, then_body: Tanh then_y is added, then_body: ReLU then_y is removed" in label
        assert "else_body" not in label
    notes = page.locator("#tables tr.changed", has_text="choice").locator("li").all_text_contents()
    assert notes == ["then_body: Tanh then_y is added", "then_body: ReLU then_y is removed"]
    new.item("If, choice").click()
    new.details.get_by_role("button", name="Show then_body").click()
    for side, label in ((old, "ReLU, then_y, f32[3,2], removed"), (new, "Tanh, then_y, f32[3,2], added")):
        assert [each for each in side.labels() if re.search("changed|added|removed", each)] == [label], "both graphs show the body"
        assert overlaps(side.canvas) == []
    new.item("then_y").click()
    assert old.shown() == [], "it has no counterpart"
    old.item("then_z").click()
    assert [label.split(",")[:2] for side in (old, new) for label in side.shown()] == [["Negative", " then_z"]] * 2
    assert "choice" in page.locator("#tables tr.selected").inner_text()
    assert violations(page) == []
    page.locator("#old .trail").get_by_role("button", name="net").click()
    for side in (old, new):
        assert any("choice" in label for label in side.labels()), "both graphs are left"
    old.item("Exp, last").click()
    assert [label.split(",")[0] for label in new.shown()] == ["Exp"]


def test_rows_leave_bodies(compared, tmp_path):
    page = compared(body_model(tmp_path / "old.xml", ops.relu), body_model(tmp_path / "new.xml", ops.tanh))
    old, new = sides(page)
    for side in (old, new):
        side.item("If, choice").click()
        side.details.get_by_role("button", name="Show else_body").click()
        assert any("else_y" in label for label in side.labels())
        row(page, "last").locator("code").first.click()
        assert [label.split(",")[0] for each in (old, new) for label in each.shown()] == ["Exp", "Exp"]


def test_data_and_attributes_of_bodies(compared, tmp_path):
    def scaled(factors, axis):
        weights = np.array(factors, np.float32)
        return lambda x, name: ops.softmax(ops.multiply(x, ops.constant(weights, name="w"), name="then_m"), axis, name=name)

    page = compared(body_model(tmp_path / "old.xml", scaled([1, 2], 0)), body_model(tmp_path / "new.xml", scaled([1, 2.5], 1)))
    old, new = sides(page)
    notes = page.locator("#tables tr.changed", has_text="choice").locator("li").all_text_contents()
    assert notes == ["then_body: SoftMax then_y: attribute axis: 0 became 1", "then_body: variable 'w': data differ by up to 0.5 in 1 element"]
    old.item("If, choice").click()
    old.details.get_by_role("button", name="Show then_body").click()
    for side in (old, new):
        assert side.item("SoftMax, then_y").get_attribute("aria-label").endswith("changed, attribute axis: 0 became 1")
        assert side.item("Multiply, then_m").get_attribute("aria-label").endswith("changed, variable 'w': data differ by up to 0.5 in 1 element")


MISH = """version 1.0;
extension KHR_enable_fragment_definitions;
fragment block(input: tensor<scalar>) -> (output: tensor<scalar>)
{
    s = softplus(input);
    t = tanh(s);
    output = mul(input, t);
}
graph net(x) -> (y)
{
    x = external<scalar>(shape = [2, 3]);
    a = block(x);
    y = relu(a);
}
"""


def test_before_and_after_a_transformation(compared, tmp_path):
    (tmp_path / "net.nnef").write_text(MISH)
    page = compared.show("transform", tmp_path / "net.nnef", "--diff", "front.MishFusion")
    name = "nnefc::transform::front::MishFusion"
    assert page.title() == f"Differences of before {name} and after {name}"
    old, new = sides(page)
    changed = [[re.match(r"(\w+),.*, (added|removed|changed)", label) for label in side.labels()] for side in (old, new)]
    found = [[(each[1], each[2]) for each in side if each] for side in changed]
    assert found[1] == [("Mish", "added"), ("relu", "changed")]
    assert ("softplus", "removed") in found[0] and ("tanh", "removed") in found[0]
    assert any("Mish" in row[2] for row in rows(page, "Operations"))
    assert overlaps(old.canvas) == overlaps(new.canvas) == []
    assert violations(page) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["diff0.html", "net.nnef"], "no graph is written"


def test_transformation_without_changes(compared, tmp_path):
    (tmp_path / "net.nnef").write_text(MISH.replace("tanh(s)", "sin(s)"))
    page = compared.show("transform", tmp_path / "net.nnef", "--diff", "front.MishFusion")
    assert "The models do not differ." in page.inner_text("#subtitle")
    for side in sides(page):
        assert side.canvas.locator("g.added, g.removed, g.changed").count() == 0


def test_document_and_file_are_compared_as_lowered(compared, tmp_path):
    path = write_chain(tmp_path / "net.nnef", 5)
    nnefc("transform", path, "-o", tmp_path / "net.xml")
    page = compared(path, tmp_path / "net.xml")
    for side in sides(page):
        assert any(label.startswith("ReLU") for label in side.labels())
        assert overlaps(side.canvas) == []


def test_ten_thousand_operations_stay_usable(compared, tmp_path):
    changed = {i: "tanh" for i in range(1000, 10_000, 1000)}
    page = compared(write_chain(tmp_path / "old.nnef", 10_000), write_chain(tmp_path / "new.nnef", 10_000, changed))
    painted(page)
    before = compared.clock.seconds()
    assert 0 < before < 5, "opening takes two seconds on current processors"
    old, new = sides(page)
    for side in (old, new):
        assert side.items.count() <= 100
    seconds = 0.0
    for act in (lambda: page.click("#next"), lambda: page.click("#next"), lambda: page.fill("#search", "x7654"), lambda: page.keyboard.press("Enter"),
                lambda: page.check("#only")):
        act()
        painted(page)
        after = compared.clock.seconds()
        seconds, before = max(seconds, after - before), after
    assert [label.split(",")[1] for side in (old, new) for label in side.shown()] == [" x7654"] * 2
    assert seconds < 2, "the processor time of each action"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_marks(compared, pair, scheme):
    """Texts on marked boxes have a contrast of at least 4.5, outlines of at least 3. axe-core does not examine SVG."""
    page = compared(*pair, scheme=scheme)
    for side, change in (("old", "removed"), ("old", "changed"), ("new", "added")):
        texts, box, outline = page.locator(f"#{side} g.{change}").first.evaluate(
            "(g) => [[...g.querySelectorAll('text')].map((text) => getComputedStyle(text).fill), getComputedStyle(g.querySelector('.box')).fill,"
            " getComputedStyle(g.querySelector('.box')).stroke]")
        assert all(contrast(text, box) >= 4.5 for text in texts)
        assert contrast(outline, box) >= 3
