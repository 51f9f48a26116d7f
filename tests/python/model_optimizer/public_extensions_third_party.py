"""Extensions of third parties, in the form of `public_extensions.py`: extractors and replacements."""

import numpy as np
from public_extensions import Case, sigmoid


def mish(x):
    return x * np.tanh(np.log1p(np.exp(x)))


THIRD_PARTY = [
    Case(
        "concatenation_of_reshaped_tensors",
        {
            "front/tf/concat.py": """
import numpy as np

from mo.front.common.replacement import FrontReplacementSubgraph
from mo.graph.graph import Graph
from mo.ops.const import Const
from mo.ops.reshape import Reshape
from mo.ops.concat import Concat


class FlatConcat(FrontReplacementSubgraph):
    enabled = True

    def pattern(self):
        return dict(nodes=[('concat', dict(op='ConcatV2'))], edges=[])

    @staticmethod
    def replace_sub_graph(graph: Graph, match: dict):
        concat = match['concat']
        if concat["name"] != "c":
            return
        first = concat.in_port(0).get_source().node
        second = concat.in_port(1).get_source().node
        extents = Const(graph, {'value': np.array([-1, 2, 2], dtype=np.int32)}).create_node()
        flat0 = Reshape(graph, dict(name=first.name + '/reshape')).create_node([first, extents])
        flat1 = Reshape(graph, dict(name=second.name + '/reshape')).create_node([second, extents])
        made = Concat(graph, dict(name=concat.name + "/new", axis=1)).create_node([flat0, flat1])
        extents = Const(graph, {'value': np.array([-1, 8], dtype=np.int32)}).create_node()
        restored = Reshape(graph, dict(name=first.name + '/reshape')).create_node([made, extents])
        concat.out_port(0).get_connection().set_source(restored.out_port(0))
"""
        },
        "s = sigmoid(x); t = tanh(x); c = concat([s, t], axis = 1); d = concat([c, t], axis = 1); y = exp(d);",
        lambda x: np.exp(np.concatenate([sigmoid(x), np.tanh(x), np.tanh(x)], 1)),
        shape=(2, 4),
        present=("Reshape",),
        repository="ravi9/deepmedic",
    ),
    Case(
        "mean_of_scaled_reciprocals",
        {
            "utils.py": """
def reduce_infer(node):
    node.out_port(0).data.set_shape([5])
""",
            "middle/PNormReplacement.py": """
import math
import logging as log

import numpy as np

from mo.graph.graph import Graph, Node
from mo.middle.replacement import MiddleReplacementPattern
from mo.ops.const import Const
from extensions.ops.ReduceOps import ReduceMean
from extensions.ops.Cast import Cast
from extensions.ops.elementwise import Mul, Div, Pow, Elementwise
from mo.ops.reshape import Reshape
from mo.ops.concat import Concat
from mo.front.common.partial_infer.utils import int64_array, float_array
from ..utils import reduce_infer


class PNormMiddleReplacement(MiddleReplacementPattern):
    op = 'Tanh'
    enabled = True
    replacement_id = "PNorm"
    force_clean_up = False

    def run_after(self):
        return []

    def run_before(self):
        from extensions.middle.L2NormToNorm import L2NormToNorm
        return [L2NormToNorm]

    @staticmethod
    def pattern(**kwargs):
        return dict(nodes=[('node', dict(op='Tanh', name='t'))], edges=[])

    def replace_pattern(self, graph: Graph, match: dict):
        node = match['node']
        power = Pow(graph, {'name': node.name + '/reciprocal_', 'type': 'Power'}).create_node()
        exponent = Const(graph, {'value': -1.0, 'name': node.name + '/negate_const'}).create_node()
        node.in_port(0).get_connection().set_destination(power.in_port(0))
        exponent.out_port(0).connect(power.in_port(1))

        rows = Concat(graph, {'axis': 0, 'name': node.name + '/Concat_', 'override_output_shape': True}).create_node()
        axis = Const(graph, {'name': node.name + '/const_reduce', 'value': 0}).create_node()
        for i, digits in enumerate(range(1, 5)):
            up = Const(graph, {'value': float_array(math.pow(10.0, digits)), 'name': node.name + '/Const_' + str(i)}).create_node()
            scaled = Mul(graph, {'name': node.name + '/Mul_' + str(i)}).create_node()
            up.out_port(0).connect(scaled.in_port(0))
            power.out_port(0).connect(scaled.in_port(1))
            down = Const(graph, {'value': float_array(math.pow(10.0, -1 * digits)), 'name': 'down_' + str(i)}).create_node()
            number = Cast(graph, {'name': node.name + '/Cast_' + str(digits), 'dst_type': np.float32}).create_node()
            scaled.out_port(0).connect(number.in_port(0))
            rescaled = Mul(graph, {'name': node.name + '/Mul_Div_' + str(i)}).create_node()
            down.out_port(0).connect(rescaled.in_port(1))
            number.out_port(0).connect(rescaled.in_port(0))
            rows.add_input_port(i, skip_if_exist=True)
            rows.in_port(i).get_connection().set_source(rescaled.out_port(0))
        mean = ReduceMean(graph, {'name': node.id + '/_reduced', 'keep_dims': False, 'in_ports_count': 2,
                                  'need_shape_inference': None, 'infer': reduce_infer}).create_node()
        axis.out_port(0).connect(mean.in_port(1))
        mean.in_port(0).get_connection().set_source(rows.out_port(0))
        reshape = Reshape(graph, {'name': node.name + '/Reshape_Node'}).create_node()
        extents = Const(graph, {'value': np.array([1, 5]), 'name': node.id + '/Reshape_Dim'}).create_node()
        mean.out_port(0).connect(reshape.in_port(0))
        reshape.in_port(1).connect(extents.out_port(0))
        node.out_port(0).get_connection().set_source(reshape.out_port(0))
""",
        },
        "s = exp(x); t = tanh(s); y = abs(t);",
        lambda x: np.abs(1 / np.exp(x)),
        shape=(1, 5),
        present=("ReduceMean", "Power"),
        absent=("Tanh",),
        repository="Intel-OpenVINO-Edge-AI-Scholarship/sample-custom-layer",
    ),
    Case(
        "extractors_of_another_framework",
        {
            "front/torchscript/elementwise_ext.py": """
from extensions.ops.elementwise import Add, Sub, Mul, Div, Pow, Less, Equal, Greater, LogicalAnd, LogicalOr, LogicalXor
from mo.front.extractor import FrontExtractorOp
from mo.front.onnx.extractors.utils import onnx_attr
from mo.graph.graph import Node
from mo.ops.eltwise_n import EltwiseNAdd, EltwiseNMax
from mo.ops.power import AttributedPower


class MulFrontExtractor(FrontExtractorOp):
    op = 'div'
    enabled = True

    @classmethod
    def extract(cls, node: Node):
        Mul.update_node_stat(node)
        return cls.enabled
""",
            "front/torchscript/activation_ext.py": """
from extensions.ops.activation_ops import Abs, Acos, Asin, Atan, Ceiling, Cos, Cosh, Elu, Erf, Exp, Floor, ReLU, LeakyReLU, \\
    Log, LogicalNot, Sin, Sinh, Tan, Tanh, Sigmoid
from mo.front.extractor import FrontExtractorOp


class ReLUExtractor(FrontExtractorOp):
    op = 'elu'
    enabled = True

    @classmethod
    def extract(cls, node):
        ReLU.update_node_stat(node)
        return cls.enabled


class SigmoidExtractor(FrontExtractorOp):
    op = 'softplus'
    enabled = True

    @classmethod
    def extract(cls, node):
        Sigmoid.update_node_stat(node)
        return cls.enabled
""",
        },
        "e = elu(x); d = div(e, x); y = softplus(d);",
        lambda x: sigmoid(np.maximum(x, 0) * x),
        present=("ReLU", "Multiply", "Sigmoid"),
        absent=("Elu", "Divide", "SoftPlus"),
        repository="mvafin/openvino",
    ),
    Case(
        "extractors_of_activations",
        {
            "front/tf/activation_ext.py": """
from extensions.ops.activation_ops import Abs, Elu, Erf, Exp, ReLU, LeakyReLU, LogicalNot, ReLU6, Sigmoid, \\
    Sin, Sinh, Cos, Cosh, Tan, Tanh, Ceiling, Mish
from mo.front.extractor import FrontExtractorOp


class LeakyReLUFrontExtractor(FrontExtractorOp):
    op = 'LeakyRelu'
    enabled = True

    @classmethod
    def extract(cls, node):
        negative_slope = node.alpha
        if negative_slope == 0:
            ReLU.update_node_stat(node)
        else:
            LeakyReLU.update_node_stat(node, {'negative_slope': negative_slope})
        return cls.enabled


class Relu6FrontExtractor(FrontExtractorOp):
    op = 'Relu'
    enabled = True

    @classmethod
    def extract(cls, node):
        ReLU6.update_node_stat(node)
        return cls.enabled


class MishExtractor(FrontExtractorOp):
    op = 'Elu'
    enabled = True

    @classmethod
    def extract(cls, node):
        Mish.update_node_stat(node)
        return cls.enabled
"""
        },
        "e = elu(x); l = leaky_relu(e, alpha = 0.5); m = leaky_relu(l, alpha = 0.0); k = mul(m, 10.0); y = relu(k);",
        lambda x: np.clip(10 * np.maximum(np.where(mish(x) < 0, 0.5 * mish(x), mish(x)), 0), 0, 6),
        present=("Mish",),
        absent=("Elu",),
        repository="a-sidorova/openvino",
    ),
]
