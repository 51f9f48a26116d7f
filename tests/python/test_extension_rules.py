"""The statements of the Model Optimizer's page about graph transformation extensions.

A name cites the section and the paragraph, or the item of a list, that states the rule: `common` are the attributes and
methods of all classes; `pattern`, `operation`, `generic`, `scope`, `points` and `general` the kinds of front transformations;
`middle` and `back` those of the other phases.
"""

import json
import os
import subprocess
import sys

import numpy as np
import openvino
import openvino.opset13 as ops
import pytest

import nnefc
import nnefc.openvino

X = np.linspace(-3, 3, 6, dtype=np.float32).reshape(2, 3)
HEADER = """
import numpy as np
from nnefc.mo.back.replacement import BackReplacementPattern
from nnefc.mo.front.common.partial_infer.utils import int64_array
from nnefc.mo.front.common.replacement import *
from nnefc.mo.front.tf.replacement import FrontReplacementFromConfigFileGeneral, FrontReplacementFromConfigFileSubGraph
from nnefc.mo.graph.graph import Node
from nnefc.mo.middle.replacement import MiddleReplacementPattern
from nnefc.mo.ops.const import Const
from nnefc.mo.ops.op import Op
from nnefc.mo.ops.result import Result
from nnefc.mo.utils.error import Error


def make(graph, op, *sources, **attributes):
    return Op(graph, {"op": op, **attributes}).create_node(list(sources))


def note(graph, text):
    # Adds a parameter-free mark to the name of the first result.
    result = graph.get_op_nodes(op="Result")[0]
    result.name = result.name + text


"""


def document(*lines, inputs=("x",), outputs=("y",), shape="[2, 3]"):
    externals = "".join(f"    {name} = external(shape = {shape});\n" for name in inputs)
    body = "".join(f"    {line};\n" for line in lines)
    return f"version 1.0;\ngraph net({', '.join(inputs)}) -> ({', '.join(outputs)})\n{{\n{externals}{body}}}\n"


EXP_RELU = document("a = exp(x)", "y = relu(a)")


@pytest.fixture
def run(tmp_path):
    """Transforms a model by modules of a folder of extensions."""

    def transform(text, configuration=None, variables=None, folder="extensions", **modules):
        for name, body in modules.items():
            path = tmp_path / folder / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(HEADER + body)
        words = {}
        if configuration is not None:
            (tmp_path / "configuration.json").write_text(json.dumps(configuration))
            words["configuration"] = tmp_path / "configuration.json"
        return nnefc.load(text, variables=variables).transform(extensions=tmp_path / folder, **words)

    return transform


def outputs(model, **inputs):
    return model.compile(threads=1)(**(inputs or {"x": X}))


def messages(run, *arguments, **modules):
    """Returns the errors of the transformation of a model."""
    with pytest.raises(nnefc.ModelError) as caught:
        run(*arguments, **modules).compile()
    return "\n".join(item.message for item in caught.value.report.errors)


def marks(body, phase="front", **members):
    """Returns a class that marks the name of the result; `body` are the classes to mark."""
    base = {"front": "FrontReplacementPattern", "middle": "MiddleReplacementPattern", "back": "BackReplacementPattern"}[phase]
    text = ""
    for name in body:
        text += f"class {name}({base}):\n"
        text += "".join(f"    {member} = {value}\n" for member, value in members.get(name, {}).items())
        text += f"    def find_and_replace_pattern(self, graph):\n        note(graph, '{name}')\n\n\n"
    return text


def result_name(model):
    lowered = model.lower()
    return lowered.rpartition("Result \"")[2].partition('"')[0]


# ---- common ----


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
@pytest.mark.parametrize(("initial", "switched"), [("False", "True"), ("True", "False")])
def test_common_1_enabled_changes_at_run_time(run, phase, initial, switched):
    text = marks(["First", "Second"], phase, First={"id": "'first'"}, Second={"enabled": initial})
    text = text.replace("'First')", f"'First')\n        Second.enabled = {switched}\n        assert Second.enabled is {switched}")
    text += "First.run_before = lambda self: [Second]\nFirst.run_after = lambda self: []\n"
    text += f"Second.run_after = lambda self: [First]\nassert Second.enabled is {initial}\n"
    start = {"front": "FrontStart", "middle": "MiddleStart", "back": "BackStart"}[phase]
    text = f"from nnefc.mo.{phase}.pass_separator import {start}\n" + text.replace("self: []", f"self: [{start}]")
    model = run(EXP_RELU, **{f"{phase}__both": text})
    expected = "yFirstSecond" if switched == "True" else "yFirst"
    for _ in range(2):  # the classes are unchanged for later compilations
        assert result_name(model) == expected


