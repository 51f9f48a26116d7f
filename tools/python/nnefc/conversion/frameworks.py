"""Models of other frameworks as NNEF: OpenVINO's front ends read them, `nnefc convert` writes them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from nnefc.conversion.packages import required
from nnefc.documents import Source, binary
from nnefc.errors import ModelError
from nnefc.model import Model, load
from nnefc.report import Diagnostic, Place, listed_report

# Files that OpenVINO's front ends read, by extension. A folder with SAVED_MODEL is a model of TensorFlow.
FRAMEWORK_EXTENSIONS = (".onnx", ".pt2", ".pb", ".pbtxt", ".tflite", ".pdmodel", ".meta")
SAVED_MODEL = "saved_model.pb"

Shapes = Mapping[str, Sequence[int]]


def is_framework_model(path: Source) -> bool:
    """Returns whether a path names a model of another framework."""
    given = Path(path)
    return given.suffix.lower() in FRAMEWORK_EXTENSIONS or (given / SAVED_MODEL).is_file()


def convert(
    model: Any,
    output: Source | None = None,
    *,
    inputs: Shapes | None = None,
    example: Any = None,
    target: str = "ratified",
    fold: bool = False,
    unroll: bool = False,
    fragments: bool = False,
    compare: Literal["auto", "always", "never"] = "auto",
    force: bool = False,
) -> Model:
    """Converts a model of another framework to NNEF. Requires the package `openvino`.

    Args:
        model: a path of an ONNX (.onnx), PyTorch (.pt2), TensorFlow (saved model, .pb), TensorFlow Lite (.tflite) or
            Paddle (.pdmodel) model; OpenVINO IR (.xml) or an NNEF model; an `openvino.Model`, an `onnx.ModelProto`, or a
            torch module or exported program.
        output: a folder, an archive (.nnef.tgz, .tar) or a document (.nnef, without data) to write.
        inputs: shapes of inputs by name, for open extents.
        example: inputs of a torch module, as OpenVINO's `example_input`.
        target: the operations of the document. "ratified": those of the standard; "tract": those that tract reads, of the
            standard and of tract's registries; "nnefc": those of the standard and of the extension NNEFC_opset, which has
            every operation of OpenVINO that nnefc computes; the path of a device profile (.json): those of the standard
            that the device has, for compounds that it lacks their bodies.
        fold: fold batch normalizations into the convolutions before them.
        unroll: write the steps of recurrent layers, and of loops with a known number of iterations, as standard operations
            one after another.
        fragments: write blocks of operations that occur several times as fragments.
        compare: run both models on random inputs and compare the outputs: "auto" compares if the model has at most 10
            billion operations.
        force: replace an output that exists.

    Returns:
        The NNEF model.

    Raises:
        ModelError: OpenVINO cannot read the model, or operations have no form in NNEF; the report has all of them.
        ImportError: the package `openvino`, or that of the framework, is missing.
        ValueError: an input is unknown.
        TypeError: `inputs` are no shapes by name.
    """
    if compare not in ("auto", "always", "never"):
        raise ValueError(f"compare is {compare!r}; expected 'auto', 'always' or 'never'")
    if inputs is not None and not isinstance(inputs, Mapping):
        raise TypeError(f"`inputs` is a {type(inputs).__name__}; expected shapes by name, such as {{'x': (1, 3, 224, 224)}}; "
                        "`example` takes the inputs of a torch module")  # fmt: skip
    folder = tempfile.TemporaryDirectory(prefix="nnefc-")
    source, name = _source_of(model, Path(folder.name), inputs, example)
    if target not in ("ratified", "tract", "nnefc") and not target.endswith(".json"):
        raise ValueError(f"target is {target!r}; expected 'ratified', 'tract', 'nnefc' or a device profile (.json)")
    written = Path(folder.name) / "converted" if output is None else Path(output)
    options = [f"--target={target}", f"--compare-outputs={compare}", *["--fold"] * fold, *["--unroll"] * unroll,
               *["--fragments"] * fragments, *["--force"] * force]  # fmt: skip
    if source == model and inputs:
        options += [f"--input-shape={key}={','.join(map(str, shape))}" for key, shape in inputs.items()]
    _run_convert(source, name, written, options)
    made = load(written, random_weights=0 if written.suffix == ".nnef" else None)
    if output is None:
        made._kept = folder  # variables are mapped from its files
    return made


def _source_of(model: Any, folder: Path, inputs: Shapes | None, example: Any) -> tuple[Source, str]:
    """Returns the model's path for `nnefc convert`, and its name in messages."""
    if isinstance(model, (str, os.PathLike)) and not is_framework_model(model):
        return model, os.fspath(model)
    name = os.fspath(model) if isinstance(model, (str, os.PathLike)) else f"<{type(model).__name__}>"
    return write_ir(model, folder, name, inputs, example), name


