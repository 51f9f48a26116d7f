"""Whole networks: checked, expanded and run, against ONNX Runtime and against their twins."""

from __future__ import annotations

import filecmp
import functools
import math
from pathlib import Path

import pytest

import flat
import models
import openvino_oracle
from models import Nnefc, assert_agree, assert_identical

BACKENDS = ["reference", "fast"]
# The ratified document and its provisional twin, from the shared documents.
SHARED_TWINS = {"alexnet": "alexnet", "googlenet": "googlenet", "resnet": "resnet", "vgg": "vgg19"}
# Our documents, with the number of their parameters: the published ones, and for residual networks also the means and
# variances.
NETWORKS = {
    "alexnet": 60_965_224,
    "googlenet": 6_998_552,
    "resnet50": 25_557_032 + 53_120,
    "vgg19": 143_667_240,
    "mobilenetv2": 3_487_816,
    "resnet18_spp": 18_339_816,
    "alexnet_provisional": 60_965_224,
    "googlenet_provisional": 6_998_552,
    "resnet50_provisional": 25_557_032 + 53_120,
    "vgg19_provisional": 143_667_240,
    "resnet101_provisional": 44_549_160 + 105_344,
}
TWINS = ["alexnet", "googlenet", "resnet50", "vgg19"]
RANDOM = "mobilenetv2"


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("outputs"))


@pytest.fixture(scope="session")
def shared_model(shared_data: Path, cache: Path):
    """Makes the model of a shared document from its dialect and name."""
    @functools.cache
    def make(dialect: str, name: str) -> Path:
        document = shared_data / "networks" / dialect / f"{name}.nnef"
        return models.shared_model(document, shared_data, cache)
    return make


@pytest.fixture(scope="session")
def expanded(tool: Nnefc):
    """Returns the flat text of one of our documents."""
    return functools.cache(lambda name: tool.expand(models.NETWORKS / f"{name}.nnef"))


@pytest.fixture(scope="session")
def flat_model(expanded, cache: Path):
    return functools.cache(lambda name: models.flat_model(name, expanded(name), cache))


@pytest.fixture(scope="session")
def source_model(flat_model, cache: Path):
    return functools.cache(lambda name: models.source_model(name, flat_model(name), cache))


@pytest.fixture(scope="session")
def onnx_outputs():
    """Returns ONNX Runtime's results, computed once per model."""
    return functools.cache(models.onnx_outputs)


def assert_silent(tool: Nnefc, document: Path) -> None:
    done = tool.call("check", document)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# --- the shared documents -----------------------------------------------------------------------

SHARED = [pytest.param(dialect, name, id=f"{dialect}-{name}")
          for ratified, provisional in SHARED_TWINS.items()
          for dialect, name in (("ratified", ratified), ("provisional", provisional))]


@pytest.mark.parametrize("dialect, name", SHARED)
def test_shared_check(tool: Nnefc, shared_data: Path, dialect: str, name: str) -> None:
    assert_silent(tool, shared_data / "networks" / dialect / f"{name}.nnef")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", SHARED_TWINS)
def test_shared_run(tool: Nnefc, shared_model, onnx_outputs, name: str, backend: str) -> None:
    model = shared_model("ratified", name)
    assert_agree(tool.outputs(model, backend), onnx_outputs(model))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", SHARED_TWINS)
def test_shared_twin(tool: Nnefc, shared_model, name: str, backend: str) -> None:
    """Seeded weights are generated in the order of the text, so twins have the same ones."""
    twin = shared_model("provisional", SHARED_TWINS[name])
    ratified = shared_model("ratified", name)
    assert_identical(tool.outputs(twin, backend), tool.outputs(ratified, backend))


# --- our own documents --------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_check(tool: Nnefc, name: str) -> None:
    assert_silent(tool, models.NETWORKS / f"{name}.nnef")


@pytest.mark.parametrize("name", NETWORKS)
def test_expand_again(tool: Nnefc, expanded, tmp_path: Path, name: str) -> None:
    """The expansion of an expansion is the same text, without diagnostics."""
    document = tmp_path / "flat.nnef"
    document.write_text(expanded(name))
    assert tool.expand(document) == expanded(name)
    assert_silent(tool, document)


