"""Profiles of devices against their JSON schema, with the package `jsonschema`: the reader of `nnefc check --target` and the
schema accept and reject the same profiles, except for names of operations, inputs and attributes, which the reader alone knows.
`expand` and `convert` write what a device accepts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "tools" / "examples" / "device"
SCHEMA = json.loads((EXAMPLES / "profile.schema.json").read_text("utf-8"))
DOCUMENT = "version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 3, 8, 8]);\n    y = relu(x);\n}\n"


def _operation(entry: Any) -> dict[str, Any]:
    return {"operations": {"external": {}, "relu": {}, "conv": entry}}


def _attribute(allowed: Any) -> dict[str, Any]:
    return _operation({"attributes": {"dilation": allowed}})


ACCEPTED = [
    {}, {"$schema": "s", "name": ""}, {"dialect": "any"}, {"dialect": "ratified"}, {"fragments": True}, {"extensions": []},
    {"extensions": ["a b"]}, {"custom_operations": {"f": {"attributes": {"any": [1]}}}}, _operation({}), _attribute([]),
    _attribute([1, 1.5, "a", True, [], [[0, 0]], {"min": 1}]), _attribute({"max": -1.5}), _operation({"kernel": [1, {"max": 3}]}),
    _operation({"inputs": {"filter": {"ranks": {"min": 4}}}}), {"tensors": {"types": ["scalar", "string"], "max_extents": 8}},
    {"tensors": {"max_extents": [0, 1]}}, {"weight_types": ["boolean", "f16", "i1", "u64"]}, {"scalar_bits": 1}, {"scalar_bits": 64},
    {"scalar_bits": 8.0}, {"limits": {"operations": 1000}}, {"limits": {"weight_bytes": 1000, "activation_bytes": 1000000}},
]
REJECTED = [
    [], None, 1, {"$schema": 1}, {"name": None}, {"dialect": "provisional"}, {"fragments": 0}, {"fragments": "no"}, {"extensions": ""},
    {"extensions": [""]}, {"extensions": [1]}, {"operations": []}, {"operations": {"relu": []}}, _operation({"extents": 1}),
    _attribute(1), _attribute("a"), _attribute({}), _attribute([{}]), _attribute([None]), _attribute([[None]]), _attribute([[{"min": 1}]]),
    _attribute({"min": "1"}), _attribute({"least": 1}), _operation({"kernel": 3}), _operation({"kernel": [-1]}),
    _operation({"kernel": [1.5]}), _operation({"kernel": ["3"]}), _operation({"inputs": {"filter": {"kernel": [1]}}}),
    _operation({"inputs": []}), _operation({"attributes": []}), {"custom_operations": {"f": {"kernel": [1]}}},
    {"tensors": {"types": ["f16"]}}, {"tensors": {"types": "scalar"}}, {"tensors": {"max_extents": -1}}, {"tensors": {"max_extents": [1.5]}},
    {"weight_types": ["f0"]}, {"weight_types": ["f65"]}, {"weight_types": ["f016"]}, {"weight_types": ["scalar"]}, {"scalar_bits": 0},
    {"scalar_bits": 65}, {"scalar_bits": "8"}, {"limits": {"operations": -1}}, {"limits": {"operations": 0.5}}, {"limits": {"bytes": 1}},
    {"limits": 5}, {"other": 1},
]


def _rules(nnefc: Path, profile: Path, model: Path) -> list[str]:
    done = subprocess.run([str(nnefc), "check", "--target", str(profile), "--format", "json", str(model)], capture_output=True, check=False)
    found = [each["rule"] for each in json.loads(done.stderr)["diagnostics"]]
    assert done.returncode == (1 if found else 0), done.stderr
    return found


@pytest.mark.parametrize("accepts", [True, False])
def test_reader_and_schema_agree(nnefc: Path, tmp_path: Path, accepts: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    model, file = tmp_path / "net.nnef", tmp_path / "device.json"
    model.write_text(DOCUMENT, "utf-8")
    for profile in ACCEPTED if accepts else REJECTED:
        assert validator.is_valid(profile) == accepts, profile
        file.write_text(json.dumps(profile), "utf-8")
        mistakes = [rule for rule in _rules(nnefc, file, model) if rule.startswith("device.profile-")]
        assert (not mistakes) == accepts, (profile, mistakes)


@pytest.mark.parametrize("name", ["npu", "interpreter"])
def test_examples_satisfy_the_schema(nnefc: Path, tmp_path: Path, name: str) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads((EXAMPLES / f"{name}.json").read_text("utf-8")))
    model = tmp_path / "net.nnef"
    model.write_text(DOCUMENT, "utf-8")
    assert _rules(nnefc, EXAMPLES / f"{name}.json", model) == []


def test_npu_rejects_what_it_lacks(nnefc: Path, tmp_path: Path) -> None:
    model = tmp_path / "net.nnef"
    model.write_text(DOCUMENT.replace("relu(x)", "sigmoid(x)").replace("8, 8", "8, 1025"), "utf-8")
    assert sorted(_rules(nnefc, EXAMPLES / "npu.json", model)) == ["device.extent", "device.extent", "device.operation"]


# `clamp` is the maximum and the minimum of its bounds.
CLAMP = DOCUMENT.replace("relu(x)", "clamp(x, -0.5, 0.5)")
MAX_MIN = {"operations": {"external": {}, "max": {}, "min": {}}}


def _call(nnefc: Path, folder: Path, profile: Any, *words: object) -> subprocess.CompletedProcess[str]:
    """Runs a command for a device; the profile is None for a file that does not exist, or the text of the file."""
    (folder / "device.json").unlink(missing_ok=True)
    if profile is not None:
        (folder / "device.json").write_text(profile if isinstance(profile, str) else json.dumps(profile), "utf-8")
    command = [str(nnefc), *map(str, words), "--target", "device.json"]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def test_documents_are_expanded_for_a_device(nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text(CLAMP, "utf-8")
    done = _call(nnefc, tmp_path, MAX_MIN, "expand", "net.nnef", "-o", "flat.nnef")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "flat.nnef").read_text("utf-8")
    assert "max(" in text and "min(" in text and "clamp" not in text
    assert _rules(nnefc, tmp_path / "device.json", tmp_path / "flat.nnef") == []
    x = np.random.default_rng(1).normal(size=(1, 3, 8, 8)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    subprocess.run([str(nnefc), "run", "flat.nnef", "--input", "x=x.npy", "--outputs", "y.npz"], check=True, capture_output=True, cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["y"], np.clip(x, -0.5, 0.5))
    # A compound that the device has remains.
    accepted = {"operations": {**MAX_MIN["operations"], "clamp": {}}}
    assert "clamp(" in _call(nnefc, tmp_path, accepted, "expand", "net.nnef").stdout


@pytest.mark.parametrize(("profile", "exit_code", "message"), [
    ({"operations": {"external": {}, "max": {}}}, 1, "[device.operation]"),
    ({**MAX_MIN, "limits": {"operations": 1}}, 1, "[device.operation-count]"),
    ({"operations": {"clip": {}}}, 1, "[device.profile-"),
    ("{", 1, "[device.profile-"),
    (None, 2, "device.json"),
])
@pytest.mark.parametrize("command", ["expand", "convert"])
def test_what_a_device_lacks_is_reported(nnefc: Path, tmp_path: Path, command: str, profile: Any, exit_code: int, message: str) -> None:
    (tmp_path / "net.nnef").write_text(CLAMP, "utf-8")
    done = _call(nnefc, tmp_path, profile, command, "net.nnef", "-o", "flat.nnef")
    assert done.returncode == exit_code and message in done.stderr, done.stderr
    assert not (tmp_path / "flat.nnef").exists()


@pytest.mark.parametrize("command", ["expand", "convert"])
def test_as_many_operations_as_a_device_has(nnefc: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "net.nnef").write_text(CLAMP, "utf-8")
    done = _call(nnefc, tmp_path, {**MAX_MIN, "limits": {"operations": 2}}, command, "net.nnef", "-o", "flat.nnef")
    assert (done.returncode, done.stderr) == (0, "") and (tmp_path / "flat.nnef").exists()


def test_models_are_converted_for_a_device(nnefc: Path, tmp_path: Path) -> None:
    """A matrix multiplication with a bias would be `linear`, and its limits `clamp`."""
    ov = pytest.importorskip("openvino")
    from openvino import opset13

    random = np.random.default_rng(1)
    weights, bias, x = (random.normal(size=shape).astype(np.float32) for shape in [(4, 16), (1, 4), (2, 16)])
    data = opset13.parameter(x.shape, np.float32, name="x")
    data.output(0).set_names({"x"})
    y = opset13.add(opset13.matmul(data, opset13.constant(weights), False, True), opset13.constant(bias))
    y = opset13.clamp(y, 0.0, 1.0)
    y.output(0).set_names({"y"})
    ov.save_model(ov.Model([opset13.result(y)], [data], "net"), tmp_path / "net.xml", compress_to_fp16=False)
    listed = ["external", "variable", "constant", "matmul", "add", "max", "min"]
    profile: dict[str, Any] = {"operations": {name: {} for name in listed}, "weight_types": ["f32"]}
    done = _call(nnefc, tmp_path, profile, "convert", "net.xml", "-o", "model")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "model" / "graph.nnef").read_text("utf-8")
    assert "linear" not in text and "clamp" not in text and "matmul(" in text
    assert _rules(nnefc, tmp_path / "device.json", tmp_path / "model") == []
    np.save(tmp_path / "x.npy", x)
    subprocess.run([str(nnefc), "run", "model", "--input", "x=x.npy", "--outputs", "y.npz"], check=True, capture_output=True, cwd=tmp_path)
    np.testing.assert_allclose(np.load(tmp_path / "y.npz")["y"], np.clip(x @ weights.T + bias, 0, 1), rtol=1e-5, atol=1e-6)
    # A primitive that the device lacks, and items that it does not read.
    profile["operations"].pop("matmul")
    profile["weight_types"] = ["f16"]
    done = _call(nnefc, tmp_path, profile, "convert", "net.xml", "-o", "other", "--format", "json")
    found = {each["rule"] for each in json.loads(done.stderr or done.stdout)["diagnostics"]}
    assert found == {"device.operation", "device.weights"} and not (tmp_path / "other").exists()
