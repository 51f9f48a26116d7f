"""The memory of the server over a hundred thousand changes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import CONFIG, NNEFC
from test_robustness import INITIALIZE, OPEN, TEXT, URI, framed

CHANGES = 100_000
# Every such change is followed by a request, which checks the text.
CHECKED = 20
ROUNDS = 10


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def change(version: int) -> bytes:
    """Replaces a name by a new one, each other time by a change of a range, which is reverted by the next change of the whole text."""
    if version % 2 == 0:
        content = {"text": TEXT.replace("y", f"name{version}")}
    else:
        column = len("    y = ")
        content = {"range": {"start": {"line": 4, "character": column}, "end": {"line": 4, "character": column + 4}}, "text": f"f{version}"}
    return framed({"jsonrpc": "2.0", "method": "textDocument/didChange",
                   "params": {"textDocument": {"uri": URI, "version": version}, "contentChanges": [content]}})


def request(number: int) -> bytes:
    method = ("textDocument/documentSymbol", "textDocument/semanticTokens/full")[number % 2]
    return framed({"jsonrpc": "2.0", "id": number, "method": method, "params": {"textDocument": {"uri": URI}}})


@pytest.mark.skipif(os.environ.get("NNEFC_SANITIZE") == "ON", reason="a sanitizer keeps freed memory")
def test_memory_is_flat() -> None:
    with subprocess.Popen([NNEFC, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=CONFIG.server_env) as server:
        assert server.stdin is not None and server.stdout is not None

        def wait_for(number: int) -> dict:
            while True:
                length = int(server.stdout.readline().split(b":")[1])
                server.stdout.readline()
                message = json.loads(server.stdout.read(length))
                if message.get("id") == number:
                    return message

        server.stdin.write(framed(INITIALIZE) + framed(OPEN))
        version, number, sizes = 2, 100, []
        for _ in range(ROUNDS):
            for _ in range(CHANGES // ROUNDS // CHECKED):
                data = b"".join(change(version + i) for i in range(CHECKED))
                version, number = version + CHECKED, number + 1
                server.stdin.write(data + request(number))
                server.stdin.flush()
                assert "result" in wait_for(number)
            sizes.append(resident_bytes(server.pid))
        server.stdin.close()
    assert version == CHANGES + 2
    assert sizes[-1] < sizes[1] + (1 << 20), sizes
