"""Stored documents of torch_to_nnef in torch_to_nnef/ (exporters/pack.py), by family: `khronos` and `tract` for the two
targets, `quantized` for those in 8 bits, which only the tract target has.

    python stored_exports.py NNEFC

Reports for each family how many documents were tried and how many passed, and exits with 1 if one fails. Float
documents are compared with torch's results, within 1e-4. Those in 8 bits are compared with tract, number for number, or
with torch, within two steps of the result, if tract refuses them.
"""

from __future__ import annotations

import re
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE / "exporters"), str(HERE.parent / "networks")]

from models import Nnefc  # noqa: E402
from check import difference, expect, quantization_of, split  # noqa: E402
from report import FAULTS  # noqa: E402

FAMILIES = ["khronos", "tract", "quantized"]
ARCHIVES = HERE / "torch_to_nnef"


@dataclass(frozen=True)
class Export:
    family: str
    name: str

    def unpack(self, folder: Path) -> tuple[Path, dict[str, np.ndarray]]:
        """Returns the model's folder, and inputs and outputs by name."""
        with zipfile.ZipFile(ARCHIVES / f"{self.family}.zip") as archive:
            archive.extractall(folder, [each for each in archive.namelist() if each.startswith(f"{self.name}/")])
        model = folder / self.name
        with np.load(model / "io.npz") as arrays:
            data = dict(arrays)
        (model / "io.npz").unlink()
        return model, data


def exports(family: str) -> list[Export]:
    with zipfile.ZipFile(ARCHIVES / f"{family}.zip") as archive:
        return [Export(family, name) for name in sorted({path.split("/")[0] for path in archive.namelist()})]


def known_fault(export: Export, text: str) -> str:
    """Returns the exporter's fault from its table; empty if none is known."""
    finding = f"{export.name}: {text}"
    return next((what for target, pattern, what in FAULTS if target in ("", export.family) and re.search(pattern, finding)), "")


def verdict(nnefc: Path, export: Export, folder: Path) -> str:
    """Returns "" if the document passes on both backends, else the failure."""
    model, arrays = export.unpack(folder)
    inputs, _ = split(arrays)
    expected, tolerance = expect(export.name, model, quantization_of(model), arrays)
    np.savez(folder / "in.npz", **inputs)
    tool = Nnefc(nnefc, folder)
    for backend in ("reference", "fast"):
        done = tool.call("run", model, "--lenient", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--backend", backend)
        if done.returncode:
            return next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-200:])
        with np.load(folder / "out.npz") as written:
            seen = [written[name] for name in written.files][: len(expected)]
        worst = max(difference(*pair) for pair in zip(seen, expected))
        if not worst <= tolerance:
            return f"{backend}: differs by {worst:.1e}"
    return ""


def report(nnefc: Path) -> bool:
    """Prints a line for each family; returns true if no document failed except by its exporter's fault."""
    failures = []
    print(f"{'family':10} {'tried':>6} {'passed':>6} {'exporter wrong':>14} {'failed':>6}")
    for family in FAMILIES:
        counts = {"passed": 0, "wrong": 0, "failed": 0}
        documents = exports(family)
        for export in documents:
            with tempfile.TemporaryDirectory() as folder:
                text = verdict(nnefc, export, Path(folder))
            kind = "passed" if not text else "wrong" if known_fault(export, text) else "failed"
            counts[kind] += 1
            if kind == "failed":
                failures.append(f"{family} {export.name}: {text}")
        print(f"{family:10} {len(documents):6} {counts['passed']:6} {counts['wrong']:14} {counts['failed']:6}", flush=True)
    print("".join(f"{failure}\n" for failure in failures), end="")
    return not failures


if __name__ == "__main__":
    sys.exit(0 if report(Path(sys.argv[1]).resolve()) else 1)
