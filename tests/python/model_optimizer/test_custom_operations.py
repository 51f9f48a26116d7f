"""Operations of a folder of extensions: shape functions and kernels in Python."""

import numpy as np
import pytest

import nnefc

X = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)

DOCUMENT = """version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [2, 3]);
    a = tanh(x);
    y = abs(a);
}
"""

OPERATION = '''
import numpy as np
from nnefc.mo.graph.graph import Graph, Node
from nnefc.mo.ops.op import Op


class Scale(Op):
    op = "Scale"

    def __init__(self, graph: Graph, attrs: dict):
        mandatory_props = {"op": self.op, "type": self.op, "factor": 2.0, "infer": self.infer, "in_ports_count": 1}
        super().__init__(graph, {**mandatory_props, **MORE}, attrs)

    def backend_attrs(self):
        return ["factor"]

    @staticmethod
    def infer(node: Node):
        INFER

    COMPUTE
'''

REPLACE = '''
from nnefc.mo.front.common.replacement import FrontReplacementOp
from e.ops.scale import Scale


class UseScale(FrontReplacementOp):
    op = "tanh"

    def replace_op(self, graph, node):
        return [Scale(graph, {ATTRS}).create_node([node.in_port(0)]).id]
'''

COPY_SHAPE = "node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())"
COMPUTE = "def compute(self, node, x):\n        return x * node.factor"


def write(folder, infer=COPY_SHAPE, compute=COMPUTE, attributes="", more="{}", others=None):
    operation = OPERATION.replace("INFER", infer).replace("COMPUTE", compute).replace("MORE", more)
    files = {"ops/scale.py": operation, "front/use.py": REPLACE.replace("ATTRS", attributes), **(others or {})}
    for name, text in files.items():
        path = folder / "e" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "e"


def outputs(folder, document=DOCUMENT, x=X):
    return nnefc.load(document).compile(extensions=folder, threads=1)(x=x)["y"]


@pytest.mark.parametrize(("attributes", "factor"), [("", 2), ("'factor': -3.0", 3), ("'factor': 0.5, 'name': 'scaled'", 0.5)])
def test_attributes_reach_the_kernel(tmp_path, attributes, factor):
    np.testing.assert_allclose(outputs(write(tmp_path, attributes=attributes)), np.abs(X * factor), rtol=1e-6)


def test_the_shape_function_defines_shape_and_type(tmp_path):
    infer = "node.out_node(0).shape = [node.in_node(0).shape[1], 2]"
    compute = "def compute(self, node, x):\n        return x.T * node.factor"
    folder = write(tmp_path, infer, compute)
    np.testing.assert_allclose(outputs(folder), np.abs(2 * X.T), rtol=1e-6)
    more = "{'type_infer': lambda node: node.out_port(0).set_data_type(np.float16)}"
    compute = "def compute(self, node, x):\n        return np.round(x.T * 10)"
    folder = write(tmp_path, infer, compute, more=more)
    model = nnefc.load(DOCUMENT).transform(extensions=folder)
    assert "f16[3,2]" in model.lower()
    np.testing.assert_array_equal(outputs(folder), np.abs(np.round(X.T * 10)))


def test_an_infer_that_sets_values_is_a_kernel(tmp_path):
    infer = COPY_SHAPE + """
        value = node.in_port(0).data.get_value()
        if value is not None:
            node.out_port(0).data.set_value(value + node.factor)"""
    np.testing.assert_allclose(outputs(write(tmp_path, infer, "")), np.abs(X + 2), rtol=1e-6)


def test_an_operation_with_two_outputs(tmp_path):
    infer = "[port.data.set_shape(node.in_port(0).data.get_shape()) for port in node.out_ports().values()]"
    compute = "def compute(self, node, x):\n        return x + 1, x * node.factor"
    folder = write(tmp_path, infer, compute, more="{'out_ports_count': 2}")
    text = (folder / "front/use.py").read_text()
    (folder / "front/use.py").write_text(text.replace("return [", "made = ").replace(".id]", "\n        return [(made, 1)]"))
    np.testing.assert_allclose(outputs(folder), np.abs(2 * X), rtol=1e-6)


