#!/usr/bin/env python3
"""Writes document_cases.txt: documents of tract's registries with an input and what tract or NumPy computes of it.

The documents are those of test_quantized_documents.py, test_vendor_meanings.py and test_folded_values.py in tests/interop, which
also show how nnefc prints and writes them; here they are run alone. Needs numpy, nnef and tract. A line is one of

    case NAME
    text FILE COUNT        and COUNT lines after it
    data FILE HEXADECIMAL
    input NAME TYPE DIMS ITEM...
    output NAME TYPE DIMS ITEM...
    tolerance T            |ours - theirs| <= T * (1 + |theirs|); 0 is exact
"""
import pathlib
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parents[2] / folder) for folder in ["interop", "networks"]]
import quantized_documents  # noqa: E402
import test_folded_values as folded  # noqa: E402
import test_quantized_documents as quantized  # noqa: E402
import test_vendor_meanings as vendor  # noqa: E402

LINES = []


def tensor(role, name, array):
    types = {"float32": "f32", "int64": "i64"}
    array = np.asarray(array)
    dims = "[" + ",".join(map(str, array.shape)) + "]"
    items = ["%.9g" % item if array.dtype.kind == "f" else str(item) for item in array.ravel()]
    LINES.append(" ".join([role, name, types[array.dtype.name], dims, *items]))


def case(name, folder, inputs, expected, tolerance=0.0):
    LINES.append(f"case {name}")
    for path in sorted(folder.iterdir()):
        if path.suffix in (".nnef", ".quant"):
            lines = path.read_text().rstrip("\n").split("\n")
            LINES.extend([f"text {path.name} {len(lines)}", *lines])
        elif path.suffix == ".dat":
            LINES.append(f"data {path.name} {path.read_bytes().hex()}")
    for key, value in inputs.items():
        tensor("input", key, value)
    tensor("output", "y", expected)
    LINES.append(f"tolerance {tolerance}")


def quantized_cases(folder):
    makers = [*quantized_documents.OF_IMAGES, *quantized_documents.OF_ANY, quantized_documents.linear]
    for number, make in enumerate([None] * 16 + makers * 2):
        model = folder / f"quantized{number}"
        x = quantized_documents.random_document(5000 + number, model, make)
        name = make.__name__ if make is not None else "random"
        case(f"quantized_{name}_{number}", model, {"x": x}, quantized.by_tract(model, x))
    # Types of other signs, scales and zero points, one after another.
    signs = [("p", 100, 0.25, "false"), ("q", -7, 0.31, "true"), ("r", 30, 0.2, "false"), ("s", 100, 0.17, "true")]
    statements = "p = tract_core_cast(x);\nq = tract_core_cast(p);\nr = tract_core_cast(q);\ns = tract_core_cast(r);\n"
    model = quantized.write(folder / "signs", quantized.EXTERNAL + statements + "y = tract_core_cast(s, to = 'f32');",
                            "".join(quantized.LINE.format(*sign) for sign in signs))
    x = np.linspace(-40, 60, 64).astype(np.float32)
    case("quantized_signs", model, {"x": x}, quantized.by_tract(model, x))
    for signed, low, high in [("false", 0, 255), ("true", -128, 127)]:
        for point in [low, low + 127, high]:
            model = quantized.write(folder / f"rounding{signed}{point}", quantized.EXTERNAL + "q = tract_core_cast(x);\n"
                                    "y = tract_core_cast(q, to = 'f32');", quantized.LINE.format("q", point, 0.5, signed))
            ends = (np.array([low, high]) - point) * 0.5
            x = np.concatenate([np.arange(-15, 16) / 4, [0.49999997, -0.49999997, 1e30, -1e30], ends, ends + 0.25, ends - 0.25])
            x = np.concatenate([x, np.zeros(64 - len(x))]).astype(np.float32)
            steps = np.clip(np.rint(x / np.float32(0.5) + np.float32(point)), low, high) - point
            case(f"rounding_{signed}_{point - low}", model, {"x": x}, (steps * 0.5).astype(np.float32))


def vendor_cases(folder):
    for name, (shape, statements) in vendor.CASES.items():
        model = vendor.write(folder / name, shape, statements)
        x = vendor.RANDOM.standard_normal(shape).astype(np.float32)
        case(f"vendor_{name}", model, {"x": x}, quantized.by_tract(model, x), 1e-6)


def folded_cases(folder):
    for name, (expression, formula) in folded.CASES.items():
        expected = np.asarray(formula(**folded.VALUES))
        expected = expected.astype(np.float32 if expected.dtype.kind == "f" and name in ("floor", "ceil") else np.int64)
        for is_folded in (True, False):
            model = folder / f"{name}_{is_folded}"
            model.mkdir()
            folded.write(model, expression, is_folded)
            inputs = {f"x{key}": np.zeros(shape, np.float32) for key, shape in folded.SHAPES.items()} if is_folded else \
                {key: folded.VALUES[key] for key in folded.SHAPES}
            case(f"{'folded' if is_folded else 'computed'}_{name}", model, inputs, expected)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for family in [quantized_cases, vendor_cases, folded_cases]:
            family(pathlib.Path(folder))
    (HERE / "document_cases.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
