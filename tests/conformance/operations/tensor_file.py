"""Writes tensor files of both dialects (1.0.5, 5.2; provisional, 5.2)."""

from __future__ import annotations

import struct

import numpy as np

RATIFIED_ITEMS = {"f4": (0, 32), "i8": (4, 64), "b1": (5, 8)}


def pack(x: np.ndarray, dialect: str) -> bytes:
    """The bytes of a tensor file: a header of 128 bytes (ratified) or of 16 and 4 for each axis (provisional), then the items."""
    x = np.ascontiguousarray(x).reshape(x.shape)
    if dialect == "provisional":
        if x.dtype != np.float32:
            raise ValueError("provisional tensor files of the suite hold 32-bit floats")
        return struct.pack(f"<BBBBII{x.ndim}IBBH", 0x4E, 0xEF, 1, 0, 16 + 4 * x.ndim, x.ndim, *x.shape, 0, 32, 0) + x.tobytes()
    kind, bits = RATIFIED_ITEMS[x.dtype.str.lstrip("<|")]
    extents = [*x.shape, *[0] * (8 - x.ndim)]
    header = struct.pack("<BBBBII8III", 0x4E, 0xEF, 1, 0, x.nbytes, x.ndim, *extents, bits, kind)
    return header.ljust(128, b"\0") + x.tobytes()
