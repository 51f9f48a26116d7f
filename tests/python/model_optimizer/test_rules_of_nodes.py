"""Rules of nodes: the names of operations, attributes, data nodes and edges: `extension_rules.py`."""

import functools
import subprocess
import sys

import numpy as np
import pytest
from extension_rules import EXP_RELU, HEADER, X, document, messages, outputs, transform


@pytest.fixture
def run(tmp_path):
    """Transforms a model by modules of a folder of extensions."""
    return functools.partial(transform, tmp_path)


# ---- the names of operations ----

# An assignment of NNEF, and names of its operation in OpenVINO and the Model Optimizer.
FRONT_NAMES = [
    ("sub(x, x)", "Sub Subtract"), ("div(x, x)", "Div Divide"), ("pow(x, x)", "Pow Power"), ("max(x, x)", "Maximum Max"),
    ("min(x, x)", "Minimum"), ("neg(x)", "Neg Negative"), ("ceil(x)", "Ceiling Ceil"), ("sum_reduce(x, axes = [1])", "ReduceSum"),
    ("mean_reduce(x, axes = [1])", "ReduceMean"), ("max_reduce(x, axes = [1])", "ReduceMax"),
    ("min_reduce(x, axes = [1])", "ReduceMin"), ("slice(x, axes = [0], begin = [0], end = [1])", "StridedSlice Slice"),
    ("leaky_relu(x, alpha = 0.5)", "LeakyReLU"), ("copy(x)", "Identity"), ("linear(x, x)", "FullyConnected"),
    ("matmul(x, x, transposeB = true)", "MatMul"), ("relu(x)", "ReLU Relu"), ("mul(x, x)", "Mul Multiply"),
    ("softmax(x)", "SoftMax Softmax"), ("silu(x)", "Swish"), ("unstack(x, axis = 0)", "Unpack"),
    ("nearest_upsample(i, factor = [2, 2])", "Interpolate"), ("max_pool(i, size = [1, 1, 2, 2])", "MaxPool Pooling"),
    ("avg_pool(i, size = [1, 1, 2, 2], border = 'ignore')", "AvgPool Pooling"), ("conv(i, i)", "Convolution Conv2D"),
    ("batch_normalization(i, k, k, k, k, epsilon = 0.1)", "BatchNormalization FusedBatchNorm"),
    ("local_response_normalization(i, size = [1, 1, 1, 1])", "LRN"), ("gt(x, x)", "Greater"), ("lt(x, x)", "Less"),
    ("eq(x, x)", "Equal"), ("transpose(x, axes = [1, 0])", "Transpose Permute"),
]  # fmt: skip
# The same after lowering, and in the back phase.
LATE_NAMES = [
    ("pow(x, 2.0)", "Pow pow Power"), ("sub(x, 1.0)", "Sub sub Subtract"), ("div(1.0, x)", "Div div Divide"),
    ("max(x, 1.0)", "max Maximum"), ("min(x, 1.0)", "min Minimum"), ("neg(x)", "neg Negative"), ("ceil(x)", "ceil Ceiling"),
    ("mean_reduce(x, axes = [1])", "ReduceMean mean_reduce"), ("mul(x, 2.0)", "Mul mul Multiply"), ("relu(x)", "Relu"),
]  # fmt: skip


@pytest.mark.parametrize(("assignment", "names"), FRONT_NAMES)
def test_operation_1_names_in_the_front_phase(run, assignment, names):
    result = "[y, w]" if "unstack" in assignment else "z" if assignment[:2] in ("gt", "lt", "eq") else "y"
    lines = ["i = external(shape = [1, 2, 4, 4])", "k = external(shape = [1, 2])", f"{result} = {assignment}"]
    if result == "z":
        lines.append("y = select(z, x, 1.0)")
    text = document(*lines, inputs=("x",)).replace("net(x)", "net(x, i, k)")
    names = names.split()
    body = f"""
class A(FrontReplacementPattern):
    def find_and_replace_pattern(self, graph):
        own = "{assignment.partition('(')[0]}"
        for name in {[*names]} + [own]:
            found = graph.get_op_nodes(op=name)
            assert len(found) == 1 and found[0].op == name and found[0].op == own and name == found[0].op, name
            assert len(graph.get_op_nodes(op=name.upper())) == 1
"""
    run(text, front__a=body).lower()