def test_common_1_enabled_of_built_in_classes(run):
    text = document("s = softplus(x)", "t = tanh(s)", "y = mul(x, t)")
    assert "Mish" in nnefc.load(text).lower()
    body = """
from nnefc.mo.front.Mish_fusion import MishFusion


class Off(FrontReplacementPattern):
    def run_before(self):
        return [MishFusion]

    def find_and_replace_pattern(self, graph):
        MishFusion.enabled = False
"""
    assert "Mish" not in run(text, front__off=body).lower()
    assert "Mish" in nnefc.load(text).lower()


def test_common_1_enabled_of_an_instance(run):
    text = marks(["First"]) .replace("def find_and", "def __init__(self):\n        self.enabled = False\n\n    def find_and")
    assert result_name(run(EXP_RELU, front__a=text)) == "y"


@pytest.mark.parametrize("name", ["'first'", "''"])
@pytest.mark.parametrize("variable", ["MO_DISABLED_TRANSFORMS", "MO_ENABLED_TRANSFORMS"])
def test_common_2_id_and_class_name_in_the_environment(run, monkeypatch, name, variable):
    enables = variable == "MO_ENABLED_TRANSFORMS"
    text = marks(["First"], First={"id": name, "enabled": str(not enables)})
    names = ["extensions.back.Module.First", "back.Module.First", "Module.First", *(["first"] if name == "'first'" else [])]
    for given in names:
        monkeypatch.setenv(variable, given)
        assert result_name(run(EXP_RELU, back__Module=text.replace("FrontRep", "BackRep"))) == ("yFirst" if enables else "y"), given
    monkeypatch.delenv(variable)
    assert result_name(run(EXP_RELU, back__Module=text.replace("FrontRep", "BackRep"))) == ("y" if enables else "yFirst")


def test_common_2_id_is_optional_and_names_are_separated_by_commas(run, monkeypatch):
    monkeypatch.setenv("MO_DISABLED_TRANSFORMS", "first,front.a.Third")
    text = marks(["First", "Second", "Third"], First={"id": "'first'"}, Second={"id": "'second'"})
    assert result_name(run(EXP_RELU, front__a=text)) == "ySecond"


@pytest.mark.parametrize("phase", ["middle", "back"])
@pytest.mark.parametrize("member", ["", "run_not_recursively = False", "run_not_recursively = True"])
def test_common_3_run_not_recursively(run, tmp_path, phase, member):
    """Without the member, bodies are transformed."""
    x, condition = ops.parameter([2, 3], np.float32, name="x"), ops.parameter([], np.bool_, name="condition")
    chosen = ops.if_op(condition)
    bodies = []
    for function in (ops.relu, ops.exp):
        inner = ops.parameter([2, 3], np.float32)
        bodies.append((openvino.Model([ops.result(function(inner))], [inner]), inner))
    chosen.set_then_body(bodies[0][0])
    chosen.set_else_body(bodies[1][0])
    chosen.set_input(x.output(0), bodies[0][1], bodies[1][1])
    y = chosen.set_output(bodies[0][0].results[0], bodies[1][0].results[0])
    openvino.save_model(openvino.Model([ops.result(ops.relu(y))], [x, condition]), tmp_path / "if.xml", compress_to_fp16=False)
    body = f"""
class A({phase.capitalize()}ReplacementPattern):
    {member or "pass"}

    def find_and_replace_pattern(self, graph):
        for node in graph.get_op_nodes(op="ReLU"):
            node.out_port(0).get_connection().set_source(make(graph, "Abs", node.in_port(0).get_source()).out_port(0))
"""
    model = run(tmp_path / "if.xml", **{f"{phase}__a": body})
    made = model.compile(threads=1)(x=X, condition=np.array(True))
    np.testing.assert_array_equal(next(iter(made.values())), np.maximum(X, 0) if "True" in member else np.abs(X))


@pytest.mark.parametrize("clean", ["True", "False"])
def test_common_4_force_clean_up(run, clean):
    body = f"""
class Bypass(MiddleReplacementPattern):
    force_clean_up = {clean}

    def find_and_replace_pattern(self, graph):
        relu = graph.get_op_nodes(op="Relu")[0]
        relu.in_port(0).connect(graph.get_op_nodes(op="Parameter")[0].out_port(0))


class Later(MiddleReplacementPattern):
    def run_after(self):
        return [Bypass]

    def find_and_replace_pattern(self, graph):
        assert bool(graph.get_op_nodes(op="Exp")) is (not {clean})
"""
    np.testing.assert_array_equal(outputs(run(EXP_RELU, middle__a=body))["y"], np.maximum(X, 0))


