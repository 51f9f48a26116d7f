"""Draws mutants of production code: universalmutator makes them, this file says where and leaves out what cannot count."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import io
import pathlib
import random
import re

from universalmutator import mutator

RULES = ["universal.rules", "c_like.rules", "cpp.rules"]
# Brackets, single bits of punctuation, labels, and what is only a declaration of names.
NO_CODE = re.compile(r"[\s{}()\[\];,]*$|\s*(//|/\*|\*|#|namespace\b|using\b|template\b|static_assert\b|"
                     r"(public|private|protected):|(class|struct|enum)\b[^{]*[;{]$|(\}\s*)?else\s*\{$|default:$)")
# A broken invariant of our own aborts: what it says is not a behaviour.
CHECK = re.compile(r"\s*NNEFC_CHECK\(")
DECLARATION = re.compile(r"\s*(?!return\b|delete\b|throw\b|else\b|co_return\b)(?:[\w:]+(?:<.*>)?[&*]*\s+)+[&*]?\w+\s*([=;({\[]|$)")
# What no compiler takes: a condition put over a declaration, two operands without an operator, pointers by size.
IMPOSSIBLE = re.compile(r"!\((const|auto)\b|(?<!\bif)(?<!\bwhile)(?<!\breturn)(?<=[\w)\]\"]) \([01]==1\)|[!=]= \([01]==1\)|===|"
                        r"[<>]=? nullptr|\( *,|[<>]=?[<>]=|[>!=]=?<|<==|;\)|\d\.-\d|\b(const|auto|bool) \(")
# How much memory is taken beforehand.
RESERVED = re.compile(r"\s*[\w.>()\[\]-]+(\.|->)reserve\(.*\);$")
CAPACITY = re.compile(r"(SmallVector(?:Impl)?<.*), *[-+()\d]+>")
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
PARAMETERS = re.compile(r"[(,] *(const )?[\w:]+(<.*>)?[&*]* [&*]*\w+[,)]")


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str  # below the root of the repository
    line: int  # from 1
    before: str  # the line's text, without its end
    after: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others while lines move."""
        return self.path, self.before.strip(), self.after.strip()

    def diff(self) -> str:
        return f"  - {self.before.strip()}\n  + {self.after.strip()}\n"


@dataclasses.dataclass(frozen=True)
class Room:
    """A folder that is one library, or the command line."""

    folder: str
    library: str  # as CMake's nnefc_add_room names it
    uses: frozenset[str]  # libraries that its archive brings with it, itself among them


def _calls(root: pathlib.Path, function: str) -> list[tuple[pathlib.Path, str, list[str]]]:
    """The calls of a function in the CMakeLists.txt files: (folder, NAME, what follows ROOMS)."""
    found = []
    for folder in ("compiler", "runtime", "tests/unit", "tests/fuzz"):
        for path in sorted((root / folder).rglob("CMakeLists.txt")):
            for match in re.finditer(rf"^\s*{function}\((\w+)\b([^)]*)\)", path.read_text(), re.MULTILINE):
                rooms = re.search(r"\bROOMS([\sa-z_]*)", match[2])
                found.append((path.parent, match[1], rooms[1].split() if rooms else []))
    return found


@functools.cache
def closures(root: pathlib.Path) -> dict[str, frozenset[str]]:
    """By library, the libraries that are linked with it."""
    direct = {name: rooms for _, name, rooms in _calls(root, "nnefc_add_room")}

    def closure(name: str) -> frozenset[str]:
        return frozenset({name}.union(*map(closure, direct.get(name, []))))

    return {name: closure(name) for name in direct}


def rooms(root: pathlib.Path) -> list[Room]:
    libraries = closures(root)
    found = [Room(folder.relative_to(root).as_posix(), name, libraries[name])
             for folder, name, _ in _calls(root, "nnefc_add_room")]
    return found + [Room("tools/nnefc", "tools", frozenset({"tools"}))]


def programs(root: pathlib.Path, function: str) -> dict[str, tuple[str, frozenset[str]]]:
    """The test programs that a CMake function makes, by name: their folder and the libraries they link."""
    libraries = closures(root)
    return {name: (folder.relative_to(root).as_posix(), frozenset().union(*(libraries.get(room, {room}) for room in uses)))
            for folder, name, uses in _calls(root, function)}


