"""Small functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def refer_to_faq_msg(question_num: int) -> str:
    """Returns no text: nnefc's messages are complete."""
    return ""


def match_shapes(pattern: Any, shape: Any) -> bool:
    """Returns whether a shape has the extents of a pattern, where -1 is any extent."""
    if pattern is None or shape is None:
        return True
    return len(pattern) == len(shape) and all(wanted in (-1, extent) for wanted, extent in zip(pattern, shape))


def symm_match_shapes(shape1: Any, shape2: Any) -> bool:
    """Returns whether one shape matches the other."""
    return match_shapes(shape1, shape2) or match_shapes(shape2, shape1)


def check_values_equal(val1: Any, val2: Any) -> bool:
    """Returns whether two values are equal; unequal if one is unknown."""
    return val1 is not None and val2 is not None and bool(np.array_equal(val1, val2))


def array_to_str(node: Any, attr: str) -> str | None:
    """Returns an attribute as a text of numbers separated by commas."""
    return ",".join(map(str, node[attr])) if node.has(attr) else None


def unique_by(xs: list[Any], predicate: Callable[[Any, Any], bool]) -> list[Any]:
    """Returns the first item of each group of equivalent neighbours."""
    return [group[0] for group in group_by_with_binary_predicate(xs, predicate)]


def group_by_with_binary_predicate(xs: list[Any], predicate: Callable[[Any, Any], bool]) -> list[list[Any]]:
    """Returns groups of equivalent neighbours."""
    groups: list[list[Any]] = []
    for item in xs:
        if groups and predicate(groups[-1][-1], item):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups
