"""Makes models for the tests, once each; runs them in nnefc and ONNX Runtime."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime as ort

import make_weights
import nnef_to_onnx
import onnx_builder

NETWORKS = Path(make_weights.__file__).resolve().parent
SEED = 1
TIMEOUT = 900
Outputs = dict[str, np.ndarray]


def stamp(*parts: bytes | str) -> str:
    """Returns a text that changes with any source of a folder."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
        digest.update(b"\0")
    return digest.hexdigest()


def made_once(folder: Path, mark: str, make: Callable[[Path], None]) -> Path:
    """Makes a folder unless an earlier run left one with the same mark; concurrent callers wait."""
    note = folder / ".stamp"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if note.exists() and note.read_text() == mark:
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make(folder)
        note.write_text(mark)
    return folder


def shared_model(document: Path, shared_data: Path, cache: Path) -> Path:
    """Returns the model of a shared document, made by the shared weight maker if there is one."""
    dialect, maker = document.parent.name, shared_data.parent / "tools" / "make_weights.py"
    maker = maker if maker.exists() else NETWORKS / "make_weights.py"
    flags = ["--provisional"] if dialect == "provisional" else []

    def make(folder: Path) -> None:
        subprocess.run([sys.executable, str(maker), str(document), str(folder), "--seed", str(SEED),
                        *flags], check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT)

    mark = stamp(document.read_bytes(), maker.read_bytes(), str(SEED), *flags)
    return made_once(cache / f"shared_{dialect}_{document.stem}", mark, make)


def flat_model(name: str, flat: str, cache: Path) -> Path:
    """Returns the model of one of our networks, with its document expanded."""
    def make(folder: Path) -> None:
        (folder / "flat.txt").write_text(flat)
        make_weights.make_model(folder / "flat.txt", folder, SEED)

    mark = stamp(flat, Path(make_weights.__file__).read_bytes())
    return made_once(cache / f"flat_{name}", mark, make)


def source_model(name: str, flat: Path, cache: Path) -> Path:
    """Returns the same model with the original document, and tensor files of its dialect."""
    source, provisional = NETWORKS / f"{name}.nnef", name.endswith("_provisional")

    def make(folder: Path) -> None:
        if provisional:
            make_weights.make_model(flat / "flat.txt", folder, SEED, provisional=True)
        else:
            _link_tensors(flat, folder)
        shutil.copyfile(source, folder / "graph.nnef")

    mark = stamp(source.read_bytes(), (flat / ".stamp").read_bytes())
    return made_once(cache / f"source_{name}", mark, make)


def _link_tensors(origin: Path, folder: Path) -> None:
    for path in origin.rglob("*.dat"):
        target = folder / path.relative_to(origin)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, target)


class Nnefc:
    """The binary under test; the outputs of a model on a backend are cached for the session."""

    def __init__(self, path: Path, scratch: Path) -> None:
        self.path, self.scratch = path, scratch
        self.known: dict[tuple[Path, str], Outputs] = {}
        self.environment = dict(os.environ)

    def call(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(self.path), *map(str, arguments)], capture_output=True, text=True,
                              timeout=TIMEOUT, env=self.environment)

    def without_transformations(self) -> Nnefc:
        """Runs with every transformation disabled."""
        listed = self.must("transform", "--list-transformations")
        names = [line.split()[0] for line in listed.splitlines() if "::" in line]
        assert names
        other = Nnefc(self.path, self.scratch)
        other.environment["NNEFC_DISABLED_TRANSFORMS"] = ",".join(names)
        return other

    def with_transformations(self, *names: str) -> Nnefc:
        """Runs with these transformations enabled in addition."""
        other = Nnefc(self.path, self.scratch)
        other.environment["NNEFC_ENABLED_TRANSFORMS"] = ",".join(names)
        return other

    def must(self, *arguments: object) -> str:
        done = self.call(*arguments)
        assert done.returncode == 0, f"nnefc {' '.join(map(str, arguments))}:\n{done.stderr}"
        return done.stdout

    def expand(self, document: Path) -> str:
        """Returns the flat text of a document."""
        out = self.scratch / f"expanded_{document.stem}_{len(list(self.scratch.iterdir()))}.nnef"
        self.must("expand", document, "-o", out)
        return out.read_text()

    def outputs(self, model: Path, backend: str) -> Outputs:
        """Returns the results of a model folder on its own input."""
        key = (model, backend)
        if key not in self.known:
            self.known[key] = self.run(model, "--input", f"input={model / 'input.dat'}",
                                       "--backend", backend)
        return self.known[key]

    def run(self, model: Path, *options: object) -> Outputs:
        out = self.scratch / "outputs.npz"
        out.unlink(missing_ok=True)
        self.must("run", model, *options, "--outputs", out)
        with np.load(out) as arrays:
            return {name: arrays[name] for name in arrays.files}


def statements(text: str) -> int:
    """Returns the number of statements of a flat document."""
    return len(re.findall(r"^    [\w\[][^=]* = \w+", text, re.MULTILINE))


def input_of(model: Path, name: str, shape: list[int]) -> np.ndarray:
    """Returns the input that is stored in a model folder."""
    offset, dtype = onnx_builder.header_of(model / f"{name}.dat")
    return np.fromfile(model / f"{name}.dat", dtype, offset=offset).reshape(shape)


def onnx_outputs(model: Path) -> Outputs:
    """Returns the outputs of ONNX Runtime for a model folder with a flat ratified document, on its own input."""
    path = nnef_to_onnx.save(model)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = {info.name: input_of(model, info.name, info.shape) for info in session.get_inputs()}
    names = [info.name for info in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def assert_agree(actual: Outputs, expected: Outputs, tolerance: float = 1e-4) -> None:
    """Requires max|a - b| <= tolerance * max|b| for scalars; other types agree exactly."""
    assert actual.keys() == expected.keys()
    for name, b in expected.items():
        a = actual[name]
        assert a.shape == b.shape, name
        if not np.issubdtype(b.dtype, np.floating):
            assert np.array_equal(a, b), name
            continue
        assert np.isfinite(a).all(), name
        difference, size = np.abs(a - b).max(), np.abs(b).max()
        assert difference <= tolerance * size, f"{name}: {difference:.3g} of {size:.3g}"


def assert_identical(actual: Outputs, expected: Outputs) -> None:
    """Requires equality bit for bit."""
    assert actual.keys() == expected.keys()
    for name, b in expected.items():
        a = actual[name]
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), name
