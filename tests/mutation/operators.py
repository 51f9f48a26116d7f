"""The mutation operators: which small faults a node of Clang's syntax tree can have.

A *site* is a range of a file's text with the texts that take its place, one for each mutant. Sites nest: the text of
the innermost ones is written first. The alternative of a mutant is the file's own text with one change, since one
mutant at most is active.
"""

from __future__ import annotations

import dataclasses
import re

from clang.cindex import Cursor, CursorKind, TypeKind

INTEGERS = {TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG, TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG,
            TypeKind.SHORT, TypeKind.USHORT}
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
SUMS = {"+": "-", "-": "+"}
# Words of identifiers that name the two members of a pair.
PAIRS = [("begin", "end"), ("before", "after"), ("first", "second"), ("low", "high"), ("lower", "upper"),
         ("left", "right"), ("front", "back"), ("rows", "columns"), ("start", "stop"), ("then", "else"),
         ("smallest", "largest"), ("min", "max")]
COUNTERPART = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}
COUNTERPART |= {one.capitalize(): other.capitalize() for one, other in COUNTERPART.items()}
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# Calls without an effect that anyone sees.
UNSEEN_CALLS = {"reserve", "shrink_to_fit"}
FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
             CursorKind.CONVERSION_FUNCTION, CursorKind.FUNCTION_TEMPLATE, CursorKind.LAMBDA_EXPR}
# What is evaluated by the compiler, where no mutant can be chosen.
CONSTANT = {CursorKind.STATIC_ASSERT, CursorKind.ENUM_DECL, CursorKind.TEMPLATE_TYPE_PARAMETER,
            CursorKind.TEMPLATE_NON_TYPE_PARAMETER, CursorKind.TYPE_ALIAS_DECL, CursorKind.TYPEDEF_DECL,
            CursorKind.CONCEPT_DECL if hasattr(CursorKind, "CONCEPT_DECL") else CursorKind.STATIC_ASSERT}


@dataclasses.dataclass
class Change:
    """One mutant of a site."""

    operator: str
    text: str  # the alternative


@dataclasses.dataclass
class Site:
    """A range of a file and its mutants; `form` says how an alternative is chosen."""

    begin: int  # offsets in bytes
    end: int
    form: str  # value, conjunct, disjunct, condition, call, jump
    constant: bool  # within a constexpr function
    changes: list[Change]


