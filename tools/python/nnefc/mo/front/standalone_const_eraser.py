"""Lowering leaves no constant that nobody reads, so it orders nothing."""

from nnefc.mo.replacer import Transformation


class StandaloneConstEraser(Transformation):
    """As nnefc has it built in."""

    built_in = "front.StandaloneConstEraser"
