"""Reads lists/*.txt: documents that break, or just keep, one rule of the specifications.

An entry is

    %invalid R 4.5.3 flat concat-axis-beyond-the-rank
    % concat: the axis is one of the tensors'
        y = concat([x, x], axis = «4»);

its verdict, dialect (R ratified, P provisional), section, template and name; the rule that the section states, in our
own words; the text that stands for `$` in the template (for the templates `quant`: the text of graph.quant beside the
template). The marks « » are no part of the document: they enclose the offending token, where the first error must lie.
In the template `net` a line `in x[2,3] b:logical[2] -> y` stands for the head of a graph and its externals.
Control bytes are written as their pictures (U+2400 and up). The verdict is invalid, valid, or several: each mark is a
mistake of its own.
"""

import dataclasses
import pathlib
import re

LISTS = pathlib.Path(__file__).resolve().parent / "lists"
OPEN, CLOSE = "«".encode(), "»".encode()
NET = re.compile(rb"^in (.*?) *-> *(.*)$", re.M)
HEAD = re.compile(r"%(invalid|valid|several) ([RP]) (\S+) (\S+) (\S+)$")


@dataclasses.dataclass
class Entry:
    list: str
    line: int
    valid: bool
    dialect: str
    section: str
    template: str
    name: str
    rule: str
    # The files of the model, by name; `graph.nnef` alone is a bare document.
    files: dict
    # The file that holds the offending token, and its ranges of byte offsets.
    marked: str
    marks: list
    # Each mark is a mistake of its own: as many errors are expected, in the order of the text.
    several: bool = False

    @property
    def id(self):
        return f"{self.list}:{self.line}: {self.name}"


def _bytes(text):
    return re.sub("[\u2400-\u241f]", lambda m: chr(ord(m[0]) - 0x2400), text).encode()


def _head(line, end):
    """The head of a graph of the template `net`, and its externals."""
    inputs = re.findall(rb"(\w+)(?::(\w+))?(\[[^]]*\])", line[1])
    externals = [b"%s = external%s(shape = %s)%s" % (name, b"<%s>" % kind if kind else b"", shape, end)
                 for name, kind, shape in inputs]
    return b"graph g( %s ) -> ( %s ) { %s" % (b", ".join(i[0] for i in inputs), line[2], b" ".join(externals))


def _unmark(text):
    """Returns the text without marks and the ranges that they enclosed."""
    marks, out = [], b""
    while OPEN in text:
        before, _, text = text.partition(OPEN)
        inside, close, text = text.partition(CLOSE)
        assert close, "a mark is not closed"
        out += before
        marks.append((len(out), len(out) + len(inside)))
        out += inside
    assert CLOSE not in text, "a mark is not opened"
    out += text
    # The end of the text stands for what is missing there.
    return out, [(b, len(out) if not out[e:].strip() else e) for b, e in marks]


def _blocks(path):
    """Yields (line, header, rule, text) of each entry of a list."""
    block = None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("%") and not line.startswith("% "):
            if block:
                yield block
            block = [number, line, "", []]
        elif block is None:
            assert not line or line.startswith("#"), f"{path}:{number}: text outside an entry"
        elif line.startswith("% "):
            block[2] += line[2:]
        else:
            block[3].append(line)
    if block:
        yield block


def _text(lines):
    while lines and not lines[-1]:
        lines = lines[:-1]
    return "".join(line + "\n" for line in lines)


def load():
    templates = {}
    for _, header, _, lines in _blocks(LISTS / "templates.txt"):
        _, dialect, name = header.split()
        templates[dialect, name] = _text(lines)
    entries = []
    for path in sorted(LISTS.glob("*.txt")):
        if path.name == "templates.txt":
            continue
        for line, header, rule, lines in _blocks(path):
            match = HEAD.match(header)
            assert match, f"{path}:{line}: {header}"
            verdict, dialect, section, template, name = match.groups()
            text = _bytes(_text(lines))
            frame = templates[dialect, template]
            if template == "net":
                text = NET.sub(lambda head: _head(head, b";" if dialect == "R" else b""), text)
            if template == "quant":
                marked, (quant, marks) = "graph.quant", _unmark(text)
                files = {"graph.nnef": frame.encode(), "graph.quant": quant}
            else:
                before, dollar, after = frame.partition("$\n")
                assert dollar
                marked, (graph, marks) = "graph.nnef", _unmark(before.encode() + text + after.encode())
                files = {"graph.nnef": graph}
            assert bool(marks) == (verdict != "valid"), f"{path}:{line}: {name}: marks"
            assert rule, f"{path}:{line}: {name}: no rule"
            entries.append(Entry(path.stem, line, verdict == "valid", dialect, section, template, name, rule, files,
                                 marked, marks, verdict == "several"))
    names = [(e.list, e.name, e.valid) for e in entries]
    assert len(names) == len(set(names)), [n for n in names if names.count(n) > 1]
    return entries


def offset(text, line, column):
    """The byte offset of a 1-based line and a 1-based column in bytes."""
    lines = text.split(b"\n")
    return sum(len(l) + 1 for l in lines[: line - 1]) + column - 1


def position(text, at):
    """The 1-based line and column of a byte offset."""
    before = text[:at]
    return before.count(b"\n") + 1, at - (before.rfind(b"\n") + 1) + 1


def write(entry, folder):
    """Writes the model of an entry and returns the path to give to a tool."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in entry.files.items():
        (folder / name).write_bytes(data)
    return folder if len(entry.files) > 1 else folder / "graph.nnef"
