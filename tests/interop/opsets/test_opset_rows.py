"""Each row of the operation sets: OpenVINO saves a model with the operation in several settings. nnefc reads it without
diagnostics, computes the same numbers, and writes a model with which OpenVINO also does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")
from openvino import opset1  # noqa: E402
from openvino.utils.node_factory import NodeFactory  # noqa: E402

from openvino_oracle import openvino_outputs  # noqa: E402
from opset_cases import CASES, Const, Dynamic, Input  # noqa: E402

# OpenVINO's classes whose name differs from that in a file.
CLASSES = {"ReLU": "Relu", "PReLU": "PRelu", "SoftMax": "Softmax"}
# Nodes of every model, and operations that other files here test: states, control flow, recurrent cells and sequences.
ELSEWHERE = {"opset1.Parameter", "opset1.Const", "opset1.Result", "opset3.ReadValue", "opset3.Assign", "opset6.ReadValue",
             "opset6.Assign", "opset8.If", "opset1.TensorIterator", "opset5.Loop", "opset1.LSTMCell", "opset4.LSTMCell",
             "opset5.LSTMSequence", "opset3.GRUCell", "opset5.GRUSequence", "opset1.RNNCell", "opset5.RNNSequence"}


def parameter(value: np.ndarray, shape: str | None, name: str, inputs: dict[str, np.ndarray]):
    node = opset1.parameter(ov.PartialShape(f"[{shape}]") if shape else list(value.shape), value.dtype, name=name)
    node.output(0).set_names({name})
    inputs[name] = value
    return node


def make_node(given: Input, name: str, parameters: list, inputs: dict[str, np.ndarray]):
    if isinstance(given, Const):
        return opset1.constant(given.value)
    value, shape = (given.value, given.shape) if isinstance(given, Dynamic) else (given, None)
    parameters.append(parameter(value, shape, name, inputs))
    return parameters[-1]


def make_model(row: str, cases: list[tuple[list[Input], dict]] | None = None) -> tuple[ov.Model, dict[str, np.ndarray]]:
    """Makes a model with a node for each setting of the row."""
    opset, name = row.split(".")
    parameters, inputs, results = [], {}, []
    for case, (given, attributes) in enumerate(cases or CASES[row]):
        nodes = [make_node(value, f"in{case}_{port}", parameters, inputs) for port, value in enumerate(given)]
        node = NodeFactory(opset).create(CLASSES.get(name, name), [node.output(0) for node in nodes], attributes)
        for port, output in enumerate(node.outputs()):
            output.set_names({f"out{case}_{port}"})
            results.append(opset1.result(output))
    return ov.Model(results, parameters, "rows"), inputs


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("rows"))


def assert_alike(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    assert found.shape == expected.shape and found.dtype == expected.dtype, what
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, err_msg=what)


@pytest.mark.parametrize("row", CASES)
def test_row(tool: Nnefc, tmp_path: Path, row: str) -> None:
    model, inputs = make_model(row)
    theirs, ours, again = (tmp_path / f"{name}.xml" for name in ("theirs", "ours", "again"))
    ov.save_model(model, theirs, compress_to_fp16=False)
    for source, target in [(theirs, ours), (ours, again)]:
        done = tool.call("compile", source, "-o", target)
        assert (done.returncode, done.stderr) == (0, "")
    assert ours.read_bytes() == again.read_bytes()
    assert ours.with_suffix(".bin").read_bytes() == again.with_suffix(".bin").read_bytes()
    names = [output.any_name for output in model.outputs]
    np.savez(tmp_path / "inputs.npz", **inputs)
    found = tool.run(theirs, "--inputs", tmp_path / "inputs.npz", "--backend", "reference") if inputs \
        else tool.run(theirs, "--backend", "reference")
    expected = openvino_outputs(theirs, inputs)
    for name, value, from_ours in zip(names, expected, openvino_outputs(ours, inputs), strict=True):
        case = CASES[row][int(name[3:].split("_")[0])]
        assert_alike(found[name], value, f"{name}: {case[1]}")
        assert_alike(from_ours, value, f"{name} written again: {case[1]}")


def test_every_row_has_a_case(tool: Nnefc) -> None:
    listed = {line.split()[0] for line in tool.must("operations", "--opsets").splitlines()}
    assert listed - ELSEWHERE == set(CASES)


def data(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


# Invalid inputs that only the run can detect: they must be reported, whatever memory is out of bounds.
UNFIT: dict[str, tuple[list[Input], dict, str]] = {
    "opset3.CumSum": ([data(2, 3), np.array(9)], {"exclusive": False, "reverse": False}, "axis 9 of `CumSum`"),
    "opset3.ScatterUpdate": ([data(4, 5), Const(np.array([0])), data(4, 1), np.array(-7)], {}, "axis -7"),
    "opset3.ScatterElementsUpdate": ([data(2, 9), np.zeros([50, 3], np.int64), data(50, 3), np.array(1)], {}, "reach beyond [2,9]"),
    "opset6.GatherElements": ([data(2, 3), np.full([2, 3], 5)], {"axis": 0}, "index 5 is outside an axis of extent 2"),
    "opset4.ScatterNDUpdate": ([data(4, 5), np.array([[7]]), data(1, 5)], {}, "index 7"),
    "opset8.GatherND": ([data(4, 5), np.array([[1, -6]])], {"batch_dims": 0}, "index -6"),
    "opset6.MVN": ([data(2, 3), np.array([4])], {"normalize_variance": True, "eps": 0.1, "eps_mode": "inside_sqrt"}, "axis 4"),
    "opset1.NormalizeL2": ([data(2, 3), np.array([4])], {"eps": 0.1, "eps_mode": "add"}, "axis 4"),
    "opset1.ReverseSequence": ([data(2, 3), np.array([1, 8])], {"batch_axis": 0, "seq_axis": 1}, "length 8"),
    "opset7.Roll": ([data(2, 3), np.array([1]), np.array([6])], {}, "axis 6"),
    "opset9.ROIAlign": ([data(1, 1, 4, 4), data(1, 4), np.array([3])],
                        {"pooled_h": 1, "pooled_w": 1, "sampling_ratio": 1, "spatial_scale": 1.0, "mode": "avg",
                         "aligned_mode": "asymmetric"}, "index 3"),
    "opset2.ROIPooling": ([data(1, 1, 4, 4), np.array([[-1, 0, 0, 2, 2]], np.float32)],
                          {"pooled_h": 1, "pooled_w": 1, "spatial_scale": 1.0, "method": "max"}, "batch -1"),
    "opset1.PSROIPooling": ([data(1, 1, 4, 4), np.array([[1, 0, 0, 2, 2]], np.float32)],
                            {"output_dim": 1, "group_size": 1, "spatial_scale": 1.0, "mode": "average", "spatial_bins_x": 1,
                             "spatial_bins_y": 1}, "a region is of batch 1, of 1"),
    "opset7.DFT": ([data(4, 5, 2), np.array([2])], {}, "axis 2"),
    "opset7.IDFT": ([data(4, 5, 2), np.array([0, 0])], {}, "is given twice"),
    "opset9.RDFT": ([data(4, 5), np.array([1]), np.array([-2])], {}, "has the item -2"),
    "opset9.IRDFT": ([data(4, 5, 2), np.array([-3])], {}, "axis -3"),
    "opset15.STFT": ([data(1, 20), data(8), np.array(21), np.array(1)], {"transpose_frames": False}, "the 21 elements of a frame"),
    "opset16.ISTFT": ([data(9, 5, 2), data(8), np.array(16), np.array(0)], {"center": False, "normalized": False}, "is 0"),
    "opset8.RandomUniform": ([np.array([2, -1]), Const(np.array(0, np.float32)), Const(np.array(1, np.float32))],
                             {"output_type": "f32", "global_seed": 1, "op_seed": 1}, "has the item -1"),
    "opset13.Multinomial": ([-data(1, 3), Const(np.array(2))],
                            {"convert_type": "i64", "with_replacement": True, "log_probs": False, "global_seed": 1, "op_seed": 1},
                            "a probability is -1"),
    "opset3.EmbeddingBagOffsetsSum": ([data(4, 2), np.array([0, 4]), np.array([0, 1])], {}, "index 4 is outside a table of 4 rows"),
    "opset15.EmbeddingBagOffsets": ([data(4, 2), np.array([0, 3]), np.array([1, 0])], {"reduction": "sum"}, "the bag 0 reaches from index 1 to 0"),
    "opset3.EmbeddingBagPackedSum": ([data(4, 2), np.array([[-1]])], {}, "index -1"),
    "opset3.EmbeddingSegmentsSum": ([data(4, 2), np.array([0]), np.array([3]), np.array(3)], {}, "segment 3 is outside 3 segments"),
    "opset16.SegmentMax": ([data(2, 2), np.array([1, 0]), np.array(3)], {"fill_mode": "zero"}, "expected ascending segments"),
    "opset16.SparseFillEmptyRows": ([data(1), np.array([2, 3]), np.array([[2, 0]]), Const(np.array(0, np.float32))], {}, "has the row 2"),
    "opset1.GatherTree": ([np.ones([3, 1, 2], np.int32), np.full([3, 1, 2], 2, np.int32), np.array([3], np.int32), Const(np.array(0, np.int32))],
                          {}, "parent 2 is outside 2 beams"),
    "opset4.CTCLoss": ([data(1, 3, 4), np.array([3]), np.array([[4, 0, 0]]), np.array([1])], {}, "label 4 of 4 classes"),
    "opset6.CTCGreedyDecoderSeqLen": ([data(1, 3, 4), np.array([4])], {}, "has the length 4"),
    "opset15.SliceScatter": ([data(4, 5), data(2, 5), np.array([1]), np.array([4]), np.array([1]), np.array([0])], {}, "expected that of the slice"),
    "opset9.MulticlassNms": ([data(2, 3, 4), data(2, 3), np.array([4])], {"iou_threshold": 0.5}, "fewer than `roisnum`"),
    "opset15.ROIAlignRotated": ([data(1, 1, 4, 4), data(1, 5), np.array([-1])],
                                {"pooled_h": 1, "pooled_w": 1, "sampling_ratio": 1, "spatial_scale": 1.0, "clockwise_mode": True},
                                "is of batch -1, of 1"),
}


@pytest.mark.parametrize("row", UNFIT)
def test_unfit_inputs_are_told(tool: Nnefc, tmp_path: Path, row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, attributes, message = UNFIT[row]
    monkeypatch.setitem(CASES, row, [(inputs, attributes)])
    model, values = make_model(row)
    ov.save_model(model, tmp_path / "theirs.xml", compress_to_fp16=False)
    np.savez(tmp_path / "inputs.npz", **values)
    done = tool.call("run", tmp_path / "theirs.xml", "--inputs", tmp_path / "inputs.npz")
    assert done.returncode == 1 and message in done.stderr, done.stderr
