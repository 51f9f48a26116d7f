#!/usr/bin/env python3
"""Writes document_cases.txt: documents of tract's registries with an input and what tract or NumPy computes of it.

The documents are those of test_quantized_documents.py, test_vendor_meanings.py and test_folded_values.py in tests/interop, which
also show how nnefc prints and writes them, and forms of each quantized operation; here they are run alone. Needs numpy, nnef and tract. A line is one of

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

import nnef
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parents[2] / folder) for folder in ["interop", "interop/vendors", "networks"]]
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


# ---- each form of a quantized operation ----

SIGNS = {"false": (0, 255), "true": (-128, 127)}


def line(name, point, scale, signed="false"):
    return quantized.LINE.format(name, point, scale, signed)


def quantize(numbers, point, scale, signed="false"):
    """The numbers that the quantized values of `numbers` represent; halves are rounded to even after the zero point is added."""
    steps = np.clip(np.rint(np.float32(numbers) / np.float32(scale) + np.float32(point)), *SIGNS[signed]) - point
    return np.float32(steps) * np.float32(scale)


def form_case(folder, name, x, statements, lines, expected=None, data=None):
    """A document with `r`, a quantized tensor; tract computes what is not expected."""
    external = f"x = tract_core_external(shape = {list(x.shape)}, datum_type = 'f32');\n"
    model = quantized.write(folder / name, external + statements + "\ny = tract_core_cast(r, to = 'f32');", lines)
    for key, array in (data or {}).items():
        with (model / f"{key}.dat").open("wb") as file:
            nnef.write_tensor(file, array, quantized=array.dtype.itemsize == 1)
    case(name, model, {"x": x}, quantized.by_tract(model, x) if expected is None else np.float32(expected))


def interpolation_cases(folder):
    random = np.random.default_rng(6000)
    for interpolator, mode in [("linear", "floor"), ("cubic", "floor"), ("nearest", "floor"), ("nearest", "round_prefer_ceil")]:
        for coordinates in ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]:
            for scales in [[1.0, 1.0, 0.25, 0.5], [1.0, 1.0, 1.5, 1.0]]:
                form_case(folder, f"quantized_{interpolator}_{mode}_{coordinates}_{len(LINES)}",
                          np.float32(random.normal(0, 4, (1, 2, 4, 6))),
                          f"q = tract_core_cast(x);\nr = tract_core_resize(q, interpolator = '{interpolator}', coord_transformer = "
                          f"'{coordinates}', nearest_mode = '{mode}', scales = {scales});", line("q", 100, 0.1) + line("r", 100, 0.1))
    for method in ["aligned", "asymmetric", "symmetric"]:
        form_case(folder, f"quantized_upsample_{method}", np.float32(random.normal(0, 4, (1, 2, 3, 4))),
                  f"q = tract_core_cast(x);\nr = multilinear_upsample(q, factor = [2, 3], method = '{method}', border = 'replicate');",
                  line("q", 100, 0.1) + line("r", 100, 0.1))


def matrix_cases(folder):
    random = np.random.default_rng(6001)
    for a, b in [(False, False), (False, True), (True, False), (True, True)]:
        for per_row in [False, True]:
            codes = random.integers(-128, 128, (5, 4) if b else (4, 5)).astype(np.int8)
            scale = np.float32([[0.25], [0.5], [0.125], [0.25], [0.5]][:len(codes)]) if per_row else np.float32([[0.25]])
            x = quantize(random.normal(0, 6, (4, 3) if a else (3, 4)), 100, 0.5)
            matrix = (np.float32(codes) + 3) * scale
            product = (x.T if a else x) @ (matrix.T if b else matrix)
            form_case(folder, f"quantized_matmul_{a}_{b}_{per_row}", x,
                      f"q = tract_core_cast(x);\nw = variable<scalar>(label = 'w', shape = {list(codes.shape)});\n"
                      f"r = matmul(q, w, transposeA = {str(a).lower()}, transposeB = {str(b).lower()});",
                      line("q", 100, 0.5) + line("w", -3, scale.tolist() if per_row else 0.25, "true") + line("r", 90, 8.0),
                      quantize(product, 90, 8.0), {"w": codes})
    # Operands or results without a type.
    codes = random.integers(-128, 128, (5, 4)).astype(np.int8)
    x = quantize(random.normal(0, 6, (3, 4)), 100, 0.5)
    product = x @ ((np.float32(codes) + 3) * np.float32(0.25)).T
    filters = "w = variable<scalar>(label = 'w', shape = {});\n"
    weights = line("w", -3, 0.25, "true")
    for name, statement in [("matmul", "matmul({}, w, transposeB = true)"), ("linear", "linear({}, w)")]:
        for of, types, expected in [("x", line("r", 90, 8.0), quantize(product, 90, 8.0)), ("q", "", product)]:
            form_case(folder, f"quantized_{name}_of_{of}", x,
                      f"q = tract_core_cast(x);\n{filters.format([5, 4])}r = {statement.format(of)};",
                      line("q", 100, 0.5) + weights + types, expected, {"w": codes})
    for of, types, expected in [("x", line("r", 90, 8.0), quantize(product, 90, 8.0)), ("q", "", product)]:
        form_case(folder, f"quantized_conv_of_{of}", x.reshape(3, 4, 1),
                  f"q = tract_core_cast(x);\n{filters.format([5, 4, 1])}r = conv({of}, w);",
                  line("q", 100, 0.5) + weights + types, expected.reshape(3, 5, 1), {"w": codes.reshape(5, 4, 1)})


    weights = (np.float32(codes) + 3) * np.float32(0.25)
    for name, statement in [("matmul", "matmul(q, w, transposeB = true)"), ("linear", "linear(q, w)")]:
        form_case(folder, f"quantized_{name}_by_numbers", x, f"q = tract_core_cast(x);\n{filters.format([5, 4])}r = {statement};",
                  line("q", 100, 0.5) + line("r", 90, 8.0), quantize(product, 90, 8.0), {"w": weights})
    form_case(folder, "quantized_conv_by_numbers", x.reshape(3, 4, 1),
              f"q = tract_core_cast(x);\n{filters.format([5, 4, 1])}r = conv(q, w);", line("q", 100, 0.5) + line("r", 90, 8.0),
              quantize(product, 90, 8.0).reshape(3, 5, 1), {"w": weights.reshape(5, 4, 1)})


def operand_cases(folder):
    """Operands of other signs, and operations that have no quantized form or an operand without a type: in real numbers."""
    random = np.random.default_rng(6002)
    formulas = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    for name, formula in formulas.items():
        for signs in [("true", "false", "false"), ("false", "true", "false"), ("false", "false", "true"), ("true", "true", "true")]:
            points = [20 if signs[0] == "true" else 120, -30 if signs[1] == "true" else 100, 11]
            x = np.float32(random.normal(0, 8, (3, 8)))
            both = formula(quantize(x, points[0], 0.25, signs[0]), quantize(-x, points[1], 0.5, signs[1]))
            form_case(folder, f"quantized_{name}_of_signs_{signs.count('true')}_{signs.index('true')}", x,
                      f"p = tract_core_cast(x);\nn = neg(x);\nq = tract_core_cast(n);\nr = {name}(p, q);",
                      line("p", points[0], 0.25, signs[0]) + line("q", points[1], 0.5, signs[1]) + line("r", 11, 0.5, signs[2]),
                      quantize(both, 11, 0.5, signs[2]))
    x = quantize(random.normal(0, 8, (2, 2, 4, 4)), 100, 0.5)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 0), (0, 1)], "edge")
    means = sum(padded[:, :, i:i + 4, j:j + 4] for i in (0, 1) for j in (0, 1)) / np.float32(4)
    window = "size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (1, 0), (0, 1)], stride = [1, 1, 1, 1], dilation = [1, 1, 1, 1]"
    zeros = np.pad(x, [(0, 0), (0, 0), (1, 0), (0, 1)])
    sums = sum(zeros[:, :, i:i + 4, j:j + 4] for i in (0, 1) for j in (0, 1))
    for name, statement, numbers in [
            ("abs", "abs({})", np.abs(x)), ("square", "sqr({})", x * x), ("ceil", "ceil({})", np.ceil(x)),
            ("replicated_mean", f"avg_pool({{}}, {window}, border = 'replicate')", means),
            ("sum", f"box({{}}, {window}, border = 'constant')", sums), ("mean", f"avg_pool({{}}, {window}, border = 'constant')", sums / 4),
            ("relu", "relu({})", np.maximum(x, 0)), ("clamp", "clamp({}, -1.0, 2.0)", np.clip(x, -1, 2)),
            ("number", "add({}, 2.0)", x + 2), ("concat", "concat([{}], axis = 0)", x),
            ("upsample", "multilinear_upsample({}, factor = [2, 2], method = 'asymmetric', border = 'replicate')", None)]:
        if numbers is None:
            rows = np.stack([x, (x + np.concatenate([x[:, :, 1:], x[:, :, -1:]], axis=2)) / 2], axis=3).reshape(2, 2, 8, 4)
            next_column = np.concatenate([rows[..., 1:], rows[..., -1:]], axis=3)
            numbers = np.stack([rows, (rows + next_column) / 2], axis=4).reshape(2, 2, 8, 8)
        for of, lines in [("q", line("q", 100, 0.5)), ("x", "")]:
            if of == "q" and name in ("sum", "mean", "replicated_mean", "upsample", "relu", "clamp", "number", "concat"):
                continue  # operations on quantized values
            form_case(folder, f"quantized_{name}_of_{of}", x, f"q = tract_core_cast(x);\nr = {statement.format(of)};",
                      line("q", 100, 0.5) + line("r", 90, 1.0),
                      None if of == "q" and name in ("abs", "square") else quantize(numbers, 90, 1.0))
    # Types go on where none are declared.
    for name, statement in [("add", "add(s, 0.33)"), ("mul", "mul(s, 1.7)"), ("max", "max(s, 0.8)"), ("sigmoid", "sigmoid(s)")]:
        form_case(folder, f"quantized_undeclared_{name}", np.float32(random.normal(0, 4, (16,))),
                  f"q = tract_core_cast(x);\ns = relu(q);\nr = {statement};", line("q", 100, 0.11))
    for border, values in [("replicate", padded), ("reflect", np.pad(x, [(0, 0), (0, 0), (1, 0), (0, 1)], "reflect"))]:
        means = sum(values[:, :, i:i + 4, j:j + 4] for i in (0, 1) for j in (0, 1)) / np.float32(4)
        form_case(folder, f"quantized_mean_{border}", x, f"q = tract_core_cast(x);\nr = avg_pool(q, {window}, border = '{border}');",
                  line("q", 100, 0.5) + line("r", 100, 0.5), quantize(means, 100, 0.5))


def axis_cases(folder):
    """Types with a scale or zero point for each index of an axis: of filters, of filters that are moved, and of results."""
    random = np.random.default_rng(6003)
    codes = random.integers(-128, 128, (4, 4)).astype(np.int8)
    steps = np.float32([0.25, 0.5, 0.125, 0.25])
    points = np.float32([3, 0, -7, 100])
    x = quantize(random.normal(0, 6, (3, 4)), 100, 0.5)
    head = "q = tract_core_cast(x);\nw = variable<scalar>(label = 'w', shape = {});\n"
    bias = np.array([[40, -24, 0, 7]], np.int32)

    def form(name, statement, types, matrix, kind, data=None):
        """A filter of the numbers `matrix`, after `statement` moved it to `v`."""
        shapes = {"linear": [4, 4], "matmul": [4, 4], "conv": [4, 4, 1]}
        statements = {"linear": "linear(q, v)", "matmul": "matmul(q, v, transposeB = true)", "conv": "conv(q, v)"}
        shape = shapes[kind]
        form_case(folder, f"quantized_axis_{name}_{kind}", x.reshape(3, 4, *shape[2:]), head.format(shape) + statement.format(shape[2:] and ", 2" or "")
                  + f"r = {statements[kind]};", line("q", 100, 0.5) + types + line("r", 90, 8.0),
                  quantize(x @ matrix.T, 90, 8.0).reshape(3, -1, *shape[2:]), {"w": codes.reshape(shape)})

    rows, columns = steps.reshape(4, 1), steps.reshape(1, 4)
    numbers = np.float32(codes) + 3
    row_type = line("w", -3, steps.tolist(), "true")
    for kind in ["linear", "matmul", "conv"]:
        form("row_scale", "v = copy(w);\n", row_type, numbers * rows, kind)
        form("column_scale", "v = copy(w);\n", line("w", -3, [steps.tolist()], "true"), numbers * columns, kind)
        form("row_point", "v = copy(w);\n", line("w", [int(each) for each in points], 0.25, "true"),
             (np.float32(codes) - points.reshape(4, 1)) * np.float32(0.25), kind)
        form("column_point", "v = copy(w);\n", line("w", [[int(each) for each in points]], steps[:1].tolist(), "true"),
             (np.float32(codes) - points) * steps[0], kind)
        form("row_both", "v = copy(w);\n", line("w", [int(each) for each in points], steps.tolist(), "true"),
             (np.float32(codes) - points.reshape(4, 1)) * rows, kind)
        form("transposed", "v = transpose(w, axes = [1, 0{}]);\n", row_type, (numbers * rows).T, kind)
        form("part", "v = slice(w, axes = [0], begin = [1], end = [3]);\n", row_type, (numbers * rows)[1:3], kind)
        form("joined", "v = concat([w, w], axis = 0);\n", row_type, np.concatenate([numbers * rows] * 2), kind)
    of_rows = line("w", -3, steps.tolist(), "true")
    for kind, statement, trailing in [("linear", "linear(q, w, b)", []), ("conv", "conv(q, w, b)", [1])]:
        model_bias = bias * np.float32(0.5) * steps
        form_case(folder, f"quantized_axis_bias_{kind}", x.reshape(3, 4, *trailing), head.format([4, 4, *trailing])
                  + f"b = variable<integer>(label = 'b', shape = [1, 4]);\nr = {statement};", line("q", 100, 0.5) + of_rows + line("r", 90, 8.0),
                  quantize(x @ (numbers * rows).T + model_bias, 90, 8.0).reshape(3, 4, *trailing), {"w": codes.reshape(4, 4, *trailing), "b": bias})
    # A result with a type for each index of the first axis.
    wide = np.float32(random.normal(0, 60, (4, 9)))
    wide[:, 0] = [0.375, 0.25, 0.0625, -0.375]
    expected = np.stack([quantize(row, point, step) for row, point, step in zip(wide, np.abs(points), steps)])
    for name, scale, point, result in [("both", steps.tolist(), np.abs(points).astype(int).tolist(), expected),
                                       ("scale", steps.tolist(), 9, np.stack([quantize(row, 9, step) for row, step in zip(wide, steps)]))]:
        form_case(folder, f"quantized_axis_result_{name}", wide, "r = tract_core_cast(x);", line("r", point, scale), result)
        values = quantize(wide, 100, 0.375)
        of_values = [quantize(row, each[0], each[1]) for row, each in zip(values, np.broadcast(point, scale))]
        form_case(folder, f"quantized_axis_result_{name}_of_q", wide, "q = tract_core_cast(x);\nr = copy(q);",
                  line("q", 100, 0.375) + line("r", point, scale), np.stack(of_values))
    # Biases that are one number, and integers that f32 does not represent: half a step and a little more.
    for number in [1, 3, -2]:
        for kind, statement, trailing in [("linear", "linear(q, w, {})", []), ("conv", "conv(q, w, {})", [1])]:
            form_case(folder, f"quantized_bias_{number % 10}_{kind}", x.reshape(3, 4, *trailing), head.format([4, 4, *trailing])
                      + f"r = {statement.format(float(number))};", line("q", 100, 0.5) + line("w", -3, 0.25, "true") + line("r", 90, 0.125),
                      quantize(x @ (numbers * np.float32(0.25)).T + number * 0.125, 90, 0.125).reshape(3, 4, *trailing),
                      {"w": codes.reshape(4, 4, *trailing)})
    large = np.array([2**24 + 1, 2**24, -2**24 - 1, 3 * 2**24 + 1], np.int32)
    zeros = np.zeros((1, 4, 1), np.float32)
    for shape in [[4], [1, 4]]:
        for name, scale in [("tensor", 0.25), ("rows", [0.25] * 4)]:
            form_case(folder, f"quantized_bias_large_{len(shape)}_{name}", zeros, head.format([4, 4, 1])
                      + f"b = variable<integer>(label = 'b', shape = {shape});\nr = conv(q, w, b);",
                      line("q", 100, 0.5) + line("w", -3, scale, "true") + line("r", 90, 2.0**22),
                      np.float32([1, 0, -1, 2]).reshape(1, 4, 1) * np.float32(2.0**22), {"w": codes.reshape(4, 4, 1), "b": large.reshape(shape)})


def form_cases(folder):
    """Forms of operations with one quantized tensor, of both signs, by tract."""
    x = np.linspace(-3, 3, 16).reshape(2, 8).astype(np.float32)
    functions = ["sigmoid", "tanh", "neg", "sign", "rsqrt", "sqr", "abs", "exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan",
                 "sinh", "cosh", "asinh", "acosh", "atanh", "floor"]
    for name in functions:
        for signed, point in [("false", 100), ("true", -7)]:
            low, high = SIGNS[signed]
            form_case(folder, f"quantized_function_{name}_{signed}", (np.arange(low, high + 1, 3, np.float32) - point) * np.float32(0.0625),
                      f"q = tract_core_cast(x);\nr = {name}(q);", line("q", point, 0.0625, signed) + line("r", 50, 0.125))
    for expression in ["sub(1.3, q)", "div(2.0, q)", "max(q, 0.4)", "copy(q)", "clamp(q, -0.6, 0.7)", "relu(q)", "stack([q, q], axis = 0)",
                       "tile(q, repeats = [2, 1])", "unsqueeze(q, axes = [0])", "tract_core_gather(q, [1, 0], axis = 0)",
                       "concat([q, q], axis = 0)", "max_reduce(q, axes = [1])"]:
        for signed, point in [("false", 100), ("true", -7)]:
            for result in [line("r", 50, 0.125), line("r", 51, 1.0)]:  # finer; coarser, which rounds halves
                form_case(folder, f"quantized_form_{expression.partition('(')[0]}_{signed}_{len(LINES)}", x,
                          f"q = tract_core_cast(x);\nr = {expression};", line("q", point, 0.25, signed) + result)
    # Padding by a real number, and products of two tensors that are not constant: tract computes something else.
    numbers = quantize(x, 100, 0.25)
    for expression, result in [("pad(q, padding = [(1, 1), (0, 2)], border = 'constant', value = 0.5)", np.pad(numbers, [(1, 1), (0, 2)], constant_values=0.5)),
                               ("matmul(q, q, transposeB = true)", numbers @ numbers.T), ("matmul(q, q, transposeA = true)", numbers.T @ numbers)]:
        form_case(folder, f"quantized_form_{expression.partition('(')[0]}_{len(LINES)}", x, f"q = tract_core_cast(x);\nr = {expression};",
                  line("q", 100, 0.25) + line("r", 50, 0.125), quantize(result, 50, 0.125))
    for expression in ["add(1.3, q)", "mul(0.7, q)", "max(0.4, q)", "min(0.4, q)", "min(q, 0.4)"]:
        for signed, point in [("false", 100), ("true", -7)]:
            form_case(folder, f"quantized_form_{expression.partition('(')[0]}_{signed}_{len(LINES)}", x,
                      f"q = tract_core_cast(x);\nr = {expression};", line("q", point, 0.25, signed) + line("r", point, 0.25, signed))
    # The largest of no elements is the lowest number of the type.
    image = np.arange(1, 11, dtype=np.float32).reshape(1, 1, 5, 2)
    for signed, point in [("false", 10), ("true", -10)]:
        for of in ["q", "x"]:
            lowest = (SIGNS[signed][0] - point) * np.float32(0.5)
            largest = np.concatenate([[[lowest] * 2], image[0, 0], [[lowest] * 2] * 2])
            form_case(folder, f"quantized_max_pool_of_{of}_{signed}", image,
                      f"q = tract_core_cast(x);\nr = max_pool({of}, size = [1, 1, 1, 1], padding = [(0, 0), (0, 0), (1, 2), (0, 0)], "
                      "border = 'ignore');", line("q", point, 0.5, signed) + line("r", point, 0.5, signed), largest.reshape(1, 1, 8, 2))
    # A constant with more axes than the tensor is no scalar.
    numbers = quantize(np.arange(16) - 8, 100, 0.5)
    for expression, result in [("add(q, c)", numbers + 1.5), ("sub(c, q)", 1.5 - numbers)]:
        form_case(folder, f"quantized_more_axes_{expression[:3]}", numbers,
                  f"q = tract_core_cast(x);\nc = variable<scalar>(label = 'c', shape = [1, 1, 1]);\nr = {expression};",
                  line("q", 100, 0.5) + line("r", 90, 0.25), quantize(result, 90, 0.25).reshape(16, 1, 1), {"c": np.full((1, 1, 1), 1.5, np.float32)})
    # The largest integer of 32 bits minus 127 is a number of f32: with the zero point 127 the sum does not wrap around.
    for point in [126, 127, 128, 129]:
        for largest in [2147483520.0, 2147483392.0, 2147483648.0]:
            form_case(folder, f"quantized_wrap_{point}_{largest:.0f}", np.float32([[0, 1, 2, -1], [0, 0, 0, 0]]) * np.float32(largest),
                      "q = tract_core_cast(x);\na = slice(q, axes = [0], begin = [0], end = [1]);\nb = slice(q, axes = [0], begin = [1], end = [2]);\n"
                      "r = add(a, b);", "".join(line(each, 5, largest) for each in "qab") + line("r", point, 1.0))


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
        for family in [quantized_cases, vendor_cases, folded_cases, interpolation_cases, matrix_cases, operand_cases, axis_cases,
                       form_cases]:
            family(pathlib.Path(folder))
    (HERE / "document_cases.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
