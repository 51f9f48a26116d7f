"""The models of chapter_models.py and combined_models.py against their formulas: unchanged on both backends and without
transformations, expanded, lowered, upgraded, as IR, and in OpenVINO."""

from __future__ import annotations

import re
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

openvino = pytest.importorskip("openvino")

import combined_models  # noqa: E402, F401
from chapter_models import ALL, MODELS  # noqa: E402
from tensor_files import dat  # noqa: E402

EXTERNAL = re.compile(r"(\w+)(?::(\w+))?\[([^\]]*)\]")


class Model:
    """A model in its folder, with inputs and weights seeded by its name: multiples of 1/8, or integers."""

    def __init__(self, made: dict, folder: Path) -> None:
        self.made, self.random = made, np.random.RandomState(zlib.crc32(made["name"].encode()) & 0xFFFF)
        lines = made["doc"].split("\n")
        head = next(line for line in lines if line.startswith("in "))
        externals, results = head[3:].split("->")
        end = ";" if made["dialect"] == "R" else ""
        inputs = [(name, kind, [int(n) for n in shape.split(",") if n]) for name, kind, shape in EXTERNAL.findall(externals)]
        self.results = [name.strip() for name in results.split(",")]
        self.inputs = {name: self.data(*each) for each in inputs for name in each[:1]}
        self.weights = {label: self.eighths(16, shape) for label, shape in made.get("weights", {}).items()}
        statements = [f"{name} = external{'<' + kind + '>' if kind else ''}(shape = {shape}){end}" for name, kind, shape in inputs]
        opened = f"graph net( {', '.join(self.inputs)} ) -> ( {', '.join(self.results)} ) {{\n" + "\n".join(statements)
        text = "\n".join(opened if line is head else line for line in lines)
        self.folder = folder / "model"
        self.folder.mkdir()
        (self.folder / "graph.nnef").write_text(f"version 1.0{end}\n{text}\n}}\n")
        self.write_weights(self.folder, made["dialect"])
        floats = [x.astype(float) if x.dtype == np.float32 else x for x in self.inputs.values()]
        with np.errstate(all="ignore"):
            expected = made["fn"](*floats, **{label: x.astype(float) for label, x in self.weights.items()})
        self.expected = [np.asarray(x) for x in (expected if isinstance(expected, tuple) else (expected,))]
        self.shapes = [word for name, shape in made.get("data", {}).items()
                       for word in ("--input-shape", f"{name}={','.join(map(str, shape))}")]

    def eighths(self, bound: int, shape: tuple[int, ...]) -> np.ndarray:
        return (self.random.randint(-bound, bound + 1, shape) / 8).astype(np.float32)

    def data(self, name: str, kind: str, shape: list[int]) -> np.ndarray:
        extents = tuple(self.made.get("data", {}).get(name, shape))
        if name in self.made.get("values", {}):
            return np.array(self.made["values"][name], np.float32)
        if kind == "logical":
            return np.asarray(self.random.rand(*extents) < 0.5)
        if kind == "integer":
            return np.asarray(self.random.randint(0, self.made.get("indices", 5), extents), np.int64)
        whole = self.made.get("coarse", False)
        return self.random.randint(-3, 4, extents).astype(np.float32) if whole else self.eighths(24, extents)

    def write_weights(self, folder: Path, dialect: str) -> None:
        for label, array in self.weights.items():
            path = folder / f"{label}.dat"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(dat(array, dialect))

    def check(self, found: list[np.ndarray], exact_ranks: bool) -> None:
        assert len(found) == len(self.expected)
        for name, one, other in zip(self.results, found, self.expected):
            if exact_ranks:
                assert one.shape == other.shape, name
            else:  # trailing extents of 1 are irrelevant (P 2.5)
                assert np.squeeze(one).shape == np.squeeze(other).shape, name
            np.testing.assert_allclose(one.astype(float).ravel(), other.astype(float).ravel(), 2e-5, 2e-5, err_msg=name)

    def run(self, tool: Nnefc, path: Path, backend: str = "fast") -> None:
        """Runs by the order of the inputs, since the other dialect may have to rename them."""
        text = (path / "graph.nnef").read_text() if path.is_dir() else ""
        head = re.search(r"graph \w+\( *(.*?) *\)", text)
        names = head[1].split(", ") if head else list(self.inputs)
        np.savez(tool.scratch / "inputs.npz", **dict(zip(names, self.inputs.values())))
        found = tool.run(path, "--inputs", tool.scratch / "inputs.npz", "--backend", backend)
        self.check(list(found.values()), self.made["dialect"] == "R" and path == self.folder)


def compiled(tool: Nnefc, model: Model, *shapes: str) -> Path:
    tool.must("compile", model.folder, *shapes, "-o", tool.scratch / "net.xml")
    return tool.scratch / "net.xml"


def in_openvino(model: Model, path: Path) -> None:
    net = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = net.create_infer_request()
    request.infer({port: model.inputs[name] for port in net.inputs for name in port.names if name in model.inputs})
    model.check([request.get_output_tensor(index).data for index in range(len(net.outputs))], False)


@pytest.mark.parametrize("made", MODELS, ids=[made["name"] for made in MODELS])
def test_model(nnefc: Path, tmp_path: Path, made: dict) -> None:
    tool, model = Nnefc(nnefc, tmp_path), Model(made, tmp_path)
    forms = made.get("forms", ALL)
    for backend in ("reference", "fast"):
        model.run(tool, model.folder, backend)
    model.run(tool.without_transformations(), model.folder)
    for form in ("expand", "lower"):
        if form in forms:
            flat = tmp_path / form
            shutil.copytree(model.folder, flat)
            model.write_weights(flat, "R")
            lower = ("--lower", "all") if form == "lower" else ()
            tool.must("expand", model.folder, *model.shapes, *lower, "--force", "-o", flat / "graph.nnef")
            model.run(tool, flat)
    if "upgrade" in forms and made["dialect"] == "P":
        tool.must("upgrade", model.folder, *model.shapes, "-o", tmp_path / "upgraded")
        model.run(tool, tmp_path / "upgraded")
    if "open" in forms:
        model.run(tool, compiled(tool, model))
    if "compile" in forms:
        model.run(tool, compiled(tool, model, *model.shapes), "reference")
    if "openvino" in forms:
        in_openvino(model, tmp_path / "net.xml")
