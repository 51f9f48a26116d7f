"""Unsqueeze."""

from nnefc.mo.op import Op


class Unsqueeze(Op):
    """Unsqueeze."""

    op = "Unsqueeze"
