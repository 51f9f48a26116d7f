"""The differences from the Model Optimizer that the guide lists: each has a reason and a test."""

import ast
import functools
import pathlib

import numpy as np
import pytest
from extension_rules import EXP_RELU, X, document, messages, outputs, result_name, transform

ROOT = pathlib.Path(__file__).resolve().parents[3]
GUIDE = ROOT / "tools/docs/pages/guides/model-optimizer.md"

# The begin of the first cell of each row, and a test.
TESTS = {
    "`node.pb`": "test_an_extractor_gives_attributes",
    "`Loader` classes": "test_modules_and_classes_that_do_not_exist",
    "The entry `fw`": "test_methods_of_graphs",
    "The entry `layout`": "test_back_2_the_layout_is_nchw",
    "Entries of `graph.graph[..]`": "test_entries_of_the_graph_last_one_transformation",
    "data nodes are in": "test_methods_of_nodes",
    "names of operations in a scope": "test_names_in_scopes",
    "a node is found by": "test_a_text_for_several_nodes_is_an_error",
    "attributes of nodes last": "test_attributes_last_until_lowering_or_with_a_node_of_openvino",
    "attributes are objects": "test_middle_2_functions_last_until_the_transformation_ends",
    "masks of a `StridedSlice`": "test_masks_of_slices",
    "IR has the `backend_attrs`": "test_ir_has_all_attributes",
    "`Op` accepts a shape function": "test_shape_functions_of_known_operations_are_not_called",
    "a change of the shape": "test_shapes_outside_of_shape_functions_are_inferred",
    "internal operations": "test_operations_compute_what_numpy_does",
    "the source of an unconnected input": "test_an_unconnected_input_has_no_source",
    "`run_after` names": "test_every_transformation_of_the_table_is_importable",
    "an edge of a pattern": "test_pattern_5_and_6_mistakes_are_reported",
    "entries with the same `id`": "test_entries_with_one_id",
    "the flags": "test_points_3_to_6_rules_of_points",
    "`NoOpEraser`": "test_general_2_run_after_the_erasers",
    "`NormalizeToNormalizeL2`": "test_common_8_run_after_built_in_classes_of_the_back_phase",
    "`Pack`": "test_every_transformation_of_the_table_is_importable",
    "a node whose inputs": "test_nodes_without_connected_inputs_are_removed_if_nothing_reads_them",
    "`FrontReplacementFromConfigFileOp`": "test_an_entry_with_an_operation_needs_no_class",
    "`CaffePythonFrontExtractorOp`": "test_modules_and_classes_that_do_not_exist",
    "`MO_DISABLED_TRANSFORMS`": "test_common_2_id_and_class_name_in_the_environment",
}


def rows():
    table = GUIDE.read_text(encoding="utf-8").partition("| Model Optimizer | nnefc | reason |\n")[2].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.split("\n")[1:]]


def test_each_difference_has_a_reason_and_a_test():
    names = set()
    for path in (ROOT / "tests/python").rglob("test_*.py"):
        names |= {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}
    assert len(rows()) == len(TESTS)
    for cells, (begin, test) in zip(rows(), TESTS.items()):
        assert cells[0].startswith(begin), cells
        assert len(cells) == 3, cells
        assert all(cells), cells
        assert test in names, test


@pytest.fixture
def run(tmp_path):
    """Transforms a model by modules of a folder of extensions."""
    return functools.partial(transform, tmp_path)


@pytest.mark.parametrize(
    "line",
    ["from nnefc.mo.load.loader import Loader", "from nnefc.mo.front.extractor import CaffePythonFrontExtractorOp",
     "from nnefc.mo.front.tf.replacement import FrontReplacementFromConfigFileOp", "from nnefc.mo.ops.merge import Merge",
     "from nnefc.mo.ops.tile import AttributedTile"],
)  # fmt: skip
def test_modules_and_classes_that_do_not_exist(run, line):
    name = line.split()[1] if "load" in line or "merge" in line else line.split()[-1]
    assert name in messages(run, EXP_RELU, front__a=line + "\n")


def test_entries_of_the_graph_last_one_transformation(run):
    body = """
class A(FrontReplacementPattern):
    def find_and_replace_pattern(self, graph):
        graph.graph["own"] = 1
        assert graph.graph["own"] == 1 and graph.graph["cmd_params"].progress is False


class B(FrontReplacementPattern):
    def run_after(self):
        return [A]

    def find_and_replace_pattern(self, graph):
        assert "own" not in graph.graph
        note(graph, "B")
"""
    assert result_name(run(EXP_RELU, front__a=body)) == "yB"


