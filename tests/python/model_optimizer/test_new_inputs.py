"""Transformations that add inputs and outputs to a model."""

import functools

import numpy as np
import pytest
from extension_rules import EXP_RELU, X, messages, transform


@pytest.fixture
def run(tmp_path):
    """Transforms a model by modules of a folder of extensions."""
    return functools.partial(transform, tmp_path)


ADD = """
from nnefc.mo.ops.parameter import Parameter


class A(KINDReplacementPattern):
    def find_and_replace_pattern(self, graph):
        node = graph.get_op_nodes(op="Relu")[0]
        added = Parameter(graph, {"name": "z", ATTRIBUTES}).create_node()
        Result(graph, {"name": "sum"}).create_node([make(graph, "Add", node, added)])
"""


def added(phase, attributes='"shape": np.array([2, 3]), "data_type": np.float32'):
    return ADD.replace("KIND", phase.capitalize()).replace("ATTRIBUTES", attributes)


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
def test_a_parameter_is_an_input_of_the_model(run, phase):
    made = run(EXP_RELU, **{f"{phase}__a": added(phase)}).compile(threads=1)
    assert [port.name for port in made.inputs] == ["x", "z"]
    found = made(x=X, z=2 * X)
    np.testing.assert_allclose(found["sum"], np.exp(X) + 2 * X, rtol=1e-5)
    np.testing.assert_allclose(found["y"], np.exp(X), rtol=1e-5)


@pytest.mark.parametrize("extents", ["np.array([-1, 3])", "[None, 3]", "(-1, 3)"])
def test_a_parameter_with_unknown_extents(run, extents):
    """The element type is f32 by default."""
    text = run(EXP_RELU, middle__a=added("middle", f'"shape": {extents}')).lower()
    assert '"z" {element_type = f32, shape = [?,3]}' in text


@pytest.mark.parametrize(("extents", "expected"), [("[-2, 3]", "`shape` is not a shape"), ("[2.0, 3]", "`shape` is not a shape"),
                                                   ("'2,3'", "`shape` of `Parameter` is not a shape")])
def test_a_parameter_with_another_shape_is_reported(run, extents, expected):
    message = messages(run, EXP_RELU, middle__a=added("middle", f'"shape": {extents}'))
    assert expected in message


def test_a_parameter_has_no_inputs(run):
    text = added("middle").replace('.create_node()', '.create_node([node])')
    assert "a new `opset1.Parameter` has 1 input; expected none" in messages(run, EXP_RELU, middle__a=text)
