"""The space-to-depth layer of YOLO networks."""

from nnefc.mo.op import Op


class ReorgYoloOp(Op):
    """ReorgYolo."""

    op = "ReorgYolo"
