"""An anchor without effect, because lowering already removes no-ops."""

from nnefc.mo.replacer import Transformation


class NoOpEraser(Transformation):
    """The built-in transformation."""

    built_in = "front.NoOpEraser"