@pytest.mark.parametrize("clean", ["True", "False"])
def test_common_4_dead_nodes_are_not_checked(run, clean):
    """A sum of extents that do not fit is no error after its only consumer reads another tensor."""
    text = document("a = exp(x)", "z = external(shape = [2, 3])", "b = add(a, z)", "y = relu(b)").replace("(x)", "(x, z)", 1)
    body = f"""
class Narrow(FrontReplacementPattern):
    force_clean_up = {clean}

    def find_and_replace_pattern(self, graph):
        exp, relu = graph.get_op_nodes(op="exp")[0], graph.get_op_nodes(op="relu")[0]
        wide = Const(graph, {{"value": np.zeros((1, 5), np.float32)}}).create_node()
        relu.in_port(0).get_connection().set_source(exp.in_port(0).get_source())
        exp.out_port(0).get_connection().set_source(wide.out_port(0))
"""
    model = run(text, front__a=body)
    np.testing.assert_array_equal(outputs(model, x=X, z=X)["y"], np.maximum(X, 0))


@pytest.mark.parametrize("override", ["override_output_shape", "need_shape_inference"])
@pytest.mark.parametrize("form", ["node['{}'] = True", "node.{} = True"])
def test_common_5_force_shape_inference(run, override, form):
    body = f"""
class Squash(MiddleReplacementPattern):
    force_shape_inference = True

    def find_and_replace_pattern(self, graph):
        node = graph.get_op_nodes(op="ReduceSum")[0]
        node["keep_dims"] = False
        {form.format(override)}
"""
    text = document("y = sum_reduce(x, axes = [1])")
    if override == "need_shape_inference":
        assert "made the shape of output 0 of `y` [2] where it was [2,1]" in messages(run, text, middle__a=body)
    else:
        np.testing.assert_allclose(outputs(run(text, middle__a=body))["y"], X.sum(axis=1), rtol=1e-5)


def test_common_5_nodes_with_changed_inputs_are_marked(run):
    body = """
class Reads(MiddleReplacementPattern):
    force_shape_inference = True

    def find_and_replace_pattern(self, graph):
        exp, relu = graph.get_op_nodes(op="Exp")[0], graph.get_op_nodes(op="Relu")[0]
        assert not exp.has_and_set("need_shape_inference") and not relu.has("need_shape_inference")
        relu.in_port(0).connect(exp.in_port(0).get_source())
        assert not exp.has_and_set("need_shape_inference") and relu.has_and_set("need_shape_inference")
        exp["need_shape_inference"] = True
        assert exp.need_shape_inference
"""
    np.testing.assert_array_equal(outputs(run(EXP_RELU, middle__a=body))["y"], np.maximum(X, 0))


@pytest.mark.parametrize("conditions", ["[]", "[lambda g: True]", "[lambda g: True, lambda g: False]", "[lambda g: False]"])
def test_common_6_graph_condition(run, conditions):
    model = run(EXP_RELU, front__a=marks(["First"], First={"graph_condition": conditions}))
    assert result_name(model) == ("y" if "False" in conditions else "yFirst")


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
@pytest.mark.parametrize("order", ["First Second", "Second First"])
def test_common_7_and_8_run_before_and_run_after(run, phase, order):
    first, second = order.split()
    for change in (f"{first}.run_before = lambda self: [{second}]", f"{second}.run_after = lambda self: [{first}]"):
        start = f"{phase.capitalize()}Start"
        text = f"from nnefc.mo.{phase}.pass_separator import {start}\n" + marks(["First", "Second"], phase) + change + "\n"
        if "run_before" in change:
            text += f"{second}.run_after = lambda self: [{start}]\n"
        assert result_name(run(EXP_RELU, **{f"{phase}__a": text})) == f"y{first}{second}"


def test_common_9_transformations_run_between_start_and_finish(run):
    body = "".join(
        marks([f"{phase}{when}"], phase) + f"{phase}{when}.run_{side} = lambda self: [{phase.capitalize()}{when}]\n"
        for phase in ("front", "middle", "back")
        for when, side in (("Finish", "before"), ("Start", "after"))
    )
    imports = "".join(
        f"from nnefc.mo.{phase}.pass_separator import {phase.capitalize()}Start, {phase.capitalize()}Finish\n"
        for phase in ("front", "middle")
    )
    imports += "from nnefc.mo.back.pass_separator import BackStart, BackFinish\n"
    name = result_name(run(EXP_RELU, a=imports + body))
    order = [name.index(phase) for phase in ("front", "middle", "back")]
    assert order == sorted(order)
    assert len(name) == len("y") + 2 * len("frontmiddleback") + 3 * len("StartFinish")


# ---- pattern ----

SP_MISH = document("s = softplus(x)", "t = tanh(s)", "y = mul(x, t)")
PATTERN = """
    def pattern(self):
        return dict(
            nodes=[("mul", dict(op="Mul")), ("tanh", dict(op="Tanh")), ("sp", dict(op="SoftPlus"))],
            edges=[("sp", "tanh", {"in": 0, "out": 0}), ("tanh", "mul", {"in": 1})],
        )
"""


