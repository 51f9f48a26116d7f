"""Element-wise operations."""

from nnefc.mo.op import Op


class Mul(Op):
    """Multiply."""

    op = "Multiply"


class Add(Op):
    """Add."""

    op = "Add"
