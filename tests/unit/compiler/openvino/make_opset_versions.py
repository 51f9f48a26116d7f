"""Writes opset_versions.txt: which version of an operation each of OpenVINO's sets has.

Run it with a Python that has `openvino`:

    python make_opset_versions.py > opset_versions.txt

A line is the name of an operation and, for the sets in which a node of the version can be made, `SET=VERSION`.
"""

import pathlib
import sys

import openvino as ov
from openvino.utils.node_factory import NodeFactory

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "ir/ops/opset"))
import make_shape_cases as cases

SETS = range(1, 17)


def versions(found, op, inputs, attributes):
    name = op.split(".")[1]
    for number in SETS:
        if (name, number) in found:
            continue
        try:
            node = NodeFactory(f"opset{number}").create(
                cases.NAMES.get(name, name), [cases.make_input(i).output(0) for i in inputs], attributes)
            found[name, number] = node.get_type_info().version_id.removeprefix("opset")
        except (RuntimeError, KeyError):
            pass


def main():
    print(f"# Made by make_opset_versions.py with OpenVINO {ov.__version__.split('-')[0]}.")
    found = {}
    for family in cases.ALL:
        if family.__name__ != "promotions":
            for op, inputs, attributes in family():
                if not op.endswith("ReorgYolo"):
                    versions(found, op, inputs, attributes)
    for name in sorted({name for name, _ in found}):
        print(name, *(f"{number}={found[name, number]}" for number in SETS if (name, number) in found))


if __name__ == "__main__":
    main()
