"""Files of tract models other than graph.nnef and tensor files: `.safetensors` with the tensors of several labels, and
JSON files whose values `tract_resource_get` inserts into the document.

The package safetensors and Python's json write the files; expected values are NumPy's, of the same arrays.
"""

from __future__ import annotations

import json
import struct
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest
import safetensors
import safetensors.numpy

DOCUMENT = """version 1.0;

extension tract_registry tract_core;
extension tract_registry tract_resource;

graph net( x ) -> ( y )
{
    x = tract_core_external(shape = [2, 3], datum_type = 'f32');
    w = variable<scalar>(shape = [4, 3], label = 'layer.weight');
    b = variable<scalar>(shape = [1, 4], label = 'layer.bias');
    z = linear(x, w, b);
    shift = tract_resource_get('settings/config', '$.layers[1].shift');
    s = mul(z, tract_resource_get(key = '$.scale', label = 'settings/config'));
    r = add(s, shift);
    y = reshape(r, shape = tract_resource_get('settings/config', '$.shape'));
}
"""
CONFIG = {"scale": -2.5, "layers": [{}, {"shift": [[0.5, 1.0, -3.0, 1e1]]}], "shape": [4, 2], "a": None}
TYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]


def packed(folder: Path, form: str) -> Path:
    if form == "folder":
        return folder
    path = folder.with_suffix("." + form)
    with tarfile.open(path, "w:gz" if form == "tgz" else "w") as archive:
        archive.add(folder, arcname="." if form == "tar" else "model")
    return path


def command(nnefc: Path, *arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([nnefc, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    folder = tmp_path / "net"
    (folder / "settings").mkdir(parents=True)
    (folder / "graph.nnef").write_text(DOCUMENT)
    (folder / "settings" / "config.json").write_text(json.dumps(CONFIG))
    weights = {"layer.weight": rng.standard_normal((4, 3)).astype("f4")}
    biases = {"layer.bias": rng.standard_normal((1, 4)).astype("f2"), "unused": np.zeros((2, 0), "f4")}
    safetensors.numpy.save_file(weights, folder / "a.safetensors", metadata={"format": "pt"})
    safetensors.numpy.save_file(biases, folder / "settings" / "b.safetensors")
    x = rng.standard_normal((2, 3)).astype("f4")
    z = x.astype("f8") @ weights["layer.weight"].T.astype("f8") + biases["layer.bias"].astype("f8")
    y = (z * CONFIG["scale"] + np.asarray(CONFIG["layers"][1]["shift"])).reshape(4, 2)
    np.savez(tmp_path / "in.npz", x=x)
    np.savez(tmp_path / "expected.npz", y=y.astype("f4"))
    return folder


@pytest.mark.parametrize("form", ["folder", "tar", "tgz"])
def test_model_runs(nnefc: Path, model: Path, form: str) -> None:
    """Sums of three products in f32: 1e-6 of the largest output."""
    path = packed(model, form)
    done = command(nnefc, "run", path, "--inputs", model.parent / "in.npz", "--compare", model.parent / "expected.npz",
                   "--tolerance", "close")
    assert done.returncode == 0, done.stderr
    checked = command(nnefc, "check", path)
    assert checked.returncode == 0, checked.stderr


def test_document_alone_finds_its_folder(nnefc: Path, model: Path) -> None:
    assert command(nnefc, "check", model / "graph.nnef").returncode == 0


def test_flat_document_and_upgraded_model_need_neither(nnefc: Path, model: Path, tmp_path: Path) -> None:
    upgraded = tmp_path / "upgraded"
    done = command(nnefc, "upgrade", model, "-o", upgraded)
    assert done.returncode == 0, done.stderr
    assert not list(upgraded.rglob("*.json")) and not list(upgraded.rglob("*.safetensors"))
    assert "tract_" not in (upgraded / "graph.nnef").read_text()
    assert command(nnefc, "check", "--strict", upgraded).returncode == 0
    done = command(nnefc, "run", upgraded, "--inputs", tmp_path / "in.npz", "--compare", tmp_path / "expected.npz",
                   "--tolerance", "close")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", [*TYPES, "bfloat16", "bool"])
def test_item_types(nnefc: Path, tmp_path: Path, kind: str) -> None:
    """Exact: every type is read without rounding; the doubles in the file are representable in f32."""
    values = np.asarray([[0, 1, 2], [3, 100, 127]])
    if kind == "bool":
        values = values % 2
    if kind == "bfloat16":
        raw = (values.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
        header = json.dumps({"v": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, len(raw)]}}).encode()
        data = struct.pack("<Q", len(header)) + header + raw
        assert safetensors.deserialize(data)[0][1]["dtype"] == "BF16"  # NumPy cannot write this type
        (tmp_path / "w.safetensors").write_bytes(data)
    else:
        safetensors.numpy.save_file({"v": values.astype(kind)}, tmp_path / "w.safetensors")
    held = "logical" if kind == "bool" else "scalar" if "f" in kind else "integer"
    use = {"scalar": "add(x, v)", "logical": "select(v, x + 1.0, x)", "integer": "add(x, cast<scalar>(v))"}[held]
    (tmp_path / "graph.nnef").write_text(
        "version 1.0;\nextension KHR_enable_operator_expressions;\ngraph net(x) -> (y)\n{\n"
        "    x = external(shape = [2, 3]);\n"
        f"    v = variable<{held}>(shape = [2, 3], label = 'v');\n    y = {use};\n}}\n")
    x = np.arange(6, dtype="f4").reshape(2, 3)
    np.savez(tmp_path / "in.npz", x=x)
    np.savez(tmp_path / "expected.npz", y=(x + values).astype("f4"))
    done = command(nnefc, "run", "--lenient", tmp_path, "--inputs", tmp_path / "in.npz", "--compare", tmp_path / "expected.npz",
                   "--tolerance", "exact")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("change, told", [
    (("settings/config', '$.scale", "settings/config', '$.scal"), "did you mean `scale`? [resource.key]"),
    (("'$.shape'", "'$.a'"), "the key names null"),
    (("'$.shape'", "'shape'"), "is not a path into a JSON file"),
    (("'settings/config', '$.shape'", "'../net/settings/config', '$.shape'"), "[resource.missing]"),
    (("'settings/config', '$.shape'", "'/etc/passwd', '$.shape'"), "[resource.missing]"),
    (("label = 'layer.bias'", "label = '../layer.bias'"), "[variable.label]"),
])
def test_mistakes_are_told(nnefc: Path, model: Path, change: tuple[str, str], told: str) -> None:
    text = DOCUMENT.replace("key = '$.scale', label = 'settings/config'", "'settings/config', '$.scale'")
    assert change[0] in text
    (model / "graph.nnef").write_text(text.replace(*change))
    done = command(nnefc, "check", model)
    assert done.returncode == 1
    assert told in done.stderr, done.stderr
    assert "graph.nnef:" in done.stderr.splitlines()[0]
