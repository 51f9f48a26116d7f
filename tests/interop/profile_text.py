"""The text that `nnefc run --profile` prints."""

from __future__ import annotations


def measured_steps(text: str) -> str:
    """Returns a profile without the reasons why implementations were rejected, which name other kernels, and without the
    implementations listed before these reasons."""
    return "".join(line for line in text.splitlines(keepends=True) if ": rejected, " not in line and ", kernel " not in line)
