"""Anchors at the start and end of the back phase."""

from nnefc.mo.replacer import Transformation


class BackStart(Transformation):
    """The built-in transformation."""

    built_in = "BackStart"


class BackFinish(Transformation):
    """The built-in transformation."""

    built_in = "BackFinish"
