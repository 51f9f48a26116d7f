"""Operations."""

from __future__ import annotations

from typing import Any

from nnefc.mo.op import Op, int64_array

__all__ = ["Op", "PermuteAttrs"]


class PermuteAttrs:
    """Marks attributes whose values depend on a layout. nnefc has one layout, so that nothing is permuted."""

    @staticmethod
    def create_permute_attrs(node: Any, attrs: Any = None) -> None:
        """Has no effect."""

    def update_attrs(self, attrs: Any) -> None:
        """Has no effect."""

    @staticmethod
    def get_nhwc_to_nchw_permutation(dims_number: int) -> Any:
        """Returns the permutation from channels-last to channels-first."""
        order = [0, dims_number - 1, *range(1, dims_number - 1)] if dims_number > 3 else list(range(dims_number))
        return int64_array(order)

    @staticmethod
    def get_nchw_to_nhwc_permutation(dims_number: int) -> Any:
        """Returns the permutation from channels-first to channels-last."""
        return int64_array([0, *range(2, dims_number), 1] if dims_number > 3 else list(range(dims_number)))
