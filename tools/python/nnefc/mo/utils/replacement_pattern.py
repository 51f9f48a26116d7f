"""The base class of transformations with patterns."""

from nnefc.mo.replacer import ReplacementPattern

__all__ = ["ReplacementPattern"]
