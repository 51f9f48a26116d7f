"""The built-in removal of constants without readers."""

from nnefc.mo.replacer import Transformation


class StandaloneConstEraser(Transformation):
    """The built-in transformation."""

    built_in = "front.StandaloneConstEraser"
