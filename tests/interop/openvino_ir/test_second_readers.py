"""Each transformation on its own example, where another node or a result also reads an intermediate tensor: results are
the same, and only values without further readers are fused, so that no more is computed than before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

NODE = re.compile(r'  %(\d+)(?::\d+)? = (\w+\.\w+) "([^"]*)"')
SINKS = ("opset6.Assign",)
SOURCES = ("opset1.Parameter", "opset1.Const", "nnef.external", "nnef.constant", "nnef.variable")

# Values that may have further readers: they are computed for them, as before.
SHARED: dict[str, tuple[str, ...]] = {
    "middle.AttentionFusion": ("scaled q",),
    "front.MishFusion": ("s", "t"),
    "middle.FoldConstants": ("s",),
    "middle.FoldNewConstants": ("u",),
    "middle.TakeSelected": ("h", "s"),
    "middle.RecurrentLoopForm": ("xw",),
    "middle.TensorIteratorToSequence": ("loop",),
    "middle.GeluFusion": ("d",),
    "middle.FuseTransposesSequence": ("t",),
    "middle.FuseTransposeIntoMatMul": ("t",),
    "middle.FuseReshapesSequence": ("v",),
    "middle.RemoveIdentity": ("c",),
    "middle.MergeEqualNodes": ("b",),
    "middle.MVNFusion": ("mean", "q"),
    "middle.FusePadIntoMaxPool": ("pad",),
    "middle.FusePadIntoConvolution": ("pad",),
    "middle.FusePadIntoAvgPool": ("pad",),
}

Q = """%0 = opset1.Parameter "q" {element_type = f32, shape = [1,2,3,4]} : f32[1,2,3,4]
  %1 = opset1.Parameter "k" {element_type = f32, shape = [1,2,5,4]} : f32[1,2,5,4]
  %2 = opset1.Parameter "v" {element_type = f32, shape = [1,2,5,6]} : f32[1,2,5,6]
  %3 = opset1.Parameter "m" {element_type = f32, shape = [1,1,3,5]} : f32[1,1,3,5]
  %4 = opset1.Const "half" : f32[] = dense<f32[]: 0.5>
  %5 = opset1.Const "order" : i64[4] = dense<i64[4]: 0, 1, 3, 2>
"""
WINDOW = "{strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]}"
PLAIN = "{strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]}"
# Nodes that are replaced under their names.
REPLACED = ("convolved", "biased", "product")
# Further forms that are fused, which the examples lack.
FORMS = [
    ("middle.AttentionFusion", Q + """  %6 = opset1.Multiply "scaled q" (%0, %4) : f32[...]
  %7 = opset1.MatMul "scores" (%6, %1) {transpose_b = true} : f32[...]
  %8 = opset1.Multiply "scaled" (%7, %4) : f32[...]
  %9 = opset1.Add "masked" (%8, %3) : f32[...]
  %10 = opset8.SoftMax "weights" (%9) {axis = 3} : f32[...]
  %11 = opset1.MatMul "out" (%10, %2) : f32[...]
  opset1.Result "y" (%11)
"""),
    ("middle.AttentionFusion", Q + """  %6 = opset1.Multiply "scaled k" (%4, %1) : f32[...]
  %7 = opset1.Transpose "turned k" (%6, %5) : f32[...]
  %8 = opset1.MatMul "scores" (%0, %7) {transpose_b = false} : f32[...]
  %9 = opset8.SoftMax "weights" (%8) {axis = -1} : f32[...]
  %10 = opset1.MatMul "out" (%9, %2) : f32[...]
  opset1.Result "y" (%10)
"""),
    ("middle.FuseConstantSequence", """%0 = opset1.Parameter "x" {element_type = f32, shape = [2,3]} : f32[2,3]
  %1 = opset1.Const "a" : f32[3] = dense<f32[3]: 2.0, 3.0, 4.0>
  %2 = opset1.Multiply "product" (%0, %1) : f32[2,3]
  %3 = opset1.Add "sum" (%2, %1) : f32[2,3]
  %4 = opset1.Multiply "scaled" (%3, %1) : f32[2,3]
  opset1.Result "y" (%4)
"""),
    ("middle.FuseSliceIntoConvolution", f"""%0 = opset1.Parameter "x" {{element_type = f32, shape = [1,2,5,5]}} : f32[1,2,5,5]
  %1 = opset1.Const "w" : f32[1,2,3,3] = dense<f32[1,2,3,3]: {", ".join(f"{i}.0" for i in range(18))}>
  %2 = opset1.Convolution "convolved" (%0, %1) {WINDOW} : f32[...]
  %3 = opset1.Const "b" : f32[1,1,1,1] = dense<f32[1,1,1,1]: 2.0>
  %4 = opset1.Add "biased" (%2, %3) : f32[...]
  %5 = opset1.Const "begin" : i64[1] = dense<i64[1]: 1>
  %6 = opset1.Const "end" : i64[1] = dense<i64[1]: 5>
  %7 = opset1.Const "step" : i64[1] = dense<i64[1]: 1>
  %8 = opset1.Const "axes" : i64[1] = dense<i64[1]: 2>
  %9 = opset8.Slice "sliced" (%4, %5, %6, %7, %8) : f32[...]
  opset1.Result "y" (%9)
