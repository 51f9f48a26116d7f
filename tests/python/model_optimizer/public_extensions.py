"""Extensions as owners of old folders have them, with the Model Optimizer's imports, and models that they transform.

`FRONT` are those of the front phase, `public_extensions_late.py` has those of the other phases, and
`public_extensions_third_party.py` and `public_extensions_operations.py` those of third parties. Each case is a class that a public repository has, typed again in
essence: its hooks, the calls of the API and its imports.
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
    # The public repository that has the class; empty if the class only combines calls that many have.
    repository: str = ""


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


FRONT = [
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
        repository="openvinotoolkit/openvino",
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
        repository="openvinotoolkit/openvino",
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
"""
        },
        "e = exp(x); y = div(x, e);",
        lambda x: x / np.exp(x),
        present=("Power", "Multiply"),
        absent=("Divide",),
        disable=("middle.FoldConstants",),
        repository="openvinotoolkit/openvino",
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
        repository="openvinotoolkit/openvino_contrib",
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
        repository="openvinotoolkit/openvino_contrib",
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
        repository="openvinotoolkit/openvino",
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
        repository="openvinotoolkit/openvino",
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
        repository="openvinotoolkit/openvino",
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
        repository="openvinotoolkit/openvino",
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
]
