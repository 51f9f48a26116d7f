"""Converts trained networks to NNEF for each target, through OpenVINO, and compares their results.

    tests/bench/published FOLDER --all
    python tests/interop/conversions/published_networks.py FOLDER [--nnefc BINARY] [--only NAME..] [--targets T..] [--table FILE]

FOLDER has networks in ONNX and TensorFlow Lite; their IR, documents and data go to FOLDER/converted. OpenVINO writes each
network as IR of fixed shapes. Then for each target:
- `nnefc`: the document computes the same as the IR in `nnefc run`, within 1e-5 of the largest value.
- `ratified`: `check --strict` and Khronos' parser accept the document, and it agrees with ONNX Runtime (for TensorFlow Lite
  and where ONNX Runtime has no result: with the IR in `nnefc run`) within 1e-4.
- `unrolled`: the same with `--unroll`, for networks with recurrent layers that `ratified` reports.
- `tract`: tract loads the document and agrees with the IR in `nnefc run` within 1e-4.
Inputs are random numbers of [0, 1), integers of [1, 4), and `true`. A run takes about ten minutes. A file NAME.npz next to NAME.onnx
has other inputs by name, and the results to agree with instead of those of ONNX Runtime (`tests/bench/zoo --expected`: of torch).
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import numpy as np
import openvino as ov

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from converted_models import Arrays, Failure, Program, apart, difference, newest_program, tract_outputs, write_ir  # noqa: E402
from random_inputs import input_values  # noqa: E402

SECONDS = 300
TARGETS = ("nnefc", "ratified", "unrolled", "tract")
BOUNDS = {"nnefc": 1e-5, "ratified": 1e-4, "unrolled": 1e-4, "tract": 1e-4}


def write_case(source: Path, folder: Path) -> None:
    """Writes IR, inputs, and the results of ONNX Runtime; raises Failure if OpenVINO does not convert the network."""
    graph, given = folder / "net.xml", source.with_suffix(".npz")
    stored = dict(np.load(given)) if given.exists() else {}

    def convert() -> str:
        model = ov.convert_model(source)
        names = [port.any_name for port in model.inputs]
        shapes = [[dim.get_length() if dim.is_static else 1 for dim in port.partial_shape] for port in model.inputs]
        write_ir(model, graph, shapes)
        types = [np.dtype(port.element_type.to_dtype()) for port in model.inputs]
        np.savez(folder / "inputs.npz", **{name: stored[name] if name in stored else input_values(name, shape, dtype)
                                           for name, shape, dtype in zip(names, shapes, types, strict=True)})
        return ""

    def reference() -> str:
        import onnxruntime as ort

        session = ort.InferenceSession(str(source), providers=["CPUExecutionProvider"])
        inputs = dict(np.load(folder / "inputs.npz"))
        np.savez(folder / "reference.npz", *session.run(None, {each.name: inputs[each.name] for each in session.get_inputs()}))
        return ""

    reason = apart(convert, folder / "openvino.log", SECONDS)
    if reason:
        raise Failure("no IR", reason)
    if stored:
        inputs = np.load(folder / "inputs.npz").files
        np.savez(folder / "reference.npz", *[value for name, value in stored.items() if name not in inputs])
    elif source.suffix == ".onnx":
        apart(reference, folder / "onnxruntime.log", SECONDS)


class Network:
    """A network with its IR and the results to agree with."""

    def __init__(self, program: Program, source: Path, folder: Path) -> None:
        self.program, self.folder, self.graph = program, folder, folder / "net.xml"
        if not (folder / "inputs.npz").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            write_case(source, folder)
        self.inputs = dict(np.load(folder / "inputs.npz"))
        self.results = [port.any_name for port in ov.Core().read_model(self.graph).outputs]
        self.by_ir = self._run_ir()
        stored = folder / "reference.npz"
        self.reference = [*np.load(stored).values()] if stored.exists() else self.by_ir

    def _run_ir(self) -> Arrays:
        found = self.folder / "ir.npz"
        data = ["--inputs", self.folder / "inputs.npz"]
        self.program.call("run", "-q", self.graph, *data, "--outputs", found, state="not run")
        with np.load(found) as arrays:
            return [arrays[name] for name in self.results]

    def convert(self, target: str) -> str:
        """Returns the error of the document's results; raises Failure for what prevents it."""
        place = self.folder / target
        place.mkdir(exist_ok=True)
        model, inputs = place / "model", [*self.inputs.values()]
        is_strict = target in ("ratified", "unrolled")
        self.program.convert(self.graph, model, "ratified" if is_strict else target, *["--unroll"] * (target == "unrolled"))
        if target == "tract":
            error = difference(tract_outputs(model, inputs), self.by_ir)
        else:
            if is_strict:
                self.program.check_strict(model)
            found = self.program.run_document(model, inputs)
            of_ir = difference(found, self.by_ir)
            error = of_ir if target == "nnefc" else difference(found, self.reference)
        if error <= BOUNDS[target]:
            return f"{error:.0e}"
        if is_strict and difference(self.by_ir, self.reference) > BOUNDS[target]:
            by_ir = difference(self.by_ir, self.reference)
            raise Failure("IR differs", f"{error:.1e} from the reference, as the IR {by_ir:.1e}, and {of_ir:.1e} from the IR")
        raise Failure("differs", f"{error:.1e}")


def report(rows: dict[str, dict[str, str]], targets: list[str]) -> str:
    """Returns a table of the networks, then the counts."""
    width = max(map(len, rows), default=0)
    lines = [(f"{'network':{width}}  " + "  ".join(f"{target:10}" for target in targets)).rstrip()]
    notes = []
    for name, row in rows.items():
        lines.append(f"{name:{width}}  " + "  ".join(f"{row.get(target, '-').split(': ')[0]:10}" for target in targets).rstrip())
        notes += [f"{name}, {target}: {text}" for target, text in row.items() if ": " in text]
    for target in targets:
        right = sum(": " not in row.get(target, ": ") for row in rows.values())
        lines.append(f"{target}: {right} of {sum(target in row for row in rows.values())} networks agree within {BOUNDS[target]:.0e}")
    return "\n".join([*lines, "", *notes]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a folder of networks")
    parser.add_argument("--nnefc", type=Path, default=newest_program(), help="the binary; else the newest of build/")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="only these networks")
    parser.add_argument("--targets", nargs="*", default=list(TARGETS), choices=TARGETS, help="only these targets")
    parser.add_argument("--table", type=Path, help="the file to write the table to; else standard output")
    options = parser.parse_args()
    program, rows = Program(options.nnefc, SECONDS), {}
    for source in sorted([*options.folder.glob("*.onnx"), *options.folder.glob("*.tflite")]):
        if options.only and source.stem not in options.only:
            continue
        row = rows.setdefault(source.stem, {})
        try:
            network = Network(program, source, options.folder / "converted" / source.stem)
        except Failure as failure:
            row["IR"] = f"{failure.state}: {failure.reason}"
            print(source.stem, row, file=sys.stderr, flush=True)
            continue
        for target in options.targets:
            if target == "unrolled" and "--unroll" not in row.get("ratified", "--unroll"):
                continue
            try:
                row[target] = network.convert(target)
            except Failure as failure:
                row[target] = f"{failure.state}: {failure.reason}"
        print(source.stem, row, file=sys.stderr, flush=True)
    text = report(rows, options.targets)
    if options.table:
        options.table.write_text(text)
    else:
        print(text, end="")
    return 1 if any("crash" in text for row in rows.values() for text in row.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
