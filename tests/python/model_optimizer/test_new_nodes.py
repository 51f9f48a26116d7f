"""New nodes: equal names, inputs of the model, constants, marks, classes of operations, unconnected inputs."""

import functools

import numpy as np
import openvino
import pytest
from extension_rules import EXP_RELU, X, document, messages, outputs, transform

import nnefc

BASES = {phase: f"{phase.capitalize()}ReplacementPattern" for phase in ("front", "middle", "back")}
PHASES = list(BASES)


@pytest.fixture
def run(tmp_path):
    """Transforms a model by modules of a folder of extensions."""
    return functools.partial(transform, tmp_path)


def change(phase, lines, imports=""):
    """Returns a transformation with the lines of its hook, in which `exp` and `relu` are nodes of EXP_RELU."""
    text = "".join(f"        {line}\n" for line in lines.strip().split("\n"))
    find = "        exp, relu = (graph.get_op_nodes(op=op)[0] for op in ('Exp', 'ReLU'))\n"
    return f"{imports}\n\nclass A({BASES[phase]}):\n    def find_and_replace_pattern(self, graph):\n{find}{text}"


# ---- equal names ----


@pytest.mark.parametrize("phase", PHASES)
def test_nodes_with_equal_names_are_told_apart(run, tmp_path, phase):
    lines = """
sine = make(graph, 'Sin', relu.in_port(0), name=exp.name)
relu.in_port(0).connect(sine.out_port(0))
assert sine.name == exp.name == 'a' and sine.id == exp.id + '' and sine.id != exp.id and sine != exp
assert Node(graph, sine.id) == sine and Node(graph, exp.id) == exp
assert [node.op for node in graph.get_op_nodes(name='a')] == ['Exp', 'Sin']
assert len({exp.id: 0, sine.id: 1}) == 2
graph.remove_node(make(graph, 'Cos', exp, name='a').id)
"""
    model = run(EXP_RELU, **{f"{phase}__a": change(phase, lines)})
    np.testing.assert_allclose(outputs(model)["y"], np.maximum(np.sin(np.exp(X)), 0), rtol=1e-5, atol=1e-6)
    model.save(tmp_path / "net.xml")
    compiled = openvino.Core().compile_model(tmp_path / "net.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    np.testing.assert_allclose(compiled([X])[0], np.maximum(np.sin(np.exp(X)), 0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("use", ["Node(graph, 'a')", "graph.remove_node('a')", "graph.add_edge('a', relu.id)", "graph.get_node_id_by_name('a')"])
def test_a_text_for_several_nodes_is_an_error(run, use):
    lines = f"make(graph, 'Sin', exp, name='a')\n{use}"
    assert "2 nodes are named `a`" in messages(run, EXP_RELU, middle__a=change("middle", lines))


@pytest.mark.parametrize("phase", PHASES)
def test_a_result_may_have_the_name_of_its_source(run, phase):
    lines = """
assert [node.op for node in graph.get_op_nodes(name='y')] == ['ReLU', 'Result']
assert Node(graph, 'y') == relu and Node(graph, graph.get_op_nodes(op='Result')[0].id).op == 'Result'
graph.get_op_nodes(op='Result')[0].name = 'z'
assert Node(graph, 'z').op == 'Result'
"""
    assert 'Result "z"' in run(EXP_RELU, **{f"{phase}__a": change(phase, lines)}).lower()


def test_the_name_of_a_result_moves_to_the_new_node(run):
    lines = """
from nnefc.mo.graph.graph import rename_nodes
sine = make(graph, 'Sin', relu.in_port(0))
relu.out_port(0).get_connection().set_source(sine.out_port(0))
rename_nodes([(relu, 'y/TBR'), (sine, 'y')])
"""
    model = run(EXP_RELU, front__a=change("front", lines))
    assert 'Sin "y"' in model.lower()
    np.testing.assert_allclose(outputs(model)["y"], np.sin(np.exp(X)), rtol=1e-5, atol=1e-6)


# ---- inputs of the model ----

PARAMETER = "from nnefc.mo.ops.parameter import Parameter\n"


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(
    "attributes",
    ["'shape': [2, 3]", "'shape': int64_array([1, 3]), 'data_type': np.float32", "'shape': np.ma.masked_array([2, 0], [False, True])",
     "'shape': [-1, 3], 'element_type': 'f32'"],
)  # fmt: skip
def test_a_new_parameter_is_an_input(run, tmp_path, phase, attributes):
    lines = f"""
extra = Parameter(graph, {{'name': 'extra', {attributes}}}).create_node()
total = make(graph, 'Add', relu.in_port(0), extra)
relu.in_port(0).connect(total.out_port(0))
"""
    model = run(EXP_RELU, **{f"{phase}__a": change(phase, lines, PARAMETER)})
    executable = model.compile(threads=1)
    assert [port.name for port in executable.inputs] == ["x", "extra"]
    extra = -3 * np.ones((1, 3) if "1, 3" in attributes else (2, 3), np.float32)
    expected = np.maximum(np.exp(X) + extra, 0)
    np.testing.assert_allclose(executable(x=X, extra=extra)["y"], expected, rtol=1e-5)
    model.save(tmp_path / "net.xml")
    compiled = openvino.Core().compile_model(tmp_path / "net.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    np.testing.assert_allclose(compiled([X, extra])[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("phase", PHASES)
def test_a_parameter_takes_the_place_of_a_node(run, phase):
    """The model is cut: the former input remains, and nothing reads it."""
    lines = """
cut = Parameter(graph, {'name': 'cut', 'shape': [2, 3]}).create_node()
exp.out_port(0).get_connection().set_source(cut.out_port(0))
"""
    executable = run(EXP_RELU, **{f"{phase}__a": change(phase, lines, PARAMETER)}).compile(threads=1)
    np.testing.assert_array_equal(executable(x=X, cut=X)["y"], np.maximum(X, 0))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("Parameter(graph, {'shape': [2, 3]}).create_node([exp])", "a new `opset1.Parameter` has 1 input; expected none"),
        ("Op(graph, {'op': 'Parameter'}).create_node([relu, exp])", "a new `opset1.Parameter` has 2 inputs; expected none"),
        ("Op(graph, {'op': 'Result'}).create_node([relu, exp])", "a new Result reads 2 tensors; expected one"),
        ("Parameter(graph, {'name': 'p', 'shape': ['a']}).create_node()", "`shape` is not a shape; expected extents"),
    ],
)
def test_mistakes_of_inputs_and_results_are_reported(run, made, expected):
    assert expected in messages(run, EXP_RELU, middle__a=change("middle", made, PARAMETER))


