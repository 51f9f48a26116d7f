#!/usr/bin/env python3
"""What an installed package must be able to do, with numpy alone: smoke.py NETWORK"""

import subprocess
import sys
import time

import numpy as np

import nnefc


def main() -> int:
    start = time.monotonic()
    network = sys.argv[1]
    report = nnefc.check(network)
    assert report, report
    model = nnefc.load(network, random_weights=1)
    inputs = model.compile().random_inputs(1)
    fast = model.compile().run(inputs)
    plain = model.compile(backend="reference").run(inputs) if "--reference" in sys.argv else fast
    for name, value in fast.items():
        assert np.isfinite(value).all(), name
        assert np.abs(value - plain[name]).max() <= 1e-4 * np.abs(plain[name]).max(), name
    told = subprocess.run(["nnefc", "--version"], capture_output=True, text=True, check=True).stdout
    assert nnefc.__version__ in told, told
    module = subprocess.run([sys.executable, "-m", "nnefc", "check", network], check=False)
    assert module.returncode == 0
    print(f"{nnefc.__file__}: {network} checked and run in {time.monotonic() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
