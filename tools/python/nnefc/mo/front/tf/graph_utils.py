"""Creation of nodes with constant inputs."""

from nnefc.mo.op import create_op_with_const_inputs

__all__ = ["create_op_with_const_inputs"]
