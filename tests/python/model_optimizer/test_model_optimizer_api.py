"""The Model Optimizer's Python API: operation classes, nodes, graphs, data nodes and arrays."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

import nnefc
from nnefc.mo.composites import COMPOSITES
from nnefc.mo.front.common.partial_infer import utils
from nnefc.mo.modules import _table
from nnefc.mo.op import row_of

X = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)

CHAIN = """version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [2, 3]);
    a = tanh(x);
    b = exp(a);
    y = abs(b);
}
"""

IMPORTS = """
import numpy as np
from nnefc.mo.front.common.partial_infer.utils import *
from nnefc.mo.front.common.replacement import FrontReplacementPattern
from nnefc.mo.middle.replacement import MiddleReplacementPattern
from nnefc.mo.back.replacement import BackReplacementPattern
from nnefc.mo.front.tf.graph_utils import create_op_with_const_inputs, create_op_node_with_second_input
from nnefc.mo.graph.graph import Node
from nnefc.mo.ops.const import Const
from nnefc.mo.ops.op import Op
"""

BASES = {"front": "FrontReplacementPattern", "middle": "MiddleReplacementPattern", "back": "BackReplacementPattern"}


@pytest.fixture
def run(tmp_path):
    """Compiles a document with a transformation, given as the lines of its hook; returns the output `y`."""

    def compiled(hook, phase="front", document=CHAIN, x=X, imports="", **inputs):
        lines = "\n".join("        " + line for line in hook.strip("\n").split("\n"))
        path = tmp_path / "e" / phase / "change.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"{IMPORTS}{imports}\n\nclass Change({BASES[phase]}):\n    def find_and_replace_pattern(self, graph):\n{lines}\n"
        )
        return nnefc.load(document).compile(extensions=tmp_path / "e", threads=1)(x=x)["y"]

    return compiled


CLASSES = [(module, name) for module, classes in _table().items() for name in classes]
OPERATIONS = [(module, name) for module, name in CLASSES if module.startswith("ops.")]


def test_every_operation_of_the_table_exists():
    composites = {name for _, name, _, _ in COMPOSITES}
    for module, name in OPERATIONS:
        kind = getattr(importlib.import_module(f"nnefc.mo.{module}"), name)
        assert kind.__name__ == name
        assert kind.__module__ == f"nnefc.mo.{module}"
        if name in composites or not kind.op:
            continue
        row = row_of(kind.op_type or kind.op, kind.version)
        assert row is not None, name
        assert not kind.version or row[0] == kind.version, name
        assert set(kind.defaults) <= set(row[5]), name
        assert set(kind.renamed.values()) <= set(row[5]), name


def test_every_transformation_of_the_table_is_importable():
    for module, name in CLASSES:
        assert getattr(importlib.import_module(f"nnefc.mo.{module}"), name).__name__ == name
    for module in ("front.nothing", "ops.nothing", "nothing"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"nnefc.mo.{module}")


def test_every_operation_of_openvino_is_importable():
    newest = importlib.import_module("nnefc.mo.ops.opset16")
    names = {row[1] for row in nnefc._nnefc.operations() if row[0].startswith("opset")}
    assert len(names) > 180
    for name in names:
        assert getattr(newest, name).op == name
    for opset, version in ((1, "opset1"), (3, "opset1"), (4, "opset4"), (10, "opset4"), (11, "opset11"), (16, "opset11")):
        assert importlib.import_module(f"nnefc.mo.ops.opset{opset}").Interpolate.version == version
    with pytest.raises(ImportError):
        from nnefc.mo.ops.opset3 import Mish  # noqa: F401
    from nnefc.mo.ops.opset4 import Mish

    assert Mish.__module__ == "nnefc.mo.ops.opset4"
    for name in ("opset0", "opset17", "Nothing"):
        with pytest.raises(ImportError):
            importlib.import_module(f"nnefc.mo.ops.{name}")
    with pytest.raises(AttributeError, match="module 'nnefc.mo.ops.opset16' has no attribute 'Nothing'"):
        newest.Nothing  # noqa: B018


@pytest.mark.parametrize(("operation", "version", "found"), [("Interpolate", "opset4", "opset4"), ("MaxPool", "opset8", "opset8"),
                                                            ("MaxPool", "opset3", "opset14"), ("softmax", "", "opset8"),
                                                            ("Convert", "opset1", "opset1")])
def test_rows_by_version(operation, version, found):
    assert row_of(operation, version)[0] == found


def test_unknown_operations_have_no_row():
    assert row_of("Nothing") is None
    assert row_of("copy") is None
    assert row_of("nnef.copy") is not None


# ---- operations that are built of several, replacing `exp` in the chain ----

REPLACE = """
for node in graph.get_op_nodes(op='exp'):
    made = MADE
    node.in_port(0).get_connection().set_destination(made.in_port(0))
    node.out_port(0).get_connection().set_source(made.out_port(0))
