#!/usr/bin/env python3
"""Mutation check of the differential suite: plants one fault at a time and reports after how many seconds and graphs it
is found.

    tests/differential/planted_faults.py [NAME...] [--seconds 60]
    tests/differential/planted_faults.py --check

Works in a copy of the sources below build/planted. The default tests only run `--check`, since each fault needs a build: the text
of each fault must occur once in its file.
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
    "dropped-parameter": ("runtime/fast/gemm/epilogue.cpp", ".alpha = function.alpha, .beta = function.beta};",
                          ".alpha = function.alpha, .beta = 0.0f};"),
    "swapped-operand": ("runtime/fast/gemm/function_chain.cpp", "return {AddStep(-s)};", "return {AddStep(s)};"),
    "wrong-stride": ("runtime/fast/pointwise/blocked_pooling.cpp", ".in_pixel = form_.columns.stride * kChannelBlock,",
                     ".in_pixel = form_.rows.stride * kChannelBlock,"),
    "early-overwrite": ("runtime/engine/plan/kernel_chooser.cpp", "uses == 1 && values.IsDead(id) &&", "uses == 1 &&"),
    "stale-layout": ("runtime/engine/plan/plan_draft.cpp", "if (tensor::SameLayout(values_[id].layout, layout)) return id;",
                     "if (layout != nullptr || values_[id].layout == nullptr) return id;"),
    "producer-of-two": ("runtime/fast/fusion.cpp", "if (uses.size() != 1 ||", "if (uses.empty() ||"),
    "border-counted": ("runtime/fast/pooling.cpp", 'Bool("exclude-pad") ? PoolingKind::kAverageExcludingPadding',
                       'Bool("exclude-pad") ? PoolingKind::kAverageIncludingPadding'),
    "lost-tail": ("runtime/fast/pointwise/reduce_row.h", "for (int64_t lane = 0; lane < count - i; ++lane)",
                  "for (int64_t lane = 0; lane + 1 < count - i; ++lane)"),
    "scale-doubled": ("runtime/fast/attention/attention_operands.cpp", ".scale = static_cast<float>(scale),", ".scale = static_cast<float>(2 * scale),"),
    "mask-off-by-one": ("runtime/fast/attention/attention_operands.cpp", "for (int64_t s = query + 1; s < keys; ++s)",
                        "for (int64_t s = query + 2; s < keys; ++s)"),
    "softmax-overflows": ("runtime/fast/simd/gemm/attention_microkernel.cpp", "x = (x - most) * kLog2E;", "x = (x - 0 * most) * kLog2E;"),
    "joined-elsewhere": ("runtime/engine/plan/plan_values.cpp", "place.offset += (*this)[place.root].offset;",
                         "place.offset = (*this)[place.root].offset;"),
    "squares-doubled": ("compiler/lower/arithmetic/elementwise.cpp", 'n.SetOutput(n.Binary("Multiply", n.input(0), n.input(0)));',
                        'n.SetOutput(n.Binary("Add", n.input(0), n.input(0)));'),
}


def inapplicable_faults(root: Path) -> list[str]:
    """Returns an error for each fault whose text does not occur exactly once in its file."""
    errors = []
    for name, (file, text, fault) in FAULTS.items():
        count = (root / file).read_text().count(text) if (root / file).is_file() else 0
        if count != 1 or fault == text:
            errors.append(f"{name}: error: {file} has the text {count} times; expected once: {text}")
    return errors


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
    report = re.search(r"FAILED seed (\d+): (.*)|signal \d+ in the graph of seed (\d+)", done.stdout + done.stderr)
    return f"{time.monotonic() - start:.0f} s: {report.group(0)[:120]}" if done.returncode != 0 and report else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(FAULTS))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--check", action="store_true", help="only check that each fault can be planted")
    options = parser.parse_args()
    if errors := inapplicable_faults(ROOT):
        sys.exit("\n".join(errors))
    if options.check:
        print(f"{len(FAULTS)} faults can be planted")
        return 0
    prepare()
    if report := found(options.seconds):
        sys.exit(f"the suite fails without a fault: {report}")
    missed = 0
    for name in options.names or FAULTS:
        file, text, fault = FAULTS[name]
        path = COPY / file
        original = path.read_text()
        path.write_text(original.replace(text, fault))
        report = build() or found(options.seconds)
        path.write_text(original)
        missed += not report
        print(f"{name}: {report or 'NOT FOUND'}", flush=True)
    subprocess.run(["git", "worktree", "remove", "--force", COPY], cwd=ROOT, check=True)
    print(f"{len(options.names or FAULTS) - missed} passed, {missed} failed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
