"""The built-in fusion."""

from nnefc.mo.replacer import Transformation


class MishFusion(Transformation):
    """The built-in transformation."""

    built_in = "front.MishFusion"
