"""Rules of transformations with a pattern or an operation, and of generic ones: `extension_rules.py`."""

import functools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from extension_rules import EXP_RELU, X, document, marks, messages, outputs, result_name, transform


@pytest.fixture
def run(tmp_path):
    """Transforms a model by modules of a folder of extensions."""
    return functools.partial(transform, tmp_path)


# ---- pattern ----

SP_MISH = document("s = softplus(x)", "t = tanh(s)", "y = mul(x, t)")
PATTERN = """
    def pattern(self):
        return dict(
            nodes=[("mul", dict(op="Mul")), ("tanh", dict(op="Tanh")), ("sp", dict(op="SoftPlus"))],
            edges=[("sp", "tanh", {"in": 0, "out": 0}), ("tanh", "mul", {"in": 1})],
        )
"""


@pytest.mark.parametrize("base", ["FrontReplacementSubgraph", "FrontReplacementPattern"])
def test_pattern_1_base_classes(run, base):
    body = f"""
class MySine({base}):
    id = "mine"
{PATTERN}
    def replace_sub_graph(self, graph, match):
        assert sorted(match) == ["mul", "sp", "tanh"]
        sine = make(graph, "Sin", match["sp"].in_port(0).get_source())
        match["mul"].out_port(0).get_connection().set_source(sine.out_port(0))
"""
    assert result_name(run(SP_MISH, front__a=body)) == "y"
    text = document("s = softplus(x)", "t = tanh(s)", "p = mul(x, t)", "q = softplus(p)", "r = tanh(q)", "y = mul(p, r)")
    np.testing.assert_allclose(outputs(run(text, front__a=body))["y"], np.sin(np.sin(X)), rtol=1e-5)


@pytest.mark.parametrize(("consumer", "count"), [("relu", 3), ("abs", 0)])
def test_pattern_2_every_isomorphic_sub_graph_is_replaced(run, consumer, count):
    text = document(*(f"t{i + 1} = {('exp', 'relu')[i % 2]}({f't{i}' if i else 'x'})" for i in range(6))).replace("t6", "y")
    body = f"""
class A(FrontReplacementSubgraph):
    def pattern(self):
        return dict(nodes=[("a", dict(op="Exp")), ("b", dict(op="{consumer}"))], edges=[("a", "b")])

    def replace_sub_graph(self, graph, match):
        assert match["b"].in_node(0) == match["a"]
        note(graph, "+")
"""
    assert result_name(run(text, front__a=body)) == "y" + "+" * count


def test_pattern_3_only_replace_sub_graph_runs(run):
    body = f"""
class A(FrontReplacementSubgraph):
{PATTERN}
    def replace_sub_graph(self, graph, match):
        assert sorted(match) == ["mul", "sp", "tanh"]
        note(graph, "+")

    def generate_sub_graph(self, graph, match):
        raise AssertionError

    input_edges_match = output_edges_match = nodes_to_remove = generate_sub_graph
"""
    model = run(SP_MISH, front__a=body)
    assert result_name(model) == "y+"
    np.testing.assert_allclose(outputs(model)["y+"], X * np.tanh(np.log1p(np.exp(X))), rtol=1e-5)


@pytest.mark.parametrize(
    ("new", "old_input", "old_output"),
    [
        ("(new['sine'].id, 0)", "(match['sp'].id, 0)", "match['mul'].id"),
        ("(new['sine'], 0)", "(match['sp'], 0)", "(match['mul'], 0)"),
        ("new['sine']", "match['sp']", "match['mul']"),
        ("new['sine'].id", "match['sp'].id", "(match['mul'].id, 0)"),
    ],
)
def test_pattern_4_generate_sub_graph(run, new, old_input, old_output):
    body = f"""
class MySine(FrontReplacementSubgraph):
{PATTERN}
    def generate_sub_graph(self, graph, match):
        return dict(sine=make(graph, "Sin"))

    def input_edges_match(self, graph, match, new):
        return {{{old_input}: {new}}}

    def output_edges_match(self, graph, match, new):
        return {{{old_output}: {new}}}
"""
    model = run(SP_MISH, front__a=body)
    np.testing.assert_allclose(outputs(model)["y"], np.sin(X), rtol=1e-5)
    assert "SoftPlus" not in model.lower()


def test_pattern_4_shared_constants_stay(run):
    """The front graph has one constant for both numbers; the replaced one goes, the other one stays."""
    text = document("a = mul(x, 0.5)", "b = exp(a)", "c = mul(b, 0.5)", "y = tanh(c)")
    body = """
class Half(FrontReplacementSubgraph):
    def pattern(self):
        return dict(
            nodes=[("exp", dict(op="Exp")), ("mul", dict(op="Mul")), ("half", dict(op="Const"))],
            edges=[("exp", "mul", {"in": 0}), ("half", "mul", {"in": 1})],
        )

    def generate_sub_graph(self, graph, match):
        return {"new": make(graph, "Sin")}

    def input_edges_match(self, graph, match, new):
        return {(match["exp"].id, 0): (new["new"].id, 0)}

    def output_edges_match(self, graph, match, new):
        return {match["mul"].id: new["new"].id}
"""
    np.testing.assert_allclose(outputs(run(text, front__a=body))["y"], np.tanh(np.sin(X / 2)), rtol=1e-5)