@pytest.mark.parametrize("name", NETWORKS)
def test_parameters(expanded, name: str) -> None:
    document = flat.parse_flat(expanded(name))
    assert not document.provisional
    count = sum(math.prod(operation.named["shape"]) for operation in document.operations
                if operation.name == "variable")
    assert count == NETWORKS[name]


def test_residual_units(expanded) -> None:
    """3 + 4 + 23 + 3 units of three convolutions, four projections, the stem and the logits."""
    operations = flat.parse_flat(expanded("resnet101_provisional")).operations
    producer = {result: operation for operation in operations for result in operation.results}
    sums = [operation for operation in operations if operation.name == "add"]
    assert len(sums) == 33
    for operation in sums:
        operands = [*operation.positional, *operation.named.values()]
        assert "batch_normalization" in {producer[operand].name for operand in operands}
    labels = [o.named["label"] for o in operations if o.name == "variable"]
    units = {"/".join(label.split("/")[:2]) for label in labels if label.startswith("stage")}
    counts = [sum(unit.startswith(f"stage{stage}/") for unit in units) for stage in (2, 3, 4, 5)]
    assert counts == [3, 4, 23, 3]
    assert sum(o.name == "conv" for o in operations) == 33 * 3 + 4 + 2


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NETWORKS)
def test_run(tool: Nnefc, flat_model, onnx_outputs, name: str, backend: str) -> None:
    model = flat_model(name)
    assert_agree(tool.outputs(model, backend), onnx_outputs(model))


# Documents that differ in dialect alone have one graph.
@pytest.mark.parametrize("name", [name for name in NETWORKS if name.removesuffix("_provisional") not in TWINS or name in TWINS])
def test_transformations_keep_numbers(tool: Nnefc, flat_model, name: str) -> None:
    model = flat_model(name)
    assert_agree(tool.outputs(model, "fast"), tool.without_transformations().outputs(model, "fast"), 1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_source_equals_flat(tool: Nnefc, source_model, flat_model, name: str) -> None:
    actual = tool.outputs(source_model(name), "fast")
    assert_identical(actual, tool.outputs(flat_model(name), "fast"))


@pytest.mark.parametrize("name", TWINS)
def test_twin(tool: Nnefc, source_model, name: str) -> None:
    twin = tool.outputs(source_model(f"{name}_provisional"), "fast")
    assert_identical(twin, tool.outputs(source_model(name), "fast"))


def assert_openvino_agrees(tool: Nnefc, model: Path, folder: Path) -> None:
    """Requires that OpenVINO computes the same from the written IR, and that reading and writing it yields the same
    bytes."""
    written, again = folder / "net.xml", folder / "again.xml"
    tool.must("compile", model, "-o", written)
    tool.must("compile", written, "-o", again)
    for suffix in (".xml", ".bin"):
        assert filecmp.cmp(written.with_suffix(suffix), again.with_suffix(suffix), shallow=False)
        again.with_suffix(suffix).unlink()
    (port,) = openvino_oracle.ov.Core().read_model(written).inputs
    inputs = {port.any_name: models.input_of(model, port.any_name, list(port.shape))}
    found = openvino_oracle.openvino_outputs(written, inputs)
    assert_agree(tool.outputs(model, "fast"), dict(zip(openvino_oracle.result_names(written), found, strict=True)))
    written.with_suffix(".bin").unlink()


@pytest.mark.parametrize("name", NETWORKS)
def test_openvino(tool: Nnefc, flat_model, tmp_path: Path, name: str) -> None:
    assert_openvino_agrees(tool, flat_model(name), tmp_path)


@pytest.mark.parametrize("dialect, name", SHARED)
def test_shared_openvino(tool: Nnefc, shared_model, tmp_path: Path, dialect: str, name: str) -> None:
    assert_openvino_agrees(tool, shared_model(dialect, name), tmp_path)


def test_random_weights(tool: Nnefc, flat_model) -> None:
    """nnefc generates exactly the values that make_weights.py writes."""
    actual = tool.run(models.NETWORKS / f"{RANDOM}.nnef", "--random-weights", models.SEED,
                      "--random-inputs", models.SEED, "--backend", "fast")
    assert_identical(actual, tool.outputs(flat_model(RANDOM), "fast"))