class Operators:
    """Finds the sites of one file's cursors."""

    def __init__(self, source: bytes, identifiers: set[str]):
        self.source = source
        self.identifiers = identifiers
        self.sites: list[Site] = []

    def text(self, begin: int, end: int) -> str:
        return self.source[begin:end].decode("utf-8", "replace")

    def _range(self, cursor: Cursor) -> tuple[int, int]:
        extent = cursor.extent
        return extent.start.offset, extent.end.offset

    def _add(self, begin: int, end: int, form: str, constant: bool, *changes: Change) -> None:
        if changes and begin < end and not any("//" in change.text or '"""' in change.text for change in changes):
            self.sites.append(Site(begin, end, form, constant, list(changes)))

    def visit(self, cursor: Cursor, kind: CursorKind, children: list[Cursor], parents: list[Cursor],
              constant: bool) -> None:
        """Adds the sites of one cursor."""
        if kind in (CursorKind.BINARY_OPERATOR, CursorKind.CALL_EXPR) and len(children) >= 2:
            self._binary(cursor, kind, children, constant)
        if kind == CursorKind.CALL_EXPR:
            self._call(cursor, children, parents, constant)
        elif kind == CursorKind.IF_STMT:
            self._if(cursor, children, constant)
        elif kind == CursorKind.CONDITIONAL_OPERATOR and len(children) == 3:
            begin, end = self._range(children[0])
            if not self._is_equality(children[0]):
                self._add(begin, end, "condition", constant, Change("negate", ""))
        elif kind == CursorKind.INTEGER_LITERAL:
            begin, end = self._range(cursor)
            text = self.text(begin, end)
            if re.fullmatch(r"[0-9][0-9a-fA-FxXuUlLbB']*", text):
                self._add(begin, end, "value", constant, Change("plus", f"({text}) + 1"), Change("minus", f"({text}) - 1"))
        elif kind == CursorKind.CXX_BOOL_LITERAL_EXPR:
            begin, end = self._range(cursor)
            text = self.text(begin, end)
            if text in ("true", "false"):
                self._add(begin, end, "value", constant, Change("flip", "false" if text == "true" else "true"))
        elif kind in (CursorKind.CONTINUE_STMT, CursorKind.BREAK_STMT):
            self._add(*self._range(cursor), "jump", constant, Change("jump", ""))
        elif kind == CursorKind.RETURN_STMT:
            self._return(cursor, children, parents, constant)
        elif kind in (CursorKind.MEMBER_REF_EXPR, CursorKind.DECL_REF_EXPR):
            self._reference(cursor, kind, parents, constant)

    def _binary(self, cursor: Cursor, kind: CursorKind, children: list[Cursor], constant: bool) -> None:
        left, right = children[0], children[-1]
        begin, end = self._range(cursor)
        left_end, right_begin = left.extent.end.offset, right.extent.start.offset
        if not (begin <= left.extent.start.offset < left_end <= right_begin < right.extent.end.offset <= end):
            return
        operator = self.text(left_end, right_begin).strip()
        spaced = self.text(begin, left_end), self.text(right_begin, end)
        if operator in RELATIONS:
            self._add(begin, end, "value", constant,
                      Change("relation", f"{spaced[0]} {RELATIONS[operator]} {spaced[1]}"))
        elif operator in ("&&", "||") and kind == CursorKind.BINARY_OPERATOR:
            form = "conjunct" if operator == "&&" else "disjunct"
            for operand in (left, right):
                self._add(*self._range(operand), form, constant, Change("drop", ""))
        elif operator in SUMS and kind == CursorKind.BINARY_OPERATOR and all(
                each.type.get_canonical().kind in INTEGERS for each in (cursor, left, right)):
            self._add(begin, end, "value", constant,
                      Change("sum", f"{spaced[0]} {SUMS[operator]} ({spaced[1]})"))

    def _is_equality(self, cursor: Cursor) -> bool:
        """Whether negation gives the same mutant as an exchanged relation."""
        text = self.text(*self._range(cursor))
        return ("==" in text or "!=" in text) and "&&" not in text and "||" not in text

    def _if(self, cursor: Cursor, children: list[Cursor], constant: bool) -> None:
        begin = cursor.extent.start.offset
        if re.match(rb"if\s+constexpr\b", self.source[begin:begin + 40]):
            return
        for child in children[:2]:
            if child.kind == CursorKind.VAR_DECL:
                return
            if child.kind.is_expression():
                if not self._is_equality(child):
                    self._add(*self._range(child), "condition", constant, Change("negate", ""))
                return

    def _call(self, cursor: Cursor, children: list[Cursor], parents: list[Cursor], constant: bool) -> None:
        begin, end = self._range(cursor)
        name = cursor.spelling
        statement = parents[-1].kind == CursorKind.COMPOUND_STMT or (
            parents[-1].kind == CursorKind.UNEXPOSED_EXPR and len(parents) > 1
            and parents[-2].kind == CursorKind.COMPOUND_STMT and self._range(parents[-1]) == (begin, end))
        if statement and name not in UNSEEN_CALLS and self.source[end:end + 1] == b";":
            self._add(begin, end, "call", constant, Change("call", ""))
        if not children or not name:
            return
        callee_begin, callee_end = self._range(children[0])
        callee = self.text(callee_begin, callee_end)
        if callee_begin != begin or callee_end > end or not self.text(callee_end, end).lstrip().startswith("("):
            return
        match = re.search(r"\b(\w+)(<[^<>]*>)?$", callee)
        if not match or match[1] in ("begin", "end"):
            return
        other = self._counterpart(match[1])
        if other:
            changed = callee[:match.start(1)] + other + callee[match.end(1):]
            operator = "minmax" if match[1] in ("min", "max") else "pair"
            self._add(begin, end, "value", constant, Change(operator, changed + self.text(callee_end, end)))

    def _counterpart(self, name: str) -> str | None:
        """The name of the other member of a pair, where some declaration has it."""
        for match in WORD.finditer(name):
            other = COUNTERPART.get(match[0])
            if other:
                changed = name[:match.start()] + other + name[match.end():]
                if changed in self.identifiers or changed in ("min", "max", "front", "back"):
                    return changed
        return None

    def _return(self, cursor: Cursor, children: list[Cursor], parents: list[Cursor], constant: bool) -> None:
        begin, end = self._range(cursor)
        if children and children[0].type.get_canonical().kind in INTEGERS \
                and children[0].kind != CursorKind.INTEGER_LITERAL:
            inner = self._range(children[0])
            text = self.text(*inner)
            if not re.fullmatch(r"-?\d+|\(?-?\d+\)?", text):
                self._add(*inner, "value", constant, Change("plus", f"({text}) + 1"))
        early = parents[-1].kind == CursorKind.IF_STMT or (
            parents[-1].kind == CursorKind.COMPOUND_STMT and len(parents) > 1 and parents[-2].kind == CursorKind.IF_STMT)
        if not early:
            return
        function = next((each for each in reversed(parents) if each.kind in FUNCTIONS), None)
        body = next((each for each in reversed(list(function.get_children()))
                     if each.kind == CursorKind.COMPOUND_STMT), None) if function else None
        last = list(body.get_children())[-1:] if body else []
        if last and (last[0].kind == CursorKind.RETURN_STMT or not children):
            self._add(begin, end, "jump", constant, Change("jump", ""))

    def _reference(self, cursor: Cursor, kind: CursorKind, parents: list[Cursor], constant: bool) -> None:
        begin, end = self._range(cursor)
        text = self.text(begin, end)
        parent = parents[-1] if parents[-1].kind != CursorKind.UNEXPOSED_EXPR or len(parents) < 2 else parents[-2]
        referenced = cursor.referenced
        if referenced is None:
            return
        if referenced.kind == CursorKind.ENUM_CONSTANT_DECL:
            if parent.kind in (CursorKind.CALL_EXPR, CursorKind.INIT_LIST_EXPR, CursorKind.RETURN_STMT) \
                    and "operator" not in parent.spelling:
                self._enumerator(begin, end, text, referenced, constant)
            return
        callee = parent.kind == CursorKind.CALL_EXPR and self.source[end:end + 1] == b"("
        if callee or referenced.kind not in (CursorKind.FIELD_DECL, CursorKind.VAR_DECL, CursorKind.PARM_DECL):
            return
        match = re.search(r"\b\w+$", text)
        other = self._counterpart(match[0]) if match else None
        if other and kind == CursorKind.DECL_REF_EXPR and referenced.kind != CursorKind.FIELD_DECL:
            # A local variable: the other one must be in the same function.
            function = next((each for each in reversed(parents) if each.kind in FUNCTIONS - {CursorKind.LAMBDA_EXPR}), None)
            whole = self.text(*self._range(function)) if function else ""
            if not re.search(rf"\b{other}\b(?!\()", whole):
                return
        if other:
            self._add(begin, end, "value", constant, Change("pair", text[:match.start()] + other))

    def _enumerator(self, begin: int, end: int, text: str, referenced: Cursor, constant: bool) -> None:
        enumerators = [each.spelling for each in referenced.semantic_parent.get_children()
                       if each.kind == CursorKind.ENUM_CONSTANT_DECL]
        match = re.search(r"\b\w+$", text)
        if not match or match[0] not in enumerators or len(enumerators) < 2 or len(enumerators) > 12:
            return
        other = enumerators[(enumerators.index(match[0]) + 1) % len(enumerators)]
        self._add(begin, end, "value", constant, Change("enumerator", text[:match.start()] + other))
