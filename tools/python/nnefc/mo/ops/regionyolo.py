"""The detection layer of YOLO networks."""

from nnefc.mo.op import Op


class RegionYoloOp(Op):
    """RegionYolo."""

    op = "RegionYolo"
