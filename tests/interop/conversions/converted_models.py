"""Conversion of OpenVINO IR by `nnefc convert`, and runs of its documents: the steps that the scripts of this folder share."""

from __future__ import annotations

import collections
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import nnef
import numpy as np
import openvino as ov

from openvino_oracle import openvino_outputs

Arrays = list[np.ndarray]


@dataclass
class Failure(Exception):
    """A step that failed: `state` is the step's outcome in tables, `reason` its first error."""

    state: str
    reason: str


def _plain(text: str) -> str:
    """Returns the first error of a program's output, without paths."""
    errors = re.findall(r"error: (.*)", text) or text.strip().splitlines() or ["?"]
    return re.sub(r"(?<![`\w/])/\S*/(?=[\w.]+)", "", errors[0])[:200]


@dataclass
class Program:
    """The nnefc binary; a command that takes longer than `seconds` fails."""

    path: Path
    seconds: float

    def call(self, *arguments: object, state: str) -> str:
        """Returns the standard output; raises Failure with the state, or with `crash` if a signal ends the program."""
        command = [str(self.path), *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=self.seconds, check=False)
        except subprocess.TimeoutExpired:
            raise Failure(state, f"`{arguments[0]}` took longer than {self.seconds} s") from None
        if done.returncode < 0 or done.returncode > 2 or "internal error" in done.stderr:
            raise Failure("crash", f"`{arguments[0]}` ended with {done.returncode}: {_plain(done.stderr)}")
        if done.returncode != 0:
            raise Failure(state, _plain(done.stderr))
        return done.stdout

    def convert(self, source: Path, model: Path, target: str, *options: str) -> None:
        """Converts IR; the reason of a failure lists every operation without a form, with its count."""
        command = [str(self.path), "convert", str(source), "-o", str(model), "--target", target, "--compare-outputs", "never", "--force", *options]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=self.seconds, check=False)
        except subprocess.TimeoutExpired:
            raise Failure("refused", f"`convert` took longer than {self.seconds} s") from None
        if done.returncode == 0:
            return
        if done.returncode < 0 or done.returncode > 2 or "internal error" in done.stderr:
            raise Failure("crash", f"`convert` ended with {done.returncode}: {_plain(done.stderr)}")
        missing = re.findall(r"error: (?:`(\w+)`, the layer|the (graph)) `.*?`,? has no form [\w ]+: (.*?)(?:; `--target.*?)?(?: \[[\w.-]+\])?$",
                             done.stderr, re.MULTILINE)
        if not missing:
            raise Failure("refused", _plain(done.stderr))
        counts = collections.Counter(f"{operation or graph}: {reason}" for operation, graph, reason in missing)
        raise Failure("no form", "; ".join(f"{count} {what}" for what, count in counts.most_common()))

    def check_strict(self, model: Path) -> None:
        """Raises Failure unless `check --strict` and Khronos' parser accept the document."""
        self.call("check", "-q", "--strict", model, state="check refuses")
        try:
            nnef.parse_file(str(model / "graph.nnef"))
        except nnef.Error as error:
            raise Failure("parser refuses", str(error).splitlines()[0]) from None

    def run(self, model: Path, names: Iterable[str], inputs: Arrays, results: Iterable[str], *options: object) -> Arrays:
        """Returns the results of a model by their names."""
        data, outputs = model.parent / "in.npz", model.parent / "out.npz"
        np.savez(data, **dict(zip(names, inputs, strict=True)))
        outputs.unlink(missing_ok=True)
        given = ["--inputs", data] if inputs else []
        self.call("run", "-q", model, *given, *options, "--outputs", outputs, state="run refuses")
        with np.load(outputs) as found:
            return [found[name] for name in results]

    def run_document(self, model: Path, inputs: Arrays) -> Arrays:
        """Returns the results of a converted model in their order."""
        names, results = interface(model)
        if len(names) != len(inputs):
            raise Failure("refused", f"the document has {len(names)} inputs; expected {len(inputs)}")
        return self.run(model, names, inputs, results)


def newest_program() -> Path:
    """Returns the newest binary of the build folder."""
    built = sorted(Path(__file__).resolve().parents[3].glob("build/*/bin/nnefc"), key=lambda path: path.stat().st_mtime)
    return built[-1] if built else Path("nnefc")


