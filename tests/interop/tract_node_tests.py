"""Reads what tract writes of the node tests of the `onnx` package, and counts the documents that compute the same.

    python tests/interop/tract_node_tests.py FOLDER [--nnefc BINARY] [--only PART] [--flags=--lenient] [--forms]

Each model that tract reads becomes FOLDER/NAME/model/graph.nnef, once. Where tract needs shapes, axes and the like to
write a model, all inputs but the first are constants. nnefc then runs the documents for which tract computes the outputs
of ONNX. FOLDER/results.tsv has a line for each of them: `right`, `wrong` or `refused`, with the first error; the table of
counts is printed. With --forms, documents that are right are run on the other backend, formatted, upgraded to a document
that `check --strict` accepts, and compiled for OpenVINO. A run takes about ten minutes, so it is not part of the tests.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import tract
import onnx.numpy_helper
from onnx.backend.test.case.node import collect_testcases

from openvino_oracle import openvino_outputs

SECONDS = 30
TOLERANCE = 1e-3
Arrays = list[np.ndarray]


def node_tests() -> Iterator[tuple[str, onnx.ModelProto, Arrays, Arrays]]:
    """Yields name, model, inputs and outputs of the node tests whose values are all tensors."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            for inputs, outputs in (case.data_sets or [])[:1]:
                if case.model is not None and all(isinstance(value, np.ndarray | np.generic) for value in (*inputs, *outputs)):
                    yield case.name, case.model, [*map(np.asarray, inputs)], [*map(np.asarray, outputs)]


def agree(actual: np.ndarray, expected: np.ndarray) -> bool:
    """Returns true for equal shapes and values within the tolerance, which is relative to the largest value."""
    if actual.shape != expected.shape:
        return False
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.abs(b[np.isfinite(b)])
    return bool(np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * finite.max(initial=0), equal_nan=True))


def with_constants(model: onnx.ModelProto, inputs: Arrays) -> onnx.ModelProto:
    """Returns the model with constants for all inputs but the first."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    for declared, value in zip(model.graph.input[1:], inputs[1:], strict=True):
        fixed.graph.input.remove(declared)
        fixed.graph.initializer.append(onnx.numpy_helper.from_array(value, declared.name))
    return fixed


def write_case(folder: Path, model: onnx.ModelProto, inputs: Arrays, outputs: Arrays) -> str:
    """Writes the model, if need be with constants; returns the state of the case."""
    try:
        return write_model(folder, model, inputs, outputs)
    except tract.TractError:
        if len(inputs) < 2 or len(model.graph.input) != len(inputs):
            raise
        return write_model(folder, with_constants(model, inputs), inputs[:1], outputs)


def write_model(folder: Path, model: onnx.ModelProto, inputs: Arrays, outputs: Arrays) -> str:
    """Writes the model by tract, with its inputs and tract's outputs; returns the state of the case."""
    onnx.save(model, str(folder / "model.onnx"))
    loaded = tract.onnx().load(str(folder / "model.onnx"))
    for number, value in enumerate(inputs):
        kind = "bool" if value.dtype == bool else f"{value.dtype.kind}{value.dtype.itemsize * 8}"
        loaded.set_input_fact(number, ",".join([*map(str, value.shape), kind]))
    for number in range(loaded.output_count()):
        loaded.set_output_fact(number, None)
    nnef = tract.nnef().with_onnx().with_pulse().with_tract_extra().with_tract_transformers()
    nnef.write_model_to_dir(loaded.into_model(), str(folder / "model"))
    found = [value.to_numpy() for value in nnef.load(str(folder / "model")).into_runnable().run(inputs)]
    if len(found) != len(outputs) or not all(map(agree, found, outputs)):
        return "tract computes other outputs"
    for name, arrays in zip(("inputs", "outputs"), (inputs, found), strict=True):
        np.savez(folder / f"{name}.npz", *arrays)
    return "written"