"""
T = np.tanh(X)


@pytest.mark.parametrize(
    ("imports", "made", "expected"),
    [
        ("activation_ops import LeakyReLU", "LeakyReLU(graph, {'negative_slope': 0.25}).create_node()", np.where(T < 0, T / 4, T)),
        ("activation_ops import ReLU6", "ReLU6(graph, {}).create_node()", np.maximum(T, 0)),
        ("power import AttributedPower", "AttributedPower(graph, {'power': 3}).create_node()", T**3),
        ("power import AttributedPower", "AttributedPower(graph, {'scale': 3}).create_node()", 3 * T),
        ("power import AttributedPower", "AttributedPower(graph, {'shift': 3}).create_node()", 3 + T),
        ("power import AttributedPower", "AttributedPower(graph, {'power': 2, 'scale': 3, 'shift': 1}).create_node()", (3 * T + 1) ** 2),
        ("power import AttributedPower", "AttributedPower(graph, {}).create_node()", T),
        ("clamp import AttributedClamp", "AttributedClamp(graph, {'min': -0.5, 'max': 0.25}).create_node()", np.clip(T, -0.5, 0.25)),
        ("clamp import Clamp", "create_op_with_const_inputs(graph, Clamp, {1: float_array(-0.5), 2: float_array(0.25)})",
         np.clip(T, -0.5, 0.25)),
        ("pad import AttributedPad", "AttributedPad(graph, {'pads': int64_array([[0, 1], [2, 0]]), 'fill_value': 2}).create_node()",
         np.pad(T, [(0, 1), (2, 0)], constant_values=2)),
        ("pad import AttributedPad", "AttributedPad(graph, {'pads': int64_array([[0, 0], [1, 1]]), 'mode': 'edge'}).create_node()",
         np.pad(T, [(0, 0), (1, 1)], mode="edge")),
        ("expand_dims import ExpandDims", "ExpandDims(graph, {'expand_axis': 1}).create_node()", T[:, None]),
        ("permute import Permute", "Permute(graph, {'order': int64_array([1, 0])}).create_node()", T.T),
        ("flatten import Flatten", "Flatten(graph, {'axis': 1}).create_node()", T),
        ("identity import Identity", "Identity(graph, {}).create_node()", T),
        ("softmax import Softmax", "Softmax(graph, {'axis': 0}).create_node()", np.exp(T) / np.exp(T).sum(0)),
        ("reshape import Reshape", "create_op_node_with_second_input(graph, Reshape, int64_array([3, 2]))", T.reshape(3, 2)),
        ("transpose import Transpose", "create_op_node_with_second_input(graph, Transpose, int64_array([1, 0]))", T.T),
        ("ReduceOps import ReduceMax", "create_op_node_with_second_input(graph, ReduceMax, int64_array([1]), {'keep_dims': False})",
         T.max(1)),
        ("tile import Tile", "create_op_node_with_second_input(graph, Tile, int64_array([2, 1]))", np.tile(T, (2, 1))),
        ("cumsum import CumSum", "create_op_node_with_second_input(graph, CumSum, int64_array(1))", np.cumsum(T, 1)),
        ("elementwise import Minimum", "create_op_with_const_inputs(graph, Minimum, {1: float_array(0)})", np.minimum(T, 0)),
        ("gather import AttributedGather",
         "AttributedGather(graph, {'axis': 1}).create_node(); made.in_port(1).connect(Const(graph, {'value': int64_array([2, 0])})"
         ".create_node().out_port(0))", T[:, [2, 0]]),
        ("broadcast import Broadcast", "create_op_node_with_second_input(graph, Broadcast, int64_array([4, 2, 3]))",
         np.broadcast_to(T, (4, 2, 3))),
        ("strided_slice import StridedSlice",
         "create_op_with_const_inputs(graph, StridedSlice, {1: int64_array([0, 1]), 2: int64_array([1, 3]), 3: int64_array([1, 1])},"
         " {'begin_mask': [1, 1], 'end_mask': [1, 1]})", T[0:1, 1:3]),
        ("elementwise import Add", "Add(graph, {}).create_node(); made.in_port(1).connect(node.in_port(0).get_source())", 2 * T),
        ("normalize_l2 import NormalizeL2Op",
         "create_op_node_with_second_input(graph, NormalizeL2Op, int64_array([1]), {'eps': 1e-12, 'eps_mode': 'add'})",
         T / np.sqrt((T * T).sum(1, keepdims=True))),
    ],
)  # fmt: skip
def test_operations_compute_what_numpy_does(run, imports, made, expected):
    result = run(REPLACE.replace("MADE", made), imports=f"from nnefc.mo.ops.{imports}\n")
    np.testing.assert_allclose(result, np.abs(expected), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("imports", "made", "expected"),
    [("rank import Rank", "Rank(graph, {})", 2), ("size import Size", "Size(graph, {})", 6),
     ("shape import Shape", "Shape(graph, {'output_type': np.int32})", [2, 3])],
)  # fmt: skip
def test_operations_on_shapes(run, imports, made, expected):
    text = REPLACE.replace("MADE", f"{made}.create_node()").replace(
        "set_source(made.out_port(0))", "set_source(Cast(graph, {'dst_type': np.float32}).create_node([made]).out_port(0))"
    )
    result = run(text, imports=f"from nnefc.mo.ops.{imports}\nfrom nnefc.mo.ops.Cast import Cast\n")
    np.testing.assert_array_equal(result, expected)


def test_pooling_by_the_attributes_of_the_model_optimizer(run):
    document = CHAIN.replace("[2, 3]", "[1, 1, 4, 4]")
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4) / 16
    t = np.tanh(x).reshape(2, 2, 2, 2)
    attributes = "'window': [1, 1, 2, 2], 'stride': [1, 1, 2, 2], 'pad': [[0, 0]] * 4"
    for method, expected in (("max", t.max((1, 3))), ("avg", t.mean((1, 3)))):
        made = f"Pooling(graph, {{{attributes}, 'pool_method': '{method}', 'exclude_pad': True}}).create_node()"
        result = run(REPLACE.replace("MADE", made), document=document, x=x, imports="from nnefc.mo.ops.pooling import Pooling\n")
        np.testing.assert_allclose(result[0, 0], expected, rtol=1e-5)


def test_convolution_by_the_attributes_of_the_model_optimizer(run):
    document = CHAIN.replace("[2, 3]", "[1, 1, 4, 4]")
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4) / 16
    t = np.tanh(x)[0, 0]
    imports = "from nnefc.mo.ops.convolution import Convolution\n"
    connect = "; made.in_port(1).connect(Const(graph, {'value': np.ones((1, 1, 2, 2), np.float32)}).create_node().out_port(0))"
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(t, [(1, 0), (0, 1)]), (2, 2)).sum((2, 3))
    for attributes, expected in (
        ("'stride': [1, 1, 1, 2], 'pad': [[0, 0], [0, 0], [1, 0], [0, 1]], 'dilation': [1, 1, 1, 1]", windows[:, ::2]),
        ("'strides': [1, 2], 'pads_begin': [1, 0], 'pads_end': [0, 1], 'dilations': [1, 1]", windows[:, ::2]),
        ("'stride': [1, 1, 1, 1], 'group': 1", np.lib.stride_tricks.sliding_window_view(t, (2, 2)).sum((2, 3))),
    ):
        made = f"Convolution(graph, {{{attributes}}}).create_node(){connect}"
        result = run(REPLACE.replace("MADE", made), document=document, x=x, imports=imports)
        np.testing.assert_allclose(result[0, 0], expected, rtol=1e-5)
    with pytest.raises(nnefc.ModelError, match="`group` 2 is not supported; use GroupConvolution"):
        run(REPLACE.replace("MADE", f"Convolution(graph, {{'group': 2}}).create_node(){connect}"), document=document, x=x, imports=imports)


def test_split_has_the_outputs_that_its_attributes_state(run):
    text = """
