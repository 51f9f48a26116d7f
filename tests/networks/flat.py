"""Reads flat NNEF documents of both dialects: no fragments, no operator expressions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(
    r"""(?P<skip>[\s\ufeff]+|\#[^\n\f]*)
      | (?P<string>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
      | (?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<mark>->|[()\[\]{}<>?,;=:])""",
    re.VERBOSE,
)


class Name(str):
    """An identifier, as opposed to the text of a string literal."""


@dataclass
class Operation:
    """One assignment, such as `y = conv(x, f, padding = []);`."""

    results: list[Name]
    name: str
    dtype: str | None
    positional: list[Any] = field(default_factory=list)
    named: dict[str, Any] = field(default_factory=dict)


@dataclass
class Document:
    """A flat document: its dialect, the signature of its graph and the assignments in order."""

    provisional: bool
    graph: str
    inputs: list[Name]
    outputs: list[Name]
    operations: list[Operation]


class FlatError(ValueError):
    """The text is not a flat NNEF document."""


def parse_flat(text: str) -> Document:
    """Parses a flat document; raises FlatError for compositional code."""
    return _Parser(text).document()


def parse_flat_file(path: Any) -> Document:
    """Parses the flat document in the file at `path`."""
    with open(path, encoding="utf-8") as file:
        return parse_flat(file.read())


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            line = text.count("\n", 0, at) + 1
            raise FlatError(f"line {line}: unexpected {text[at]!r}")
        if match.lastgroup != "skip":
            tokens.append((match.lastgroup, match.group()))
        at = match.end()
    return tokens


def _names(value: Any) -> list[Name]:
    """Returns the identifiers of the left side of an assignment, in order."""
    if isinstance(value, Name):
        return [value]
    return [name for item in value for name in _names(item)]


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> tuple[str, str]:
        if self.at >= len(self.tokens):
            raise FlatError(f"the text ends where `{expected or 'more'}` is expected")
        kind, text = self.tokens[self.at]
        if expected is not None and text != expected:
            raise FlatError(f"`{text}` where `{expected}` is expected")
        self.at += 1
        return kind, text

    def accept(self, text: str) -> bool:
        if self.peek() != text:
            return False
        self.at += 1
        return True

    def document(self) -> Document:
        self.take("version")
        self.take("1.0")
        provisional = not self.accept(";")
        while self.accept("extension"):
            while not self.accept(";"):
                self.take()
        if self.peek() == "fragment":
            raise FlatError("the document is not flat: it defines fragments")
        self.take("graph")
        graph = self.take()[1]
        inputs = self.identifiers()
        self.take("->")
        outputs = self.identifiers()
        self.take("{")
        operations = []
        while not self.accept("}"):
            operations.append(self.assignment())
        return Document(provisional, graph, inputs, outputs, operations)

    def identifiers(self) -> list[Name]:
        self.take("(")
        return [Name(item) for item in self.items(")")]

    def assignment(self) -> Operation:
        left = [self.value()]
        while self.accept(","):
            left.append(self.value())
        self.take("=")
        operation = Operation(_names(left), self.take()[1], None)
        if self.accept("<"):
            operation.dtype = self.take()[1]
            self.take(">")
        self.take("(")
        while not self.accept(")"):
            self.argument(operation)
            self.accept(",")
        self.accept(";")
        return operation

    def argument(self, operation: Operation) -> None:
        value = self.value()
        if isinstance(value, Name) and self.accept("="):
            operation.named[value] = self.value()
        else:
            operation.positional.append(value)

    def items(self, end: str) -> list[Any]:
        values = []
        while not self.accept(end):
            values.append(self.value())
            self.accept(",")
        return values

    def value(self) -> Any:
        kind, text = self.take()
        if kind == "string":
            return re.sub(r"\\(.)", r"\1", text[1:-1])
        if kind == "number":
            return float(text) if re.search(r"[.eE]", text) else int(text)
        if kind == "name":
            return {"true": True, "false": False}.get(text, Name(text))
        if text == "[":
            return self.items("]")
        if text == "(":
            return tuple(self.items(")"))
        raise FlatError(f"unexpected `{text}`: not a flat value")