def write_apart(folder: Path, *case: object) -> str:
    """The same in a process of its own, because tract may end it."""
    state = folder / "state.txt"
    if not state.exists():
        folder.mkdir(parents=True, exist_ok=True)
        child = os.fork()
        if child == 0:
            os.dup2(os.open(folder / "log.txt", os.O_WRONLY | os.O_CREAT, 0o644), 2)
            signal.alarm(SECONDS)
            try:
                text = write_case(folder, *case)  # type: ignore[arg-type]
            except Exception as error:  # noqa: BLE001
                text = f"tract: {error}".splitlines()[0][:200]
            state.write_text(text)
            os._exit(0)
        os.waitpid(child, 0)
        if not state.exists():
            state.write_text("tract ended the process")
    return state.read_text()


def openvino_apart(model: Path, inputs: dict[str, np.ndarray]) -> Arrays:
    """Returns OpenVINO's outputs from a process of its own, because OpenVINO may end it."""
    result = model.with_suffix(".npz")
    child = os.fork()
    if child == 0:
        os.dup2(os.open(model.with_suffix(".log"), os.O_WRONLY | os.O_CREAT, 0o644), 2)
        signal.alarm(SECONDS)
        try:
            np.savez(result, *openvino_outputs(model, inputs))
        except Exception as error:  # noqa: BLE001
            model.with_suffix(".txt").write_text(str(error).strip() or "?")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if result.exists():
        return [*np.load(result).values()]
    reason = model.with_suffix(".txt")
    raise ValueError(reason.read_text() if reason.exists() else f"OpenVINO ended the process with status {status}")


def names_of(model: Path) -> tuple[list[str], list[str]]:
    """Returns the names of inputs and results in the order of tract: externals as written, results as declared."""
    text = re.sub(r'"[^"\n]*"', '""', (model / "graph.nnef").read_text())
    results = re.search(r"\bgraph\s+\S+\s*\([^)]*\)\s*->\s*\(([^)]*)\)", text)
    return (re.findall(r"(\w+)\s*=\s*(?:tract_core_)?external\b", text), re.findall(r"\w+", results[1]) if results else [])


def check_forms(nnefc: Path, folder: Path, flags: list[str]) -> tuple[str, str]:
    """Compares the other forms of a document: on the reference backend, formatted, upgraded, and as IR in OpenVINO."""
    inputs, outputs = ([*np.load(folder / f"{name}.npz").values()] for name in ("inputs", "outputs"))
    in_names, out_names = names_of(folder / "model")
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        np.savez(scratch / "in.npz", **dict(zip(in_names, inputs, strict=True)))
        data = ["--inputs", str(scratch / "in.npz")] if inputs else []

        def call(*arguments: object) -> str:
            done = subprocess.run([str(nnefc), *map(str, arguments)], capture_output=True, text=True, timeout=SECONDS)
            if done.returncode != 0:
                raise ValueError((done.stderr.strip() or done.stdout.strip() or "?").splitlines()[0].replace(str(folder), ""))
            return done.stdout

        def compare(model: Path, *options: str) -> None:
            call("run", "-q", model, *flags, *data, *options, "-o", scratch / "out.npz")
            found = np.load(scratch / "out.npz")
            if not all(agree(found[each], expected) for each, expected in zip(out_names, outputs, strict=True)):
                raise ValueError("other numbers")

        stage = "reference"
        try:
            compare(folder / "model", "--backend", "reference")
            stage = "fmt"
            formatted = scratch / "formatted.nnef"
            formatted.write_text(call("fmt", folder / "model" / "graph.nnef"))
            if call("fmt", formatted) != formatted.read_text():
                raise ValueError("formatted twice, it differs")
            shapes = [f"--input-shape={each}={','.join(map(str, value.shape))}" for each, value in zip(in_names, inputs, strict=True)
                      if value.size]  # the option has no extents of 0
            if all(value.size for value in inputs):  # a strict document has no inputs without elements
                stage = "upgrade"
                call("upgrade", "-q", folder / "model", *flags, "-o", scratch / "upgraded")
                call("check", "-q", "--strict", scratch / "upgraded")
                compare(scratch / "upgraded")
            stage = "openvino"
            call("compile", "-q", folder / "model", *flags, *shapes, "-o", scratch / "net.xml")
            given = [value.astype({"f": np.float32, "i": np.int64, "u": np.int64}.get(value.dtype.kind, value.dtype)) for value in inputs]
            values = openvino_apart(scratch / "net.xml", dict(zip(in_names, given, strict=True)))
            if not all(map(agree, values, outputs)):
                raise ValueError("other numbers")
        except (ValueError, KeyError, RuntimeError, subprocess.TimeoutExpired) as error:
            return "other form", f"{stage}: {str(error).splitlines()[0]}"
    return "right", ""


