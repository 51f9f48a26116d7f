"""The kind of the back phase."""

from nnefc.mo.replacer import BackReplacementPattern

__all__ = ["BackReplacementPattern"]
