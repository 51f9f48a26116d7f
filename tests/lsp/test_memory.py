"""The memory of the server over a hundred thousand changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from raw_server import RawServer, notification
from test_robustness import OPEN, TEXT, URI

CHANGES = 100_000
# Every such change is followed by a request, which checks the text.
CHECKED = 20
ROUNDS = 10


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def change(version: int) -> dict:
    """Replaces a name by a new one, each other time by a change of a range, which is reverted by the next change of the whole text."""
    if version % 2 == 0:
        content = {"text": TEXT.replace("y", f"name{version}")}
    else:
        column = len("    y = ")
        content = {"range": {"start": {"line": 4, "character": column}, "end": {"line": 4, "character": column + 4}}, "text": f"f{version}"}
    return notification("textDocument/didChange", {"textDocument": {"uri": URI, "version": version}, "contentChanges": [content]})


@pytest.mark.skipif(os.environ.get("NNEFC_SANITIZE") == "ON", reason="a sanitizer keeps freed memory")
def test_memory_is_flat() -> None:
    with RawServer() as server:
        server.send(OPEN)
        version, sizes = 2, []
        for _ in range(ROUNDS):
            for _ in range(CHANGES // ROUNDS // CHECKED):
                server.send(*(change(version + i) for i in range(CHECKED)))
                version += CHECKED
                method = ("documentSymbol", "semanticTokens/full")[version // CHECKED % 2]
                server.request(f"textDocument/{method}", {"textDocument": {"uri": URI}})
            sizes.append(resident_bytes(server.pid))
    assert version == CHANGES + 2
    assert sizes[-1] < sizes[1] + (1 << 20), sizes
