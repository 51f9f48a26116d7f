"""The peak memory of a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# Runs in a separate process, since the size of the test's own would hide it.
MEASURE = ("import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
           "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")


def peak_of(nnefc: Path, *arguments: object) -> int:
    """Returns the peak memory in KiB of a command of nnefc that succeeds."""
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, str(nnefc), *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, check=False)
    code, peak = map(int, done.stdout.split())
    assert code == 0, done.stderr
    return peak