def run_case(nnefc: Path, folder: Path, flags: list[str]) -> tuple[str, str]:
    """Runs the document of a case; returns the verdict and its reason."""
    inputs, outputs = ([*np.load(folder / f"{name}.npz").values()] for name in ("inputs", "outputs"))
    in_names, out_names = names_of(folder / "model")
    if len(in_names) != len(inputs) or len(out_names) != len(outputs):
        return "unclear", "numbers of inputs or results differ"
    with tempfile.TemporaryDirectory() as scratch:
        data, result = Path(scratch) / "in.npz", Path(scratch) / "out.npz"
        np.savez(data, **dict(zip(in_names, inputs, strict=True)))
        command = [str(nnefc), "run", "-q", str(folder / "model"), *flags, *(["--inputs", str(data)] if inputs else []), "-o", str(result)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return "refused", "timeout"
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["?"]
            return "refused", f"exit {done.returncode}: " + errors[0].replace(str(folder), "")
        found = np.load(result)
        for name, expected in zip(out_names, outputs, strict=True):
            if name not in found:
                return "wrong", f"no result `{name}`"
            if not agree(found[name], expected):
                return "wrong", f"`{name}`: {found[name].ravel()[:4]} of shape {found[name].shape} for {expected.ravel()[:4]} of {expected.shape}"
    return "right", ""


def cause(reason: str) -> str:
    """Returns the label of a message, with the operation that it names."""
    label = re.search(r"\[([\w.-]+)\]\s*$", reason)
    quoted = re.findall(r"`([^`]*)`", reason)
    return " ".join([label[1] if label else reason[:60], *(name for name in quoted[:3] if re.fullmatch(r"\w+", name))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nnefc", type=Path, default=Path(os.environ.get("NNEFC", "build/release/bin/nnefc")))
    parser.add_argument("--only", default="", help="run the cases whose names contain this text")
    parser.add_argument("--forms", action="store_true", help="compare backends, formatted and upgraded documents, and IR as well")
    parser.add_argument("--flags", default="", help="options of `nnefc run`, separated by spaces")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    complete = arguments.folder / "complete"
    if not complete.exists():
        for name, *case in node_tests():
            write_apart(arguments.folder / name, *case)
        complete.write_text("")
    states: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    with (arguments.folder / "results.tsv").open("w") as table:
        for folder in sorted(path.parent for path in arguments.folder.glob("*/state.txt") if arguments.only in path.parent.name):
            if (folder / "state.txt").read_text() != "written":
                states["not by tract"] += 1
                continue
            verdict, reason = run_case(arguments.nnefc, folder, arguments.flags.split())
            if verdict == "right" and arguments.forms:
                verdict, reason = check_forms(arguments.nnefc, folder, arguments.flags.split())
            states[verdict] += 1
            reasons[f"{verdict} {cause(reason)}"] += verdict != "right"
            print(folder.name, verdict, reason, sep="\t", file=table, flush=True)
    print(*(f"{count:5} {state}" for state, count in states.most_common()), sep="\n")
    print(*(f"{count:5} {reason}" for reason, count in reasons.most_common() if count), sep="\n")


if __name__ == "__main__":
    main()
