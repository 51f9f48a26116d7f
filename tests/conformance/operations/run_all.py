#!/usr/bin/env python3
"""Makes the suite and runs nnefc over it on both backends: run_all.py NNEFC FOLDER."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(nnefc: str, folder: str) -> int:
    subprocess.run([sys.executable, HERE / "make.py", folder], check=True)
    failed = 0
    for backend in ["reference", "fast"]:
        print(f"backend {backend}")
        failed |= subprocess.run([
            sys.executable, HERE / "run.py", "--cases", folder, "--jobs", "2", "--rules", "-v",
            "--command", f"{nnefc} run {{model}} --inputs {{inputs}} --outputs {{outputs}} --backend {backend}",
            "--check", f"{nnefc} check {{model}}"]).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
