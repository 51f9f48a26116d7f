"""What reads attributes of nodes."""

from nnefc.mo.replacer import FrontExtractorOp

__all__ = ["FrontExtractorOp"]