def test_ir_is_written_and_read(tmp_path):
    folder = write(tmp_path, attributes="'factor': 1.5")
    model = nnefc.load(DOCUMENT).transform(extensions=folder)
    model.save(tmp_path / "net.xml")
    text = (tmp_path / "net.xml").read_text()
    assert 'type="Scale"' in text
    assert 'version="extension"' in text
    assert 'factor="1.5"' in text
    (folder / "front/use.py").unlink()
    read = nnefc.load(tmp_path / "net.xml", extensions=folder)
    np.testing.assert_allclose(next(iter(read.compile(threads=1)(x=X).values())), np.abs(1.5 * X), rtol=1e-6)


def test_an_extender_converts_attributes_of_ir(tmp_path):
    extender = '''
from nnefc.mo.utils.ir_reader.extender import Extender


class ScaleExtender(Extender):
    op = "Scale"

    @staticmethod
    def extend(op):
        op["factor"] = op.factor * 100
'''
    folder = write(tmp_path, others={"ops/extender.py": extender})
    np.testing.assert_allclose(outputs(folder), np.abs(200 * X), rtol=1e-6)


@pytest.mark.parametrize("version", ["mine", "extension", "experimental"])
def test_the_version_is_the_operation_set(tmp_path, version):
    model = nnefc.load(DOCUMENT).transform(extensions=write(tmp_path, more=f"{{'version': '{version}'}}"))
    assert f"{version}.Scale" in model.lower()


@pytest.mark.parametrize(
    ("infer", "compute", "message"),
    [
        ("pass", COMPUTE, "`infer` of Scale does not set the shape of output 0"),
        ("raise ValueError('no such thing')", COMPUTE, "ValueError: no such thing"),
        ("node.out_port(1).data.set_shape([1])", COMPUTE, "sets output 1; it has 1 output"),
        ("node.in_port(0).data.set_shape([1])", COMPUTE, "sets an input"),
    ],
)
def test_mistakes_of_shape_functions_are_reported(tmp_path, infer, compute, message):
    with pytest.raises(nnefc.ModelError, match=message):
        outputs(write(tmp_path, infer, compute))


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        ("", "Scale has no `compute`, and its `infer` does not set the value"),
        ("def compute(self, node, x):\n        raise ValueError('no such thing')", "ValueError: no such thing"),
        ("def compute(self, node, x):\n        return x[:1]", r"returned f32\[1,3\] as output 0; its shape function returned f32\[2,3\]"),
        ("def compute(self, node, x):\n        return x, x", "`compute` of Scale returned 2 arrays; expected 1"),
    ],
)
def test_mistakes_of_kernels_are_reported(tmp_path, compute, message):
    with pytest.raises(nnefc.RunError, match=message):
        outputs(write(tmp_path, compute=compute))


def test_two_classes_for_one_operation_are_reported(tmp_path):
    folder = write(tmp_path)
    (folder / "ops/other.py").write_text((folder / "ops/scale.py").read_text())
    with pytest.raises(nnefc.ModelError, match=r"ops\.other\.Scale and ops\.scale\.Scale define `Scale`"):
        outputs(folder)


def test_a_class_of_a_known_operation_adds_none(tmp_path):
    text = "from nnefc.mo.ops.op import Op\n\n\nclass MatMul(Op):\n    op = 'MatMul'\n"
    folder = write(tmp_path, others={"ops/matmul.py": text})
    np.testing.assert_allclose(outputs(folder), np.abs(2 * X), rtol=1e-6)


def test_threads_share_a_kernel(tmp_path):
    import concurrent.futures

    executable = nnefc.load(DOCUMENT).compile(extensions=write(tmp_path), threads=1)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: executable(x=X)["y"], range(40)):
            np.testing.assert_allclose(result, np.abs(2 * X), rtol=1e-6)