node = graph.get_op_nodes(op='exp')[0]
split = VariadicSplit(graph, {'out_ports_count': 2}).create_node([node.in_port(0).get_source(), axis(graph), lengths(graph)])
assert list(split.out_ports()) == [0, 1]
node.in_port(0).get_connection().set_source(split.out_port(1))
"""
    imports = """from nnefc.mo.ops.split import VariadicSplit
def axis(graph): return Const(graph, {'value': int64_array(1)}).create_node()
def lengths(graph): return Const(graph, {'value': int64_array([1, 2])}).create_node()
"""
    np.testing.assert_allclose(run(text, imports=imports), np.exp(T[:, 1:]), rtol=1e-5)


# ---- nodes and graphs ----


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
def test_methods_of_nodes(run, phase):
    run(
        """
b = next(n for n in graph.get_op_nodes() if n.soft_get('name') == 'b')
data = graph.has_data
assert b.kind == 'op' and b.has_port('in', 0) and not b.has_port('in', 1) and b.has_port('out', 0)
assert not b.has_port('out', 1) and b.is_out_port_connected(0) and b.is_in_port_connected(0)
assert b.in_edges() == {0: {'in': 0, 'out': 0}} and b.in_edge(0) == {'in': 0, 'out': 0} and b.out_edge(0)['out'] == 0
assert len(b.get_inputs()) == len(b.get_outputs()) == 1 and b.get_sorted_inputs()[0][1] == {'in': 0, 'out': 0}
assert b.get_inputs({'in': 1}) == []
assert b.attrs()['kind'] == 'op' and b.attrs()['op'] == 'Exp'
assert not any(n.has('shape') for n in graph.get_op_nodes() if n.op not in ('Parameter', 'external'))
assert b.get_opset() == ('opset1' if data else 'nnef')
assert list(b.in_nodes()) == [0] and list(b.out_nodes()) == [0]
producer, consumer = b.in_node(0), b.out_node(0)
if data:
    assert producer.kind == consumer.kind == 'data'
    assert producer.in_node(0).soft_get('name') == 'a' and consumer.out_node(0).soft_get('name') == 'y'
    assert producer.in_node(0).in_node(0).in_node(0).op == 'Parameter'
    assert list(producer.shape) == [2, 3] and producer.value is None and not producer.has_valid('value')
    assert producer != producer.in_node() and producer == b.in_node(0) and producer.out_nodes() == [b]
    assert len(graph.get_data_nodes()) == 4 and graph.get_data_nodes(has_value=True) == []
