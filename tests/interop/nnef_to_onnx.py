#!/usr/bin/env python3
"""Translates a model folder with a flat ratified NNEF document into an ONNX model.

The ONNX file is written into the folder: its weights are the .dat files, as external data.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import nnef
import onnx

import onnx_elementwise
import onnx_shaping
import onnx_windows
from onnx_builder import Builder, Unsupported

TRANSLATIONS = onnx_elementwise.TRANSLATIONS | onnx_windows.TRANSLATIONS | onnx_shaping.TRANSLATIONS


def load(folder: Path, shapes: dict[str, list[int]] | None = None) -> Any:
    """Reads the document of a model folder and infers the shapes of its tensors."""
    graph = nnef.parse_file(str(folder / "graph.nnef"))
    nnef.infer_shapes(graph, external_shapes=shapes or {})
    return graph


def translate(folder: Path, shapes: dict[str, list[int]] | None = None) -> onnx.ModelProto:
    """Translates the model in `folder`; raises Unsupported for an operation without a translation."""
    graph = load(folder, shapes)
    builder = Builder(graph, folder)
    for operation in graph.operations:
        if operation.name == "external":
            continue
        if operation.name == "variable":
            builder.variable(operation.outputs["output"], operation.attribs["label"])
            continue
        if operation.name not in TRANSLATIONS:
            raise Unsupported(f"`{operation.name}` has no translation")
        TRANSLATIONS[operation.name](builder, operation)
    return builder.model()


def save(folder: Path) -> Path:
    """Translates the model in `folder` and writes it there; returns the path of the ONNX file."""
    path = folder / "model.onnx"
    onnx.save(translate(folder), path)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a model folder; the document must be flat")
    options = parser.parse_args()
    try:
        print(save(options.folder))
    except (Unsupported, nnef.Error, OSError) as error:
        print(f"{options.folder}: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
