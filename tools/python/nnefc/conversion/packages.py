"""Optional packages that conversions need."""

from __future__ import annotations

import importlib
from typing import Any


def required(name: str) -> Any:
    """Imports a package. Raises ImportError with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name is None or error.name.split(".")[0] != name:
            raise
        command = f"pip install {name}" if name == "torch" else "pip install 'nnefc[convert]'"
        raise ImportError(f"the conversion needs the package `{name}`: `{command}`", name=name) from None
