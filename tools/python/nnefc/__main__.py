"""The command line: `nnefc` and `python -m nnefc`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

_OPTION = "--extensions"


def main() -> NoReturn:
    """Becomes the program that the package brings, or is it where transformations in Python are wanted."""
    words = sys.argv[1:]
    folders = [folder for folder in _extensions(words) if os.path.isdir(folder)]
    if folders:
        sys.exit(_run(words, folders))
    binary = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "nnefc")
    os.execv(binary, [binary, *words])


def _extensions(words: list[str]) -> list[str]:
    """What `--extensions` is given."""
    given = [word.partition("=")[2] for word in words if word.startswith(_OPTION + "=")]
    return given + [word for option, word in zip(words, words[1:]) if option == _OPTION]


def _run(words: list[str], folders: list[str]) -> int:
    """The command in this process, with the transformations of the folders."""
    from nnefc import _nnefc
    from nnefc.mo.adapter import choose

    try:
        choose([Path(folder) for folder in folders])
    except ImportError as error:
        print(f"nnefc: error: {error}", file=sys.stderr)
        return 2
    # The module is a plug-in, which brings them.
    plugin = str(_nnefc.__file__)
    named = {f"{_OPTION}={folder}": f"{_OPTION}={plugin}" for folder in folders}
    given = [named.get(word, word) for word in words]
    for at, option in enumerate(words[:-1]):
        if option == _OPTION and words[at + 1] in folders:
            given[at + 1] = plugin
    return _nnefc.run_program(["nnefc", *given])


if __name__ == "__main__":
    main()