@pytest.mark.parametrize("base", ["FrontReplacementSubgraph", "FrontReplacementPattern"])
def test_pattern_1_base_classes(run, base):
    body = f"""
class MySine({base}):
    id = "mine"
{PATTERN}
    def replace_sub_graph(self, graph, match):
        assert sorted(match) == ["mul", "sp", "tanh"]
        sine = make(graph, "Sin", match["sp"].in_port(0).get_source())
        match["mul"].out_port(0).get_connection().set_source(sine.out_port(0))
"""
    assert result_name(run(SP_MISH, front__a=body)) == "y"
    text = document("s = softplus(x)", "t = tanh(s)", "p = mul(x, t)", "q = softplus(p)", "r = tanh(q)", "y = mul(p, r)")
    np.testing.assert_allclose(outputs(run(text, front__a=body))["y"], np.sin(np.sin(X)), rtol=1e-5)


@pytest.mark.parametrize(("consumer", "count"), [("relu", 3), ("abs", 0)])
def test_pattern_2_every_isomorphic_sub_graph_is_replaced(run, consumer, count):
    text = document(*(f"t{i + 1} = {('exp', 'relu')[i % 2]}({f't{i}' if i else 'x'})" for i in range(6))).replace("t6", "y")
    body = f"""
class A(FrontReplacementSubgraph):
    def pattern(self):
        return dict(nodes=[("a", dict(op="Exp")), ("b", dict(op="{consumer}"))], edges=[("a", "b")])

    def replace_sub_graph(self, graph, match):
        assert match["b"].in_node(0) == match["a"]
        note(graph, "+")
"""
    assert result_name(run(text, front__a=body)) == "y" + "+" * count


@pytest.mark.parametrize(
    ("new", "old_input", "old_output"),
    [
        ("(new['sine'].id, 0)", "(match['sp'].id, 0)", "match['mul'].id"),
        ("(new['sine'], 0)", "(match['sp'], 0)", "(match['mul'], 0)"),
        ("new['sine']", "match['sp']", "match['mul']"),
        ("new['sine'].id", "match['sp'].id", "(match['mul'].id, 0)"),
    ],
)
def test_pattern_4_generate_sub_graph(run, new, old_input, old_output):
    body = f"""
class MySine(FrontReplacementSubgraph):
{PATTERN}
    def generate_sub_graph(self, graph, match):
        return dict(sine=make(graph, "Sin"))

    def input_edges_match(self, graph, match, new):
        return {{{old_input}: {new}}}

    def output_edges_match(self, graph, match, new):
        return {{{old_output}: {new}}}
"""
    model = run(SP_MISH, front__a=body)
    np.testing.assert_allclose(outputs(model)["y"], np.sin(X), rtol=1e-5)
    assert "SoftPlus" not in model.lower()


def test_pattern_4_shared_constants_stay(run):
    """The front graph has one constant for both numbers; the replaced one goes, the other one stays."""
    text = document("a = mul(x, 0.5)", "b = exp(a)", "c = mul(b, 0.5)", "y = tanh(c)")
    body = """
class Half(FrontReplacementSubgraph):
    def pattern(self):
        return dict(
            nodes=[("exp", dict(op="Exp")), ("mul", dict(op="Mul")), ("half", dict(op="Const"))],
            edges=[("exp", "mul", {"in": 0}), ("half", "mul", {"in": 1})],
        )

    def generate_sub_graph(self, graph, match):
        return {"new": make(graph, "Sin")}

    def input_edges_match(self, graph, match, new):
        return {(match["exp"].id, 0): (new["new"].id, 0)}

    def output_edges_match(self, graph, match, new):
        return {match["mul"].id: new["new"].id}
"""
    np.testing.assert_allclose(outputs(run(text, front__a=body))["y"], np.tanh(np.sin(X / 2)), rtol=1e-5)


@pytest.mark.parametrize(
    ("attributes", "count"),
    [
        ("dict(op='max_reduce')", 2),
        ("dict(op='ReduceMax', axes=[1])", 1),
        ("dict(op='ReduceMax', axes=lambda axes: 1 in axes)", 1),
        ("dict(op='ReduceMax', axes=lambda axes: axes is None)", 0),
        ("dict(op=lambda op: op in ['ReduceMax', 'ReduceMin'])", 3),
        ("dict(op='ReduceMin', missing=lambda value: value is None)", 1),
        ("dict(op='ReduceMin', missing=None)", 1),
        ("dict(op='ReduceMin', missing=1)", 0),
    ],
)
def test_pattern_5_nodes_are_matched_by_values_and_functions(run, attributes, count):
    text = document("a = max_reduce(x, axes = [1])", "b = max_reduce(a, axes = [0])", "y = min_reduce(b, axes = [0])")
    body = f"""
class Count(FrontReplacementSubgraph):
    def pattern(self):
        return dict(nodes=[("node", {attributes})], edges=[])

    def replace_sub_graph(self, graph, match):
        note(graph, "+")
"""
    assert result_name(run(text, front__a=body)) == "y" + "+" * count


