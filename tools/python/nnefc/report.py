"""Reports: diagnostics with their rule, source range, notes and fixes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TextIO

from nnefc.record import record

if TYPE_CHECKING:
    from nnefc import _nnefc

Severity = Literal["error", "warning", "note"]
Applicability = Literal["safe", "unsafe"]


@record(frozen=True)
class Place:
    """A source range, from (line, column) to just before (end_line, end_column).

    Lines and columns start at 1, columns count bytes; all are 0 for a whole file. `file` is empty if there is no range.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@record(frozen=True)
class Note:
    """Additional information for a diagnostic, such as the enclosing fragment instantiations."""

    message: str
    place: Place


@record(frozen=True)
class Fix:
    """An edit that corrects a document: `text` replaces the range `place`. Fixes of a diagnostic belong together.

    Attributes:
        applicability: "safe" if the document has only one interpretation, written by the fix; "unsafe" if the fix
            guesses the intention, or may change the results of the network.
    """

    place: Place
    text: str
    applicability: Applicability


@record(frozen=True)
class Diagnostic:
    """An error, warning or note.

    Attributes:
        severity: "error", "warning" or "note".
        rule: the stable label of the violated rule, such as "conv.rank"; `nnefc.explain(rule)` describes it.
        section: the section of the specification, such as "R 3.3.2"; empty for rules specific to nnefc.
        message: the actual and the expected state.
        place: the source range.
    """

    severity: Severity
    rule: str
    section: str
    message: str
    place: Place
    notes: tuple[Note, ...]
    fixes: tuple[Fix, ...]

    @property
    def file(self) -> str:
        """The file, as named in messages."""
        return self.place.file

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place.file else ""
        return f"{place}{self.severity}: {self.message} [{self.rule}]"


# Command-line options in messages, with their Python equivalents.
_SPELLINGS: tuple[tuple[str, str], ...] = (
    (r"--input-shape ([^`=]+)=([0-9,]+)", r"shapes={'\1': (\2)}"),
    (r"--input-shape ([^`=]+)=\.+", r"shapes={'\1': ..}"),
    (r"--input-shape", "shapes="),
    (r"--random-weights SEED", "random_weights=SEED"),
    (r"--random-inputs SEED", "random_inputs(SEED)"),
    (r"--quantize", "quantize=True"),
    (r"--lenient", "lenient=True"),
    (r"--strict", "lenient=False"),
    (r"--graph", "graph="),
    (r"--extensions", "extensions="),
    (r"--max-memory", "max_memory="),
    (r"nnefc explain ([^`-]+)", r"nnefc.explain('\1')"),
    (r"--dialect (provisional|ratified)", r"dialect='\1'"),
)


def in_python(text: str) -> str:
    """Returns a message with options and commands replaced by Python arguments and functions: `random_weights=SEED`."""
    if "--" not in text and "`nnefc " not in text:
        return text
    import re

    for option, spelling in _SPELLINGS:
        text = re.sub(f"`{option}`", lambda found, spelling=spelling: f"`{found.expand(spelling)}`", text)  # type: ignore[misc]
    return text


