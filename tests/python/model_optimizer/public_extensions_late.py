"""Extensions of the middle and back phases, and with operations of their folder: see `public_extensions.py`."""

import numpy as np
from public_extensions import Case, sigmoid

LATE = [
    Case(
        "leaky_relu_with_data_nodes",
        {
            "middle/leaky.py": """
import logging as log

from openvino.tools.mo.ops.activation_ops import LeakyReLU
from openvino.tools.mo.middle.replacement import MiddleReplacementPattern
from openvino.tools.mo.middle.pass_separator import PostMiddleStart
from openvino.tools.mo.middle.fusings import Fusing
from openvino.tools.mo.graph.graph import rename_nodes, Graph


class LeakyReLUFusion(MiddleReplacementPattern):
    enabled = True
    force_clean_up = True

    def run_after(self):
        return [Fusing]

    def run_before(self):
        return [PostMiddleStart]

    @staticmethod
    def pattern():
        return dict(
            nodes=[
                ('data', dict(kind='data')),
                ('mul_data', dict(kind='data')),
                ('max_op', dict(kind='op', type='Maximum')),
                ('const_op', dict(kind='op', type='Const')),
                ('const_data', dict(kind='data')),
                ('mul_op', dict(kind='op', type='Multiply')),
            ],
            edges=[
                ('data', 'mul_op'), ('mul_op', 'mul_data'), ('data', 'max_op'), ('mul_data', 'max_op'),
                ('const_op', 'const_data'), ('const_data', 'mul_op'),
            ])

    @staticmethod
    def replace_pattern(graph: Graph, match: dict):
        mul_node, const_node, max_node = match['mul_op'], match['const_op'], match['max_op']
        if not (const_node.value.ndim == 0 or const_node.value.size == 1):
            log.debug('not a scalar')
            return
        value = const_node.value.item(0)
        leaky = LeakyReLU(graph, dict(negative_slope=value)).create_node()
        data_in_port = int(mul_node.in_port(0).get_source().node.type == 'Const')
        mul_node.in_port(data_in_port).get_source().connect(leaky.in_port(0))
        max_node.out_port(0).get_connection().set_source(leaky.out_port(0))
        name = max_node.soft_get('name', max_node.id)
        rename_nodes([(max_node, name + '/TBR'), (leaky, name)])
"""
        },
        "t = tanh(x); m = mul(t, 0.25); y = max(t, m);",
        lambda x: np.maximum(np.tanh(x), 0.25 * np.tanh(x)),
        present=("PReLU",),
        absent=("Maximum", "Multiply"),
        repository="openvinotoolkit/openvino",
    ),
    Case(
        "sum_of_an_attribute",
        {
            "middle/macs.py": """
from mo.middle.replacement import MiddleReplacementPattern
from mo.graph.graph import Graph


class CountMacs(MiddleReplacementPattern):
    enabled = True

    def find_and_replace_pattern(self, graph: Graph):
        for node in graph.get_op_nodes(type='Tanh'):
            node['macs'] = 3
        total = 0
        for _, attrs in graph.nodes(data=True):
            if 'macs' in attrs:
                total += attrs['macs']
        graph.graph['total_macs'] = str(total)
        assert graph.graph['total_macs'] == '6'
        for node in graph.get_op_nodes(type='Tanh'):
            del node['macs']
"""
        },
        "a = tanh(x); b = exp(a); y = tanh(b);",
        lambda x: np.tanh(np.exp(np.tanh(x))),
    ),
    Case(
        "concatenation_of_one_tensor",
        {
            "back/useless_concat.py": """
import logging as log

from openvino.tools.mo.graph.graph import Graph
from openvino.tools.mo.back.replacement import BackReplacementPattern


class UselessConcatRemoval(BackReplacementPattern):
    enabled = True
    run_not_recursively = True

    def run_after(self):
        from openvino.tools.mo.back.SplitNormalizer import SplitNormalizer
        return [SplitNormalizer]

    @staticmethod
    def pattern():
        return dict(nodes=[('concat', dict(kind='op', type='Concat')), ('concat_data', dict(kind='data'))],
                    edges=[('concat', 'concat_data')])

    @staticmethod
    def replace_pattern(graph: Graph, match: dict):
        if len(match['concat'].in_nodes()) == 1:
            log.debug('Concat %s has one input', match['concat'].name)
            node = match['concat']
            if node.out_port(0).disconnected():
                return
            node.out_port(0).get_connection().set_source(node.in_port(0).get_source())
"""
        },
        "t = tanh(x); c = concat([t], axis = 0); y = exp(c);",
        lambda x: np.exp(np.tanh(x)),
        absent=("Concat",),
        repository="openvinotoolkit/openvino",
    ),
    Case(
        "reshape_around_matmul",
        {
            "back/matmul.py": """
import numpy as np

from extensions.back.ReshapeMutation import ReshapeMutation
from mo.ops.reshape import Reshape
from mo.ops.const import Const
from mo.graph.graph import Graph
from mo.front.common.partial_infer.utils import int64_array
from mo.back.replacement import BackReplacementPattern


class MatMulNormalizer(BackReplacementPattern):
    enabled = True
    graph_condition = [lambda graph: graph.graph['cmd_params'].generate_experimental_IR_V10]
    force_clean_up = True

    def run_before(self):
        return [ReshapeMutation]

    @staticmethod
    def pattern():
        return dict(nodes=[('op', dict(kind='op', type='MatMul'))], edges=[])

    @staticmethod
    def replace_pattern(graph: Graph, match: dict):
        node = match['op']
        shape = node.in_port(0).data.get_shape()
        if len(shape) > 2:
            flat = int64_array([np.prod(shape[:-1]), shape[-1]])
            const = Const(graph, {'value': flat}).create_node()
            reshape = Reshape(graph, {'name': node.soft_get('name', node.id) + '/Flatten'}).create_node()
            reshape.in_port(1).connect(const.out_port(0))
            source = node.in_port(0).get_source()
            node.in_port(0).get_connection().set_source(reshape.out_port(0))
            source.connect(reshape.in_port(0))
            back = Reshape(graph, {'name': 'unflatten'}).create_node()
            Const(graph, {'value': int64_array([*shape[:-1], -1])}).create_node().out_port(0).connect(back.in_port(1))
            node.out_port(0).get_connection().set_source(back.out_port(0))
            back.in_port(0).connect(node.out_port(0))
"""
        },
        "t = tanh(x); w = variable(shape = [1, 3, 4], label = 'w'); y = matmul(t, w);",
        lambda x: np.tanh(x) @ np.arange(12).reshape(1, 3, 4),
        shape=(1, 2, 3),
        variables={"w": np.arange(12, dtype=np.float32).reshape(1, 3, 4)},
        present=("Flatten",),
        repository="openvinotoolkit/openvino",
    ),
    Case(
        "operation_with_shape_function",
        {
            "ops/GridCopy.py": """
import numpy as np
from mo.ops.op import Op
from mo.graph.graph import Node, Graph


def shape_infer(node):
    assert len(node.in_nodes()) == 2
    shape = node.in_node(0).shape.copy()
    shape[1] = node.in_node(1).shape[0]
    node.out_node(0).shape = shape


class GridCopy(Op):
    op = 'GridCopy'
    enabled = True

    def __init__(self, graph: Graph, attrs: dict):
        mandatory_props = dict(type=__class__.op, op=__class__.op, in_ports_count=2, out_ports_count=1,
                               scale=1.0, infer=shape_infer)
        super().__init__(graph, mandatory_props, attrs)

    def backend_attrs(self):
        return ['scale']

    @staticmethod
    def compute(node, values, columns):
        return values[:, columns.astype(int)] * node.scale
""",
            "front/onnx/grid_ext.py": """
from mo.ops.const import Const
from mo.front.common.replacement import FrontReplacementOp
from ...ops.GridCopy import GridCopy


class GridCopyReplacer(FrontReplacementOp):
    op = 'tanh'
    enabled = True

    def replace_op(self, graph, node):
        columns = Const(graph, {'value': [2.0, 0.0]}).create_node()
        return [GridCopy(graph, dict(name=node.name + '/grid', scale=3.0)).create_node([node.in_node(0), columns]).id]
""",
        },
        "t = tanh(x); y = abs(t);",
        lambda x: np.abs(3 * x[:, [2, 0]]),
        present=("extension.GridCopy",),
        repository="dkurt/openvino_pytorch_layers",
    ),
    Case(
        "operation_with_value_in_infer",
        {
            "ops/ComplexMul.py": """
from openvino.tools.mo.ops.op import Op
from openvino.tools.mo.graph.graph import Graph, Node
from openvino.tools.mo.front.common.partial_infer.eltwise import eltwise_infer


class HalfSum(Op):
    op = 'HalfSum'

    def __init__(self, graph: Graph, attrs: dict):
        super().__init__(graph, {
            'op': self.op, 'type': self.op, 'version': 'custom_set', 'in_ports_count': 2, 'out_ports_count': 1,
            'infer': self.infer, 'weight': None}, attrs)

    def backend_attrs(self):
        return [('weight', lambda node: float(node.soft_get('w', 0.5)))]

    @staticmethod
    def infer(node: Node):
        eltwise_infer(node, lambda a, b: node.weight * (a + b))
""",
            "front/half.py": """
from openvino.tools.mo.middle.pattern_match import apply_pattern
from openvino.tools.mo.graph.graph import Graph
from openvino.tools.mo.front.common.replacement import FrontReplacementSubgraph
from half.ops.ComplexMul import HalfSum


class Fuse(FrontReplacementSubgraph):
    enabled = True

    def find_and_replace_pattern(self, graph: Graph):
        apply_pattern(graph, nodes=[('add', dict(op='Add')), ('abs', dict(op='Abs'))], edges=[('add', 'abs')],
                      action=self.fuse)

    @staticmethod
    def fuse(graph: Graph, match: dict):
        add, last = match['add'], match['abs']
        new = HalfSum(graph, {'name': last.name + '/half', 'w': 0.25}).create_node([add.in_node(0), add.in_node(1)])
        last.replace_node(new)
""",
        },
        "e = exp(x); s = add(x, e); y = abs(s);",
        lambda x: 0.25 * (x + np.exp(x)),
        present=("custom_set.HalfSum",),
        absent=("Abs",),
        repository="dkurt/openvino_pytorch_layers",
    ),
    Case(
        "transposes_around_a_function",
        {
            "middle/transposes.py": """
import numpy as np

from openvino.tools.mo.middle.replacement import MiddleReplacementPattern
from openvino.tools.mo.middle.pattern_match import apply_pattern
from openvino.tools.mo.graph.graph import Graph


class RemoveInverseTransposes(MiddleReplacementPattern):
    enabled = True
    graph_condition = [lambda graph: graph.graph['layout'] == 'NCHW', lambda graph: graph.graph['fw'] == 'onnx']

    def pattern(self):
        return dict(
            nodes=[('first', dict(op='Transpose')), ('first_d', dict(kind='data')), ('f', dict(op='Tanh')),
                   ('f_d', dict(kind='data')), ('second', dict(op='Transpose'))],
            edges=[('first', 'first_d'), ('first_d', 'f', {'in': 0}), ('f', 'f_d'), ('f_d', 'second', {'in': 0})])

    def replace_pattern(self, graph: Graph, match: dict):
        first, second = match['first'], match['second']
        order = first.in_node(1).value
        assert first.in_node(1).in_node(0).op == 'Const' and first.in_node(0).in_node(0).op == 'Sigmoid'
        if not np.array_equal(order[second.in_port(1).data.get_value()], np.arange(len(order))):
            return
        match['f'].in_port(0).get_connection().set_source(first.in_port(0).get_source())
        second.out_port(0).get_connection().set_source(match['f'].out_port(0))
        match['f']['need_shape_inference'] = True
"""
        },
        "s = sigmoid(x); a = transpose(s, axes = [1, 0]); t = tanh(a); b = transpose(t, axes = [1, 0]); y = exp(b);",
        lambda x: np.exp(np.tanh(sigmoid(x))),
        absent=("Transpose",),
    ),
    Case(
        "removal_of_the_last_softmax",
        {
            "back/last_softmax.py": """
from mo.middle.passes.eliminate import remove_op_node_with_data_node
from mo.graph.graph import Graph
from mo.back.replacement import BackReplacementPattern


class RemoveLastSoftMax(BackReplacementPattern):
    enabled = True

    @staticmethod
    def pattern():
        return dict(nodes=[('softmax_node', dict(kind='op', op='SoftMax'))], edges=[])

    @staticmethod
    def replace_pattern(graph: Graph, match: dict):
        softmax = match['softmax_node']
        child = softmax.out_node().out_node()
        if child.op != 'Result':
            return
        remove_op_node_with_data_node(graph, softmax)
"""
        },
        "t = tanh(x); y = softmax(t);",
        np.tanh,
        absent=("SoftMax",),
        repository="openvinotoolkit/openvino",
    ),
]
