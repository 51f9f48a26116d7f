"""What a configuration names."""

from nnefc.mo.replacer import SubgraphMatch

__all__ = ["SubgraphMatch"]