else:
    assert producer.soft_get('name') == 'a' and consumer.soft_get('name') == 'y'
    assert producer.in_node(0).op == 'external'
    assert graph.get_data_nodes() == []
""",
        phase,
    )


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
def test_methods_of_graphs(run, phase):
    run(
        f"""
assert graph.stage == graph.graph['stage'] == '{phase}'
assert graph.graph['layout'] == 'NCHW' and graph.graph['fw'] == 'onnx' and graph.graph['fw'] == 'nnef'
assert graph.graph['fw'] != 'tf' and graph.graph['cmd_params'].data_type == 'float'
assert graph.graph['cmd_params'].no_such_option is None
graph.graph['own'] = 1
assert graph.graph['own'] == 1
order = [n.soft_get('name') for n in graph.pseudo_topological_sort()]
assert order.index('a') < order.index('b') and graph.topological_sort(reverse=True)[-1].soft_get('name') == order[0]
a, b = graph.get_node_id_by_name('a'), graph.get_node_id_by_name('b')
assert graph.has_edge(a, b) and not graph.has_edge(b, a)
assert graph.successors(a) == [b] and graph.predecessors(b) == [a]
assert graph.in_edges(b) == graph.out_edges(a) == [(a, b)] and (a, b) in graph.edges()
assert graph.in_edges(b, data=True) == [(a, b, {{'in': 0, 'out': 0}})]
assert graph.node[a]['op'] == 'Tanh' and a in graph.node and 'nothing' not in graph.node
assert len(graph.node) == len(graph.nodes()) and graph.get_nodes_with_attributes(op='Tanh') == [a]
graph.check_empty_graph('it'); graph.check_shapes_consistency(); graph.print_graph_stat()
""",
        phase,
    )


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("graph.erase_node(b)", np.abs(T)),
        ("b.replace_node(Op(graph, {'op': 'Sin'}).create_node([b.in_port(0)]))", np.abs(np.sin(T))),
        ("b.insert_node_after(Op(graph, {'op': 'Log'}).create_node())", np.abs(T)),
        ("b.insert_op_on_input_port(0, Mul, {'name': 'twice'}, float_array(2))", np.exp(2 * T)),
        ("c = b.copy_node({'name': 'again'}); c.in_port(0).connect(b.out_port(0)); "
         "graph._node(graph.get_node_id_by_name('y')).in_port(0).get_connection().set_source(c.out_port(0))", np.exp(np.exp(T))),
        ("b.type = 'Sin'", np.abs(np.sin(T))),
        ("b['op'] = 'Exp'", np.exp(T)),
        ("graph.remove_edge(a.id, b.id); graph.create_edge(a.in_port(0).get_source().node, b)", np.exp(X)),
        ("graph_functions.replace_node(b, Op(graph, {'op': 'Sin'}).create_node([b.in_port(0)]))", np.abs(np.sin(T))),
        ("graph_functions.erase_node(b)", np.abs(T)),
        ("b.in_port(0).disconnect(); graph_functions.create_edge(a, b)", np.exp(T)),
        ("graph_functions.add_opoutput(graph, b.id, 0, cut=False)", np.exp(T)),
        ("Op(graph, {'op': 'Sin'}).create_node_with_data([b.in_node(0)]).in_node(0) and None", np.exp(T)),
    ],
)  # fmt: skip
def test_changes(run, phase, change, expected):
    find = "a, b = (graph._node(graph.get_node_id_by_name(name)) for name in 'ab')\n"
    imports = "from nnefc.mo.ops.elementwise import Mul\nimport nnefc.mo.graph.graph as graph_functions\n"
    result = run(find + change + "\ngraph.clean_up()", phase, imports=imports)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_edges_from_and_to_data_nodes(run):
    document = CHAIN.replace("b = exp(a);", "[p, q] = split(a, axis = 0, ratios = [1, 1]);\n    b = exp(p);")
    text = """
