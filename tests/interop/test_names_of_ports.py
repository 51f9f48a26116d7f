"""Names of inputs and outputs: those of OpenVINO for IR of version 10, and new ones by `--rename`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import openvino
import pytest

from models import Nnefc

DATA = np.array([[1, -2, 3, -4]], np.float32)
DOCUMENT = """version 1.0;

graph net( x, z ) -> ( y, w )
{
    x = external(shape = [1, 4]);
    z = external(shape = [1, 4]);
    inner = relu(x);
    y = add(inner, z);
    w = copy(inner);
}
"""


def ir(version: int, *layers: str, edges: str) -> str:
    text = "".join(f"<layer id=\"{i}\" {layer}</layer>" for i, layer in enumerate(layers))
    return f'<net name="net" version="{version}"><layers>{text}</layers><edges>{edges}</edges></net>'


def port(number: int, *dims: int, names: str = "") -> str:
    given = f' names="{names}"' if names else ""
    return f'<port id="{number}" precision="FP32"{given}>' + "".join(f"<dim>{dim}</dim>" for dim in dims) + "</port>"


def edge(*ends: int) -> str:
    return '<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}"/>'.format(*ends)


PARAMETER = 'name="data" type="Parameter" version="opset1"><data element_type="f32" shape="1,4"/><output>' + port(0, 1, 4) + "</output>"
NAMED = PARAMETER.replace(port(0, 1, 4), port(0, 1, 4, names="image,data"))
RELU = 'name="act" type="ReLU" version="opset1"><input>' + port(0, 1, 4) + "</input><output>" + port(1, 1, 4) + "</output>"
NAMED_RELU = RELU.replace(port(1, 1, 4), port(1, 1, 4, names="prob"))
AXIS = 'name="axis" type="Const" version="opset1"><data element_type="i64" shape="" offset="0" size="8"/><output><port id="0" precision="I64"/></output>'
SPLIT = ('name="parts" type="Split" version="opset1"><data num_splits="2"/><input>' + port(0, 1, 4) + '<port id="1" precision="I64"/></input><output>'
         + port(2, 1, 2) + port(3, 1, 2) + "</output>")


def result(name: str, *dims: int) -> str:
    return f'name="{name}" type="Result" version="opset1"><input>{port(0, *dims)}</input>'


MODELS = {
    "one": ir(10, PARAMETER, RELU, result("act/sink_port_0", 1, 4), edges=edge(0, 0, 1, 0) + edge(1, 1, 2, 0)),
    "several": ir(10, PARAMETER, AXIS, SPLIT, result("parts/sink_port_0", 1, 2), result("parts/sink_port_1", 1, 2),
                  edges=edge(0, 0, 2, 0) + edge(1, 0, 2, 1) + edge(2, 2, 3, 0) + edge(2, 3, 4, 0)),
    "named": ir(10, NAMED, NAMED_RELU, result("act/sink_port_0", 1, 4), edges=edge(0, 0, 1, 0) + edge(1, 1, 2, 0)),
}


def write(folder: Path, text: str) -> Path:
    (folder / "net.xml").write_text(text)
    (folder / "net.bin").write_bytes(np.array(1, np.int64).tobytes())
    return folder / "net.xml"


@pytest.mark.parametrize("name", MODELS)
def test_results_of_version_10(name: str, nnefc: Path, tmp_path: Path) -> None:
    tool, path = Nnefc(nnefc, tmp_path), write(tmp_path, MODELS[name])
    outputs = openvino.Core().read_model(str(path)).outputs
    shown = re.findall(r"^output +(\S+)", tool.must("inspect", path), re.MULTILINE)
    assert len(shown) == len(outputs)
    for found, output in zip(shown, outputs, strict=True):
        assert found in output.names
    np.save(tmp_path / "in.npy", DATA)
    assert set(tool.run(path, "--input", tmp_path / "in.npy")) == set(shown)
    tool.must("compile", path, "-o", tmp_path / "again.xml")
    again = openvino.Core().read_model(str(tmp_path / "again.xml"))
    assert [found in output.names for found, output in zip(shown, again.outputs, strict=True)] == [True] * len(shown)


def test_results_of_version_11_keep_their_names(nnefc: Path, tmp_path: Path) -> None:
    path = write(tmp_path, MODELS["one"].replace('version="10"', 'version="11"'))
    assert "act/sink_port_0" in Nnefc(nnefc, tmp_path).must("inspect", path)


def inputs(folder: Path, **arrays: np.ndarray) -> Path:
    np.savez(folder / "in.npz", **arrays)
    return folder / "in.npz"


@pytest.mark.parametrize("shape", ["[1, 4]", "[0, 4]"])
def test_run_renames(shape: str, nnefc: Path, tmp_path: Path) -> None:
    """Also with the extents of the data, which are those of the renamed input."""
    tool, path = Nnefc(nnefc, tmp_path), tmp_path / "net.nnef"
    path.write_text(DOCUMENT.replace("[1, 4]", shape))
    lenient = ["--dialect", "ratified"] if "0" not in shape else ["--lenient"]
    if "0" in shape:
        path.write_text(path.read_text().replace("[0, 4]", "[S, 4]").replace("external(", "tract_core_external(datum_type = 'f32', ")
                        .replace("version 1.0;", "version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol S;"))
    found = tool.run(path, *lenient, "--inputs", inputs(tmp_path, image=DATA, z=DATA), "--rename", "x=image", "--rename", "y=sum")
    assert list(found) == ["sum", "w"]
    np.testing.assert_array_equal(found["sum"], np.maximum(DATA, 0) + DATA)


def test_names_are_swapped(nnefc: Path, tmp_path: Path) -> None:
    tool, path = Nnefc(nnefc, tmp_path), tmp_path / "net.nnef"
    path.write_text(DOCUMENT)
    found = tool.run(path, "--inputs", inputs(tmp_path, x=DATA, z=2 * DATA), "--rename", "x=z", "--rename", "z=x", "--rename", "w=y", "--rename", "y=w")
    np.testing.assert_array_equal(found["y"], np.maximum(2 * DATA, 0))
    np.testing.assert_array_equal(found["w"], np.maximum(2 * DATA, 0) + DATA)


def test_compile_renames(nnefc: Path, tmp_path: Path) -> None:
    """A name of a tensor on the way, `inner`, is free for an output."""
    tool, path = Nnefc(nnefc, tmp_path), tmp_path / "net.nnef"
    path.write_text(DOCUMENT)
    tool.must("compile", path, "-o", tmp_path / "net.xml", "--rename", "x=image", "--rename", "y=inner")
    read = openvino.Core().read_model(str(tmp_path / "net.xml"))
    assert "image" in read.inputs[0].names and "z" in read.inputs[1].names
    assert "inner" in read.outputs[0].names and "y" not in read.outputs[0].names
    assert "inner" not in read.outputs[1].names and "w" in read.outputs[1].names
    compiled = openvino.Core().compile_model(read, "CPU")
    np.testing.assert_array_equal(compiled({"image": DATA, "z": DATA})["inner"], np.maximum(DATA, 0) + DATA)


def test_convert_renames(nnefc: Path, tmp_path: Path) -> None:
    tool, path = Nnefc(nnefc, tmp_path), write(tmp_path, MODELS["named"])
    text = tool.must("convert", path, "--rename", "data=pixels", "--rename", "prob=chance")
    assert "graph net( pixels ) -> ( chance )" in text
    document = tmp_path / "net.nnef"
    document.write_text(DOCUMENT)
    assert "( image, z ) -> ( sum, w )" in tool.must("convert", document, "--rename", "x=image", "--rename", "y=sum")


@pytest.mark.parametrize("renames, code, message", [
    (["q=image"], 1, "no input or output has the name `q`; inputs: `x`, `z`; outputs: `y`, `w` [rename.unknown]"),
    (["inner=image"], 1, "no input or output has the name `inner`; inputs: `x`, `z`; outputs: `y`, `w` [rename.unknown]"),
    (["x=z"], 1, "`z` would be the name of both `x` and `z`; inputs: `x`, `z`; outputs: `y`, `w` [rename.clash]"),
    (["x=w"], 1, "`w` would be the name of both `x` and `w`; inputs: `x`, `z`; outputs: `y`, `w` [rename.clash]"),
    (["y=out", "w=out"], 1, "`out` would be the name of both `y` and `w`"),
    (["x=a", "x=b"], 2, "`--rename x=b`: `x` is renamed twice"),
    (["x"], 2, "`--rename x`: expected OLD=NEW"),
    (["=a"], 2, "`--rename =a`: expected OLD=NEW"),
    (["x="], 2, "`--rename x=`: expected OLD=NEW"),
])
def test_wrong_names(renames: list[str], code: int, message: str, nnefc: Path, tmp_path: Path) -> None:
    path = tmp_path / "net.nnef"
    path.write_text(DOCUMENT)
    options = [word for rename in renames for word in ("--rename", rename)]
    for command in (["run", path, "--random-inputs", "1"], ["compile", path], ["convert", path]):
        done = Nnefc(nnefc, tmp_path).call(*command, *options)
        assert done.returncode == code
        assert message in done.stderr


# ---- a model of NNEF 2.0, regions as Khronos' tools count them ----

SECOND = "import nn;\n\ngraph Net {\n    @input {\n        x: real[1,4];\n    }\n}\n"


def test_second_generation(nnefc: Path, tmp_path: Path) -> None:
    import tarfile

    folder = tmp_path / "model.nnef2"
    folder.mkdir()
    (folder / "main.sknd").write_text(SECOND)
    (folder / "module.sknd").write_text("operator f {\n}\n")
    with tarfile.open(tmp_path / "model.tar", "w") as archive:
        archive.add(folder / "main.sknd", "main.sknd")
    for path in (folder, folder / "main.sknd", folder / "module.sknd", tmp_path / "model.tar"):
        for command in ("check", "inspect", "fmt"):
            done = Nnefc(nnefc, tmp_path).call(command, path)
            assert done.returncode == 1
            assert done.stderr.count("error:") == 1
            assert "NNEF 2.0" in done.stderr
    (folder / "net.nnef").write_text(DOCUMENT)
    assert "it holds `net.nnef`" in Nnefc(nnefc, tmp_path).call("check", folder).stderr


@pytest.mark.parametrize("operation, size", [("max_roi_pool", ""), ("avg_roi_pool", ""), ("roi_resample", ", method = 'symmetric'")])
def test_vector_of_batch_indices(operation: str, size: str, nnefc: Path, tmp_path: Path) -> None:
    tool = Nnefc(nnefc, tmp_path)
    arrays = {"x": np.arange(128, dtype=np.float32).reshape(2, 1, 8, 8), "r": np.array([[0, 0, 4, 4], [1, 2, 7, 8], [2, 2, 6, 6]], np.float32)}
    found = []
    for shape, index in (("[3,1]", [[0], [1], [1]]), ("[3]", [0, 1, 1])):
        path = tmp_path / "net.nnef"
        path.write_text(f"version 1.0;\ngraph net( x, r, b ) -> ( y )\n{{\n    x = external(shape = [2,1,8,8]);\n    r = external(shape = [3,4]);\n"
                        f"    b = external<integer>(shape = {shape});\n    y = {operation}(x, r, b, output_size = [2,2]{size});\n}}\n")
        found.append(tool.run(path, "--lenient", "--inputs", inputs(tmp_path, **arrays, b=np.array(index)))["y"])
    np.testing.assert_array_equal(*found)
    done = tool.call("check", path)
    assert done.returncode == 1 and "has shape [3]; expected [3,1] [roi.batch-index]" in done.stderr
