"""Writes all mutants into one copy of the sources: each is a branch on its number (mutation by schemata).

Clang's syntax tree (the libclang package) says where the sites are; `operators.py` says what changes there. A mutant
that the compiler refuses is dropped: `drop_refused` finds those on the lines of its errors.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess

from clang.cindex import Cursor, CursorKind, Index, TranslationUnit

import operators

FOLDERS = ("compiler/", "runtime/")
EXPRESSION_LIMIT = 20_000  # bytes of one site: no larger one is written twice
RISKY = ("pair", "plus", "minus", "enumerator", "minmax")
IDENTIFIER = re.compile(rb"\b[A-Za-z_]\w+\b")


@dataclasses.dataclass
class Mutant:
    """One small fault. `number` chooses it in the instrumented build."""

    number: int
    path: str  # below the root of the repository
    line: int  # from 1
    column: int
    operator: str
    before: str  # the range's text
    after: str
    source: str  # the first line of the range, stripped
    occurrence: int = 0  # among mutants that are otherwise equal

    @property
    def key(self) -> str:
        """The identity of a mutant while lines move."""
        return "\t".join([self.path, self.operator, self.source, self.before, self.after, str(self.occurrence)])

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


def draw(mutant: Mutant, seed: int) -> float:
    """A number from 0 to 1 that depends on the seed and the mutant alone: a sample stays while other code changes."""
    digest = hashlib.sha256(f"{seed}\t{mutant.key}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def _arguments(entry: dict) -> list[str]:
    """The compiler's arguments that matter for the syntax tree."""
    words, kept, skip = shlex.split(entry["command"]), [], False
    for word in words:
        if skip:
            kept.append(word)
            skip = False
        elif word in ("-I", "-isystem", "-idirafter", "-D"):
            kept.append(word)
            skip = True
        elif word.startswith(("-I", "-D", "-std", "-m")):
            kept.append(word)
    return kept


def _relative(name: str, root: str) -> str | None:
    """A file's path below the root, of production code alone."""
    if not name.startswith(root):
        return None
    path = name[len(root):]
    return path if path.startswith(FOLDERS) and not path.endswith(".inc") else None


def _is_known(cursor: Cursor) -> bool:
    """Whether the package has a name for a cursor's kind: concepts and requirements have none."""
    try:
        return cursor.kind is not None
    except ValueError:
        return False


