"""Built-in transformations that the Model Optimizer's page names: `extension_rules.py`."""

import functools

import numpy as np
import pytest
from extension_rules import EXP_RELU, X, document, outputs, transform

import nnefc


@pytest.fixture
def run(tmp_path):
    """Transforms a model by modules of a folder of extensions."""
    return functools.partial(transform, tmp_path)


NORMALIZE = """

class Normalize(Op):
    op = "Normalize"

    def __init__(self, graph, attrs):
        super().__init__(graph, {"op": self.op, "type": self.op, "infer": self.infer}, attrs)

    def backend_attrs(self):
        return ["across_spatial", "channel_shared", "eps"]

    @staticmethod
    def infer(node):
        node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())


class UseNormalize(FrontReplacementOp):
    op = "exp"

    def replace_op(self, graph, node):
        weights = Const(graph, {"value": np.array([2, 3, 4], np.float32)}).create_node()
        made = Normalize(graph, {"across_spatial": 0, "channel_shared": 0, "eps": 1e-3}).create_node()
        node.in_port(0).get_connection().set_destination(made.in_port(0))
        made.in_port(1).connect(weights.out_port(0))
        return [made.id]
"""
EXAMPLE = "extensions.back.NonmalizeToNormalizeL2.NormalizeToNormalizeL2"


def test_common_2_the_example_of_a_class_name(run, monkeypatch):
    model = run(EXP_RELU, front__normalize=NORMALIZE)
    norm = np.sqrt((X.astype(np.float64) ** 2).sum(1, keepdims=True) + 1e-3)
    expected = np.maximum(X / norm * np.array([2, 3, 4]), 0)
    np.testing.assert_allclose(outputs(model)["y"], expected, rtol=1e-5, atol=1e-6)
    assert "NormalizeL2" in model.lower()
    monkeypatch.setenv("MO_DISABLED_TRANSFORMS", EXAMPLE)
    text = run(EXP_RELU, front__normalize=NORMALIZE).lower()
    assert "extension.Normalize" in text
    assert "NormalizeL2" not in text
    monkeypatch.setenv("MO_ENABLED_TRANSFORMS", EXAMPLE)  # a name in both variables is disabled
    assert "NormalizeL2" not in run(EXP_RELU, front__normalize=NORMALIZE).lower()


def test_common_2_a_class_of_the_folder_has_priority(run, monkeypatch):
    own = """

class NormalizeToNormalizeL2(BackReplacementPattern):
    def find_and_replace_pattern(self, graph):
        note(graph, "Own")
"""
    assert "yOwn" in run(EXP_RELU, back__NonmalizeToNormalizeL2=own).lower()
    monkeypatch.setenv("MO_DISABLED_TRANSFORMS", EXAMPLE)
    assert "yOwn" not in run(EXP_RELU, back__NonmalizeToNormalizeL2=own).lower()


@pytest.mark.parametrize("module", ["NormalizeToNormalizeL2 import NormalizeToNormalizeL2",
                                    "GatherNormalizer import GatherTreeNormalizer"])  # fmt: skip
def test_common_8_run_after_built_in_classes_of_the_back_phase(run, module):
    name = module.rpartition(" ")[2]
    body = f"""
from nnefc.mo.back.{module}


class A(BackReplacementPattern):
    def run_after(self):
        return [{name}]

    def find_and_replace_pattern(self, graph):
        assert {name}.enabled is True
        note(graph, "A")
"""
    assert "yA" in run(EXP_RELU, back__a=body).lower()


def test_general_2_run_after_the_erasers(run):
    text = document("a = NoOp(x)", "y = exp(a)").replace(
        "version 1.0;\n",
        "version 1.0;\nextension KHR_enable_fragment_definitions;\nfragment NoOp<?>( x: tensor<?> ) -> ( y: tensor<?> );\n")
    body = """
from nnefc.mo.front.no_op_eraser import NoOpEraser
from nnefc.mo.front.standalone_const_eraser import StandaloneConstEraser


class A(FrontReplacementPattern):
    def run_after(self):
        return [NoOpEraser, StandaloneConstEraser]

    def find_and_replace_pattern(self, graph):
        note(graph, "-".join(sorted(node.op for node in graph.get_op_nodes())))
"""
    assert "yResult-exp-external" in run(text, front__a=body).lower()
    np.testing.assert_allclose(outputs(nnefc.load(text))["y"], np.exp(X), rtol=1e-5)
