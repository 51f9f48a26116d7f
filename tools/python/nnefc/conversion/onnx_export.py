"""Writes a model as ONNX."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nnefc.conversion.packages import required
from nnefc.documents import Source
from nnefc.model import Model, load

# A protobuf message has at most 2 GiB; larger models have their weights in a second file.
_MAX_MESSAGE_BYTES = 2**31 - 2**20


def export_onnx(
    model: Model | Source,
    path: Source,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    **options: Any,
) -> None:
    """Writes a model as ONNX (operator set 20). Requires the package `onnx`.

    The operations are those after lowering, without transformations of the runtime. Inputs and results have the names of
    the graph. Weights above 2 GiB are in a second file, `path` with `.data` appended.

    Args:
        model: a model, or a source as in `load`.
        path: the file to write, which is replaced; its extension is `.onnx`.
        shapes, options: as in `load`, for a source.

    Raises:
        ImportError: the package `onnx` is missing.
        ValueError: the extension is another one.
        ModelError: operations have no form in ONNX. The report lists all of them, with the tensor and the reason.
    """
    target = Path(path)
    if target.suffix.lower() != ".onnx":
        raise ValueError(f"`{target}`: expected a file name with the extension `.onnx`")
    if isinstance(model, Model):
        if shapes is not None or options:
            raise ValueError("shapes and options are for a source; pass them to `nnefc.load`")
        loaded = model
    else:
        loaded = load(model, shapes=shapes, **options)
    required("onnx")
    from nnefc.conversion.onnx_graph import to_onnx

    _write(to_onnx(loaded), target)


def _write(made: Any, target: Path) -> None:
    """Writes a model with its data, then replaces the target."""
    onnx = required("onnx")
    with tempfile.TemporaryDirectory(prefix=".nnefc-", dir=target.parent) as folder:
        aside = Path(folder) / target.name
        if made.ByteSize() < _MAX_MESSAGE_BYTES:
            onnx.save_model(made, str(aside))
        else:
            onnx.save_model(made, str(aside), save_as_external_data=True, location=f"{target.name}.data")
            os.replace(Path(folder) / f"{target.name}.data", target.with_name(f"{target.name}.data"))
        os.replace(aside, target)
