"""Forms in which a section of a rule file states a file that is not plain text.

    == file: net.nnef (escaped)     text in which `\\xNN` is a byte; no line end after the last line
    == file: model/w.dat (bytes)    one line of values each: `hex 4e ef`, `u32 16`, `f32 1.0 2.0`, `zeros 84`,
                                    `text "NNEF"`, `file OTHER [BEGIN [END]]` for the bytes of an earlier file
                                    and `repeat 65 LINE`
    == file: model.tgz (tar)        one line per member: `NAME = OTHER`, `NAME -> TARGET` (a link), `NAME: fifo`,
                                    `NAME ~ OTHER` (with a hole after its bytes); compressed as the suffixes
                                    of its name say (tgz, gz, xz, bz2), the first one first
    == file: data.npz (zip)         one line per member: `NAME = OTHER`

In the last three `#` begins a comment.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import struct
import tarfile
import zipfile

FORMATS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
           "f16": "e", "f32": "f", "f64": "d"}
COMPRESSIONS = {"gz": lambda content: gzip.compress(content, mtime=0), "tgz": lambda content: gzip.compress(content, mtime=0),
                "xz": lzma.compress, "bz2": bz2.compress}


def make(name: str, form: str, text: str, files: dict[str, bytes]) -> bytes:
    """Returns the bytes of file `name`; `files` are the earlier ones. Raises ValueError for an invalid text."""
    if not form:
        return text.encode("utf-8")
    if form == "escaped":
        raw = text.removesuffix("\n").encode("utf-8")
        return re.sub(rb"\\x([0-9a-fA-F]{2})", lambda match: bytes([int(match[1], 16)]), raw)
    lines = [line.strip() for line in re.sub(r"#[^\n]*", "", text).split("\n")]
    lines = [line for line in lines if line]
    if form == "bytes":
        return b"".join(_values(line, files) for line in lines)
    if form == "tar":
        return _tar(name, lines, files)
    if form == "zip":
        return _zip(lines, files)
    raise ValueError(f"unknown form `{form}` of {name}")


def _values(line: str, files: dict[str, bytes]) -> bytes:
    kind, _, rest = line.partition(" ")
    if kind == "repeat":
        count, _, repeated = rest.partition(" ")
        return int(count) * _values(repeated, files)
    if kind == "hex":
        return bytes.fromhex(rest)
    if kind == "zeros":
        return bytes(int(rest))
    if kind == "text":
        return json.loads(rest).encode("utf-8")
    if kind == "file":
        name, *bounds = rest.split()
        begin, end = [int(bound) for bound in bounds] + [0, len(files[name])][len(bounds):]
        return files[name][begin:end]
    convert = float if kind.startswith("f") else int
    return b"".join(struct.pack("<" + FORMATS[kind], convert(word)) for word in rest.split())


def _tar(name: str, lines: list[str], files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    sparse = any(" ~ " in line for line in lines)
    form = tarfile.PAX_FORMAT if sparse else tarfile.USTAR_FORMAT
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for line in lines:
            if " -> " in line:
                member, target = line.split(" -> ")
                info = tarfile.TarInfo(member)
                info.type, info.linkname = tarfile.SYMTYPE, target
                archive.addfile(info)
            elif line.endswith(": fifo"):
                info = tarfile.TarInfo(line.removesuffix(": fifo"))
                info.type = tarfile.FIFOTYPE
                archive.addfile(info)
            else:
                member, source = line.split(" ~ " if " ~ " in line else " = ")
                info = tarfile.TarInfo(member)
                if " ~ " in line:
                    size = len(files[source])
                    info.pax_headers = {"GNU.sparse.size": str(2 * size), "GNU.sparse.numblocks": "1",
                                        "GNU.sparse.map": f"0,{size}"}
                info.size = len(files[source])
                archive.addfile(info, io.BytesIO(files[source]))
    content = out.getvalue()
    for suffix in name.split(".")[1:]:
        if suffix in COMPRESSIONS:
            content = COMPRESSIONS[suffix](content)
    return content


def _zip(lines: list[str], files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for line in lines:
            member, source = line.split(" = ")
            archive.writestr(zipfile.ZipInfo(member), files[source])
    return out.getvalue()