split = graph.get_op_nodes(op='Split')[0]
b = graph._node(graph.get_node_id_by_name('b'))
for source in (split.out_node(0), split.out_node(1), split.out_node(1).id):
    graph.add_edge(source, b.id)
    assert b.in_port(0).get_source() == split.out_port(getattr(source, 'output'))
graph.add_edges_from([(split.id, split.out_node(1).id, {'out': 1})])
"""
    np.testing.assert_allclose(run(text, "middle", document), np.exp(T[1:]), rtol=1e-5)
    with pytest.raises(nnefc.ModelError, match="a data node is an output of its operation and cannot get another producer"):
        run(text + "graph.add_edge(b.id, split.out_node(1).id)", "middle", document)


def test_attributes_that_are_types_or_none(run):
    text = """
b = graph._node(graph.get_node_id_by_name('b'))
b['kept_type'] = np.float16
assert b.kept_type == 'f16'
b.kept_type = np.dtype(np.int64)
assert b['kept_type'] == 'i64'
b['none'] = None
b.type = 'Sin'
assert b.op == 'Sin' and b['none'] is None and b.kept_type == 'i64'
b['kept_type'] = b['none'] = None
"""
    np.testing.assert_allclose(run(text, "middle", imports="import numpy as np\n"), np.abs(np.sin(T)), rtol=1e-5, atol=1e-6)


def test_enabled_of_a_transformation_that_nnefc_does_not_have(run):
    imports = "from nnefc.mo.front.Pack import Pack\n"
    np.testing.assert_allclose(run("Pack.enabled = False", imports=imports), np.exp(T), rtol=1e-5)


def test_constants_can_be_changed_by_value_and_by_data(run):
    document = CHAIN.replace("b = exp(a)", "b = mul(a, 3.0)")
    for change in ("node.value = node.value * 2", "node['value'] = float_array(6)", "node.out_port(0).data.set_value(float_array(6))",
                   "node.out_node(0).value = float_array(6)"):
        text = f"for node in graph.get_op_nodes(op='Const'):\n    {change}\n"
        np.testing.assert_allclose(run(text, "middle", document), np.abs(6 * T), rtol=1e-5)


def test_helpers_of_fusions(run):
    document = CHAIN.replace("b = exp(a)", "b = mul(3.0, a)")
    text = """