class Parser:
    """Collects the sites of the files that translation units include."""

    def __init__(self, tree: pathlib.Path):
        self.root = str(tree) + "/"
        self.sites: dict[str, list[operators.Site]] = {}
        self.tree = tree

    def unit(self, entry: dict) -> None:
        gcc = subprocess.run(["g++", "-print-file-name=include"], check=True, capture_output=True, text=True).stdout.strip()
        index = Index.create()
        arguments = [*_arguments(entry), "-w", "-DFMT_CONSTEVAL=", "-resource-dir", "/usr/lib/llvm-16/lib/clang/16",
                     "-idirafter", gcc, "-D__malloc__(release)="]
        unit = index.parse(entry["file"], args=arguments, options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        errors = [each for each in unit.diagnostics if each.severity >= 3]
        if errors:
            print(f"warning: clang reads {entry['file']} with errors: {errors[0]}", flush=True)
        macros: dict[str, list[tuple[int, int]]] = {}
        top: dict[str, list[Cursor]] = {}
        for cursor in unit.cursor.get_children():
            file = cursor.location.file
            path = _relative(file.name, self.root) if file else None
            if path is None or path in self.sites or not _is_known(cursor):
                continue
            if cursor.kind == CursorKind.MACRO_INSTANTIATION:
                macros.setdefault(path, []).append((cursor.extent.start.offset, cursor.extent.end.offset))
            elif cursor.kind.is_declaration() or cursor.kind == CursorKind.NAMESPACE:
                top.setdefault(path, []).append(cursor)
        for path, cursors in top.items():
            source = (self.tree / path).read_bytes()
            finder = operators.Operators(source, self._identifiers(unit))
            regions = {begin: end for begin, end in macros.get(path, [])}
            for cursor in cursors:
                self._walk(cursor, finder, path, regions)
            self.sites[path] = finder.sites
        for path in macros:
            self.sites.setdefault(path, [])

    def _identifiers(self, unit: TranslationUnit) -> set[str]:
        if not hasattr(unit, "nnefc_identifiers"):
            names: set[bytes] = set()
            files = {unit.spelling} | {each.include.name for each in unit.get_includes()}
            for name in files:
                if _relative(name, self.root):
                    names |= set(IDENTIFIER.findall(pathlib.Path(name).read_bytes()))
            unit.nnefc_identifiers = {name.decode() for name in names}
        return unit.nnefc_identifiers

    def _walk(self, top: Cursor, finder: operators.Operators, path: str, macros: dict[int, int]) -> None:
        stack: list[tuple[Cursor, list[Cursor], bool]] = [(top, [], False)]
        while stack:
            cursor, parents, constant = stack.pop()
            kind = cursor.kind
            if kind in operators.CONSTANT or kind == CursorKind.TYPE_REF:
                continue
            begin, end = cursor.extent.start.offset, cursor.extent.end.offset
            if begin in macros and end <= macros[begin]:
                continue  # the text of a macro's arguments has no offsets of its own
            if kind in operators.FUNCTIONS and kind != CursorKind.LAMBDA_EXPR:
                head = finder.source[begin:end].split(b"{", 1)[0]
                constant = b"constexpr" in head
                if b"consteval" in head or re.search(rb"=\s*(default|delete)\s*$", finder.source[begin:end]):
                    continue
            elif kind == CursorKind.VAR_DECL:
                head = finder.source[begin:end].split(b"=", 1)[0]
                outer = not any(each.kind in operators.FUNCTIONS for each in parents)
                if b"constexpr" in head or b"constinit" in head or (
                        outer and re.match(rb"(static |inline )*const (u?int\w*|size_t|bool|double|float)\b", head)):
                    continue
            elif kind in (CursorKind.FIELD_DECL, CursorKind.PARM_DECL):
                constant = True
            children = [each for each in cursor.get_children() if _is_known(each)]
            if kind == CursorKind.CASE_STMT:
                children = children[1:]
            elif kind == CursorKind.DECL_STMT and re.match(rb"(static\s+)?constexpr\b", finder.source[begin:begin + 40]):
                continue
            elif kind in operators.FUNCTIONS and kind != CursorKind.LAMBDA_EXPR:
                children = [each for each in children if each.extent.start.offset >= cursor.location.offset]
            elif kind == CursorKind.DECL_REF_EXPR:
                finder.visit(cursor, kind, children, parents, constant)
                continue  # template arguments
            elif kind == CursorKind.IF_STMT and re.match(rb"if\s+constexpr\b", finder.source[begin:begin + 40]):
                children = children[1:]
            elif kind in (CursorKind.VAR_DECL, CursorKind.FIELD_DECL, CursorKind.PARM_DECL):
                # Extents of arrays and template arguments of types stand before the name.
                name = cursor.location.offset
                children = [each for each in children if each.extent.start.offset >= name
                            or each.kind in operators.FUNCTIONS]
                if kind == CursorKind.FIELD_DECL and cursor.is_bitfield():
                    continue
                children = [each for each in children
                            if b"]" not in finder.source[each.extent.end.offset:each.extent.end.offset + 1]]
            if parents and (kind.is_expression() or kind.is_statement()):
                finder.visit(cursor, kind, children, parents, constant)
            below = [*parents, cursor] if kind != CursorKind.NAMESPACE else parents
            for child in reversed(children):
                file = child.location.file
                if file is not None and file.name == self.root + path:
                    stack.append((child, below, constant))


def _parse(tree: str, entries: list[dict]) -> dict[str, list[operators.Site]]:
    parser = Parser(pathlib.Path(tree))
    for entry in entries:
        parser.unit(entry)
    return parser.sites


def find_sites(tree: pathlib.Path, commands: pathlib.Path, jobs: int,
               sources: tuple[str, ...] = ()) -> dict[str, list[operators.Site]]:
    """The sites of production code by file: of all, or of the source files of the folders `sources`."""
    root = str(tree) + "/"
    entries, seen = [], set()
    for entry in json.loads(commands.read_text()):
        path = entry["file"].removeprefix(root).removeprefix("build/release/")
        if not path.startswith(sources or FOLDERS) or "_apart.dir" in entry["command"] or "lanes8" in entry["command"] \
                or entry["file"] in seen or not pathlib.Path(entry["file"]).is_file():
            continue
        seen.add(entry["file"])
        entries.append(entry)
    found: dict[str, list[operators.Site]] = {}
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        parts = [entries[index::jobs] for index in range(jobs)]
        for sites in pool.map(_parse, [str(tree)] * jobs, parts):
            for path, of_file in sites.items():
                if sources and not (path.startswith(sources) and path.endswith(".cpp")):
                    continue
                if len(of_file) > len(found.get(path, [])):
                    found[path] = of_file
    return found


def _site_text(site: operators.Site, inner: str, numbers: list[int]) -> str:
    """The text that takes a site's place; `inner` is the range's own, with the sites inside it."""
    test = "NNEFC_CONSTANT_MUTANT" if site.constant else "NNEFC_MUTANT"
    choices = [f"{test}({number})" for number in numbers]
    match site.form:
        case "value":
            # The other member of a pair must have the same type: a conversion would make a temporary of both.
            branches = " ".join(
                f"{choice} ? NNEFC_SAME(({change.text}), ({inner})) ({change.text}) :" if change.operator == "pair"
                else f"{choice} ? ({change.text}) :" for choice, change in zip(choices, site.changes))
            return f"({branches} ({inner}))"
        case "conjunct":
            return f"({choices[0]} || ({inner}))"
        case "disjunct":
            return f"(!{choices[0]} && ({inner}))"
        case "condition":
            return f"({choices[0]} != static_cast<bool>({inner}))"
        case "call":
            return f"({choices[0]} ? void() : void({inner}))"
        case "jump":
            return f"if ({choices[0]}) {{}} else {inner}"
    raise ValueError(site.form)


def nested(sites: list[operators.Site]) -> list[operators.Site]:
    """The sites in the order of the text, outer ones first, without those that cross another one."""
    ordered = sorted(enumerate(sites), key=lambda each: (each[1].begin, -each[1].end, each[0]))
    kept: list[operators.Site] = []
    open_: list[operators.Site] = []
    for _, site in ordered:
        while open_ and open_[-1].end <= site.begin:
            open_.pop()
        if site.end - site.begin > EXPRESSION_LIMIT or (open_ and site.end > open_[-1].end):
            continue
        kept.append(site)
        open_.append(site)
    return kept


class Instrumented:
    """The mutants of all files, and the texts with them."""

    def __init__(self, tree: pathlib.Path, sites: dict[str, list[operators.Site]]):
        self._sources = {path: (tree / path).read_bytes() for path in sites}
        self._sites = {path: nested(of_file) for path, of_file in sorted(sites.items()) if of_file}
        self._tree = tree
        self.mutants: list[Mutant] = []
        self._by_site: dict[tuple[str, int, int], int] = {}  # path, index of site, of change: number
        self._spans: dict[int, int] = {}  # lines that a mutant's range goes on after its first
        keys: dict[str, int] = {}
        for path, of_file in self._sites.items():
            source = self._sources[path]
            for index, site in enumerate(of_file):
                line = source.count(b"\n", 0, site.begin) + 1
                start = source.rfind(b"\n", 0, site.begin) + 1
                end = source.find(b"\n", site.begin)
                whole = source[start:end if end >= 0 else len(source)].decode("utf-8", "replace").strip()
                before = re.sub(r"\s+", " ", source[site.begin:site.end].decode("utf-8", "replace"))
                for place, change in enumerate(site.changes):
                    after = {"conjunct": "true", "disjunct": "false", "condition": f"!({before})", "call": "",
                             "jump": ""}.get(site.form, re.sub(r"\s+", " ", change.text))
                    mutant = Mutant(len(self.mutants), path, line, site.begin - start + 1, change.operator, before, after,
                                    whole)
                    first = mutant.key
                    mutant.occurrence = keys.get(first, 0)
                    keys[first] = mutant.occurrence + 1
                    self._by_site[path, index, place] = mutant.number
                    self._spans[mutant.number] = source.count(b"\n", site.begin, site.end)
                    self.mutants.append(mutant)

    def write(self, path: str, dropped: set[int]) -> None:
        """Writes one file with its mutants but the dropped ones; lines keep their numbers."""
        source, sites = self._sources[path], self._sites[path]

        def render(begin: int, end: int, first: int) -> tuple[str, int]:
            """The text of a range with the sites from `first` on, and the first one after it."""
            parts, at, index = [], begin, first
            while index < len(sites) and sites[index].begin < end and sites[index].end <= end:
                site = sites[index]
                parts.append(source[at:site.begin].decode("utf-8", "replace"))
                inner, next_index = render(site.begin, site.end, index + 1)
                live = [place for place in range(len(site.changes)) if self._by_site[path, index, place] not in dropped]
                if live:
                    shown = dataclasses.replace(site, changes=[dataclasses.replace(
                        site.changes[place], text=site.changes[place].text.replace("\n", " ")) for place in live])
                    inner = _site_text(shown, inner, [self._by_site[path, index, place] for place in live])
                parts.append(inner)
                at, index = site.end, next_index
            parts.append(source[at:end].decode("utf-8", "replace"))
            return "".join(parts), index

        text, _ = render(0, len(source), 0)
        (self._tree / path).write_text(text, encoding="utf-8")

    def write_all(self, dropped: set[int]) -> None:
        for path in self._sites:
            self.write(path, dropped)

    def drop_refused(self, output: str, dropped: set[int]) -> int:
        """Drops the mutants on the lines of a compiler's errors, the risky kinds first; returns how many."""
        lines: dict[str, set[int]] = {}
        root = str(self._tree) + "/"
        # An error in mutant.h is about the place of the macro.
        pattern = r"^(\S+?):(\d+):\d+: (?:(?:fatal )?error:|note: in expansion of macro \W?NNEFC_(?:CONSTANT_MUTANT|MUTANT|SAME))"
        for match in re.finditer(pattern, output, re.MULTILINE):
            path = _relative(os.path.normpath(self._tree / "build" / "release" / match[1]), root)
            if path:
                lines.setdefault(path, set()).add(int(match[2]))
        count = 0
        by_path: dict[str, list[Mutant]] = {}
        for mutant in self.mutants:
            if mutant.path in lines and mutant.number not in dropped:
                by_path.setdefault(mutant.path, []).append(mutant)
        for path, numbers in lines.items():
            for line in numbers:
                near = [mutant for mutant in by_path.get(path, [])
                        if mutant.line <= line <= mutant.line + self._spans[mutant.number]]
                chosen = [mutant for mutant in near if mutant.operator in RISKY] or near
                dropped.update(mutant.number for mutant in chosen)
                count += len(chosen)
            self.write(path, dropped)
        return count
