"""Models of NNEF in OpenVINO: the same numbers, by shared weights. NNEFC_ALL_NETWORKS=1 tests every network."""

import gc
import os

import numpy as np
import pytest
from conftest import LINEAR, ROOT

import nnefc

ov = pytest.importorskip("openvino")
openvino = pytest.importorskip("nnefc.openvino")

NETWORKS = sorted(path.name for path in (ROOT / "tests" / "networks").glob("*.nnef"))
CHOSEN = NETWORKS if os.environ.get("NNEFC_ALL_NETWORKS") else ["lstm_scan.nnef", "mobilenetv2.nnef"]


def compiled(model):
    return ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})


@pytest.mark.parametrize("network", CHOSEN)
def test_networks_give_what_nnefc_gives(network):
    """Results are within 1e-4 of the largest element."""
    model = nnefc.load(ROOT / "tests" / "networks" / network, random_weights=1)
    executable = model.compile()
    inputs = executable.random_inputs(1)
    ours = executable.run(inputs)
    theirs = compiled(openvino.read_model(model))
    results = theirs([inputs[port.name] for port in model.inputs])
    for index, port in enumerate(model.outputs):
        expected = results[theirs.output(index)]
        assert np.abs(ours[port.name] - expected).max() <= 1e-4 * np.abs(expected).max()


def test_a_path_is_read(linear, weights, tmp_path):
    linear.save(tmp_path / "model.tgz")
    model = openvino.read_model(tmp_path / "model.tgz")
    assert model.input(0).any_name == "x"
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = x @ weights["fc/w"].T + weights["fc/b"]
    np.testing.assert_allclose(compiled(model)(x)[0], expected, rtol=1e-5)
    with pytest.raises(nnefc.ModelError):
        openvino.read_model("version 1.0;\ngraph")


def test_large_weights_are_shared_and_outlive_all():
    text = LINEAR.replace("shape = [4, 3]", "shape = [4000, 3]").replace("shape = [1, 4]", "shape = [1, 4000]")
    w = np.random.default_rng(1).standard_normal((4000, 3), dtype=np.float32)
    ours = nnefc.load(text, variables={"fc/w": w, "fc/b": np.zeros((1, 4000))})
    place = ours.variables["fc/w"].__array_interface__["data"][0]
    model = openvino.read_model(ours)
    constants = [node for node in model.get_ops() if node.get_type_name() == "Constant"]
    assert place in [constant.data.__array_interface__["data"][0] for constant in constants]
    del ours, constants
    gc.collect()
    copy = model.clone()
    del model
    gc.collect()
    garbage = [np.full(20_000, 7, np.uint8) for _ in range(1000)]
    x = np.ones((2, 3), np.float32)
    np.testing.assert_allclose(compiled(copy)(x)[0], x @ w.T, rtol=1e-4, atol=1e-5)
    assert garbage


def test_logical_integer_and_small_constants_are_kept():
    text = """version 1.0;
graph net(x) -> (y, z)
{
    x = external(shape = [2, 3, 4]);
    m = variable<logical>(shape = [2, 3, 4], label = 'm');
    s = select(m, x, 0.0);
    y = transpose(s, axes = [2, 0, 1]);
    z = slice(x, axes = [1], begin = [1], end = [3]);
}
"""
    mask = np.random.default_rng(1).random((2, 3, 4)) < 0.5
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    theirs = compiled(openvino.read_model(text, variables={"m": mask}))
    results = theirs(x)
    np.testing.assert_array_equal(results[theirs.output(0)], np.where(mask, x, 0).transpose(2, 0, 1))
    np.testing.assert_array_equal(results[theirs.output(1)], x[:, 1:3])


def test_models_of_openvino_run_here(weights):
    opset = ov.opset13
    x = opset.parameter([2, 3], np.float32, name="x")
    y = opset.relu(opset.matmul(x, opset.constant(weights["fc/w"]), False, True))
    theirs = ov.Model([y], [x], "net")
    model = openvino.from_model(theirs)
    given = np.arange(6, dtype=np.float32).reshape(2, 3) - 3
    (result,) = model.compile()(given).values()
    np.testing.assert_allclose(result, np.maximum(given @ weights["fc/w"].T, 0), rtol=1e-5, atol=1e-6)
    again = compiled(openvino.read_model(model))
    np.testing.assert_allclose(again(given)[0], result, rtol=1e-5, atol=1e-6)


def test_what_is_transformed_of_a_model_of_openvino_lives_by_itself(linear, weights):
    theirs = openvino.read_model(linear)
    ours = openvino.from_model(theirs).transform()
    gc.collect()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    made = next(iter(ours.transform().compile(threads=1)(x=x).values()))
    np.testing.assert_allclose(made, x @ weights["fc/w"].T + weights["fc/b"], rtol=1e-5)
