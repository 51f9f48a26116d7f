"""The memory that a command takes at most."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# In a process of its own, whose size that of the test would hide.
MEASURE = ("import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
           "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")


def peak_of(nnefc: Path, *arguments: object) -> int:
    """KiB that a command of nnefc, which succeeds, takes at most."""
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, str(nnefc), *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, check=False)
    code, peak = map(int, done.stdout.split())
    assert code == 0, done.stderr
    return peak
