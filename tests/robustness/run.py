#!/usr/bin/env python3
"""Hostile documents: each must end in a diagnostic within four seconds of processor time and a gigabyte.

    run.py NNEFC [ON|OFF: built with sanitizers]
"""

from __future__ import annotations

import pathlib
import resource
import subprocess
import sys
import tempfile

SECONDS = 4.0  # twice the time of the slowest on an idle machine
BYTES = 1 << 30

P_HEAD = "version 1.0\n"
R_HEAD = "version 1.0;\nextension KHR_enable_fragment_definitions;\nextension KHR_enable_operator_expressions;\n"
R_GRAPH = "graph g( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    y = f(x);\n}\n"
P_GRAPH = "graph g( x ) -> ( y )\n{\n    x = external(shape = [1, 4])\n    y = f(x)\n}\n"


def ratified(body: str, more: str = "") -> str:
    return f"{R_HEAD}{more}fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{{\n{body}\n}}\n{R_GRAPH}"


def provisional(body: str, more: str = "") -> str:
    return f"{P_HEAD}{more}fragment f( x: tensor ) -> ( y: tensor )\n{{\n{body}\n}}\n{P_GRAPH}"


def doubling(start: str, times: int) -> str:
    lines = [f"    a0 = {start};"] + [f"    a{i + 1} = a{i} + a{i};" for i in range(times)]
    return "\n".join(lines) + f"\n    y = x * scalar(length_of(a{times}));"


TWO_CALLS = """fragment two( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
{
    y = two(x, n = n - 1) + two(x, n = n - 1) if n > 0 else x;
}
"""
ENDLESS = """fragment loop( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
{
    y = loop(x, n = n + 1);
}
"""
ENDLESS_P = """fragment loop( x: tensor, n: extent ) -> ( y: tensor )
{
    y = loop(x, n = n + 1)
}
"""

C_HEAD = "version 1.0;\nextension KHR_enable_fragment_definitions;\nextension NNEFC_control_flow;\n"


def bodies(count: int, last: str) -> str:
    """Returns a chain of fragments each of which has the next one as both bodies."""
    chain = "".join(f"fragment f{i}( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{{\n    [y] = if_else(true, [x], "
                    f"then_body = 'f{i + 1}', else_body = 'f{i + 1}');\n}}\n" for i in range(count))
    end = f"fragment f{count}( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{{\n    {last}\n}}\n"
    return C_HEAD + chain + end + R_GRAPH.replace(
        "y = f(x);", "[y] = if_else(true, [x], then_body = 'f0', else_body = 'f0');")


# name -> (text, a word of the expected rule)
CASES: dict[str, tuple[str, str]] = {
    "40,000 nested brackets": (ratified(f"    y = x + {'(' * 40000}1.0{')' * 40000};"), "nesting"),
    "40,000 open brackets": (ratified(f"    y = {'[' * 40000}"), "nesting"),
    "40,000 nested calls": (ratified(f"    y = {'copy(' * 40000}x{')' * 40000};"), "nesting"),
    "40,000 minus signs": (ratified(f"    y = x * {'-' * 40000}1.0;"), "nesting"),
    "endless recursion": (ratified("    y = loop(x, n = 0);", ENDLESS), "recursion"),
    "endless recursion, provisional": (provisional("    y = loop(x, n = 0)", ENDLESS_P), "recursion"),
    "negative repetition": (ratified("    a = [1] * -1;\n    y = x * scalar(length_of(a));"), "repeat"),
    "division by zero": (ratified("    a = 1 / 0;\n    y = x * scalar(a);"), "division"),
    "doubling strings": (ratified(doubling("'ab'", 50)), "items"),
    "doubling arrays": (ratified(doubling("[1, 2]", 50)), "items"),
    "two calls a level, 60 deep": (ratified("    y = two(x, n = 60);", TWO_CALLS), "limit"),
    "an array of a trillion": (ratified("    a = [0] * 1000000000000;\n    y = x * scalar(length_of(a));"), "items"),
    "a string of a trillion": (ratified("    a = 'ab' * 1000000000000;\n    y = x * scalar(length_of(a));"), "items"),
    "a huge tensor": (ratified("    y = tile(x, repeats = [9223372036854775807, 9223372036854775807]);"), ""),
    "bodies of bodies without an end": (bodies(
        0, "[y] = if_else(true, [x], then_body = 'f0', else_body = 'f0');"), "body-nesting"),
    "two bodies a level, 40 deep": (bodies(40, "y = copy(x);"), "operations"),
    "an operator chain of 100,000": (ratified(f"    y = x{' + x' * 100000}"), ""),
}


def limit(sanitized: bool):
    """Bounds the memory of the child; under sanitizers its address space is not a useful measure."""
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (2 * BYTES, 2 * BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def processor_seconds() -> float:
    """Returns the processor time of the children so far: other work on the machine does not count."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def judge(nnefc: str, name: str, text: str, word: str, sanitized: bool) -> str | None:
    """Returns the problem of nnefc's run on the document, if any."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "hostile.nnef")
        path.write_text(text, encoding="ascii")
        start = processor_seconds()
        done = subprocess.run([nnefc, "check", str(path)], capture_output=True, text=True, check=False,
                              preexec_fn=lambda: limit(sanitized), timeout=120)
        seconds = processor_seconds() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    if done.returncode != 1:
        return f"{name}: exit code {done.returncode}, expected 1: {done.stderr[-300:]}"
    if "error:" not in done.stderr or word not in done.stderr:
        return f"{name}: no diagnostic that says `{word}`: {done.stderr[:300]}"
    if seconds > SECONDS * (10 if sanitized else 1):
        return f"{name}: took {seconds:.1f} s"
    if peak > BYTES * (4 if sanitized else 1):
        return f"{name}: took {peak >> 20} MiB"
    return None


def main() -> int:
    nnefc, sanitized = sys.argv[1], sys.argv[2:] == ["ON"]
    faults = [fault for name, (text, word) in CASES.items() if (fault := judge(nnefc, name, text, word, sanitized))]
    print("\n".join(faults))
    print(f"{len(CASES) - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
