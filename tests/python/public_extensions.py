"""Extensions as owners of old folders have them, with the Model Optimizer's imports, and models that they transform.

Each case is a class that public repositories have, typed again in essence: its hooks, the calls of the API and its imports.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray


@dataclass
class Case:
    """A folder of extensions, the body of a document with the input `x` and the output `y`, and the expected result."""

    name: str
    files: dict[str, str]
    body: str
    expected: Callable[[Array], Array]
    shape: tuple[int, ...] = (2, 3)
    # Texts that the lowered graph contains, and does not.
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    variables: dict[str, Array] = field(default_factory=dict)
    # Built-in transformations that would do the same.
    disable: tuple[str, ...] = ()


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


CASES = [
    Case(
        "insert_after_every_sigmoid",
        {
            "front/ext.py": """
from openvino.tools.mo.ops.activation_ops import Tanh
from openvino.tools.mo.graph.graph import Graph
from openvino.tools.mo.front.common.replacement import FrontReplacementPattern


class AddTanh(FrontReplacementPattern):
    enabled = True

    def find_and_replace_pattern(self, graph: Graph):
        for node in graph.get_op_nodes(op='Sigmoid'):
            tanh = Tanh(graph, {'name': node.soft_get('name') + '/tanh'}).create_node()
            node.out_port(0).get_connection().insert_node(tanh)
"""
        },
        "s = sigmoid(x); y = abs(s);",
        lambda x: np.tanh(sigmoid(x)),
        present=("Tanh",),
    ),
    Case(
        "swish",
        {
            "front/swish.py": """
from mo.graph.graph import rename_nodes, Graph
from extensions.ops.activation_ops import Swish
from mo.front.common.replacement import FrontReplacementSubgraph


class SwishByPattern(FrontReplacementSubgraph):
    enabled = True

    def pattern(self):
        return dict(nodes=[('mul', dict(op='Mul')), ('sigmoid', dict(op='Sigmoid'))],
                    edges=[('sigmoid', 'mul')])

    def replace_sub_graph(self, graph: Graph, match: dict):
        mul = match['mul']
        name = mul.soft_get('name', mul.id)
        sigmoid = match['sigmoid']
        port = int(mul.in_port(0).get_connection().get_source().node.soft_get('op') == 'Sigmoid')
        if mul.in_port(port).get_source() != sigmoid.in_port(0).get_source():
            return
        swish = Swish(graph, {'name': name + '/swish'}).create_node()
        swish.in_port(0).connect(sigmoid.in_port(0).get_source())
        mul.out_port(0).get_connection().set_source(swish.out_port(0))
        rename_nodes([(mul, name + '/TBR'), (swish, name)])
"""
        },
        "s = sigmoid(x); y = mul(x, s);",
        lambda x: x * sigmoid(x),
        present=("Swish",),
        absent=("Sigmoid",),
        disable=("middle.SwishFusion",),
    ),
    Case(
        "subtraction_as_addition",
        {
            "front/sub.py": """
import numpy as np

from mo.ops.const import Const
from mo.graph.graph import Graph, Node, rename_node
from extensions.ops.elementwise import Add, Mul
from mo.front.common.replacement import FrontReplacementPattern


class Sub(FrontReplacementPattern):
    enabled = True

    def run_before(self):
        from extensions.middle.fusings import Fusing
        return [Fusing]

    @staticmethod
    def sub_to_add_replacement(sub: Node):
        if sub.in_port(0).data.get_value() is not None and sub.in_port(1).data.get_value() is not None:
            return
        graph = sub.graph
        name = sub.soft_get('name', sub.id)
        negate = Mul(graph, {'name': name + '/neg'}).create_node()
        minus_one = Const(graph, {'value': np.array(-1, dtype=np.float32), 'name': name + '/neg/value'}).create_node()
        add = Add(graph, {}).create_node()
        rename_node(sub, name + '/to_be_removed')
        rename_node(add, name)
        sub.in_port(1).get_connection().set_destination(negate.in_port(0))
        sub.in_port(0).get_connection().set_destination(add.in_port(0))
        minus_one.out_port(0).connect(negate.in_port(1))
        negate.out_port(0).connect(add.in_port(1))
        sub.out_port(0).get_connection().set_source(add.out_port(0))

    def find_and_replace_pattern(self, graph: Graph):
        for sub in graph.get_op_nodes(op='Sub'):
            self.sub_to_add_replacement(sub)
            graph.remove_node(sub.id)
