"""Rules of transformations with an entry of a configuration: `extension_rules.py`."""

import functools
import json
import subprocess
import sys

import numpy as np
import pytest
from extension_rules import EXP_RELU, X, document, messages, outputs, result_name, transform


@pytest.fixture
def run(tmp_path):
    """Transforms a model by modules of a folder of extensions."""
    return functools.partial(transform, tmp_path)


# ---- general ----


@pytest.mark.parametrize("module", ["front.tf.replacement", "front.common.replacement"])
def test_general_1_custom_attributes_of_any_kind(run, module):
    attributes = {"d": {"a": [1, {"b": None}], "c": True}, "n": None, "i": 3, "f": 0.5, "t": "x", "l": [1, "a", None], "e": {}}
    body = f"""
from nnefc.mo.{module} import FrontReplacementFromConfigFileGeneral


class A(FrontReplacementFromConfigFileGeneral):
    replacement_id = "entry"

    def transform_graph(self, graph, replacement_descriptions):
        assert replacement_descriptions == {attributes!r}, replacement_descriptions
        note(graph, "ran")
"""
    entry = {"id": "entry", "match_kind": "general", "custom_attributes": attributes}
    assert result_name(run(EXP_RELU, [entry], front__a=body)) == "yran"


# ---- scope and points ----

BLOCKS = """version 1.0;
extension KHR_enable_fragment_definitions;
fragment block(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    a = mul(x, 0.5);
    b = exp(a);
    y = mul(b, 0.5);
}
graph net(x) -> (y)
{
    x = external(shape = [2, 3]);
    one = block(x);
    two = block(one);
    y = tanh(two);
}
"""
SINES = """
class Sines(FrontReplacementFromConfigFileSubGraph):
    replacement_id = "entry"

    def generate_sub_graph(self, graph, match):
        assert match.custom_replacement_desc.id == "entry"
        return {"sine": make(graph, "Sin")}

    def input_edges_match(self, graph, match, new):
        return INPUTS

    def output_edges_match(self, graph, match, new):
        return OUTPUTS
"""


@pytest.mark.parametrize(
    ("inputs", "outputs_", "kind"),
    [
        ("{(match.single_input_node(0)[0].id, 0): (new['sine'].id, 0)}", "{match.output_node(0)[0].id: new['sine'].id}", "points"),
        ("{match.single_input_node(0): (new['sine'], 0)}", "{match.output_node(0): (new['sine'], 0)}", "points"),
        ("{match.single_input_node(0)[0]: new['sine']}", "{match.output_node(0)[0]: new['sine']}", "points"),
        ("{0: 'sine'}", "{0: new['sine'].id}", "points"),
        ("{(match.single_input_node(0)[0].id, 0): (new['sine'].id, 0)}", "{match.output_node(0)[0].id: new['sine'].id}", "scope"),
    ],
)
def test_points_1_and_scope_1_generate_sub_graph(run, inputs, outputs_, kind):
    entry = {"id": "entry", "match_kind": kind, "custom_attributes": {}}
    if kind == "points":
        text = document("a = mul(x, 0.5)", "b = exp(a)", "c = mul(b, 0.5)", "y = tanh(c)")
        entry["instances"] = {"start_points": ["b"], "end_points": ["c"]}
        expected = np.tanh(np.sin(X / 2))
    else:
        text = BLOCKS
        entry["instances"] = ["one", "two"]
        entry["inputs"] = [[{"node": "a$", "port": 0}]]
        entry["outputs"] = [{"node": "mul$", "port": 0}]
        expected = np.tanh(np.sin(np.sin(X)))
    body = SINES.replace("INPUTS", inputs).replace("OUTPUTS", outputs_)
    np.testing.assert_allclose(outputs(run(text, [entry], front__a=body))["y"], expected, rtol=1e-5)


@pytest.mark.parametrize("kind", ["scope", "points", "general"])
def test_scope_1_points_1_and_general_1_need_an_entry(run, kind):
    """A transformation of an entry with another id, or without a configuration, does not run."""
    base = "General" if kind == "general" else "SubGraph"
    body = f"""
class A(FrontReplacementFromConfigFile{base}):
    replacement_id = "entry"

    def {"transform_graph" if kind == "general" else "replace_sub_graph"}(self, graph, match):
        note(graph, "+")
"""
    entry = {"id": "entry", "match_kind": kind, "custom_attributes": {}}
    if kind != "general":
        entry["instances"] = ["a"] if kind == "scope" else {"start_points": ["a"], "end_points": ["a"]}
    for number, configuration in enumerate([None, [{**entry, "id": "other"}], [entry]]):
        assert result_name(run(EXP_RELU, configuration, front__a=body)) == ("y+" if number == 2 else "y")


