"""Transformations in Python: the examples of the Model Optimizer's documentation, rewritten with its names."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import openvino
import pytest

import nnefc

MISH_MODEL = """version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [2, 3]);
    s = softplus(x);
    t = tanh(s);
    y = mul(x, t);
}
"""

MISH = '''
from nnefc.mo.front.Softplus_fusion import SoftplusFusion
from nnefc.mo.ops.activation_ops import Mish
from nnefc.mo.front.common.replacement import FrontReplacementSubgraph
from nnefc.mo.graph.graph import Graph, rename_nodes


class MishFusion(FrontReplacementSubgraph):
    enabled = True

    def run_after(self):
        return [SoftplusFusion]

    def pattern(self):
        return dict(
            nodes=[("product", dict(op="Mul")), ("tanh", dict(op="Tanh")), ("plus", dict(op="SoftPlus"))],
            edges=[("plus", "tanh"), ("tanh", "product")],
        )

    def replace_sub_graph(self, graph: Graph, match):
        product, plus = match["product"], match["plus"]
        name = product.soft_get("name", product.id)
        first = product.in_port(0).get_connection().get_source().node
        other = product.in_port(int(first.soft_get("op") == "Tanh"))
        if other.get_source() != plus.in_port(0).get_source():
            return
        mish = Mish(graph, {}).create_node()
        mish.in_port(0).connect(other.get_source())
        product.out_port(0).get_connection().set_source(mish.out_port(0))
        rename_nodes([(product, name + "/TBR"), (mish, name)])
'''

PACK_MODEL = """version 1.0;
graph net(a, b) -> (y)
{
    a = external<scalar>(shape = [2, 3]);
    b = external<scalar>(shape = [2, 3]);
    y = stack([a, b], axis = 1);
}
"""

PACK = '''
from nnefc.mo.front.common.partial_infer.utils import int64_array
from nnefc.mo.front.common.replacement import FrontReplacementOp
from nnefc.mo.front.tf.graph_utils import create_op_with_const_inputs
from nnefc.mo.graph.graph import Graph, Node, rename_nodes
from nnefc.mo.ops.concat import Concat
from nnefc.mo.ops.unsqueeze import Unsqueeze


class Pack(FrontReplacementOp):
    enabled = True
    op = "Pack"

    def replace_op(self, graph: Graph, node: Node):
        count = len(node.in_ports())
        joined = Concat(graph, dict(in_ports_count=count, axis=node.axis)).create_node()
        name = node.soft_get("name", node.id)
        for number in node.in_ports():
            wider = create_op_with_const_inputs(
                graph, Unsqueeze, {1: int64_array([node.axis])}, {"name": name + "/Unsqueeze"}
            )
            node.in_port(number).get_connection().set_destination(wider.in_port(0))
            wider.out_port(0).connect(joined.in_port(number))
        rename_nodes([(node, name + "/TBR"), (joined, name)])
        return [joined.id]
'''

SQUEEZE_MODEL = """version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [1, 3, 1]);
    y = squeeze(x, axes = [0]);
}
"""

# The Model Optimizer's readers of frameworks make such nodes.
OLD_SQUEEZE = '''
from nnefc.mo.front.common.replacement import FrontReplacementOp
from nnefc.mo.ops.squeeze import Squeeze
from SqueezeNormalize import SqueezeNormalize


class OldSqueeze(FrontReplacementOp):
    op = "Squeeze"

    def run_before(self):
        return [SqueezeNormalize]

    def replace_sub_graph(self, graph, match):
        node = match["op"]
        old = Squeeze(graph, {ATTRIBUTES}).create_node([node.in_port(0)])
        node.out_port(0).get_connection().set_source(old.out_port(0))
        graph.remove_node(node.id)
'''

SQUEEZE = '''
import logging as log

from nnefc.mo.front.common.partial_infer.utils import int64_array
from nnefc.mo.front.common.replacement import FrontReplacementPattern
from nnefc.mo.graph.graph import Graph
from nnefc.mo.ops.const import Const
from nnefc.mo.utils.error import Error


class SqueezeNormalize(FrontReplacementPattern):
    enabled = True

    def find_and_replace_pattern(self, graph: Graph):
        for node in graph.get_op_nodes(op="Squeeze"):
            if len(node.in_nodes()) == 1 and node.has_valid("squeeze_dims"):
                axes = Const(graph, {"name": node.id + "/Dims", "value": int64_array(node.squeeze_dims)}).create_node()
                node.in_port(1).connect(axes.out_port(0))
                del node["squeeze_dims"]
            elif len(node.in_nodes()) == 2:
                log.debug("`%s` has its axes", node.name)
            else:
                raise Error('"{}" has no axes'.format(node.soft_get("name")))
'''

YOLO_MODEL = """version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [1, 14, 2, 2]);
    y = relu(x);
}
"""

YOLO = '''
from nnefc.mo.front.no_op_eraser import NoOpEraser
from nnefc.mo.front.standalone_const_eraser import StandaloneConstEraser
from nnefc.mo.front.tf.replacement import FrontReplacementFromConfigFileGeneral
from nnefc.mo.graph.graph import Graph, Node
from nnefc.mo.ops.regionyolo import RegionYoloOp
from nnefc.mo.ops.result import Result


class YoloRegionAddon(FrontReplacementFromConfigFileGeneral):
    replacement_id = "TFYOLO"

    def run_after(self):
        return [StandaloneConstEraser, NoOpEraser]

    def transform_graph(self, graph: Graph, replacement_descriptions):
        for end in [n for n, d in graph.nodes(data=True) if "op" in d and d["op"] == "Result"]:
            last = Node(graph, end).in_node(0)
            params = dict(name=last.id + "/YoloRegion", axis=1, end_axis=-1)
            params.update(replacement_descriptions)
            region = RegionYoloOp(graph, params).create_node([last])
            region.dim_attrs.remove("axis")
            Result(graph).create_node([region])
            graph.remove_node(end)
'''

SSD_MODEL = """version 1.0;
graph net(offsets, scores) -> (y)
{
    offsets = external<scalar>(shape = [1, 40]);
    scores = external<scalar>(shape = [1, 30]);
    boxes = copy(offsets);
    likely = sigmoid(scores);
    chosen = concat([boxes, likely], axis = 1);
    last = mul(chosen, 0.5);
    y = neg(last);
}
"""

SSD = '''
import numpy as np
from nnefc.mo.front.subgraph_matcher import SubgraphMatch
from nnefc.mo.front.tf.replacement import FrontReplacementFromConfigFileSubGraph
from nnefc.mo.graph.graph import Graph
from nnefc.mo.ops.activation_ops import Sigmoid
from nnefc.mo.ops.const import Const
from nnefc.mo.ops.DetectionOutput import DetectionOutput


class Postprocessor(FrontReplacementFromConfigFileSubGraph):
    replacement_id = "ObjectDetectionAPISSDPostprocessorReplacement"

    def generate_sub_graph(self, graph: Graph, match: SubgraphMatch):
        assert (match.inputs_count(), match.outputs_count()) == (2, 1)
        corners = np.random.default_rng(4).uniform(0, 0.5, (10, 4)).astype(np.float32)
        corners[:, 2:] += corners[:, :2] + 0.1
        priors = np.stack([corners.reshape(-1), np.tile(np.float32([0.1, 0.1, 0.2, 0.2]), 10)])[None]
        attributes = dict(name="detection", background_label_id=0, keep_top_k=[8], nms_threshold=0.45, normalized=True)
        attributes.update(match.custom_replacement_desc.custom_attributes)
        made = DetectionOutput(graph, attributes).create_node()
        likely = Sigmoid(graph).create_node()
        made.in_port(1).connect(likely.out_port(0))
        made.in_port(2).connect(Const(graph, {"value": priors}).create_node().out_port(0))
        return {"made": made, "likely": likely}

    def input_edges_match(self, graph, match, new_sub_graph):
        return {match.single_input_node(0): (new_sub_graph["made"], 0),
                match.single_input_node(1): (new_sub_graph["likely"], 0)}

    def output_edges_match(self, graph, match, new_sub_graph):
        return {match.output_node(0): (new_sub_graph["made"], 0)}
'''


@pytest.fixture
def folder(tmp_path):
    """Writes modules to a folder of extensions."""

    def write(**modules):
        for name, text in modules.items():
            path = tmp_path / "extensions" / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "extensions"

    return write


def outputs(model, **inputs):
    return next(iter(model.compile(threads=1)(**inputs).values()))


def by_openvino(model, tmp_path, *inputs):
    """Returns the first output as OpenVINO computes it from the model's IR."""
    model.save(tmp_path / "net.xml")
    compiled = openvino.Core().compile_model(tmp_path / "net.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return compiled(list(inputs))[0]


X = np.linspace(-3, 3, 6, dtype=np.float32).reshape(2, 3)


def test_mish_fusion(folder):
    model = nnefc.load(MISH_MODEL).transform(
        extensions=folder(front__Mish_fusion=MISH), disable=["front.MishFusion"]
    )
    assert "Mish" in model.lower()
    assert "Tanh" not in model.lower()
    expected = X * np.tanh(np.log1p(np.exp(X)))
    np.testing.assert_allclose(outputs(model, x=X), expected, rtol=1e-5)


def test_mish_fusion_can_be_switched_off_by_its_name(folder):
    model = nnefc.load(MISH_MODEL).transform(
        extensions=folder(front__Mish_fusion=MISH),
        disable=["front.MishFusion", "front.Mish_fusion.MishFusion"],
    )
    assert "Tanh" in model.lower()


def test_mish_fusion_leaves_other_sources_alone(folder):
    text = MISH_MODEL.replace("mul(x, t)", "mul(s, t)")
    model = nnefc.load(text).transform(extensions=folder(front__Mish_fusion=MISH))
    assert "Mish" not in model.lower()
    plus = np.log1p(np.exp(X))
    np.testing.assert_allclose(outputs(model, x=X), plus * np.tanh(plus), rtol=1e-5)


def test_pack(folder):
    extensions = folder(front__Pack=PACK.replace("joined = Concat", "assert node.op == 'stack'\n        joined = Concat"))
    model = nnefc.load(PACK_MODEL).transform(extensions=extensions)
    np.testing.assert_array_equal(outputs(model, a=X, b=X + 1), np.stack([X, X + 1], axis=1))
    assert "Pack/Unsqueeze" in model.lower() or "y/Unsqueeze" in model.lower()


@pytest.mark.parametrize("attributes", ["'squeeze_dims': node.axes", ""])
def test_squeeze_normalize(folder, attributes):
    extensions = folder(
        SqueezeNormalize=SQUEEZE, front__OldSqueeze=OLD_SQUEEZE.replace("ATTRIBUTES", attributes)
    )
    model = nnefc.load(SQUEEZE_MODEL)
    if not attributes:
        with pytest.raises(nnefc.ModelError, match=r"SqueezeNormalize.*has no axes"):
            model.transform(extensions=extensions).compile()
        return
    model = model.transform(extensions=extensions)
    x = np.arange(3, dtype=np.float32).reshape(1, 3, 1)
    np.testing.assert_array_equal(outputs(model, x=x), x.reshape(3, 1))
    assert "squeeze_dims" not in model.lower()


def test_yolo_region_addon(folder, tmp_path):
    config = tmp_path / "yolo.json"
    attributes = {"classes": 2, "coords": 4, "num": 2, "do_softmax": 0, "mask": [0, 1]}
    config.write_text(json.dumps([{"id": "TFYOLO", "match_kind": "general", "custom_attributes": attributes}]))
    model = nnefc.load(YOLO_MODEL).transform(extensions=folder(front__YOLO=YOLO), configuration=config)
    x = np.random.default_rng(1).standard_normal((1, 14, 2, 2), dtype=np.float32)
    # x, y, objectness and classes of each of the two anchors by the logistic function; the extents are unchanged.
    expected = np.maximum(x, 0).reshape(2, 7, 4)
    expected[:, [0, 1, 4, 5, 6]] = 1 / (1 + np.exp(-expected[:, [0, 1, 4, 5, 6]]))
    np.testing.assert_allclose(outputs(model, x=x).ravel(), expected.ravel(), rtol=1e-5)
    assert "opset1.RegionYolo" in model.lower()
    np.testing.assert_allclose(by_openvino(model, tmp_path, x).ravel(), expected.ravel(), rtol=1e-4)


def test_ssd_by_its_points(folder, tmp_path):
    config = tmp_path / "ssd.json"
    entry = {
        "id": "ObjectDetectionAPISSDPostprocessorReplacement",
        "match_kind": "points",
        "include_inputs_to_sub_graph": True,
        "include_outputs_to_sub_graph": True,
        "custom_attributes": {
            "code_type": "caffe.PriorBoxParameter.CENTER_SIZE",
            "clip_before_nms": False,
            "clip_after_nms": True,
        },
        "instances": {"start_points": ["boxes", "likely"], "end_points": ["last"]},
    }
    config.write_text(json.dumps([entry]))
    model = nnefc.load(SSD_MODEL).transform(extensions=folder(front__tf__SSD=SSD), configuration=config)
    assert "opset8.DetectionOutput" in model.lower()
    random = np.random.default_rng(3)
    offsets = random.normal(size=(1, 40)).astype(np.float32)
    scores = random.normal(size=(1, 30)).astype(np.float32)
    found = outputs(model, offsets=offsets, scores=scores)
    expected = by_openvino(model, tmp_path, offsets, scores)
    assert found.shape == expected.shape == (1, 1, 8, 7)
    assert (expected[0, 0, :, 2] < 0).any()  # negated scores: at least one detection
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


HALVES = '''
from nnefc.mo.front.common.replacement import FrontReplacementSubgraph
from nnefc.mo.ops.op import Op


class Halves(FrontReplacementSubgraph):
    enabled = True

    def pattern(self):
        return dict(nodes=[("split", dict(op="split"))], edges=[])

    def generate_sub_graph(self, graph, match):
        whole = match["split"].in_port(0).get_source()
        made = {}
        for name, op in (("first", "relu"), ("second", "abs")):
            made[name] = Op(graph, {"op": op, "name": name}).create_node()
            made[name].in_port(0).connect(whole)
        return made

    def output_edges_match(self, graph, match, new_sub_graph):
        return {(match["split"], 1): (new_sub_graph["second"], 0), (match["split"], 0): (new_sub_graph["first"], 0)}
'''


def test_each_output_goes_to_what_takes_its_place(folder):
    model = nnefc.load("""version 1.0;
graph net(x) -> (y, z)
{
    x = external(shape = [2, 3]);
    [a, b] = split(x, axis = 0, ratios = [1, 1]);
    y = tanh(a);
    z = exp(b);
}
""").transform(extensions=folder(front__Halves=HALVES))
    made = model.compile(threads=1)(x=X)
    np.testing.assert_allclose(made["y"], np.tanh(np.maximum(X, 0)), rtol=1e-5)
    np.testing.assert_allclose(made["z"], np.exp(np.abs(X)), rtol=1e-5)
    lowered = model.lower()
    assert 'as ["a"]' in lowered
    assert 'as ["b"]' in lowered
    assert "/TBR" not in lowered


SIMPLE = '''
from nnefc.mo.BASE import KIND as Kind


class Simple(Kind):
    def find_and_replace_pattern(self, graph):
        BODY
'''


def simple(phase, body):
    kind = {"middle": "MiddleReplacementPattern", "back": "BackReplacementPattern"}.get(phase, "FrontReplacementPattern")
    base = f"{phase}.replacement" if phase != "front" else "front.common.replacement"
    return SIMPLE.replace("BASE", base).replace("KIND", kind).replace("BODY", body)


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
def test_what_raises_is_told_with_file_and_line(folder, phase):
    extensions = folder(**{f"{phase}__simple": simple(phase, "return 1 // 0")})
    with pytest.raises(nnefc.ModelError) as caught:
        nnefc.load(MISH_MODEL).transform(extensions=extensions).compile()
    told = str(caught.value)
    assert str(extensions / phase / "simple.py") in told
    assert f"`{phase}.simple.Simple`" in told
    assert "ZeroDivisionError: integer division or modulo by zero (line 7)" in told


def test_graphs_are_of_no_use_afterwards(folder):
    body = "import builtins; builtins.kept = graph"
    nnefc.load(MISH_MODEL).transform(extensions=folder(front__simple=simple("front", body))).compile()
    import builtins

    with pytest.raises(Exception, match="whose transformation has ended"):
        builtins.kept.nodes()
    del builtins.kept


def test_a_pattern_with_data(folder):
    pattern = '''
from nnefc.mo.middle.replacement import MiddleReplacementPattern
from nnefc.mo.ops.elementwise import Add


class TanhToDouble(MiddleReplacementPattern):
    def pattern(self):
        return dict(
            nodes=[("tanh", dict(op="Tanh")), ("data", dict(kind="data", shape=lambda s: list(s) == [2, 3]))],
            edges=[("tanh", "data")],
        )

    def replace_pattern(self, graph, match):
        tanh = match["tanh"]
        assert match["data"].in_node() == tanh
        twice = Add(graph, {"name": "twice"}).create_node()
        tanh.out_port(0).get_connection().set_source(twice.out_port(0))
        twice.in_port(0).connect(tanh.out_port(0))
        twice.in_port(1).connect(tanh.out_port(0))
'''
    text = "version 1.0;\ngraph net(x) -> (y)\n{\n    x = external<scalar>(shape = [2, 3]);\n    y = tanh(x);\n}\n"
    model = nnefc.load(text).transform(extensions=folder(middle__double=pattern))
    np.testing.assert_allclose(outputs(model, x=X), 2 * np.tanh(X), rtol=1e-5)


def test_a_condition_on_the_graph(folder):
    text = simple("front", "raise ValueError('it ran')") + "\n    graph_condition = [lambda graph: CONDITION]\n"
    model = nnefc.load(MISH_MODEL)
    model.transform(extensions=folder(front__simple=text.replace("CONDITION", "graph.get_op_nodes(op='Conv')"))).compile()
    with pytest.raises(nnefc.ModelError, match="it ran"):
        changed = text.replace("CONDITION", "graph.get_op_nodes(op='Tanh')")
        model.transform(extensions=folder(front__simple=changed)).compile()


def test_a_cycle_is_told(folder):
    text = '''
from nnefc.mo.front.common.replacement import FrontReplacementPattern


class First(FrontReplacementPattern):
    def run_before(self):
        return [Second]

    def find_and_replace_pattern(self, graph):
        pass


class Second(First):
    def run_before(self):
        return [First]
'''
    with pytest.raises(nnefc.ModelError, match=r"wait for each other: `front.loop.\w+` -> `front.loop.\w+` ->"):
        nnefc.load(MISH_MODEL).transform(extensions=folder(front__loop=text)).compile()


def test_an_unknown_name_is_told(folder):
    with pytest.raises(ValueError, match=r"did you mean `front.simple.Simple`"):
        nnefc.load(MISH_MODEL).transform(
            extensions=folder(front__simple=simple("front", "pass")), disable=["front.simple.Simpel"]
        )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("class :\n", r"front/broken.py:1` is not valid Python"),
        ("import no_such_module\n", r"front/broken.py` cannot be imported: ModuleNotFoundError.*\(line 1\)"),
        (simple("front", "pass") + "\n    def run_after(self):\n        return ['FrontStart']\n", r"is not a class of a transf"),
    ],
)
def test_a_module_that_is_none_is_told(folder, text, told):
    with pytest.raises(nnefc.ModelError, match=told):
        nnefc.load(MISH_MODEL).transform(extensions=folder(front__broken=text))


