"""A server whose messages are written as bytes: for sessions of many messages, each of which costs the server little time."""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any

from conftest import CONFIG, NNEFC

INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}


def framed(message: object) -> bytes:
    content = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(content), content)


def request(method: str, params: object, number: int = 5) -> dict:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def notification(method: str, params: object) -> dict:
    return {"jsonrpc": "2.0", "method": method, "params": params}


class RawServer:
    """A running server; a context manager that ends it."""

    def __init__(self, initialize: dict = INITIALIZE):
        self._process = subprocess.Popen([NNEFC, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=CONFIG.server_env)
        self._number = 100
        self.send(initialize)

    def __enter__(self) -> RawServer:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            self._process.stdin.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def processor_seconds(self) -> float:
        """Returns the processor time of all threads until now."""
        # Linux: the clock of another process (clock_getcpuclockid).
        return time.clock_gettime((~self.pid << 3) | 2)

    def send(self, *messages: dict) -> None:
        """Writes messages at once."""
        self._process.stdin.write(b"".join(map(framed, messages)))
        self._process.stdin.flush()

    def request(self, method: str, params: dict) -> Any:
        """Returns the result of a request."""
        self._number += 1
        self.send(request(method, params, self._number))
        response = self._wait(lambda message: message.get("id") == self._number)
        assert "result" in response, response
        return response["result"]

    def diagnostics(self, version: int) -> list[dict]:
        """Waits for the diagnostics of a version of the document."""
        published = self._wait(lambda message: message.get("method") == "textDocument/publishDiagnostics"
                               and message["params"].get("version") == version)
        return published["params"]["diagnostics"]

    def _wait(self, is_wanted) -> dict:
        while True:
            header = self._process.stdout.readline()
            assert header.startswith(b"Content-Length: "), "the server ended"
            self._process.stdout.readline()
            message = json.loads(self._process.stdout.read(int(header.split(b":")[1])))
            if is_wanted(message):
                return message
