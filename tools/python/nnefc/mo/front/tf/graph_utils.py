"""Creation of nodes with constant inputs, in the module where the Model Optimizer has it."""

from nnefc.mo.op import create_op_node_with_second_input, create_op_with_const_inputs

__all__ = ["create_op_node_with_second_input", "create_op_with_const_inputs"]
