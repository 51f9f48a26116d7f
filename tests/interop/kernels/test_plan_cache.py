"""`--plan-cache`: results are the same bit for bit; the second process makes nothing; changed weights are detected."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from processor import bf16_environment

NETWORKS = Path(__file__).resolve().parent.parent.parent / "networks"
PRECISIONS = ["f32", "exact", "bf16"]


def run(nnefc: Path, model: Path, out: Path, *arguments: object) -> tuple[dict[str, bytes], dict[str, int], str]:
    """Returns the bytes of the outputs, the found and missing items of the cache, and warnings."""
    words = [nnefc, "run", model, "--random-inputs", 1, "--verbose", "--format", "json", "--output", out, *arguments]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with np.load(out) as archive:
        outputs = {name: archive[name].tobytes() for name in archive.files}
    return outputs, json.loads(done.stdout).get("plan_cache", {}), done.stderr


@pytest.fixture(scope="module", params=sorted(path.stem for path in NETWORKS.glob("*.nnef") if "provisional" not in path.stem))
def network(request: pytest.FixtureRequest, nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each network with its weights in files."""
    folder = tmp_path_factory.mktemp(request.param)
    words = ["run", NETWORKS / f"{request.param}.nnef", "--random-weights", 1, "--random-inputs", 1, "--save-weights", folder / "model"]
    subprocess.run([str(word) for word in [nnefc, *words]], check=True, capture_output=True, timeout=300)
    return folder / "model"


@pytest.mark.parametrize("precision", PRECISIONS)
def test_results_are_the_same(nnefc: Path, network: Path, precision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in bf16_environment().items() if precision == "bf16" else ():
        monkeypatch.setenv(name, value)
    given = ["--precision", precision, "--threads", 1]
    expected, _, _ = run(nnefc, network, tmp_path / "out.npz", *given)
    given += ["--plan-cache", tmp_path / "cache"]
    first, made, _ = run(nnefc, network, tmp_path / "out.npz", *given)
    second, found, _ = run(nnefc, network, tmp_path / "out.npz", *given)
    assert first == expected
    assert second == expected
    assert made["found"] == 0
    assert found == {"found": made["made"], "made": 0, "measured": 0}
    assert made["made"] > 0


@pytest.mark.parametrize("precision", PRECISIONS[:2])
def test_what_was_measured_is_kept(nnefc: Path, network: Path, precision: str, tmp_path: Path) -> None:
    """With any algorithms, outputs are those of the reference backend within the bounds of the precision."""
    given = ["--precision", precision, "--threads", 1, "--plan-cache", tmp_path / "cache"]
    run(nnefc, network, tmp_path / "expected.npz", "--backend", "reference")
    _, tuning, _ = run(nnefc, network, tmp_path / "tuned.npz", *given, "--tune")
    _, kept, _ = run(nnefc, network, tmp_path / "kept.npz", *given)
    assert tuning["measured"] > 0
    assert kept["made"] == kept["measured"] == 0
    tuned, again, expected = (dict(np.load(tmp_path / f"{name}.npz")) for name in ("tuned", "kept", "expected"))
    for name in ["logits"] if "logits" in expected else expected:
        assert tuned[name].tobytes() == again[name].tobytes()
        distance = np.abs(tuned[name] - expected[name]).max() / np.abs(expected[name]).max()
        assert distance <= 5e-5  # softmax of large numbers, as from random weights


@pytest.fixture(name="small")
def small_model(nnefc: Path, tmp_path: Path) -> Path:
    """Makes a folder with a convolution and a matrix multiplication, whose files are old enough to be identified by
    their time."""
    text = """version 1.0;
graph net(x) -> (y)
{
    x = external(shape = [1, 32, 20, 20]);
    filter = variable(shape = [32, 32, 3, 3], label = 'filter');
    w = variable(shape = [64, 12800], label = 'w');
    c = conv(x, filter, padding = [(1,1), (1,1)]);
    r = reshape(c, shape = [1, 12800]);
    y = linear(r, w);
}
"""
    (tmp_path / "net.nnef").write_text(text)
    words = ["run", tmp_path / "net.nnef", "--random-weights", 1, "--random-inputs", 1, "--save-weights", tmp_path / "model"]
    subprocess.run([str(word) for word in [nnefc, *words]], check=True, capture_output=True, timeout=300)
    return tmp_path / "model"


def test_changed_weights_are_noticed(nnefc: Path, small: Path, tmp_path: Path) -> None:
    cache = ["--plan-cache", tmp_path / "cache"]
    before, _, _ = run(nnefc, small, tmp_path / "out.npz", *cache)
    run(nnefc, small, tmp_path / "out.npz", *cache)
    file = small / "filter.dat"
    status = file.stat()
    weights = np.memmap(file, np.float32, "r+", offset=128)
    weights[17] += 1
    weights.flush()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    expected, _, _ = run(nnefc, small, tmp_path / "out.npz")
    assert expected != before
    found, use, _ = run(nnefc, small, tmp_path / "out.npz", *cache)
    assert found == expected
    assert use["made"] > 0


def test_processes_at_once(nnefc: Path, small: Path, tmp_path: Path) -> None:
    expected, _, _ = run(nnefc, small, tmp_path / "out.npz", "--threads", 1)
    words = [nnefc, "run", small, "--random-inputs", 1, "--plan-cache", tmp_path / "cache", "--threads", 1]
    started = [subprocess.Popen([str(word) for word in [*words, "--output", tmp_path / f"out{i}.npz"]], stderr=subprocess.PIPE)
               for i in range(8)]
    for i, process in enumerate(started):
        _, stderr = process.communicate(timeout=300)
        assert process.returncode == 0
        assert stderr == b""
        with np.load(tmp_path / f"out{i}.npz") as archive:
            assert {name: archive[name].tobytes() for name in archive.files} == expected
    assert not [path for path in (tmp_path / "cache").iterdir() if path.suffix not in (".plan", ".used") and path.name != "files"]
    _, use, _ = run(nnefc, small, tmp_path / "out.npz", "--plan-cache", tmp_path / "cache", "--threads", 1)
    assert use["made"] == 0


def test_a_damaged_file_is_told(nnefc: Path, small: Path, tmp_path: Path) -> None:
    cache = ["--plan-cache", tmp_path / "cache"]
    expected, _, _ = run(nnefc, small, tmp_path / "out.npz", *cache)
    entry = next((tmp_path / "cache").glob("*.plan"))
    with entry.open("r+b") as file:
        file.seek(-5, os.SEEK_END)
        file.write(b"1")
    found, use, stderr = run(nnefc, small, tmp_path / "out.npz", *cache)
    assert found == expected
    assert use["found"] == 0
    assert "runtime.plan-cache" in stderr and "is damaged; it is written again" in stderr
    assert run(nnefc, small, tmp_path / "out.npz", *cache)[1]["made"] == 0


def test_a_folder_that_cannot_be_written(nnefc: Path, small: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    expected, _, _ = run(nnefc, small, tmp_path / "out.npz")
    found, _, stderr = run(nnefc, small, tmp_path / "out.npz", "--plan-cache", tmp_path / "cache")
    assert found == expected
    assert stderr.count("runtime.plan-cache") == 1