"""
        },
        "t = tanh(x); y = sub(x, t);",
        lambda x: x - np.tanh(x),
        present=("Multiply", "Add"),
        absent=("Subtract",),
    ),
    Case(
        "division_as_product",
        {
            "front/div.py": """
import numpy as np

from mo.ops.elementwise import Mul, Pow
from mo.graph.graph import Graph, Node, rename_nodes
from mo.front.tf.graph_utils import create_op_with_const_inputs
from mo.front.common.replacement import FrontReplacementPattern


class Div(FrontReplacementPattern):
    enabled = True

    @staticmethod
    def div_to_mul_replacement(div: Node):
        graph = div.graph
        name = div.soft_get('name', div.id)
        reciprocal = create_op_with_const_inputs(graph, Pow, {1: np.float64(-1)},
                                                 {'name': name + '/reciprocal_'})
        mul = Mul(graph, {}).create_node()
        rename_nodes([(div, name + '/to_be_removed'), (mul, name)])
        div.in_port(1).get_connection().set_destination(reciprocal.in_port(0))
        div.in_port(0).get_connection().set_destination(mul.in_port(0))
        reciprocal.out_port(0).connect(mul.in_port(1))
        div.out_port(0).get_connection().set_source(mul.out_port(0))

    def find_and_replace_pattern(self, graph: Graph):
        for div in graph.get_op_nodes(op='Div'):
            self.div_to_mul_replacement(div)
""".replace("np.float64(-1)", "np.float32(-1)")
        },
        "e = exp(x); y = div(x, e);",
        lambda x: x / np.exp(x),
        present=("Power", "Multiply"),
        absent=("Divide",),
        disable=("middle.FoldConstants",),
    ),
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
    ),
    Case(
        "linear_as_matmul",
        {
            "front/linear.py": """
from openvino.tools.mo.ops.elementwise import Add
from openvino.tools.mo.ops.MatMul import MatMul
from openvino.tools.mo.graph.graph import Graph, Node
from openvino.tools.mo.front.common.replacement import FrontReplacementOp


class LinearToMatMul(FrontReplacementOp):
    op = 'linear'
    enabled = True

    def replace_op(self, graph: Graph, node: Node):
        matmul = MatMul(graph, dict(name=node.name, transpose_b=True)).create_node([node.in_node(0), node.in_node(1)])
        if len(node.in_nodes()) > 2:
            matmul = Add(graph, dict(name=node.name + '/bias')).create_node([matmul, node.in_node(2)])
        return [matmul.id]
"""
        },
        "w = variable(shape = [4, 3], label = 'w'); b = variable(shape = [1, 4], label = 'b'); y = linear(x, w, b);",
        lambda x: x @ np.arange(12).reshape(4, 3).T + np.arange(4),
        variables={"w": np.arange(12, dtype=np.float32).reshape(4, 3), "b": np.arange(4, dtype=np.float32).reshape(1, 4)},
        present=("MatMul",),
    ),
    Case(
        "padding_as_an_operation",
        {
            "front/pad.py": """
import numpy as np

from mo.ops.pad import Pad
from mo.graph.graph import Graph, Node
from mo.front.tf.graph_utils import create_op_with_const_inputs
from mo.front.common.partial_infer.utils import int64_array
from mo.front.common.replacement import FrontReplacementOp


