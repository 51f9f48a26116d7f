"""The kinds of the front phase."""

from nnefc.mo.replacer import FrontReplacementOp, FrontReplacementPattern, FrontReplacementSubgraph

__all__ = ["FrontReplacementOp", "FrontReplacementPattern", "FrontReplacementSubgraph"]
