"""Const."""

from nnefc.mo.op import Const

__all__ = ["Const"]