b = graph.get_op_nodes(type='Multiply')[0]
value = helpers.get_value_id(b)
assert helpers.get_tensor_id(b) == 1 - value and helpers.get_value_in_port(b).data.get_value() == 3
assert helpers.get_tensor_in_port(b).get_source().node.soft_get('name') == 'a'
assert [n.soft_get('name') for n in helpers.get_next_operation(b)] == ['y']
a = b.in_node(1 - value).in_node(0)
assert helpers.get_value_in_port(a) is None and helpers.get_value_id(a) is None and helpers.get_tensor_id(a) == 0
assert get_canonical_axis_index([1, 2, 3], -1) == 2 and get_canonical_axis_index([1, 2, 3], 1) == 1
"""
    imports = "from nnefc.mo.middle.passes.fusing import helpers\nfrom nnefc.mo.front.caffe.extractors.utils import get_canonical_axis_index\n"
    np.testing.assert_allclose(run(text, "middle", document, imports=imports), np.abs(3 * T), rtol=1e-5)


@pytest.mark.parametrize(
    ("made", "expected"),
    [("node_to_get_batch_value(shape)", [2]), ("node_to_get_features_dimension_value(shape)", [3]),
     ("node_to_get_spatial_dimensions_value(shape)", [4, 5]), ("get_canonical_axis_index_node(rank, -1)", [3]),
     ("get_canonical_axis_index_node(rank, 2)", [2]), ("get_shape_values_by_range_idxs(shape, rank, 1, 3)", [3, 4]),
     ("get_shape_values_by_range_idxs(shape, rank, 1, 3, include_begin=False, include_end=True)", [4, 5]),
     ("get_shape_values_by_range_idxs(shape, rank, 2, -1, include_end=True)", [4, 5]),
     ("new_shape_node_from_shape_nodes([node_to_get_batch_value(shape), shape])", [2, 2, 3, 4, 5])],
)  # fmt: skip
def test_extents_at_run_time(run, made, expected):
    text = f"""
node = graph._node(graph.get_node_id_by_name('b'))
shape, rank = get_shape_and_rank_nodes_by_port(node.in_port(0).get_source(), return_as_a_scalar=False)
made = {made}
number = Cast(graph, {{'dst_type': np.float32}}).create_node([made])
node.out_port(0).get_connection().set_source(number.out_port(0))
"""
    imports = "from nnefc.mo.utils.shape import *\nfrom nnefc.mo.ops.Cast import Cast\n"
    document = CHAIN.replace("[2, 3]", "[2, 3, 4, 5]")
    x = np.zeros((2, 3, 4, 5), np.float32)
    np.testing.assert_array_equal(run(text, "middle", document, x, imports), expected)


def test_attributes_last_until_lowering_or_with_a_node_of_openvino(tmp_path):
    write = {
        "front/first.py": f"""{IMPORTS}

class First(FrontReplacementPattern):
    def find_and_replace_pattern(self, graph):
        b = graph._node(graph.get_node_id_by_name('b'))
        b['short'], b['deleted'] = 1, 2
        del b['deleted']
        node = Op(graph, {{'op': 'Sin', 'long': 3}}).create_node()
        b.insert_node_after(node)
        node['added'] = 4
""",
        "middle/second.py": f"""{IMPORTS}

class Second(MiddleReplacementPattern):
    def find_and_replace_pattern(self, graph):
        node = graph.get_op_nodes(op='Sin')[0]
        assert (node.long, node.added, node.in_node(0).in_node(0).has('short')) == (3, 4, False)
