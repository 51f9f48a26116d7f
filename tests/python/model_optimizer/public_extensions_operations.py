"""Extensions of third parties with operations of their folder: see `public_extensions_third_party.py`.

The kernels in NumPy are additions, since the repositories have them in C++.
"""

import numpy as np
from public_extensions import Case, sigmoid

OPERATIONS = [
    Case(
        "generated_operation_and_extractor",
        {
            "ops/lognorm.py": """
import numpy as np
from mo.ops.op import Op
from mo.front.common.partial_infer.elemental import copy_shape_infer
from mo.graph.graph import Node


class LOGNORMOp(Op):
    op = 'LOGNORM'

    def __init__(self, graph, attrs):
        mandatory_props = dict(
            type=__class__.op,
            op=__class__.op,
            infer=LOGNORMOp.infer
        )
        super().__init__(graph, mandatory_props, attrs)

    @staticmethod
    def infer(node: Node):
        return copy_shape_infer(node)

    @staticmethod
    def compute(node, x):
        return np.log(1 + x)
""",
            "front/tf/lognorm_ext.py": """
from mo.front.extractor import FrontExtractorOp
from mo.ops.op import Op
from extensions.back.ReduceToPooling import ReduceReplacer


class LOGNORMFrontExtractor(FrontExtractorOp):
    op = 'sqr'
    enabled = True

    @staticmethod
    def extract(node):
        proto_layer = node
        attrs = {'op': 'LOGNORM'}
        Op.get_op_class_by_name('LOGNORM').update_node_stat(node, attrs)
        ReduceReplacer.enabled = False
        return __class__.enabled
""",
        },
        "s = sigmoid(x); q = sqr(s); y = abs(q);",
        lambda x: np.abs(np.log1p(sigmoid(x))),
        present=("extension.LOGNORM",),
        repository="Intel-OpenVINO-Edge-AI-Scholarship/sample-custom-layer",
    ),
    Case(
        "operation_copied_to_the_model_optimizer",
        {
            "ops/my_cosh.py": """
import numpy as np
from mo.front.common.partial_infer.elemental import copy_shape_infer
from mo.ops.op import Op
from mo.graph.graph import Node


class MyCosh(Op):
    op = 'MyCosh'
    enabled = True

    def __init__(self, graph, attrs: dict):
        super().__init__(graph, {
            'type': __class__.op,
            'op': __class__.op,
            'infer': MyCosh.infer,
        }, attrs)

    @staticmethod
    def infer(node: Node):
        copy_shape_infer(node)

    @staticmethod
    def compute(node, x):
        return np.cosh(x)
""",
            "ops/my_cosh_ext.py": """
from mo.front.extractor import FrontExtractorOp
from mo.ops.my_cosh import MyCosh


class CoshFrontExtractor(FrontExtractorOp):
    op = 'tanh'
    enabled = True

    @staticmethod
    def extract(node):
        MyCosh.update_node_stat(node)
        return __class__.enabled
""",
        },
        "t = tanh(x); y = abs(t);",
        np.cosh,
        present=("extension.MyCosh",),
        repository="david-drew/OpenVINO-Custom-Layers",
    ),
    Case(
        "operation_of_random_numbers",
        {
            "ops/RandomUniformLike.py": """
import numpy as np
from mo.graph.graph import Node, Graph
from mo.ops.op import Op


class RandomUniformLike(Op):
    op = 'RandomUniformLike'
    enabled = True

    def __init__(self, graph: Graph, attrs: dict):
        super().__init__(graph, {
            'type': __class__.op,
            'op': __class__.op,
            'in_ports_count': 1,
            'out_ports_count': 1,
            'infer': self.infer
        }, attrs)

    @staticmethod
    def infer(node):
        assert len(node.in_nodes()) == 1
        node.out_node(0).shape = np.array([node.in_node(0).shape[0], 2])

    def backend_attrs(self):
        return ['low', 'high']

    @staticmethod
    def compute(node, x):
        return np.full((x.shape[0], 2), (node.low + node.high) / 2)
""",
            "front/onnx/RandomUniformLike_ext.py": """
from mo.front.extractor import FrontExtractorOp
from mo.front.onnx.extractors.utils import onnx_attr
from ...ops.RandomUniformLike import RandomUniformLike


class RandomUniformLikeFrontExtractor(FrontExtractorOp):
    op = 'elu'
    enabled = True

    @classmethod
    def extract(cls, node):
        low = onnx_attr(node, 'low', 'f', default=0.5)
        RandomUniformLike.update_node_stat(node, {'low': low, 'high': 1.5})
        return cls.enabled
""",
        },
        "t = tanh(x); c = elu(t); y = neg(c);",
        lambda x: np.full((2, 2), -1.0),
        present=("extension.RandomUniformLike",),
        repository="SamitHuang/openvino_pytorch_layers",
    ),
    Case(
        "operation_in_the_module_of_its_replacement",
        {
            "front/pytorch/batchnorm.py": """
import numpy as np
from mo.front.common.partial_infer.elemental import copy_shape_infer
from mo.front.common.replacement import FrontReplacementOp
from mo.graph.graph import Graph, Node
from mo.ops.const import Const
from mo.ops.op import Op


class BatchNorm(Op):
    op = 'BatchNorm'

    def __init__(self, graph: Graph, attrs: dict):
        mandatory_props = {
            'type': self.op,
            'op': self.op,
            'eps': None,
            'infer': copy_shape_infer,
            'in_ports_count': 5,
            'out_ports_count': 1,
        }
        super().__init__(graph, mandatory_props, attrs)

    @staticmethod
    def compute(node, x, mean, variance, offset, scale):
        return (x - mean) / np.sqrt(variance + node.eps) * scale + offset


class BatchNorm2d(FrontReplacementOp):
    op = 'batch_normalization'
    enabled = True

    def replace_op(self, graph: Graph, node: Node):
        inputs = [node.in_node(i) for i in range(5)]
        bn = BatchNorm(graph, dict(name=node.name, eps=node.epsilon)).create_node(inputs)
        return [bn.id]
"""
        },
        "m = variable(shape = [1, 3], label = 'm'); v = variable(shape = [1, 3], label = 'v'); o = variable(shape = [1, 3], label = 'o');"
        "s = variable(shape = [1, 3], label = 's'); b = batch_normalization(x, m, v, o, s, epsilon = 0.5); y = tanh(b);",
        lambda x: np.tanh((x - 1) / np.sqrt(3.5) * 0.5 + 2),
        variables={name: np.full((1, 3), value, np.float32) for name, value in (("m", 1), ("v", 3), ("o", 2), ("s", 0.5))},
        present=("extension.BatchNorm",),
        repository="dkurt/dldt",
    ),
    Case(
        "kernel_as_value_of_the_shape_function",
        {
            "ops/absval.py": """
import logging as log
import numpy as np

from mo.front.caffe.extractors.utils import get_canonical_axis_index
from mo.graph.graph import Node, Graph
from mo.ops.op import Op, PermuteAttrs


class AbsValOp(Op):
    op = 'AbsVal'

    def __init__(self, graph: Graph, attrs: dict):
        mandatory_props = {
            'type': __class__.op,
            'op': __class__.op,
            'infer': __class__.infer,
            'in_ports_count': 1,
            'out_ports_count': 1,
        }
        super().__init__(graph, mandatory_props, attrs)

    @staticmethod
    def infer(node: Node):
        assert len(node.in_nodes()) == 1
        assert len(node.out_nodes()) == 1
        input_node = node.in_node()
        assert input_node.has_valid('shape')
        node.out_node().shape = input_node.shape.copy()
        if input_node.has_valid('value'):
            node.out_node().value = np.abs(input_node.value)
""",
            "front/caffe/absval_ext.py": """
from mo.front.extractor import FrontExtractorOp
from mo.ops.op import Op


class AbsValFrontExtractor(FrontExtractorOp):
    op = 'sqr'
    enabled = True

    @staticmethod
    def extract(node):
        Op.get_op_class_by_name('AbsVal').update_node_stat(node, {})
        return __class__.enabled
""",
        },
        "q = sqr(x); y = sqrt(q);",
        lambda x: np.sqrt(np.abs(x)),
        present=("extension.AbsVal",),
        repository="openvinotoolkit/openvino",
    ),
    Case(
        "operation_without_attributes_in_ir",
        {
            "ops/mylayer.py": """
from mo.front.common.partial_infer.elemental import copy_shape_infer
from mo.graph.graph import Graph
from mo.ops.op import Op


class MyLayer(Op):
    op = 'MyLayer'
    enabled = True

    def __init__(self, graph: Graph, attrs: dict):
        super().__init__(graph, {
            'type': self.op,
            'op': self.op,
            'version': 'extension',
            'inverse': None,
            'in_ports_count': 1,
            'out_ports_count': 1,
            'infer': copy_shape_infer
        }, attrs)

    def backend_attrs(self):
        return []

    @staticmethod
    def compute(node, x):
        return -x if node.soft_get('inverse', 0) else x
""",
            "front/mylayer_ext.py": """
from mo.front.extractor import FrontExtractorOp
from mo.ops.op import Op


class MyLayerExtractor(FrontExtractorOp):
    op = 'round'
    enabled = True

    @classmethod
    def extract(cls, node):
        Op.get_op_class_by_name('MyLayer').update_node_stat(node, {'inverse': 1})
        return cls.enabled
""",
        },
        "r = round(x); y = exp(r);",
        lambda x: np.exp(-x),
        present=("extension.MyLayer",),
        repository="triton-inference-server/server",
    ),
    Case(
        "shape_function_that_changes_extents",
        {
            "ops/MaxPoolGrad.py": """
import numpy as np
from mo.graph.graph import Node, Graph
from mo.ops.op import Op


def shape_infer(node):
    node.out_node(0).shape = node.in_node(0).shape
    if 'output_size' in node:
        node.out_node(0).shape[0] = node['output_size'][0]
        node.out_node(0).shape[1] = node['output_size'][1]


class MaxPoolGrad(Op):
    op = 'MaxPoolGrad'
    enabled = True

    def __init__(self, graph: Graph, attrs: dict):
        super().__init__(graph, {
            'type': __class__.op,
            'op': __class__.op,
            'in_ports_count': 3,
            'out_ports_count': 1,
            'infer': shape_infer
        }, attrs)

    @staticmethod
    def compute(node, x, pooled, values):
        made = np.zeros(node['output_size'] if 'output_size' in node else x.shape, np.float32)
        made[:x.shape[0], :x.shape[1]] = x * pooled + values
        return made
""",
            "front/onnx/max_unpool.py": """
import numpy as np

from mo.front.common.replacement import FrontReplacementSubgraph
from mo.graph.graph import Graph
from half.ops.MaxPoolGrad import MaxPoolGrad
from mo.front.onnx.extractors.utils import onnx_attr


class MaxUnpool(FrontReplacementSubgraph):
    enabled = True

    def pattern(self):
        return dict(
            nodes=[('pool', dict(op='Tanh')), ('unpool', dict(op='Abs'))],
            edges=[('pool', 'unpool', {'in': 0})])

    @staticmethod
    def replace_sub_graph(graph: Graph, match: dict):
        pool = match['pool']
        pool_input = pool.in_port(0).get_source().node
        unpool = match['unpool']
        unpool_input = unpool.in_port(0).get_source().node
        res = MaxPoolGrad(graph, dict(name=unpool.name + '/fused')).create_node([pool_input, pool, unpool_input])
        unpool.out_port(0).get_connection().set_source(res.out_port(0))
        output_size = onnx_attr(unpool, 'output_size', 'ints', default=[4, 5])
        if output_size:
            MaxPoolGrad.update_node_stat(res, attrs={'output_size': output_size})
""",
        },
        "t = tanh(x); a = abs(t); y = exp(a);",
        lambda x: np.exp(np.pad(x * np.tanh(x) + np.tanh(x), [(0, 2), (0, 2)])),
        present=("extension.MaxPoolGrad",),
        absent=("Abs",),
        repository="dkurt/openvino_pytorch_layers",
    ),
]