@pytest.mark.parametrize("made", ["Op(graph, {'op': 'Result', 'name': 'z'})", "Result(graph, {'name': 'z'})"])
def test_a_new_result_is_an_output(run, made):
    executable = run(EXP_RELU, middle__a=change("middle", f"{made}.create_node([exp])")).compile(threads=1)
    np.testing.assert_allclose(executable(x=X)["z"], np.exp(X), rtol=1e-5)


# ---- constants ----


@pytest.mark.parametrize("value", ["2.0", "[2.0]", "np.float64(2)", "np.full((2, 3), 2.0)", "np.float32(2)", "np.float16(2).astype(np.float32)"])
def test_constants_of_python_numbers_have_the_type_of_the_model(run, value):
    lines = f"""
two = Const(graph, {{'value': {value}}}).create_node()
product = make(graph, 'Multiply', exp, two)
relu.in_port(0).connect(product.out_port(0))
"""
    np.testing.assert_allclose(outputs(run(EXP_RELU, middle__a=change("middle", lines)))["y"], 2 * np.exp(X), rtol=1e-5)


@pytest.mark.parametrize("value", ["3.0", "np.float64(3)", "[[3.0]]"])
def test_a_new_value_has_the_type_of_the_former_one(run, value):
    lines = f"graph.get_op_nodes(op='Const')[0].value = {value}"
    text = document("m = mul(x, 0.5)", "a = exp(m)", "y = relu(a)")
    np.testing.assert_allclose(outputs(run(text, middle__a=change("middle", lines)))["y"], np.exp(3 * X), rtol=1e-5)


