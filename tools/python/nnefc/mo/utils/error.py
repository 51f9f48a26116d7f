"""The exception class of transformations."""

from nnefc._nnefc import TransformError as Error

__all__ = ["Error"]
