"""Decision trees that tract writes of ONNX's TreeEnsembleClassifier (`tract_onnx_ml_tree_ensemble_classifier`): against tract and
ONNX Runtime, with every comparison, every way to join votes, and features that are no numbers."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import tract
from onnx import TensorProto, helper

from models import Nnefc

F32 = np.float32
COMPARISONS = ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ"]
VALUES = [-1.0, -0.5, 0.0, 0.5, 1.0]  # of features and thresholds: equal ones are frequent


class Forest:
    """Random trees of ONNX's attributes, of up to `depth` comparisons in a row."""

    def __init__(self, seed: int, comparisons: list[str], trees: int, depth: int, classes: int = 3, features: int = 4) -> None:
        self.random, self.comparisons, self.classes, self.features = np.random.default_rng(seed), comparisons, classes, features
        self.nodes: list[tuple] = []
        self.votes: list[tuple] = []
        for tree in range(trees):
            self.count = 0
            self.grow(tree, depth)

    def grow(self, tree: int, depth: int) -> int:
        node, self.count = self.count, self.count + 1
        if depth == 0 or (node > 0 and self.random.random() < 0.2):
            self.nodes.append((tree, node, 0, 0.0, "LEAF", 0, 0, 0))
            for category in self.random.permutation(self.classes)[:self.random.integers(1, self.classes + 1)]:
                self.votes.append((tree, node, int(category), float(self.random.integers(-8, 9)) / 4))
            return node
        place = len(self.nodes)
        self.nodes.append(())
        when_true = self.grow(tree, depth - 1)
        when_false = self.grow(tree, depth - 1)
        self.nodes[place] = (tree, node, int(self.random.integers(self.features)), float(self.random.choice(VALUES)),
                             f"BRANCH_{self.random.choice(self.comparisons)}", when_true, when_false, int(self.random.integers(2)))
        return node

    def model(self, batch: int | str = "N", transform: str = "NONE") -> onnx.ModelProto:
        names = ["treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true"]
        # tract expects the nodes of a tree in the order of their numbers.
        columns = zip(*sorted(self.nodes, key=lambda node: node[:2]), strict=True)
        attributes = {f"nodes_{name}": list(column) for name, column in zip(names, columns, strict=True)}
        votes = zip(*sorted(self.votes, key=lambda vote: vote[:2]), strict=True)
        attributes |= {f"class_{name}": list(column) for name, column in zip(("treeids", "nodeids", "ids", "weights"), votes, strict=True)}
        node = helper.make_node("TreeEnsembleClassifier", ["x"], ["label", "scores"], name="trees:0", domain="ai.onnx.ml", post_transform=transform,
                                classlabels_int64s=[10 * i for i in range(self.classes)], **attributes)
        graph = helper.make_graph([node], "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, self.features])],
                                  [helper.make_tensor_value_info("label", TensorProto.INT64, [batch]),
                                   helper.make_tensor_value_info("scores", TensorProto.FLOAT, [batch, self.classes])])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)], ir_version=8)

    def data(self, rows: int, with_nan: bool = False) -> np.ndarray:
        return self.random.choice([*VALUES, 0.25, np.nan] if with_nan else [*VALUES, 0.25], (rows, self.features)).astype(F32)


def write(model: onnx.ModelProto, folder: Path) -> Path:
    onnx.save(model, folder / "model.onnx")
    tract.nnef().with_onnx().write_model_to_dir(tract.onnx().load(str(folder / "model.onnx")).into_model(), str(folder / "model"))
    return folder / "model"


