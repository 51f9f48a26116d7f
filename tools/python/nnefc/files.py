"""The files of a model, and whether they changed since it was loaded or pickled."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Optional

# The size in bytes and the time of the last change in ns, or the size and the digest, by path below the folder of the
# model; None for a missing file.
States = dict[str, Optional[tuple[int, int]]]
Digests = dict[str, Optional[tuple[int, str]]]


def _folder_of(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _files_of(path: Path, labels: Iterable[str]) -> list[Path]:
    """Returns the files that a model may be read from: of a folder the document, graph.quant and tensor files."""
    if path.is_dir():
        tensors = [path / f"{label.lstrip('/')}.dat" for label in labels]
        return [path / "graph.nnef", path / "graph.quant", *tensors]
    return [path, path.with_suffix(".bin")] if path.suffix == ".xml" else [path]


def _state(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def states_of(path: Path, labels: Iterable[str]) -> States:
    """Returns the size and the time of the last change of each file of a model."""
    return {file.relative_to(_folder_of(path)).as_posix(): _state(file) for file in _files_of(path, labels)}


def _digest(file: Path) -> tuple[int, str] | None:
    digest, size = hashlib.blake2b(digest_size=20), 0
    try:
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                digest.update(block)
                size += len(block)
    except (OSError, ValueError):
        return None
    return size, digest.hexdigest()


def digests_of(path: Path, states: States) -> Digests:
    """Returns the size and the digest of each file of a model.

    Raises:
        pickle.PicklingError: a file has another size or time of its last change than in `states`.
    """
    folder = _folder_of(path)
    found = {name: _digest(folder / name) for name in states}
    for name, state in states.items():
        if _state(folder / name) != state:
            raise pickle.PicklingError(f"`{folder / name}` changed after the model was loaded; load the model again")
    return found


def verify(path: Path, digests: Digests) -> None:
    """Raises pickle.UnpicklingError if a file of a model has another content than when the model was pickled."""
    if not path.exists():
        return  # opening it reports that
    folder = _folder_of(path)
    for name, expected in digests.items():
        file = folder / name
        found = _digest(file)
        if found == expected:
            continue
        if found is None:
            change = "is missing or cannot be read"
        elif expected is None:
            change = "did not exist"
        elif found[0] != expected[0]:
            change = f"has {found[0]} bytes, not {expected[0]}"
        else:
            change = "has another content"
        raise pickle.UnpicklingError(
            f"`{file}` {change}, unlike when the model was pickled; restore the file, or load the model and pickle it again"
        )
