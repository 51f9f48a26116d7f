"""Extenders of operations that are read from IR."""

from nnefc.mo.custom import Extender

__all__ = ["Extender"]
