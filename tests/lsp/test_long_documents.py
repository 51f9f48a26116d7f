"""Whole documents typed, and changes of long ones: findings about unfinished words, and the processor time of a keystroke."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from conftest import ROOT
from raw_server import RawServer, notification, request
from test_typing import long_network

URI = "file:///net.nnef"
# The words of ResNet-50: the server answers for each one at a character of another position, and after it.
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
# The first bytes of the graph in which the server answers for each token.
MAX_EACH_TOKEN = 4000
OPTIONS = {"diagnosticDelay": 0, "unfinishedWordDelay": 60_000}


def initialize() -> dict:
    return request("initialize", {"capabilities": {}, "initializationOptions": OPTIONS}, 1)


def open_text(server: RawServer, text: str) -> None:
    server.send(notification("textDocument/didOpen", {"textDocument": {"uri": URI, "languageId": "nnef", "version": 1, "text": text}}))


class Typist:
    """Types a text at the end of an empty document; each character is a change."""

    def __init__(self, server: RawServer):
        self.server, self.version, self.line, self.column = server, 1, 0, 0
        open_text(server, "")
        server.diagnostics(1)

    def type(self, text: str) -> list[dict]:
        """Returns the diagnostics after the last character."""
        changes = []
        for character in text:
            self.version += 1
            at = {"line": self.line, "character": self.column}
            changes.append(notification("textDocument/didChange", {
                "textDocument": {"uri": URI, "version": self.version},
                "contentChanges": [{"range": {"start": at, "end": at}, "text": character}]}))
            self.line, self.column = (self.line + 1, 0) if character == "\n" else (self.line, self.column + 1)
        self.server.send(*changes)
        return self.server.diagnostics(self.version)


def pauses(text: str) -> Iterator[int]:
    """Yields the offsets at which the typist waits: for each token, its end and one earlier offset, which is another one for
    each token in turn; in the graph, whose statements have equal forms, for each third token. The other characters are
    followed at once by the next one."""
    graph = text.index("graph ")
    for number, token in enumerate(TOKEN.finditer(text)):
        length = token.end() - token.start()
        if token.start() > graph + MAX_EACH_TOKEN and (number + text.count("\n", 0, token.start())) % 3 != 0:
            continue
        if length > 1:
            yield token.start() + 1 + number // 3 % (length - 1)
        yield token.end()
    yield len(text)


def percentile(values: list[float], percent: int) -> float:
    return sorted(values)[len(values) * percent // 100]


def report(what: str, processor: list[float], elapsed: list[float]) -> None:
    """Prints times, which pytest shows with `-s` or if the test fails."""
    for name, values in (("processor", processor), ("elapsed", elapsed)):
        print(f"{what}: {name} ms: median {1000 * percentile(values, 50):.1f}, 95th percentile {1000 * percentile(values, 95):.1f}, "
              f"maximum {1000 * max(values):.1f}")


def test_resnet50_typed_character_by_character() -> None:
    text = (ROOT / "tests" / "networks" / "resnet50.nnef").read_text(encoding="utf-8")
    processor, elapsed, typed = [], [], 0
    with RawServer(initialize()) as server:
        typist = Typist(server)
        for end in pauses(text):
            before = server.processor_seconds(), time.monotonic()
            found = typist.type(text[typed:end])
            processor.append(server.processor_seconds() - before[0])
            elapsed.append(time.monotonic() - before[1])
            typed = end
            # Everything that is typed is correct: a finding is about what is still missing.
            assert not found, (text[max(0, typed - 60):typed], found)
        assert typist.version == len(text) + 1 and typed == len(text)
    report("keystrokes of ResNet-50", processor, elapsed)
    assert percentile(processor, 95) <= 0.050


def test_a_keystroke_in_a_hundred_thousand_operations() -> None:
    """What an editor asks after a change: diagnostics, changed tokens, completions, and the hints of the visible lines."""
    text = long_network(100_000)
    line = text.count("\n", 0, text.index("    t50000 ="))
    document = {"uri": URI}
    visible = {"start": {"line": line - 30, "character": 0}, "end": {"line": line + 30, "character": 0}}
    with RawServer(initialize()) as server:
        open_text(server, text)
        assert server.diagnostics(1) == []
        tokens = server.request("textDocument/semanticTokens/full", {"textDocument": document})
        processor, elapsed = [], []
        for i, character in enumerate(["n", "e", "w", " = relu(t49999);"]):
            before = server.processor_seconds(), time.monotonic()
            at = {"line": line, "character": i}
            server.send(notification("textDocument/didChange", {
                "textDocument": document | {"version": i + 2}, "contentChanges": [{"range": {"start": at, "end": at}, "text": character}]}))
            found = server.diagnostics(i + 2)
            tokens = server.request("textDocument/semanticTokens/full/delta", {"textDocument": document, "previousResultId": tokens["resultId"]})
            completions = server.request("textDocument/completion", {"textDocument": document, "position": at | {"character": i + 1}})
            hints = server.request("textDocument/inlayHint", {"textDocument": document, "range": visible})
            processor.append(server.processor_seconds() - before[0])
            elapsed.append(time.monotonic() - before[1])
        # After the last change: the new statement is finished, its result is unused.
        assert [each["code"] for each in found] == ["lint.unused-tensor"]
        assert len(tokens["edits"]) == 1 and completions is not None
        assert [hint["label"] for hint in hints if hint["position"]["line"] == line]
    report("keystrokes in 100,000 operations", processor, elapsed)
    assert max(processor) <= 1
