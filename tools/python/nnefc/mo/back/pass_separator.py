"""The ends of the back phase."""

from nnefc.mo.replacer import Transformation


class BackStart(Transformation):
    """As nnefc has it built in."""

    built_in = "BackStart"


class BackFinish(Transformation):
    """As nnefc has it built in."""

    built_in = "BackFinish"