# ---- marks and unconnected inputs ----


@pytest.mark.parametrize("key", ["override_output_shape", "need_shape_inference"])
def test_marks_among_the_attributes_are_no_attributes(run, key):
    lines = f"""
sine = make(graph, 'Sin', relu.in_port(0), {key}=True)
assert sine.has_and_set('need_shape_inference') and '{key}' not in graph._native.attributes(sine._number)
relu.in_port(0).connect(make(graph, 'Abs', sine, {key}=None).out_port(0))
"""
    assert key not in run(EXP_RELU, middle__a=change("middle", lines)).lower()


def test_the_connection_of_an_unconnected_input(run):
    lines = """
add = make(graph, 'Add')
assert add.in_port(0).get_connection().get_source() is None
add.in_port(0).get_connection().set_source(exp.out_port(0))
add.in_port(1).get_connection().set_source(exp.in_port(0))
relu.in_port(0).get_connection().set_source(add.out_port(0))
"""
    np.testing.assert_allclose(outputs(run(EXP_RELU, middle__a=change("middle", lines)))["y"], np.maximum(np.exp(X) + X, 0), rtol=1e-5)


@pytest.mark.parametrize(
    "use",
    ["get_source()", "get_connection().set_destination(relu.in_port(0))", "get_connection().insert_node(make(graph, 'Sin'))",
     "get_connection().add_destination(relu.in_port(0))", "get_connection().data"],
)  # fmt: skip
def test_an_unconnected_input_has_no_source(run, use):
    message = messages(run, EXP_RELU, middle__a=change("middle", f"make(graph, 'Add', exp).in_port(1).{use}"))
    assert "is not connected" in message


# ---- classes of operations ----

SCALED = """
from nnefc.mo.ops.elementwise import Elementwise, LogicalElementwise, UnaryElementwise
from nnefc.mo.ops.activation_ops import Activation


class Hypotenuse(Elementwise):
    op = "Hypotenuse"
    operation = staticmethod(lambda a, b: np.sqrt(a * a + b * b))


class Cube(UnaryElementwise):
    op = op_type = "Cube"
    operation = staticmethod(lambda a: a * a * a)


class Softer(Activation):
    op = "Softer"
    version = "extension"
    operation = staticmethod(lambda a: a / (1 + np.abs(a)))


class Near(LogicalElementwise):
    op = "Near"
    operation = staticmethod(lambda a, b: np.abs(a - b) < 0.5)
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("Hypotenuse(graph, {'name': 'h'}).create_node([exp, exp.in_port(0)])", np.sqrt(np.exp(X) ** 2 + X**2)),
        ("Cube(graph, {}).create_node([exp])", np.exp(X) ** 3),
        ("Softer(graph).create_node([exp])", np.exp(X) / (1 + np.exp(X))),
        ("make(graph, 'Convert', Near(graph, {}).create_node([exp, exp.in_port(0)]), destination_type='f32')", np.abs(np.exp(X) - X) < 0.5),
    ],
)
def test_base_classes_of_element_wise_operations(run, made, expected):
    lines = f"relu.in_port(0).connect({made}.out_port(0))"
    model = run(EXP_RELU, middle__a=change("middle", lines, "from ops.scaled import *\n"), ops__scaled=SCALED)
    np.testing.assert_allclose(outputs(model)["y"], np.maximum(expected, 0), rtol=1e-5)


@pytest.mark.parametrize(("kind", "function"), [("Add", np.add), ("Mul", np.multiply), ("Max", np.maximum), ("Min", np.minimum)])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_operations_on_any_number_of_tensors(run, kind, function, count):
    imports = f"from nnefc.mo.ops.eltwise_n import EltwiseN{kind}\n"
    lines = f"""
