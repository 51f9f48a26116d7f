#!/usr/bin/env python3
"""Prints a software bill of materials (CycloneDX 1.5, JSON) of the release artefacts: sbom.py VERSION FILE...

Its components are the libraries whose code is part of the artefacts, with the versions that this system has, and the layout library of
drawings, whose file is part of the sources.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import subprocess
import sys

# Debian packages with the code of each library, and the library's license.
LIBRARIES = {
    "libantlr4-runtime-dev": "BSD-3-Clause",
    "libarchive-dev": "BSD-2-Clause",
    "libbz2-dev": "bzip2-1.0.6",
    "libcli11-dev": "BSD-3-Clause",
    "libfmt-dev": "MIT",
    "liblz4-dev": "BSD-2-Clause",
    "liblzma-dev": "0BSD",
    "libncurses-dev": "X11",
    "libpugixml-dev": "MIT",
    "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libzstd-dev": "BSD-3-Clause",
    "llvm-14-dev": "Apache-2.0 WITH LLVM-exception",
    "nettle-dev": "LGPL-3.0-or-later",
    "nlohmann-json3-dev": "MIT",
    "zlib1g-dev": "Zlib",
}


LAYOUT_LIBRARY = pathlib.Path(__file__).resolve().parents[1] / "api/views/page/dagre.min.js"  # begins with its version


def layout_library() -> dict[str, object]:
    with LAYOUT_LIBRARY.open(encoding="utf-8") as file:
        version = file.readline().split()[2].rstrip(",")
    purl = f"pkg:npm/%40dagrejs/dagre@{version}"
    return {"type": "library", "name": "dagre", "version": version, "purl": purl, "bom-ref": purl, "licenses": [{"expression": "MIT"}]}


def component_of(package: str, license_expression: str) -> dict[str, object]:
    form = "${source:Package} ${source:Version}"
    name, version = subprocess.run(["dpkg-query", "-W", "-f", form, package], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    purl = f"pkg:deb/debian/{name}@{version}?arch=source".replace("+", "%2B")
    return {"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl, "licenses": [{"expression": license_expression}]}


def main() -> int:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    version, files = sys.argv[1], map(pathlib.Path, sys.argv[2:])
    artefacts = [
        {"type": "file", "name": file.name, "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}]}
        for file in files
    ]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "name": "nnefc", "version": version, "purl": f"pkg:pypi/nnefc@{version}", "bom-ref": "nnefc",
                "licenses": [{"license": {"id": "Apache-2.0"}}], "components": artefacts,
            },
        },
        "components": [component_of(package, expression) for package, expression in LIBRARIES.items()] + [layout_library()],
    }  # fmt: skip
    print(json.dumps(bill, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
