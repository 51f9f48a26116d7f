"""Axes of a layout."""


def get_batch_dim(layout: str, shape_len: int) -> int:
    """Returns the axis of batches."""
    return 0


def get_features_dim(layout: str, shape_len: int) -> int:
    """Returns the axis of channels."""
    return 1 if layout.startswith("NC") or shape_len < 3 else shape_len - 1


def get_width_dim(layout: str, shape_len: int) -> int:
    """Returns the axis of columns."""
    return shape_len - 1 if layout.startswith("NC") else shape_len - 2


def get_height_dim(layout: str, shape_len: int) -> int:
    """Returns the axis of rows."""
    return get_width_dim(layout, shape_len) - 1


def get_depth_dim(layout: str, shape_len: int) -> int:
    """Returns the axis of planes."""
    return get_width_dim(layout, shape_len) - 2


def get_dim_from_layout(node: object, dim: str) -> "tuple[int, bool]":
    """Returns the axis of a letter of the layout, and that it is known."""
    return {"N": 0, "C": 1, "D": 2, "H": -2, "W": -1}[dim], True
