"""The command line: `nnefc` and `python -m nnefc`."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from nnefc import _nnefc
from nnefc.documents import binary

_OPTION = "--extensions"


def main() -> NoReturn:
    """Becomes the program that the package brings; with folders of transformations in Python, does its work here."""
    words = _with_folders(sys.argv[1:])
    if words is not None:
        sys.exit(_run(words))
    os.execv(binary(), [binary(), *sys.argv[1:]])


def _with_folders(words: list[str]) -> list[str] | None:
    """The words with the plug-in that loads folders before them, or None if `--extensions` names no folder."""
    behind: list[str] = []
    rest = iter(words[1:])
    is_given = False
    for word in rest:
        if word == "--":
            behind += [word, *rest]
            break
        option, has_value, value = word.partition("=")
        if option != _OPTION:
            behind.append(word)
            continue
        given = value if has_value else next(rest, None)
        if given is None:
            behind.append(word)
            break
        is_given |= os.path.isdir(given)
        behind.append(f"{_OPTION}={given}")
    return [words[0], f"{_OPTION}={_nnefc.__file__}", *behind] if is_given else None


def _run(words: list[str]) -> int:
    """Does what the program does, in this process."""
    return _nnefc.run_program([b"nnefc", *map(os.fsencode, words)])


if __name__ == "__main__":
    main()
