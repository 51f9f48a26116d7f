"""Arrays."""

from nnefc.mo.op import int64_array

__all__ = ["int64_array"]
