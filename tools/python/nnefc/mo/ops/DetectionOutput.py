"""The detection layer of SSD networks."""

from nnefc.mo.op import Op


class DetectionOutput(Op):
    """DetectionOutput."""

    op = "DetectionOutput"