def test_scope_2_an_update_writes_inputs_and_outputs(tmp_path):
    (tmp_path / "net.nnef").write_text(BLOCKS)
    entry = {"custom_attributes": {"a": 1}, "id": "entry", "instances": ["one", "two"], "match_kind": "scope"}
    (tmp_path / "entries.json").write_text(json.dumps([entry]))
    words = [sys.executable, "-m", "nnefc", "transform", "net.nnef", "--custom-operations-config-update", "entries.json"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = json.loads((tmp_path / "entries.json").read_text())
    inputs, outputs_ = made.pop("inputs"), made.pop("outputs")
    assert made == entry
    assert [[port["port"] for port in ports] for ports in inputs] == [[0]]
    assert [port["port"] for port in outputs_] == [0]
    assert inputs[0][0]["node"].endswith("$") and outputs_[0]["node"].endswith("$")


@pytest.mark.parametrize("key", ["id", "match_kind", "instances", "custom_attributes"])
def test_scope_3_mandatory_keys(run, key):
    entry = {"id": "entry", "match_kind": "scope", "instances": ["a"], "custom_attributes": {}}
    del entry[key]
    body = "class A(FrontReplacementFromConfigFileSubGraph):\n    replacement_id = 'entry'\n\n    def replace_sub_graph(self, graph, match):\n        note(graph, '+')\n"
    if key == "custom_attributes":
        assert result_name(run(EXP_RELU, [entry], front__a=body)) == "y+"
    else:
        assert f"the entry has no `{key}`" in messages(run, EXP_RELU, [entry], front__a=body)


@pytest.mark.parametrize("order", [1, -1])
def test_scope_4_inputs_and_outputs_have_the_order_of_the_entry(run, order):
    text = BLOCKS.replace("fragment block(x: tensor<scalar>) ->", "fragment block(x: tensor<scalar>, z: tensor<scalar>) ->")
    text = text.replace("    a = mul(x, 0.5);\n    b = exp(a);\n    y = mul(b, 0.5);\n", "    a = exp(x);\n    b = abs(z);\n    y = add(a, b);\n")
    text = text.replace("block(x)", "block(x, x)").replace("    two = block(one);\n    y = tanh(two);", "    y = block(one, x);")
    inputs = [[{"node": "a$", "port": 0}], [{"node": "b$", "port": 0}]][::order]
    entry = {"id": "entry", "match_kind": "scope", "custom_attributes": {}, "instances": ["y"], "inputs": inputs,
             "outputs": [{"node": "add$", "port": 0}]}  # fmt: skip
    body = """
class A(FrontReplacementFromConfigFileSubGraph):
    replacement_id = "entry"

    def generate_sub_graph(self, graph, match):
        assert (match.inputs_count(), match.outputs_count()) == (2, 1)
        return {"new": make(graph, "Subtract", in_ports_count=2)}

    def input_edges_match(self, graph, match, new):
        return {match.single_input_node(i): (new["new"], i) for i in range(2)}

    def output_edges_match(self, graph, match, new):
        return {match.output_node(0): (new["new"], 0)}
"""
    made = outputs(run(text, [entry], front__a=body))["y"]
    np.testing.assert_allclose(made, order * (np.exp(X) + np.abs(X) - X), rtol=1e-5, atol=1e-6)


CHAIN = document("a = exp(x)", "b = relu(a)", "c = sigmoid(b)", "d = add(c, z)", "y = tanh(d)", inputs=("x", "z"))


@pytest.mark.parametrize(
    ("starts", "ends", "more", "expected"),
    [
        (["b"], ["c"], {}, ""),
        (["c"], ["b"], {}, "is not reachable"),
        (["a"], ["d"], {}, "an input of the model"),
        (["d"], ["y"], {}, "`d`"),
        (["b"], ["c"], {"include_inputs_to_sub_graph": False}, "must be `true`"),
        (["b"], ["c"], {"include_outputs_to_sub_graph": False}, "must be `true`"),
        (["b"], ["c"], {"include_inputs_to_sub_graph": True, "include_outputs_to_sub_graph": True}, ""),
    ],
)
def test_points_3_to_6_rules_of_points(run, starts, ends, more, expected):
    """End points are reached from start points, which read one tensor; no input of the model is between them."""
    entry = {"id": "entry", "match_kind": "points", "custom_attributes": {}, **more}
    entry["instances"] = {"start_points": starts, "end_points": ends}
    body = "class A(FrontReplacementFromConfigFileSubGraph):\n    replacement_id = 'entry'\n\n    def replace_sub_graph(self, graph, match):\n        assert sorted(match.matched_nodes_names()) == ['b', 'c']\n        note(graph, '+')\n"
    if not expected:
        assert result_name(run(CHAIN, [entry], front__a=body)) == "y+"
    else:
        assert expected in messages(run, CHAIN, [entry], front__a=body)


# ---- parts of entries ----

INSTANCES = document("Net_a = exp(x)", "Net_b = relu(Net_a)", "other = abs(Net_b)", "y = tanh(other)")


@pytest.mark.parametrize(
    ("instances", "expected"),
    [([".*et_a"], ["Net_a"]), (["Net_"], ["Net_a", "Net_b"]), ([".*_[ab]"], ["Net_a", "Net_b"]), (["et_a"], []), (["Net_a", "Net_b"], ["Net_a", "Net_b"])],
)  # fmt: skip
def test_scope_5_instances_are_regular_expressions(run, instances, expected):
    """An instance has the nodes whose names start with a match of the expression."""
    entry = {"id": "entry", "match_kind": "scope", "custom_attributes": {}, "instances": instances}
    body = f"""
class A(FrontReplacementFromConfigFileSubGraph):
    replacement_id = "entry"
    found = []

    def replace_sub_graph(self, graph, match):
        self.found += match.matched_nodes_names()
        note(graph, "+")
        assert self.found == {expected!r}[:len(self.found)], self.found
        if self.found == {expected!r}:
            self.found.clear()
            note(graph, "!")
"""
    calls = len(instances) if expected else 0
    assert result_name(run(INSTANCES, [entry], front__a=body)) == "y" + "+" * calls + "!" * bool(expected)


@pytest.mark.parametrize("kind", ["scope", "points"])
def test_scope_6_and_points_8_parts_of_the_entry_reach_the_class(run, kind):
    attributes = {"text": "t", "number": 3, "items": [1, 2], "flag": False}
    instances = ["a"] if kind == "scope" else {"start_points": ["a"], "end_points": ["a"]}
    entry = {"id": "entry", "match_kind": kind, "custom_attributes": attributes, "instances": instances}
    body = f"""
class A(FrontReplacementFromConfigFileSubGraph):
    replacement_id = "entry"

    def replace_sub_graph(self, graph, match):
        assert match.custom_replacement_desc.custom_attributes == {attributes!r}
        assert match.custom_replacement_desc.id == "entry"
        assert match.scope == ("a" if {kind!r} == "scope" else "")
        note(graph, "+")
"""
    assert result_name(run(EXP_RELU, [entry], front__a=body)) == "y+"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"match_kind": "scopes"}, "match_kind"),
        ({"match_kind": "general"}, ""),
        ({"instances": {"start_points": ["a"], "end_points": ["a"]}}, "instances"),
        ({"match_kind": "points"}, "instances"),
        ({"match_kind": "points", "instances": {"start_points": ["a"]}}, "end_points"),
        ({"match_kind": "points", "instances": {"end_points": ["a"]}}, "start_points"),
        ({"id": ""}, "id"),
    ],
)
def test_scope_3_and_points_8_and_general_3_keys_have_their_values(run, change, expected):
    entry = {"id": "entry", "match_kind": "scope", "custom_attributes": {}, "instances": ["a"], **change}
    body = "class A(FrontReplacementFromConfigFileGeneral):\n    replacement_id = 'entry'\n\n    def transform_graph(self, graph, entry):\n        note(graph, '+')\n"
    if not expected:
        del entry["instances"]
        assert result_name(run(EXP_RELU, [entry], front__a=body)) == "y+"
    else:
        assert f"`{expected}`" in messages(run, EXP_RELU, [entry], front__a=body)


