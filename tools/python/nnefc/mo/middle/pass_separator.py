"""Anchors in the middle phase."""

from nnefc.mo.replacer import Transformation


class PreMiddleStart(Transformation):
    """The built-in transformation."""

    built_in = "PreMiddleStart"


class MiddleStart(Transformation):
    """The built-in transformation."""

    built_in = "MiddleStart"


class MiddleFinish(Transformation):
    """The built-in transformation."""

    built_in = "MiddleFinish"


class PostMiddleStart(Transformation):
    """The built-in transformation."""

    built_in = "PostMiddleStart"