@pytest.mark.parametrize(
    ("edge", "count"),
    [("('e', 'm')", 2), ("('e', 'm', {'in': 0})", 1), ("('e', 'm', {'in': 1, 'out': 0})", 1), ("('e', 'm', {'out': 0})", 2),
     ("('e', 'm', {'in': 2})", 0)],
)  # fmt: skip
def test_pattern_6_edges_have_ports(run, edge, count):
    text = document("a = exp(x)", "b = sub(a, x)", "y = sub(x, c)", "c = exp(b)").replace("    y = sub(x, c);\n    c = exp(b);", "    c = exp(b);\n    y = sub(x, c);")
    body = f"""
class Count(FrontReplacementSubgraph):
    def pattern(self):
        return dict(nodes=[("e", dict(op="Exp")), ("m", dict(op="Sub"))], edges=[{edge}])

    def replace_sub_graph(self, graph, match):
        note(graph, "+")
"""
    assert result_name(run(text, front__a=body)) == "y" + "+" * count


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("dict(nodes=[('a', dict(op='Exp'))])", "the pattern has no `edges`; expected a list of tuples"),
        ("dict(edges=[])", "the pattern has no `nodes`"),
        ("dict(nodes=['a'], edges=[])", "'a' is not a node of a pattern; expected `(alias, attributes)`"),
        ("dict(nodes=[('a',)], edges=[])", "('a',) is not a node of a pattern"),
        ("dict(nodes=[('a', {}), ('b', {})], edges=[('a', 'b', {'inn': 0})])", "has the unknown key `inn`; did you mean `in`?"),
        ("dict(nodes=[('a', {}), ('b', {})], edges=['ab'])", "'ab' is not an edge of a pattern"),
        ("dict(nodes=[('a', {})], edges=[], egdes=[])", "the pattern has the unknown key `egdes`; did you mean `edges`?"),
        ("dict(nodes=[('a', {})], edges=[('a', 'b')])", "names `b`"),
        ("[]", "the pattern is []; expected a dictionary"),
    ],
)
def test_pattern_5_and_6_mistakes_are_reported(run, pattern, told):
    body = f"class A(FrontReplacementSubgraph):\n    def pattern(self):\n        return {pattern}\n"
    message = messages(run, EXP_RELU, front__a=body)
    assert told in message
    assert "`front.a.A`" in message


def test_pattern_1_an_operation_that_does_not_exist_is_reported(run, tmp_path):
    body = """
class A(FrontReplacementOp):
    op = "{}"

    def replace_op(self, graph, node):
        return []
"""
    (tmp_path / "net.nnef").write_text(EXP_RELU)
    for name, is_known in (("Tahn", False), ("Tanh", True), ("Conv2D", True), ("FusedBatchNormV9", False), ("opset4.Mish", True)):
        run(EXP_RELU, front__a=body.format(name))
        words = [sys.executable, "-m", "nnefc", "compile", "net.nnef", "--extensions", "extensions"]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False, env=dict(os.environ))
        assert done.returncode == 0
        assert (f"it searches for the operation `{name}`, which does not exist" in done.stderr) is not is_known, done.stderr


# ---- operation ----


@pytest.mark.parametrize(
    "returned", ["[new.id]", "new.id", "[new]", "new", "(new, 0)", "[(new.id, 0)]", "(new,)", "[new.out_port(0)]"]
)
def test_operation_3_replace_op_returns_ids(run, returned):
    body = f"""
class Exponent(FrontReplacementOp):
    op = "Exp"

    def replace_op(self, graph, node):
        new = make(graph, "Sin", node.in_port(0).get_source())
        return {returned}
"""
    model = run(EXP_RELU, front__a=body)
    np.testing.assert_allclose(outputs(model)["y"], np.maximum(np.sin(X), 0), rtol=1e-5)
    assert "Exp" not in model.lower()


@pytest.mark.parametrize(("op", "count"), [("Exp", 2), ("exp", 2), ("Relu", 1), ("Sigmoid", 0)])
def test_operation_2_replace_sub_graph_has_the_match_op(run, op, count):
    body = f"""
class A(FrontReplacementOp):
    op = "{op}"

    def replace_sub_graph(self, graph, match):
        assert list(match) == ["op"] and match["op"].op == "{op}"
        note(graph, "+")
"""
    text = document("a = exp(x)", "b = exp(a)", "y = relu(b)")
    assert result_name(run(text, front__a=body)) == "y" + "+" * count


@pytest.mark.parametrize("returned", ["[]", "None"])
def test_operation_3_nothing_for_an_output_that_is_read_is_an_error(run, returned):
    body = f"class A(FrontReplacementOp):\n    op = 'Exp'\n\n    def replace_op(self, graph, node):\n        return {returned}\n"
    assert "cannot be removed" in messages(run, EXP_RELU, front__a=body)