class PadReplacer(FrontReplacementOp):
    op = 'pad'
    enabled = True

    def replace_op(self, graph: Graph, node: Node):
        pads = int64_array(node.padding)
        pad = create_op_with_const_inputs(
            graph, Pad, {1: pads[:, 0], 2: pads[:, 1], 3: np.float32(node.value)},
            dict(name=node.name + '/pad', mode='constant'), node.in_node(0))
        return [pad.id]
"""
        },
        "y = pad(x, padding = [(0, 0), (1, 2)], border = 'constant', value = 1.5);",
        lambda x: np.pad(x, [(0, 0), (1, 2)], constant_values=1.5),
        present=("Pad",),
    ),
    Case(
        "norm_by_parts",
        {
            "front/norm.py": """
from mo.ops.elementwise import Pow
from mo.ops.ReduceOps import ReduceSum
from mo.graph.graph import Graph, rename_node
from mo.front.tf.graph_utils import create_op_node_with_second_input, create_op_with_const_inputs
from mo.front.common.partial_infer.utils import float_array, int64_array
from mo.front.common.replacement import FrontReplacementPattern


class ReduceL2Decomposition(FrontReplacementPattern):
    enabled = True

    def find_and_replace_pattern(self, graph: Graph):
        for node in graph.get_op_nodes(op='sum_reduce'):
            name = node.soft_get('name', node.id)
            rename_node(node, name + '/TBR')
            sqr = create_op_with_const_inputs(graph, Pow, {1: float_array([2.0])}, {'name': name + '/sqr'})
            total = create_op_node_with_second_input(graph, ReduceSum, int64_array(node.axes),
                                                     dict(name=name + '/sum', keep_dims=True), sqr)
            sqrt = create_op_with_const_inputs(graph, Pow, {1: float_array([0.5])}, {}, total)
            rename_node(sqrt, name)
            node.in_port(0).get_connection().set_destination(sqr.in_port(0))
            node.out_port(0).get_connection().set_source(sqrt.out_port(0))
"""
        },
        "y = sum_reduce(x, axes = [1]);",
        lambda x: np.sqrt(np.sum(x * x, 1, keepdims=True)),
    ),
    Case(
        "threshold_by_comparison",
        {
            "front/threshold.py": """
from mo.ops.elementwise import Greater, Mul
from mo.ops.Cast import Cast
from mo.middle.passes.convert_data_type import data_type_str_to_np
from mo.graph.graph import rename_nodes, Graph
from mo.front.tf.graph_utils import create_op_with_const_inputs
from mo.front.common.partial_infer.utils import float_array
from mo.front.common.replacement import FrontReplacementPattern


class ThresholdedReluDecomposition(FrontReplacementPattern):
    enabled = True

    def find_and_replace_pattern(self, graph: Graph):
        for node in graph.get_op_nodes(op='leaky_relu'):
            name = node.soft_get('name', node.id)
            greater = create_op_with_const_inputs(graph, Greater, {1: float_array([node.alpha])})
            greater.in_port(0).connect(node.in_port(0).get_source())
            number = Cast(graph, {'dst_type': data_type_str_to_np(graph.graph['cmd_params'].data_type)}).create_node()
            greater.out_port(0).connect(number.in_port(0))
            mul = Mul(graph, {}).create_node()
            node.out_port(0).get_connection().set_source(mul.out_port(0))
            mul.in_port(0).connect(node.in_port(0).get_source())
            mul.in_port(1).connect(number.out_port(0))
            rename_nodes([(node, name + '/TBR'), (mul, name)])
            graph.remove_node(node.id)
"""
        },
        "y = leaky_relu(x, alpha = 0.5);",
        lambda x: np.where(x > 0.5, x, 0),
        present=("Convert", "Greater"),
    ),
    Case(
        "size_at_run_time",
        {
            "front/size.py": """
import numpy as np

