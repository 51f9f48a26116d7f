"""Documents: check, lint, format, upgrade, explain."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, Union

from nnefc import _nnefc
from nnefc.report import Report

if TYPE_CHECKING:
    import numpy.typing as npt

_T = TypeVar("_T")
Dialect = Literal["auto", "provisional", "ratified"]
# A path, or the text of a document: a `str` with a line break or a brace is text.
Source = Union[str, "os.PathLike[str]"]
# One path or several.
Extensions = Union[Source, Iterable[Source]]


def is_text(source: Source) -> bool:
    """Returns whether a source is the text of a document rather than a path."""
    return isinstance(source, str) and ("\n" in source or "{" in source)


def shown(source: Source) -> str:
    """Returns a path or text as `str`. Raises ValueError if it is not Unicode."""
    text = os.fspath(source)
    if isinstance(text, bytes):
        text = os.fsdecode(text)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{text[:100]!a}: what stands at {error.start} is not Unicode, which nnefc takes") from None
    return text


def make_options(
    *,
    dialect: Dialect = "auto",
    lenient: bool | None = None,
    graph: str | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    random_weights: int | None = None,
    quantize: bool = False,
    extensions: Extensions = (),
    variables: Mapping[str, npt.ArrayLike] | None = None,
) -> _nnefc.ModelOptions:
    """Converts the options of `load` for the compiler. Raises ValueError and TypeError for invalid ones."""
    if dialect not in ("auto", "provisional", "ratified"):
        raise ValueError(f"dialect is {dialect!r}; expected 'auto', 'provisional' or 'ratified'")
    if random_weights is not None and not 0 <= random_weights < 2**64:
        raise ValueError(f"random_weights is {random_weights}; a seed is a number of 64 bits, not negative")
    options = _nnefc.ModelOptions()
    options.set_dialect(dialect)
    options.set_lenient(lenient)
    options.graph = graph
    options.input_shapes = {name: [int(extent) for extent in shape] for name, shape in (shapes or {}).items()}
    options.random_weights = random_weights
    options.quantize = quantize
    options.extensions = _loaded([shown(path) for path in paths_of(extensions)])
    if variables:
        options.set_data(_copied(variables))
    return options


def paths_of(extensions: Extensions) -> list[Source]:
    """Returns the paths in `extensions`."""
    return [extensions] if isinstance(extensions, (str, os.PathLike)) else list(extensions)


def _loaded(extensions: list[str]) -> list[str]:
    """Returns the extensions, with the plug-in for folders of Python modules first if there are any."""
    return [shown(_nnefc.__file__), *extensions] if any(map(os.path.isdir, extensions)) else extensions


def _copied(variables: Mapping[str, npt.ArrayLike]) -> dict[str, object]:
    # Models are immutable, so later changes of the arrays must not affect them.
    import numpy

    def copied(label: str, value: npt.ArrayLike) -> object:
        try:
            return numpy.array(value, copy=True, order="C")
        except ValueError as error:
            raise ValueError(f"the data of variable `{label}` have no shape: {error}") from None

    return {label: copied(label, value) for label, value in variables.items()}


def check(
    source: Source,
    *,
    dialect: Dialect = "auto",
    lenient: bool | None = None,
    graph: str | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    extensions: Extensions = (),
    name: str = "<text>",
) -> Report:
    """Checks a model against the specification, including expansion and shape inference.

    Args:
        source: the path of a document, folder, archive or OpenVINO IR (.xml), or the text of a document.
        dialect: the dialect of NNEF 1.0; "auto" detects it.
        lenient: accept known deviations of exporters from the specification, with warnings; None detects exporters by
            their marks in the document.
        graph: the name of the graph, for documents with several.
        shapes: shapes of inputs that replace those of the document.
        extensions: one or several plug-ins (shared libraries) or folders of Python transformations (`nnefc.mo`).
        name: the name of a text in messages.

    Returns:
        The report; true if there are no errors. An unreadable file is also reported as an error.
    """
    options = make_options(dialect=dialect, lenient=lenient, graph=graph, shapes=shapes, extensions=extensions)
    if is_text(source):
        return Report(_nnefc.check_text(name, shown(source), options))
    return Report(_nnefc.check(shown(source), options))


def lint(
    source: Source,
    *,
    enable: Iterable[str] = (),
    disable: Iterable[str] = (),
    levels: Mapping[str, Literal["error", "warning", "note"]] | None = None,
    config: Source | None = None,
    no_config: bool = False,
    dialect: Dialect = "auto",
    lenient: bool | None = None,
    name: str = "<text>",
) -> Report:
    """Checks a document, and also reports valid code that is deprecated, unused or surprising.

    Args:
        source: as in `check`.
        enable, disable: labels of rules ("unused-tensor"), or "all".
        levels: severities of rules.
        config: a configuration file; the default is the first `.nnefc.json` in the document's folder or its parents.
        no_config: ignore configuration files.
    """
    settings = _nnefc.LintOptions()
    settings.enabled = _listed("enable", enable)
    settings.disabled = _listed("disable", disable)
    settings.levels = dict(levels or {})
    settings.configuration = "" if config is None else os.fspath(config)
    settings.ignores_configurations = no_config
    options = make_options(dialect=dialect, lenient=lenient)
    if is_text(source):
        return Report(_nnefc.lint_text(name, shown(source), settings, options))
    return Report(_nnefc.lint(shown(source), settings, options))


def _listed(argument: str, names: Iterable[_T]) -> list[_T]:
    if isinstance(names, (str, os.PathLike)):
        raise TypeError(f"{argument} is a list of names; write [{names!r}]")
    return list(names)


def format(source: Source, *, dialect: Dialect = "auto", name: str = "<text>") -> str:
    """Returns the document in the standard style, including comments. Raises ModelError for syntax errors."""
    text = shown(source).encode() if is_text(source) else _read(source)
    called = name if is_text(source) else shown(source)
    if dialect not in ("auto", "provisional", "ratified"):
        raise ValueError(f"dialect is {dialect!r}; expected 'auto', 'provisional' or 'ratified'")
    return _nnefc.format(called, text, dialect)[0]


def _read(source: Source) -> bytes:
    path = Path(source)
    if path.is_dir():
        path = path / "graph.nnef"
    # Bytes that are not UTF-8 reach the parser unchanged, for an error with their position.
    return path.read_bytes()


def explain(word: str) -> str:
    """Explains a rule, an operation, a transformation, a topic or a section, with examples.

    Args:
        word: the label of a rule in diagnostics, the name of an operation or transformation, or "control_flow".

    Raises:
        KeyError: the name is unknown; the message suggests the nearest one.
    """
    if "\0" in word:
        raise KeyError(word)
    import subprocess

    done = subprocess.run(
        [binary(), "explain", "--color", "never", "--", word], capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return done.stdout
    raise KeyError(done.stderr.strip().removeprefix("nnefc: error: "))


def binary() -> str:
    """Returns the path of the packaged program."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "nnefc")
