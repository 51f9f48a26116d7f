"""The command line: `nnefc` and `python -m nnefc`."""

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Becomes the program that the package brings."""
    binary = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "nnefc")
    os.execv(binary, [binary, *sys.argv[1:]])


if __name__ == "__main__":
    main()
