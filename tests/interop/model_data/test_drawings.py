"""`draw`: DOT that Graphviz reads and renders, and JSON, against graphs of Khronos' parser and of OpenVINO."""

from __future__ import annotations

import collections
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import nnef
import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

NETWORKS = sorted((Path(__file__).resolve().parent.parent.parent / "networks").glob("*.nnef"))
# Khronos' parser does not have our extension for loops.
PLAIN = [path for path in NETWORKS if "provisional" not in path.stem and "NNEFC_" not in path.read_text(encoding="utf-8")]
SVG = "{http://www.w3.org/2000/svg}"
NESTED = """version 1.0;
extension KHR_enable_fragment_definitions;

fragment layer( x: tensor<scalar>, w: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    p = matmul(x, w);
    y = relu(p);
}

fragment block( x: tensor<scalar>, w: tensor<scalar>, v: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    a = layer(x, w);
    y = layer(a, v);
}

graph net( x ) -> ( y, z )
{
    x = external(shape = [2, 4]);
    w = variable(shape = [4, 4], label = 'one/a');
    v = variable(shape = [4, 4], label = 'one/b');
    y = block(x, w, v);
    z = add(y, 0.5);
}
"""


def draw(nnefc: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([nnefc, "draw", *map(str, arguments)], capture_output=True, text=True, timeout=120)


def description(nnefc: Path, *arguments: object) -> dict:
    done = draw(nnefc, "--format", "json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def graphviz(text: str, *words: str) -> str:
    """Runs a program of Graphviz, such as `dot -Tsvg`, on a drawing."""
    if shutil.which(words[0]) is None:
        pytest.skip("no Graphviz: install the Debian package graphviz")
    done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=120)
    # A warning is a statement that Graphviz does not take as it is written.
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def parsed(nnefc: Path, *arguments: object) -> dict:
    """Returns Graphviz' JSON of a drawing: `objects` are clusters and nodes, `edges` refer to them by `_gvid`."""
    done = draw(nnefc, *arguments)
    assert done.returncode == 0, done.stderr
    # The layout does not matter; that of osage is fast.
    return json.loads(graphviz(done.stdout, "osage", "-Tdot_json"))


def picture(nnefc: Path, model: Path, path: Path, *options: str) -> list[ET.Element]:
    """Draws a model as SVG and returns the groups of the nodes."""
    if shutil.which("dot") is None:
        pytest.skip("no Graphviz: install the Debian package graphviz")
    done = draw(nnefc, model, *options, "-o", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    assert root.tag == f"{SVG}svg"
    assert [each for each in root.iter() if each.tag not in {SVG + name for name in ("svg", "g", "a", "title", "text", "path", "polygon", "ellipse",
                                                                                     "polyline")}] == []
    return [group for group in root.iter(f"{SVG}g") if group.get("class") == "node"]


def nodes_of(graph: dict) -> dict[int, dict]:
    return {each["_gvid"]: each for each in graph["objects"] if not each["name"].startswith("cluster")}


def drawn_nodes(graph: dict) -> list[dict]:
    """Returns the nodes of a description that are drawn, with those of bodies."""
    results = {each["node"] for node in graph["nodes"] if node["kind"] == "output" for each in node["inputs"]}
    nodes = [node for node in graph["nodes"] if node["kind"] not in ("constant", "variable") or node["id"] in results]
    return nodes + [inner for node in nodes for body in node.get("bodies", []) for inner in drawn_nodes(body["graph"])]


def title(node: dict) -> str:
    """Returns the operation and the name of a node."""
    return " ".join(node["label"].split("\\n")[:2])


def save(results: list, parameters: list, path: Path, name: str = "net") -> Path:
    ov.save_model(ov.Model(results, parameters, name), path, compress_to_fp16=False)
    return path


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
def test_the_graph_of_a_network_is_that_of_khronos_parser(nnefc: Path, tmp_path: Path, path: Path) -> None:
    subprocess.run([nnefc, "expand", path, "-o", tmp_path / "flat.nnef"], check=True, timeout=60)
    flat = nnef.parse_file(str(tmp_path / "flat.nnef"))
    data = {output for operation in flat.operations if operation.name in ("variable", "constant") for output in operation.outputs.values()}
    made = [operation for operation in flat.operations if operation.name not in ("variable", "constant")]

    def tensors(values: object) -> list[str]:
        if isinstance(values, nnef.Identifier):
            return [str(values)]
        return [name for item in values for name in tensors(item)] if isinstance(values, (list, tuple)) else []

    makers = {str(name): operation.name for operation in made for name in tensors(list(operation.outputs.values()))}
    reads = collections.Counter((makers[name], operation.name) for operation in made for name in tensors(list(operation.inputs.values()))
                                if name not in data)
    reads.update((makers[name], "Result") for name in flat.outputs)
    drawn = parsed(nnefc, path)
    nodes = nodes_of(drawn)
    operations = {number: title(node).split()[0] for number, node in nodes.items()}
    assert collections.Counter(operations.values()) == collections.Counter([operation.name for operation in made] + ["Result"] * len(flat.outputs))
    assert collections.Counter((operations[edge["tail"]], operations[edge["head"]]) for edge in drawn["edges"]) == reads


@pytest.mark.parametrize("path", NETWORKS, ids=lambda path: path.stem)
def test_graphviz_reads_every_network(nnefc: Path, path: Path) -> None:
    for options in ([], ["--costs"]):
        graph = description(nnefc, path, *options)["graph"]
        counted = graphviz(draw(nnefc, path, *options).stdout, "gc", "-n").split()
        assert counted == [str(len(drawn_nodes(graph))), graph["name"], "(<stdin>)"]


def test_fragments_are_clusters(nnefc: Path, tmp_path: Path) -> None:
    path = tmp_path / "net.nnef"
    path.write_text(NESTED, encoding="utf-8")
    drawn = parsed(nnefc, path)
    nodes = nodes_of(drawn)
    objects = {each["_gvid"]: each for each in drawn["objects"]}

    def content(cluster: dict) -> tuple[set[str], dict[str, int]]:
        inner = {objects[each]["label"] for each in cluster.get("subgraphs", [])}
        return inner, collections.Counter(title(nodes[each]).split()[0] for each in cluster.get("nodes", []))

    clusters = {each["label"]: content(each) for each in drawn["objects"] if each["name"].startswith("cluster")}
    # Each is titled by the name in the document and the fragment.
    assert clusters == {"y: block": ({"a: layer", "y: layer"}, {"matmul": 2, "relu": 2}), "a: layer": (set(), {"matmul": 1, "relu": 1}),
                        "y: layer": (set(), {"matmul": 1, "relu": 1})}
    # Variables are lines of their readers.
    assert sum("B: f32[4,4]" in node["label"] for node in nodes.values()) == 2
    assert any("y: 0.5" in node["label"] for node in nodes.values())
    assert {edge["label"] for edge in drawn["edges"]} == {"f32[2,4]"}


def test_the_description_of_a_node(nnefc: Path, tmp_path: Path) -> None:
    path = tmp_path / "net.nnef"
    path.write_text(NESTED, encoding="utf-8")
    found = description(nnefc, path)
    assert (found["language"], found["graph"]["name"]) == ("ratified NNEF 1.0", "net")
    scopes = found["graph"]["scopes"]
    assert [(scope["fragment"], scope["parent"]) for scope in scopes] == [("block", -1), ("layer", 0), ("layer", 0)]
    nodes = found["graph"]["nodes"]
    by_id = {node["id"]: node for node in nodes}
    # Nodes follow their inputs.
    positions = {node["id"]: at for at, node in enumerate(nodes)}
    assert all(positions[each["node"]] < positions[node["id"]] for node in nodes for each in node["inputs"])
    assert collections.Counter(node["kind"] for node in nodes) == {"input": 1, "variable": 2, "constant": 1, "operation": 5, "output": 2}
    first, second = (node for node in nodes if node["operation"] == "matmul")
    assert (first["set"], first["section"], first["scope"], second["scope"]) == ("nnef", "R 4.7", 1, 2)
    assert first["attributes"] == {"transposeA": False, "transposeB": False}
    assert [each["name"] for each in first["inputs"]] == ["A", "B"]
    assert by_id[first["inputs"][1]["node"]]["attributes"]["label"] == "one/a"
    assert first["outputs"][0]["type"] == "f32" and first["outputs"][0]["shape"] == [2, 4]
    # The source is the place of the invocation.
    for node in nodes:
        if "source" in node and node["kind"] == "operation":
            line = NESTED.splitlines()[node["source"]["line"] - 1]
            assert line[node["source"]["column"] - 1:].startswith(node["operation"] + "("), line
    (constant,) = (node for node in nodes if node["kind"] == "constant")
    assert constant["outputs"][0]["value"] == [0.5]


def test_branches_are_drawn_within_the_graph(nnefc: Path, tmp_path: Path) -> None:
    x, condition = op.parameter([2, 6], np.float32, name="x"), op.parameter([], np.bool_, name="c")
    inner, other = op.parameter([2, 6], np.float32, name="inner"), op.parameter([2, 6], np.float32, name="other")
    choice = op.if_op(condition)
    then = ov.Model([op.result(op.tanh(inner), name="t")], [inner], "then")
    choice.set_then_body(then)
    choice.set_else_body(ov.Model([op.result(op.exp(other), name="e")], [other], "else"))
    choice.set_input(x.output(0), inner, other)
    result = choice.set_output(then.results[0], choice.get_else_body().results[0])
    path = save([op.result(result, name="r")], [x, condition], tmp_path / "if.xml")
    drawn = parsed(nnefc, path)
    nodes = nodes_of(drawn)
    operations = {number: title(node).split()[0] for number, node in nodes.items()}
    edges = [(operations[edge["tail"]], operations[edge["head"]], edge.get("style")) for edge in drawn["edges"]]
    for branch in ("Tanh", "Exp"):
        assert ("Parameter", branch, None) in edges and (branch, "Result", None) in edges
    assert edges.count(("Parameter", "Parameter", "dashed")) == 2
    assert edges.count(("Result", "If", "dashed")) == 2
    labels = {each["label"].split(" of ")[0]: {operations[number] for number in each["nodes"]} for each in drawn["objects"]
              if each["name"].startswith("cluster")}
    assert labels == {"then_body": {"Parameter", "Tanh", "Result"}, "else_body": {"Parameter", "Exp", "Result"}}
    (node,) = (each for each in description(nnefc, path)["graph"]["nodes"] if each["operation"] == "If")
    assert [body["role"] for body in node["bodies"]] == ["then_body", "else_body"]


def test_loops_have_their_back_edges(nnefc: Path, tmp_path: Path) -> None:
    x, state = op.parameter([2, 3, 5], np.float32, name="x"), op.parameter([2, 1, 5], np.float32, name="state")
    part, before = op.parameter([2, 1, 5], np.float32, name="part"), op.parameter([2, 1, 5], np.float32, name="before")
    after = op.result(op.add(part, before), name="after")
    iterator = op.tensor_iterator()
    iterator.set_function(ov.Model([after], [part, before], "body"))
    iterator.set_sliced_input(part, x.output(0), 0, 1, 1, -1, 1)
    iterator.set_merged_input(before, state.output(0), after.output(0))
    path = save([op.result(iterator.get_iter_value(after.output(0), -1), name="last")], [x, state], tmp_path / "loop.xml")
    drawn = parsed(nnefc, path)
    names = {number: title(node) for number, node in nodes_of(drawn).items()}
    styled = collections.defaultdict(set)
    for edge in drawn["edges"]:
        styled[edge.get("style")].add((names[edge["tail"]].split()[-1], names[edge["head"]].split()[-1]))
    assert styled["dotted"] == {("after", "before")}
    assert styled["dashed"] >= {("x", "part"), ("state", "before")}
    (node,) = (each for each in description(nnefc, path)["graph"]["nodes"] if each["operation"] == "TensorIterator")
    (body,) = node["bodies"]
    inside = {each["id"]: each["name"] for each in body["graph"]["nodes"]}
    assert {inside[each] for each in body["parameters"]} == {"part", "before"}
    (edge,) = body["back_edges"]
    assert (inside[body["results"][edge["result"]]], inside[body["parameters"][edge["parameter"]]]) == ("after", "before")


HOSTILE = ['"]; evil [label="', "a\\N\\G\\l", "&lt;b&amp;", "<b>bold</b>", "caf\u00e9 \u732b", "back\\", "-->", "'); drop", "{x|y}", "%s%n"]


def test_names_are_drawn_as_they_are(nnefc: Path, tmp_path: Path) -> None:
    x = op.parameter([1, 2], np.float32, name="x")
    y = x
    for name in HOSTILE:
        y = op.relu(y)
        y.set_friendly_name(name)
    path = save([op.result(y, name="r")], [x], tmp_path / "net.xml", 'net "\\')
    nodes = picture(nnefc, path, tmp_path / "net.svg")
    texts = [text.text for group in nodes for text in group.iter(f"{SVG}text")]
    assert set(HOSTILE) <= set(texts)
    assert len(nodes) == len(HOSTILE) + 2
    assert {node["name"] for node in description(nnefc, path)["graph"]["nodes"]} == {*HOSTILE, "x", "r"}


def test_line_ends_and_other_controls_in_names(nnefc: Path, tmp_path: Path) -> None:
    x = op.parameter([1], np.float32, name="x")
    path = save([op.result(op.relu(x), name="r")], [x], tmp_path / "net.xml")
    text = path.read_text(encoding="utf-8")
    name = re.search(r'name="([^"]*)" type="ReLU"', text)[1]
    path.write_text(text.replace(f'name="{name}"', 'name="one&#10;two&#9;three"'), encoding="utf-8")
    svg = graphviz(draw(nnefc, path).stdout, "dot", "-Tsvg")
    assert ">one<" in svg and ">two three<" in svg
    assert "one\ntwo\tthree" in {node["name"] for node in description(nnefc, path)["graph"]["nodes"]}


def test_open_extents_and_numbers_that_are_not_finite(nnefc: Path, tmp_path: Path) -> None:
    x = op.parameter(ov.PartialShape([-1, 2]), np.float32, name="x")
    limits = op.constant(np.array([np.inf, -np.inf], np.float32))
    unknown = op.parameter(ov.PartialShape.dynamic(), np.float32, name="u")
    path = save([op.result(op.add(op.add(x, limits), op.constant(np.float32(np.nan))), name="r"), op.result(op.relu(unknown), name="s")], [x, unknown],
                tmp_path / "net.xml")
    assert {edge["label"] for edge in parsed(nnefc, path)["edges"]} == {"f32[?,2]", "f32[...]"}
    nodes = description(nnefc, path)["graph"]["nodes"]
    assert sorted(str(node["outputs"][0]["value"]) for node in nodes if node["kind"] == "constant") == ["['inf', '-inf']", "['nan']"]
    shapes = {node["name"]: node["outputs"][0]["shape"] for node in nodes if node["kind"] == "input"}
    assert shapes == {"x": [None, 2], "u": None}
    done = draw(nnefc, path, "--costs")
    assert (done.returncode, done.stdout) == (1, "")
    assert "set them where the model is converted" in done.stderr


@pytest.mark.parametrize(("count", "has_value"), [(15, True), (16, True), (17, False)])
def test_small_constants_have_values(nnefc: Path, tmp_path: Path, count: int, has_value: bool) -> None:
    x = op.parameter([count], np.float32, name="x")
    path = save([op.result(op.add(x, op.constant(np.arange(count, dtype=np.float32))), name="r")], [x], tmp_path / "net.xml")
    (constant,) = (node for node in description(nnefc, path)["graph"]["nodes"] if node["kind"] == "constant")
    assert constant["outputs"][0].get("value") == (list(range(count)) if has_value else None)


# Parameters (millions) and multiply-accumulates (billions) by torchvision's documentation.
@pytest.mark.parametrize(("network", "parameters", "macs"), [("resnet50", 25.56, 4.09), ("mobilenetv2", 3.50, 0.30)])
def test_costs_are_published_ones(nnefc: Path, network: str, parameters: float, macs: float) -> None:
    (path,) = (path for path in NETWORKS if path.stem == network)
    found = description(nnefc, path, "--costs")
    for key, expected in (("parameters", parameters * 1e6), ("macs", macs * 1e9)):
        assert found["costs"][key] == pytest.approx(expected, rel=0.005)
        assert sum(node.get(key, 0) for node in found["graph"]["nodes"]) == found["costs"][key]
    assert "multiply-accumulates" in draw(nnefc, path, "--costs").stdout


@pytest.mark.parametrize("depth", [31, 32, 33, 300])
def test_deeply_nested_fragments(nnefc: Path, tmp_path: Path, depth: int) -> None:
    """Graphviz nests clusters at most 32 deep; the description has all."""
    path = tmp_path / "net.nnef"
    path.write_text("version 1.0;\nextension KHR_enable_fragment_definitions;\nextension KHR_enable_operator_expressions;\n"
                    "fragment deep( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )\n"
                    "{\n    a = relu(x);\n    y = deep(a, n = n - 1) if n > 1 else exp(a);\n}\n"
                    f"graph net( x ) -> ( y )\n{{\n    x = external(shape = [1]);\n    y = deep(x, n = {depth});\n}}\n", encoding="utf-8")
    drawn = parsed(nnefc, path)
    assert len(nodes_of(drawn)) == depth + 3
    assert sum(each["name"].startswith("cluster") for each in drawn["objects"]) == min(depth, 32)
    scopes = description(nnefc, path)["graph"]["scopes"]
    assert [scope["parent"] for scope in scopes] == list(range(-1, depth - 1))


def test_the_file_that_is_written(nnefc: Path, tmp_path: Path) -> None:
    path = tmp_path / "net.nnef"
    path.write_text(NESTED, encoding="utf-8")
    text, described = draw(nnefc, path).stdout, draw(nnefc, path, "--format", "json").stdout
    for name, expected in (("a.dot", text), ("a.gv", text), ("a", text), ("a.json", described)):
        done = draw(nnefc, path, "-o", tmp_path / name)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert (tmp_path / name).read_text(encoding="utf-8") == expected
    assert draw(nnefc, path, "-o", "-").stdout == text
    assert draw(nnefc, path, "-o", "-", "--format", "json").stdout == described
    # Documents on standard input.
    done = subprocess.run([nnefc, "draw", "-"], input=NESTED, capture_output=True, text=True, timeout=60)
    assert done.stdout == text.replace(str(path), "<stdin>")


@pytest.mark.parametrize("network", ["googlenet", "lstm_scan", "mobilenetv2"])
def test_pictures_have_a_group_for_each_node(nnefc: Path, tmp_path: Path, network: str) -> None:
    (path,) = (path for path in NETWORKS if path.stem == network)
    for options in ([], ["--costs"]):
        nodes = picture(nnefc, path, tmp_path / "net.svg", *options)
        expected = collections.Counter(node["operation"] for node in drawn_nodes(description(nnefc, path, *options)["graph"]))
        assert collections.Counter(next(group.iter(f"{SVG}text")).text for group in nodes) == expected


@pytest.mark.parametrize("search", ["", "/nowhere"])
def test_pictures_without_graphviz(nnefc: Path, tmp_path: Path, search: str) -> None:
    path = tmp_path / "model.nnef"
    path.write_text(NESTED, encoding="utf-8")
    (tmp_path / "net.svg").write_text("before", encoding="utf-8")
    done = subprocess.run([nnefc, "draw", path, "-o", tmp_path / "net.svg"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PATH": search}, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot run Graphviz' `dot`" in done.stderr and "install the Debian package `graphviz`" in done.stderr
    assert (tmp_path / "net.svg").read_text(encoding="utf-8") == "before"
    assert sorted(os.listdir(tmp_path)) == ["model.nnef", "net.svg"]


def test_pictures_of_models_with_mistakes(nnefc: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.nnef"
    path.write_text(NESTED.replace("add(y, 0.5)", "add(y)"), encoding="utf-8")
    done = draw(nnefc, path, "-o", tmp_path / "net.svg")
    assert (done.returncode, done.stdout) == (1, "")
    assert os.listdir(tmp_path) == ["model.nnef"]


@pytest.mark.parametrize("name", ["nowhere/net.svg", "net.xhtml", "net.png", "net.pdf", "net.nnef", "nowhere/net.dot", "."])
def test_files_that_cannot_be_written(nnefc: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.nnef"
    path.write_text(NESTED, encoding="utf-8")
    done = draw(nnefc, path, "-o", tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("nnefc: error: cannot ")
    assert os.listdir(tmp_path) == ["model.nnef"]


def test_an_invalid_model_writes_nothing(nnefc: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.nnef"
    path.write_text(NESTED.replace("add(y, 0.5)", "add(q, 0.5)"), encoding="utf-8")
    done = draw(nnefc, path, "-o", tmp_path / "net.dot")
    assert (done.returncode, done.stdout) == (1, "")
    assert "undefined name `q`" in done.stderr
    assert os.listdir(tmp_path) == ["model.nnef"]