def test_scope_7_and_9_inputs_and_outputs_of_an_update(tmp_path):
    """`inputs` has a list for each tensor from outside with all its readers, `outputs` each node that is read outside or nowhere."""
    text = """version 1.0;
extension KHR_enable_fragment_definitions;
fragment Block(x: tensor<scalar>, z: tensor<scalar>) -> (y: tensor<scalar>, w: tensor<scalar>)
{
    first = exp(x);
    second = sub(z, x);
    third = add(first, second);
    y = mul(third, z);
    w = abs(third);
}
graph net(x, z) -> (y, w)
{
    x = external(shape = [2, 3]);
    z = external(shape = [2, 3]);
    a = relu(x);
    b = tanh(z);
    one, two = Block(a, b);
    y = sigmoid(one);
    w = sqr(two);
}
"""
    (tmp_path / "net.nnef").write_text(text)
    entry = {"custom_attributes": {}, "id": "entry", "instances": ["one"], "match_kind": "scope"}
    (tmp_path / "entries.json").write_text(json.dumps([entry]))
    words = [sys.executable, "-m", "nnefc", "transform", "net.nnef", "--custom-operations-config-update", "entries.json"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = json.loads((tmp_path / "entries.json").read_text())
    inputs = [sorted((port["node"], port["port"]) for port in ports) for ports in made["inputs"]]
    assert sorted(inputs) == [[("first$", 0), ("second$", 1)], [("mul$", 1), ("second$", 0)]]
    assert sorted((port["node"], port["port"]) for port in made["outputs"]) == [("abs$", 0), ("mul$", 0)]


def test_scope_8_patterns_identify_nodes_in_each_instance(tmp_path):
    """`exp` occurs twice in the block, so that its patterns have the names of the inner blocks."""
    text = """version 1.0;
extension KHR_enable_fragment_definitions;
fragment Inner(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    same = exp(x);
    y = abs(same);
}
fragment Block(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    left = Inner(x);
    right = Inner(x);
    y = add(left, right);
}
graph net(x) -> (y)
{
    x = external(shape = [2, 3]);
    one = Block(x);
    two = Block(one);
    y = tanh(two);
}
"""
    (tmp_path / "net.nnef").write_text(text)
    entry = {"custom_attributes": {}, "id": "entry", "instances": ["one", "two"], "match_kind": "scope"}
    (tmp_path / "entries.json").write_text(json.dumps([entry]))
    words = [sys.executable, "-m", "nnefc", "transform", "net.nnef", "--custom-operations-config-update", "entries.json"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = json.loads((tmp_path / "entries.json").read_text())
    assert sorted(port["node"] for port in made["inputs"][0]) == ["left/same$", "right/same$"]
    assert made["outputs"] == [{"node": "add$", "port": 0}]


@pytest.mark.parametrize(
    ("starts", "ends", "expected"),
    [
        # `side` is found against the edges, and the search along them stops where nothing reads a tensor.
        (["b"], ["d"], ["b", "c", "d", "k", "side", "unread"]),
        (["b"], ["c"], ["b", "c"]),
        (["c"], ["d"], ["c", "d", "k", "side", "unread"]),
        (["b"], ["d", "unread"], ["b", "c", "d", "k", "side", "unread"]),
    ],
)
def test_points_7_nodes_between_the_points(run, starts, ends, expected):
    text = document("a = exp(x)", "b = relu(a)", "c = sigmoid(b)", "k = variable(shape = [2, 3], label = 'k')", "side = abs(k)",
                    "d = add(c, side)", "unread = neg(c)", "y = tanh(d)", outputs=("y", "unread"))  # fmt: skip
    entry = {"id": "entry", "match_kind": "points", "custom_attributes": {}}
    entry["instances"] = {"start_points": starts, "end_points": ends}
    body = f"""
class A(FrontReplacementFromConfigFileSubGraph):
    replacement_id = "entry"

    def replace_sub_graph(self, graph, match):
        found = sorted(set(match.matched_nodes_names()))  # a result has the name of its node
        assert found == {expected!r}, found
        note(graph, "+")
"""
    assert "y+" in run(text, [entry], variables={"k": X}, front__a=body).lower()
