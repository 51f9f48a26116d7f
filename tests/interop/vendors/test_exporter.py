"""Models that Khronos' converter `nnef_tools` makes of ONNX: checked without diagnostics, printed, expanded and run,
also by OpenVINO, with the results of ONNX Runtime for the original.

Only correct translations are included. The converter is wrong for SAME_LOWER, `output_shape`, the alpha of Elu, Flatten
beyond the first axis, SpaceToDepth, nearest resizing by half pixels, Sum of several ranks, LSTM, Softmax before opset
13, and with `--io-transpose` for the shapes of inputs.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from nnef_tools import convert

import exported_models
from models import Nnefc, Outputs, assert_agree
from openvino_oracle import openvino_outputs

# Options of nnef_tools.convert that differ from its defaults.
VARIANTS = {
    "plain": {},
    "optimized": {"optimize": True, "annotate_shapes": True, "keep_io_names": True},
    "archive": {"compress": 1},
    "fragments": {"generate_custom_fragments": True, "annotate_shapes": True},
}
# Its own fragments have calls to undefined names; its optimizer passes a parameter that NumPy has removed.
BROKEN = {"fragments": ("normalizations", "reductions", "activations", "shaping"), "optimized": ("products", "residual")}
DEFAULTS = dict.fromkeys(("input_shapes", "io_transpose", "custom_converters", "custom_shapes", "custom_fragments",
                          "custom_optimizers", "decompose", "input_names", "output_names", "compress")) | dict.fromkeys(
    ("fold_constants", "optimize", "dequantize", "mirror_unsupported", "generate_custom_fragments", "keep_io_names",
     "static_only", "annotate_shapes"), False)


def _convert(source: Path, target: Path, options: dict[str, object]) -> dict[str, str]:
    """Writes the model; returns the names of the original's tensors in it."""
    names = target.with_suffix(".json")
    settings = {"input_format": "onnx", "output_format": "nnef", "input_model": str(source), "output_model": str(target),
                "tensor_mapping": str(names), **DEFAULTS, **options}
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = convert.main(argparse.Namespace(**settings))
    assert code == 0, said.getvalue()
    return json.loads(names.read_text())


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, np.ndarray, Outputs]]:
    """Returns the ONNX file of a model, its input and its outputs by name; each made once."""
    folder, made = tmp_path_factory.mktemp("onnx"), {}
    data = np.random.default_rng(7).standard_normal(exported_models.SHAPE).astype(np.float32)

    def make(name: str) -> tuple[Path, np.ndarray, Outputs]:
        if name not in made:
            path = folder / f"{name}.onnx"
            onnx.save(exported_models.make(name), path)
            session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
            outputs = [info.name for info in session.get_outputs()]
            made[name] = path, data, dict(zip(outputs, session.run(outputs, {"x": data})))
        return made[name]

    return make


def _run(nnefc: Nnefc, model: Path, name: str, data: np.ndarray, *options: str) -> Outputs:
    inputs = nnefc.scratch / "inputs.npz"
    np.savez(inputs, **{name: data})
    return nnefc.run(model, "--inputs", inputs, *options)


@pytest.mark.parametrize(("name", "variant"), [(name, variant) for name in exported_models.MODELS for variant in VARIANTS
                                               if name not in BROKEN.get(variant, ())])
def test_converted(nnefc: Path, tmp_path: Path, original: Callable[[str], tuple[Path, np.ndarray, Outputs]], name: str,
                   variant: str) -> None:
    path, data, expected = original(name)
    names = _convert(path, tmp_path / "model", VARIANTS[variant])
    model = tmp_path / ("model.tgz" if variant == "archive" else "model")
    tool = Nnefc(nnefc, tmp_path)

    done = tool.call("check", model)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    if "annotate_shapes" in VARIANTS[variant]:  # the converter wrote the shapes that it assumes as comments
        assert model.joinpath("graph.nnef").read_text().count(";    # ") >= len(expected)
        done = tool.call("lint", model, "--no-config", "--disable", "all", "--enable", "shape-comment")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    results = {names[output]: value for output, value in expected.items()}
    assert_agree(_run(tool, model, names["x"], data), results)
    if variant == "plain":
        assert_agree(_run(tool, model, names["x"], data, "--backend", "reference"), results)
        tool.must("compile", model, "-o", tmp_path / "net.xml")
        # By index: OpenVINO loses the name of a parameter that is also a result.
        assert_agree(dict(zip(results, openvino_outputs(tmp_path / "net.xml", {0: data}))), results)
        formatted = tool.must("fmt", model / "graph.nnef")
        flat = tool.must("expand", model, "--lower", "all")
        for text in (formatted, flat):
            (model / "graph.nnef").write_text(text)
            assert_agree(_run(tool, model, names["x"], data), results)
        assert tool.must("expand", model, "--lower", "all") == flat
