"""The error that transformations raise."""

from nnefc._nnefc import TransformError as Error

__all__ = ["Error"]
