"""Checks the output of export.py, runs it on both backends against torch, and runs its IR in OpenVINO if that is
installed.

    python check.py NNEFC FOLDER [NAME...]

Prints a line for each model and target: its deviations, and `ok` or the first failure. The exit code is 1 if there is a
failure.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import tract

try:
    import openvino
except ImportError:
    openvino = None

TOLERANCE = 1e-4
HALF_TOLERANCE = 2e-3  # torch computes in f16, nnefc in f32
# Results of tract that contradict the types of its own tensors.
TRACTS_FAULTS = {"q_nearest": "enlarging by whole factors loses the type: tract returns quantized values as numbers"}


def first_error(stderr: str) -> str:
    return next((line for line in stderr.splitlines() if "error" in line), stderr[-200:])


def split(arrays: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    """Returns inputs by name and outputs that export.py wrote, both in the order of the module's."""
    return ({name: value for name, value in arrays.items() if name.startswith("x")},
            [value for name, value in sorted(arrays.items()) if name.startswith("y")])


def difference(seen: np.ndarray, expected: np.ndarray) -> float:
    if seen.shape != expected.shape:
        return np.inf
    if np.issubdtype(expected.dtype, np.integer):
        return float(np.max(np.abs(seen.astype(np.int64) - expected), initial=0))
    seen, expected = seen.astype(float), expected.astype(float)
    same = (seen == expected) | (np.isnan(seen) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(same, 0, np.abs(seen - expected) / (1 + np.abs(expected))), initial=0))


def run_openvino(xml: Path, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    model = openvino.Core().compile_model(str(xml), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = model({model.input(name): value for name, value in inputs.items()})
    return [results[output] for output in model.outputs]


def step_of(quantization: str) -> float:
    """Returns the largest step between neighbours among the types of a graph.quant file."""
    return max(float(scale) for scale in re.findall(r"\bscale = \[?([0-9.e-]+)", quantization))


def by_tract(model: Path, inputs: list[np.ndarray]) -> list[np.ndarray] | None:
    """Returns tract's outputs, or nothing if tract refuses the document."""
    try:
        return [value.to_numpy() for value in tract.nnef().load(str(model)).into_runnable().run(inputs)]
    except Exception:
        return None


def expect(name: str, model: Path, quantization: str, arrays: dict[str, np.ndarray]) -> tuple[list[np.ndarray], float]:
    """Returns the expected outputs of a document and the tolerance: torch's; in 8 bits tract's, number for number, or
    torch's within two steps if tract refuses it."""
    inputs, outputs = split(arrays)
    if not quantization:
        return outputs, HALF_TOLERANCE if any(value.dtype == np.float16 for value in outputs) else TOLERANCE
    exact = None if name in TRACTS_FAULTS else by_tract(model, list(inputs.values()))
    return (exact, 0.0) if exact is not None else (outputs, 2 * step_of(quantization))


def quantization_of(model: Path) -> str:
    if model.is_dir():
        path = model / "graph.quant"
        return path.read_text() if path.exists() else ""
    with tarfile.open(model) as archive:
        found = [member for member in archive if Path(member.name).name == "graph.quant"]
        return archive.extractfile(found[0]).read().decode() if found else ""


def check(nnefc: str, model: Path, arrays: dict[str, np.ndarray], folder: Path) -> str:
    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([nnefc, *map(str, arguments)], capture_output=True, text=True, check=False)

    inputs, _ = split(arrays)
    quantization = quantization_of(model)
    outputs, tolerance = expect(model.name.removesuffix(".nnef.tgz"), model, quantization, arrays)
    np.savez(folder / "in.npz", **inputs)
    shapes = [f"--input-shape={name}={','.join(map(str, value.shape))}" for name, value in inputs.items()]
    checked = call("check", model, "--lenient", *shapes)
    if checked.returncode:
        return f"check: {first_error(checked.stderr)}"
    for backend in ("reference", "fast"):
        done = call("run", model, "--lenient", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--backend", backend)
        if done.returncode:
            return f"run on {backend}: {first_error(done.stderr)}"
        with np.load(folder / "out.npz") as written:
            seen = [written[name] for name in written.files][: len(outputs)]
        worst = max(difference(*pair) for pair in zip(seen, outputs))
        if not worst <= tolerance:
            return f"run on {backend}: differs from {'tract' if quantization and not tolerance else 'torch'} by {worst:.1e}"
    done = call("compile", model, "--lenient", *shapes, "-o", folder / "net.xml")
    if done.returncode:
        return f"compile: {first_error(done.stderr)}"
    if openvino is not None:
        worst = max(difference(*pair) for pair in zip(run_openvino(folder / "net.xml", inputs), outputs))
        # OpenVINO sums quantized values in f32.
        if not worst <= (3 * step_of(quantization) if quantization else tolerance):
            return f"OpenVINO differs from torch by {worst:.1e}"
    deviations = sorted(set(re.findall(r"\[lenient\.([a-z-]+)\]", checked.stderr)))
    return " ".join(["ok", *deviations])


def main() -> int:
    nnefc, folder, wanted = sys.argv[1], Path(sys.argv[2]), set(sys.argv[3:])
    failed = 0
    for model in sorted(folder.glob("*/*.nnef.tgz")):
        name = model.name.removesuffix(".nnef.tgz")
        if wanted and name not in wanted:
            continue
        with np.load(folder / f"{name}.npz") as arrays, tempfile.TemporaryDirectory() as scratch:
            verdict = check(nnefc, model, dict(arrays), Path(scratch))
        failed += not verdict.startswith("ok")
        print(f"{model.parent.name:8} {name:20} {verdict}", flush=True)
    refused = (folder / "refused.txt").read_text() if (folder / "refused.txt").exists() else ""
    print(f"{failed} fail; refused by the exporter:\n{refused}", end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