def interface(model: Path) -> tuple[list[str], list[str]]:
    """Returns the names of the document's inputs and results, in their order."""
    text = re.sub(r'"[^"\n]*"', '""', (model / "graph.nnef").read_text())
    head = re.search(r"\bgraph\s+\w+\s*\(([^)]*)\)\s*->\s*\(([^)]*)\)", text)
    if head is None:
        raise Failure("refused", "the document has no graph")
    return re.findall(r"\w+", head[1]), re.findall(r"\w+", head[2])


def difference(found: Arrays, expected: Arrays) -> float:
    """Returns max|a - b| / max|b| of the worst result; infinity if shapes, integers, or the positions of NaN differ."""
    if len(found) != len(expected):
        return np.inf
    worst = 0.0
    for one, other in zip(found, expected, strict=True):
        if one.shape != other.shape:
            return np.inf
        if other.dtype.kind != "f":
            worst = max(worst, 0.0 if np.array_equal(one, other) else np.inf)
            continue
        a, b = one.astype(np.float64), other.astype(np.float64)
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            return np.inf
        differs = ~((a == b) | np.isnan(b))
        if differs.any():
            size = np.abs(b[np.isfinite(b)]).max(initial=0.0)
            worst = max(worst, float(np.abs(a[differs] - b[differs]).max()) / max(size, 1e-30))
    return worst


def _cause(message: str) -> str:
    """Returns the line of a message of OpenVINO or tract that names the cause: the last one before the calls."""
    lines = re.split(r"Stack backtrace|Call stack", message)[0].splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "?")[:200]


def apart(work: Callable[[], str], log: Path, seconds: int) -> str:
    """Returns the text of a function that runs in a separate process, since OpenVINO and tract may end it."""
    answer = log.with_suffix(".answer")
    answer.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        for stream in (1, 2):
            os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), stream)
        signal.alarm(seconds)
        try:
            text = work()
        except Exception as error:  # noqa: BLE001
            text = f"{type(error).__name__}: {_cause(str(error))}"
        answer.write_text(text)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return answer.read_text() if answer.exists() else f"the process ended with status {status}"


def write_ir(model: ov.Model, path: Path, shapes: list[list[int]] | None = None) -> None:
    """Writes the model as IR in f32, with the shapes of its inputs."""
    if shapes is not None and len(shapes) != len(model.inputs):
        raise ValueError(f"the model of OpenVINO has {len(model.inputs)} inputs; expected {len(shapes)}")
    if shapes:
        model.reshape({port: ov.PartialShape(shape) for port, shape in zip(model.inputs, shapes, strict=True)})
    ov.save_model(model, path, compress_to_fp16=False)


def ir_apart(source: Path, graph: Path, inputs: Arrays) -> None:
    """Converts a model to IR at `graph` by OpenVINO, with the shapes of the inputs; raises Failure if OpenVINO refuses it."""
    def work() -> str:
        write_ir(ov.convert_model(source), graph, [[*value.shape] for value in inputs])
        return ""

    reason = apart(work, graph.with_suffix(".log"), 300)
    if reason:
        raise Failure("no IR", reason)


def openvino_apart(graph: Path, inputs: Arrays) -> Arrays:
    """Returns OpenVINO's results of IR; none if it does not run it."""
    outputs = graph.with_suffix(".npz")

    def work() -> str:
        np.savez(outputs, *openvino_outputs(graph, dict(enumerate(inputs))))
        return ""

    if apart(work, graph.with_suffix(".log"), 300):
        return []
    with np.load(outputs) as found:
        return [*found.values()]


def tract_outputs(model: Path, inputs: Arrays) -> Arrays:
    """Returns tract's results of a document; raises Failure if it does not load or run it. Its integers have 64 bits."""
    outputs = model.parent / "tract.npz"
    outputs.unlink(missing_ok=True)

    def work() -> str:
        import tract

        runnable = tract.nnef().with_onnx().with_tract_extra().load(str(model)).into_runnable()
        wide = [value.astype(np.int64) if value.dtype.kind in "iu" else value for value in inputs]
        np.savez(outputs, *[value.to_numpy() for value in runnable.run(wide)])
        return ""

    reason = apart(work, model.parent / "tract.log", 300)
    if reason:
        raise Failure("tract refuses", reason)
    with np.load(outputs) as found:
        return [*found.values()]
