"""Traversal of graphs."""

from __future__ import annotations

import re
from collections import deque
from typing import Any

from nnefc._nnefc import TransformError as Error
from nnefc.mo.graph.graph import Graph, Node

__all__ = [
    "Graph", "Node", "backward_bfs_for_operation", "bfs_search", "is_connected_component", "node_incoming_neighbourhood",
    "node_outcoming_neighbourhood", "nodes_matching_name_pattern", "sub_graph_between_nodes",
]  # fmt: skip


def backward_bfs_for_operation(start_node: Any, op_names: list[str], skip_op_list: list[str] | None = None) -> list[Any]:
    """Returns the nearest producers with one of these operations, in breadth-first order."""
    return _search(start_node, op_names, skip_op_list or [], lambda node: list(_producers(node)))


def _search(start: Any, op_names: list[str], skipped: list[str], following: Any) -> list[Any]:
    found: list[Any] = []
    visited = {start._number}
    left = deque(following(start))
    while left:
        node = left.popleft()
        if node._number in visited:
            continue
        visited.add(node._number)
        if any(node.op == name for name in op_names):
            found.append(node)
        elif not any(node.op == name for name in skipped):
            left.extend(following(node))
    return found


def _producers(node: Any) -> list[Any]:
    return [port.get_source().node for port in node.in_ports().values() if not port.disconnected()]


def _consumers(node: Any) -> list[Any]:
    return [port.node for output in node.out_ports().values() for port in output.get_destinations()]


def bfs_search(graph: Any, start_nodes: list[str] | None = None) -> list[str]:
    """Returns the ids of nodes in breadth-first order from the start nodes, by default those without inputs."""
    starts = [graph._node(name) for name in start_nodes or []]
    if not starts:
        starts = [node for node in map(graph._node, graph.nodes()) if not _producers(node)]
    order: list[Any] = []
    left, visited = deque(starts), set()
    while left:
        node = left.popleft()
        if node._number not in visited:
            visited.add(node._number)
            order.append(node.id)
            left.extend(_consumers(node))
    return order


def nodes_matching_name_pattern(graph: Any, pattern: str) -> list[str]:
    """Returns the ids of nodes whose names start with a match of a regular expression."""
    return [name for name in graph.nodes() if re.match(pattern, str(graph._node(name).soft_get("name", "")))]


def is_connected_component(graph: Any, node_names: list[str]) -> bool:
    """Returns whether nodes are connected, in either direction."""
    wanted = {graph._number(name) for name in node_names}
    left, visited = [next(iter(wanted))] if wanted else [], set()
    while left:
        number = left.pop()
        if number in visited or number not in wanted:
            continue
        visited.add(number)
        node = graph._node(graph._id(number))
        left += [other._number for other in _producers(node) + _consumers(node)]
    return visited == wanted


def node_incoming_neighbourhood(graph: Any, node_name: str, depth: int) -> list[str]:
    """Returns the ids of the producers within a distance, and of the node."""
    return _within(graph, node_name, depth, _producers)


def node_outcoming_neighbourhood(graph: Any, node_name: str, depth: int) -> list[str]:
    """Returns the ids of the consumers within a distance, and of the node."""
    return _within(graph, node_name, depth, _consumers)


def _within(graph: Any, name: str, depth: int, following: Any) -> list[str]:
    level, found = [graph._node(name)], {graph._number(name): name}
    for _ in range(depth):
        level = [other for node in level for other in following(node)]
        found.update({node._number: node.id for node in level})
    return list(found.values())


def sub_graph_between_nodes(
    graph: Any, start_nodes: list[str], end_nodes: list[str], detect_extra_start_node: Any = None, **unused: Any
) -> list[str]:
    """Returns the ids of nodes from the start nodes to the end nodes, with the producers that those need."""
    starts = {graph._number(name) for name in start_nodes}
    ends = {graph._number(name) for name in end_nodes}
    forward: set[int] = set()
    left = list(starts)
    while left:
        number = left.pop()
        if number not in forward:
            forward.add(number)
            left += [] if number in ends else [node._number for node in _consumers(graph._node(graph._id(number)))]
    for number in ends - forward:
        raise Error(f"the end node `{graph._id(number)}` is not reachable from the start nodes")
    found: set[int] = set()
    left = list(forward)
    while left:
        number = left.pop()
        if number in found:
            continue
        found.add(number)
        node = graph._node(graph._id(number))
        if node.op == "Parameter":
            raise Error(f"the sub-graph contains the input `{node.id}`")
        left += [] if number in starts else [other._number for other in _producers(node)]
    return [graph._id(number) for number in sorted(found)]