def test_the_command_line_takes_a_folder(folder, tmp_path):
    (tmp_path / "net.nnef").write_text(PACK_MODEL)
    extensions = folder(front__Pack=PACK)
    words = [sys.executable, "-m", "nnefc", "compile", "net.nnef", "--extensions", str(extensions)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert "/Unsqueeze" in done.stdout
    done = subprocess.run([*words, "-o", "net.xml"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(outputs(nnefc.load(tmp_path / "net.xml"), a=X, b=X), np.stack([X, X], axis=1))
    folder(front__Pack="raise ValueError('no')")
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert "cannot be imported: ValueError: no" in done.stderr
    words[:3] = [str(pathlib.Path(nnefc.__file__).parent / "bin" / "nnefc")]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "`python -m nnefc` takes folders" in done.stderr


def test_cleaning_up_while_a_new_node_was_unconnected(folder):
    body = """
        from nnefc.mo.ops.op import Op
        node = graph.get_op_nodes(op="Tanh")[0]
        made = Op(graph, {"op": "Sin"}).create_node()
        node.out_port(0).get_connection().insert_node(made)
        graph.clean_up()
        other = Op(graph, {"op": "Cos"}).create_node()
        made.out_port(0).get_connection().insert_node(other)
        graph.clean_up()"""
    model = nnefc.load(MISH_MODEL).transform(extensions=folder(front__simple=simple("front", body.strip())), disable=["front.MishFusion"])
    expected = X * np.cos(np.sin(np.tanh(np.log1p(np.exp(X)))))
    np.testing.assert_allclose(outputs(model, x=X), expected, rtol=1e-5)
