"""`nnefc convert`: whole models of OpenVINO and ONNX, its output forms and its errors."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc, assert_agree, statements

nnef = pytest.importorskip("nnef")
onnx = pytest.importorskip("onnx")
ov = pytest.importorskip("openvino")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from openvino import opset7  # noqa: E402
from openvino import opset8 as ops  # noqa: E402

from openvino_oracle import openvino_outputs  # noqa: E402

RANDOM = np.random.default_rng(3)


def floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("convert"))


def onnx_model(nodes: list, inputs: dict[str, np.ndarray], constants: dict[str, np.ndarray], outputs: list[str]) -> onnx.ModelProto:
    value = lambda name, array: helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)  # noqa: E731
    graph = helper.make_graph(nodes, "net", [value(*each) for each in inputs.items()],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
                              [numpy_helper.from_array(array, name) for name, array in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convert_onnx(tool: Nnefc, folder: Path, model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> Path:
    """Converts a model through OpenVINO and compares it with ONNX Runtime."""
    onnx.save(model, folder / "net.onnx")
    ov.save_model(ov.convert_model(folder / "net.onnx"), folder / "net.xml", compress_to_fp16=False)
    tool.must("convert", folder / "net.xml", "-o", folder / "model", "--compare-outputs", "always")
    tool.must("check", folder / "model", "--strict")
    nnef.parse_file(str(folder / "model" / "graph.nnef"))
    np.savez(folder / "inputs.npz", **inputs)
    found = tool.run(folder / "model", "--inputs", folder / "inputs.npz")
    session = ort.InferenceSession(str(folder / "net.onnx"), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    assert_agree(found, dict(zip(names, session.run(names, inputs))), 1e-5)
    return folder / "model" / "graph.nnef"


def test_a_convolutional_network(tool: Nnefc, tmp_path: Path) -> None:
    node = helper.make_node
    nodes = [node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1], name="/conv1/Conv"),
             node("BatchNormalization", ["c1", "scale", "shift", "mean", "variance"], ["n1"]),
             node("HardSwish", ["n1"], ["a1"]),
             node("MaxPool", ["a1"], ["p1"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
             node("Conv", ["p1", "w2"], ["c2"], group=8, pads=[1, 1, 1, 1], strides=[2, 2]),
             node("Clip", ["c2", "zero", "six"], ["a2"]),
             node("Resize", ["a2", "", "factors"], ["u1"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
             node("Concat", ["u1", "p1"], ["cat"], axis=1),
             node("GlobalAveragePool", ["cat"], ["pooled"]), node("Flatten", ["pooled"], ["flat"]),
             node("Gemm", ["flat", "w3", "b3"], ["logits"], transB=1), node("Softmax", ["logits"], ["y"], axis=-1)]
    constants = {"w1": floats(8, 3, 3, 3), "b1": floats(8), "scale": floats(8), "shift": floats(8), "mean": floats(8),
                 "variance": np.abs(floats(8)) + 0.5, "w2": floats(8, 1, 3, 3), "zero": np.float32(0).reshape(()),
                 "six": np.float32(6).reshape(()), "factors": np.array([1, 1, 2, 2], np.float32), "w3": floats(10, 16), "b3": floats(10)}
    constants = {name: np.asarray(array, np.float32) for name, array in constants.items()}
    inputs = {"x": floats(1, 3, 16, 16)}
    text = convert_onnx(tool, tmp_path, onnx_model(nodes, inputs, constants, ["y"]), inputs).read_text()
    for line in [r"= conv\(.*, groups = 0\)", r"= max_pool\(.*border = 'ignore'", r"= clamp\(.*, 0.0, 6.0\)",
                 r"= nearest_upsample\(.*factor = \[2, 2\]\)", r"= linear\(\w+, \w+, \w+\)", r"y = softmax\("]:
        assert re.search(line, text), line


def test_an_encoder_layer(tool: Nnefc, tmp_path: Path) -> None:
    """Attention of two heads, layer normalization, and the exact Gelu."""
    node = helper.make_node
    nodes = []
    for name in "qkv":
        nodes += [node("MatMul", ["x", f"w{name}"], [f"{name}0"]), node("Add", [f"{name}0", f"b{name}"], [f"{name}1"]),
                  node("Reshape", [f"{name}1", "heads"], [f"{name}2"]),
                  node("Transpose", [f"{name}2"], [name], perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])]
    nodes += [node("MatMul", ["q", "k"], ["scores"]), node("Mul", ["scores", "factor"], ["scaled"]),
              node("Softmax", ["scaled"], ["weights"], axis=-1), node("MatMul", ["weights", "v"], ["mixed"]),
              node("Transpose", ["mixed"], ["turned"], perm=[0, 2, 1, 3]), node("Reshape", ["turned", "whole"], ["joined"]),
              node("Add", ["joined", "x"], ["sum"]), node("LayerNormalization", ["sum", "g", "h"], ["normal"], axis=-1),
              node("MatMul", ["normal", "w1"], ["wide"]), node("Div", ["wide", "root"], ["divided"]), node("Erf", ["divided"], ["erf"]),
              node("Add", ["erf", "one"], ["gate"]), node("Mul", ["wide", "gate"], ["gated"]), node("Mul", ["gated", "half"], ["y"])]
    constants = {f"w{name}": floats(8, 8) / 3 for name in "qkv"} | {f"b{name}": floats(8) for name in "qkv"}
    constants |= {"factor": np.array(0.5, np.float32), "g": floats(8), "h": floats(8), "w1": floats(8, 16),
                  "root": np.array(2**0.5, np.float32), "one": np.array(1, np.float32), "half": np.array(0.5, np.float32)}
    shapes = {"heads": np.array([0, 0, 2, 4]), "whole": np.array([0, 0, 8])}
    inputs = {"x": floats(2, 5, 8)}
    text = convert_onnx(tool, tmp_path, onnx_model(nodes, inputs, constants | shapes, ["y"]), inputs).read_text()
    assert re.search(r"= moments\(", text) and re.search(r"shape = \[0, 0, 2, 4\]", text)


def small_model(path: Path, compress: bool = False, name: str = "x", weights: str = "weights") -> tuple[ov.Model, np.ndarray]:
    x = ops.parameter([2, 16], np.float32, name=name)
    x.output(0).set_names({name})
    matrix = ops.constant(floats(16, 12))
    matrix.set_friendly_name(weights)
    y = ops.relu(ops.matmul(x, matrix, False, False))
    y.output(0).set_names({"y"})
    model = ov.Model([ops.result(y)], [x], "net")
    ov.save_model(model, path, compress_to_fp16=compress)
    return model, floats(2, 16)


@pytest.mark.parametrize(("equation", "left", "right"), [
    ("BGHID,BGHJD->BGHIJ", (1, 2, 3, 4, 5), (1, 2, 3, 6, 5)), ("bihd,bjhd->bhij", (2, 4, 3, 5), (2, 6, 3, 5)),
    ("ij,kj->ki", (3, 4), (5, 4)), ("abc,cde->adbe", (2, 3, 4), (4, 5, 6)), ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5))])
def test_sums_of_products_are_matrix_multiplications(tool: Nnefc, tmp_path: Path, equation: str, left: tuple, right: tuple) -> None:
    inputs = {"x": floats(*left), "y": floats(*right)}
    model = onnx_model([helper.make_node("Einsum", ["x", "y"], ["z"], equation=equation)], inputs, {}, ["z"])
    assert re.search(r"= matmul\(", convert_onnx(tool, tmp_path, model, inputs).read_text())


# No label is summed up, one is summed up in a single operand, and an extent of 1 is repeated.
@pytest.mark.parametrize(("equation", "left", "right"), [
    ("ij,ij->ij", (3, 4), (3, 4)), ("ij,kl->ikl", (3, 4), (5, 6)), ("ij,jk->ik", (3, 4), (1, 5))])
def test_other_sums_of_products_are_reported(tool: Nnefc, tmp_path: Path, equation: str, left: tuple, right: tuple) -> None:
    operands = [ops.parameter(list(shape), np.float32, name) for shape, name in ((left, "x"), (right, "y"))]
    ov.save_model(ov.Model([opset7.einsum(operands, equation)], operands), tmp_path / "net.xml", compress_to_fp16=False)
    done = tool.call("convert", tmp_path / "net.xml", "-o", tmp_path / "model")
    assert done.returncode == 1 and "`Einsum`" in done.stderr and "[raise.no-form]" in done.stderr, done.stderr
    assert not (tmp_path / "model").exists()


def test_compressed_weights_stay_compressed(tool: Nnefc, tmp_path: Path) -> None:
    _, x = small_model(tmp_path / "net.xml", compress=True)
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "model")
    (tensor,) = (tmp_path / "model").rglob("*.dat")
    header_bytes, element_bytes = 128, 2
    assert tensor.stat().st_size == header_bytes + 16 * 12 * element_bytes
    np.savez(tmp_path / "x.npz", x=x)
    (expected,) = openvino_outputs(tmp_path / "net.xml", {"x": x})
    assert_agree(tool.run(tmp_path / "model", "--inputs", tmp_path / "x.npz"), {"y": expected}, 1e-5)


@pytest.mark.parametrize("name", ["model.nnef.tgz", "model.tar", "model.tar.gz"])
def test_archives_hold_the_files_of_the_folder(tool: Nnefc, tmp_path: Path, name: str) -> None:
    small_model(tmp_path / "net.xml")
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "folder")
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / name)
    with tarfile.open(tmp_path / name) as archive:
        held = {member.name: archive.extractfile(member).read() for member in archive.getmembers()}
    folder = tmp_path / "folder"
    assert held == {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    tool.must("check", tmp_path / name, "--strict")
    assert "`--force` replaces it" in tool.call("convert", tmp_path / "net.xml", "-o", tmp_path / name).stderr
    before = (tmp_path / name).read_bytes()
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / name, "--force")
    assert (tmp_path / name).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["net.xml", "net.bin", "folder", name])


def test_archives_need_no_name_besides_theirs(tool: Nnefc, tmp_path: Path) -> None:
    """Other files with similar names remain, and nothing remains of a conversion that fails."""
    small_model(tmp_path / "net.xml")
    other = tmp_path / "model.tgz.files"
    other.mkdir()
    (other / "note.txt").write_text("mine")
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "model.tgz")
    tool.must("check", tmp_path / "model.tgz", "--strict")
    listed = {"net.xml", "net.bin", "model.tgz", "model.tgz.files"}
    assert {path.name for path in tmp_path.iterdir()} == listed and (other / "note.txt").read_text() == "mine"
    (tmp_path / "taken.tar").mkdir()
    done = tool.call("convert", tmp_path / "net.xml", "-o", tmp_path / "taken.tar", "--force")
    assert done.returncode != 0 and "taken.tar" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == listed | {"taken.tar"} and not list((tmp_path / "taken.tar").iterdir())


@pytest.mark.parametrize("weights", ["w" * 90, "w" * 91, f"{'f' * 91}/{'w' * 91}"])
def test_archives_have_long_names(tool: Nnefc, tmp_path: Path, weights: str) -> None:
    """Parts of a label have up to 90 characters, since a header of a tar has 100 bytes for a name after its folders."""
    small_model(tmp_path / "net.xml", weights=weights)
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "model.tar")
    label = "/".join(part[:90] for part in weights.split("/"))
    with tarfile.open(tmp_path / "model.tar") as archive:
        assert archive.getnames() == sorted(["graph.nnef", f"{label}.dat"])
    tool.must("run", tmp_path / "model.tar", "--random-inputs", "1")


def test_the_document_goes_to_standard_output(tool: Nnefc, tmp_path: Path) -> None:
    small_model(tmp_path / "net.xml")
    text = tool.must("convert", tmp_path / "net.xml")
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "net.nnef")
    assert (tmp_path / "net.nnef").read_text() == text and text.startswith("version 1.0;\n")


def test_names_are_listed(tool: Nnefc, tmp_path: Path) -> None:
    small_model(tmp_path / "net.xml", name="the input:0")
    done = tool.call("convert", tmp_path / "net.xml", "-o", tmp_path / "model", "--keep-names")
    assert done.returncode == 0 and "the input:0 -> the_input_0\n" in done.stderr
    assert "graph net( the_input_0 ) -> ( y )" in (tmp_path / "model" / "graph.nnef").read_text()


def test_nothing_is_written_after_an_error(tool: Nnefc, tmp_path: Path) -> None:
    x = ops.parameter([2, 3], np.float32, name="x")
    first = ops.gather_elements(x, ops.constant(np.array([[0, 1, 2], [2, 1, 0]])), 1)
    second = ops.floor_mod(first, ops.constant(np.array(2, np.float32)))
    ov.save_model(ov.Model([ops.result(second)], [x], "net"), tmp_path / "net.xml")
    for output in ["model", "model.nnef.tgz", "net.nnef"]:
        done = tool.call("convert", tmp_path / "net.xml", "-o", tmp_path / output)
        assert done.returncode == 1
        assert re.findall(r"`(\w+)`, the layer", done.stderr) == ["GatherElements", "FloorMod"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.bin", "net.xml"]


def test_shapes_of_inputs_are_set(tool: Nnefc, tmp_path: Path) -> None:
    x = ops.parameter(ov.PartialShape([-1, 4]), np.float32, name="x")
    x.output(0).set_names({"x"})
    y = ops.reshape(ops.relu(x), ops.concat([ops.gather(ops.shape_of(x), ops.constant([0]), ops.constant(0)), ops.constant([2, 2])], 0), False)
    y.output(0).set_names({"y"})
    ov.save_model(ov.Model([ops.result(y)], [x], "net"), tmp_path / "net.xml")
    done = tool.call("convert", tmp_path / "net.xml")
    assert done.returncode == 1 and "set them by `--input-shape x=..`" in done.stderr
    text = tool.must("convert", tmp_path / "net.xml", "--input-shape", "x=3,4")
    assert "x = external(shape = [3, 4]);" in text and "reshape(" in text
    assert "has no input `z`" in tool.call("convert", tmp_path / "net.xml", "--input-shape", "z=3,4").stderr
    assert "does not match" in tool.call("convert", tmp_path / "net.xml", "--input-shape", "x=3,5").stderr


def test_folded_batch_normalizations_compute_the_same(tool: Nnefc, tmp_path: Path) -> None:
    x = ops.parameter([1, 3, 6, 6], np.float32, name="x")
    x.output(0).set_names({"x"})
    window = [[1, 1], [0, 0], [0, 0], [1, 1]]
    y = x
    for filters in [ops.constant(floats(4, 3, 3, 3)), ops.constant(floats(2, 3, 2, 1, 1))]:
        convolve = ops.convolution if len(filters.shape) == 4 else ops.group_convolution
        y = convolve(y, filters, *window)
        channels = y.shape[1]
        parameters = [ops.constant(value) for value in (floats(channels), floats(channels), floats(channels), np.abs(floats(channels)) + 1)]
        y = ops.relu(ops.batch_norm_inference(y, *parameters, 1e-3))
    y.output(0).set_names({"y"})
    ov.save_model(ov.Model([ops.result(y)], [x], "net"), tmp_path / "net.xml", compress_to_fp16=False)
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "kept")
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "folded", "--fold")
    assert (tmp_path / "kept" / "graph.nnef").read_text().count("batch_normalization(") == 2
    text = (tmp_path / "folded" / "graph.nnef").read_text()
    assert "batch_normalization" not in text and statements(text) == 1 + 4 + 2 + 2
    data = floats(1, 3, 6, 6)
    np.savez(tmp_path / "x.npz", x=data)
    (expected,) = openvino_outputs(tmp_path / "net.xml", {"x": data})
    for folder in ["kept", "folded"]:
        assert_agree(tool.run(tmp_path / folder, "--inputs", tmp_path / "x.npz"), {"y": expected}, 1e-5)


def test_a_document_becomes_one_of_standard_operations(tool: Nnefc, tmp_path: Path) -> None:
    """A document is lowered first, so that fragments and operations of extensions disappear."""
    source = tmp_path / "net.nnef"
    source.write_text("version 1.0;\nextension KHR_enable_fragment_definitions;\n"
                      "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    y = relu(x);\n}\n"
                      "graph net( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n    z = f(x);\n    y = round(z);\n}\n")
    text = tool.must("convert", source)
    assert "fragment" not in text and "round(" in text
    (tmp_path / "flat.nnef").write_text(text)
    tool.must("check", tmp_path / "flat.nnef", "--strict")
    assert_agree(tool.run(tmp_path / "flat.nnef", "--random-inputs", "1"), tool.run(source, "--random-inputs", "1"), 0)