""",
    }
    for name, text in write.items():
        (tmp_path / "e" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "e" / name).write_text(text)
    model = nnefc.load(CHAIN).transform(extensions=tmp_path / "e")
    model.compile(threads=1)
    (tmp_path / "net.nnef").write_text(CHAIN)
    words = [sys.executable, "-m", "nnefc", "transform", str(tmp_path / "net.nnef"), "--extensions", str(tmp_path / "e")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("is dropped when the graph is lowered") == 1
    assert "the attribute `short` of `b` (exp) is dropped" in done.stderr


def test_nodes_without_connected_inputs_are_removed_if_nothing_reads_them(run):
    text = """
b = graph._node(graph.get_node_id_by_name('b'))
source = b.in_port(0).get_source()
b.in_port(0).disconnect()
b.out_port(0).get_connection().set_source(source)
"""
    np.testing.assert_allclose(run(text), np.abs(T), rtol=1e-5)
    with pytest.raises(nnefc.ModelError, match="left input 0 of `b`"):  # `y` reads it
        run("graph._node(graph.get_node_id_by_name('b')).in_port(0).disconnect()")


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ("graph._node('b').delete_input_port(1)", r"`b` \(exp\) has no input 1"),
        ("graph._node('b').add_output_port(1)", r"`b` \(exp\) has 1 output"),
        ("graph._node('b').add_input_port(0)", r"`b` \(exp\) has an input 0 already"),
        ("graph._node('b').has_port('x', 0)", "unknown type of port `x`"),
        ("graph.remove_edge('b', 'a')", "no edge leads from `b` to `a`"),
        ("graph.get_node_id_by_name('z')", "0 nodes are named `z`"),
        ("graph._node('y').out_node(1)", r"output 1 of `y` \(abs\) has no consumer"),
        ("Op(graph, {}).create_node()", "Op has no `op`"),
        ("from nnefc.mo.ops.split import AttributedSplit; AttributedSplit(graph, {'axis': 1}).create_node()",
         "the attribute `num_splits` is missing"),
        ("from nnefc.mo.ops.eltwise import Eltwise; Eltwise(graph, {'operation': 'x'}).create_node()", "unknown `operation` `x`"),
    ],
)  # fmt: skip
def test_mistakes_are_reported(run, hook, message):
    with pytest.raises(nnefc.ModelError, match=message):
        run(hook)


# ---- arrays ----


def test_shapes_with_unknown_extents():
    shape = utils.shape_array([1, utils.dynamic_dimension_value, None, 4])
    assert list(np.ma.getmaskarray(shape)) == [False, True, True, False]
    assert not utils.is_fully_defined(shape)
    assert utils.is_fully_defined(utils.shape_array([1, 2]))
    assert not utils.is_fully_defined(None)
    assert not utils.is_fully_defined(utils.dynamic_dimension)
    assert not utils.is_fully_defined(utils.dynamic_dimension_value)
    assert utils.is_fully_defined(3)
    assert list(utils.unmask_shape(shape)) == [1, utils.dynamic_dimension_value, utils.dynamic_dimension_value, 4]
    assert utils.compatible_shapes(shape, [1, 7, 8, 4])
    assert not utils.compatible_shapes(shape, [1, 7, 8, 5])
    assert not utils.compatible_shapes(shape, [1, 7, 8])
    assert utils.compatible_shapes(None, shape)
    assert list(utils.shape_delete([5, 6, 7], -1)) == [5, 6]
    assert list(utils.shape_delete([5, 6, 7], [0, 1])) == [7]
    assert list(utils.shape_insert([5, 6], 1, 9)) == [5, 9, 6]
    assert list(utils.shape_insert([5, 6], -1, [8, 9])) == [5, 6, 8, 9]
    assert utils.strict_compare_tensors(shape, shape)
    assert not utils.strict_compare_tensors(shape, [1, 2, 3, 4])
    assert len(utils.undefined_shape_of_rank(3)) == 3
    assert np.ma.getmaskarray(utils.undefined_shape_of_rank(3)).all()


@pytest.mark.parametrize(("made", "kind"), [(utils.int64_array([1]), np.int64), (utils.float_array([1]), np.float32),
                                            (utils.float32_array(1), np.float32), (utils.int8_array([1]), np.int8),
                                            (utils.mo_array([1.5]), np.float32), (utils.mo_array([1]), np.int64),
                                            (utils.mo_array(np.float64([1])), np.float64), (utils.mo_array([1], np.int32), np.int32)])
def test_element_types_of_arrays(made, kind):
    assert made.dtype == kind