@pytest.mark.parametrize("returned", ["5", "[5]", "'nothing'", "{}"])
def test_operation_3_other_results_are_errors(run, returned):
    body = f"class A(FrontReplacementOp):\n    op = 'Exp'\n\n    def replace_op(self, graph, node):\n        return {returned}\n"
    message = messages(run, EXP_RELU, front__a=body)
    assert "5" in message or "there is no node `nothing`" in message or "expected a list of ids" in message


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


# ---- generic ----


@pytest.mark.parametrize("base", ["FrontReplacementSubgraph", "FrontReplacementPattern"])
@pytest.mark.parametrize("enabled", [True, False])
def test_generic_1_enabled_classes_run_once(run, base, enabled):
    body = marks(["A"], A={"enabled": enabled}).replace("class A(FrontReplacementPattern)", f"class A({base})")
    assert result_name(run(EXP_RELU, front__a=body)) == ("yA" if enabled else "y")


@pytest.mark.parametrize("axes", ["[1]", "[0, 1]"])
def test_generic_2_axes_of_squeeze_become_an_input(run, axes):
    """`squeeze_dims` is the Model Optimizer's name of the attribute, and NNEF's operation has no second input."""
    text = document(f"s = squeeze(x, axes = {axes})", "y = relu(s)", shape="[1, 1, 6]")
    body = """
class Normalize(FrontReplacementPattern):
    def find_and_replace_pattern(self, graph):
        for node in graph.get_op_nodes(op="Squeeze"):
            assert len(node.in_nodes()) == 1 and node.has_valid("squeeze_dims")
            axes = Const(graph, {"name": node.id + "/Dims", "value": int64_array(node.squeeze_dims)}).create_node()
            node.in_port(1).connect(axes.out_port(0))
            del node["squeeze_dims"]
            assert not node.has("squeeze_dims")
        for node in graph.get_op_nodes(op="Squeeze"):
            assert len(node.in_nodes()) == 2 and node.name == "s"
"""
    model = run(text, front__a=body)
    x = X.reshape(1, 1, 6)
    np.testing.assert_array_equal(outputs(model, x=x)["y"], np.maximum(x.squeeze(tuple(json.loads(axes))), 0))
    assert "squeeze_dims" not in model.lower()


# ---- general ----


@pytest.mark.parametrize("module", ["front.tf.replacement", "front.common.replacement"])
def test_general_1_custom_attributes_of_any_kind(run, module):
    attributes = {"d": {"a": [1, {"b": None}], "c": True}, "n": None, "i": 3, "f": 0.5, "t": "x", "l": [1, "a", None], "e": {}}
    body = f"""
from nnefc.mo.{module} import FrontReplacementFromConfigFileGeneral


class A(FrontReplacementFromConfigFileGeneral):
    replacement_id = "entry"

    def transform_graph(self, graph, replacement_descriptions):
        assert replacement_descriptions == {attributes!r}, replacement_descriptions
        note(graph, "ran")
"""
    entry = {"id": "entry", "match_kind": "general", "custom_attributes": attributes}
    assert result_name(run(EXP_RELU, [entry], front__a=body)) == "yran"


# ---- scope and points ----

BLOCKS = """version 1.0;
extension KHR_enable_fragment_definitions;
fragment block(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    a = mul(x, 0.5);
    b = exp(a);
    y = mul(b, 0.5);
}
graph net(x) -> (y)
{
    x = external(shape = [2, 3]);
    one = block(x);
    two = block(one);
    y = tanh(two);
}
"""
SINES = """
class Sines(FrontReplacementFromConfigFileSubGraph):
    replacement_id = "entry"

    def generate_sub_graph(self, graph, match):
        assert match.custom_replacement_desc.id == "entry"
        return {"sine": make(graph, "Sin")}

    def input_edges_match(self, graph, match, new):
        return INPUTS

    def output_edges_match(self, graph, match, new):
        return OUTPUTS
"""


@pytest.mark.parametrize(
    ("inputs", "outputs_", "kind"),
    [
        ("{(match.single_input_node(0)[0].id, 0): (new['sine'].id, 0)}", "{match.output_node(0)[0].id: new['sine'].id}", "points"),
        ("{match.single_input_node(0): (new['sine'], 0)}", "{match.output_node(0): (new['sine'], 0)}", "points"),
        ("{match.single_input_node(0)[0]: new['sine']}", "{match.output_node(0)[0]: new['sine']}", "points"),
        ("{0: 'sine'}", "{0: new['sine'].id}", "points"),
        ("{(match.single_input_node(0)[0].id, 0): (new['sine'].id, 0)}", "{match.output_node(0)[0].id: new['sine'].id}", "scope"),
    ],
)
def test_points_1_and_scope_1_generate_sub_graph(run, inputs, outputs_, kind):
    entry = {"id": "entry", "match_kind": kind, "custom_attributes": {}}
    if kind == "points":
        text = document("a = mul(x, 0.5)", "b = exp(a)", "c = mul(b, 0.5)", "y = tanh(c)")
        entry["instances"] = {"start_points": ["b"], "end_points": ["c"]}
        expected = np.tanh(np.sin(X / 2))
    else:
        text = BLOCKS
        entry["instances"] = ["one", "two"]
        entry["inputs"] = [[{"node": "a$", "port": 0}]]
        entry["outputs"] = [{"node": "mul$", "port": 0}]
        expected = np.tanh(np.sin(np.sin(X)))
    body = SINES.replace("INPUTS", inputs).replace("OUTPUTS", outputs_)
    np.testing.assert_allclose(outputs(run(text, [entry], front__a=body))["y"], expected, rtol=1e-5)


