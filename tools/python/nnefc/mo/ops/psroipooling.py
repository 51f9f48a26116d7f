"""Pooling of regions, each place of which has channels of its own."""

from nnefc.mo.op import Op


class PSROIPoolingOp(Op):
    """PSROIPooling."""

    op = "PSROIPooling"
