"""Times the exports of the tract target that export.py wrote: nnefc and tract alternate, on one thread each.

    python times.py NNEFC FOLDER [NAME...]

Prints a table for tests/bench/results: medians in milliseconds, nnefc's ratio to tract, and whether tract's outputs
agree with torch's. The machine must be idle otherwise.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import numpy as np

import report
from check import split


def main() -> int:
    nnefc, folder, names = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    print(f"{'network':26} {'nnefc':>9} {'tract':>9} {'ratio':>6}  tract's outputs")
    ratios = []
    for model in sorted(folder.glob("tract/*.nnef.tgz")):
        name = model.name.removesuffix(".nnef.tgz")
        if names and name not in names:
            continue
        with np.load(folder / f"{name}.npz") as file:
            inputs, outputs = split(dict(file))
        with tempfile.TemporaryDirectory() as scratch:
            np.savez(Path(scratch) / "in.npz", allow_pickle=False, **inputs)
            ours = report.time_ours(nnefc, model, Path(scratch))
        theirs, said = report.time_tracts(model, list(inputs.values()), outputs)
        if ours is None or theirs is None:
            print(f"{name:26} {'' if ours is None else f'{ours:.2f}':>9} {'':>9} {'':>6}  {said}", flush=True)
            continue
        ratios.append(ours / theirs)
        print(f"{name:26} {ours:9.2f} {theirs:9.2f} {ours / theirs:6.2f}  {said}", flush=True)
    if ratios:
        print(f"geometric mean of {len(ratios)}: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
