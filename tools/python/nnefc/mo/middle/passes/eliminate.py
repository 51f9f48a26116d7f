"""Removal of nodes."""

from __future__ import annotations

from typing import Any


def graph_clean_up(graph: Any, undead_node_types: Any = None) -> None:
    """Removes nodes without influence on results."""
    graph.clean_up()


graph_clean_up_tf = graph_clean_up
graph_clean_up_onnx = graph_clean_up


def get_nodes_with_attributes(graph: Any, **attributes: Any) -> list[str]:
    """Returns the ids of nodes with these values of attributes."""
    return list(graph.get_nodes_with_attributes(**attributes))


def remove_op_node_with_data_node(graph: Any, node_to_remove: Any, input_data_node: Any = None) -> None:
    """Removes a node; its consumers read its input 0."""
    graph.erase_node(node_to_remove)


def remove_op_nodes(graph: Any, attrs: dict[str, Any]) -> None:
    """Removes the nodes with these values of attributes; consumers read their input 0."""
    for node in graph.get_op_nodes(**attrs):
        graph.erase_node(node)


def merge_data_nodes(graph: Any, survived: Any, removed: Any) -> None:
    """Connects the consumers of a data node to another one."""
    removed._port().get_connection().set_source(survived._port())
