"""Converts the backend cases of the `onnx` package to strict NNEF, through OpenVINO, and counts those that compute the same.

    python tests/interop/conversions/onnx_cases.py [--nnefc BINARY] [--only PART] [--table FILE]

The cases are those of operations (node) and of small models (simple, pytorch-converted, pytorch-operator). OpenVINO writes each
as IR with the shapes of the case's inputs, `nnefc convert` as a document of the ratified dialect, which `check --strict` and
Khronos' parser must accept. Its results are compared with ONNX's within the case's tolerances. A case whose inputs determine
shapes, axes or the like is converted again with constants for all inputs but the first. A run takes about ten minutes.
"""

from __future__ import annotations

import argparse
import collections
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import onnx
import openvino as ov
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from converted_models import Arrays, Failure, Program, ir_apart, newest_program, openvino_apart, write_ir  # noqa: E402

SECONDS = 60
# The outcomes in the order of the table, with what they mean.
STATES = {
    "right": "a strict document with ONNX's results",
    "right with constants": "the same, once all inputs but the first are constants",
    "as openvino": "a strict document with OpenVINO's results, which are not ONNX's",
    "wrong": "a strict document with other results",
    "no form": "operations or types without a form in the ratified dialect",
    "refused": "`convert` refuses the IR",
    "check refuses": "`check --strict` refuses the document",
    "parser refuses": "Khronos' parser refuses the document",
    "run refuses": "`run` refuses the document",
    "crash": "a signal or an internal error ended nnefc",
    "no IR": "OpenVINO does not convert the model",
    "not tried": "strings, sequences, optional values, or types of four and eight bits that NumPy lacks",
}


@dataclass
class Case:
    name: str
    model: onnx.ModelProto
    inputs: Arrays = field(default_factory=list)
    outputs: Arrays = field(default_factory=list)
    rtol: float = 1e-3
    atol: float = 1e-7
    has_arrays: bool = True


def node_cases() -> Iterator[Case]:
    """Yields the cases of operations, with the data of their first set."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            for inputs, outputs in (case.data_sets or [])[:1]:
                if case.model is None:
                    continue
                values = [*inputs, *outputs]
                if all(isinstance(value, np.ndarray | np.generic) for value in values):
                    yield Case(case.name, case.model, [*map(np.asarray, inputs)], [*map(np.asarray, outputs)], case.rtol, case.atol)
                else:
                    yield Case(case.name, case.model, has_arrays=False)


def model_cases() -> Iterator[Case]:
    """Yields the cases that the package stores as files."""
    from onnx.backend.test.loader import load_model_tests

    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        for case in load_model_tests(kind=kind):
            folder = Path(case.model_dir or "")
            data = folder / "test_data_set_0"

            def arrays(stem: str) -> Arrays:
                count = len([*data.glob(f"{stem}_*.pb")])  # noqa: B023
                return [numpy_helper.to_array(onnx.load_tensor(data / f"{stem}_{number}.pb")) for number in range(count)]  # noqa: B023

            model = onnx.load(folder / "model.onnx")
            try:
                yield Case(f"{kind}/{case.name}", model, arrays("input"), arrays("output"), case.rtol, case.atol)
            except Exception:  # noqa: BLE001
                yield Case(f"{kind}/{case.name}", model, has_arrays=False)


def agree(found: Arrays, expected: Arrays, case: Case) -> bool:
    """Returns true for results of equal shapes and integers, and scalars within the case's tolerances."""
    if len(found) != len(expected):
        return False
    for one, other in zip(found, expected, strict=True):
        exact = other.dtype.kind in "biu"
        rtol, atol = (0.0, 0.0) if exact else (case.rtol, case.atol)
        if one.shape != other.shape:
            return False
        if not np.allclose(one.astype(np.float64), other.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True):
            return False
    return True


