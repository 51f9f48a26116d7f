"""Concat."""

from nnefc.mo.op import Op


class Concat(Op):
    """Concat."""

    op = "Concat"
