"""Activations."""

from nnefc.mo.op import Op


class Mish(Op):
    """Mish."""

    op = "Mish"


class SoftPlus(Op):
    """SoftPlus."""

    op = "SoftPlus"


class Sigmoid(Op):
    """Sigmoid."""

    op = "Sigmoid"


class Tanh(Op):
    """Tanh."""

    op = "Tanh"


class Elu(Op):
    """Elu."""

    op = "Elu"


class Swish(Op):
    """Swish."""

    op = "Swish"


class HSwish(Op):
    """HSwish."""

    op = "HSwish"


class HSigmoid(Op):
    """HSigmoid."""

    op = "HSigmoid"
