"""The command `python -m nnefc convert`, for models of other frameworks and for ONNX as the result."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from nnefc.conversion.frameworks import is_framework_model, write_ir
from nnefc.conversion.onnx_export import export_onnx
from nnefc.conversion.packages import required
from nnefc.documents import binary
from nnefc.errors import NnefError
from nnefc.model import load

_INVALID, _MISUSE = 1, 2

# Options of `nnefc convert` whose value is the next word.
_WITH_VALUE = ("-o", "--output", "--compare-outputs", "--target", "--rename", "--input-shape", "--format", "--color", "--extensions",
               "--dialect", "--graph", "--random-weights")  # fmt: skip


def needs_python(words: Sequence[str]) -> bool:
    """Returns whether the arguments after `convert` name a model of another framework, or an ONNX file to write."""
    return _framework_model(words) is not None or _is_onnx(_output(words))


def run(words: Sequence[str]) -> int:
    """Converts as the arguments after `convert` state. Returns the exit code."""
    try:
        return _export(words) if _is_onnx(_output(words)) else _import(words)
    except NnefError as error:
        print(error, file=sys.stderr)
        return _MISUSE if error.report.environment_failed else _INVALID
    except (ImportError, OSError, ValueError) as error:
        print(f"nnefc: error: {error}", file=sys.stderr)
        return _MISUSE


def _output(words: Sequence[str]) -> str:
    """Returns the value of `--output`, or an empty text."""
    for word, following in zip(words, [*words[1:], ""]):
        if word in ("-o", "--output"):
            return following
        if word.startswith("--output="):
            return word.partition("=")[2]
        if word.startswith("-o") and len(word) > 2:
            return word[2:]
    return ""


def _is_onnx(path: str) -> bool:
    return path.lower().endswith(".onnx")


def _framework_model(words: Sequence[str]) -> int | None:
    """Returns the index of the first argument that is a model of another framework."""
    for i, word in enumerate(words):
        is_value = i > 0 and words[i - 1] in _WITH_VALUE
        if not is_value and not word.startswith("-") and is_framework_model(word):
            return i
    return None


def _import(words: Sequence[str]) -> int:
    """Runs `nnefc convert` with the IR that OpenVINO makes of the model."""
    at = _framework_model(words)
    assert at is not None
    name = words[at]
    with tempfile.TemporaryDirectory(prefix="nnefc-") as folder:
        path = write_ir(name, Path(folder), name)
        given = [*words[:at], str(path), *words[at + 1 :]]
        done = subprocess.run([binary(), "convert", *given], stderr=subprocess.PIPE, text=True, check=False)
        # A position in the IR says nothing about the model.
        sys.stderr.write(re.sub(re.escape(str(path)) + r"(:\d+:\d+)?", lambda _: name, done.stderr))
    return done.returncode


def _export(words: Sequence[str]) -> int:
    """Writes an ONNX file."""
    parser = argparse.ArgumentParser(prog="python -m nnefc convert", description="Write a model as ONNX.")
    parser.add_argument("model", help="an NNEF model, OpenVINO IR or a model of another framework")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.onnx", help="the ONNX file to write")
    parser.add_argument("--input-shape", action="append", default=[], metavar="NAME=N,..", help="the shape of an input")
    parser.add_argument("--extensions", action="append", default=[], metavar="PATH", help="a plug-in or folder")
    parser.add_argument("--dialect", default="auto", metavar="WORD", help="auto, ratified or provisional")
    parser.add_argument("--graph", metavar="NAME", help="the graph, for documents with several")
    parser.add_argument("--lenient", action="store_true", help="accept known deviations of exporters")
    parser.add_argument("--random-weights", type=int, metavar="SEED", help="generate the data of variables")
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    options = parser.parse_args(words)
    if os.path.exists(options.output) and not options.force:
        raise ValueError(f"`{options.output}` exists; `--force` replaces it")
    required("onnx")  # before the model is loaded
    shapes = dict(map(_shape_of, options.input_shape))
    with tempfile.TemporaryDirectory(prefix="nnefc-") as folder:
        if is_framework_model(options.model):
            model = load(write_ir(options.model, Path(folder), options.model, shapes))
        else:
            model = load(
                options.model,
                dialect=options.dialect,
                lenient=options.lenient or None,
                shapes=shapes,
                graph=options.graph,
                random_weights=options.random_weights,
                extensions=options.extensions,
            )
        export_onnx(model, options.output)
    return 0


def _shape_of(text: str) -> tuple[str, list[int]]:
    name, _, extents = text.partition("=")
    try:
        return name, [int(extent) for extent in extents.split(",")]
    except ValueError:
        raise ValueError(f"--input-shape: expected NAME=1,3,224,224, got `{text}`") from None