def code_lines(path: pathlib.Path) -> list[int]:
    """The indices of lines that hold code: no comments, includes, closing brackets, or checks of our own invariants."""
    found, in_check = [], False
    for index, line in enumerate(path.read_text().splitlines()):
        if in_check or CHECK.match(line):
            in_check = not line.rstrip().endswith(";")
        elif not NO_CODE.match(line):
            found.append(index)
    return found


def _changed(before: str, after: str) -> tuple[int, int, int]:
    """The part that differs: begin, end in `before`, end in `after`."""
    begin = 0
    while begin < min(len(before), len(after)) and before[begin] == after[begin]:
        begin += 1
    tail = 0
    while tail < min(len(before), len(after)) - begin and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return begin, len(before) - tail, len(after) - tail


def _inside_loop(lines: list[str], index: int) -> bool:
    if "](" in lines[index]:
        return False
    indent = len(lines[index]) - len(lines[index].lstrip())
    for line in reversed(lines[:index]):
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth < indent:
            indent = depth
            if re.match(r"\s*(for|while|do)\b", line):
                return True
            if indent == 0 or "](" in line:
                return False
    return False


def _quoted(line: str, begin: int, end: int) -> str | None:
    """The string literal around a part of a line."""
    for match in LITERAL.finditer(line):
        if match.start() <= begin and end <= match.end():
            return match[0]
    return None


def _ends_function(lines: list[str], index: int) -> bool:
    """Whether a statement is the last one of a function or lambda, not of a block inside."""
    indent = len(lines[index]) - len(lines[index].lstrip())
    if index + 1 == len(lines) or not lines[index + 1].startswith(" " * (indent - 2) + "}"):
        return False
    opener = next((line for line in reversed(lines[:index]) if line.strip() and len(line) - len(line.lstrip()) < indent), "")
    return re.match(r"\s*(\} )?(if|else|for|while|do|switch|case)\b", opener) is None


def _open_brackets(text: str) -> str:
    """The brackets of a line that have no partner in it, and quotes likewise."""
    text = re.sub(r"'(?:[^'\\]|\\.)'", "", LITERAL.sub("", text))
    rest = ""
    for c in text:
        if c in "([{\"":
            rest += c
        elif c in ")]}":
            rest = rest[:-1] if rest and rest[-1] + c in ("()", "[]", "{}") else rest + c
    return rest


def _spaced(line: str, begin: int, end: int) -> bool:
    """Whether the operator around a part stands between spaces, as the formatter writes binary operators."""
    while begin > 0 and line[begin - 1] in "<>=!&|+-*/%":
        begin -= 1
    while end < len(line) and line[end] in "<>=!&|+-*/%":
        end += 1
    return line[max(0, begin - 1):begin] in (" ", "") and line[end:end + 1] in (" ", "")


