"""Each transformation on its own example, in which another node or a result reads one tensor on the way, too: results stay the
same, and what is fused is what nobody else reads, so that no more is computed than before."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

NODE = re.compile(r'  %(\d+)(?::\d+)? = (\w+\.\w+) "([^"]*)"')
SINKS = ("opset6.Assign",)
SOURCES = ("opset1.Parameter", "opset1.Const", "nnef.external", "nnef.constant", "nnef.variable")

# What may be read elsewhere, too: it is computed for that reader, as before.
SHARED: dict[str, tuple[str, ...]] = {
    "front.MishFusion": ("s", "t"),
    "middle.FoldConstants": ("s",),
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


def transformations(nnefc: Nnefc) -> list[str]:
    lines = nnefc.must("transform", "--list-transformations").splitlines()
    names = [line.split()[0].removeprefix("nnefc::transform::") for line in lines if "::" in line]
    return [name.replace("::", ".") for name in names if not name.endswith(("CheckForCycle", "RemoveUnneeded"))]


def example(nnefc: Nnefc, name: str) -> tuple[str, str]:
    """The graphs before and after."""
    page = nnefc.must("explain", name)
    before, after = page.split("\nBefore:\n", 1)[1].split("\nAfter:\n", 1)
    return tuple(re.sub(r"^    ", "", part.strip("\n") + "\n", flags=re.MULTILINE) for part in (before, after))


def outer_nodes(graph: str) -> list[tuple[str, str, str]]:
    """Number, operation and name of each node that is in no body."""
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
    """Those of a graph that is transformed by this alone, and of which nobody needs nothing."""
    return f"{name},middle.RemoveUnneeded"


def test_results_stay_and_no_more_is_computed(nnefc: Path, tmp_path: Path) -> None:
    tool = Nnefc(nnefc, tmp_path)
    plain = tool.without_transformations()
    seen = set()
    for name in transformations(tool):
        before, after = example(tool, name)
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
                if operation not in SOURCES and node not in kept and node not in SHARED.get(name, ()):
                    assert not acts, where
                if not acts:
                    continue
                data = ("--random-inputs", 1, "--backend", "reference")
                expected, outputs = plain.run(given, *data), plain.run(made, *data)
                assert outputs.keys() == expected.keys(), where
                for result, value in expected.items():
                    np.testing.assert_allclose(outputs[result], value, rtol=1e-4, atol=1e-5, err_msg=str(where))
    # No line for what there is no more.
    assert {f"{name} {node}" for name, nodes in SHARED.items() for node in nodes} <= seen