@pytest.mark.parametrize("kind", ["scope", "points", "general"])
def test_scope_1_points_1_and_general_1_need_an_entry(run, kind):
    """A transformation of an entry with another id, or without a configuration, does not run."""
    base = "General" if kind == "general" else "SubGraph"
    body = f"""
class A(FrontReplacementFromConfigFile{base}):
    replacement_id = "entry"

    def {"transform_graph" if kind == "general" else "replace_sub_graph"}(self, graph, match):
        note(graph, "+")
"""
    entry = {"id": "entry", "match_kind": kind, "custom_attributes": {}}
    if kind != "general":
        entry["instances"] = ["a"] if kind == "scope" else {"start_points": ["a"], "end_points": ["a"]}
    for number, configuration in enumerate([None, [{**entry, "id": "other"}], [entry]]):
        assert result_name(run(EXP_RELU, configuration, front__a=body)) == ("y+" if number == 2 else "y")


def test_scope_2_an_update_writes_inputs_and_outputs(tmp_path):
    (tmp_path / "net.nnef").write_text(BLOCKS)
    entry = {"custom_attributes": {"a": 1}, "id": "entry", "instances": ["one", "two"], "match_kind": "scope"}
    (tmp_path / "entries.json").write_text(json.dumps([entry]))
    words = [sys.executable, "-m", "nnefc", "transform", "net.nnef", "--custom-operations-config-update", "entries.json"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = json.loads((tmp_path / "entries.json").read_text())
    inputs, outputs_ = made.pop("inputs"), made.pop("outputs")
    assert made == entry
    assert [[port["port"] for port in ports] for ports in inputs] == [[0]]
    assert [port["port"] for port in outputs_] == [0]
    assert inputs[0][0]["node"].endswith("$") and outputs_[0]["node"].endswith("$")


@pytest.mark.parametrize("key", ["id", "match_kind", "instances", "custom_attributes"])
def test_scope_3_mandatory_keys(run, key):
    entry = {"id": "entry", "match_kind": "scope", "instances": ["a"], "custom_attributes": {}}
    del entry[key]
    body = "class A(FrontReplacementFromConfigFileSubGraph):\n    replacement_id = 'entry'\n\n    def replace_sub_graph(self, graph, match):\n        note(graph, '+')\n"
    if key == "custom_attributes":
        assert result_name(run(EXP_RELU, [entry], front__a=body)) == "y+"
    else:
        assert f"the entry has no `{key}`" in messages(run, EXP_RELU, [entry], front__a=body)


@pytest.mark.parametrize("order", [1, -1])
def test_scope_4_inputs_and_outputs_have_the_order_of_the_entry(run, order):
    text = BLOCKS.replace("fragment block(x: tensor<scalar>) ->", "fragment block(x: tensor<scalar>, z: tensor<scalar>) ->")
    text = text.replace("    a = mul(x, 0.5);\n    b = exp(a);\n    y = mul(b, 0.5);\n", "    a = exp(x);\n    b = abs(z);\n    y = add(a, b);\n")
    text = text.replace("block(x)", "block(x, x)").replace("    two = block(one);\n    y = tanh(two);", "    y = block(one, x);")
    inputs = [[{"node": "a$", "port": 0}], [{"node": "b$", "port": 0}]][::order]
    entry = {"id": "entry", "match_kind": "scope", "custom_attributes": {}, "instances": ["y"], "inputs": inputs,
             "outputs": [{"node": "add$", "port": 0}]}  # fmt: skip
    body = """
class A(FrontReplacementFromConfigFileSubGraph):
    replacement_id = "entry"

    def generate_sub_graph(self, graph, match):
        assert (match.inputs_count(), match.outputs_count()) == (2, 1)
        return {"new": make(graph, "Subtract", in_ports_count=2)}

    def input_edges_match(self, graph, match, new):
        return {match.single_input_node(i): (new["new"], i) for i in range(2)}

    def output_edges_match(self, graph, match, new):
        return {match.output_node(0): (new["new"], 0)}
"""
    made = outputs(run(text, [entry], front__a=body))["y"]
    np.testing.assert_allclose(made, order * (np.exp(X) + np.abs(X) - X), rtol=1e-5, atol=1e-6)


CHAIN = document("a = exp(x)", "b = relu(a)", "c = sigmoid(b)", "d = add(c, z)", "y = tanh(d)", inputs=("x", "z"))


@pytest.mark.parametrize(
    ("starts", "ends", "more", "told"),
    [
        (["b"], ["c"], {}, ""),
        (["c"], ["b"], {}, "is not reachable"),
        (["a"], ["d"], {}, "an input of the model"),
        (["d"], ["y"], {}, "`d`"),
        (["b"], ["c"], {"include_inputs_to_sub_graph": False}, "must be `true`"),
        (["b"], ["c"], {"include_outputs_to_sub_graph": False}, "must be `true`"),
        (["b"], ["c"], {"include_inputs_to_sub_graph": True, "include_outputs_to_sub_graph": True}, ""),
    ],
)
def test_points_3_to_6_rules_of_points(run, starts, ends, more, told):
    """End points are reached from start points, which read one tensor; no input of the model is between them."""
    entry = {"id": "entry", "match_kind": "points", "custom_attributes": {}, **more}
    entry["instances"] = {"start_points": starts, "end_points": ends}
    body = "class A(FrontReplacementFromConfigFileSubGraph):\n    replacement_id = 'entry'\n\n    def replace_sub_graph(self, graph, match):\n        assert sorted(match.matched_nodes_names()) == ['b', 'c']\n        note(graph, '+')\n"
    if not told:
        assert result_name(run(CHAIN, [entry], front__a=body)) == "y+"
    else:
        assert told in messages(run, CHAIN, [entry], front__a=body)


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
    ("statement", "told"),
    [
        ("node['a'] = 1 << 70", "1180591620717411303424 is not an attribute; integers have 64 bits"),
        ("node['a'] = [1, 1 << 70]", "1180591620717411303424 is not an attribute; integers have 64 bits"),
        ("node['a'] = {1: 2}", "1 is not a key of an attribute; expected texts"),
        ("node['a'] = object()", "a value of `object` is not an attribute"),
        ("node['a'] = len", "`a` of `a` is a function"),
        ("node.missing", "has no attribute `missing`"),
    ],
)
def test_middle_2_attributes_that_do_not_exist(run, statement, told):
    body = f"class A(MiddleReplacementPattern):\n    def find_and_replace_pattern(self, graph):\n        node = graph.get_op_nodes(op='Exp')[0]\n        {statement}\n"
    message = messages(run, EXP_RELU, middle__a=body)
    assert told in message
    assert f"(line {HEADER.count(chr(10)) + 4})" in message


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


