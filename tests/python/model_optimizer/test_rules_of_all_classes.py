"""Rules of the members of all classes of transformations: `extension_rules.py`."""

import functools

import numpy as np
import openvino
import openvino.opset13 as ops
import pytest
from extension_rules import EXP_RELU, HEADER, X, document, marks, messages, outputs, result_name, transform

import nnefc


@pytest.fixture
def run(tmp_path):
    """Transforms a model by modules of a folder of extensions."""
    return functools.partial(transform, tmp_path)


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


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
def test_common_1_transformations_are_enabled_by_default(run, phase):
    text = marks(["First"], phase) + "assert First.enabled is True\n"
    assert result_name(run(EXP_RELU, **{f"{phase}__a": text})) == "yFirst"


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


def test_common_4_and_5_nothing_is_forced_by_default(run):
    """Without the members, dead nodes remain, and the shape of a marked node may change."""
    body = """
class First(MiddleReplacementPattern):
    def find_and_replace_pattern(self, graph):
        assert not self.force_clean_up and not self.force_shape_inference and self.graph_condition in ((), [])
        make(graph, "Sin", graph.get_op_nodes(op="Parameter")[0], name="dead")


class Second(MiddleReplacementPattern):
    def run_after(self):
        return [First]

    def find_and_replace_pattern(self, graph):
        assert [node.name for node in graph.get_op_nodes(op="Sin")] == ["dead"]
"""
    np.testing.assert_allclose(outputs(run(EXP_RELU, middle__a=body))["y"], np.exp(X), rtol=1e-5)


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


def test_common_9_anchors_of_the_middle_phase(run):
    names = ["PreMiddleStart", "MiddleStart", "MiddleFinish", "PostMiddleStart"]
    body = f"from nnefc.mo.middle.pass_separator import {', '.join(names)}\n"
    for number, (first, second) in enumerate(zip(names, names[1:])):
        name = "ABC"[number]
        body += marks([name], "middle")
        body += f"{name}.run_after = lambda self: [{first}]\n{name}.run_before = lambda self: [{second}]\n"
    assert result_name(run(EXP_RELU, middle__a=body)) == "yABC"


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
def test_common_9_members_without_classes_leave_the_phase(run, phase):
    """The Model Optimizer runs one phase after the other, whatever `run_after` and `run_before` return."""
    body = marks(["A"], phase) + "A.run_after = lambda self: []\nA.run_before = lambda self: []\n"
    assert result_name(run(EXP_RELU, **{f"{phase}__a": body})) == "yA"


# ---- errors ----


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        ("enabled = 0", "`enabled` of `A` is 0; expected True or False"),
        ("enabled = None", "`enabled` of `A` is None; expected True or False"),
        ("id = 5", "`id` of `A` is 5; expected text"),
        ("force_clean_up = []", "`force_clean_up` of `A` is []; expected True or False"),
        ("run_not_recursively = 'yes'", "`run_not_recursively` of `A` is 'yes'; expected True or False"),
        ("force_shape_inference = 1.0", "`force_shape_inference` of `A` is 1.0; expected True or False"),
    ],
)
def test_common_1_members_of_other_types_are_reported(run, tmp_path, member, expected):
    body = marks(["A"]).replace("class A(FrontReplacementPattern):\n", f"class A(FrontReplacementPattern):\n    {member}\n")
    with pytest.raises(nnefc.ModelError) as caught:
        run(EXP_RELU, front__a=body).compile()
    message = str(caught.value)
    assert expected in message
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
