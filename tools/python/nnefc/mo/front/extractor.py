"""Attribute extractors."""

from nnefc.mo.replacer import FrontExtractorOp

__all__ = ["FrontExtractorOp"]