@pytest.mark.parametrize(
    ("attributes", "count"),
    [
        ("dict(op='max_reduce')", 2),
        ("dict(op='ReduceMax', axes=[1])", 1),
        ("dict(op='ReduceMax', axes=lambda axes: 1 in axes)", 1),
        ("dict(op='ReduceMax', axes=lambda axes: axes is None)", 0),
        ("dict(op=lambda op: op in ['ReduceMax', 'ReduceMin'])", 3),
        ("dict(op='ReduceMin', missing=lambda value: value is None)", 1),
        ("dict(op='ReduceMin', missing=None)", 1),
        ("dict(op='ReduceMin', missing=1)", 0),
    ],
)
def test_pattern_5_nodes_are_matched_by_values_and_functions(run, attributes, count):
    text = document("a = max_reduce(x, axes = [1])", "b = max_reduce(a, axes = [0])", "y = min_reduce(b, axes = [0])")
    body = f"""
class Count(FrontReplacementSubgraph):
    def pattern(self):
        return dict(nodes=[("node", {attributes})], edges=[])

    def replace_sub_graph(self, graph, match):
        note(graph, "+")
"""
    assert result_name(run(text, front__a=body)) == "y" + "+" * count


@pytest.mark.parametrize(
    ("edge", "count"),
    [("('e', 'm')", 2), ("('e', 'm', {'in': 0})", 1), ("('e', 'm', {'in': 1, 'out': 0})", 1), ("('e', 'm', {'out': 0})", 2),
     ("('e', 'm', {'in': 2})", 0)],
)  # fmt: skip
def test_pattern_6_edges_have_ports(run, edge, count):
    text = document("a = exp(x)", "b = sub(a, x)", "y = sub(x, c)", "c = exp(b)").replace("    y = sub(x, c);\n    c = exp(b);", "    c = exp(b);\n    y = sub(x, c);")
    body = f"""
class Count(FrontReplacementSubgraph):
    def pattern(self):
        return dict(nodes=[("e", dict(op="Exp")), ("m", dict(op="Sub"))], edges=[{edge}])

    def replace_sub_graph(self, graph, match):
        note(graph, "+")
"""
    assert result_name(run(text, front__a=body)) == "y" + "+" * count


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("dict(nodes=[('a', dict(op='Exp'))])", "the pattern has no `edges`; expected a list of tuples"),
        ("dict(edges=[])", "the pattern has no `nodes`"),
        ("dict(nodes=['a'], edges=[])", "'a' is not a node of a pattern; expected `(alias, attributes)`"),
        ("dict(nodes=[('a',)], edges=[])", "('a',) is not a node of a pattern"),
        ("dict(nodes=[('a', {}), ('b', {})], edges=[('a', 'b', {'inn': 0})])", "has the unknown key `inn`; did you mean `in`?"),
        ("dict(nodes=[('a', {}), ('b', {})], edges=['ab'])", "'ab' is not an edge of a pattern"),
        ("dict(nodes=[('a', {})], edges=[], egdes=[])", "the pattern has the unknown key `egdes`; did you mean `edges`?"),
        ("dict(nodes=[('a', {})], edges=[('a', 'b')])", "names `b`"),
        ("[]", "the pattern is []; expected a dictionary"),
    ],
)
def test_pattern_5_and_6_mistakes_are_reported(run, pattern, expected):
    body = f"class A(FrontReplacementSubgraph):\n    def pattern(self):\n        return {pattern}\n"
    message = messages(run, EXP_RELU, front__a=body)
    assert expected in message
    assert "`front.a.A`" in message


def test_pattern_1_an_operation_that_does_not_exist_is_reported(run, tmp_path):
    body = """
class A(FrontReplacementOp):
    op = "{}"

    def replace_op(self, graph, node):
        return []
"""
    (tmp_path / "net.nnef").write_text(EXP_RELU)
    for name, is_known in (("Tahn", False), ("Tanh", True), ("Conv2D", True), ("FusedBatchNormV9", False), ("opset4.Mish", True)):
        run(EXP_RELU, front__a=body.format(name))
        words = [sys.executable, "-m", "nnefc", "compile", "net.nnef", "--extensions", "extensions"]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False, env=dict(os.environ))
        assert done.returncode == 0
        assert (f"it searches for the operation `{name}`, which does not exist" in done.stderr) is not is_known, done.stderr


# ---- operation ----


