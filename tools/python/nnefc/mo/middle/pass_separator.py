"""Places in the middle phase."""

from nnefc.mo.replacer import Transformation


class PreMiddleStart(Transformation):
    """As nnefc has it built in."""

    built_in = "PreMiddleStart"


class MiddleStart(Transformation):
    """As nnefc has it built in."""

    built_in = "MiddleStart"


class MiddleFinish(Transformation):
    """As nnefc has it built in."""

    built_in = "MiddleFinish"


class PostMiddleStart(Transformation):
    """As nnefc has it built in."""

    built_in = "PostMiddleStart"
