"""Random graphs of tests/differential in a real OpenVINO: it loads the IR that nnefc writes, and computes the results
of the reference kernels.

An element may differ by the suite's bound on rounding, plus 1e-4 of the largest element of its tensor: the test
searches for wrong operations, not for rounding.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

ov = pytest.importorskip("openvino")

# Graphs that cannot be compared: an index of NNEF's `sample` beyond its window, which random data have, is undefined,
# and the result depends on the form.
WITHOUT_MEANING = {"GatherElements", "ScatterElementsUpdate"}
GRAPHS = int(os.environ.get("NNEFC_DIFFERENTIAL_OPENVINO", "300"))


@pytest.fixture(scope="session")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs")
    subprocess.run([os.environ["NNEFC_DIFFERENTIAL"], "--graphs", str(GRAPHS), "--dump", folder, "--most-operations", "5", "--level", "nnef"], check=True)
    return folder


def load(path: Path) -> list[np.ndarray]:
    with np.load(path) as archive:
        return [archive[str(index)] for index in range(len(archive.files))]


def difference(found: np.ndarray, expected: np.ndarray, bound: np.ndarray) -> str:
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{list(found.shape)}, expected {expected.dtype}{list(expected.shape)}"
    apart = np.abs(found.astype(float) - expected.astype(float))
    beyond = ~(apart <= 8 * bound + 1e-4 * np.abs(expected.astype(float)).max(initial=0))
    return f"{np.count_nonzero(beyond)} of {beyond.size} elements apart, {apart[beyond].max()} at most" if beyond.any() else ""


def fits(inputs: list[np.ndarray]) -> bool:
    """Returns false for 64-bit integers that exceed 32 bits: OpenVINO's CPU plug-in computes them with 32 bits."""
    return all(np.array_equal(given, given.astype(np.int32)) for given in inputs if given.dtype == np.int64)


def operations(path: Path) -> set[str]:
    return set(re.findall(r'<layer [^>]*type="(\w+)"', path.read_text())) - {"Parameter", "Const", "Result"}


def has_dilated_volumes(path: Path) -> bool:
    """Returns true for a dilated Convolution of volumes from one channel to one. With AVX2, the plug-in reads memory that it
    did not write: the results differ from NumPy's, and from run to run.
    """
    for layer in ElementTree.parse(path).iterfind("layers/layer[@type='Convolution']"):
        dilations = [int(item) for item in layer.find("data").get("dilations").split(",")]
        filter_extents = [int(dim.text) for dim in layer.findall("input/port")[1].findall("dim")]
        if len(dilations) == 3 and max(dilations) > 1 and filter_extents[:2] == [1, 1]:
            return True
    return False


def test_openvino_computes_the_same(dumped: Path) -> None:
    core = ov.Core()
    failures, compared, seen = [], 0, set()
    for path in sorted(dumped.glob("*.xml"), key=lambda p: int(p.stem)):
        if operations(path) & WITHOUT_MEANING or has_dilated_volumes(path):
            continue
        inputs, expected, bounds = (load(path.with_suffix(f".{kind}.npz")) for kind in ("inputs", "results", "bounds"))
        if not fits(inputs):
            continue
        try:
            compiled = core.compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
            request = compiled.create_infer_request()
            request.infer(dict(enumerate(inputs)))
        except RuntimeError as error:
            failures.append(f"{path.stem} {sorted(operations(path))}: {str(error).strip().splitlines()[-1][:200]}")
            continue
        compared += 1
        seen |= operations(path)
        for index, (result, bound) in enumerate(zip(expected, bounds)):
            if told := difference(request.get_output_tensor(index).data, result, bound):
                failures.append(f"{path.stem} {sorted(operations(path))}: result {index}: {told}")
                break
    print(f"{compared} graphs of {len(seen)} operations computed by OpenVINO too")
    assert not failures, "\n".join(failures)
