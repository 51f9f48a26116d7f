"""The message for files of other formats names the format and how to convert it."""

from __future__ import annotations

import io
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

RIGHT = "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    y = relu(x);\n}\n"


def _onnx() -> bytes:
    node = helper.make_node("Relu", ["x"], ["y"])
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    return onnx.helper.make_model(helper.make_graph([node], "g", value[:1], value[1:]), producer_name="test").SerializeToString()


def _zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("graph.nnef", RIGHT)
    return stream.getvalue()


def _npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.zeros(3, np.float32))
    return stream.getvalue()


CONVERTER = "python -m nnef_tools.convert --input-format {} --output-format nnef --input-model {}"
# The name, the content, and the expected message.
FILES = [
    ("net.onnx", _onnx(), "this is an ONNX model", CONVERTER.format("onnx", "net.onnx") + " --keep-io-names`"),
    ("net.model", _onnx(), "this is an ONNX model", CONVERTER.format("onnx", "net.model") + " --keep-io-names`"),
    ("saved_model.pb", b"\x0a\x05\x0a\x03x\x12\x00\x22\x00", "this is a TensorFlow graph", CONVERTER.format("tf", "saved_model.pb")),
    ("net.tflite", b"\x1c\x00\x00\x00TFL3" + bytes(64), "this is a TensorFlow Lite model", CONVERTER.format("tflite", "net.tflite")),
    ("net.bin2", b"\x1c\x00\x00\x00TFL3" + bytes(64), "this is a TensorFlow Lite model", CONVERTER.format("tflite", "net.bin2")),
    ("net.caffemodel", b"\x0a\x03net\x12\x00\x00", "this is a Caffe model", CONVERTER.format("caffe", "net.caffemodel")),
    ("net.zip", _zip(), "this is a zip archive", "a `.tar` or a `.tgz`; unpack it"),
    ("net.pt", _zip(), "this is a PyTorch file", "torch.onnx.export"),
    ("net.keras", _zip(), "this is a Keras", "tf2onnx"),
    ("net.h5", b"\x89HDF\r\n\x1a\n" + bytes(32), "this is a Keras", "tf2onnx"),
    ("net.gguf", b"GGUF" + bytes(32), "this is a GGUF model", "start from the model"),
    ("net.safetensors", b"\x40" + bytes(7) + b'{"w":{}}', "this is a file of weights (safetensors)", "name the folder"),
    ("x.npy", _npy(), "this is a file of NumPy arrays", "`--input`"),
    ("w.dat", b"N\xef\x01\x00" + bytes(124), "this is a tensor file of NNEF", "name the folder"),
    ("net.bin", b"\x00\x01" * 32, "this is a file of weights without a graph", "`.xml` or `.ir`"),
]


@pytest.mark.parametrize("command", ["check", "fmt", "inspect", "run"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file[0])
def test_it_is_named(file: tuple[str, bytes, str, str], command: str, nnefc: Path, tmp_path: Path) -> None:
    name, content, what, way = file
    (tmp_path / name).write_bytes(content)
    done = subprocess.run([str(nnefc), command, name], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{name}: error: {what}")
    assert way in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["net.onnx", "net.pb", "net.txt", "net", "x.dat"])
def test_a_document_may_have_any_name(name: str, nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / name).write_text(RIGHT.replace("\n{", "\n# \u00e4\u6f22\t\r\n{"), encoding="utf-8")
    assert subprocess.run([str(nnefc), "check", name], cwd=tmp_path, timeout=60, check=False).returncode == 0