sources = [exp, exp.in_port(0).get_source(), make(graph, 'Sin', exp), make(graph, 'Cos', exp)]
made = EltwiseN{kind}(graph, {{'name': 'n'}}).create_node(sources[:{count}])
relu.in_port(0).connect(made.out_port(0))
"""
    values = [np.exp(X), X, np.sin(np.exp(X)), np.cos(np.exp(X))][:count]
    model = run(EXP_RELU, middle__a=change("middle", lines, imports))
    np.testing.assert_allclose(outputs(model)["y"], np.maximum(functools.reduce(function, values), 0), rtol=1e-5, atol=1e-5)


def test_an_unknown_operation_on_any_number_of_tensors(run):
    imports = "from nnefc.mo.ops.eltwise_n import EltwiseN\n"
    lines = "EltwiseN(graph, {'operation': 'sub'}).create_node([exp, exp])"
    assert "unknown `operation` `sub`" in messages(run, EXP_RELU, middle__a=change("middle", lines, imports))


def test_classes_by_the_names_of_operations(run):
    lines = """
assert Op.get_op_class_by_name('Cube').__module__.endswith('ops.scaled')
assert Op.get_op_class_by_name('Elu').op == 'Elu'
sine = Op.get_op_class_by_name('Sin')(graph, {}).create_node([exp])
relu.in_port(0).connect(sine.out_port(0))
"""
    model = run(EXP_RELU, middle__a=change("middle", lines), ops__scaled=SCALED)
    np.testing.assert_allclose(outputs(model)["y"], np.maximum(np.sin(np.exp(X)), 0), rtol=1e-5, atol=1e-6)
    assert "no class has the `op` `Nothing`" in messages(run, EXP_RELU, middle__a=change("middle", "Op.get_op_class_by_name('Nothing')"))


# ---- shapes that a shape function changes ----

RESIZED = """
from nnefc.mo.ops.op import Op


class Resized(Op):
    op = "Resized"

    def __init__(self, graph, attrs):
        super().__init__(graph, {"op": self.op, "type": self.op, "infer": self.infer}, attrs)

    @staticmethod
    def infer(node):
        INFER

    @staticmethod
    def compute(node, x):
        return np.zeros((2, 5), np.float32)
"""


@pytest.mark.parametrize(
    "infer",
    [
        "node.out_node(0).shape = node.in_node(0).shape; node.out_node(0).shape[1] = 5; assert node.in_node(0).shape[1] == 3",
        "node.out_port(0).data.set_shape(node.in_port(0).data.get_shape()); node.out_port(0).data.get_shape()[1] = 5",
        "shape = node.in_port(0).data.get_shape(); shape[1] = 5; node.out_port(0).data.set_shape(shape)",
        "node.out_node(0).shape = [2, 9]; node.out_node(0).shape = np.array([2, 5])",
    ],
)
def test_a_shape_function_changes_elements_of_a_shape(run, infer):
    lines = "relu.in_port(0).connect(Resized(graph, {}).create_node([exp]).out_port(0))"
    model = run(EXP_RELU, front__a=change("front", lines, "from ops.resized import *\n"), ops__resized=RESIZED.replace("INFER", infer))
    assert outputs(model)["y"].shape == (2, 5)


# ---- several folders ----


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("inside", [False, True])
def test_folders_import_from_each_other(tmp_path, order, inside):
    """A class has one object, whichever folder loads it first."""
    line = "from first.front.one import One"
    base = "from nnefc.mo.front.common.replacement import FrontReplacementPattern\n"
    one = f"{base}\n\nclass One(FrontReplacementPattern):\n    count = [0]\n\n    def find_and_replace_pattern(self, graph):\n        self.count[0] += 1\n"
    two = f"{base}{'' if inside else line}\n\nclass Two(FrontReplacementPattern):\n    def run_after(self):\n        {line if inside else 'pass'}\n"
    two += "        return [One]\n\n    def find_and_replace_pattern(self, graph):\n"
    two += f"        {line if inside else 'pass'}\n        assert One.count == [1]\n        graph.get_op_nodes(op='Result')[0].name = 'done'\n"
    for name, text in (("first/front/one.py", one), ("second/front/two.py", two)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    folders = [tmp_path / "first", tmp_path / "second"][::order]
    model = nnefc.load(EXP_RELU).transform(extensions=folders)
    assert 'Result "done"' in model.lower()
    with pytest.raises(nnefc.ModelError, match="No module named 'first'"):
        nnefc.load(EXP_RELU).transform(extensions=[tmp_path / "second"])
