"""Search for sub-graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from nnefc.mo.replacer import find_matches


def find_pattern_matches(
    graph: Any, nodes: list[Any], edges: list[Any], node_attrs: Any = None, edge_attrs: Any = None
) -> Iterator[dict[str, Any]]:
    """Returns the sub-graphs isomorphic to a pattern, as ids by aliases."""
    for match in find_matches(graph, {"nodes": nodes, "edges": edges}):
        yield {node.id: alias for alias, node in match.items()}


def apply_pattern(
    graph: Any, nodes: list[Any], edges: list[Any], action: Callable[[Any, dict[str, Any]], None] | None = None,
    node_attrs: Any = None, edge_attrs: Any = None,
) -> None:  # fmt: skip
    """Calls a function for each sub-graph isomorphic to a pattern whose nodes still exist."""
    for match in find_matches(graph, {"nodes": nodes, "edges": edges}):
        if action is not None and all(graph._native.exists(item._number) for item in match.values()):
            action(graph, match)


def inverse_dict(mapping: dict[Any, Any]) -> dict[Any, Any]:
    """Returns keys by values."""
    return {value: key for key, value in mapping.items()}


def for_graph_and_each_sub_graph_recursively(graph: Any, func: Callable[[Any], None]) -> None:
    """Calls a function for the graph; nnefc runs a transformation on each body separately."""
    func(graph)


def for_each_sub_graph_recursively(graph: Any, func: Callable[[Any], None]) -> None:
    """Has no effect: nnefc runs a transformation on each body separately."""


for_each_sub_graph = for_each_sub_graph_recursively


def check_value(v: Any, check: Callable[[Any], bool]) -> bool:
    """Returns whether a value is known and satisfies a condition."""
    return v is not None and bool(check(v))


def check_node_usages_out_of_match(match: dict[str, Any], node_name_in_match_group: str) -> bool:
    """Returns whether all consumers of a matched node are matched."""
    node = match[node_name_in_match_group]
    consumers = [port.node for output in node.out_ports().values() for port in output.get_destinations()]
    return all(consumer in match.values() for consumer in consumers)
