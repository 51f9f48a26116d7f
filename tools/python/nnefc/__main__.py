"""The command line: `nnefc` and `python -m nnefc`."""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Becomes the program that the package brings, unless transformations in Python are wanted."""
    words = sys.argv[1:]
    if words[:1] == ["compile"] and any(os.path.isdir(folder) for folder in _extensions(words)):
        sys.exit(_compile(words[1:]))
    binary = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "nnefc")
    os.execv(binary, [binary, *words])


def _extensions(words: list[str]) -> list[str]:
    """What `--extensions` is given."""
    given = [word.partition("=")[2] for word in words if word.startswith("--extensions=")]
    return given + [word for option, word in zip(words, words[1:]) if option == "--extensions"]


def _compile(words: list[str]) -> int:
    """`nnefc compile` with transformations in Python, which are run in this process."""
    import nnefc

    parser = argparse.ArgumentParser(
        prog="python -m nnefc compile",
        description="compiles a model with transformations in Python: to OpenVINO IR, or a text on standard output",
        allow_abbrev=False,
    )
    parser.add_argument("MODEL")
    parser.add_argument("-o", "--output", metavar="FILE.xml")
    parser.add_argument("--extensions", action="append", required=True, metavar="DIR")
    parser.add_argument("--transformations-config", metavar="FILE")
    parser.add_argument("--dialect", choices=("auto", "provisional", "ratified"), default="auto")
    parser.add_argument("--graph", metavar="NAME")
    given = parser.parse_args(words)
    try:
        model = nnefc.load(given.MODEL, dialect=given.dialect, graph=given.graph)
        model = model.transform(extensions=given.extensions, configuration=given.transformations_config)
        if given.output is None:
            print(model.lower(), end="")
        else:
            model.save(given.output)
    except nnefc.SystemFailure as error:
        print(error, file=sys.stderr)
        return 2
    except nnefc.NnefError as error:
        print(error, file=sys.stderr)
        return 1
    except (ImportError, OSError, ValueError) as error:
        print(f"nnefc: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    main()
