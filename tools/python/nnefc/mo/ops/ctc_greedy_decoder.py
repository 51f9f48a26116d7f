"""The most likely sequence of classes."""

from nnefc.mo.op import Op


class CTCGreedyDecoderOp(Op):
    """CTCGreedyDecoder."""

    op = "CTCGreedyDecoder"
