"""Prior boxes."""

from nnefc.mo.op import Op


class PriorBoxOp(Op):
    """PriorBox."""

    op = "PriorBox"
