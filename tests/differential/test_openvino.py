"""Random graphs of tests/differential in a real OpenVINO: it loads what nnefc writes, and computes what the reference
kernels compute.

A result may differ by 1e-3 of its largest element: graphs are chains, and this looks for wrong operations, not for
rounding, which the ways of nnefc are held to more closely among themselves."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

ov = pytest.importorskip("openvino")

GRAPHS = int(os.environ.get("NNEFC_DIFFERENTIAL_OPENVINO", "300"))


@pytest.fixture(scope="session")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs")
    subprocess.run([os.environ["NNEFC_DIFFERENTIAL"], "--graphs", str(GRAPHS), "--dump", folder, "--most-operations", "5", *os.environ.get("NNEFC_DIFFERENTIAL_ARGS", "").split()], check=True)
    return folder


def load(path: Path) -> list[np.ndarray]:
    with np.load(path) as archive:
        return [archive[str(index)] for index in range(len(archive.files))]


def difference(found: np.ndarray, expected: np.ndarray) -> str:
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{list(found.shape)}, expected {expected.dtype}{list(expected.shape)}"
    one, other = found.astype(float), expected.astype(float)
    finite = np.isfinite(one) & np.isfinite(other)
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return "other elements that are not finite"
    bound = 1e-3 * max(1e-3, np.abs(other[finite]).max(initial=0))
    apart = np.abs(one - other, where=finite, out=np.zeros_like(one))
    return f"{apart.max(initial=0)} apart, of {bound}" if apart.max(initial=0) > bound else ""


def operations(path: Path) -> set[str]:
    return set(re.findall(r'<layer [^>]*type="(\w+)"', path.read_text())) - {"Parameter", "Const", "Result"}


def test_openvino_computes_the_same(dumped: Path) -> None:
    core = ov.Core()
    failures, compared, seen = [], 0, set()
    for path in sorted(dumped.glob("*.xml"), key=lambda p: int(p.stem)):
        inputs, expected = load(path.with_suffix(".inputs.npz")), load(path.with_suffix(".results.npz"))
        try:
            compiled = core.compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
            request = compiled.create_infer_request()
            request.infer(dict(enumerate(inputs)))
        except RuntimeError as error:
            failures.append(f"{path.stem} {sorted(operations(path))}: {str(error).strip().splitlines()[-1][:200]}")
            continue
        compared += 1
        seen |= operations(path)
        for index, result in enumerate(expected):
            if told := difference(request.get_output_tensor(index).data, result):
                failures.append(f"{path.stem} {sorted(operations(path))}: result {index}: {told}")
                break
    print(f"{compared} graphs of {len(seen)} operations computed by OpenVINO too")
    assert not failures, "\n".join(failures)
