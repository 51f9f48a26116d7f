#!/usr/bin/env python3
"""Checks that programs and libraries run on glibc 2.28 and the C++ library of GCC 8: check_versions.py FILE...

They need no newer symbol, and no other library of the system.
"""

from __future__ import annotations

import re
import subprocess
import sys

from old_libraries import MAX_VERSIONS, number_of

SYSTEM = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2"}


def faults_of(file: str) -> list[str]:
    text = subprocess.run(["readelf", "-W", "--dynamic", "--version-info", file], stdout=subprocess.PIPE, text=True, check=True).stdout
    faults = []
    for version in sorted(set(re.findall(r"Name: (\w+_[\w.]+)  Flags", text))):
        family, numbers = number_of(version)
        if family in MAX_VERSIONS and (not numbers or numbers > MAX_VERSIONS[family]):
            faults.append(f"{file} needs {version}")
    for library in re.findall(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]", text):
        if library not in SYSTEM and not library.startswith("libnnefc"):
            faults.append(f"{file} needs the library {library}")
    return faults


def main() -> int:
    faults = [fault for file in sys.argv[1:] for fault in faults_of(file)]
    print("\n".join(faults) if faults else f"{len(sys.argv) - 1} files run on glibc 2.28")
    return 1 if faults or len(sys.argv) == 1 else 0


if __name__ == "__main__":
    sys.exit(main())
