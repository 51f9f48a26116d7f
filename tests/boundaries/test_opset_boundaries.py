"""Boundary cases of OpenVINO's operations: OpenVINO is the oracle of what is valid, of shapes and of numbers. What nnefc computes is
the same in every way (nnefc_ways.py)."""

from __future__ import annotations

import collections
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("openvino")

import nnefc_ways  # noqa: E402
import opset_boundaries  # noqa: E402
from exceptions import COMPUTED_OTHERWISE, LAXER, STRICTER, normalized, tolerance_of_ways  # noqa: E402
from ir_builder import Graph  # noqa: E402
from nnefc_ways import Refused, difference, load, run, ways  # noqa: E402
from opset_boundaries import Node, bases, boundary_cases, combined_cases  # noqa: E402
from openvino_worker import Answer, Worker  # noqa: E402
from rows import Row, opset_rows  # noqa: E402

# Rows without boundary cases: what every model has, states, and control flow, which has bodies in place of attributes.
ELSEWHERE = {"opset1.Parameter", "opset1.Const", "opset1.Result", "opset3.ReadValue", "opset3.Assign", "opset6.ReadValue",
             "opset6.Assign", "opset8.If", "opset1.TensorIterator", "opset5.Loop"}
# Combinations of three in operations with windows, of two in the others.
MAX_VALUES, MAX_COMBINATIONS = 4, 24
# Of a row with more nodes the default run draws these, by a seed.
MAX_DRAWN, MAX_DRAWN_COMBINATIONS, MAX_DRAWN_REFUSALS = 60, 12, 4
SEED = os.environ.get("NNEFC_BOUNDARY_SEED", "1")
TOLERANCE = 1e-4
# The numbers of these are random.
RANDOM = {"opset8.RandomUniform", "opset13.Multinomial"}


class Verdicts:
    """The nodes that both accept; `problems` has the others about which nnefc and OpenVINO disagree."""

    def __init__(self, folder: Path, worker: Worker) -> None:
        self.folder, self.worker = folder, worker
        self.problems: dict[str, list[str]] = collections.defaultdict(list)
        self.rejected = 0

    def report(self, node: Node, problem: str) -> None:
        self.problems[node.row].append(f"{problem}\n    {node.describe()[:500]}")

    def accepted(self, nodes: list[Node]) -> list[Node]:
        """Checks each node with both; those whose run nnefc refuses have the `refusal`."""
        chosen = []
        for node in nodes:
            graph = node.graph()
            answer = self.worker.answer((graph.net().encode(), graph.blobs.bytes, None))
            model, refused = None, None
            try:
                model = load(graph.save(self.folder / "node.xml"))
            except Refused as error:
                refused = error
                self.rejected += 1
            if problem := compare_verdicts(node, refused, answer):
                self.report(node, problem)
            elif model is not None and answer is not None and answer[0] == "read":
                chosen.append(node)
                try:
                    run(model, node.data(), "reference")
                except Refused as error:
                    node.refusal = str(error)
        return chosen


def allowed(table: list[tuple[str, str, str]], row: str, message: str) -> bool:
    return any(re.search(part, row) and text in message for part, text, _ in table)


def compare_verdicts(node: Node, refused: Refused | None, answer: Answer) -> str | None:
    if refused is not None and not refused.rules:
        return f"refused without a rule: {refused}"
    if answer is None:  # OpenVINO's process ended: no verdict
        return None
    kind, detail = answer
    if kind == "refused":
        return None if refused is not None or allowed(LAXER, node.row, detail) else f"OpenVINO refuses: {detail.splitlines()[-1]}"
    if refused is not None:
        return None if allowed(STRICTER, node.row, str(refused)) else f"nnefc refuses: {refused}"
    return None


def merged(nodes: list[Node]) -> tuple[Graph, dict[str, np.ndarray], list[str]]:
    """One model of several nodes, its data and the names of its results."""
    graph, data, names = Graph(), {}, []
    for index, node in enumerate(nodes):
        prefix = f"n{index}_"
        node.add_to(graph, prefix)
        data |= node.data(prefix)
        names += [f"{prefix}out{i}" for i in range(len(node.outputs))]
    return graph, data, names


def result_of(index: int, results: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: array for name, array in results.items() if name.startswith(f"n{index}_")}


@pytest.fixture(scope="session")
def disabled(nnefc: Path) -> tuple[str, ...]:
    return nnefc_ways.transformations(nnefc)


def has_exception(table: list, node: Node) -> bool:
    return any(re.search(row, node.row) and test(node) for row, test, _ in table)


