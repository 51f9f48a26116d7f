"""Writes neighbour_cases.txt: what OpenVINO infers where one input of a case of shape_cases.txt has another shape or type.

Run it with a Python that has `openvino`:

    python make_neighbour_cases.py > neighbour_cases.txt

A line `SET.NAME | INPUTS | ATTRIBUTES` states a case that OpenVINO accepts; each line after it an input by its number, its
type in place of the one of the case, and the results (see make_shape_cases.py). The shapes have one more axis or one less,
no known rank, or one extent that is larger or smaller by one or unknown; those of another type also have all
extents larger. In place of a constant is a tensor whose value is unknown.
"""

import openvino as ov

import make_shape_cases as cases

MAX_CASES = 3  # of an operation with as many inputs
OTHER_TYPES = {"f32": ["i64", "f16"], "i64": ["f32", "i32"], "i32": ["f32", "i64"]}


def neighbours(text):
    dtype, shape = text.removesuffix("]").split("[")
    extents = shape.split(",") if shape else []
    yield f"{dtype}[...]"
    yield f"dynamic[{shape}]"
    for other in OTHER_TYPES.get(dtype, ["f32"]):
        yield f"{other}[{shape}]"
        yield f"{other}[{','.join(str(int(extent) + 1) for extent in extents)}]"
    yield f"{dtype}[{','.join([*extents, '1'])}]"
    if extents:
        yield f"{dtype}[{','.join(extents[1:])}]"
    for axis, extent in enumerate(extents):
        for other in (str(int(extent) + 1), str(max(int(extent) - 1, 0)), "?"):
            yield f"{dtype}[{','.join([*extents[:axis], other, *extents[axis + 1:]])}]"


def is_plain(value):
    """Whether the shape is known."""
    return not isinstance(value, str) or not any(c in value for c in ".?")


def main():
    print(f"# Made by make_neighbour_cases.py with OpenVINO {ov.__version__.split('-')[0]}.")
    counts = {}
    for family in cases.ALL:
        for op, inputs, attributes in family():
            key = op, len(inputs)
            has_types = any(isinstance(value, str) for value in inputs)
            if not has_types or not all(map(is_plain, inputs)) or cases.results(op, inputs, attributes) == "error":
                continue
            counts[key] = counts.get(key, 0) + 1
            if counts[key] > MAX_CASES:
                continue
            print(cases.case_text(op, inputs, attributes))
            for i, value in enumerate(inputs):
                text = cases.input_text(value)
                # Where a constant is, its shape and type without the value.
                for other in dict.fromkeys(neighbours(value)) if isinstance(value, str) else [text.split(" =")[0]]:
                    if other != text:
                        print(i, other, "=>", cases.results(op, [*inputs[:i], other, *inputs[i + 1:]], attributes))


if __name__ == "__main__":
    main()
