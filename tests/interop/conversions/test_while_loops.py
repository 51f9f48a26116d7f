"""ONNX loops that a condition ends, as `while_loop` of `nnefc convert --target nnefc`: trip counts and conditions that are data, none
of them, no iterations, the number of the iteration, nested loops. The documents agree with ONNX Runtime."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc, assert_agree

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
ov = pytest.importorskip("openvino")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

TOLERANCE = 1e-6
WIDTH = 16
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64, np.dtype(bool): TensorProto.BOOL}


def info(name: str, dtype: object, shape: list[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], shape)


def const(name: str, value: object, dtype: object = np.float32) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value, dtype), name))


@dataclass
class Form:
    """A loop over a state `s` of shape [1,16], with its last value `y` and all values `ys`."""
    trips: str = "trips"       # the name of the trip count; "" for none
    go: str = "go"             # the name of the first condition
    counts: bool = False       # adds the number of the iteration to the state
    ends: bool = True          # the body has a condition: the largest element is below `limit`
    vector: bool = False       # its condition has the shape [1]
    inner: Form | None = None  # a loop in the body, over the same state
    before: list[onnx.NodeProto] = field(default_factory=list)


def body_of(form: Form, prefix: str) -> onnx.GraphProto:
    """next = the state times 1.5, plus the number; the weights are a constant of the body."""
    p = prefix
    nodes = [const(f"{p}w", np.linspace(1.2, 1.5, WIDTH).reshape(1, WIDTH)), helper.make_node("Mul", [f"{p}s", f"{p}w"], [f"{p}m"])]
    last = f"{p}m"
    if form.inner:
        nodes += [*form.inner.before, helper.make_node("Loop", [form.inner.trips, form.inner.go, last], [f"{p}i", f"{p}is"],
                                                       body=body_of(form.inner, p + "q"))]
        last = f"{p}i"
    if form.counts:
        nodes += [helper.make_node("Cast", [f"{p}n"], [f"{p}f"], to=TensorProto.FLOAT), helper.make_node("Add", [last, f"{p}f"], [f"{p}a"])]
        last = f"{p}a"
    nodes += [helper.make_node("Identity", [last], [f"{p}next"]), helper.make_node("Abs", [last], [f"{p}part"])]
    if form.ends:
        nodes += [helper.make_node("ReduceMax", [last], [f"{p}max"], keepdims=0), helper.make_node("Less", [f"{p}max", "limit"], [f"{p}less"])]
        if form.vector:
            nodes += [const(f"{p}one", [1], np.int64), helper.make_node("Reshape", [f"{p}less", f"{p}one"], [f"{p}more"])]
        else:
            nodes.append(helper.make_node("Identity", [f"{p}less"], [f"{p}more"]))
    else:
        nodes.append(helper.make_node("Identity", [f"{p}c"], [f"{p}more"]))
    shape = [1] if form.vector else []
    return helper.make_graph(nodes, f"{p}body", [info(f"{p}n", np.int64, []), info(f"{p}c", bool, []), info(f"{p}s", np.float32, [1, WIDTH])],
                             [info(f"{p}more", bool, shape), info(f"{p}next", np.float32, [1, WIDTH]), info(f"{p}part", np.float32, [1, WIDTH])])


def model_of(form: Form) -> onnx.ModelProto:
    inputs = [info("x", np.float32, [1, WIDTH]), info("limit", np.float32, []), info("trips", np.int64, []), info("go", bool, [])]
    # Every input has a use.
    nodes = [*form.before, helper.make_node("Loop", [form.trips, form.go, "x"], ["last", "all"], body=body_of(form, "b")),
             helper.make_node("Neg", ["last"], ["y"]), helper.make_node("Neg", ["all"], ["ys"]),
             helper.make_node("Mul", ["limit", "limit"], ["l"]), helper.make_node("Identity", ["trips"], ["t"]),
             helper.make_node("Not", ["go"], ["g"])]
    outputs = [info("y", np.float32, [1, WIDTH]), info("ys", np.float32, ["n", 1, WIDTH]), info("l", np.float32, []),
               info("t", np.int64, []), info("g", bool, [])]
    model = helper.make_model(helper.make_graph(nodes, "net", inputs, outputs), opset_imports=[helper.make_opsetid("", 15)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def constant_trips(count: int) -> dict[str, object]:
    return {"trips": "count", "before": [const("count", count, np.int64)]}


TRUE = {"go": "true", "before": [const("true", True, bool)]}
BRIEF = Form(trips="two", go="yes", ends=False, before=[const("two", 2, np.int64), const("yes", True, bool)])
FORMS = {
    "both": Form(),
    "number": Form(counts=True),
    "vector": Form(vector=True),
    "no_trip_count": Form(trips=""),
    "no_trip_count_number": Form(trips="", counts=True),
    "largest_trip_count": Form(**constant_trips(2**63 - 1)),
    "constant_trip_count": Form(**constant_trips(4), counts=True),
    "no_trips": Form(**constant_trips(0), counts=True),
    "first_is_true": Form(**TRUE),
    "first_alone": Form(ends=False),
    "a_count_in_a_while": Form(inner=BRIEF),
    "a_while_in_a_while": Form(inner=Form(trips="", go="bc", counts=True), trips="trips"),
    "trips_alone": Form(**TRUE, ends=False, counts=True),
}
# Trip counts, first conditions and limits of the largest element; the state starts below 1.
VALUES = list(itertools.product([0, 1, 7], [True, False], [0.5, 20.0]))


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("while_loops"))


@pytest.mark.parametrize("name", FORMS)
def test_loop(tool: Nnefc, tmp_path: Path, name: str) -> None:
    model = model_of(FORMS[name])
    onnx.save(model, tmp_path / "net.onnx")
    ov.save_model(ov.convert_model(tmp_path / "net.onnx"), tmp_path / "net.xml", compress_to_fp16=False)
    tool.must("convert", tmp_path / "net.xml", "-o", tmp_path / "model", "--target", "nnefc", "--compare-outputs", "never")
    assert tool.must("check", tmp_path / "model") == ""
    assert "while_loop(" in (tmp_path / "model" / "graph.nnef").read_text()
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(3).random((1, WIDTH)).astype(np.float32)
    for trips, go, limit in VALUES:
        inputs = {"x": x, "limit": np.float32(limit), "trips": np.int64(trips), "go": np.bool_(go)}
        expected = dict(zip(["y", "ys", "l", "t", "g"], session.run(None, {key: np.asarray(value) for key, value in inputs.items()})))
        np.savez(tmp_path / "inputs.npz", **inputs)
        for backend in ["reference", "fast"]:
            found = tool.run(tmp_path / "model", "--inputs", tmp_path / "inputs.npz", "--backend", backend)
            if expected["ys"].size == 0:
                assert found.pop("ys").shape == expected["ys"].shape
                assert_agree(found, {key: value for key, value in expected.items() if key != "ys"}, TOLERANCE)
            else:
                assert_agree(found, expected, TOLERANCE)
