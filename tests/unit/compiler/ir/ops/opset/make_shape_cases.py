"""Writes shape_cases.txt: the shapes that OpenVINO infers for the operations of ir/ops/opset.

Run it with a Python that has `openvino` after adding a case to one of the families of the modules below:

    python make_shape_cases.py > shape_cases.txt

A line of the table is `SET.NAME | INPUTS | ATTRIBUTES | RESULTS`. Inputs and results are types as in the IR's text
form, separated by `; `; a constant input has its elements after `=`. The result of a rejected node is `error`.
"""

import openvino as ov
from openvino import opset1
from openvino.utils.node_factory import NodeFactory

import basic_shape_cases
import more_shape_cases
import row_shape_cases
from shape_case_inputs import TYPES

NAMES = {"ReLU": "Relu", "PReLU": "PRelu", "SoftMax": "Softmax"}


def attribute_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if value in ("i32", "i64", "f32", "boolean") else f'"{value}"'
    if isinstance(value, list):
        return "[" + ",".join(map(str, value)) + "]"
    return repr(value)


def name_text(name):
    return f'"{name}"' if "." in name else name


def input_text(value):
    if isinstance(value, str):
        return value
    dtype = next(name for name, kind in TYPES.items() if value.dtype == kind)
    return f"{dtype}[{','.join(map(str, value.shape))}] = {' '.join(str(item) for item in value.flatten() * 1)}".rstrip()


def make_input(value):
    if not isinstance(value, str):
        if value.size == 0:
            return ov.op.Constant(ov.Type.i64, ov.Shape(value.shape), [])
        return opset1.constant(value)
    dtype, shape = value.split("[", 1)
    return opset1.parameter(ov.PartialShape("[" + shape), TYPES.get(dtype, ov.Type.dynamic))


def results(op, inputs, attributes):
    op_set, name = op.split(".")
    if name == "ReorgYolo":  # one number in a file, a list to the factory
        attributes = {"stride": [attributes["stride"]]}
    try:
        node = NodeFactory(op_set).create(NAMES.get(name, name), [make_input(i).output(0) for i in inputs], attributes)
    except RuntimeError:
        return "error"
    return "; ".join(f"{o.get_element_type().get_type_name()}{o.get_partial_shape()}" for o in node.outputs())


def case_text(op, inputs, attributes):
    text = ", ".join(f"{name_text(key)} = {attribute_text(value)}" for key, value in attributes.items())
    return " | ".join([op, "; ".join(map(input_text, inputs)), text])


ALL = [*basic_shape_cases.FAMILIES, *row_shape_cases.FAMILIES, *more_shape_cases.FAMILIES]


def main():
    print(f"# Made by make_shape_cases.py with OpenVINO {ov.__version__.split('-')[0]}.")
    for family in ALL:
        for op, inputs, attributes in family():
            print(case_text(op, inputs, attributes), "|", results(op, inputs, attributes))


if __name__ == "__main__":
    main()
