"""Names of operations from other frameworks: each replacement that a message or a fix proposes computes the framework's
function, by NumPy. If NNEF has none, the message states this or asks, and there is no fix."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from foreign_formulas import FRAMEWORKS, Case, expected, read_cases

HEAD = "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n"
# Statements of a batch: messages stop at a number of errors.
BATCH = 60


@dataclasses.dataclass(frozen=True)
class Answer:
    """The diagnostics of `check` for a call."""

    message: str
    fix: str  # the replacement of the written name; empty if there is no fix
    is_safe: bool

    def proposals(self, case: Case) -> list[str]:
        """Returns the proposed code for the operation of the case's framework; only the fix's if there is one."""
        if self.fix:
            return [case.call.replace(case.name, self.fix, 1)]
        found = re.findall(r"(?:; write| or) `([^`]+)`(?: \(([\w., ]+)\))?", self.message)
        wanted = [code for code, of in found if not of or case.framework in of.split(", ")]
        if not wanted and case.framework == "torch.nn":
            return self.proposals(dataclasses.replace(case, framework="PyTorch"))
        return wanted

    def keeps_axes(self) -> bool:
        return "which keeps the axes" in self.message

    def declines(self, case: Case) -> bool:
        """True of a question without a fix, and of a statement that NNEF has none."""
        return not self.proposals(case) and ("did you mean" in self.message or "NNEF has no " in self.message)


def _declaration(case: Case) -> list[str]:
    types = {"f": "scalar", "i": "integer", "b": "logical"}
    return [f"{name}: tensor<{types[tensor.dtype.kind]}>" for name, tensor in case.tensors().items()] + \
        [f"{name}: {_type_of(value)}" for name, value in case.values().items()]


def _type_of(value: str) -> str:
    if value.startswith("'"):
        return "string"
    if value.startswith("[("):
        return "(integer,integer)[]"
    item = "integer" if re.fullmatch(r"-?\d+", value.strip("[]").split(",")[0]) else "scalar"
    return item + ("[]" if value.startswith("[") else "")


def _fragment(case: Case, index: int, code: str) -> str:
    """Returns the code in a fragment whose parameters are the tensors and values of the case."""
    for name, value in case.values().items():
        code = code.replace(f"{name} = ..", f"{name} = {value}")
    result = "y" if code.endswith(";") else "result"
    body = code if code.endswith(";") else f"result = {code};"
    if result in case.tensors():
        raise AssertionError(f"{code} assigns a tensor of the call")
    return f"fragment f{index}({', '.join(_declaration(case))}) -> ({result}: tensor<{_result_type(case)}>)\n{{\n    {body}\n}}\n"


def _result_type(case: Case) -> str:
    return {"f": "scalar", "i": "scalar" if not case.name.lower().startswith("arg") else "integer", "b": "logical"}[expected(case).dtype.kind]


def ask(nnefc: Path, folder: Path, cases: list[Case]) -> list[Answer]:
    """Returns the diagnostics of `check` for the calls, each in a separate fragment."""
    answers = []
    for start in range(0, len(cases), BATCH):
        batch = cases[start:start + BATCH]
        text = HEAD + "".join(
            f"fragment f{i}({', '.join(_declaration(case))}) -> (result: tensor<scalar>) {{ result = {case.call}; }}\n"
            for i, case in enumerate(batch)) + "graph g(x) -> (y) { x = external(shape = [1]); y = copy(x); }\n"
        (folder / "ask.nnef").write_text(text, encoding="utf-8")
        done = subprocess.run([str(nnefc), "check", "ask.nnef", "--format", "json"], cwd=folder, capture_output=True, text=True,
                              timeout=120, check=False)
        told = {entry["line"]: entry for entry in reversed(json.loads(done.stderr)["diagnostics"])}
        for i, case in enumerate(batch):
            entry = told.get(i + 3, {"message": "", "fixes": []})
            if entry["message"] and f"`{case.name}`" not in entry["message"]:
                entry = {"message": "", "fixes": []}  # NNEF has the name; the call has another error
            fixes = entry["fixes"]
            answers.append(Answer(entry["message"], fixes[0]["text"] if fixes else "",
                                  all(fix["applicability"] == "safe" for fix in fixes)))
    return answers


def compute(nnefc: Path, folder: Path, work: list[tuple[Case, str]]) -> list[np.ndarray]:
    """Returns the results of the codes, from one document."""
    fragments, statements, inputs = "", "", {}
    for i, (case, code) in enumerate(work):
        fragments += _fragment(case, i, code)
        arguments = []
        for name, tensor in case.tensors().items():
            inputs[f"i{i}_{name}"] = tensor
            arguments.append(f"i{i}_{name}")
        arguments += [f"{name} = {value}" for name, value in case.values().items()]
        statements += f"    y{i} = f{i}({', '.join(arguments)});\n"
    types = {"f": "scalar", "i": "integer", "b": "logical"}
    externals = "".join(f"    {name} = external<{types[tensor.dtype.kind]}>(shape = {list(tensor.shape)});\n"
                        for name, tensor in inputs.items())
    results = ", ".join(f"y{i}" for i in range(len(work)))
    (folder / "net.nnef").write_text(
        f"{HEAD}{fragments}graph g({', '.join(inputs)}) -> ({results})\n{{\n{externals}{statements}}}\n", encoding="utf-8")
    np.savez(folder / "in.npz", **inputs)
    done = subprocess.run([str(nnefc), "run", "net.nnef", "--inputs", "in.npz", "--outputs", "out.npz", "--backend", "reference"],
                          cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    with np.load(folder / "out.npz") as outputs:
        return [outputs[f"y{i}"] for i in range(len(work))]


def agrees(found: np.ndarray, wanted: np.ndarray, keeps_axes: bool) -> bool:
    if keeps_axes:
        found, wanted = found.squeeze(), wanted.squeeze()
    return found.shape == wanted.shape and np.allclose(found, wanted, rtol=2e-4, atol=2e-5, equal_nan=True)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_proposal_computes_the_function(framework: str, nnefc: Path, tmp_path: Path) -> None:
    cases = read_cases(framework)
    answers = ask(nnefc, tmp_path, cases)
    foreign = [(case, answer) for case, answer in zip(cases, answers, strict=True) if answer.message]
    assert len(foreign) >= (60 if framework == "tensorflow" else 120)
    silent = [case.name for case, answer in foreign if not answer.proposals(case) and not answer.declines(case)]
    assert not silent, "neither a proposal nor a question nor that NNEF has none"
    wrong = [(case.name, answer.message) for case, answer in foreign if bool(answer.proposals(case)) != case.is_known]
    assert not wrong
    assert all(answer.is_safe for _, answer in foreign)
    work = [(case, answer, code) for case, answer in foreign for code in answer.proposals(case)]
    found = compute(nnefc, tmp_path, [(case, code) for case, _, code in work])
    differ = [(case.name, code) for (case, answer, code), result in zip(work, found, strict=True)
              if not agrees(result, expected(case), answer.keeps_axes())]
    assert not differ


def test_names_of_nnef_are_not_foreign(nnefc: Path, tmp_path: Path) -> None:
    """The lists contain no name of NNEF: its meaning there is up to the author."""
    for framework in FRAMEWORKS:
        cases = read_cases(framework)
        assert not [case.name for case, answer in zip(cases, ask(nnefc, tmp_path, cases), strict=True) if not answer.message]
        assert len({case.name for case in cases}) == len(cases)


# Former proposals by edit distance, and functions near the right one.
WRONG = {"softmin": "softmax(x, axes = ..)", "glu": "gelu(x)", "celu": "relu(x)", "rrelu": "relu(x)", "atan2": "atan(x)", "exp2": "exp(x)",
         "Round": "round(x)", "log_softmax": "softmax(x, axes = ..)", "std": "sqrt(mean_reduce(sqr(x - mean_reduce(x, axes = ..)), axes = ..))",
         "fmod": "x - floor(x / y) * y", "GELU": "gelu(x)"}


@pytest.mark.parametrize("name", [name for name in WRONG if name != "GELU"])
def test_a_wrong_pair_is_found(name: str, nnefc: Path, tmp_path: Path) -> None:
    (case,) = [case for case in read_cases("pytorch") if case.name == name]
    (result,) = compute(nnefc, tmp_path, [(case, WRONG[name])])
    assert not agrees(result, expected(case), keeps_axes=True)


def test_a_wrong_pair_of_another_framework_is_found(nnefc: Path, tmp_path: Path) -> None:
    """The hard sigmoid of ONNX differs from that of PyTorch, and ONNX has another order of the arguments of batch
    normalization."""
    code = {}
    for framework in ("pytorch", "onnx"):
        cases = [case for case in read_cases(framework) if case.name.lower() in ("hardsigmoid", "round")]
        for case, answer in zip(cases, ask(nnefc, tmp_path, cases), strict=True):
            (code[framework, case.name.lower()],) = answer.proposals(case)
    assert code["pytorch", "round"] == code["onnx", "round"]
    assert code["pytorch", "hardsigmoid"] != code["onnx", "hardsigmoid"]
    (case,) = [case for case in read_cases("onnx") if case.name == "HardSigmoid"]
    (result,) = compute(nnefc, tmp_path, [(case, code["pytorch", "hardsigmoid"])])
    assert not agrees(result, expected(case), keeps_axes=False)


@pytest.mark.parametrize("name, fixed", [
    # One letter transposed, missing or doubled.
    ("sigmiod", "sigmoid"), ("sigmod", "sigmoid"), ("sigmmoid", "sigmoid"), ("floro", "floor"), ("relluu", ""), ("ssoftplus", "softplus"),
    # A replaced or added letter, and two typos.
    ("sigmoit", ""), ("sigmoids", ""), ("sgimodi", ""), ("softpluz", ""), ("tanch", ""),
    # One typo away from a name of NNEF, but the name of another operation.
    ("softmin", ""), ("geglu", ""), ("swiglu", ""), ("glu", ""), ("sin_", "sin"), ("log1p", ""), ("exp2", ""), ("rem", ""), ("fmod", ""),
])
def test_edit_distance_is_a_fix_for_one_slip_only(name: str, fixed: str, nnefc: Path, tmp_path: Path) -> None:
    text = f"version 1.0;\ngraph g(x) -> (y)\n{{\n    x = external(shape = [1,4]);\n    y = {name}(x);\n}}\n"
    path = tmp_path / "net.nnef"
    for options in (["--fix"], ["--fix", "--unsafe-fixes"]):
        path.write_text(text, encoding="utf-8")
        subprocess.run([str(nnefc), "check", *options, str(path)], capture_output=True, timeout=60, check=False)
        assert path.read_text(encoding="utf-8") == (text.replace(name, fixed) if fixed else text)