"""),
    ("middle.GroupedConvolutionFusion", f"""%0 = opset1.Parameter "x" {{element_type = f32, shape = [1,4,3,3]}} : f32[1,4,3,3]
  %1 = opset1.Const "axis" : i64[] = dense<i64[]: 1>
  %2:2 = opset1.Split "halves" (%0, %1) {{num_splits = 2}} : f32[...], f32[...]
  %3 = opset1.Const "v" : f32[1,2,1,1] = dense<f32[1,2,1,1]: 1.0, 2.0>
  %4 = opset1.Const "i" : f32[1,1,1,1] = dense<f32[1,1,1,1]: 5.0>
  %5 = opset1.Convolution "first" (%2, %3) {PLAIN} : f32[...]
  %6 = opset1.Convolution "second" (%2.1, %3) {PLAIN} : f32[...]
  %7 = opset1.Add "first biased" (%5, %4) : f32[...]
  %8 = opset1.Add "second biased" (%4, %6) : f32[...]
  %9 = opset1.Concat "joined" (%7, %8) {{axis = 1}} : f32[...]
  opset1.Result "y" (%9)
"""),
]


def transformations(nnefc: Nnefc) -> list[str]:
    lines = nnefc.must("transform", "--list-transformations").splitlines()
    names = [line.split()[0].removeprefix("nnefc::transform::") for line in lines if "::" in line]
    without = ("CheckForCycle", "RemoveUnneeded", "StandaloneConstEraser")  # they replace no values
    foreign = ("NoOpEraser", "NormalizeToNormalizeL2", "GatherNormalizer")  # of operations without a row
    return [name.replace("::", ".") for name in names if not name.endswith(without + foreign)]


def example(nnefc: Nnefc, name: str) -> tuple[str, str]:
    """Returns the graphs before and after, as a user sees them."""
    page = nnefc.must("explain", name)
    before, after = page.split("\nBefore:\n", 1)[1].split("\nAfter:\n", 1)
    return tuple(re.sub(r"^    ", "", part.strip("\n") + "\n", flags=re.MULTILINE) for part in (before, after))


def forms(nnefc: Nnefc, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Transformations, each with a graph before it and after."""
    for name in transformations(nnefc):
        yield name, *example(nnefc, name)
    for name, body in FORMS:
        graph = 'graph "net" {\n  ' + body + "}\n"
        (folder / "form.ir").write_text(graph)
        yield name, graph, nnefc.must("transform", folder / "form.ir", "--only", options(name))


def outer_nodes(graph: str) -> list[tuple[str, str, str]]:
    """Returns number, operation and name of each node outside of bodies."""
    return [match.groups() for line in graph.splitlines() if (match := NODE.match(line))]


def with_reader(graph: str, number: str, reads: str) -> str:
    lines = graph.rstrip().splitlines()
    assert lines[-1] == "}"
    free = 1 + max(int(node[0]) for node in outer_nodes(graph))
    if reads == "result":
        return "\n".join(lines[:-1] + [f'  opset1.Result "second" (%{number})', "}", ""])
    return "\n".join(lines[:-1] + [f'  %{free} = opset1.Convert "reader" (%{number}) {{destination_type = f64}} : f64[...]',
                                   f'  opset1.Result "second" (%{free})', "}", ""])


def options(name: str) -> str:
    """Returns the value of `--only`: this transformation and the removal of dead nodes."""
    return f"{name},middle.RemoveUnneeded"


def test_results_stay_and_no_more_is_computed(nnefc: Path, tmp_path: Path) -> None:
    tool = Nnefc(nnefc, tmp_path)
    plain = tool.without_transformations()
    seen = set()
    for name, before, after in forms(tool, tmp_path):
        seen |= {f"{name} {node}" for _, _, node in outer_nodes(before)}
        kept = {node for _, _, node in outer_nodes(after)}
        for number, operation, node in outer_nodes(before):
            if operation in SINKS:
                continue
            for reads in ("result",) if operation in SOURCES else ("result", "node"):
                given, made, cleaned = tmp_path / "given.ir", tmp_path / "made.ir", tmp_path / "cleaned.ir"
                given.write_text(with_reader(before, number, reads))
                for target, only in ((made, options(name)), (cleaned, "middle.RemoveUnneeded")):
                    tool.must("transform", given, "--only", only, "--force", "-o", target)
                acts = made.read_text() != cleaned.read_text()
                where = (name, node, reads)
                if operation not in SOURCES and (node not in kept or node in REPLACED) and node not in SHARED.get(name, ()):
                    assert not acts, where
                if not acts:
                    continue
                data = ("--random-inputs", 1, "--backend", "reference")
                expected, outputs = plain.run(given, *data), plain.run(made, *data)
                assert outputs.keys() == expected.keys(), where
                for result, value in expected.items():
                    np.testing.assert_allclose(outputs[result], value, rtol=1e-4, atol=1e-5, err_msg=str(where))
    # No row for a node that no longer exists.
    assert {f"{name} {node}" for name, nodes in SHARED.items() for node in nodes} <= seen
