"""Rules of the middle and back phases: `extension_rules.py`."""

import functools

import numpy as np
import pytest
from extension_rules import EXP_RELU, X, document, messages, outputs, result_name, transform


@pytest.fixture
def run(tmp_path):
    """Transforms a model by modules of a folder of extensions."""
    return functools.partial(transform, tmp_path)


@pytest.mark.parametrize("phase", ["middle", "back"])
@pytest.mark.parametrize(
    ("attributes", "count"), [("kind='data'", 1), ("kind='data', shape=lambda shape: list(shape) == [2, 3]", 1), ("kind='data', shape=None", 0)]
)
def test_middle_1_and_back_1_patterns_contain_data_nodes(run, phase, attributes, count):
    """There is a data node between two operations; without it, a pattern of the front phase is accepted, too."""
    body = f"""
class A({phase.capitalize()}ReplacementPattern):
    def pattern(self):
        return dict(
            nodes=[("exp", dict(kind="op", op="Exp")), ("data", dict({attributes})), ("relu", dict(kind="op", op="ReLU"))],
            edges=[("exp", "data", {{"out": 0}}), ("data", "relu", {{"in": 0}})],
        )

    def replace_pattern(self, graph, match):
        assert match["data"].kind == "data" and match["data"].in_node(0) == match["exp"]
        assert match["relu"].in_node(0) == match["data"] and list(match["data"].shape) == [2, 3]
        note(graph, "+")
"""
    assert result_name(run(EXP_RELU, **{f"{phase}__a": body})) == "y" + "+" * count


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
def test_middle_3_and_back_1_the_entry_is_replace_pattern(run, phase):
    """In the front phase it is `replace_sub_graph`."""
    entry = "replace_sub_graph" if phase == "front" else "replace_pattern"
    other = "replace_pattern" if phase != "front" else "find_matches"
    body = f"""
class A({phase.capitalize()}ReplacementPattern):
    def pattern(self):
        return dict(nodes=[("exp", dict(op="Exp"))], edges=[])

    def {other}(self, graph, match):
        raise AssertionError

    def {entry}(self, graph, match):
        assert list(match) == ["exp"]
        note(graph, "+")
"""
    assert result_name(run(EXP_RELU, **{f"{phase}__a": body})) == "y+"
    missing = body.replace(f"def {entry}(", "def something(").replace(f"def {other}(", "def another(")
    assert f"does not override `{entry}`" in messages(run, EXP_RELU, **{f"{phase}__a": missing})


@pytest.mark.parametrize("phase", ["middle", "back"])
def test_middle_4_and_back_4_the_entry_of_generic_classes(run, phase):
    body = f"""
class A({phase.capitalize()}ReplacementPattern):
    def find_and_replace_pattern(self, graph):
        assert graph.stage == {phase!r} and [node.op for node in graph.get_op_nodes()].count("Exp") == 1
        note(graph, "+")

    def pattern(self):
        raise AssertionError

    replace_pattern = pattern
"""
    assert result_name(run(EXP_RELU, **{f"{phase}__a": body})) == "y+"


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
def test_middle_5_cycles_are_found(run, phase):
    body = f"""
class A({phase.capitalize()}ReplacementPattern):
    def find_and_replace_pattern(self, graph):
        exp, relu = graph.get_op_nodes(op="Exp")[0], graph.get_op_nodes(op="ReLU")[0]
        exp.in_port(0).connect(relu.out_port(0))
"""
    assert "cycle" in messages(run, EXP_RELU, **{f"{phase}__a": body})


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
def test_back_2_the_layout_is_nchw(run, phase):
    """In every phase, since NNEF has no other layout."""
    body = f"""
class A({phase.capitalize()}ReplacementPattern):
    graph_condition = [lambda graph: graph.graph["layout"] == "NCHW"]

    def find_and_replace_pattern(self, graph):
        note(graph, "+")
"""
    assert result_name(run(EXP_RELU, **{f"{phase}__a": body})) == "y+"


SHUFFLED = document(
    "r = relu(x)",
    "p = reshape(r, shape = [1, 2, 2, 3, 3])",
    "t = transpose(p, axes = [0, 2, 1, 3, 4])",
    "q = reshape(t, shape = [1, 4, 3, 3])",
    "w = variable(shape = [4, 4, 3, 3], label = 'w')",
    "y = conv(q, w, padding = [(1, 1), (1, 1)], border = 'constant')",
    shape="[1, 4, 3, 3]",
)


@pytest.mark.parametrize("enabled", [False, True])
def test_back_3_the_reordering_of_relu(run, monkeypatch, enabled):
    """The Model Optimizer's transformation, which is disabled unless the environment enables it."""
    if enabled:
        monkeypatch.setenv("MO_ENABLED_TRANSFORMS", "back.ShufflenetReLUReorder")
    weights = np.random.default_rng(1).standard_normal((4, 4, 3, 3), dtype=np.float32)
    lowered = run(SHUFFLED, variables={"w": weights}, back__unused="").lower()
    assert (lowered.index("ReLU") > lowered.index("Transpose")) is enabled


@pytest.mark.parametrize("phase", ["middle", "back"])
def test_middle_1_every_match_is_replaced(run, phase):
    body = f"""
class A({phase.capitalize()}ReplacementPattern):
    def pattern(self):
        return dict(nodes=[("exp", dict(op="Exp"))], edges=[])

    def replace_pattern(self, graph, match):
        match["exp"].out_port(0).get_connection().set_source(make(graph, "Sin", match["exp"].in_port(0)).out_port(0))
"""
    model = run(document("a = exp(x)", "b = relu(a)", "y = exp(b)"), **{f"{phase}__a": body})
    np.testing.assert_allclose(outputs(model)["y"], np.sin(np.maximum(np.sin(X), 0)), rtol=1e-5, atol=1e-6)
