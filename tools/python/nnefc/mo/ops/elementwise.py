"""Element-wise operations of OpenVINO, with NumPy broadcasting by default."""

from nnefc.mo.op import Op


class Mul(Op):
    """The product of two tensors."""

    op = "Multiply"


class Add(Op):
    """The sum of two tensors."""

    op = "Add"
