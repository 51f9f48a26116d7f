"""Profiles of devices against their JSON schema, with the package `jsonschema`: the reader of `nnefc check --target` and the
schema accept and reject the same profiles, except for names of operations, inputs and attributes, which the reader alone knows."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
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