class Runs:
    """Runs models of several nodes; where one fails, the halves of its nodes."""

    def __init__(self, verdicts: Verdicts, disabled: tuple[str, ...]) -> None:
        self.verdicts, self.disabled, self.compared = verdicts, disabled, 0

    def run(self, nodes: list[Node]) -> None:
        """Compares OpenVINO's results and those of all ways; those of nodes with an exception only in all ways."""
        groups: dict[bool, list[Node]] = {True: [], False: []}
        refused = []
        for node in nodes:
            with_openvino = node.row not in RANDOM and not has_exception(COMPUTED_OTHERWISE, node)
            if not node.refusal:
                groups[with_openvino].append(node)
            elif allowed(STRICTER, node.row, node.refusal):
                refused.append(node)
            else:
                self.run_group([node], with_openvino)
        for node in drawn(refused, MAX_DRAWN_REFUSALS):
            self.run_group([node], False)
        for with_openvino, chosen in groups.items():
            for group in chunks(chosen):
                self.run_group(group, with_openvino)

    def run_group(self, nodes: list[Node], with_openvino: bool) -> None:
        graph, data, names = merged(nodes)
        answer = self.verdicts.worker.answer((graph.net().encode(), graph.blobs.bytes, data)) if with_openvino else None
        theirs = None
        if answer is not None and answer[0] == "computed":
            results = dict(zip(names, answer[1], strict=True))
            theirs = {}
            for index, node in enumerate(nodes):
                theirs |= normalized(node, result_of(index, results))
        if (with_openvino and theirs is None and len(nodes) > 1) or not self.is_compared(nodes, graph, data, theirs):
            middle = len(nodes) // 2
            self.run_group(nodes[:middle], with_openvino)
            self.run_group(nodes[middle:], with_openvino)

    def is_compared(self, nodes: list[Node], graph: Graph, data: dict[str, np.ndarray], theirs: dict[str, np.ndarray] | None) -> bool:
        """Compares the results of the nodes; false where fewer of them are to run, as where OpenVINO's results of a large model
        differ."""
        single = len(nodes) == 1
        found = ways(load(graph.save(self.verdicts.folder / "node.xml")), data, self.verdicts.folder, self.disabled)
        refused = {way: results for way, results in found.items() if isinstance(results, Refused)}
        if refused:
            if single:
                self.compared += 1
                self.check_refusals(nodes[0], found, refused, theirs is not None)
            return single
        reference = next(iter(found.values()))
        if theirs is not None and not single and difference(reference, theirs, TOLERANCE):
            return False
        self.compared += len(nodes)
        for index, node in enumerate(nodes):
            ours = result_of(index, reference)
            if node.row not in RANDOM:
                for way, results in found.items():
                    if what := difference(result_of(index, results), ours, tolerance_of_ways(node)):
                        self.verdicts.report(node, f"{way}: {what}")
            if theirs is not None and (what := difference(ours, result_of(index, theirs), TOLERANCE)):
                self.verdicts.report(node, f"OpenVINO computes otherwise: {what}")
        return True

    def check_refusals(self, node: Node, found: dict, refused: dict[str, Refused], computed: bool) -> None:
        if len(refused) < len(found):
            way, error = next(iter(refused.items()))
            self.verdicts.report(node, f"{way} alone: {error}")
        message = str(next(iter(refused.values())))
        if computed and not allowed(STRICTER, node.row, message):
            self.verdicts.report(node, f"nnefc's run refuses: {message}")


def chunks(nodes: list[Node], size: int = 40) -> list[list[Node]]:
    return [nodes[first:first + size] for first in range(0, len(nodes), size)]


def drawn(nodes: list[Node], count: int) -> list[Node]:
    """All nodes, or a sample of them in their order, which differs from row to row."""
    if SEED == "all" or len(nodes) <= count:
        return nodes
    places = random.Random(f"{SEED} {nodes[0].row}").sample(range(len(nodes)), count)
    return [nodes[place] for place in sorted(places)]


def strength(row: Row) -> int:
    return 3 if {"pads_begin", "strides"} <= {attribute.name for attribute in row.attributes} else 2


def test_boundaries(tmp_path: Path, disabled: tuple[str, ...], worker: Worker) -> None:
    wanted = os.environ.get("NNEFC_BOUNDARY_ROWS")
    rows = {name: row for name, row in opset_rows().items() if name not in ELSEWHERE and (not wanted or re.search(wanted, name))}
    verdicts, starts = Verdicts(tmp_path, worker), {name: bases(name, tmp_path) for name in rows}
    singles = []
    for name, row in rows.items():
        cases = [node for index, base in enumerate(starts[name]) for node in boundary_cases(row, base, starts[name][0] if index else None)]
        singles += [*starts[name], *drawn(cases, MAX_DRAWN)]
    accepted: dict[str, list[Node]] = collections.defaultdict(list)
    for node in verdicts.accepted(singles):
        accepted[node.row].append(node)
    combined = []
    for name, row in rows.items():
        values = [node for node in accepted[name] if node.base == 0]
        cases = combined_cases(starts[name][0], values, MAX_VALUES, MAX_COMBINATIONS, strength(row)) if values else []
        combined += drawn(cases, MAX_DRAWN_COMBINATIONS)
    number = len(singles) + len(combined)
    for node in verdicts.accepted(combined):
        accepted[node.row].append(node)
    runs = Runs(verdicts, disabled)
    for nodes in accepted.values():
        runs.run(nodes)
    print(f"{number} nodes of {len(rows)} operations, {verdicts.rejected} rejected, {runs.compared} computed")
    problems = verdicts.problems
    assert not problems, "\n" + "\n".join(line for lines in problems.values() for line in lines[:3])


def test_every_attribute_has_cases(tmp_path: Path) -> None:
    """Each attribute of each row is changed by a case, written and omitted."""
    for name, row in opset_rows().items():
        if name in ELSEWHERE:
            continue
        first, *others = bases(name, tmp_path)
        cases = boundary_cases(row, first)
        for attribute in row.attributes:
            texts = {node.attributes.get(attribute.name) for node in [first, *cases]}
            assert None in texts and len(texts) > 1, f"{name}: `{attribute.name}` has the texts {texts}"
        for other in others:
            cases += boundary_cases(row, other, first)
        assert len(cases) >= 10 or not row.attributes, name


def test_rows_without_cases_exist() -> None:
    assert ELSEWHERE <= set(opset_rows())
    assert set(opset_boundaries.cells()) <= set(opset_rows())
