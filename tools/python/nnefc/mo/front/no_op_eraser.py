"""The built-in removal of NoOp."""

from nnefc.mo.replacer import Transformation


class NoOpEraser(Transformation):
    """The built-in transformation."""

    built_in = "front.NoOpEraser"