@pytest.mark.parametrize(
    "returned", ["[new.id]", "new.id", "[new]", "new", "(new, 0)", "[(new.id, 0)]", "(new,)", "[new.out_port(0)]"]
)
def test_operation_3_replace_op_returns_ids(run, returned):
    body = f"""
class Exponent(FrontReplacementOp):
    op = "Exp"

    def replace_op(self, graph, node):
        new = make(graph, "Sin", node.in_port(0).get_source())
        return {returned}
"""
    model = run(EXP_RELU, front__a=body)
    np.testing.assert_allclose(outputs(model)["y"], np.maximum(np.sin(X), 0), rtol=1e-5)
    assert "Exp" not in model.lower()


@pytest.mark.parametrize(("op", "count"), [("Exp", 2), ("exp", 2), ("Relu", 1), ("Sigmoid", 0)])
def test_operation_2_replace_sub_graph_has_the_match_op(run, op, count):
    body = f"""
class A(FrontReplacementOp):
    op = "{op}"

    def replace_sub_graph(self, graph, match):
        assert list(match) == ["op"] and match["op"].op == "{op}"
        note(graph, "+")
"""
    text = document("a = exp(x)", "b = exp(a)", "y = relu(b)")
    assert result_name(run(text, front__a=body)) == "y" + "+" * count


def test_operation_2_only_replace_sub_graph_runs(run):
    body = """
class A(FrontReplacementOp):
    op = "Exp"

    def replace_sub_graph(self, graph, match):
        note(graph, "+")

    def replace_op(self, graph, node):
        raise AssertionError
"""
    model = run(EXP_RELU, front__a=body)
    assert result_name(model) == "y+"
    assert "Exp" in model.lower()


def test_operation_3_the_node_is_removed(run):
    body = """
class A(FrontReplacementOp):
    op = "Exp"
    nodes = []

    def replace_op(self, graph, node):
        assert node.op == "Exp"
        self.nodes.append(node)
        return [make(graph, "Sin", node.in_port(0)).id]

    def find_and_replace_pattern(self, graph):
        super().find_and_replace_pattern(graph)
        assert len(self.nodes) == 2 and not graph.get_op_nodes(op="Exp")
        self.nodes.clear()
"""
    model = run(document("a = exp(x)", "b = exp(a)", "y = relu(b)"), front__a=body)
    np.testing.assert_allclose(outputs(model)["y"], np.maximum(np.sin(np.sin(X)), 0), rtol=1e-5)


@pytest.mark.parametrize("returned", ["[]", "None"])
def test_operation_3_nothing_for_an_output_that_is_read_is_an_error(run, returned):
    body = f"class A(FrontReplacementOp):\n    op = 'Exp'\n\n    def replace_op(self, graph, node):\n        return {returned}\n"
    assert "cannot be removed" in messages(run, EXP_RELU, front__a=body)


@pytest.mark.parametrize("returned", ["5", "[5]", "'nothing'", "{}"])
def test_operation_3_other_results_are_errors(run, returned):
    body = f"class A(FrontReplacementOp):\n    op = 'Exp'\n\n    def replace_op(self, graph, node):\n        return {returned}\n"
    message = messages(run, EXP_RELU, front__a=body)
    assert "5" in message or "there is no node `nothing`" in message or "expected a list of ids" in message


# ---- generic ----


@pytest.mark.parametrize("base", ["FrontReplacementSubgraph", "FrontReplacementPattern"])
@pytest.mark.parametrize("enabled", [True, False])
def test_generic_1_enabled_classes_run_once(run, base, enabled):
    body = marks(["A"], A={"enabled": enabled}).replace("class A(FrontReplacementPattern)", f"class A({base})")
    assert result_name(run(EXP_RELU, front__a=body)) == ("yA" if enabled else "y")


@pytest.mark.parametrize("axes", ["[1]", "[0, 1]"])
def test_generic_2_axes_of_squeeze_become_an_input(run, axes):
    """`squeeze_dims` is the Model Optimizer's name of the attribute, and NNEF's operation has no second input."""
    text = document(f"s = squeeze(x, axes = {axes})", "y = relu(s)", shape="[1, 1, 6]")
    body = """
class Normalize(FrontReplacementPattern):
    def find_and_replace_pattern(self, graph):
        for node in graph.get_op_nodes(op="Squeeze"):
            assert len(node.in_nodes()) == 1 and node.has_valid("squeeze_dims")
            axes = Const(graph, {"name": node.id + "/Dims", "value": int64_array(node.squeeze_dims)}).create_node()
            node.in_port(1).connect(axes.out_port(0))
            del node["squeeze_dims"]
            assert not node.has("squeeze_dims")
        for node in graph.get_op_nodes(op="Squeeze"):
            assert len(node.in_nodes()) == 2 and node.name == "s"
"""
    model = run(text, front__a=body)
    x = X.reshape(1, 1, 6)
    np.testing.assert_array_equal(outputs(model, x=x)["y"], np.maximum(x.squeeze(tuple(json.loads(axes))), 0))
    assert "squeeze_dims" not in model.lower()
