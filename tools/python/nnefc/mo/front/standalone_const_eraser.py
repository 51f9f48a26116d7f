"""An anchor without effect, because lowering already removes unused constants."""

from nnefc.mo.replacer import Transformation


class StandaloneConstEraser(Transformation):
    """The built-in transformation."""

    built_in = "front.StandaloneConstEraser"
