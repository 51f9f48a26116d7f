"""Conversion to ONNX and from other frameworks. ONNX Runtime computes what models of ONNX compute."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import openvino as ov
import pytest
from conftest import COUNTER, LINEAR
from onnx import TensorProto, helper, numpy_helper

import nnefc

IMAGE = np.random.default_rng(2).normal(size=(1, 3, 8, 8)).astype(np.float32)


@pytest.fixture
def network() -> onnx.ModelProto:
    """Returns a convolution with a rectifier and an open batch."""
    filters = np.random.default_rng(1).normal(size=(4, 3, 3, 3)).astype(np.float32)
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", channels, 8, 8])
        for name, channels in (("image", 3), ("classes", 4))
    ]
    nodes = [helper.make_node("Conv", ["image", "w"], ["c"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c"], ["classes"])]
    graph = helper.make_graph(nodes, "net", ports[:1], ports[1:], [numpy_helper.from_array(filters, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def computed(model, **inputs):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return dict(zip([port.name for port in session.get_outputs()], session.run(None, inputs)))


def run(*words, **environment):
    return subprocess.run(
        [sys.executable, "-m", "nnefc", *map(str, words)], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def agrees(found, network):
    expected = computed(network.SerializeToString(), image=IMAGE)["classes"]
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_onnx_computes_the_same(linear, tmp_path):
    path = tmp_path / "net.onnx"
    nnefc.export_onnx(linear, path)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = computed(str(path), x=x)
    weights = linear.variables
    expected = x @ weights["fc/w"].T + weights["fc/b"]
    assert list(found) == ["y"]
    np.testing.assert_allclose(found["y"], expected, rtol=1e-5, atol=1e-6)
    assert [item.name for item in tmp_path.iterdir()] == ["net.onnx"]
    onnx.checker.check_model(str(path), full_check=True)


def test_inputs_and_results_keep_their_names(tmp_path):
    text = "version 1.0;\ngraph net(x, z) -> (z, y, t)\n{\n x = external(shape = [2]); z = external(shape = [2]); y = relu(x); t = copy(y);\n}\n"
    nnefc.export_onnx(text.replace("-> (z, y, t)", "-> (y, t)"), tmp_path / "net.onnx")
    found = computed(str(tmp_path / "net.onnx"), x=np.array([-1, 2], np.float32), z=np.zeros(2, np.float32))
    assert {name: array.tolist() for name, array in found.items()} == {"y": [0, 2], "t": [0, 2]}


def test_operations_without_a_form_are_reported_together(tmp_path):
    with pytest.raises(nnefc.ModelError) as raised:
        nnefc.export_onnx(COUNTER, tmp_path / "net.onnx", variables={"v": np.zeros(2, np.float32)})
    assert list(tmp_path.iterdir()) == []
    report = raised.value.report
    assert [item.rule for item in report] == ["convert.unsupported-operation"] * 2
    assert "ReadValue has no form in ONNX: ONNX models have no state between runs" in str(report)
    assert "Assign has no form in ONNX" in str(report)
    assert '"convert.unsupported-operation"' in report.to_json() and '"2.1.0"' in report.to_sarif()


def test_other_extensions_are_refused(linear, tmp_path):
    with pytest.raises(ValueError, match=r"extension `\.onnx`"):
        nnefc.export_onnx(linear, tmp_path / "net.xml")
    with pytest.raises(ValueError, match="export_onnx"):
        linear.save(tmp_path / "net.onnx")


@pytest.mark.parametrize("form", ["path", "proto", "openvino"])
def test_a_model_of_onnx_becomes_nnef(network, form, tmp_path):
    path = tmp_path / "net.onnx"
    onnx.save(network, path)
    model = {"path": path, "proto": network, "openvino": None}[form]
    model = ov.convert_model(path) if model is None else model
    converted = nnefc.convert(model, inputs={"image": (1, 3, 8, 8)})
    assert [port.name for port in (*converted.inputs, *converted.outputs)] == ["image", "classes"]
    assert {operation.type for operation in converted.operations} <= {"external", "variable", "conv", "relu"}
    agrees(converted.compile()(image=IMAGE)["classes"], network)


def test_the_output_is_written(network, tmp_path):
    output = tmp_path / "model.nnef.tgz"
    nnefc.convert(network, output, inputs={"image": (1, 3, 8, 8)})
    agrees(nnefc.load(output).compile()(image=IMAGE)["classes"], network)
    with pytest.raises(ValueError, match="exists"):
        nnefc.convert(network, output, inputs={"image": (1, 3, 8, 8)})
    nnefc.convert(network, output, inputs={"image": (1, 3, 8, 8)}, force=True)


def test_what_is_wrong_is_said(network, tmp_path):
    with pytest.raises(nnefc.ModelError, match=r"<ModelProto>: error: the input `image` has the shape \[\?,3,8,8\]"):
        nnefc.convert(network)
    with pytest.raises(ValueError, match="no input is named `x`; there are image"):
        nnefc.convert(network, inputs={"x": (1,)})
    with pytest.raises(TypeError, match="`inputs` is a list; expected shapes by name"):
        nnefc.convert(network, inputs=[(1, 3, 8, 8)])
    with pytest.raises(FileNotFoundError, match=r"none\.onnx"):
        nnefc.convert(tmp_path / "none.onnx")
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x08\x12\x00broken")
    with pytest.raises(nnefc.ModelError, match=r"broken\.onnx: error: OpenVINO cannot read the model"):
        nnefc.convert(tmp_path / "broken.onnx")
    with pytest.raises(ValueError, match="expected 'auto'"):
        nnefc.convert(network, compare="perhaps")


def test_the_command_converts_there_and_back(network, tmp_path):
    source, model, back = tmp_path / "net.onnx", tmp_path / "model.nnef.tgz", tmp_path / "back.onnx"
    onnx.save(network, source)
    done = run("convert", source, "-o", model)
    assert done.returncode == 1 and f"{source}: error: the input `image`" in done.stderr and not model.exists()
    done = run("convert", source, "-o", model, "--input-shape", "image=1,3,8,8")
    assert (done.returncode, done.stderr) == (0, "")
    assert run("convert", model, "-o", back).returncode == 0
    agrees(computed(str(back), image=IMAGE)["classes"], network)
    done = run("convert", model, "-o", back)
    assert done.returncode == 2 and "`--force` replaces it" in done.stderr
    assert run("convert", model, "-o", back, "--force").returncode == 0
    direct = tmp_path / "direct.onnx"
    assert run("convert", source, "--output", direct).returncode == 0
    agrees(computed(str(direct), image=IMAGE)["classes"], network)
    assert run("convert", model, f"-o{direct}", "--input-shape", "image").returncode == 2


@pytest.mark.parametrize("name", ["onnx", "openvino"])
def test_missing_packages_are_named(network, name, tmp_path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / f"{name}.py").write_text(f"raise ModuleNotFoundError('no module {name}', name='{name}')\n")
    (tmp_path / "net.nnef").write_text(LINEAR)
    onnx.save(network, tmp_path / "net.onnx")
    words = {"onnx": ("net.nnef", "-o", "out.onnx"), "openvino": ("net.onnx", "-o", "out")}[name]
    path = os.pathsep.join([str(hidden), *sys.path])
    done = run("convert", *(tmp_path / word if "." in word else word for word in words), PYTHONPATH=path)
    assert done.returncode == 2
    assert f"needs the package `{name}`: `pip install 'nnefc[convert]'`" in done.stderr


def test_the_program_names_the_package(tmp_path):
    program = pathlib.Path(nnefc.__file__).parent / "bin" / "nnefc"
    for words, advice in (
        (("net.onnx",), "`python -m nnefc convert net.onnx -o model.nnef.tgz`"),
        (("net.nnef", "-o", "net.onnx"), "`python -m nnefc convert net.nnef -o net.onnx`"),
    ):
        done = subprocess.run([program, "convert", *words], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 2
        assert advice in done.stderr and "pip install 'nnefc[convert]'" in done.stderr


def test_repeated_blocks_become_fragments(tmp_path):
    nodes, last = [], "image"
    for place in range(6):
        output = "classes" if place == 5 else f"block{place}"
        nodes += [
            helper.make_node("Tanh", [last], [f"t{place}"]),
            helper.make_node("Add", [f"t{place}", last], [f"s{place}"]),
            helper.make_node("Relu", [f"s{place}"], [output]),
        ]
        last = output
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(IMAGE.shape)) for name in ("image", "classes")]
    graph = helper.make_graph(nodes, "net", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    flat, short = (nnefc.convert(model, tmp_path / str(fragments), fragments=fragments) for fragments in (False, True))
    assert "fragment tanh_add_relu_block(" in (tmp_path / "True" / "graph.nnef").read_text("utf-8")
    assert "fragment" not in (tmp_path / "False" / "graph.nnef").read_text("utf-8")
    for converted in (flat, short):
        agrees(converted.compile()(image=IMAGE)["classes"], model)


def test_recurrent_layers_are_unrolled(tmp_path):
    random = np.random.default_rng(1)
    weights = [random.normal(size=(1, rows, columns)).astype(np.float32) for rows, columns in ((16, 3), (16, 4))]
    node = helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=4)
    ports = [helper.make_tensor_value_info(*each) for each in (("x", TensorProto.FLOAT, [5, 2, 3]), ("y", TensorProto.FLOAT, [5, 1, 2, 4]))]
    initializers = [numpy_helper.from_array(value, name) for value, name in zip(weights, "wr")]
    graph = helper.make_graph([node], "net", ports[:1], ports[1:], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with pytest.raises(nnefc.ModelError, match="`--unroll` writes its 5 steps"):
        nnefc.convert(model)
    x = random.normal(size=(5, 2, 3)).astype(np.float32)
    found = nnefc.convert(model, unroll=True).compile()(x=x)["y"]
    np.testing.assert_allclose(found, computed(model.SerializeToString(), x=x)["y"], rtol=1e-5, atol=1e-6)