from mo.ops.shape import Shape
from mo.ops.ReduceOps import ReduceProd
from mo.ops.Cast import Cast
from mo.graph.graph import rename_nodes, Graph
from mo.front.tf.graph_utils import create_op_node_with_second_input
from mo.front.common.partial_infer.utils import int64_array
from mo.front.common.replacement import FrontReplacementOp


class SizeFrontReplacer(FrontReplacementOp):
    op = 'round'
    enabled = True

    def replace_sub_graph(self, graph: Graph, match: dict):
        node = match['op']
        name = node.soft_get('name', node.id)
        shape = Shape(graph, {'name': name + '/Shape/', 'output_type': np.int64}).create_node()
        node.in_port(0).get_connection().set_destination(shape.in_port(0))
        size = create_op_node_with_second_input(
            graph, ReduceProd, int64_array([0]), {'name': shape.name + 'ReduceProd/', 'keep_dims': False}, shape)
        number = Cast(graph, {'dst_type': np.float32}).create_node([size])
        node.out_port(0).get_connection().set_source(number.out_port(0))
        rename_nodes([(node, name + '/ToBeDeleted'), (number, name)])
"""
        },
        "t = round(x); y = add(t, x);",
        lambda x: x + x.size,
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
    ),
    Case(
        "extractor_with_onnx_attributes",
        {
            "front/onnx/elu_ext.py": """
from extensions.ops.activation_ops import Elu
from mo.front.onnx.extractors.utils import onnx_attr
from mo.front.extractor import FrontExtractorOp


class EluExtractor(FrontExtractorOp):
    op = 'leaky_relu'
    enabled = True

    @classmethod
    def extract(cls, node):
        alpha = onnx_attr(node, 'alpha', 'f', default=1.0)
        Elu.update_node_stat(node, {'alpha': alpha})
        return cls.enabled
"""
        },
        "y = leaky_relu(x, alpha = 0.5);",
        lambda x: np.where(x < 0, 0.5 * (np.exp(x) - 1), x),
        present=("Elu",),
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
        "split_and_rejoin",
        {
            "front/split.py": """
from mo.ops.concat import Concat
from mo.graph.graph import Graph, Node
from extensions.ops.split import AttributedSplit
from mo.front.common.replacement import FrontReplacementOp


class SwapHalves(FrontReplacementOp):
    op = 'copy'
    enabled = True

    def replace_op(self, graph: Graph, node: Node):
        split = AttributedSplit(graph, {'name': node.id + '/split', 'axis': 1, 'num_splits': 2}).create_node()
        node.in_port(0).get_connection().set_destination(split.in_port(0))
        concat = Concat(graph, {'name': node.id + '/cat', 'axis': 1, 'in_ports_count': 2}).create_node()
        for i in range(2):
            split.out_port(i).connect(concat.in_port(1 - i))
        return [(concat.id, 0)]
"""
        },
        "c = copy(x); y = tanh(c);",
        lambda x: np.tanh(np.concatenate([x[:, 2:], x[:, :2]], 1)),
        shape=(2, 4),
        present=("Split", "Concat"),
    ),
    Case(
        "power_with_scale_and_shift",
        {
            "front/power.py": """
from extensions.ops.activation_ops import ReLU6
from mo.ops.clamp import Clamp
from mo.ops.power import AttributedPower
from mo.graph.graph import Graph, Node
from mo.front.common.replacement import FrontReplacementOp


class SquareToPower(FrontReplacementOp):
    op = 'sqr'
    enabled = True

    def replace_op(self, graph: Graph, node: Node):
        power = AttributedPower(graph, {'name': node.id + '/power', 'power': 2, 'scale': 0.5, 'shift': 1.0}).create_node()
        node.in_port(0).get_connection().set_destination(power.in_port(0))
        return [ReLU6(graph, {'name': node.id + '/clip'}).create_node([power]).id]
"""
        },
        "s = sqr(x); y = neg(s);",
        lambda x: -np.clip((0.5 * x + 1) ** 2, 0, 6),
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
    ),
]
