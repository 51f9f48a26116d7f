"""What gives nodes attributes before the front phase."""

from nnefc.mo.replacer import FrontExtractorOp

__all__ = ["FrontExtractorOp"]
