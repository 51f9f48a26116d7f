"""Anchors at the start and end of the front phase."""

from nnefc.mo.replacer import Transformation


class FrontStart(Transformation):
    """The built-in transformation."""

    built_in = "FrontStart"


class FrontFinish(Transformation):
    """The built-in transformation."""

    built_in = "FrontFinish"
