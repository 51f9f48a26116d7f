"""The built-in fusion."""

from nnefc.mo.replacer import Transformation


class SoftplusFusion(Transformation):
    """As nnefc has it built in."""

    built_in = "front.SoftplusFusion"
