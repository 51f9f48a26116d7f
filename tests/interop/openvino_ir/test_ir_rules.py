"""OpenVINO IR as other programs write it: spellings, orders, ids and names that the format allows, and mistakes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ir_builder import Graph, Port, mapped
from models import Nnefc

ov = pytest.importorskip("openvino")

from openvino_oracle import openvino_outputs  # noqa: E402

F32 = np.float32
X = np.array([[1, -2, 3, -4]], F32)


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("ir_rules"))


def relu(shape: str = "1,4") -> str:
    """Returns one ReLU from `x` to `y`."""
    graph = Graph()
    x = graph.parameter([1, 4], name="x")
    graph.result(graph.add("ReLU", "opset1", [x], [("f32", [1, 4])], name="y")[0], "y")
    text = graph.net().replace('<port id="1" precision="FP32">', '<port id="1" precision="FP32" names="y">')
    return text.replace('shape="1,4"', f'shape="{shape}"')


def dims(text: str, *extents: int) -> str:
    return text.replace("<dim>1</dim><dim>4</dim>", "".join(f"<dim>{extent}</dim>" for extent in extents))


def save(folder: Path, text: str, weights: bytes = b"") -> Path:
    path = folder / "net.xml"
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".bin").write_bytes(weights)
    return path


def run(tool: Nnefc, path: Path, **inputs: np.ndarray) -> dict[str, np.ndarray]:
    """Returns the outputs on both backends, and those of the file after writing it again."""
    np.savez(path.with_name("inputs.npz"), **inputs)
    again, text = path.with_name("again.xml"), path.with_name("graph.ir")
    tool.must("compile", path, "-o", again)
    tool.must("compile", again, "-o", path.with_name("third.xml"))
    assert again.read_bytes() == path.with_name("third.xml").read_bytes()
    tool.must("compile", path, "-o", text)
    tool.must("compile", text, "-o", path.with_name("again.ir"))
    assert text.read_bytes() == path.with_name("again.ir").read_bytes()
    results = [tool.run(model, "--inputs", path.with_name("inputs.npz"), "--backend", backend, "--verify")
               for model, backend in [(path, "reference"), (path, "fast"), (again, "fast")]]
    for result in results[1:]:
        assert result.keys() == results[0].keys()
        for name, value in result.items():
            np.testing.assert_array_equal(value, results[0][name])
    return results[0]


def refused(tool: Nnefc, path: Path, rule: str) -> None:
    for arguments in (["check", path], ["run", path, "--random-inputs", "1"]):
        done = tool.call(*arguments)
        assert done.returncode == 1 and f"[{rule}]" in done.stderr, done.stderr


# --- equivalent spellings -----------------------------------------------------------------------

SAME = {
    "type_as_its_class": lambda text: text.replace('"ReLU"', '"Relu"'),
    "type_in_small_letters": lambda text: text.replace('"ReLU"', '"relu"'),
    "version_10": lambda text: text.replace('version="11"', 'version="10"'),
    "root_in_capitals": lambda text: text.replace("<net", "<NET").replace("</net", "</NET"),
    "without_rt_info": lambda text: text.replace("<rt_info/>", ""),
    "byte_order_mark": lambda text: "\ufeff" + text,
    "long_comment_first": lambda text: text.replace("<net", f"<!--{'c' * 1000}--><net"),
    "edges_first": lambda text: re.sub(r"(<layers>.*</layers>)\s*(<edges>.*</edges>)", r"\2\1", text, flags=re.DOTALL),
    "outputs_first": lambda text: re.sub(r"(<input>.*?</input>)\s*(<output>.*?</output>)", r"\2\1", text,
                                         flags=re.DOTALL),
    "result_first": lambda text: re.sub(r"(<layer id=\"0\".*)(<layer id=\"2\".*?</layer>)", r"\2\1", text,
                                        flags=re.DOTALL),
    "large_ids": lambda text: re.sub(r'( id|-layer)="2"', r'\1="4294967295"', text),
    "without_precisions": lambda text: re.sub(r' precision="\w+"', "", text),
    "precision_of_input_has_no_meaning": lambda text: text.replace('<input><port id="0" precision="FP32"',
                                                                   '<input><port id="0" precision="I64"'),
    "short_precision": lambda text: text.replace('"FP32"', '"f32"'),
    "port_name_as_type": lambda text: text.replace('"f32"', '"FP32"'),
    "dims_unknown": lambda text: dims(text, -1, -1),
    "later_set": lambda text: text.replace('type="ReLU" version="opset1"', 'type="ReLU" version="opset13"'),
}


# OpenVINO accepts a root in capitals as IR and then does not read it; it requires a precision, and types in their own
# spelling.
NOT_FOR_OPENVINO = {"root_in_capitals", "without_precisions", "port_name_as_type"}


@pytest.mark.parametrize("name", SAME)
def test_spellings_that_mean_the_same(tool: Nnefc, tmp_path: Path, name: str) -> None:
    path = save(tmp_path, SAME[name](relu()))
    assert path.read_text(encoding="utf-8") != relu()
    assert tool.call("check", path).stderr == ""
    np.testing.assert_array_equal(run(tool, path, x=X)["y"], np.maximum(X, 0))
    if name not in NOT_FOR_OPENVINO:
        np.testing.assert_array_equal(openvino_outputs(path, {"x": X})[0], np.maximum(X, 0))


SHAPES = {"1, 4": (1, 4), "?,4": (3, 4), "-1,4": (3, 4), "1..8,4": (8, 4), "..8,4": (8, 4), "2..,4": (2, 4),
          "...": (2, 4)}


@pytest.mark.parametrize("text", SHAPES)
def test_partial_shapes(tool: Nnefc, tmp_path: Path, text: str) -> None:
    value = np.arange(np.prod(SHAPES[text]), dtype=F32).reshape(SHAPES[text]) - 5
    ports = "" if text == "..." else "<dim>1</dim><dim>4</dim>" if text == "1, 4" else "<dim>-1</dim><dim>4</dim>"
    path = save(tmp_path, relu(text).replace("<dim>1</dim><dim>4</dim>", ports))
    np.testing.assert_array_equal(run(tool, path, x=value)["y"], np.maximum(value, 0))
    kept = ov.Core().read_model(tmp_path / "again.xml").input(0).partial_shape
    assert kept == ov.Core().read_model(path).input(0).partial_shape


@pytest.mark.parametrize("text, shape", [("2..8,4", (1, 4)), ("2..8,4", (9, 4)), ("..8,4", (9, 4)), ("?,4", (2, 5))])
def test_inputs_outside_of_the_shape(tool: Nnefc, tmp_path: Path, text: str, shape: tuple[int, ...]) -> None:
    path = save(tmp_path, dims(relu(text), -1, 4))
    np.savez(tmp_path / "inputs.npz", x=np.zeros(shape, F32))
    assert tool.call("run", path, "--inputs", tmp_path / "inputs.npz").returncode == 1


@pytest.mark.parametrize("text", ["a,4", "1,,4", "1,4,", "-2,4", "8..2,4", "1;4", "1.5,4", "1,...,2", "9" * 20 + ",4"])
def test_texts_that_are_no_shapes(tool: Nnefc, tmp_path: Path, text: str) -> None:
    refused(tool, save(tmp_path, relu(text)), "openvino.xml-attribute-value")


@pytest.mark.parametrize("what, rule", [
    (r' element_type="f32"', "openvino.xml-missing-attribute"),
    (r' shape="1,4"', "openvino.xml-missing-attribute")])
def test_a_parameter_tells_its_type_and_shape(tool: Nnefc, tmp_path: Path, what: str, rule: str) -> None:
    assert what in relu()
    refused(tool, save(tmp_path, relu().replace(what, "")), rule)


def test_a_parameter_without_data(tool: Nnefc, tmp_path: Path) -> None:
    """Its port determines the type; an error if the port has none either."""
    bare = relu().replace('<data shape="1,4" element_type="f32"/>', "")
    assert bare != relu()
    tool.must("check", save(tmp_path, bare))
    refused(tool, save(tmp_path, bare.replace('<port id="0" precision="FP32"', '<port id="0"', 1)),
            "openvino.xml-missing-element")


def test_a_set_that_does_not_exist(tool: Nnefc, tmp_path: Path) -> None:
    path = save(tmp_path, relu().replace('type="ReLU" version="opset1"', 'type="ReLU" version="opset99"'))
    refused(tool, path, "openvino.unknown-operation")
    tool.must("inspect", path)


def test_a_precision_that_differs_from_the_type(tool: Nnefc, tmp_path: Path) -> None:
    """The readers of OpenVINO and of nnefc infer the type; a different declared one causes a warning."""
    path = save(tmp_path, relu().replace('<port id="1" precision="FP32"', '<port id="1" precision="I32"'))
    done = tool.call("check", path)
    assert done.returncode == 0 and "[openvino.port-precision]" in done.stderr
    np.testing.assert_array_equal(run(tool, path, x=X)["y"], openvino_outputs(path, {"x": X})[0])


def test_enumerations_in_other_letters(tool: Nnefc, tmp_path: Path) -> None:
    graph = Graph()
    x = graph.parameter([1, 1, 3, 3], name="x")
    data = {"kernel": "2, 2", "strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "exclude-pad": "TRUE",
            "rounding_type": "FLOOR", "auto_pad": "Valid"}
    graph.result(graph.add("AvgPool", "opset1", [x], [("f32", [1, 1, 2, 2])], data)[0], "y")
    path = graph.save(tmp_path / "net.xml")
    value = np.arange(9, dtype=F32).reshape(1, 1, 3, 3)
    np.testing.assert_array_equal(run(tool, path, x=value)["y"].ravel(), [2, 3, 5, 6])
    np.testing.assert_array_equal(openvino_outputs(path, {"x": value})[0].ravel(), [2, 3, 5, 6])


# --- If: mistakes in port maps, and bodies that never run ------------------------------------------

def branch(graph: Graph, wrong: bool) -> str:
    """Returns a body of x [1,4] that multiplies it by itself, or that breaks rules of shapes."""
    body = Graph(graph.blobs)
    x = body.parameter([1, 4], name="inner")
    if wrong:
        y = body.add("Reshape", "opset1", [x, body.const([7], np.int64)], [("f32", [7])], {"special_zero": "false"})[0]
    else:
        y = body.binary("Multiply", x, x, [1, 4])
    body.result(y)
    return body.body("else_body" if wrong else "then_body")


def conditional(condition: bool | None, maps: str) -> Graph:
    graph = Graph()
    x = graph.parameter([1, 4], name="x")
    if condition is None:
        cond: Port = graph.parameter([], "boolean", name="c")
    else:
        cond = graph.const(condition, bool)
    bodies = branch(graph, False) + branch(graph, True)
    node = graph.add("If", "opset8", [cond, x], [("f32", [1, 4])], more=maps + bodies)
    graph.result(node[0], "y")
    return graph


def maps(then_output: int = 2) -> str:
    # Layers of then_body: x, Multiply, Result; of else_body: x, Const, Reshape, Result.
    ends = {"then": 2, "else": 3}
    return "".join(f"<{role}_port_map>{mapped('input', 1, 0)}"
                   f"{mapped('output', then_output if role == 'then' else 2, ends[role])}</{role}_port_map>"
                   for role in ("then", "else"))


def test_a_body_that_a_constant_condition_never_takes_may_be_wrong(tool: Nnefc, tmp_path: Path) -> None:
    path = conditional(True, maps()).save(tmp_path / "net.xml")
    assert tool.call("check", path).stderr == ""
    np.testing.assert_array_equal(run(tool, path, x=X)["y"], X * X)
    refused(tool, conditional(False, maps()).save(tmp_path / "net.xml"), "opset.extent")
    refused(tool, conditional(None, maps()).save(tmp_path / "net.xml"), "opset.extent")


def test_the_id_that_is_no_port_is_named(tool: Nnefc, tmp_path: Path) -> None:
    path = conditional(True, maps(then_output=7)).save(tmp_path / "net.xml")
    refused(tool, path, "openvino.external-port-id")
    stderr = tool.call("check", path).stderr
    assert "`external_port_id` 7" in stderr and stderr.count("error: ") == 1, stderr


# --- element types and names --------------------------------------------------------------------

TYPES = {"FP16": "f16", "FP32": "f32", "FP64": "f64", "BF16": "bf16", "I4": "i4", "I8": "i8", "I16": "i16", "I32": "i32",
         "I64": "i64", "U2": "u2", "U4": "u4", "U8": "u8", "U16": "u16", "U32": "u32", "U64": "u64", "BIN": "u1",
         "BOOL": "boolean", "NF4": "nf4", "F4E2M1": "f4e2m1", "F8E4M3": "f8e4m3", "F8E5M2": "f8e5m2", "F8E8M0": "f8e8m0",
         "STRING": "string"}


@pytest.mark.parametrize("port", TYPES)
def test_element_types(tool: Nnefc, tmp_path: Path, port: str) -> None:
    """Both spellings are accepted at both positions, and each position is written in its own."""
    graph = Graph()
    graph.result(graph.parameter([4], name="x"), "y")
    for precision in (port, TYPES[port]):
        for attribute in (port, TYPES[port]):
            text = graph.net().replace('"FP32"', f'"{precision}"').replace('"f32"', f'"{attribute}"')
            path = save(tmp_path, text)
            assert tool.call("check", path).stderr == ""
            tool.must("compile", path, "-o", tmp_path / "again.xml")
            written = (tmp_path / "again.xml").read_text()
            assert f'precision="{port}"' in written and f'element_type="{TYPES[port]}"' in written
            assert ov.Core().read_model(tmp_path / "again.xml").input(0).element_type.get_type_name() == TYPES[port]


@pytest.mark.parametrize("names, tensor_names", [
    ("x", ["x"]), (r"b\,2,a", ["a", "b,2"]), ("入力", ["入力"]), ("a&amp;b&lt;c&quot;", ['a&b<c"'])])
def test_tensor_names(tool: Nnefc, tmp_path: Path, names: str, tensor_names: list[str]) -> None:
    """Data are passed by the name of a layer or any name of its tensor; all names survive writing."""
    text = relu().replace('names="x"', f'names="{names}"').replace('names="y"', f'names="{names.replace("x", "y")}"')
    path = save(tmp_path, text)
    for name in ["x", *tensor_names]:
        outputs = run(tool, path, **{name: X})
        np.testing.assert_array_equal(next(iter(outputs.values())), np.maximum(X, 0))
        assert next(iter(outputs)) in [other.replace("x", "y") for other in tensor_names]
    ports = [ov.Core().read_model(tmp_path / file).input(0).names for file in ("net.xml", "again.xml")]
    assert ports[0] == ports[1] == set(tensor_names)


def test_a_name_of_two_tensors(tool: Nnefc, tmp_path: Path) -> None:
    graph = Graph()
    x, y = graph.parameter([2], name="x"), graph.parameter([2], name="z")
    graph.result(graph.binary("Add", x, y, [2]), "y")
    path = save(tmp_path, re.sub(r'names="[xz]"', 'names="both"', graph.net()))
    np.savez(tmp_path / "inputs.npz", both=np.zeros(2, F32))
    done = tool.call("run", path, "--inputs", tmp_path / "inputs.npz")
    assert done.returncode == 1 and "[input.unknown]" in done.stderr


# --- Loop: slices and the trip count --------------------------------------------------------------

def test_a_loop_without_slices_left(tool: Nnefc, tmp_path: Path) -> None:
    """A trip count above the number of slices is an error unless the loop ends before."""
    graph = Graph()
    trips, x = graph.parameter([], "i64", name="trips"), graph.parameter([3, 1], name="x")
    start, limit = graph.parameter([1, 1], name="start"), graph.parameter([1, 1], name="limit")
    body = Graph(graph.blobs)
    row, state, bound = (body.parameter([1, 1]) for _ in range(3))
    total = body.binary("Add", row, state, [1, 1])
    more = body.add("Less", "opset1", [total, bound], [("boolean", [1, 1])], {"auto_broadcast": "numpy"})
    shape = body.const([1], np.int64)
    flat = body.add("Reshape", "opset1", [more[0], shape], [("boolean", [1])], {"special_zero": "false"})
    last, goes_on = body.result(total), body.result(flat[0])
    part = {"axis": 0, "start": 0, "end": -1, "stride": 1, "part_size": 1}
    port_map = "<port_map>" + mapped("input", 2, row.layer.number, **part) + mapped("input", 3, state.layer.number) \
        + mapped("input", 4, bound.layer.number) + mapped("output", 5, last.number) \
        + f'<output external_port_id="-1" internal_layer_id="{goes_on.number}" purpose="execution_condition"/></port_map>'
    edges = f'<back_edges><edge from-layer="{last.number}" to-layer="{state.layer.number}"/></back_edges>'
    loop = graph.add("Loop", "opset5", [trips, graph.const(True, bool), x, start, limit], [("f32", [1, 1])],
                     more=port_map + edges + body.body())
    graph.result(loop[0], "y")
    path = graph.save(tmp_path / "net.xml")
    data = {"x": np.array([[1], [2], [3]], F32), "start": np.zeros([1, 1], F32)}

    def total_of(trips: int, limit: float) -> object:
        inputs = data | {"trips": np.array(trips), "limit": np.full([1, 1], limit, F32)}
        np.savez(tmp_path / "inputs.npz", **inputs)
        done = tool.call("run", path, "--inputs", tmp_path / "inputs.npz", "--outputs", tmp_path / "outputs.npz")
        if done.returncode != 0:
            return done.stderr
        found = float(np.load(tmp_path / "outputs.npz")["y"].item())
        assert found == openvino_outputs(path, inputs)[0].item()
        return found

    assert total_of(2, 100) == 3 and total_of(3, 100) == 6
    assert total_of(9, 2) == 3  # the condition ends it
    assert "the trip count is 9; its inputs are cut into 3 parts" in total_of(9, 100)
