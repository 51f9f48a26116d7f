"""The exceptions of nnefc, with their diagnostics as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nnefc.report import Diagnostic, Report

if TYPE_CHECKING:
    from nnefc import _nnefc


class NnefError(Exception):
    """The base class of all exceptions of nnefc; its text is that of the report."""

    def __init__(self, report: Report, what: str = "") -> None:
        # The cause comes first: logs show the first line.
        super().__init__(str(report) or f"{what} failed")
        self.report = report
        self.what = what

    def __reduce__(self) -> tuple[type[NnefError], tuple[Report, str]]:
        return type(self), (self.report, self.what)

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics, in the order of the document's text."""
        return self.report.diagnostics


class ModelError(NnefError, ValueError):
    """A model that is invalid, or not representable in the requested format."""


class InputError(NnefError, ValueError):
    """Data that do not match the inputs of a model: an unknown name, a wrong type or shape, or missing data."""


class RunError(NnefError, RuntimeError):
    """An operation that failed at run time."""


class SystemFailure(NnefError, OSError):
    """A file that cannot be read or written, or insufficient memory."""


class MissingFile(SystemFailure, FileNotFoundError):
    """A file that does not exist."""


def _is_missing(report: Report) -> bool:
    unreadable = ("container.unreadable", "file.unreadable")
    return any(item.rule in unreadable and "no such file or directory" in item.message for item in report.errors)


def _from_native(native: _nnefc.Report, what: str) -> NnefError:
    report = Report(native)
    if report.environment_failed:
        return (MissingFile if _is_missing(report) else SystemFailure)(report, what)
    if what == "running the model":
        is_input = any(item.rule.startswith("input.") for item in report.errors)
        return InputError(report, what) if is_input else RunError(report, what)
    return ModelError(report, what)
