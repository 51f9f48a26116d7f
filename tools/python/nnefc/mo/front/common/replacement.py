"""The base classes of front transformations."""

from nnefc.mo.replacer import FrontReplacementOp, FrontReplacementPattern, FrontReplacementSubgraph

__all__ = ["FrontReplacementOp", "FrontReplacementPattern", "FrontReplacementSubgraph"]
