"""The kinds that a configuration drives."""

from nnefc.mo.replacer import FrontReplacementFromConfigFileGeneral, FrontReplacementFromConfigFileSubGraph

__all__ = ["FrontReplacementFromConfigFileGeneral", "FrontReplacementFromConfigFileSubGraph"]