# ---- errors ----


@pytest.mark.parametrize(
    ("member", "told"),
    [
        ("enabled = 0", "`enabled` of `A` is 0; expected True or False"),
        ("enabled = None", "`enabled` of `A` is None; expected True or False"),
        ("id = 5", "`id` of `A` is 5; expected text"),
        ("force_clean_up = []", "`force_clean_up` of `A` is []; expected True or False"),
        ("run_not_recursively = 'yes'", "`run_not_recursively` of `A` is 'yes'; expected True or False"),
        ("force_shape_inference = 1.0", "`force_shape_inference` of `A` is 1.0; expected True or False"),
    ],
)
def test_common_1_members_of_other_types_are_reported(run, tmp_path, member, told):
    body = marks(["A"]).replace("class A(FrontReplacementPattern):\n", f"class A(FrontReplacementPattern):\n    {member}\n")
    with pytest.raises(nnefc.ModelError) as caught:
        run(EXP_RELU, front__a=body).compile()
    message = str(caught.value)
    assert told in message
    assert str(tmp_path / "extensions" / "front" / "a.py") in message


def test_common_1_a_property_is_a_member(run):
    body = marks(["A"]).replace("    def find", "    enabled = property(lambda self: False)\n\n    def find")
    assert result_name(run(EXP_RELU, front__a=body)) == "y"


def test_common_1_errors_name_the_calls(run, tmp_path):
    helper = "def compute():\n    return 1 // 0\n"
    body = "from front.helper import compute\n\n\nclass A(FrontReplacementPattern):\n    replacement_id = 'ID'\n\n    def find_and_replace_pattern(self, graph):\n        compute()\n"
    message = messages(run, EXP_RELU, front__helper=helper, front__a=body)
    line = HEADER.count("\n")
    helper_file = tmp_path / "extensions" / "front" / "helper.py"
    assert f"ZeroDivisionError: integer division or modulo by zero (line {line + 8}, in `compute` of `{helper_file}` line {line + 2})" in message
    body = body.replace("compute()\n", "raise Error('[REPLACEMENT_ID] failed')\n")
    assert "ID failed" in messages(run, EXP_RELU, front__a=body)
