"""`--precision`: the distance of each from OpenVINO's results in f32, on whole networks."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino_oracle import random_inputs
from processor import bf16_environment, has_bf16, has_fast_bf16

NETWORKS = Path(__file__).resolve().parent.parent.parent / "networks"
# Distances from f32, relative to the largest number of a result.
F32 = 5e-5  # including Winograd convolutions
EXACT = 2e-5  # different orders of additions, before a softmax of large numbers
BF16 = 0.05
# Distances by bf16 rounding alone, compared with OpenVINO's own bf16, which rounds elsewhere. They are root mean
# squares: the largest difference of a thousand numbers is random, and differs between processors.
BESIDE_PEER = 3


def run(nnefc: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([nnefc, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment})


def distance(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    """Returns the largest difference of a result, relative to its largest number. For networks that return logits it
    uses these, since with random weights a softmax is nearly one-hot."""
    return max(float(np.abs(found[name] - expected[name]).max() / np.abs(expected[name]).max())
               for name in compared(expected))


def mean_distance(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    """Returns the same by root mean squares."""
    return max(float(np.linalg.norm(found[name] - expected[name]) / np.linalg.norm(expected[name]))
               for name in compared(expected))


def compared(outputs: dict[str, np.ndarray]) -> list[str]:
    return ["logits"] if "logits" in outputs else list(outputs)


def by_openvino(path: Path, inputs: dict[str, np.ndarray], precision: str) -> dict[str, np.ndarray]:
    compiled = ov.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": precision})
    results = compiled(inputs)
    return {output.any_name: results[output].astype(np.float32) for output in compiled.outputs}


@pytest.fixture(scope="module", params=["alexnet", "googlenet", "mobilenetv2", "resnet50"])
def network(request: pytest.FixtureRequest, nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    made = run(nnefc, "compile", NETWORKS / f"{request.param}.nnef", "--random-weights", 1, "-o", folder / "net.xml")
    assert made.returncode == 0, made.stderr
    return folder / "net.xml"


def test_networks(nnefc: Path, network: Path) -> None:
    inputs = random_inputs(network)
    np.savez(network.with_suffix(".npz"), **inputs)
    expected = by_openvino(network, inputs, "f32")

    def ours(precision: str, **environment: str) -> dict[str, np.ndarray]:
        outputs = network.with_name(f"{precision}.npz")
        done = run(nnefc, "run", network, "--inputs", network.with_suffix(".npz"), "--outputs", outputs,
                   "--precision", precision, **environment)
        assert done.returncode == 0, done.stderr
        with np.load(outputs) as found:
            return dict(found)

    exact, f32, bf16, auto = (ours(precision) for precision in ("exact", "f32", "bf16", "auto"))
    assert distance(exact, expected) <= EXACT
    assert distance(f32, expected) <= F32
    for name in bf16:
        np.testing.assert_array_equal(auto[name], bf16[name])
    if not has_fast_bf16():
        for name in bf16:
            np.testing.assert_array_equal(bf16[name], f32[name])
    if has_bf16():
        bf16 = ours("bf16", **bf16_environment())
        peer = mean_distance(by_openvino(network, inputs, "bf16"), expected)
        assert 0 < distance(bf16, expected) <= BF16
        assert mean_distance(bf16, expected) <= BESIDE_PEER * peer


@pytest.mark.skipif(not has_bf16(), reason="the processor multiplies no bf16")
def test_kernels(nnefc: Path, network: Path) -> None:
    """Convolutions and matrix multiplications run in bf16, sensitive operations in f32."""
    done = run(nnefc, "run", network, "--random-inputs", 1, "--precision", "bf16", "--profile", "--format", "json",
               **bf16_environment())
    kernels = {step["operation"].split("+")[0]: step["kernel"] for step in json.loads(done.stdout)["profile"]}
    assert "bf16" in kernels["Convolution"], done.stderr
    assert "bf16" not in kernels["SoftMax"]


def test_reference_backend_is_exact(nnefc: Path, tmp_path: Path) -> None:
    model = NETWORKS / "alexnet.nnef"
    seeds = ("--random-weights", 1, "--random-inputs", 1)
    first = run(nnefc, "run", model, *seeds, "--backend", "reference", "--outputs", tmp_path / "a.npz")
    assert first.returncode == 0, first.stderr
    second = run(nnefc, "run", model, *seeds, "--backend", "reference", "--precision", "bf16",
                 "--compare", tmp_path / "a.npz", "--tolerance", "exact")
    assert second.returncode == 0, second.stderr


def test_unknown_word(nnefc: Path) -> None:
    done = run(nnefc, "run", NETWORKS / "alexnet.nnef", "--precision", "f16")
    assert done.returncode == 2
    assert "--precision" in done.stderr and "bf16" in done.stderr
