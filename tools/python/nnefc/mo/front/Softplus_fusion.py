"""The built-in fusion."""

from nnefc.mo.replacer import Transformation


class SoftplusFusion(Transformation):
    """The built-in transformation."""

    built_in = "front.SoftplusFusion"
