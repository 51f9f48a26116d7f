#!/usr/bin/env python3
"""Mutation check of the differential suite: plants one fault at a time and reports after how many seconds and graphs it
is found.

    tests/differential/planted_faults.py [NAME...] [--seconds 60]

Works in a copy of the sources below build/planted. A fault whose text is missing in its file is an error: update it.
The default tests exclude it, since each fault needs a build.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "build/planted"

# name: file, text, replacement
FAULTS = {
    "dropped-parameter": ("runtime/fast/post_ops.cpp", "function.algorithm, function.alpha, function.beta)",
                          "function.algorithm, function.alpha, 0.0f)"),
    "swapped-operand": ("runtime/fast/gemm/function_chain.cpp", "return {AddStep(-s)};", "return {AddStep(s)};"),
    "wrong-stride": ("runtime/fast/pooling.cpp", "places.channel_ = blocking.strides[1];",
                     "places.channel_ = blocking.strides[0];"),
    "early-overwrite": ("runtime/engine/plan/kernel_chooser.cpp", "uses == 1 && values.IsDead(id) &&", "uses == 1 &&"),
    "stale-layout": ("runtime/engine/plan/plan_draft.cpp", "if (tensor::SameLayout(values_[id].layout, layout)) return id;",
                     "if (layout != nullptr || values_[id].layout == nullptr) return id;"),
    "producer-of-two": ("runtime/fast/fusion.cpp", "if (uses.size() != 1 ||", "if (uses.empty() ||"),
    "border-counted": ("runtime/fast/pooling.cpp", 'const bool exclude_pad = average && ', 'const bool exclude_pad = average && !'),
    "lost-tail": ("runtime/fast/pointwise/reduce_row.h", "for (int64_t lane = 0; lane < count - i; ++lane)",
                  "for (int64_t lane = 0; lane + 1 < count - i; ++lane)"),
    "scale-doubled": ("runtime/fast/attention/attention_operands.cpp", ".scale = static_cast<float>(scale),", ".scale = static_cast<float>(2 * scale),"),
    "mask-off-by-one": ("runtime/fast/attention/attention_operands.cpp", "for (int64_t s = query + 1; s < keys; ++s)",
                        "for (int64_t s = query + 2; s < keys; ++s)"),
    "softmax-overflows": ("runtime/fast/attention/attention.cpp", "VectorExp(scores[i] - largest)", "VectorExp(scores[i] - 0 * largest)"),
    "joined-elsewhere": ("runtime/engine/plan/plan_values.cpp", "place.offset += (*this)[place.root].offset;",
                         "place.offset = (*this)[place.root].offset;"),
    "squares-doubled": ("compiler/lower/elementwise.cpp", 'n.SetOutput(n.Binary("Multiply", n.input(0), n.input(0)));',
                        'n.SetOutput(n.Binary("Add", n.input(0), n.input(0)));'),
}


def run(*command: str | Path, timeout: float | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=COPY, capture_output=True, text=True, timeout=timeout)


def build() -> str:
    done = run("cmake", "--build", "build/release", "--target", "nnefc_differential")
    return "" if done.returncode == 0 else done.stdout[-2000:]


def prepare() -> None:
    shutil.rmtree(COPY, ignore_errors=True)
    subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
    subprocess.run(["git", "worktree", "add", "--force", "--detach", COPY, "HEAD"], cwd=ROOT, check=True, capture_output=True)
    if run("cmake", "--preset", "release").returncode != 0 or build():
        sys.exit("the copy does not build")


def found(seconds: float) -> str:
    """Returns how the suite found the planted fault, or an empty text."""
    start = time.monotonic()
    try:
        done = run("build/release/bin/nnefc_differential", "--graphs", "1000000", "--most-failures", "1", timeout=seconds)
    except subprocess.TimeoutExpired:
        return ""
    told = re.search(r"FAILED seed (\d+): (.*)|signal \d+ in the graph of seed (\d+)", done.stdout + done.stderr)
    return f"{time.monotonic() - start:.0f} s: {told.group(0)[:120]}" if done.returncode != 0 and told else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(FAULTS))
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    prepare()
    if told := found(options.seconds):
        sys.exit(f"the suite fails without a fault: {told}")
    missed = 0
    for name in options.names or FAULTS:
        file, text, fault = FAULTS[name]
        path = COPY / file
        original = path.read_text()
        if original.count(text) != 1:
            sys.exit(f"{name}: {file} holds the text {original.count(text)} times: {text}")
        path.write_text(original.replace(text, fault))
        told = build() or found(options.seconds)
        path.write_text(original)
        missed += not told
        print(f"{name}: {told or 'NOT FOUND'}", flush=True)
    subprocess.run(["git", "worktree", "remove", "--force", COPY], cwd=ROOT, check=True)
    print(f"{len(options.names or FAULTS) - missed} passed, {missed} failed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
