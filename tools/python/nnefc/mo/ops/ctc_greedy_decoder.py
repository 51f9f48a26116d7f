"""CTC greedy decoding."""

from nnefc.mo.op import Op


class CTCGreedyDecoderOp(Op):
    """CTCGreedyDecoder."""

    op = "CTCGreedyDecoder"
