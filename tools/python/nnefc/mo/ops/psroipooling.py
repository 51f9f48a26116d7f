"""Position-sensitive ROI pooling."""

from nnefc.mo.op import Op


class PSROIPoolingOp(Op):
    """PSROIPooling."""

    op = "PSROIPooling"
