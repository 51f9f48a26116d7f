"""`select` whose condition has one element becomes If if a branch has enough work: random documents of matrix
multiplications and selects, in nnefc and in OpenVINO for every value of the conditions against NumPy, which computes
all branches."""

from __future__ import annotations

import itertools
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from models import Nnefc

pytest.importorskip("openvino")

from openvino_oracle import assert_close, openvino_outputs  # noqa: E402

F32 = np.float32
CONDITIONS = ["c", "d"]


class Document:
    """A random document of several trees, and the results of its statements."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.x = random.standard_normal((4, 4)).astype(F32)
        self.weights = [random.standard_normal((4, 4)).astype(F32) for _ in range(3)]
        self.steps: list[tuple[str, str, list[str]]] = []
        self.names = ["x"]
        trees = [self.grow(random, 5) for _ in range(2)]
        self.results = sorted({*trees, str(random.choice(self.names))} - {"x"})

    def grow(self, random: np.random.Generator, height: int) -> str:
        """Adds statements of a tree, which rarely reads a tensor with other readers; returns its tensor."""
        if height < 5 and (height == 0 or random.random() < 0.2):
            return str(random.choice(self.names))
        kind = str(random.choice(["product", "relu", "add", "select", "select"]))
        operands = [self.grow(random, height - 1) for _ in range(1 if kind in ("product", "relu") else 2)]
        if kind == "product":
            operands.append(f"w{random.integers(len(self.weights))}")
        if kind == "select":
            operands.insert(0, str(random.choice(CONDITIONS)))
        self.names.append(f"t{len(self.names)}")
        self.steps.append((kind, self.names[-1], operands))
        return self.names[-1]

    def statement(self, kind: str, name: str, operands: list[str]) -> str:
        call = {"product": "tanh(matmul({}, {}))", "relu": "relu({})", "add": "{} + {}", "select": "select({}, {}, {})"}
        return f"{name} = {call[kind].format(*operands)};"

    def text(self) -> str:
        variables = [f"w{i} = external(shape = [4, 4]);" for i in range(len(self.weights))]
        body = "\n    ".join(["c = external<logical>(shape = [1]);", "d = external<logical>(shape = [1, 1]);",
                              "x = external(shape = [4, 4]);", *variables,
                              *(self.statement(*step) for step in self.steps)])
        parameters = ", ".join(["c", "d", "x", *(f"w{i}" for i in range(len(self.weights)))])
        return (f"version 1.0;\nextension KHR_enable_operator_expressions;\n"
                f"graph net( {parameters} ) -> ( {', '.join(self.results)} )\n{{\n    {body}\n}}\n")

    def inputs(self, c: bool, d: bool) -> dict[str, np.ndarray]:
        return {"c": np.array([c]), "d": np.array([[d]]), "x": self.x,
                **{f"w{i}": weight for i, weight in enumerate(self.weights)}}

    def expected(self, c: bool, d: bool) -> list[np.ndarray]:
        values = self.inputs(c, d)
        for kind, name, operands in self.steps:
            a, *others = (values[operand] for operand in operands)
            values[name] = (np.tanh(a @ others[0]) if kind == "product" else
                            np.maximum(a, 0) if kind == "relu" else
                            a + others[0] if kind == "add" else others[0 if a.item() else 1])
        return [values[name] for name in self.results]


COUNT = 40


@pytest.fixture(scope="module")
def kinds() -> dict[str, int]:
    return {"If": 0, "nested": 0, "Select": 0}


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_documents(seed: int, nnefc: Path, tmp_path: Path, kinds: dict[str, int]) -> None:
    document = Document(seed)
    (tmp_path / "net.nnef").write_text(document.text(), encoding="utf-8")
    tool = Nnefc(nnefc, tmp_path)
    tool.must("compile", tmp_path / "net.nnef", "-o", tmp_path / "net.xml")
    layers = ElementTree.parse(tmp_path / "net.xml").getroot()
    kinds["If"] += layers.find(".//layer[@type='If']") is not None
    kinds["nested"] += layers.find(".//layer[@type='If']//layer[@type='If']") is not None
    kinds["Select"] += layers.find(".//layer[@type='Select']") is not None
    for c, d in itertools.product((True, False), repeat=2):
        expected = document.expected(c, d)
        assert_close(openvino_outputs(tmp_path / "net.xml", document.inputs(c, d)), expected)
        np.savez(tmp_path / "inputs.npz", **document.inputs(c, d))
        found = tool.run(tmp_path / "net.nnef", "--inputs", tmp_path / "inputs.npz")
        assert_close([found[name] for name in document.results], expected)


def test_the_documents_had_branches_of_all_kinds(kinds: dict[str, int]) -> None:
    assert kinds["If"] > COUNT // 3 and kinds["nested"] > 3 and kinds["Select"] > 3
