"""`nnefc convert --target nnefc` on graphs with If and TensorIterator: the documents with `if_else` and `tensor_iterator` compute
the numbers that follow from the rules of OpenVINO's operations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

pytest.importorskip("openvino")

from test_control_flow import CASES, assert_equal  # noqa: E402


# A state that changes its shape.
NO_FORM = {"a_state_that_grows"}


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("bodies"))


@pytest.mark.parametrize("name", CASES)
def test_body(tool: Nnefc, tmp_path: Path, name: str) -> None:
    case = CASES[name]()
    path, model = case.graph.save(tmp_path / "net.xml"), tmp_path / "model"
    done = tool.call("convert", path, "-o", model, "--target", "nnefc", "--compare-outputs", "never")
    if name in NO_FORM:
        assert done.returncode == 1 and "has no form for the target nnefc" in done.stderr and not model.exists()
        return
    assert done.returncode == 0, done.stderr
    assert tool.must("check", model) == ""
    np.savez(tmp_path / "inputs.npz", **case.inputs)
    options = ["--inputs", tmp_path / "inputs.npz"] if case.inputs else []
    found = tool.run(model, *options, "--backend", "reference")
    outputs = [found[f"out{place}"].astype(value.dtype) for place, value in enumerate(case.expected)]
    assert_equal(outputs, case.expected)