NORMALIZE = """
class Normalize(KINDReplacementPattern):
    def pattern(self):
        half = lambda value: value is not None and np.all(value == -0.5)
        return dict(
            nodes=[
                ("input", dict(kind="data")), ("square", dict(kind="op", op="Pow")), ("square_data", dict(kind="data")),
                ("sum", dict(kind="op", op="ReduceSum")), ("sum_data", dict(kind="data")),
                ("max", dict(kind="op", op="Maximum")), ("max_data", dict(kind="data")),
                ("limit", dict(kind="data", value=lambda value: value is not None and value.size == 1)),
                ("exponent", dict(kind="data", value=half)),
                ("root", dict(kind="op", op="Pow")), ("root_data", dict(kind="data")), ("mul", dict(kind="op", op="Mul")),
            ],
            edges=[
                ("input", "square", {"in": 0}), ("square", "square_data"), ("square_data", "sum", {"in": 0}),
                ("sum", "sum_data"), ("sum_data", "max"), ("limit", "max"), ("max", "max_data"),
                ("max_data", "root", {"in": 0}), ("exponent", "root", {"in": 1}), ("root", "root_data"),
                ("root_data", "mul"), ("input", "mul"),
            ],
        )

    def replace_pattern(self, graph, match):
        axes = Const(graph, {"value": int64_array([1])}).create_node()
        source = match["square"].in_port(0).get_source()
        limit = float(match["limit"].value.item())
        made = make(graph, "NormalizeL2", source, axes, eps=limit, eps_mode="max")
        match["mul"].out_port(0).get_connection().set_source(made.out_port(0))
"""


@pytest.mark.parametrize("phase", ["middle", "back"])
def test_middle_1_patterns_have_data_nodes(run, phase):
    """The formula of L2 normalization, by the Model Optimizer's names of its operations."""
    text = document("p = pow(x, 2.0)", "s = sum_reduce(p, axes = [1])", "m = max(s, 0.01)", "r = pow(m, -0.5)", "y = mul(x, r)")
    body = NORMALIZE.replace("KIND", phase.capitalize())
    if phase == "middle":  # before the built-in transformations, which change the formula
        imports = "from nnefc.mo.middle.pass_separator import MiddleStart, PreMiddleStart\n"
        body = imports + body + "Normalize.run_before = lambda self: [MiddleStart]\nNormalize.run_after = lambda self: [PreMiddleStart]\n"
    model = run(text, front__unused="", **{f"{phase}__a": body})
    if phase == "middle":
        assert "NormalizeL2" in model.lower()
    expected = X / np.sqrt(np.maximum((X * X).sum(axis=1, keepdims=True), 0.01))
    np.testing.assert_allclose(outputs(model)["y"], expected, rtol=1e-5)


@pytest.mark.parametrize("phase", ["middle", "back"])
@pytest.mark.parametrize(("assignment", "names"), LATE_NAMES)
def test_middle_1_names_after_lowering(run, phase, assignment, names):
    body = f"""
class A({phase.capitalize()}ReplacementPattern):
    def find_and_replace_pattern(self, graph):
        for name in {names.split()}:
            assert [node.id for node in graph.get_op_nodes(op=name)] == ["y"], name
"""
    run(document(f"y = {assignment}"), **{f"{phase}__a": body}).lower()


def test_pattern_5_weights_are_constants(run):
    text = document("w = variable(shape = [2, 3], label = 'w')", "c = constant(shape = [2, 3], value = [2.0])", "a = mul(x, w)", "y = add(a, c)")
    body = """
class A(FrontReplacementPattern):
    def find_and_replace_pattern(self, graph):
        found = graph.get_op_nodes(op="Const")
        assert sorted(node.id for node in found) == ["c", "w"]
        assert [node.op == "variable" for node in found] == [node.id == "w" for node in found]
        constant = Node(graph, "c")
        assert constant.value.shape == (2, 3) and (constant.value == 2).all() and constant["value"].dtype == np.float32
        assert len(graph.get_op_nodes(op="Placeholder")) == 1
"""
    run(text, variables={"w": X}, front__a=body)


# ---- attributes of nodes ----


