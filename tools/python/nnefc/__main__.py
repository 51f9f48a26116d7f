"""The command line: `nnefc` and `python -m nnefc`."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import NoReturn

from nnefc import _nnefc
from nnefc.documents import binary
from nnefc.mo import loading

_OPTION = "--extensions"
_MO_IMPORTS = "--mo-imports"


def main() -> NoReturn:
    """Executes the packaged program; with folders of Python transformations, runs it inside this process."""
    # Restores the default handlers: Python catches these signals.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.argv[1:2] == ["convert"]:
        from nnefc.conversion import command

        if command.needs_python(sys.argv[2:]):
            sys.exit(command.run(sys.argv[2:]))
    words = _with_folders(sys.argv[1:])
    if words is not None:
        sys.exit(_run(words))
    os.execv(binary(), [binary(), *sys.argv[1:]])


def _with_folders(words: list[str]) -> list[str] | None:
    """Returns the arguments with the plug-in for folders first, or None if no `--extensions` is a folder."""
    behind: list[str] = []
    rest = iter(words[1:])
    is_given = False
    for word in rest:
        if word == "--":
            behind += [word, *rest]
            break
        if word == _MO_IMPORTS:
            os.environ[loading.MO_IMPORTS] = "1"
        option, has_value, value = word.partition("=")
        if option != _OPTION:
            behind.append(word)
            continue
        given = value if has_value else next(rest, None)
        if given is None:
            behind.append(word)
            break
        paths = _paths(given)
        is_given |= any(map(os.path.isdir, paths))
        behind += [f"{_OPTION}={path}" for path in paths]
    return [words[0], f"{_OPTION}={_nnefc.__file__}", *behind] if is_given else None


def _paths(given: str) -> list[str]:
    """Returns one path, or several comma-separated folders, as for the Model Optimizer."""
    parts = given.split(",")
    return parts if len(parts) > 1 and not os.path.exists(given) and all(map(os.path.isdir, parts)) else [given]


def _run(words: list[str]) -> int:
    """Runs the program inside this process. Output of Python code goes to standard error, like diagnostics."""
    with contextlib.redirect_stdout(sys.stderr):
        return _nnefc.run_program([b"nnefc", *map(os.fsencode, words)])


if __name__ == "__main__":
    main()
