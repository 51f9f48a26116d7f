"""Functions of the Model Optimizer's module of graphs, which equal methods of nodes and graphs."""

from __future__ import annotations

from typing import Any


def add_opoutput(graph: Any, node_name: str, port: int, cut: bool = True, **unused: Any) -> str:
    """Makes an output a result of the model; with `cut`, its consumers are disconnected. Returns the id of the result."""
    from nnefc.mo.op import Result

    node = graph._node(node_name)
    if cut:
        node.out_port(port).disconnect()
    return str(Result(graph, {"name": node.soft_get("name", node.id)}).create_node([(node, port)]).id)


def create_edge(
    src_node: Any, dst_node: Any, out_port: int = 0, in_port: int = 0, edge_attrs: dict[str, Any] | None = None
) -> None:
    """Connects an output and an input."""
    src_node.graph.create_edge(src_node, dst_node, out_port, in_port)


def erase_node(node: Any) -> None:
    """Removes a node with one input and one output; its consumers read its source."""
    node.graph.erase_node(node)


def replace_node(old_node: Any, new_node: Any, new_node_out_port: int | None = None) -> None:
    """Connects the consumers of a node to another one and removes the former."""
    old_node.replace_node(new_node, new_node_out_port)


def get_node_id_by_name(graph: Any, name: str) -> str:
    """Returns the id of the only node with a name."""
    return str(graph.get_node_id_by_name(name))


def get_sorted_inputs(node: Any, control_flow: bool = False) -> list[tuple[str, Any]]:
    """Returns the ids of producers with the attributes of the edges, in the order of ports."""
    return list(node.get_sorted_inputs())


def get_sorted_outputs(node: Any, control_flow: bool = False) -> list[tuple[str, Any]]:
    """Returns the ids of consumers with the attributes of the edges, in the order of ports."""
    return list(node.get_sorted_outputs())


def dict_includes(big: dict[str, Any], sub_dict: dict[str, Any], skip_attr_names: Any = ()) -> bool:
    """Returns whether a dictionary has the items of another one."""
    return all(key in skip_attr_names or big.get(key) == value for key, value in sub_dict.items())


def merge_edge_props(attrs: dict[str, Any], additional_attrs: dict[str, Any]) -> dict[str, Any]:
    """Returns the union of the attributes of two edges."""
    return {**additional_attrs, **attrs}
