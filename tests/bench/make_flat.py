#!/usr/bin/env python3
"""Prints a flat NNEF document of N operations: variable, conv and relu in turn."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

CHANNELS = 8
CONV = "border = 'constant', padding = [(1, 1), (1, 1)], stride = [1, 1], dilation = [1, 1], groups = 1"


def statements(count: int) -> Iterator[str]:
    """Yields `count` statements between `external` and the final `copy`."""
    last = "input"
    for index in range(count):
        step, kind = divmod(index, 3)
        if kind == 0:
            shape = [CHANNELS, CHANNELS, 3, 3]
            yield f"filter{step} = variable(shape = {shape}, label = 'layer{step}/filter');"
        elif kind == 1:
            yield f"conv{step} = conv({last}, filter{step}, 0.0, {CONV});"
            last = f"conv{step}"
        else:
            yield f"relu{step} = relu(conv{step});"
            last = f"relu{step}"
    yield f"output = copy({last});"


def document(operations: int) -> Iterator[str]:
    """Yields the lines of the document; `external` and `copy` are two of its operations."""
    yield "version 1.0;"
    yield ""
    yield "graph bench( input ) -> ( output )"
    yield "{"
    yield f"    input = external(shape = [1, {CHANNELS}, 32, 32]);"
    for statement in statements(operations - 2):
        yield "    " + statement
    yield "}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("operations", type=int, help="how many operations; at least 2")
    options = parser.parse_args()
    if options.operations < 2:
        parser.error("a graph has at least 2 operations: `external` and `copy`")
    sys.stdout.writelines(line + "\n" for line in document(options.operations))
    return 0


if __name__ == "__main__":
    sys.exit(main())
