"""The base class of middle transformations."""

from nnefc.mo.replacer import MiddleReplacementPattern

__all__ = ["MiddleReplacementPattern"]