def test_names_in_scopes(run):
    text = """version 1.0;
extension KHR_enable_fragment_definitions;
fragment Block(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    inner = exp(x);
    y = relu(inner);
}
graph net(x) -> (y)
{
    x = external(shape = [2, 3]);
    block = Block(x);
    y = abs(block);
}
"""
    body = """
class A(FrontReplacementFromConfigFileSubGraph):
    replacement_id = "entry"

    def replace_sub_graph(self, graph, match):
        assert sorted(match.matched_nodes_names()) == ["block/inner", "block/relu"]
        assert graph.get_op_nodes(op="Exp")[0].name == "block_inner"
        note(graph, "+")
"""
    entry = {"id": "entry", "match_kind": "scope", "custom_attributes": {}, "instances": ["block"]}
    assert result_name(run(text, [entry], front__a=body)) == "y+"


def test_masks_of_slices(run):
    """The class has the Model Optimizer's masks, the node OpenVINO's."""
    body = """
from nnefc.mo.ops.strided_slice import StridedSlice


class A(MiddleReplacementPattern):
    def find_and_replace_pattern(self, graph):
        relu = graph.get_op_nodes(op="ReLU")[0]
        ends = [Const(graph, {"value": int64_array(value)}).create_node() for value in ([1, 1], [2, 2])]
        attributes = {"begin_mask": [0, 1], "end_mask": [0, 1], "shrink_axis_mask": [0, 0], "new_axis_mask": [0, 0], "ellipsis_mask": [0, 0]}
        slice = StridedSlice(graph, attributes).create_node([relu.in_node(0), *ends])
        assert list(slice.begin_mask) == [1, 0] and list(slice.end_mask) == [1, 0]
        relu.in_port(0).connect(slice.out_port(0))
"""
    np.testing.assert_allclose(outputs(run(EXP_RELU, middle__a=body))["y"], np.exp(X)[:, 1:2], rtol=1e-5)


OWN = """
from nnefc.mo.ops.op import Op


class Own(Op):
    op = "Own"

    def __init__(self, graph, attrs):
        super().__init__(graph, {"op": self.op, "type": self.op, "infer": self.infer, "a": 1, "b": 2}, attrs)

    def backend_attrs(self):
        return ["a", ("c", lambda node: node.a + node.b)]

    @staticmethod
    def infer(node):
        node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())
"""


def test_ir_has_all_attributes(run, tmp_path):
    body = "from ops.own import Own\n\n\nclass A(FrontReplacementOp):\n    op = 'Exp'\n\n    def replace_op(self, graph, node):\n"
    body += "        return [Own(graph, {'b': 5}).create_node([node.in_port(0)]).id]\n"
    run(EXP_RELU, front__a=body, ops__own=OWN).save(tmp_path / "net.xml")
    text = (tmp_path / "net.xml").read_text()
    for attribute in ('a="1"', 'b="5"', 'c="6"'):
        assert attribute in text


def test_shape_functions_of_known_operations_are_not_called(run):
    body = """
class A(MiddleReplacementPattern):
    def find_and_replace_pattern(self, graph):
        relu = graph.get_op_nodes(op="ReLU")[0]
        sine = make(graph, "Sin", relu.in_port(0), infer=lambda node: node.out_port(0).data.set_shape([7]))
        assert list(sine.out_port(0).data.get_shape()) == [2, 3]
        relu.in_port(0).connect(sine.out_port(0))
"""
    np.testing.assert_allclose(outputs(run(EXP_RELU, middle__a=body))["y"], np.maximum(np.sin(np.exp(X)), 0), rtol=1e-5, atol=1e-6)


def test_shapes_outside_of_shape_functions_are_inferred(run):
    body = """
class A(MiddleReplacementPattern):
    def find_and_replace_pattern(self, graph):
        data = graph.get_op_nodes(op="Exp")[0].out_node(0)
        data.shape = [7]
        data.shape[0] = 7
        assert list(data.shape) == [2, 3]
"""
    assert outputs(run(EXP_RELU, middle__a=body))["y"].shape == (2, 3)


@pytest.mark.parametrize("kind", ["scope", "general"])
def test_entries_with_one_id(run, kind):
    """Entries of one kind are separate instances of the class."""
    entry = {"id": "entry", "match_kind": "scope", "custom_attributes": {}, "instances": ["a"]}
    other = {**entry, "match_kind": kind, **({"instances": ["y"]} if kind == "scope" else {})}
    if kind == "general":
        del other["instances"]
    body = "class A(FrontReplacementFromConfigFileSubGraph):\n    replacement_id = 'entry'\n\n    def replace_sub_graph(self, graph, match):\n        note(graph, '+')\n"
    text = document("a = exp(x)", "b = relu(a)", "y = abs(b)")
    if kind == "scope":
        assert result_name(run(text, [entry, other], front__a=body)) == "y++"
    else:
        assert "`entry`" in messages(run, text, [entry, other], front__a=body)


def test_an_entry_with_an_operation_needs_no_class(run):
    entry = {"id": "entry", "match_kind": "points", "custom_attributes": {"alpha": 0.5}, "op": "Elu"}
    entry["instances"] = {"start_points": ["a"], "end_points": ["a"]}
    model = run(EXP_RELU, [entry], front__unused="")
    np.testing.assert_allclose(outputs(model)["y"], np.maximum(X, 0), rtol=1e-5)
