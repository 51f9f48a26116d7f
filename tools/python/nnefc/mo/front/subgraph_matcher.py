"""Sub-graphs matched by a configuration."""

from nnefc.mo.replacer import SubgraphMatch

__all__ = ["SubgraphMatch"]
