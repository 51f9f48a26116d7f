"""Packs small exports of export.py for the tests.

    python pack.py FOLDER ARCHIVES

Writes ARCHIVES/FAMILY.zip, one for each target and one for the documents in 8 bits, with NAME/graph.nnef, graph.quant,
the tensor files, and NAME/io.npz (inputs `x0`.., torch's outputs `y0`..). Facts about the exporting machine are
removed.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from pathlib import Path

MAX_BYTES = {"khronos": 3_500, "tract": 6_000, "quantized": 12_000}  # per document
PRIVATE = re.compile(r'\n *\("(export_cmd|py_version|export_date)", ".*"\),?')
DATE = (2026, 1, 1, 0, 0, 0)


def family(target: str, name: str) -> str:
    return "quantized" if name.startswith("q_") else target


def main() -> None:
    folder, archives = Path(sys.argv[1]), Path(sys.argv[2])
    packed: dict[str, list[tuple[str, bytes]]] = {}
    for model in sorted(folder.glob("*/*.nnef.tgz")):
        name = model.name.removesuffix(".nnef.tgz")
        data = (folder / f"{name}.npz").read_bytes()
        with tarfile.open(model) as archive:
            members = [(member.name, archive.extractfile(member).read()) for member in archive if member.isfile()]
        of = family(model.parent.name, name)
        if sum(len(content) for _, content in members) + len(data) > MAX_BYTES[of]:
            continue
        entries = packed.setdefault(of, [])
        for member, content in sorted(members):
            if member.endswith("graph.nnef"):
                text = re.sub(r",(\s*\];)", r"\1", PRIVATE.sub("", content.decode()))
                content = re.sub(r"\n{3,}", "\n\n", text).encode()
            entries.append((f"{name}/{member}", content))
        entries.append((f"{name}/io.npz", data))
    for name, entries in packed.items():
        with zipfile.ZipFile(archives / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path, content in entries:
                archive.writestr(zipfile.ZipInfo(path, DATE), content, zipfile.ZIP_DEFLATED)
        print(f"{name}: {len({path.split('/')[0] for path, _ in entries})} documents")


if __name__ == "__main__":
    main()