class Report:
    """Diagnostics in the order of a document's text.

    A report is true if it has no errors, for `if nnefc.check(path):`; `len` and iteration apply to its diagnostics.
    `print(report)` shows the text of the command line, `show()` adds colour on a terminal, and notebooks display it. It
    can be pickled.
    """

    def __init__(self, native: _nnefc.Report) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(
            Diagnostic(
                severity,
                rule,
                section,
                in_python(message),
                Place(*place),
                tuple(Note(in_python(text), Place(*where)) for text, where in notes),
                tuple(Fix(Place(*where), text, applicability) for where, text, applicability in fixes),
            )
            for severity, rule, section, message, place, notes, fixes in native.diagnostics()
        )
        self.ok: bool = native.ok()
        self.error_count: int = native.error_count()
        self.environment_failed: bool = native.environment_failed()
        self._text = in_python(native.text(False))
        self._colored = in_python(native.text(True))
        self._json = native.json()
        self._sarif = native.sarif()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that are errors; `error_count` includes those beyond the limit."""
        return tuple(item for item in self.diagnostics if item.severity == "error")

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that are warnings."""
        return tuple(item for item in self.diagnostics if item.severity == "warning")

    def __bool__(self) -> bool:
        return self.ok

    def __len__(self) -> int:
        return len(self.diagnostics)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<nnefc.Report: {self.summary()}>"

    def summary(self) -> str:
        """Returns the numbers of errors, warnings and notes: "1 error, 2 warnings"."""

        def count(number: int, what: str) -> list[str]:
            return [f"{number} {what}{'s' if number > 1 else ''}"] if number else []

        notes = len(self) - len(self.errors) - len(self.warnings)
        parts = count(self.error_count, "error") + count(len(self.warnings), "warning") + count(notes, "note")
        return ", ".join(parts) or "nothing to say"

    def show(self, file: TextIO | None = None, color: bool | None = None) -> None:
        """Prints the report to `file` (standard error), in colour if it is a terminal, or as specified by `color`."""
        stream = sys.stderr if file is None else file
        if color is None:
            color = stream.isatty() and "NO_COLOR" not in os.environ
        stream.write(self._colored if color else self._text)

    def to_json(self) -> str:
        """Returns a JSON object with a list `diagnostics`, as `nnefc check --format json`."""
        return self._json

    def to_sarif(self) -> str:
        """Returns a SARIF 2.1.0 log."""
        return self._sarif

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        # IPython protocol: `printer` has a method `text`.
        printer.text(str(self) or repr(self))  # type: ignore[attr-defined]

    def _repr_html_(self) -> str:
        import html
        import re

        colors = {"error": "#c62828", "warning": "#b26a00", "note": "#00695c"}
        shown = html.escape(str(self) or repr(self), quote=False)
        shown = re.sub(
            r"(?m)^(.*?)\b(error|warning|note): ",
            lambda found: f'{found[1]}<b style="color:{colors[found[2]]}">{found[2]}:</b> ',
            shown,
        )
        return f'<pre style="line-height:1.3">{shown}</pre>'


class _Listed:
    """Diagnostics found in Python, with the interface of the module's report."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self._diagnostics = diagnostics

    def diagnostics(self) -> list[Any]:
        return [
            (item.severity, item.rule, item.section, item.message, _ends(item.place), (), ()) for item in self._diagnostics
        ]

    def ok(self) -> bool:
        return not self.error_count()

    def error_count(self) -> int:
        return sum(item.severity == "error" for item in self._diagnostics)

    def environment_failed(self) -> bool:
        return False

    def text(self, colored: bool) -> str:
        return "".join(f"{item}\n" for item in self._diagnostics)

    def json(self) -> str:
        import json

        listed = [
            {
                "severity": item.severity, "rule": item.rule, "section": item.section, "message": item.message,
                "file": item.place.file, "line": item.place.line, "column": item.place.column,
                "end_line": item.place.end_line, "end_column": item.place.end_column, "notes": [], "fixes": [],
            }
            for item in self._diagnostics
        ]  # fmt: skip
        return json.dumps({"diagnostics": listed}, indent=2)

    def sarif(self) -> str:
        import json

        results = [
            {
                "ruleId": item.rule,
                "level": item.severity,
                "message": {"text": item.message},
                "locations": [{"physicalLocation": {"artifactLocation": {"uri": item.place.file}}}],
            }
            for item in self._diagnostics
        ]
        run = {"tool": {"driver": {"name": "nnefc"}}, "results": results}
        schema = "https://json.schemastore.org/sarif-2.1.0.json"
        return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2)


def _ends(place: Place) -> tuple[str, int, int, int, int]:
    return place.file, place.line, place.column, place.end_line, place.end_column


def listed_report(diagnostics: Sequence[Diagnostic]) -> Report:
    """Returns a report of diagnostics that were found in Python."""
    return Report(_Listed(diagnostics))  # type: ignore[arg-type]
