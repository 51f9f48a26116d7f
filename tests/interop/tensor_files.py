"""Tensor files of 32-bit floats."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

MAGIC = b"\x4e\xef\x01\x00"


def dat(array: np.ndarray, dialect: str = "R") -> bytes:
    """Returns a tensor file in the ratified layout (R 5.2), or the provisional one (`P`; P 5.2)."""
    rank, extents = array.ndim, array.shape
    if dialect == "P":
        header = struct.pack(f"<4sII{rank}IBBH", MAGIC, 16 + 4 * rank, rank, *extents, 0, 32, 0)
    else:
        header = struct.pack("<4sII8III", MAGIC, 4 * array.size, rank, *extents, *[0] * (8 - rank), 32, 0).ljust(128, b"\0")
    return header + array.astype("<f4").tobytes()


def write_dat(path: Path, array: np.ndarray, dialect: str = "R") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dat(array, dialect))
