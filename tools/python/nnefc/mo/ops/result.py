"""Result."""

from nnefc.mo.op import Result

__all__ = ["Result"]
