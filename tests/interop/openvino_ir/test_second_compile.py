"""A second compilation changes nothing: OpenVINO IR that `compile` wrote is read and written byte for byte."""

from __future__ import annotations

import filecmp
from pathlib import Path

import pytest

import models
from models import Nnefc

pytest.importorskip("openvino")

import seed_again_cases  # noqa: E402, F401
import seed_api_cases  # noqa: E402, F401
import seed_if_cases  # noqa: E402, F401
import seed_iterator_cases  # noqa: E402, F401
import seed_nested_cases  # noqa: E402, F401
import test_openvino_ir  # noqa: E402
from seed_models import CASES, DISPUTED  # noqa: E402

# Networks with few parameters, each with all layers that the larger ones have.
NETWORKS = ["lstm_scan", "mobilenetv2", "resnet18_spp", "googlenet_provisional"]


@pytest.fixture
def program(nnefc: Path, tmp_path: Path) -> Nnefc:
    return Nnefc(nnefc, tmp_path)


def assert_stable(program: Nnefc, model: Path, *options: object) -> None:
    """Requires that compiling the written model once more writes the same bytes."""
    first, second = model.with_name("first.xml"), model.with_name("second.xml")
    program.must("compile", model, *options, "-o", first)
    program.must("compile", first, "-o", second)
    for suffix in (".xml", ".bin"):
        one, other = first.with_suffix(suffix), second.with_suffix(suffix)
        assert filecmp.cmp(one, other, shallow=False), f"{suffix} differs"


@pytest.mark.parametrize("name", [*CASES, *DISPUTED])
def test_documented_models(program: Nnefc, tmp_path: Path, name: str) -> None:
    assert_stable(program, (CASES | DISPUTED)[name]().save(tmp_path / "net.xml"))


@pytest.mark.parametrize("name", test_openvino_ir.MODELS)
def test_saved_models(program: Nnefc, tmp_path: Path, name: str) -> None:
    assert_stable(program, test_openvino_ir.saved(name, tmp_path))


@pytest.mark.parametrize("name", NETWORKS)
def test_networks(program: Nnefc, tmp_path: Path, name: str) -> None:
    document = tmp_path / "net.nnef"
    document.write_text((models.NETWORKS / f"{name}.nnef").read_text())
    assert_stable(program, document, "--random-weights", 1)
