"""Tools under test: a command that is started for each case, or a server that is started once."""

from __future__ import annotations

import json
import select
import shlex
import subprocess
import threading
from pathlib import Path

SECONDS = 120
STARTS = 3  # a server that ends this many times before its first answer cannot be started
CRASHED = 126  # exit codes from here on are the shell's and those of signals


class ToolError(Exception):
    """The tool cannot be started, or its command line is malformed."""


def words_of(template: str, **names: Path) -> list[str]:
    """The words of a command line. Only known names in braces are replaced."""
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise ToolError(f"invalid command `{template}`: {error}") from error
    for name, path in names.items():
        words = [word.replace(f"{{{name}}}", str(path)) for word in words]
    return words


class Commands:
    """A tool that is started for each case."""

    def __init__(self, command: str, check: str | None, seconds: float = SECONDS) -> None:
        for name in ("{model}", "{inputs}", "{outputs}"):
            if name not in command:
                raise ToolError(f"`{name}` is missing in --command")
        if check and "{model}" not in check:
            raise ToolError("`{model}` is missing in --check")
        self.command, self.check, self.seconds = command, check, seconds

    def _call(self, template: str, **names: Path) -> tuple[int, str]:
        words = words_of(template, **names)
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=self.seconds)
        except subprocess.TimeoutExpired:
            return -1, f"timeout after {self.seconds:g} seconds"
        except OSError as error:
            raise ToolError(f"cannot start `{words[0]}`: {error.strerror}") from error
        if done.returncode < 0:
            return done.returncode, f"ended by signal {-done.returncode}"
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        if not lines:
            return done.returncode, ""
        return done.returncode, lines[-1] if lines[0].startswith("Traceback ") else lines[0]

    def run(self, folder: Path, outputs: Path) -> str | None:
        """None, or why there are no results."""
        code, text = self._call(self.command, model=folder, inputs=folder / "inputs.npz", outputs=outputs)
        return None if code == 0 else text or f"exit code {code}"

    def rejects(self, folder: Path) -> tuple[bool, str] | None:
        """Whether a document is rejected, and the message; None if the tool has no check. A crash or a timeout is not a rejection."""
        if not self.check:
            return None
        code, text = self._call(self.check, model=folder)
        return 0 < code < CRASHED, text or (f"exit code {code}" if code else "")


class Server:
    """A tool that is started once. It is started again after it ended or took too long."""

    def __init__(self, command: str, seconds: float = SECONDS) -> None:
        self.words, self.seconds = words_of(command), seconds
        self.lock = threading.Lock()
        self.answers = self.ends = 0
        self._start()

    def _start(self) -> None:
        try:
            self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        except OSError as error:
            raise ToolError(f"cannot start `{self.words[0]}`: {error.strerror}") from error

    def _restart(self) -> str:
        """Starts the server again; returns how it ended."""
        self.process.kill()
        code = self.process.wait()
        self.ends += 1
        if not self.answers and self.ends >= STARTS:
            raise ToolError(f"the server ended before its first answer: exit code {code}")
        self._start()
        return f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def _read_line(self) -> bytes | None:
        """A line of the server's output, without its end if the server ended; None after the time limit."""
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], self.seconds)[0]:
                return None
            part = self.process.stdout.read(65536)
            if not part:
                break
            line += part
        return line

    def _request(self, **names: Path) -> dict:
        request = json.dumps({key: str(value) for key, value in names.items()}) + "\n"
        with self.lock:
            try:
                self.process.stdin.write(request.encode())
                line = self._read_line()
            except (BrokenPipeError, ValueError):  # the other end, or after another thread this one, is closed
                line = b""
            if line is None:
                self.answers += 1
                self._restart()
                return {"error": f"timeout after {self.seconds:g} seconds", "crashed": True}
            if not line.endswith(b"\n"):
                self.process.stdin.close()
                try:
                    self.process.wait(5)
                except subprocess.TimeoutExpired:
                    pass
                return {"error": f"the server {self._restart()}", "crashed": True}
            self.answers += 1
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise ToolError(f"invalid answer of the server: `{line.decode(errors='replace').strip()[:200]}`; expected a JSON object on one line")
        return answer

    def run(self, folder: Path, outputs: Path) -> str | None:
        """None, or why there are no results."""
        answer = self._request(model=folder, inputs=folder / "inputs.npz", outputs=outputs)
        return None if answer.get("ok") else str(answer.get("error", "no reason"))

    def rejects(self, folder: Path) -> tuple[bool, str] | None:
        """Whether a document is rejected, and the message; None if the tool has no check."""
        answer = self._request(check=folder)
        if "unsupported" in answer:
            return None
        return not answer.get("ok") and not answer.get("crashed"), str(answer.get("error", ""))

    def close(self) -> None:
        """Ends the server."""
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
