"""Permutations of inputs for layouts."""

from typing import Any


class PermuteInputs:
    """Marks inputs whose values depend on a layout. nnefc has one layout, so that nothing is permuted."""

    def set_input_permutation(self, *arguments: Any, **named: Any) -> None:
        """Has no effect."""
