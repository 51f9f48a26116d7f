"""Nodes that compute extents at run time."""

from __future__ import annotations

from typing import Any

from nnefc.mo.op import Const, Op, create_op_with_const_inputs, int64_array


def _made(graph: Any, operation: str, constants: dict[int, Any], source: Any, **attrs: Any) -> Any:
    node = create_op_with_const_inputs(graph, lambda graph, more: Op(graph, {"op": operation}, more), constants, attrs)
    node.in_port(0).connect(source)
    return node


def node_to_get_shape_value_of_indices(shape_node: Any, indices: list[int]) -> Any:
    """Returns a node with elements of a shape: a list of the extents of these axes."""
    constants = {1: int64_array(indices), 2: int64_array(0)}
    return _made(shape_node.graph, "Gather", constants, shape_node.out_port(0))


def node_to_get_batch_value(shape_node: Any) -> Any:
    """Returns a node with the extent of axis 0."""
    return node_to_get_shape_value_of_indices(shape_node, [0])


def node_to_get_features_dimension_value(shape_node: Any) -> Any:
    """Returns a node with the extent of axis 1."""
    return node_to_get_shape_value_of_indices(shape_node, [1])


def node_to_get_spatial_dimensions_value(shape_node: Any) -> Any:
    """Returns a node with the extents from axis 2 on."""
    return _slice(shape_node, 2, 2**31 - 1)


def _slice(shape_node: Any, begin: int, end: int) -> Any:
    constants = {1: int64_array([begin]), 2: int64_array([end]), 3: int64_array([1])}
    return _made(shape_node.graph, "Slice", constants, shape_node.out_port(0))


def get_canonical_axis_index_node(rank: Any, axis: int) -> Any:
    """Returns a node with an axis as a non-negative index."""
    if axis >= 0:
        return Const(rank.graph, {"value": int64_array([axis])}).create_node()
    return _made(rank.graph, "Add", {1: int64_array([axis])}, rank.out_port(0))


def new_shape_node_from_shape_nodes(input_shape_nodes: list[Any]) -> Any:
    """Returns a node with the concatenation of lists of extents."""
    graph = input_shape_nodes[0].graph
    return Op(graph, {"op": "Concat", "axis": 0}).create_node([node.out_port(0) for node in input_shape_nodes])


def get_shape_and_rank_nodes_by_port(port: Any, return_as_a_scalar: bool = True) -> tuple[Any, Any]:
    """Returns nodes with the shape and the rank of a tensor."""
    output = port._output()
    shape = _made(output.node.graph, "ShapeOf", {}, output)
    rank = _made(output.node.graph, "ShapeOf", {}, shape.out_port(0))
    return shape, _made(output.node.graph, "Squeeze", {1: int64_array([0])}, rank.out_port(0)) if return_as_a_scalar else rank


def get_shape_values_by_range_idxs(
    shape: Any, rank: Any, begin: int, end: int, include_begin: bool = True, include_end: bool = False
) -> Any:
    """Returns a node with the extents of a range of axes; a negative index counts from the end."""
    last = 2**31 - 1 if end == -1 and include_end else end + int(include_end)
    return _slice(shape, begin + int(not include_begin), last)
