"""The printed examples of the Model Optimizer's page about graph transformation extensions, with their literal text.

`printed_page.py` finds the page, and the tests are skipped without it.
`test_transformations.py` has the same examples in other words. The text has lost its indentation, which is added here.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import printed_page
import pytest
from extension_rules import X, document, messages, outputs, result_name

import nnefc

pytestmark = printed_page.needs_page

# The class of each example with the indentation of its lines: a number of lines, and their depth.
EXAMPLES = {
    "MishFusion": "6x0 5x1 1x2 1x1 1x2 9x3 1x1 7x2 1x3 6x2",
    "Pack": "7x0 3x1 4x2 5x3 4x2",
    "SqueezeNormalize": "7x0 6x1 1x2 3x3 4x4 2x3 1x4 2x3 2x4",
    "YoloRegionAddon": "8x0 6x1 1x2 1x1 2x2 9x3",
}


def page() -> list[str]:
    return printed_page.text().split("\n")


def python_example(name):
    """Returns the text of an example: the imports above its class, and the class."""
    lines = page()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"class {name}("))
    while lines[start - 1].startswith(("from ", "import ")):
        start -= 1
    depths = [int(depth) for count, depth in re.findall(r"(\d+)x(\d)", EXAMPLES[name]) for _ in range(int(count))]
    return "".join("    " * depth + line + "\n" for depth, line in zip(depths, lines[start:]))


def json_examples():
    """Returns the configurations in the order of the page: scope, scope with ports, points, general."""
    text, found, end = "\n".join(page()), [], 0
    for match in re.finditer(r"^\[$", text, re.MULTILINE):
        if match.start() >= end:
            value, end = json.JSONDecoder().raw_decode(text, match.start())
            found.append(value)
    return found


@pytest.fixture(params=["renamed", "unchanged"])
def run(request, tmp_path, monkeypatch):
    """Transforms a model by an example, whose imports are renamed, or redirected by `--mo-imports`."""

    def transform(text, name, configuration=None, disable=()):
        example = python_example(name)
        if request.param == "renamed":
            example = example.replace("from openvino.tools.mo.", "from nnefc.mo.")
            assert "openvino" not in example
        else:
            monkeypatch.setenv("NNEFC_MO_IMPORTS", "1")
        path = tmp_path / "extensions" / "front" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(example, encoding="utf-8")
        if configuration is not None:
            (tmp_path / "configuration.json").write_text(json.dumps(configuration))
        words = {} if configuration is None else {"configuration": tmp_path / "configuration.json"}
        return nnefc.load(text).transform(extensions=tmp_path / "extensions", disable=list(disable), **words)

    return transform


@pytest.mark.parametrize("product", ["mul(x, t)", "mul(t, x)"])
def test_pattern_7_the_printed_example(run, product):
    model = run(document("s = softplus(x)", "t = tanh(s)", f"y = {product}"), "MishFusion", disable=["front.MishFusion"])
    lowered = model.lower()
    assert 'Mish "y"' in lowered
    assert not any(name in lowered for name in ("Tanh", "SoftPlus", "Multiply"))
    np.testing.assert_allclose(outputs(model)["y"], X * np.tanh(np.log1p(np.exp(X))), rtol=1e-5)


def test_pattern_7_the_printed_example_skips_other_inputs(run):
    model = run(document("s = softplus(x)", "t = tanh(s)", "y = mul(s, t)"), "MishFusion", disable=["front.MishFusion"])
    assert "Mish" not in model.lower()
    plus = np.log1p(np.exp(X))
    np.testing.assert_allclose(outputs(model)["y"], plus * np.tanh(plus), rtol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_operation_4_the_printed_example(run, axis):
    model = run(document("a = exp(x)", "b = abs(x)", f"p = stack([x, a, b], axis = {axis})", "y = relu(p)"), "Pack")
    lowered = model.lower()
    assert lowered.count("opset1.Unsqueeze") == 3
    assert 'Concat "p"' in lowered
    np.testing.assert_allclose(outputs(model)["y"], np.maximum(np.stack([X, np.exp(X), np.abs(X)], axis), 0), rtol=1e-5)


@pytest.mark.parametrize("axes", [(1,), (0, 1)])
def test_generic_3_the_printed_example(run, axes):
    model = run(document(f"s = squeeze(x, axes = {list(axes)})", "y = relu(s)", shape="[1, 1, 6]"), "SqueezeNormalize")
    x = X.reshape(1, 1, 6)
    np.testing.assert_array_equal(outputs(model, x=x)["y"], np.maximum(x.squeeze(axes), 0))
    lowered = model.lower()
    assert "squeeze_dims" not in lowered
    assert '"s/Dims"' in lowered


def test_general_2_the_printed_example(run):
    """The mask is missing in the printed entry, which the Model Optimizer's shape function needs, too."""
    entries = json_examples()[3]
    text = document("y = relu(x)", shape="[1, 50, 2, 2]")
    assert "mask" in messages(run, text, "YoloRegionAddon", entries)
    entries[0]["custom_attributes"]["mask"] = [0, 1]
    model = run(text, "YoloRegionAddon", entries)
    x = np.random.default_rng(1).standard_normal((1, 50, 2, 2), dtype=np.float32)
    # x, y, objectness and 20 classes of each of the two anchors by the logistic function; the extents are unchanged.
    expected = np.maximum(x, 0).reshape(2, 25, 4)
    logistic = [0, 1, *range(4, 25)]
    expected[:, logistic] = 1 / (1 + np.exp(-expected[:, logistic]))
    np.testing.assert_allclose(next(iter(outputs(model, x=x).values())).ravel(), expected.ravel(), rtol=1e-5)
    lowered = model.lower()
    assert 'RegionYolo "y/YoloRegion"' in lowered
    assert "coords = 4" in lowered
    assert result_name(model) == "y/YoloRegion"


