"""Models of ONNX that tract writes as NNEF, with names of frameworks, open batch and sequence axes, against ONNX Runtime
in three sizes each."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import tract

from models import Nnefc
from tract_models import MODELS, Net


def write(name: str, folder: Path) -> tuple[Net, onnx.ModelProto]:
    """Writes the model as NNEF by tract."""
    net = Net(sorted(MODELS).index(name))
    model = net.model(*MODELS[name].make(net))
    onnx.save(model, folder / "model.onnx")
    loaded = tract.onnx().load(str(folder / "model.onnx")).into_model()
    tract.nnef().with_onnx().write_model_to_dir(loaded, str(folder / "model"))
    return net, model


def ports_of(document: str) -> tuple[list[str], list[str]]:
    """Returns the names of inputs and results in the order of the ONNX model."""
    graph = re.search(r"^graph \w+\(([^)]*)\) -> \(([^)]*)\)", document, re.MULTILINE)
    assert graph
    return re.findall(r"\w+", graph[1]), re.findall(r"\w+", graph[2])


@pytest.mark.parametrize("name", MODELS)
def test_model_of_tract(name: str, nnefc: Path, tmp_path: Path) -> None:
    tool = Nnefc(nnefc, tmp_path)
    net, model = write(name, tmp_path)
    oracle = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    inputs, results = ports_of((tmp_path / "model" / "graph.nnef").read_text())
    for size, extents in enumerate(MODELS[name].extents):
        data = net.data(extents)
        np.savez(tmp_path / "in.npz", **dict(zip(inputs, data.values(), strict=True)))
        found = tool.run(tmp_path / "model", "--inputs", tmp_path / "in.npz", "--backend", "reference" if size == 0 else "fast")
        for result, expected in zip(results, oracle.run(None, data), strict=True):
            assert found[result].shape == expected.shape, extents
            np.testing.assert_allclose(found[result], expected, rtol=1e-4, atol=1e-5 * max(1, np.abs(expected).max()))
