"""Writes change_cases.txt: what OpenVINO infers where an attribute, a constant or all shapes of a case of shape_cases.txt change.

Run it with a Python that has `openvino`:

    python make_change_cases.py > change_cases.txt

A line `SET.NAME | INPUTS | ATTRIBUTES` states a case that OpenVINO accepts. Each line after it has a change and the results
(see make_shape_cases.py): `NAME = VALUE`, `-NAME` for an attribute that is omitted, `NUMBER TYPE` for an input, or `* TYPES` for all
inputs. Nodes that end the process of OpenVINO, by a division by zero for example, are omitted.
"""

import multiprocessing
import sys

import numpy as np
import openvino as ov

import make_shape_cases as cases

MAX_CASES = 4  # of an operation, with other numbers of inputs, attributes, spellings and switches
SECONDS = 20  # for one node


def other_integers(value):
    return [other for other in dict.fromkeys([value - 1, value + 1, 0, -1, 50]) if other != value]


def other_values(name, value, spellings):
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from other_integers(value)
    elif isinstance(value, float):
        yield from (other for other in dict.fromkeys([value + 1, -value, 0.0, -0.5]) if other != value)
    elif isinstance(value, str):
        yield from (other for other in spellings[name] if other != value)
        if name not in ("equation", "element_type"):
            yield "nonsense"
    elif isinstance(value, list):
        yield from ([], value + [1], value + value[-1:], value[:-1])
        for place in dict.fromkeys([0, len(value) - 1]) if value else []:
            item = value[place]
            others = other_integers(item) if isinstance(item, int) else [0.0, -item, item + 1] if isinstance(item, float) else []
            yield from (value[:place] + [other] + value[place + 1:] for other in others)


def other_constants(value):
    flat = value.flatten()
    if value.dtype == np.bool_:
        return
    for place in dict.fromkeys([0, flat.size - 1]) if flat.size else []:
        for other in dict.fromkeys([int(flat[place]) + 1, int(flat[place]) - 1, 0, -1, 50]):
            changed = flat.copy()
            try:
                changed[place] = other
            except OverflowError:
                continue
            yield changed.reshape(value.shape)
    if value.ndim == 1 and flat.size:
        yield np.append(flat, flat[-1:])
        yield flat[:-1]


def opened(text, around):
    """The type with other extents."""
    dtype, shape = text.removesuffix("]").split("[")
    return f"{dtype}[{','.join(around(int(extent)) for extent in shape.split(',')) if shape else ''}]"


OPENINGS = {
    "unknown": lambda extent: "?",
    "around": lambda extent: f"{max(extent - 1, 0)}..{extent + 1}",
    "from": lambda extent: f"{extent}..",
    "to": lambda extent: f"..{extent}",
}


def all_opened(inputs):
    """All shapes at once, with constants and with unknown values in their place."""
    for keeps_constants in (True, False):
        def other(value, change):
            if isinstance(value, str):
                return change(value)
            return value if keeps_constants else cases.input_text(value).split(" =")[0]
        if not keeps_constants and all(isinstance(value, str) for value in inputs):
            return
        yield [other(value, lambda text: text.split("[")[0] + "[...]") for value in inputs]
        yield [other(value, lambda text: "dynamic[...]") for value in inputs]
        for around in OPENINGS.values():
            yield [other(value, lambda text: opened(text, around)) for value in inputs]


def single_opened(text):
    dtype, shape = text.removesuffix("]").split("[")
    extents = shape.split(",") if shape else []
    for axis, extent in enumerate(extents):
        for name in ("around", "from", "to"):
            yield f"{dtype}[{','.join([*extents[:axis], OPENINGS[name](int(extent)), *extents[axis + 1:]])}]"


def is_plain(value):
    """Whether the shape is known."""
    return not isinstance(value, str) or not any(c in value for c in ".?")


def work(connection):
    while True:
        case = connection.recv()
        try:
            connection.send(cases.results(*case))
        except KeyError:  # ReorgYolo without its stride
            connection.send(None)


class Worker:
    """OpenVINO in a process of its own."""

    def __init__(self):
        self.process = None

    def results(self, *case):
        """The results, or nothing if the process ends."""
        if self.process is None:
            self.connection, other = multiprocessing.Pipe()
            self.process = multiprocessing.Process(target=work, args=(other,), daemon=True)
            self.process.start()
            other.close()
        try:
            self.connection.send(case)
            if self.connection.poll(SECONDS):
                return self.connection.recv()
        except (EOFError, ConnectionError):
            pass
        self.process.kill()
        self.process = None
        return None


def main():
    print(f"# Made by make_change_cases.py with OpenVINO {ov.__version__.split('-')[0]}.")
    all_cases = [case for family in cases.ALL for case in family()]
    spellings = {}
    for _, _, attributes in all_cases:
        for name, value in attributes.items():
            if isinstance(value, str):
                spellings.setdefault(name, {})[value] = None
    counts, forms = {}, set()
    worker = Worker()
    for op, inputs, attributes in all_cases:
        if op == "opset14.ConvertPromoteTypes" or not all(map(is_plain, inputs)):
            continue
        strings = tuple(value for value in attributes.values() if isinstance(value, (str, bool)))
        form = op, len(inputs), tuple(attributes), strings
        if form in forms or counts.get(op, 0) >= MAX_CASES or worker.results(op, inputs, attributes) in (None, "error"):
            continue
        forms.add(form)
        counts[op] = counts.get(op, 0) + 1
        print(cases.case_text(op, inputs, attributes))

        def write(change, result):
            if result is not None:
                print(change, "=>", result)

        for name, value in attributes.items():
            rest = {key: item for key, item in attributes.items() if key != name}
            write(f"-{cases.name_text(name)}", worker.results(op, inputs, rest))
            seen = []
            for other in other_values(name, value, spellings):
                if other not in seen:
                    seen.append(other)
                    write(f"{cases.name_text(name)} = {cases.attribute_text(other)}",
                          worker.results(op, inputs, {**attributes, name: other}))
        for i, value in enumerate(inputs):
            others = dict.fromkeys(single_opened(value)) if isinstance(value, str) else other_constants(value)
            seen = {cases.input_text(value)}
            for other in others:
                if cases.input_text(other) not in seen:
                    seen.add(cases.input_text(other))
                    write(f"{i} {cases.input_text(other)}", worker.results(op, [*inputs[:i], other, *inputs[i + 1:]], attributes))
        for all_inputs in all_opened(inputs) if inputs else []:
            write("* " + "; ".join(map(cases.input_text, all_inputs)), worker.results(op, all_inputs, attributes))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