def test_middle_2_attributes_of_nodes(run):
    body = """
class A(MiddleReplacementPattern):
    def find_and_replace_pattern(self, graph):
        constant = Const(graph, {"value": np.float32([[1, 2, 3]])}).create_node()
        assert constant.value.tolist() == [[1, 2, 3]] and constant.has_valid("value")
        parameter = graph.get_op_nodes(op="Parameter")[0]
        assert list(parameter.shape) == [2, 3]
        exp = graph.get_op_nodes(op="Exp")[0]
        exp["nested"] = {"a": [1, {"b": None}], "c": True, "e": {}}
        assert exp.nested == {"a": [1, {"b": None}], "c": True, "e": {}}
        exp["number"] = 1 << 62
        assert exp.number == 1 << 62
        exp["none"] = None
        assert exp["none"] is None and exp.none is None and not exp.has_valid("none")
        exp["none"] = 3
        assert exp.none == 3
        exp["none"] = None
        for key in ("nested", "number", "none"):
            del exp[key] if key != "none" else exp["number"]
"""
    body = body.replace('            del exp[key] if key != "none" else exp["number"]\n', "            exp[key] = None\n")
    model = run(EXP_RELU, middle__a=body)
    np.testing.assert_allclose(outputs(model)["y"], np.exp(X), rtol=1e-5)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("node['a'] = 1 << 70", "1180591620717411303424 is not an attribute; integers have 64 bits"),
        ("node['a'] = [1, 1 << 70]", "1180591620717411303424 is not an attribute; integers have 64 bits"),
        ("node['a'] = {1: 2}", "1 is not a key of an attribute; expected texts"),
        ("node['a'] = object()", "a value of `object` is not an attribute"),
        ("node.missing", "has no attribute `missing`"),
    ],
)
def test_middle_2_attributes_that_do_not_exist(run, statement, expected):
    body = f"class A(MiddleReplacementPattern):\n    def find_and_replace_pattern(self, graph):\n        node = graph.get_op_nodes(op='Exp')[0]\n        {statement}\n"
    message = messages(run, EXP_RELU, middle__a=body)
    assert expected in message
    assert f"(line {HEADER.count(chr(10)) + 4})" in message


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
@pytest.mark.parametrize("statement", ["node['f'] = len", "node.f = len", "node = make(graph, 'Sin', node.in_port(0), f=len)"])
def test_middle_2_functions_last_until_the_transformation_ends(run, tmp_path, phase, statement):
    body = f"""
class A({phase.capitalize()}ReplacementPattern):
    def find_and_replace_pattern(self, graph):
        node = graph.get_op_nodes(op='Exp')[0]
        node["infer"] = node["reverse_infer"] = len  # nnefc has its own shape functions
        node["g"] = 1
        {statement}
        assert node.f([1, 2]) == node["f"]([1, 2]) == 2 and node.has("f") and node.has_valid("f")
        node["g"] = len
        assert node.g([1, 2]) == 2
        del node["g"]
        assert not node.has("g")


class B({phase.capitalize()}ReplacementPattern):
    def run_after(self):
        return [A]

    def find_and_replace_pattern(self, graph):
        assert not graph.get_op_nodes(op='Exp')[0].has("f")
"""
    model = run(EXP_RELU, **{f"{phase}__a": body})
    np.testing.assert_allclose(outputs(model)["y"], np.exp(X), rtol=1e-5)
    (tmp_path / "net.nnef").write_text(EXP_RELU)
    words = [sys.executable, "-m", "nnefc", "transform", "net.nnef", "--extensions", "extensions"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    if "make" in statement:  # nothing reads the new node
        assert "the attribute `f` of " in done.stderr
    else:
        assert "the attribute `f` of `a` (" in done.stderr
    assert done.stderr.count("is a function; it ends with the transformation") == 1


def test_middle_2_add_edge(run):
    body = """
class A(MiddleReplacementPattern):
    def find_and_replace_pattern(self, graph):
        sub = make(graph, "Subtract")
        parameter, relu = graph.get_op_nodes(op="Parameter")[0], graph.get_op_nodes(op="Relu")[0]
        graph.add_edge(parameter.id, sub.id, **{"in": 1, "out": 0})
        graph.add_edges_from([(graph.get_op_nodes(op="Exp")[0].id, sub.id, {"in": 0})])
        graph.add_edge(sub.id, relu.id)
"""
    np.testing.assert_allclose(outputs(run(EXP_RELU, middle__a=body))["y"], np.maximum(np.exp(X) - X, 0), rtol=1e-5)
    body = body.replace('{"in": 1, "out": 0}', '{"inn": 1}')
    assert "has the unknown key `inn`; expected `in` or `out`" in messages(run, EXP_RELU, middle__a=body)
