"""The base class of back transformations."""

from nnefc.mo.replacer import BackReplacementPattern

__all__ = ["BackReplacementPattern"]
