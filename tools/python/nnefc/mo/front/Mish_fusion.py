"""The built-in fusion."""

from nnefc.mo.replacer import Transformation


class MishFusion(Transformation):
    """As nnefc has it built in."""

    built_in = "front.MishFusion"
