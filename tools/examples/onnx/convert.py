"""Converts an ONNX model to NNEF, and compares the two: convert.py [MODEL.onnx [FOLDER]]

It needs the packages nnefc, openvino (which reads ONNX) and onnxruntime. Without arguments it converts a small model,
which it makes with the package onnx, in a temporary folder.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
import openvino

import nnefc


def make_model(path):
    import onnx
    from onnx import TensorProto, helper

    generator = np.random.default_rng(1)
    filters = generator.normal(size=(8, 3, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["image", "filters"], ["features"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["features"], ["positive"]),
        helper.make_node("GlobalAveragePool", ["positive"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["scores"]),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 16, 16])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 8])],
        [onnx.numpy_helper.from_array(filters, "filters")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def convert(source, target):
    """Writes the folder `target` and returns the model."""
    with tempfile.TemporaryDirectory() as folder:
        ir = f"{folder}/model.xml"
        openvino.save_model(openvino.convert_model(source), ir, compress_to_fp16=False)
        subprocess.run([sys.executable, "-m", "nnefc", "convert", ir, "-o", str(target)], check=True)
    return nnefc.load(target)


def compare(source, model):
    """Runs both with the same random inputs."""
    executable = model.compile()
    inputs = executable.random_inputs(1)
    session = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    # The order of inputs and outputs is that of the ONNX model.
    values = dict(zip((port.name for port in session.get_inputs()), inputs.values(), strict=True))
    for expected, actual in zip(session.run(None, values), executable.run(inputs).values(), strict=True):
        difference = np.abs(actual - expected).max() / np.abs(expected).max()
        print(f"{list(expected.shape)}: difference to ONNX Runtime {difference:.1e}")
        assert difference < 1e-4


def main():
    with tempfile.TemporaryDirectory() as folder:
        source = sys.argv[1] if len(sys.argv) > 1 else f"{folder}/net.onnx"
        target = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else f"{folder}/net")
        if len(sys.argv) < 2:
            make_model(source)
        model = convert(source, target)
        print([operation.type for operation in model.operations])
        compare(source, model)


if __name__ == "__main__":
    main()
