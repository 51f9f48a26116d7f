"""Documents in the spelling of tract's own writer (ONNX, TFLite and TensorFlow models that tract saved as NNEF), against
tract, on both backends."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import tract

from models import Nnefc
from openvino_oracle import openvino_outputs
from tensor_files import MAGIC

F32, I64 = np.float32, np.int64
RANDOM = np.random.default_rng(23)
REGISTRY = "extension tract_registry tract_core;\n"
ITEMS = {"f": 0, "u": 2, "i": 3, "b": 5}
SIGNED = RANDOM.standard_normal((2, 3)).astype(F32)
ROWS = RANDOM.standard_normal((2, 4)).astype(F32)
WHOLE = RANDOM.integers(-9, 9, (2, 3, 4))


def tensor_file(array: np.ndarray) -> bytes:
    """Returns a tensor file of the type of the array, as tract writes it: integers and bools of whole bytes."""
    header = struct.pack("<4sII8III", MAGIC, array.nbytes, array.ndim, *array.shape, *[0] * (8 - array.ndim), 8 * array.itemsize,
                         ITEMS[array.dtype.kind])
    return header.ljust(128, b"\0") + array.tobytes()


@dataclass
class Case:
    body: str  # the statements; `y` is the result
    inputs: dict[str, np.ndarray] = field(default_factory=lambda: {"x": SIGNED})
    files: dict[str, np.ndarray] = field(default_factory=dict)
    head: str = REGISTRY  # lines between the version and the graph
    quant: str = ""
    externals: bool = True  # the body has none
    flags: tuple[str, ...] = ()

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True)
        lines = []
        for name, value in self.inputs.items() if self.externals else ():
            kind = "bool" if value.dtype == bool else f"{value.dtype.kind}{8 * value.itemsize}"
            lines.append(f"{name} = tract_core_external(shape = {list(value.shape)}, datum_type = '{kind}');")
        text = "\n  ".join([*lines, *self.body.strip().splitlines()])
        (folder / "graph.nnef").write_text(f"version 1.0;\n\n{self.head}\ngraph net({', '.join(self.inputs)}) -> (y)\n{{\n  {text}\n}}\n")
        for label, array in self.files.items():
            path = folder / f"{label}.dat"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(tensor_file(array))
        if self.quant:
            (folder / "graph.quant").write_text(self.quant)
        return folder


RANGES = "a = tract_core_range(0, 4, step = 1);\np = a - 1;\n"
SCAN = REGISTRY + """
fragment step(cell_x: tensor<scalar>, cell_h: tensor<scalar>) -> (n: tensor<scalar>) { n = cell_x + cell_h; }
"""
STEPS = {"x": RANDOM.standard_normal((3, 2)).astype(F32)}
CASES: dict[str, Case] = {
    # ---- A1: data types ----
    **{f"type_{spelling}": Case(f"x = tract_core_external(shape = [2, 3], datum_type = \"{spelling}\");\ny = x;", externals=False)
       for spelling in ("F32", "f32")},
    "type_bool": Case('x = tract_core_external(shape = [2, 3], datum_type = "Bool");\ny = tract_core_cast(x, to = "F32");', {"x": SIGNED > 0}, externals=False),
    **{f"type_{numpy}": Case(f'x = tract_core_external(shape = [2, 3], datum_type = "{spelling}");\ny = x;', {"x": (9 * SIGNED).astype(numpy)}, externals=False)
       for spelling, numpy in {"F16": np.float16, "F64": np.float64, "I8": np.int8, "I16": np.int16, "I32": np.int32, "I64": I64}.items()},
    "cast_TDim": Case('i = tract_core_cast(x * 3.0, to = "TDim");\ny = tract_core_cast(i, to = "F32");'),
    "cast_F32": Case('y = tract_core_cast(x, to = "F32");'),
    "cast_I64": Case('y = tract_core_cast(x * 3.0, to = "I64");'),
    "cast_Bool": Case('y = tract_core_cast(x, to = "Bool");'),
    # ---- A2 ----
    "deconvolution": Case("x = external(shape = [1, 2, 1]);\nw = [[[1.0], [2.0]], [[3.0], [4.0]]];\n"
                          'y = deconv(x, w, 0.0, dilation = [1], stride = [1], border = "constant", groups = 1, padding = [(0, 0)]);',
                          {"x": np.array([[[1], [10]]], F32)}, externals=False),
    "deconvolution_to_other_channels": Case("x = external(shape = [1, 2, 3]);\nw = variable<scalar>(label = 'w', shape = [3, 2, 2]);\n"
                          'y = deconv(x, w, 0.0, dilation = [1], stride = [2], border = "constant", groups = 1, padding = [(0, 0)]);',
                          {"x": RANDOM.standard_normal((1, 2, 3)).astype(F32)}, {"w": RANDOM.standard_normal((3, 2, 2)).astype(F32)}, externals=False),
    "deconvolution_in_groups": Case("x = external(shape = [1, 4, 3]);\nw = variable<scalar>(label = 'w', shape = [6, 2, 2]);\n"
                          'y = deconv(x, w, 0.0, dilation = [1], stride = [2], border = "constant", groups = 2, padding = [(0, 0)]);',
                          {"x": RANDOM.standard_normal((1, 4, 3)).astype(F32)}, {"w": RANDOM.standard_normal((6, 2, 2)).astype(F32)}, externals=False),
    "output_shape_of_spatial_axes": Case("x = external(shape = [1, 2, 3]);\nw = variable<scalar>(label = 'w', shape = [3, 2, 2]);\n"
                          'y = deconv(x, w, 0.0, dilation = [1], stride = [2], border = "constant", groups = 1, padding = [(0, 0)], output_shape = [7]);',
                          {"x": RANDOM.standard_normal((1, 2, 3)).astype(F32)}, {"w": RANDOM.standard_normal((3, 2, 2)).astype(F32)}, externals=False),
    # ---- A3: computed from ranges ----
    **{f"ranges_{name}": Case(f'{RANGES}s = {text};\ny = tract_core_cast(s, to = "f32") + x;', {"x": np.zeros((1,), F32)})
       for name, text in {"sum": "p + p", "difference": "p - p", "product": "p * p", "sum_of_plain": "a + a", "sum_with_plain": "p + a",
                          "unsqueezed": "unsqueeze(p, axes = [0]) - unsqueeze(a, axes = [1])", "halves": "a / 2 + a"}.items()},
    "ranges_compared": Case(f'{RANGES}s = p < a;\ny = tract_core_cast(s, to = "f32") + x;', {"x": np.zeros((1,), F32)}),
    "ranges_of_logicals": Case(f'{RANGES}c = p < 1;\nd = a > 0;\ns = and(c, d);\ny = tract_core_cast(s, to = "f32") + x;', {"x": np.zeros((1,), F32)}),
    "sum_of_shapes": Case('s = tract_core_shape_of(x);\nt = s + s;\ny = tract_core_cast(t, to = "f32");'),
    "difference_of_shapes": Case('s = tract_core_shape_of(x);\nt = s - [1, 1];\ny = tract_core_cast(t, to = "f32");'),
    # ---- A4 ----
    "twice_a_symbol": Case('x = tract_core_external(shape = [2*S, 4], datum_type = "f32");\ny = reshape(x, shape = [S, 8]);',
                           {"x": RANDOM.standard_normal((6, 4)).astype(F32)}, head=REGISTRY + "extension tract_symbol S;\n", externals=False),
    "symbol_plus_one": Case('x = tract_core_external(shape = [S + 1, 4], datum_type = "f32");\ny = slice(x, axes = [0], begin = [0], end = [S]);',
                           {"x": RANDOM.standard_normal((6, 4)).astype(F32)}, head=REGISTRY + "extension tract_symbol S;\n", externals=False),
    # ---- A5 ----
    **{f"bits_of_{t}": Case("y = tract_core_bitnot(x);", {"x": np.array([0, 1, 100, 127], t)}) for t in ("int8", "int32", "int64")},
    **{f"bits_of_{t}": Case("y = tract_core_bitnot(x);", {"x": np.array([0, 1, 200, 255], t)}) for t in ("uint8", "uint16")},
    **{f"shifted_{t}": Case("y = tract_shl(x, c);", {"x": np.array([-128, -1, 0, 1, 3, 65, 127], t), "c": np.array([1, 7, 3, 7, 6, 1, 0], t)})
       for t in ("int8", "int16", "int32")},
    **{f"{name}_of_{t}": Case(f"y = {text};", {each: np.array([np.iinfo(t).min, np.iinfo(t).min + 1, 0, 1, np.iinfo(t).max - 1, np.iinfo(t).max], t)[::step]
                                               for each, step in (("x", 1), ("z", -1))})
       for t in ("int8", "uint8", "int16", "uint16", "int32") for name, text in
       {"sum": "x + x", "difference": "(x - z) - z", "product": "x * z", "neg": "neg(x) + z"}.items() if t[0] == "i" or name in ("sum", "product")},
    "sum_of_columns_of_int8": Case("y = x + unsqueeze(x, axes = [1]);", {"x": np.array([-128, 0, 127], np.int8)}),
    "sum_of_moved_int8": Case("t = concat([x, x], axis = 0);\ny = t + t;", {"x": np.array([-128, 0, 127], np.int8)}),
    **{f"cast_{a}_to_{b}": Case(f"y = tract_core_cast(x, to = '{b}');", {"x": np.array([-129, -128, -1, 0, 127, 128, 255, 256, 1000], np.dtype(a))})
       for a in ("int64", "int32", "int16", "float32") for b in ("i8", "u8", "i16", "i32")},
    "wide_sum_of_int8": Case("t = tract_core_cast(x, to = 'i32');\ny = t + t;", {"x": np.array([-128, 127], np.int8)}),
    "sum_with_a_stored_int8": Case("w = variable<scalar>(label = 'w', shape = [2]);\ny = x + w;", {"x": np.array([-128, 127], np.int8)}, {"w": np.array([-1, 1], np.int8)}),
    # ---- B ----
    "square": Case("y = square(x);"),
    "colon_in_a_label": Case('w = variable<scalar>(label = "dense/ReadVariableOp:0", shape = [2, 3]);\ny = x + w;', files={"dense/ReadVariableOp:0": SIGNED}),
    **{f"stored_{t}": Case('i = variable<scalar>(label = "i", shape = [2]);\ny = tract_core_gather(x, i, axis = 1);', files={"i": np.array([2, 0], t)})
       for t in ("int64", "int32")},
    "stored_bool": Case('m = variable<scalar>(label = "m", shape = [2, 3]);\ny = select(m, x, 0.0);', files={"m": SIGNED > 0}),
    "scan_by_the_first_names": Case('h0 = [[0.0, 0.0]];\ny = tract_core_scan(body = "step", scan = [("cell.x", x, 0, 1)], full = [], '
                          'state = [("cell.h", h0, "n")], output = [("n", "full", 0, 1)], skip = 0, reset_every_turn = 0, external_state = 0);', STEPS, head=SCAN),
    "scan_from_a_literal": Case('h0 = [[0.0, 0.0]];\ny = tract_core_scan(body = "step", scan = [("cell_x", x, 0, 1)], full = [], '
                          'state = [("cell_h", h0, "n")], output = [("n", "full", 0, 1)], skip = 0, reset_every_turn = 0, external_state = 0);', STEPS, head=SCAN),
    "scan_by_a_name_of_digits": Case('h0 = [[0.0, 0.0]];\ny = tract_core_scan(body = "step", scan = [("cell/x", x, 0, 1)], full = [], '
                          'state = [("cell.h", h0, "3-n.t")], output = [("3-n.t", "last", 0, 1)], skip = 0, reset_every_turn = false, external_state = false);', STEPS,
                          head=SCAN.replace("-> (n:", "-> (_3_n_t:").replace("{ n =", "{ _3_n_t =")),
    "scan_outputs_of_three": Case('h0 = [[0.0, 0.0]];\ny = tract_core_scan(body = "step", scan = [("cell_x", x, 0, 1)], full = [], '
                          'state = [("cell_h", h0, "n")], output = [("n", "full", 0)], skip = 0, reset_every_turn = 0, external_state = 0);', STEPS, head=SCAN),
    "strict_from_tract": Case("x = external(shape = [2, 3]);\ny = square(x);",
                              head='fragment tract_core_properties() -> (properties: (string, tensor<scalar>)[])\n{\n  properties = [("tract_nnef_ser_version", "0.23.9")];\n}\n', externals=False),
    "escapes_in_metadata": Case("y = relu(x);", head=REGISTRY + '\nfragment tract_core_properties() -> (properties: (string, tensor<scalar>)[])\n'
                                '{\n  properties = [("note", "a\\nb\\t\\"c\\"\\r"), ("author", "\u00e9")];\n}\n'),
    "undeclared_symbol": Case("x = external<scalar>(shape = [1, S]);\ny = relu(x);", {"x": SIGNED[:1]}, externals=False),
    "pulse_symbol": Case('x = tract_core_external(shape = [1, S], datum_type = "f32");\ny = relu(x);', {"x": SIGNED[:1]}, head=REGISTRY + "extension tract_pulse_streaming_symbol;\n", externals=False),
    "symbol_named_as_an_input": Case('x = tract_core_external(shape = [x, 3], datum_type = "f32");\ny = relu(x);', head=REGISTRY + "extension tract_symbol x;\n", externals=False),
    "cast_to_the_quantized_type": Case("q = tract_core_cast(x);\ny = tract_core_cast(q, to = 'f32');",
                                       quant='"q": zero_point_linear_quantize(zero_point = 0, scale = 0.5, bits = 8, signed = true, symmetric = false);\n'),
    "scatter_with_a_reduction": Case('y = tract_core_scatter_nd(x, i, u, reduction = "none");', {"x": SIGNED, "i": np.array([[0, 1], [1, 2]]), "u": np.array([5, 6], F32)}),
    **{f"scatter_{r}": Case(f'y = tract_core_scatter_nd(x, i, u, reduction = "{r}");', {"x": SIGNED, "i": np.array([[0, 1], [1, 2], [0, 1]]), "u": np.array([5, -6, 7], F32)})
       for r in ("add", "mul", "min", "max")},
    "shape_of_a_list": Case("a = unsqueeze([1.0], axes = [0]);\ns = tract_core_shape_of(a);\nt = tract_core_cast(s, to = 'f32');\ny = x + unsqueeze(t, axes = [1]);", {"x": SIGNED}),
    "tile_by_lengths": Case("s = tract_core_shape_of(x);\nn = slice(s, axes = [0], begin = [0], end = [1]);\nm = squeeze(n, axes = [0]);\ny = tile(x, repeats = [m, 1]);"),
    **{f"range_of_{np.dtype(t).name}_data": Case("y = tract_core_range(a, b, c);", {"a": np.array(1, t), "b": np.array(9, t), "c": np.array(3, t)})
       for t in (np.int32, I64, F32)},
    "range_backwards_by_data": Case("y = tract_core_range(a, b, c);", {"a": np.array(5), "b": np.array(0), "c": np.array(-2)}),
    "range_to_an_end_of_data": Case("n = tract_core_cast(x, to = 'f32');\nz = 0.0;\ni = 1.0;\nr = tract_core_range(z, n, i);\ny = r * 2.0;", {"x": np.array(4, np.int32)}),
    "einsum_new_axis": Case('y = tract_core_einsum([x, w], expr = "amk,nk->bmn", acc = "f32", output = "");',
                            {"x": RANDOM.standard_normal((1, 3, 4)).astype(F32), "w": ROWS}),
    "downsample_backwards": Case("y = tract_core_downsample(x, axis = 1, stride = -2, modulo = 0);", {"x": RANDOM.standard_normal((2, 7)).astype(F32)}),
    "topk_by_a_vector": Case("k = tract_core_cast([2], to = 'i64');\ny, i = tract_core_topk(x, k, axis = 1, largest = true);"),
    "triangle_of_integers": Case("y = tract_core_trilu(x, 0, upper = false);", {"x": WHOLE}),
    **{f"triangle_by_data_{upper}_{k}": Case(f"y = tract_core_trilu(x, k, upper = {str(upper).lower()});", {"x": WHOLE, "k": np.array(k)})
       for upper in (False, True) for k in (-1, 0, 2)},
    "triangle_of_floats": Case("y = tract_core_trilu(x, 1, upper = true);", {"x": np.array([[np.nan, np.inf, -1], [2, -np.inf, 3]], F32)}),
    "triangle_of_logicals": Case("y = tract_core_trilu(x, 1, upper = true);", {"x": WHOLE > 0}),
    "indices_as_literals": Case("i = [[0.0, -1.0], [1.0, 2.0]];\ny = tract_core_gather_elements(x, i, axis = 1);"),
    **{f"window_of_{n}_in_a_frame": Case(f"w = {[1.0 + i for i in range(n)]};\ny = tract_core_stft(x, window = w, axis = 1, frame = 5, stride = 2);",
                                        {"x": RANDOM.standard_normal((2, 9, 2)).astype(F32)}) for n in (2, 3, 4, 5)},
    # ---- C ----
    **{f"gru_{direction}_{bias}": Case(f"w = variable<scalar>(label = 'w', shape = [12, 3]);\nr = variable<scalar>(label = 'r', shape = [12, 4]);\n"
                                       f"b = variable<scalar>(label = 'b', shape = [1, 24]);\ny, last = tract_core_gru_seq(x = x, w = w, r = r, {'b = b, ' if bias else ''}"
                                       f"initial_h = h, hidden = 4, chunk = {direction}, has_bias = {bias}, reset_every_turn = 1, emit_y = 1);",
                                       {"x": RANDOM.standard_normal((2, 5, 3)).astype(F32), "h": RANDOM.standard_normal((2, 1, 4)).astype(F32)},
                                       {"w": RANDOM.standard_normal((12, 3)).astype(F32), "r": RANDOM.standard_normal((12, 4)).astype(F32),
                                        "b": RANDOM.standard_normal((1, 24)).astype(F32)}) for direction in (1, -1) for bias in (0, 1)},
    **{f"volume_{mode}_{padding}_{aligned}": Case(f"y = tract_core_grid_sample(x, g, mode = '{mode}', padding_mode = '{padding}', align_corners = {aligned});",
                                                  {"x": RANDOM.standard_normal((2, 3, 2, 3, 4)).astype(F32),
                                                   "g": (1.5 * RANDOM.standard_normal((2, 3, 1, 4, 3))).astype(F32)})
       for mode in ("bilinear", "nearest") for padding in ("zeros", "border", "reflection") for aligned in ("true", "false")},
    "einsum_q": Case("z = tract_core_cast(5, to = 'i32');\nzero = tract_core_cast(0, to = 'i32');\ny = tract_core_einsum_q([x, w], expr = 'mk,kn,,,,n,n,,->mn', acc = 'i32', "
                     "output = 'u8', bias = zero, a0 = z, a_scale = s, b0 = p, b_scale = q, c0 = z, c_scale = c);",
                     {"x": RANDOM.integers(0, 255, (2, 3), np.uint8), "w": RANDOM.integers(0, 255, (3, 4), np.uint8), "s": np.array(0.02, F32),
                      "p": np.array([1, 2, 3, 4], np.int32), "q": np.array([0.01, 0.02, 0.03, 0.04], F32), "c": np.array(0.3, F32)}),
    "qconv": Case("z = tract_core_cast(5, to = 'i32');\nzero = tract_core_cast(0, to = 'i32');\none = 1.0;\ny = tract_core_qconv(x, w, zero, dilation = [1, 1], stride = [1, 2], "
                  "border = 'constant', groups = 1, padding = [(1, 0), (0, 1)], b0 = z, b_scale = one, a0 = p, a_scale = one, c0 = zero, c_scale = one, output_dt = 'i32');",
                  {"x": RANDOM.integers(0, 255, (1, 2, 4, 5), np.uint8), "w": RANDOM.integers(0, 9, (3, 2, 2, 2), np.uint8), "p": np.array([1, 2, 3], np.int32)}),
    "qconv_to_bytes": Case("z = tract_core_cast(5, to = 'i32');\nzero = tract_core_cast(0, to = 'i32');\none = 1.0;\nc = 40.0;\ny = tract_core_qconv(x, w, zero, dilation = [1], "
                           "stride = [1], border = 'constant', groups = 1, padding = [(0, 0)], b0 = z, b_scale = one, a0 = z, a_scale = one, c0 = z, c_scale = c);",
                           {"x": RANDOM.integers(0, 255, (1, 2, 6), np.uint8), "w": RANDOM.integers(0, 9, (3, 2, 2), np.uint8)}),
    **{f"topk_by_{k}": Case("y, i = tract_core_topk(x, k, axis = 1, largest = true);", {"x": ROWS, "k": np.array(k)}) for k in ([1], [4], 2)},
    **{f"one_hot_along_{axis}": Case(f"y = tract_core_one_hot(x, axis = {axis}, dim = 4, value_off = 1.0, value_on = 3.0);", {"x": np.array([[0, 3, -1], [-4, 2, -3]])})
       for axis in (0, 2)},
    "no_elements": Case("y = [];"),
    **{f"triangle_of_{n}_rows": Case("y = tract_core_trilu(x, k, upper = false);", {"x": np.zeros((3, n, 5), I64), "k": np.array(1)}) for n in (0, 1)},
    **{f"variable_of_{'_'.join(map(str, shape))}": Case(f"v = variable<scalar>(label = 'v', shape = {list(shape)});\ny = neg(v);", files={"v": np.zeros(shape, F32)})
       for shape in ((0,), (3, 4, 0), (2, 0, 1))},
    "input_without_elements": Case("y = relu(x);", {"x": SIGNED, "i": np.zeros((0,), I64)}),
    "graph_without_parameters": Case("v = variable<scalar>(label = 'v', shape = [2, 3]);\ny = v;", {}, {"v": SIGNED}),
    "replicated_border": Case("y = pad(x, padding = [(0, 0), (1, 2)], border = 'replicated', value = 0.0);"),
    "bias_with_axes_in_front": Case("w = variable<scalar>(label = 'w', shape = [2, 3, 2]);\nb = [[[1.0, 2.0]]];\ny = conv(x, w, b, padding = [(0, 0)], stride = [1], dilation = [1], border = 'constant', groups = 1);",
                                    {"x": RANDOM.standard_normal((1, 3, 5)).astype(F32)}, {"w": RANDOM.standard_normal((2, 3, 2)).astype(F32)}),
}


@pytest.mark.parametrize("name", CASES)
def test_document(name: str, nnefc: Path, tmp_path: Path) -> None:
    case, tool = CASES[name], Nnefc(nnefc, tmp_path)
    model = case.write(tmp_path / "model")
    expected = tract.nnef().with_tract_transformers().load(str(model)).into_runnable().run([*case.inputs.values()])[0].to_numpy()
    np.savez(tmp_path / "in.npz", **case.inputs)
    for backend in ("reference", "fast"):
        data = ("--inputs", tmp_path / "in.npz") if case.inputs else ()
        actual = tool.run(model, *data, "--backend", backend, *case.flags)["y"]
        assert actual.shape == expected.shape
        np.testing.assert_allclose(actual.astype(np.float64), expected.astype(np.float64), rtol=1e-5, atol=1e-6)


SYMBOL = REGISTRY + "extension tract_symbol S;\n"
ROW = RANDOM.standard_normal((6, 4)).astype(F32)


def symbolic(nnefc: Path, tmp_path: Path, externals: str, body: str = "y = reshape(x, shape = [S, -1]);", head: str = SYMBOL) -> tuple[Nnefc, Path]:
    case = Case(f"{externals}\n{body}", {"x": ROW}, head=head, externals=False)
    return Nnefc(nnefc, tmp_path), case.write(tmp_path / "model")


def extent(text: str) -> str:
    return f"x = tract_core_external(shape = [{text}, 4], datum_type = 'f32');"


@pytest.mark.parametrize("text, symbol", [("S", 6), ("2*S", 3), ("S*2", 3), ("S+1", 5), ("1+S", 5), ("S-1", 7), ("12-S", 6), ("2*S+2", 2), ("2*(S+1)", 2)])
def test_extent_solved_for_its_symbol(text: str, symbol: int, nnefc: Path, tmp_path: Path) -> None:
    tool, model = symbolic(nnefc, tmp_path, extent(text), "s = tract_core_range(0, S, step = 1);\ny = tract_core_cast(s, to = 'f32') + 0.0 * sum_reduce(x, axes = [0, 1]);")
    np.savez(tmp_path / "in.npz", x=ROW)
    np.testing.assert_array_equal(np.ravel(tool.run(model, "--inputs", tmp_path / "in.npz")["y"]), np.arange(symbol))


@pytest.mark.parametrize("text", ["4*S", "S+7"])
def test_extent_that_no_symbol_makes(text: str, nnefc: Path, tmp_path: Path) -> None:
    tool, model = symbolic(nnefc, tmp_path, extent(text), "y = slice(x, axes = [0], begin = [0], end = [S]);")
    np.savez(tmp_path / "in.npz", x=ROW)
    done = tool.call("run", model, "--inputs", tmp_path / "in.npz")
    assert done.returncode == 1
    assert f"extent 0 of external `x` is 6; `{text}` never is [external.symbol]" in done.stderr


def by_numpy(body: str, inputs: dict[str, np.ndarray], expected: np.ndarray, nnefc: Path, tmp_path: Path) -> None:
    tool, model = Nnefc(nnefc, tmp_path), Case(body, inputs).write(tmp_path / "model")
    np.savez(tmp_path / "in.npz", **inputs)
    for backend in ("reference", "fast"):
        np.testing.assert_allclose(tool.run(model, "--inputs", tmp_path / "in.npz", "--backend", backend)["y"], expected, rtol=1e-5)


# tract reads these operations of older documents, but does not compute them.
@pytest.mark.parametrize("axes, formula", [([0, 1, 0, 1, 0, 1], "mk,kn->mn"), ([0, 1, 1, 0, 0, 1], "mk,nk->mn"), ([1, 0, 0, 1, 0, 1], "km,kn->mn"),
                                           ([0, 1, 0, 1, 1, 0], "mk,kn->nm")])
def test_product_by_axes(axes: list[int], formula: str, nnefc: Path, tmp_path: Path) -> None:
    a, b = RANDOM.integers(-9, 9, (3, 3)).astype(F32), RANDOM.integers(-9, 9, (3, 3)).astype(F32)
    by_numpy(f"y = tract_core_matmul(a, b, axes = {axes});", {"a": a, "b": b}, np.einsum(formula, a, b), nnefc, tmp_path)


def test_product_of_batches_by_axes(nnefc: Path, tmp_path: Path) -> None:
    a, b = RANDOM.standard_normal((5, 2, 3)).astype(F32), RANDOM.standard_normal((5, 3, 4)).astype(F32)
    by_numpy("y = tract_core_matmul(a, b, axes = [1, 2, 1, 2, 1, 2]);", {"a": a, "b": b}, a @ b, nnefc, tmp_path)


def test_quantized_product_by_axes(nnefc: Path, tmp_path: Path) -> None:
    a, b = RANDOM.integers(-128, 128, (2, 3)).astype(np.int8), RANDOM.integers(-128, 128, (3, 4)).astype(np.int8)
    sums = ((a.astype(int) - 1) @ (b.astype(int) - 2)) * F32(F32(0.5) * F32(0.25) / F32(75))
    by_numpy("y = tract_core_qmatmul(a, b, bias = 0, axes = [0, 1, 0, 1, 0, 1], a0 = 1, a_scale = 0.5, b0 = 2, b_scale = 0.25, c0 = 3, c_scale = 75.0, output_type = 'i8');",
             {"a": a, "b": b}, np.clip(np.rint(sums.astype(F32)) + 3, -128, 127), nnefc, tmp_path)


def test_integers_in_an_einsum(nnefc: Path, tmp_path: Path) -> None:
    x = np.array([[1677, 1], [3, 5]])
    by_numpy("y = tract_core_einsum([x, x], expr = 'mk,nk->mn', acc = 'i64', output = '');", {"x": x}, x @ x.T, nnefc, tmp_path)


def test_complex_numbers_are_pairs(nnefc: Path, tmp_path: Path) -> None:
    x = RANDOM.standard_normal((3, 2)).astype(F32)
    by_numpy("c = tract_core_inner_dim_to_complex(x);\ny = tract_core_complex_to_inner_dim(c);", {"x": x}, x, nnefc, tmp_path)


def test_step_of_a_convolution_without_batch(nnefc: Path, tmp_path: Path) -> None:
    x, w, h = (RANDOM.standard_normal(shape).astype(F32) for shape in ((1, 1, 4), (4, 3), (4, 3)))
    body = Case("y, last = tract_transformers_causal_conv1d_update(x, w, h);", {"x": x, "w": w, "h": h}, head=REGISTRY + "extension tract_registry tract_transformers;\n")
    np.savez(tmp_path / "in.npz", x=x, w=w, h=h)
    sums = (w * np.concatenate([h, x.reshape(4, 1)], axis=1)[:, 1:]).sum(axis=1)
    found = Nnefc(nnefc, tmp_path).run(body.write(tmp_path / "model"), "--inputs", tmp_path / "in.npz")["y"]
    np.testing.assert_allclose(found, (sums / (1 + np.exp(-sums))).reshape(1, 1, 4), rtol=1e-5)


OPEN = {
    "reshape_by_half": ("2*S", "y = reshape(x, shape = [S, 8]);", lambda x: x.reshape(-1, 8)),
    "transposed_halves": ("2*S", "a = reshape(x, shape = [S, 2, 4]);\nb = transpose(a, axes = [1, 0, 2]);\ny = reshape(b, shape = [2, S, 2, 2]);",
                          lambda x: x.reshape(-1, 2, 4).transpose(1, 0, 2).reshape(2, -1, 2, 2)),
    "slice_to_the_last": ("S + 1", "y = slice(x, axes = [0], begin = [0], end = [S]);", lambda x: x[:-1]),
    "slice_from_half": ("2*S", "y = slice(x, axes = [0], begin = [S], end = [0]);", lambda x: x[len(x) // 2:]),
    "slice_of_a_quarter": ("S", "y = slice(x, axes = [0], begin = [0], end = [S / 4]);", lambda x: x[: len(x) // 4]),
    "tiles": ("S", "y = tile(slice(x, axes = [0], begin = [0], end = [1]), repeats = [S, 1]);", lambda x: np.tile(x[:1], (len(x), 1))),
    "broadcast": ("S", "s = tract_core_shape_of(x);\ny = tract_core_broadcast([[1.0, 2.0, 3.0, 4.0]], shape = s) + x;", lambda x: x + np.array([1, 2, 3, 4], F32)),
    "range": ("S", "r = tract_core_range(0, S, step = 1);\ny = x + unsqueeze(tract_core_cast(r, to = 'f32'), axes = [1]);", lambda x: x + np.arange(len(x), dtype=F32)[:, None]),
    "range_to_an_expression": ("S", "y = tract_core_cast(tract_core_range(2, 2*S + 1, step = 2), to = 'f32') + 0.0 * sum_reduce(x, axes = [0, 1]);",
                               lambda x: np.arange(2, 2 * len(x) + 1, 2, dtype=F32)),
    "number": ("S", "y = x * tract_core_cast(S, to = 'f32');", lambda x: x * len(x)),
    "mean_by_the_shape": ("S", "s = tract_core_shape_of(x);\nn = squeeze(slice(s, axes = [0], begin = [0], end = [1]), axes = [0]);\n"
                          "y = sum_reduce(x, axes = [0]) / tract_core_cast(n, to = 'f32');", lambda x: x.mean(axis=0, keepdims=True)),
}


@pytest.mark.parametrize("name", OPEN)
def test_one_compilation_for_all_sizes(name: str, nnefc: Path, tmp_path: Path) -> None:
    text, body, formula = OPEN[name]
    tool, model = symbolic(nnefc, tmp_path, extent(text), body)
    tool.must("compile", model, "-o", tmp_path / "net.xml")
    for rows in (4, 8, 12):
        x = RANDOM.standard_normal((rows, 4)).astype(F32)
        np.savez(tmp_path / "in.npz", x=x)
        for each in (model, tmp_path / "net.xml"):
            for backend in ("reference", "fast"):
                found = tool.run(each, "--inputs", tmp_path / "in.npz", "--backend", backend)["y"]
                np.testing.assert_allclose(found.reshape(formula(x).shape), formula(x), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(openvino_outputs(tmp_path / "net.xml", {"x": x})[0].reshape(formula(x).shape), formula(x), rtol=1e-5, atol=1e-6)


def test_compile_invents_no_extent(nnefc: Path, tmp_path: Path) -> None:
    tool, model = symbolic(nnefc, tmp_path, extent("2*S"), "y = nearest_upsample(reshape(x, shape = [1, 1, S, 8]), factor = [S, 1]);")
    done = tool.call("compile", model, "-o", tmp_path / "net.xml")
    assert done.returncode == 1
    assert "external.open-symbol" in done.stderr
    shown = tool.must("inspect", model)
    assert "x f32[2*S,4]" in shown
    assert "10" not in shown.split("property")[0]
    tool.must("compile", model, "--input-shape", "x=8,4", "-o", tmp_path / "net.xml")


@pytest.mark.parametrize("name", ["float32", "F128", "i65", "String", "F 32"])
def test_unknown_type(name: str, nnefc: Path, tmp_path: Path) -> None:
    for body in (f"x = tract_core_external(shape = [2, 3], datum_type = '{name}');\ny = relu(x);",
                 f"x = external(shape = [2, 3]);\ny = tract_core_cast(x, to = '{name}');"):
        folder = tmp_path / str(len(body))
        Case(body, externals=False).write(folder)
        done = Nnefc(nnefc, tmp_path).call("check", folder)
        assert done.returncode == 1
        assert "[tract_type.name]" in done.stderr


def test_arrays_of_the_language(nnefc: Path, tmp_path: Path) -> None:
    """`+` appends arrays that are no tensors: lists, and the built-in function `shape_of`."""
    model = Case("s = shape_of(x) + [4, 5];\ny = reshape(tile(x, repeats = [4, 5]), shape = s);").write(tmp_path / "model")
    np.savez(tmp_path / "in.npz", x=SIGNED)
    found = Nnefc(nnefc, tmp_path).run(model, "--inputs", tmp_path / "in.npz")["y"]
    np.testing.assert_array_equal(found, np.tile(SIGNED, (4, 5)).reshape(2, 3, 4, 5))


def test_graph_without_parameters_is_upgraded(nnefc: Path, tmp_path: Path) -> None:
    tool, model = Nnefc(nnefc, tmp_path), CASES["graph_without_parameters"].write(tmp_path / "model")
    tool.must("upgrade", model, "-o", tmp_path / "upgraded")
    tool.must("check", "--strict", tmp_path / "upgraded")
    np.testing.assert_array_equal(tool.run(tmp_path / "upgraded")["y"], SIGNED)


def test_no_elements_in_strict_mode(nnefc: Path, tmp_path: Path) -> None:
    done = Nnefc(nnefc, tmp_path).call("check", "--strict", CASES["input_without_elements"].write(tmp_path / "model"))
    assert done.returncode == 1
    assert "[external.shape]" in done.stderr


def test_metadata_is_formatted(nnefc: Path, tmp_path: Path) -> None:
    tool, model = Nnefc(nnefc, tmp_path), CASES["escapes_in_metadata"].write(tmp_path / "model")
    text = tool.must("fmt", model / "graph.nnef")
    assert r"'a\nb\t" in text and "\u00e9" in text
    (model / "graph.nnef").write_text(text)
    assert tool.must("fmt", model / "graph.nnef") == text
