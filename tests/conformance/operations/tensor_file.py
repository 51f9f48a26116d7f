"""Writes tensor files of both dialects (1.0.5, 5.2; provisional, 5.2)."""

from __future__ import annotations

import struct

import numpy as np

# The codes of item types of the ratified text, by the kinds of NumPy's types.
RATIFIED_CODES = {"f": 0, "u": 1, "i": 4, "b": 5}


def pack(x: np.ndarray, dialect: str) -> bytes:
    """The bytes of a tensor file: a header of 128 bytes (ratified) or of 16 and 4 for each axis (provisional), then the items."""
    x = np.ascontiguousarray(x).reshape(x.shape)
    if dialect == "provisional":
        if x.dtype.kind != "f":
            raise ValueError("provisional tensor files of the suite hold floats")
        return struct.pack(f"<BBBBII{x.ndim}IBBH", 0x4E, 0xEF, 1, 0, 16 + 4 * x.ndim, x.ndim, *x.shape, 0, 8 * x.itemsize, 0) + x.tobytes()
    extents = [*x.shape, *[0] * (8 - x.ndim)]
    header = struct.pack("<BBBBII8III", 0x4E, 0xEF, 1, 0, x.nbytes, x.ndim, *extents, 8 * x.itemsize, RATIFIED_CODES[x.dtype.kind])
    return header.ljust(128, b"\0") + x.tobytes()
