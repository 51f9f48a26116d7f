"""The kind of the middle phase."""

from nnefc.mo.replacer import MiddleReplacementPattern

__all__ = ["MiddleReplacementPattern"]
