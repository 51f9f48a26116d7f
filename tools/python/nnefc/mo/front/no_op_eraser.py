"""Lowering leaves no operation that does nothing, so it orders nothing."""

from nnefc.mo.replacer import Transformation


class NoOpEraser(Transformation):
    """As nnefc has it built in."""

    built_in = "front.NoOpEraser"