def run(tool: Nnefc, model: Path, x: np.ndarray, backend: str = "reference") -> dict[str, np.ndarray]:
    np.savez(tool.scratch / "in.npz", x=x)
    return tool.run(model, "--inputs", tool.scratch / "in.npz", "--backend", backend)


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC"])
@pytest.mark.parametrize("comparisons", [[name] for name in COMPARISONS] + [COMPARISONS], ids=lambda names: "_".join(names))
def test_trees(comparisons: list[str], transform: str, nnefc: Path, tmp_path: Path) -> None:
    """tract 0.23.9 takes a `>=` for a leaf, ONNX Runtime does not."""
    forest = Forest(3, comparisons, trees=5, depth=4)
    model = forest.model(transform=transform)
    folder, x = write(model, tmp_path), forest.data(40)
    label, scores = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    for backend in ("reference", "fast"):
        for rows in (40, 1, 7):  # one document for all sizes
            found = run(Nnefc(nnefc, tmp_path), folder, x[:rows], backend)
            np.testing.assert_allclose(found["scores"], scores[:rows], rtol=1e-5, atol=1e-6)
            np.testing.assert_array_equal(found["label"], label[:rows])


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MAX", "MIN"])
def test_joined_votes(aggregate: str, nnefc: Path, tmp_path: Path) -> None:
    """With features that are no numbers."""
    forest = Forest(5, [name for name in COMPARISONS if name != "GTE"], trees=4, depth=3)
    folder, x = write(forest.model(batch=60), tmp_path), forest.data(60, with_nan=True)
    document = folder / "graph.nnef"
    document.write_text(document.read_text().replace('aggregate_fn = "SUM"', f'aggregate_fn = "{aggregate}"'))
    expected = tract.nnef().with_onnx().load(str(folder)).into_runnable().run([x])[1].to_numpy()
    for backend in ("reference", "fast"):
        np.testing.assert_allclose(run(Nnefc(nnefc, tmp_path), folder, x, backend)["scores"], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("trees, depth", [(1, 0), (3, 0), (1, 1), (1, 7)])
def test_sizes(trees: int, depth: int, nnefc: Path, tmp_path: Path) -> None:
    """Leaves alone, one comparison, and many in a row."""
    forest = Forest(7, ["LEQ"], trees, depth)
    folder, x = write(forest.model(batch=9), tmp_path), forest.data(9)
    expected = tract.nnef().with_onnx().load(str(folder)).into_runnable().run([x])[1].to_numpy()
    np.testing.assert_allclose(run(Nnefc(nnefc, tmp_path), folder, x)["scores"], expected, rtol=1e-5, atol=1e-6)


def test_openvino_computes_the_same(nnefc: Path, tmp_path: Path) -> None:
    import openvino

    forest = Forest(9, ["LEQ", "GT"], trees=6, depth=3)
    model = forest.model()
    folder, x = write(model, tmp_path), forest.data(11)
    Nnefc(nnefc, tmp_path).must("compile", folder, "-o", tmp_path / "net.xml")
    compiled = openvino.Core().compile_model(str(tmp_path / "net.xml"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    expected = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(["scores"], {"x": x})[0]
    np.testing.assert_allclose(compiled({"x": x})["scores"], expected, rtol=1e-5, atol=1e-6)


# ---- data without a meaning ----

def bits(value: float) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]


NODES = [[0, 1, 2, bits(0.5), 5], [0, 1, 0, 0, 0], [1, 2, 0, 0, 0]]
LEAVES = [[0, bits(1.5)], [1, bits(2.5)]]


def literal_trees(folder: Path, nodes: list[list[int]] = NODES, leaves: list[list[int]] = LEAVES, shape: str = "[2, 1]", used: int = 0,
                  classes: int = 2, roots: str = "[0]", aggregate: str = "SUM") -> Path:
    """A document with the trees as literals."""
    path = folder / "net.nnef"
    path.write_text("version 1.0;\nextension tract_registry tract_core;\nextension tract_registry tract_onnx;\n\ngraph net( x ) -> ( y )\n{\n"
                    f"    x = tract_core_external(shape = {shape}, datum_type = 'f32');\n    y = tract_onnx_ml_tree_ensemble_classifier(x, {roots}, {nodes}, {leaves}, "
                    f"max_used_feature = {used}, n_classes = {classes}, aggregate_fn = '{aggregate}');\n}}\n")
    return path


def test_row_of_features(nnefc: Path, tmp_path: Path) -> None:
    """One axis, and rows of several."""
    tool = Nnefc(nnefc, tmp_path)
    found = run(tool, literal_trees(tmp_path), np.array([[0.5], [0.75]], F32))["y"]
    np.testing.assert_array_equal(found, [[1.5, 0], [0, 2.5]])
    found = run(tool, literal_trees(tmp_path, shape="[1]"), np.array([0.75], F32))["y"]
    np.testing.assert_array_equal(found, [0, 2.5])


@pytest.mark.parametrize("change, message", [
    ({"shape": "[2, 3, 1]"}, "has shape [2,3,1]; expected one or two axes"),
    ({"used": 1}, "the last of at least 2 features"),
    ({"classes": 0}, "`n_classes` of `tract_onnx_trees` is 0"),
    ({"aggregate": "MEDIAN"}, "expected 'SUM', 'AVERAGE', 'MAX' or 'MIN'"),
    ({"classes": 1}, "names the class 1 of 1"),
    ({"nodes": [[0, 1, 3, 0, 5], *NODES[1:]]}, "leads to the nodes 1 and 3 of 3"),
    ({"nodes": [[1, 1, 2, 0, 5], *NODES[1:]]}, "compares feature 1"),
    ({"nodes": [[0, 1, 0, 0, 5], *NODES[1:]]}, "lead back to themselves"),
    ({"nodes": [[0, 1, 2, 0, 7], *NODES[1:]]}, "has the comparison 7"),
    ({"nodes": [NODES[0], [0, 3, 0, 0, 0], NODES[2]]}, "a leaf has the rows 0 to 3 of 2"),
    ({"roots": "[3]"}, "a tree begins at node 3 of 3"),
])
def test_wrong_trees(change: dict, message: str, nnefc: Path, tmp_path: Path) -> None:
    done = Nnefc(nnefc, tmp_path).call("compile", literal_trees(tmp_path, **change))
    assert done.returncode == 1
    assert message in done.stderr and "[tract_trees.data]" in done.stderr


def test_trees_of_a_run(nnefc: Path, tmp_path: Path) -> None:
    path = literal_trees(tmp_path, roots="tract_core_cast(x, to = 'i64')")
    done = Nnefc(nnefc, tmp_path).call("compile", path)
    assert done.returncode == 1
    assert "`trees` of `tract_onnx_ml_tree_ensemble_classifier` is not known during compilation [tract_trees.data]" in done.stderr
