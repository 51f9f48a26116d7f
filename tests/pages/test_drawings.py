"""Drawings of networks, of bodies and of long documents, as a reader uses them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset8 as ops
import pytest
from conftest import ROOT, nnefc, overlapping_pixels, violations

NETWORKS = sorted((ROOT / "tests" / "networks").glob("*.nnef"))

SMALL = """version 1.0;
extension KHR_enable_fragment_definitions;

fragment block(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    a = relu(x);
    b = sigmoid(a);
    y = add(a, b);
}

graph net(input) -> (output)
{
    input = external<scalar>(shape = [1, 4]);
    first = block(input);
    middle = tanh(first);
    second = block(middle);
    output = sub(second, 1.5);
}
"""


def word_without_squares(length: int) -> list[int]:
    """A word of three symbols in which no part is followed by an equal one: the differences of neighbours in the Thue-Morse word, plus one."""
    parity = [number.bit_count() % 2 for number in range(length + 1)]
    return [after - before + 1 for before, after in zip(parity, parity[1:])]


def chain(path: Path, length: int) -> Path:
    """A document with that many operations; a third of them also reads the result two operations before. No operations repeat."""
    body = ["x0 = external<scalar>(shape = [1, 8]);", "x1 = relu(x0);"]
    calls = ("relu(x{0})", "add(x{0}, x{1})", "tanh(x{0})")
    body += [f"x{i} = {calls[symbol].format(i - 1, i - 2)};" for i, symbol in enumerate(word_without_squares(length - 1), 2)]
    path.write_text(f"version 1.0;\ngraph net(x0) -> (x{length})\n{{\n" + "\n".join(body) + "\n}\n")
    return path


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.nnef"
    path.write_text(SMALL)
    return path


@pytest.mark.parametrize("network", NETWORKS, ids=lambda path: path.stem)
def test_networks(browser, draw, described, network):
    drawing = draw(network)
    assert drawing.overlaps() == []
    drawing.page.click("#unfold")
    assert drawing.overlaps() == []
    assert overlapping_pixels(browser, drawing.page) == 0
    nodes = described(network)["graph"]["nodes"]
    shown = [label for label in drawing.labels() if not label.startswith("group ")]
    expected = [node for node in nodes if node["kind"] not in ("constant", "variable")]
    if len(expected) <= 300:
        assert len(shown) == len(expected)
    operation = next(node for node in nodes if node["kind"] == "operation" and node["operation"] == "conv") \
        if network.stem != "lstm_scan" else next(node for node in nodes if node["kind"] == "operation")
    assert any(operation["name"] in text for text in drawing.search(operation["name"]))
    drawing.page.keyboard.press("Enter")
    assert operation["operation"] in drawing.details.inner_text()


def test_folding_by_clicks(draw, small):
    drawing = draw(small)
    assert len([label for label in drawing.labels() if label.startswith("group ")]) == 2
    drawing.page.click("#fold")
    assert [label for label in drawing.labels() if "relu" in label] == []
    drawing.item("group block: first").click()
    assert len([label for label in drawing.labels() if "relu" in label]) == 1
    assert "unfolded" in drawing.item("group block: first").get_attribute("aria-label")
    assert drawing.overlaps() == []
    drawing.page.locator("#canvas g.open text.label").first.click()
    assert [label for label in drawing.labels() if "relu" in label] == []
    drawing.page.click("#unfold")
    assert len([label for label in drawing.labels() if "relu" in label]) == 2


@pytest.mark.parametrize(("extra", "is_open"), [(50, True), (51, False)])
def test_fragments_of_small_graphs_are_unfolded(draw, tmp_path, extra, is_open):
    """SMALL has 10 items with the input and the output; groups of at most 60 items in all are unfolded at first."""
    steps = "".join(f"    m{i + 1} = tanh(m{i});\n" for i in range(extra))
    text = SMALL.replace("    second = block(middle);\n", f"    m0 = copy(first);\n{steps}    second = block(m{extra});\n")
    path = tmp_path / "net.nnef"
    path.write_text(text.replace("    middle = tanh(first);\n", ""))
    assert any("sigmoid" in label for label in draw(path).labels()) == is_open


@pytest.mark.parametrize(("length", "shown"), [(38, "x" * 38), (39, "x" * 37 + "…")])
def test_long_names_are_shortened(draw, tmp_path, length, shown):
    name = "x" * length
    path = tmp_path / "net.nnef"
    path.write_text(f"version 1.0;\ngraph net(a) -> ({name})\n{{\n    a = external<scalar>(shape = [1]);\n    {name} = relu(a);\n}}\n")
    drawing = draw(path)
    assert shown in drawing.page.locator("#canvas text.label").all_text_contents()
    assert name in drawing.item("relu").get_attribute("aria-label")


@pytest.mark.parametrize("count", [50, 51])
def test_searches_list_at_most_fifty(draw, tmp_path, count):
    drawing = draw(chain(tmp_path / "long.nnef", count))
    found = drawing.search("x")  # the operations, the input and the output
    note = drawing.page.locator("#found p").inner_text()
    total = int(note.split()[0])
    assert len(found) == min(total, 50)
    assert note == (f"{total} found" if total <= 50 else f"{total} found, the first 50 of them:")
    assert total >= count


def test_details_of_an_operation(draw, small):
    drawing = draw(small)
    drawing.item("tanh, middle").click()
    text = drawing.details.inner_text()
    for fact in ("nnef.tanh", "R 4.2.1", "small.nnef:15:14", "f32[1,4]"):
        assert fact in text, fact
    # A constant is a line of the box that reads it, and part of the details.
    assert "y: 1.5" in drawing.item("sub, output").text_content()
    drawing.item("sub, output").click()
    assert "1.5" in drawing.details.inner_text()
    drawing.details.get_by_role("button").first.click()
    assert "block: second" in drawing.page.locator("#details table").first.inner_text().replace("block (second)", "block: second")


def test_inner_operations_name_their_fragment(draw, small):
    drawing = draw(small)
    drawing.item("sigmoid").click()
    table = drawing.details.locator("table").first
    assert table.get_by_role("row", name="part of").inner_text().split("\t")[1].startswith("block (first")


def test_groups_show_where_their_edges_go(draw, small):
    drawing = draw(small)
    ports = drawing.page.locator("#canvas g.port")
    assert sorted(ports.all_text_contents()) == ["from input", "from middle", "to middle", "to output"]
    ports.filter(has_text="to output").click()
    assert drawing.details.locator("h2").inner_text() == "output"


@pytest.mark.parametrize("count", [100, 101])
def test_groups_have_at_most_a_hundred_ports_on_a_side(draw, tmp_path, count):
    names = ", ".join(f"y{i}" for i in range(count))
    inner = "".join(f"    y{i} = leaky_relu(x, alpha = {i}.0);\n" for i in range(count))  # no two are equal
    fragment = f"fragment many(x: tensor<scalar>) -> ({', '.join(f'y{i}: tensor<scalar>' for i in range(count))})\n{{\n{inner}}}\n"
    path = tmp_path / "net.nnef"
    path.write_text(f"version 1.0;\nextension KHR_enable_fragment_definitions;\n{fragment}graph net(x) -> (z)\n{{\n"
                    f"    x = external<scalar>(shape = [1, 4]);\n    {names} = many(x);\n    z = add_n([{names}]);\n}}\n")
    drawing = draw(path)
    drawing.item("group many").click()
    shown = drawing.page.locator("#canvas g.port").all_text_contents()
    assert shown.count("from x") == 1
    assert len(shown) == 1 + 100
    assert shown.count("to 2 others") == (count > 100)
    assert len([text for text in drawing.labels() if text.startswith("leaky_relu")]) == count
    drawing.page.locator("#canvas g.port").filter(has_text="to ").last.click()
    assert drawing.details.locator("h2").inner_text() == "z"


def test_keyboard(draw, small):
    drawing = draw(small)
    press = drawing.page.keyboard.press
    drawing.page.click("#fold")
    drawing.page.locator("#canvas g[tabindex='0']").focus()
    assert drawing.focused().startswith("external, input")
    press("ArrowUp")
    assert drawing.focused().startswith("external, input"), "nothing is before the first item"
    press("ArrowDown")
    assert drawing.focused().startswith("group block: first")
    press("Space")
    assert drawing.focused().endswith(", unfolded")
    press("ArrowRight")
    assert drawing.focused().startswith("relu")
    press("PageDown")
    assert drawing.focused().startswith(("sigmoid", "add"))
    press("PageUp")
    assert drawing.focused().startswith("relu")
    press("Enter")
    assert "nnef.relu" in drawing.details.inner_text()
    press("Escape")
    assert drawing.focused().endswith(", folded")
    press("End")
    last = drawing.focused()
    press("ArrowDown")
    assert drawing.focused() == last, "nothing is after the last item"
    press("Home")
    assert drawing.focused().startswith("external, input")
    press("/")
    assert drawing.page.evaluate("document.activeElement.id") == "search"
    press("t")
    press("/")
    assert drawing.page.input_value("#search") == "t/", "a slash in the search is a letter"
    assert drawing.page.locator("#canvas g[tabindex='0']").count() == 1, "the drawing is one stop of the tabulator"


def test_search(draw, small):
    drawing = draw(small)
    assert drawing.search("tanh") == ["tanh middle"]
    assert drawing.search("TANH mid") == ["tanh middle"]
    assert drawing.search("tanh nothing") == []
    assert drawing.page.locator("#found").inner_text() == "0 found"
    drawing.page.click("#fold")
    assert len(drawing.search("relu")) == 2
    drawing.page.locator("#found button").nth(1).click()
    assert "nnef.relu" in drawing.details.inner_text()
    assert drawing.focused().startswith("relu"), "the groups around what was chosen are unfolded"
    assert drawing.search("") == []
    assert drawing.page.locator("#found").inner_text() == ""


def test_zoom(draw, small):
    drawing = draw(small)
    width = lambda: float(drawing.page.locator("#canvas > svg").get_attribute("width"))  # noqa: E731
    before = width()
    drawing.page.click("#in")
    assert width() == pytest.approx(1.25 * before)
    drawing.page.click("#out")
    assert width() == pytest.approx(before)
    for _ in range(12):
        drawing.page.click("#in")
    assert width() == pytest.approx(3 * before), "the largest factor is 3"
    drawing.page.click("#fit")
    box = drawing.page.locator("#canvas > svg").bounding_box()
    assert box["height"] <= drawing.page.locator("#canvas").bounding_box()["height"] + 1


@pytest.mark.parametrize("network", ["googlenet", "resnet50", "mobilenetv2"])
def test_costs_are_those_of_inspect(draw, network):
    path = ROOT / "tests" / "networks" / f"{network}.nnef"
    costs = json.loads(nnefc("inspect", path, "--costs", "--format", "json"))
    drawing = draw(path, "--costs")
    values = drawing.page.evaluate("""() => {
      const nodes = JSON.parse(document.getElementById("description").textContent).graph.nodes;
      const sum = (name) => nodes.reduce((all, node) => all + (node[name] ?? 0), 0);
      return { macs: sum("macs"), parameters: sum("parameters") };
    }""")
    text = json.dumps(costs)
    assert f'"macs": {int(values["macs"])}' in text
    assert f'"parameters": {values["parameters"]}' in text
    assert drawing.page.get_by_role("img").get_attribute("aria-label").startswith("Inputs and results need at most")
    drawing.page.select_option("#measure", "macs")
    coloured = drawing.page.locator("#canvas g[class*=level]")
    assert coloured.count() > 0
    drawing.page.select_option("#measure", "")
    assert coloured.count() == 0


@pytest.mark.parametrize(("body", "alive", "peak"), [
    # 4 bytes an element: a (40) and b (40) are alive together with c (80); d (80) follows when a and b are gone.
    ("a = relu(x); b = tanh(x); c = concat([a, b], axis = 1); d = exp(c);", [80, 120, 160, 160], "160B at once, at c."),
    # The input (40) is needed until `a` is computed; nothing is as large afterwards.
    ("a = mean_reduce(x, axes = [1]); d = exp(a);", [44, 8], "44B at once, at a."),
])
def test_memory_is_the_sum_of_what_is_needed(draw, tmp_path, body, alive, peak):
    path = tmp_path / "memory.nnef"
    path.write_text(f"version 1.0;\ngraph net(x) -> (d)\n{{\n    x = external<scalar>(shape = [1, 10]);\n    {body}\n}}\n")
    drawing = draw(path, "--costs")
    assert drawing.page.evaluate("JSON.parse(document.getElementById('description').textContent).graph.nodes"
                                 ".filter((node) => node.alive_bytes).map((node) => node.alive_bytes)") == alive
    assert drawing.page.get_by_role("img").get_attribute("aria-label") == f"Inputs and results need at most {peak}"


def test_documents_without_costs_have_no_colours(draw, small):
    assert draw(small).page.locator("#measure").is_hidden()


@pytest.fixture(scope="module")
def with_bodies(tmp_path_factory):
    """OpenVINO IR with an If and a TensorIterator, written by OpenVINO."""
    x = ops.parameter([3, 2], np.float32, name="x")
    condition = ops.parameter([], bool, name="condition")
    inner = ops.parameter([3, 2], np.float32, name="inner")
    then_body = ov.Model([ops.result(ops.relu(inner, name="positive"))], [inner], "then")
    other = ops.parameter([3, 2], np.float32, name="other")
    else_body = ov.Model([ops.result(ops.negative(other, name="negated"))], [other], "else")
    choice = ops.if_op(condition)
    choice.set_friendly_name("choice")
    choice.set_then_body(then_body)
    choice.set_else_body(else_body)
    choice.set_input(x.output(0), inner, other)
    chosen = choice.set_output(then_body.results[0], else_body.results[0])
    row = ops.parameter([1, 2], np.float32, name="row")
    state = ops.parameter([1, 2], np.float32, name="state")
    total = ops.add(row, state, name="total")
    body = ov.Model([ops.result(total)], [row, state], "sum")
    loop = ops.tensor_iterator()
    loop.set_friendly_name("rows")
    loop.set_body(body)
    loop.set_sliced_input(row, chosen, 0, 1, 1, -1, 0)
    loop.set_merged_input(state, ops.constant(np.zeros([1, 2], np.float32)).output(0), body.results[0].output(0))
    summed = loop.get_iter_value(body.results[0].output(0), -1)
    path = tmp_path_factory.mktemp("bodies") / "bodies.xml"
    ov.save_model(ov.Model([ops.result(summed, name="sums")], [x, condition], "bodies"), path, compress_to_fp16=False)
    return path


def test_bodies(draw, with_bodies):
    drawing = draw(with_bodies)
    trail = drawing.page.locator("#trail")
    assert trail.is_hidden()
    drawing.item("If, choice").click()
    drawing.details.get_by_role("button", name="Show else_body").click()
    assert any("negated" in label for label in drawing.labels())
    assert not any("positive" in label for label in drawing.labels())
    assert trail.get_by_role("button").all_text_contents() == ["bodies", "else_body of choice"]
    trail.get_by_role("button", name="bodies", exact=True).click()
    assert trail.is_hidden()
    drawing.item("TensorIterator, rows").click()
    text = drawing.details.inner_text()
    assert "sliced along axis 0" in text and "result 0 to parameter 1" in text
    drawing.details.get_by_role("button", name="Show body").click()
    assert any("total" in label for label in drawing.labels())
    assert drawing.overlaps() == []


def test_ten_thousand_operations(draw, tmp_path):
    drawing = draw(chain(tmp_path / "long.nnef", 10_000))
    assert drawing.items.count() <= 130
    assert drawing.overlaps() == []
    assert [text.split()[1] for text in drawing.search("x9876")] == ["x9876"]
    drawing.page.keyboard.press("Enter")
    assert drawing.details.locator("h2").inner_text() == "x9876"
    assert drawing.overlaps() == []
    drawing.page.click("#unfold")
    assert "Groups remain folded" in drawing.page.locator("#found").inner_text()
    assert drawing.items.count() <= 600


@pytest.mark.parametrize(("length", "items"), [(118, 120), (119, 2), (1000, 11)])
def test_long_lists_are_folded(draw, tmp_path, length, items):
    """With the input and the output, more than 120 items become groups of 100; a search reaches each one."""
    drawing = draw(chain(tmp_path / "long.nnef", length))
    drawing.page.click("#fold")
    assert drawing.items.count() == items
    for name in ("x1", f"x{length}"):
        drawing.search(name)
        drawing.page.locator("#found button").filter(has_text=f" {name}").first.click()
    assert drawing.details.locator("h2").inner_text() == f"x{length}"


HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\"> &amp; <!--'\"\\"


def test_hostile_names(draw, tmp_path):
    x = ops.parameter([1, 2], np.float32, name=HOSTILE)
    x.output(0).set_names({HOSTILE})
    y = ops.relu(x, name="y" + HOSTILE)
    y.output(0).set_names({"y" + HOSTILE})
    path = tmp_path / "hostile.xml"
    ov.save_model(ov.Model([y], [x], HOSTILE), path, compress_to_fp16=False)
    drawing = draw(path)
    drawing.page.wait_for_timeout(100)
    assert drawing.page.title() != "broken"
    assert drawing.page.locator("img, #canvas script, #details script").count() == 0
    assert drawing.page.locator("h1").text_content() == HOSTILE
    drawing.page.locator("#canvas g[aria-label^=ReLU]").click()
    assert "y" + HOSTILE in drawing.details.locator("h2").text_content()
    assert drawing.search("onerror") != []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_accessibility(draw, small, with_bodies, scheme, width):
    drawing = draw(small, "--costs", scheme=scheme, width=width)
    assert violations(drawing.page) == []
    drawing.page.select_option("#measure", "output_bytes")
    drawing.page.click("#keys")
    drawing.page.click("#fold")
    drawing.search("e")
    assert violations(drawing.page) == []
    drawing.page.locator("#found button").first.click()
    drawing.page.click("#unfold")
    drawing.page.locator("#canvas g[aria-label*=middle]").first.click()
    assert violations(drawing.page) == []
    bodies = draw(with_bodies, scheme=scheme, width=width)
    bodies.search("choice")
    bodies.page.keyboard.press("Enter")
    assert violations(bodies.page) == []
    bodies.details.get_by_role("button", name="Show then_body").click()
    assert violations(bodies.page) == []
    assert not bodies.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
