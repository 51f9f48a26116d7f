"""A transformation of the front phase: each `leaky_relu` becomes an `elu`."""

from nnefc.mo.front.extractor import FrontExtractorOp
from nnefc.mo.ops.activation_ops import Elu


class LeakyReluAsElu(FrontExtractorOp):
    """Uses the slope as the factor below zero."""

    op = "leaky_relu"
    enabled = True

    @classmethod
    def extract(cls, node):
        Elu.update_node_stat(node, {"alpha": node.alpha})
        return cls.enabled