def with_constants(case: Case, is_constant: Callable[[int, np.ndarray], bool]) -> Case:
    """Returns the case with constants for some inputs."""
    if len(case.model.graph.input) != len(case.inputs):
        return case
    model, kept = onnx.ModelProto(), []
    model.CopyFrom(case.model)
    for index, (declared, value) in enumerate(zip([*model.graph.input], case.inputs, strict=True)):
        if is_constant(index, value):
            model.graph.input.remove(declared)
            model.graph.initializer.append(numpy_helper.from_array(value, declared.name))
        else:
            kept.append(value)
    return replace(case, model=model, inputs=kept)


def convert_case(program: Program, case: Case, folder: Path) -> str:
    """Converts and runs a case; returns `right` or raises Failure."""
    values = [*case.inputs, *case.outputs]
    if not case.has_arrays or any(value.dtype.kind in "OUS" for value in values):
        raise Failure("not tried", STATES["not tried"])
    if any(value.dtype.kind not in "fiub" for value in values):
        raise Failure("no form", f"its type is {next(value.dtype for value in values if value.dtype.kind not in 'fiub')}")
    # OpenVINO removes inputs without elements, such as lists of no axes.
    case = with_constants(case, lambda index, value: index > 0 and value.size == 0)
    graph = folder / "net.xml"
    onnx.save(case.model, folder / "net.onnx")
    ir_apart(folder / "net.onnx", graph, case.inputs)
    program.convert(graph, folder / "model", "ratified", "--unroll")
    program.check_strict(folder / "model")
    found = program.run_document(folder / "model", case.inputs)
    if agree(found, case.outputs, case):
        return "right"
    if agree(found, openvino_apart(graph, case.inputs), case):
        raise Failure("as openvino", "OpenVINO has the same results")
    raise Failure("wrong", "other results")


def outcome(program: Program, case: Case) -> tuple[str, str]:
    """Returns the state of a case and the reason."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            return convert_case(program, case, Path(scratch)), ""
        except Failure as failure:
            first = failure
    if first.state in ("refused", "no form", "run refuses") and len(case.inputs) > 1:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                return f"{convert_case(program, with_constants(case, lambda index, _: index > 0), Path(scratch))} with constants", ""
            except Failure:
                pass
    return first.state, first.reason


def load_front_end() -> None:
    """Converts a small model, so that the process of each case inherits OpenVINO's front end."""
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "net", [value],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])])
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "net.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        write_ir(ov.convert_model(path), path.with_suffix(".xml"))


def report(results: dict[str, tuple[str, str]]) -> str:
    """Returns the counts of the states, the counts of the reasons, and a line for each case that is not right."""
    counts = collections.Counter(state for state, _ in results.values())
    lines = [f"{len(results)} cases of onnx {onnx.__version__}", ""]
    lines += [f"{counts[state]:6}  {state}: {meaning}" for state, meaning in STATES.items()]
    lines += ["", "reasons"]
    reasons = collections.Counter((state, reason) for state, reason in results.values() if reason)
    lines += [f"{count:6}  {state}: {reason}" for (state, reason), count in sorted(reasons.items(), key=lambda each: (-each[1], each[0]))]
    lines += ["", "cases"]
    lines += [f"{name}\t{state}\t{reason}" for name, (state, reason) in sorted(results.items()) if not state.startswith("right")]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nnefc", type=Path, default=newest_program(), help="the binary; else the newest of build/")
    parser.add_argument("--only", default="", metavar="PART", help="only cases with this part in their names")
    parser.add_argument("--table", type=Path, help="the file to write the table to; else standard output")
    options = parser.parse_args()
    program, results = Program(options.nnefc, SECONDS), {}
    load_front_end()
    for case in (*node_cases(), *model_cases()):
        if options.only in case.name:
            results[case.name] = outcome(program, case)
            print(case.name, *results[case.name], sep="\t", file=sys.stderr, flush=True)
    text = report(results)
    if options.table:
        options.table.write_text(text)
    else:
        print(text, end="")
    return 1 if any(state in ("wrong", "crash") for state, _ in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
