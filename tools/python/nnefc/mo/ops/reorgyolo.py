"""The layer of YOLO networks that moves places into channels."""

from nnefc.mo.op import Op


class ReorgYoloOp(Op):
    """ReorgYolo."""

    op = "ReorgYolo"