# ---- configurations ----

# Blocks with the names of Inception V4: four branches read the output of the previous block.
INCEPTION = """version 1.0;
extension KHR_enable_fragment_definitions;
fragment Convolution(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    Conv2D = mul(x, 0.5);
    y = relu(Conv2D);
}
fragment First(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    Conv2d_0a_1x1 = Convolution(x);
    y = abs(Conv2d_0a_1x1);
}
fragment Second(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    Conv2d_0a_1x1 = Convolution(x);
    y = Convolution(Conv2d_0a_1x1);
}
fragment Pooled(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    AvgPool = exp(x);
    y = sigmoid(AvgPool);
}
fragment Last(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    AvgPool_0a_3x3 = Pooled(x);
    Conv2d_0b_1x1 = Convolution(AvgPool_0a_3x3);
    y = abs(Conv2d_0b_1x1);
}
fragment Block(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    Branch_0 = First(x);
    Branch_1 = Second(x);
    Branch_2 = Second(x);
    Branch_3 = Last(x);
    y = concat([Branch_0, Branch_1, Branch_2, Branch_3], axis = 1);
}
fragment Inception(x: tensor<scalar>) -> (y: tensor<scalar>)
{
    Mixed_5a = concat([x, x], axis = 1);
    Mixed_5b = Block(Mixed_5a);
    Mixed_5c = Block(Mixed_5b);
    Mixed_5d = Block(Mixed_5c);
    y = tanh(Mixed_5d);
}
graph net(x) -> (y)
{
    x = external(shape = [2, 3]);
    InceptionV4 = Inception(x);
    y = exp(InceptionV4);
}
"""


def test_scope_2_the_printed_example(tmp_path):
    """The template becomes the printed file, whose inner lists have no order."""
    template, expected = json_examples()[:2]
    (tmp_path / "net.nnef").write_text(INCEPTION)
    (tmp_path / "entries.json").write_text(json.dumps(template))
    words = [sys.executable, "-m", "nnefc", "transform", "net.nnef", "--custom-operations-config-update", "entries.json"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    made = json.loads((tmp_path / "entries.json").read_text())

    def ordered(entries):
        def key(port):
            return port["node"], port["port"]

        return [{**entry, "inputs": [sorted(ports, key=key) for ports in entry["inputs"]]} for entry in entries]

    assert ordered(made) == ordered(expected)


def test_points_2_the_printed_example(tmp_path):
    """The nodes of the printed entry are found, and its attributes reach the class."""
    entries = json_examples()[2]
    text = """version 1.0;
extension KHR_enable_fragment_definitions;
fragment Detect(a: tensor<scalar>) -> (y: tensor<scalar>)
{
    Shape = exp(a);
    scale_logits = sigmoid(a);
    Tile = abs(a);
    Reshape_1 = neg(a);
    Cast_1 = round(a);
    inner = concat([Shape, scale_logits, Tile, Reshape_1, Cast_1], axis = 1);
    y = mul(inner, 0.5);
}
graph net(x) -> (detection_boxes, detection_scores, num_detections)
{
    x = external(shape = [2, 3]);
    Postprocessor = Detect(x);
    detection_boxes = relu(Postprocessor);
    detection_scores = tanh(Postprocessor);
    num_detections = sqr(Postprocessor);
}
"""
    body = f"""
from nnefc.mo.front.tf.replacement import FrontReplacementFromConfigFileSubGraph


class Postprocessor(FrontReplacementFromConfigFileSubGraph):
    replacement_id = "ObjectDetectionAPISSDPostprocessorReplacement"

    def replace_sub_graph(self, graph, match):
        assert match.custom_replacement_desc.custom_attributes == {entries[0]["custom_attributes"]!r}
        starts = [match.single_input_node(i)[0].id for i in range(match.inputs_count())]
        assert starts == {[name.replace("/", "_") for name in entries[0]["instances"]["start_points"]]!r}, starts
        assert set({entries[0]["instances"]["start_points"]!r}) <= set(match.matched_nodes_names())
        ends = [match.output_node(i)[0].id for i in range(match.outputs_count())]
        assert ends == {entries[0]["instances"]["end_points"]!r}, ends
        graph.get_op_nodes(op="Result")[0].name = "replaced"
"""
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "ssd.py").write_text(body)
    (tmp_path / "entries.json").write_text(json.dumps(entries))
    model = nnefc.load(text).transform(extensions=tmp_path / "e", configuration=tmp_path / "entries.json")
    assert 'Result "replaced"' in model.lower()