def plausible(lines: list[str], index: int, after: str) -> bool:
    """Whether a mutant may compile and is no mere message; says no to what certainly does not."""
    before = lines[index]
    if RESERVED.match(before) or CAPACITY.sub(r"\1>", before) == CAPACITY.sub(r"\1>", after):
        return False
    if after.startswith(before) or "/*" in after and "*/" in after:  # a jump added, or a line taken out
        statement = before.rstrip()
        if not statement.endswith((";", "{", "}") if after.startswith(before) else ";"):
            return False
        if after.startswith(before):
            return not re.match(r"\s*(return|break|continue)\b", before) and _inside_loop(lines, index)
        if re.match(r"\s*return\b ", before) and _ends_function(lines, index):
            return False  # a function of a type must return
        complete = index == 0 or not lines[index - 1].strip() or lines[index - 1].rstrip()[-1] in ";{}:/"
        return complete and not _open_brackets(before) and not DECLARATION.match(before)
    begin, end, stop = _changed(before, after)
    removed, added = before[begin:end], after[begin:stop]
    if _open_brackets(before) != _open_brackets(after) or "'" in removed or IMPOSSIBLE.search(after):
        return False
    if re.search(r"\b(if|while) \(const auto", before) and re.search(r"\([01]==1\)", after):
        return False  # the name that the condition declares is used
    if "," in removed and (PARAMETERS.search(before) or re.search(r"\.\w+ =", removed)):
        return False
    if added.startswith("0") and re.search(r"(?<![.>])\w*at ?\($", before[:begin]):
        return False  # the rule for `.at(i)` also finds `format(`
    quoted = _quoted(before, begin, end)
    if quoted is not None:  # a name, not a message
        return " " not in quoted and "{}" not in quoted and "(" not in added
    if not set(LITERAL.findall(after)) <= set(LITERAL.findall(before)):
        return False  # a literal is cut
    if " " in removed and '"' in removed and re.search(r'"[^"]* [^"]*"', removed):
        return False
    if removed.isdigit() or re.fullmatch(r"\d*", removed) and re.search(r"\d", added):
        left, right = before[:begin], before[end:]
        whole = re.search(r"[\w.']*$", left)[0] + removed + re.match(r"[\w.']*", right)[0]
        if re.match(r"[A-Za-z_]", whole) or re.match(r"0[xb]|\d+e", whole) or re.search(r"e[-+]$", left):
            return False
        return "." not in whole and "'" not in whole or re.fullmatch(r"-?\d+", added) is not None
    operators = set("<>=!&|+-*/%")
    if removed and set(removed) <= operators or not removed and set(added) <= operators:
        if "->" in before[max(0, begin - 1):end + 1] or "::" in before[begin - 2:end + 2]:
            return False
        if removed in ("!", "-") and not added:
            return before[end:end + 1] != "="
        return _spaced(before, begin, end)
    if re.fullmatch(r"[\w]+", removed) and re.fullmatch(r"[\w]+", added):  # min and max, begin and end, any_of, all_of
        left, right = re.search(r"[A-Za-z0-9]*$", before[:begin])[0], re.match(r"[A-Za-z0-9]*", before[end:])[0]
        word = left + removed + right
        return word in ("min", "max", "begin", "end", "any_of", "all_of", "none_of", "any", "all", "none", "while",
                        "front", "back")
    return True


def variants(lines: list[str], index: int) -> dict[str, list[str]]:
    """The mutants of a line by the text that the tool's rule looks for."""
    line = lines[index]
    with contextlib.redirect_stdout(io.StringIO()):
        made = mutator.mutants_regexp([line + "\n"], ruleFiles=RULES, ignorePatterns=[])
    found = collections.defaultdict(list)
    for _, text, _, (looks_for, _) in made:
        after = " ".join(part.rstrip() if i == 0 else part.strip() for i, part in enumerate(text.rstrip("\n").split("\n")))
        if "//" in line and after.startswith(line):
            continue  # what is added would stand in the comment
        if after.split() != line.split() and plausible(lines, index, after):
            found[looks_for.pattern].append(after)
    return found


class Draw:
    """Mutants of a room in an order that a seed decides: a line by chance, one of the tool's rules, one of its mutants."""

    def __init__(self, root: pathlib.Path, room: Room, seed: int, headers: frozenset[str]):
        self._root = root
        self._random = random.Random(f"{seed} {room.folder}")
        paths = [path.relative_to(root).as_posix() for path in sorted((root / room.folder).glob("*.cpp"))]
        paths += sorted(path for path in headers if pathlib.PurePath(path).parent.as_posix() == room.folder)
        self._lines = [(path, index) for path in paths for index in code_lines(root / path)]
        self.size = len(self._lines)
        self._random.shuffle(self._lines)

    def next(self) -> Mutant | None:
        while self._lines:
            path, index = self._lines.pop()
            lines = (self._root / path).read_text().splitlines()
            by_rule = variants(lines, index)
            if by_rule:
                rule = self._random.choice(sorted(by_rule))
                return Mutant(path, index + 1, lines[index], self._random.choice(by_rule[rule]))
        return None


def shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Divides a number of mutants over rooms by their size; the largest remainders are rounded up."""
    total = sum(sizes.values())
    exact = {room: count * size / total for room, size in sizes.items()}
    given = {room: int(share) for room, share in exact.items()}
    rest = sorted(exact, key=lambda room: given[room] - exact[room])[:count - sum(given.values())]
    return {room: given[room] + (room in rest) for room in given}
