"""Squeeze."""

from nnefc.mo.op import Op


class Squeeze(Op):
    """Squeeze."""

    op = "Squeeze"
