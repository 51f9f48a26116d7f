"""The ends of the front phase."""

from nnefc.mo.replacer import Transformation


class FrontStart(Transformation):
    """As nnefc has it built in."""

    built_in = "FrontStart"


class FrontFinish(Transformation):
    """As nnefc has it built in."""

    built_in = "FrontFinish"
