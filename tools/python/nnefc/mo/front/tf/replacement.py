"""The base classes of configuration-driven transformations."""

from nnefc.mo.replacer import FrontReplacementFromConfigFileGeneral, FrontReplacementFromConfigFileSubGraph

__all__ = ["FrontReplacementFromConfigFileGeneral", "FrontReplacementFromConfigFileSubGraph"]