def write_ir(model: Any, folder: Path, name: str, inputs: Shapes | None = None, example: Any = None) -> Path:
    """Writes a model of another framework as OpenVINO IR into a folder, and returns the path of the `.xml` file."""
    ov = required("openvino")
    read = model if isinstance(model, ov.Model) else _read(model, folder, name, example)
    if inputs:
        known = {item for port in read.inputs for item in port.get_names()}
        for key in inputs:
            if key not in known:
                raise ValueError(f"no input is named `{key}`; there are {', '.join(sorted(known))}")
        read.reshape({key: ov.PartialShape(list(shape)) for key, shape in inputs.items()})
    path = folder / "model.xml"
    ov.save_model(read, str(path), compress_to_fp16=False)
    return path


def _read(model: Any, folder: Path, name: str, example: Any) -> Any:
    """Returns the `openvino.Model` of a model of a framework."""
    ov = required("openvino")
    source: Any = model
    if isinstance(model, (str, os.PathLike)):
        source = Path(model)
        if not source.exists():
            raise FileNotFoundError(f"`{source}` does not exist")
        if source.suffix.lower() == ".pt2":
            source = required("torch").export.load(source)
    elif hasattr(model, "SerializeToString"):  # an `onnx.ModelProto`
        source = folder / "model.onnx"
        source.write_bytes(model.SerializeToString())
    options = {} if example is None else {"example_input": example}
    try:
        return ov.convert_model(source, **options)
    except Exception as error:  # OpenVINO's front ends raise exceptions of many types
        reason = " ".join(str(error).split())
        message = f"OpenVINO cannot read the model: {reason}"
        raise ModelError(listed_report([_error("convert.unreadable-model", message, name)]), "reading the model") from None


def _run_convert(source: Source, name: str, target: Path, options: list[str]) -> None:
    words = [binary(), "convert", os.fspath(source), "-o", str(target), "--format", "json", *options]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    import json

    try:
        # Reports are the standard output, or standard error if the model is.
        listed = json.loads(done.stdout or done.stderr)["diagnostics"]
    except (ValueError, KeyError):
        raise ValueError(done.stderr.strip().removeprefix("nnefc: error: ")) from None
    if "file" not in listed[0]:  # an argument is wrong, not the model
        raise ValueError(listed[0]["message"])
    found = [_diagnostic_of(item, os.fspath(source), name) for item in listed]
    raise ModelError(listed_report(found), "converting the model")


def _diagnostic_of(item: Mapping[str, Any], source: str, name: str) -> Diagnostic:
    if item["file"] == source != name:  # a position in the IR says nothing about the model
        place = Place(name, 0, 0, 0, 0)
    else:
        place = Place(item["file"], item["line"], item["column"], item["end_line"], item["end_column"])
    message = item["message"].replace(source, name)
    return Diagnostic(item["severity"], item["rule"], item["section"], message, place, (), ())


def _error(rule: str, message: str, name: str) -> Diagnostic:
    return Diagnostic("error", rule, "", message, Place(name, 0, 0, 0, 0), (), ())
