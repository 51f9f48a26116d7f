"""The base classes of front transformations."""

from nnefc.mo.replacer import (
    FrontReplacementFromConfigFileGeneral,
    FrontReplacementOp,
    FrontReplacementPattern,
    FrontReplacementSubgraph,
)

__all__ = [
    "FrontReplacementFromConfigFileGeneral",
    "FrontReplacementOp",
    "FrontReplacementPattern",
    "FrontReplacementSubgraph",
]
