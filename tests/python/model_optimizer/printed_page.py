"""The text of the Model Optimizer's page about graph transformation extensions, which is not part of the repository."""

import os
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[4] / "shared" / "seeds"


def _path() -> pathlib.Path | None:
    """Returns the path in NNEFC_MO_PAGE, or the page in a folder next to the clone if there is one."""
    chosen = os.environ.get("NNEFC_MO_PAGE")
    return pathlib.Path(chosen) if chosen else next(iter(FOLDER.glob("003_*.txt")), None)


PATH = _path()
needs_page = pytest.mark.skipif(PATH is None, reason="there is no page; NNEFC_MO_PAGE is its path")


def text() -> str:
    assert PATH is not None
    return PATH.read_text(encoding="utf-8")
