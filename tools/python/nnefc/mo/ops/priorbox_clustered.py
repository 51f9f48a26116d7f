"""Prior boxes with explicit pairs of extents."""

from nnefc.mo.op import Op


class PriorBoxClusteredOp(Op):
    """PriorBoxClustered."""

    op = "PriorBoxClustered"
