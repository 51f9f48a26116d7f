"""Writes defaults.txt: the values that attributes have in OpenVINO where they are left out.

Run it with a Python that has `openvino`:

    python make_defaults.py > defaults.txt

A line is a case of shape_cases.txt without one attribute, `SET.NAME | INPUTS | ATTRIBUTES`, then the attribute and its value.
"""

import os

import numpy as np
import openvino as ov
from openvino.utils.node_factory import NodeFactory

import make_shape_cases as cases


def create(op, inputs, attributes):
    op_set, name = op.split(".")
    return NodeFactory(op_set).create(cases.NAMES.get(name, name), [cases.make_input(i).output(0) for i in inputs], attributes)


def text(value):
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list) and value and isinstance(value[0], str):
        return '"' + ",".join(value) + '"'
    return cases.attribute_text(value)


def default(op, inputs, attributes, attribute):
    """The text of an attribute that is left out, or nothing. A process of its own survives what OpenVINO does not."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, text(create(op, inputs, attributes).get_attributes()[attribute]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        found = file.read().decode()
    os.waitpid(child, 0)
    return found


def main():
    print(f"# Made by make_defaults.py with OpenVINO {ov.__version__.split('-')[0]}.")
    done = set()
    for family in cases.ALL:
        for op, inputs, attributes in family():
            if op in done or op.endswith("ReorgYolo") or cases.results(op, inputs, attributes) == "error":
                continue
            done.add(op)
            for attribute in sorted(create(op, inputs, attributes).get_attributes()):
                less = {key: value for key, value in attributes.items() if key != attribute}
                value = default(op, inputs, less, attribute)
                if value:
                    print(cases.case_text(op, inputs, less), "|", cases.name_text(attribute), "|", value)


if __name__ == "__main__":
    main()
