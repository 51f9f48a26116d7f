"""Operations of tract's registries, one per document, compared with tract itself, on both backends and as OpenVINO IR
in OpenVINO."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import openvino
import pytest
import tract

from models import Nnefc

F32, I64 = np.float32, np.int64
RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal((2, 3, 4, 5)).astype(F32)
IMAGE = RANDOM.standard_normal((1, 2, 6, 5)).astype(F32)
LOW_IMAGE = np.random.default_rng(12).standard_normal((1, 2, 5, 4)).astype(F32)
PAIRS = RANDOM.standard_normal((2, 12, 3, 2)).astype(F32)
SIGNAL = RANDOM.standard_normal((2, 21, 2)).astype(F32)
WHOLE, SHIFTED = RANDOM.integers(0, 90, (3, 4)), RANDOM.integers(0, 5, (3, 4))
HEADS = RANDOM.standard_normal((2, 4, 6, 8)).astype(F32)
GROUPS = RANDOM.standard_normal((2, 2, 6, 8)).astype(F32)
PLACES = RANDOM.uniform(-1.2, 1.2, (1, 4, 3, 2)).astype(F32)
SOUND = RANDOM.standard_normal((2, 3, 7)).astype(F32)
# Queries, keys, values, logarithms of decays, rates and the state of linear attention.
GATED = tuple(RANDOM.standard_normal(shape).astype(F32) for shape in ((2, 5, 4, 6), (2, 5, 4, 6), (2, 5, 4, 6)))
GATED += (-RANDOM.uniform(0, 2, (2, 5, 4)).astype(F32), RANDOM.uniform(0, 1, (2, 5, 4)).astype(F32),
          RANDOM.standard_normal((2, 4, 6, 6)).astype(F32))
# Five experts: rows, gate, the three matrices of each in two layouts, biases.
EXPERTS = {name: RANDOM.standard_normal(shape).astype(F32) for name, shape in {
    "a": (7, 6), "b": (5, 6), "c": (5, 6, 8), "d": (5, 8, 6), "e": (5, 6, 8), "h": (5,), "j": (5, 8), "l": (5, 8), "m": (5, 6)}.items()}
EXPERTS |= {"n": EXPERTS["a"][:6].reshape(2, 3, 6), **{new: np.swapaxes(EXPERTS[old], 1, 2).copy() for new, old in zip("opq", "cde")}}
MIXTURES = [
    ("gated", "a, b, c, d, e", "activation = 'swiglu', gate = 'softmax_topk'"),
    ("batch", "n, b, c, d, e", "activation = 'swiglu', gate = 'softmax_all'"),
    ("sigmoid", "a, b, c, d, e", "activation = 'swiglu', gate = 'sigmoid'"),
    ("gelu", "a, b, c, d, e", "activation = 'gelu', gate = 'raw'"),
    ("plain", "a, b, c, d", "activation = 'relu', gate = 'softmax_topk'"),
    ("plain_gelu", "a, b, c, d", "activation = 'gelu', gate = 'softmax_topk'"),
    ("plain_silu", "a, b, c, d", "activation = 'silu', gate = 'raw'"),
    ("linear", "a, b, o, p, q", "activation = 'swiglu', gate = 'softmax_topk', expert_layout = 'linear'"),
    ("biases", "a, b, c, d, e, h, j, l, m", "activation = 'swiglu', gate = 'softmax_topk', act_alpha = 1.7, act_limit = 0.75"),
]
MASK = RANDOM.standard_normal((2, 1, 6, 8)).astype(F32)
TYPES = {np.dtype(F32): "f32", np.dtype(I64): "i64", np.dtype(bool): "bool"}
REGISTRIES = "".join(f"extension tract_registry {name};\n" for name in ("tract_core", "tract_transformers", "tract_extra"))


@dataclass
class Case:
    statement: str  # the expression for `y`, with inputs `a`, `b`, ..
    inputs: tuple[np.ndarray, ...] = (X,)
    head: str = REGISTRIES

    @property
    def named(self) -> dict[str, np.ndarray]:
        """Returns letters other than `f` and `y`, which name results."""
        return dict(zip("abcdeghijkl", self.inputs))

    def write(self, folder: Path) -> dict[str, np.ndarray]:
        named = self.named
        lines = [f"{name} = tract_core_external(shape = {list(value.shape)}, datum_type = '{TYPES[value.dtype]}');"
                 for name, value in named.items()]
        body = "\n    ".join([*lines, *self.statement.split("\n")])
        (folder / "graph.nnef").write_text(f"version 1.0;\n{self.head}graph net( {', '.join(named)} ) -> ( y )\n{{\n    {body}\n}}\n")
        return named


def resize(interpolator: str, coordinates: str, extents: str, nearest: str = "floor", image: np.ndarray = IMAGE) -> Case:
    return Case(f"y = tract_core_resize(a, {extents}, interpolator = '{interpolator}', coord_transformer = '{coordinates}', "
                f"nearest_mode = '{nearest}');", (image,))


COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
# Scales of [1, 2, 5, 4] other than the ratio of the extents: of one axis, of both, of the channels, below and above whole ratios.
SCALES = {"same_height": (1, 1, 1.1, 2), "same_width": (1, 1, 2, 1.2), "same_extents": (1, 1, 1.1, 1.2), "same_channels": (1, 1.3, 2, 2),
          "below_one": (1, 1, 0.9, 2), "above_two": (1, 1, 2.1, 2), "both_above_two": (1, 1, 2.1, 2.2), "exact": (1, 1, 2, 3),
          "exact_height": (1, 1, 2, 1)}
CASES = {
    "recip": Case("b = exp(a);\ny = recip(b);"),
    "pow_const": Case("b = exp(a);\ny = tract_core_pow_const(b, 1.5);"),
    "clamped_swiglu": Case("y = tract_core_clamped_swiglu(a, b, 1.7, 0.7);", (X, X[::-1].copy())),
    "bitand": Case("y = tract_core_bitand(a, b);", (WHOLE, SHIFTED)),
    "bitor": Case("y = tract_core_bitor(a, b);", (WHOLE, SHIFTED)),
    "bitxor": Case("y = tract_core_bitxor(a, b);", (WHOLE, SHIFTED)),
    "bitnot": Case("y = tract_core_bitnot(a);", (WHOLE,)),
    "logical_bits": Case("c = tract_core_bitand(a, b);\ny = tract_core_bitnot(c);", (WHOLE > 40, SHIFTED > 2)),
    "shl": Case("y = tract_shl(a, b);", (WHOLE, SHIFTED)),
    "shr": Case("y = tract_shr(a, b);", (WHOLE, SHIFTED)),
    "large_integers": Case("p = mul(a, 10007);\ns = add(p, b);\nd = sub(s, 16777217);\nm = max(d, b);\ny = tract_core_cast(m, to = 'i64');", (WHOLE * 1000, SHIFTED)),
    "scaled_rms_norm": Case("y = tract_core_scaled_rms_norm(a, b, axis = 3, eps = 0.01);", (X, X[0, 0, 0].copy())),
    "cumsum": Case("y = tract_core_cumsum(a, axis = 2, exclusive = false, reverse = false);"),
    "exclusive_cumsum": Case("y = tract_core_cumsum(a, axis = 2, exclusive = true, reverse = false);"),
    "reverse_cumsum": Case("y = tract_core_cumsum(a, axis = 1, exclusive = false, reverse = true);"),
    "argmax_last": Case("y = tract_core_argmax_reduce_last(a, axes = [3]);", (np.round(X),)),
    "argmin_last": Case("y = tract_core_argmin_reduce_last(a, axes = [1]);", (np.round(X),)),
    "gather_from_the_end": Case("i = tract_core_cast([[0, -1], [-4, 2]], to = 'i64');\ny = tract_core_gather(a, i, axis = 2, datum_type = 'f32');"),
    "range_of_scalars": Case("r = tract_core_range(0.5, 2.9, step = 0.5);\ns = unsqueeze(r, axes = [0, 1, 2]);\ny = add(a, s);"),
    "range_of_scalars_down": Case("r = tract_core_range(5.0, 0.0, step = -1.0);\ns = unsqueeze(r, axes = [0, 1, 2]);\n"
                                  "h = div(s, 2.0);\ny = mul(a, h);"),
    "gather_nd": Case("y = tract_core_gather_nd(a, b, batch_dims = 0);", (X, np.array([[1, 2], [0, 0], [1, 0]]))),
    "gather_nd_batches": Case("y = tract_core_gather_nd(a, b, batch_dims = 1);", (X, np.array([[[1, 2], [0, 0]], [[1, 0], [2, 3]]]))),
    "scatter_nd": Case("y = tract_core_scatter_nd(a, b, c);", (X, np.array([[1, 2], [0, 0]]), X[0, 1:].copy())),
    "dyn_slice": Case("y = tract_core_dyn_slice(a, 1, 3, axis = 2, len = 2);"),
    **{f"linear_{name}": resize("linear", name, "sizes = [1, 2, 9, 8]") for name in COORDINATES},
    **{f"cubic_{name}": resize("cubic", name, "sizes = [1, 2, 9, 8]") for name in COORDINATES},
    **{f"nearest_{name}": resize("nearest", "half_pixel", "sizes = [1, 2, 9, 8]", name)
       for name in ("floor", "round_prefer_ceil")},
    "nearest_asymmetric": resize("nearest", "asymmetric", "sizes = [1, 2, 4, 8]"),
    "sizes_of_floats": resize("linear", "half_pixel", "sizes = [1.0, 2.0, 9.0, 8.0]"),
    "smaller_linear": resize("linear", "half_pixel", "sizes = [1, 2, 4, 2]"),
    "resize_by_scales": resize("linear", "half_pixel", "scales = [1.0, 1.0, 1.7, 1.6]"),
    **{f"{interpolator}_{coordinates}_{name}": resize(interpolator, coordinates, f"scales = {[float(scale) for scale in scales]}", image=LOW_IMAGE)
       for interpolator, coordinates in (("linear", "half_pixel"), ("linear", "asymmetric"), ("linear", "align_corners"),
                                         ("cubic", "align_corners"), ("nearest", "asymmetric"))
       for name, scales in SCALES.items()},
    "resize_whole_factors": resize("linear", "half_pixel", "scales = [1.0, 1.0, 2.0, 3.0]"),
    **{f"grid_{mode}_{padding}": Case(f"y = tract_core_grid_sample(a, b, mode = '{mode}', padding_mode = '{padding}', "
                                      f"align_corners = {aligned});", (IMAGE, PLACES))
       for mode, padding, aligned in (("bilinear", "zeros", "false"), ("nearest", "border", "true"), ("bicubic", "reflection", "false"),
                                      ("bilinear", "reflection", "true"))},
    "fft": Case("y = tract_core_fft(a, axis = 1, inverse = false);", (PAIRS,)),
    "inverse_fft": Case("y = tract_core_fft(a, axis = 2, inverse = true);", (PAIRS,)),
    "stft": Case("y = tract_core_stft(a, axis = 1, frame = 8, stride = 4);", (SIGNAL,)),
    "stft_window": Case("w = [0.1, 0.2, 0.3, 0.4, 0.4, 0.3, 0.2, 0.1];\ny = tract_core_stft(a, axis = 1, frame = 8, stride = 4, "
                        "window = w);", (SIGNAL,)),
    "exp_mean_norm": Case("y = tract_extra_exp_mean_norm(a, b, axis = 2, alpha = 0.9, stateless = false, skip = 0, "
                          "scaling_factor = 40.0);", (X, X[:, :, 0])),
    "exp_unit_norm": Case("y = tract_extra_exp_unit_norm(a, b, axis = 1, alpha = 0.75, stateless = true, complex = false, "
                          "epsilon = 0.5);", (X, np.abs(X[:, 0]))),
    "exp_unit_norm_complex": Case("y = tract_extra_exp_unit_norm(a, b, axis = 1, alpha = 0.75, complex = true);",
                                  (PAIRS, np.abs(PAIRS[:, 0, :, 0]))),
    "exp_mean_norm_skip": Case("y = tract_extra_exp_mean_norm(a, b, axis = 1, alpha = 0.5, skip = 2, scaling_factor = 2.0);",
                               (SIGNAL, SIGNAL[:, 3])),
    "lstm_epilogue": Case("y, c2 = tract_core_lstm_epilogue(a, b, hidden = 5);", (X[0, 0].repeat(4, 1), X[1, 1])),
    "lstm_epilogue_state": Case("h, y = tract_core_lstm_epilogue(a, b, hidden = 5);", (X[0, 0].repeat(4, 1), X[1, 1])),
    "gru_epilogue": Case("y = tract_core_gru_epilogue(a, b, c, hidden = 5);", (X[0].reshape(4, 15), X[1].reshape(4, 15), X[1, 1])),
    "transformers_silu": Case("y = tract_transformers_silu(a);"),
    "transformers_gelu_approx": Case("y = tract_transformers_gelu_approx(a, fast_impl = false);"),
    # The library's loop has its own body, not the document's with that name.
    "exp_mean_norm_beside_a_body": Case(
        "y = tract_extra_exp_mean_norm(a, b, axis = 2, alpha = 0.9, scaling_factor = 2.0);", (X, X[:, :, 0].copy()),
        REGISTRIES + "fragment tract_extra_next_average( x: tensor<scalar>, average: tensor<scalar>, alpha: tensor<scalar> ) "
        "-> ( next: tensor<scalar> )\n{\n    next = x + average + alpha;\n}\n"),
    "causal_conv": Case("y, f = tract_transformers_causal_conv1d_update(a, b, c);", (SOUND, SOUND[0, :, :4].copy(), SOUND[::-1, :, :4].copy())),
    "causal_conv_state": Case("f, y = tract_transformers_causal_conv1d_update(a, b, c);",
                              (SOUND[..., :2].copy(), SOUND[0, :, :4].copy(), SOUND[::-1, :, :4].copy())),
    "gdn_recurrent": Case("y, f = tract_transformers_gdn_recurrent(a, b, c, d, e, g);", GATED),
    "gdn_recurrent_state": Case("f, y = tract_transformers_gdn_recurrent(a, b, c, d, e, g);", GATED),
    "gdn_recurrent_groups": Case("y, f = tract_transformers_gdn_recurrent(a, b, c, d, e, g);",
                                 (GATED[0][:, :, :2].copy(), GATED[1][:, :, :2].copy(), *GATED[2:])),
    **{f"moe_{name}": Case(f"y = tract_moe_ffn({', '.join('abcdeghijkl'[:len(names.split())])}, k = 2, {attributes});", tuple(EXPERTS[each] for each in names.split(", ")))
       for name, names, attributes in MIXTURES},
    "causal_conv_by_its_first_name": Case("y, f = tract_qwen35_causal_conv1d_update(a, b, c);", (SOUND, SOUND[0, :, :4].copy(), SOUND[::-1, :, :4].copy())),
    "gdn_recurrent_by_its_first_name": Case("y, f = tract_qwen35_gdn_recurrent(a, b, c, d, e, g);", GATED),
    **{f"projected_gru_{direction}_{bias}": Case(
        f"y, f = tract_core_gru_seq(x = a, r = b, b = c, initial_h = d, hidden = 5, chunk = {direction}, has_bias = {bias}, reset_every_turn = 1, emit_y = 1, projected = 1);",
        (RANDOM.standard_normal((2, 3, 15)).astype(F32), RANDOM.standard_normal((15, 5)).astype(F32), RANDOM.standard_normal((1, 30)).astype(F32),
         RANDOM.standard_normal((2, 1, 5)).astype(F32))) for direction in (1, -1) for bias in (0, 1)},
    "gru_step": Case("xh = squeeze(a, axes = [0]);\nrh = tract_core_einsum([b, c], expr = 'mk,nk->mn', acc = 'f32', output = '');\ny = tract_core_gru_epilogue(xh, rh, b, hidden = 5);",
                     (X[:1, 0].reshape(1, 4, 5).repeat(3, 2), X[1, 1], X[1, 0].reshape(4, 5).repeat(4, 0)[:15].copy())),
    "literal_grid": Case("g = [[[[-1.0, -1.0], [1.0, -0.5]], [[-1.0, 1.0], [0.25, 1.0]]]];\ny = tract_core_grid_sample(a, g, mode = 'bilinear', padding_mode = 'zeros', align_corners = true);",
                         (IMAGE,)),
    "halves_resized": Case("h = tract_core_cast(a, to = 'f16');\nr = tract_core_resize(h, scales = [1.0, 1.0, 2.0, 2.0], interpolator = 'nearest', coord_transformer = 'asymmetric', "
                           "nearest_mode = 'floor');\ny = tract_core_cast(r, to = 'f32');", (np.round(IMAGE * 8) / 8,)),
    "softmax_of_six_axes": Case("y = tract_transformers_scaled_masked_softmax(a, b, scale = 0.125, post_softmax_mask = false);",
                                (X.reshape(1, 2, 1, 3, 4, 5), X[:1].reshape(1, 1, 1, 3, 4, 5).copy())),
    "signs_of_a_cast_list": Case("o = tract_core_cast([-128.0, 0.0, 5.0], to = 'i64');\ns = mul(sign(o), abs(o));\ny = add(add(s, sign(a)), abs(a));", (SHIFTED[:, 0] - 2,)),
    "extents_in_a_list_of_lists": Case("e = [1, 2];\ny = reshape(a, shape = [1, e, 60]);"),
    "repeats_in_a_list_of_lists": Case("e = [1, 2];\ny = tile(a, repeats = [2, e, 1]);"),
    "transposed_literal_indices": Case("i = [[0.0, -1.0], [1.0, 2.0]];\ny = tract_core_gather_elements(transpose(a, axes = [1, 0]), transpose(i, axes = [1, 0]), axis = 0);", (X[:, :, 0, 0].copy(),)),
    "frames_along_the_first_axis": Case("w = [0.25, 0.5, 0.75, 1.0];\nt = transpose(a, axes = [1, 0, 2]);\ny = tract_core_stft(t, axis = 0, frame = 8, stride = 2, window = w);", (SIGNAL,)),
    **{f"equal_values_{largest}": Case(f"k = tract_core_cast([3], to = 'i64');\nv, y = tract_core_topk(a, k, axis = 1, largest = {largest});",
                                       (np.array([[1, 2, 2, 1, 2, 1, 2], [0, 0, 0, 0, 0, 0, 0]], F32),)) for largest in ("true", "false")},
    "inner_product": Case("m = matmul(a, b, transposeB = true);\ns = squeeze(m, axes = [0]);\ny = squeeze(s, axes = [0]);", (X[0, 0, :1].copy(), X[1, 0, :1].copy())),
    "linear_of_three_axes": Case("y = add(linear(a, b), a);", (X[0, :, 0, :3].reshape(3, 1, 3).copy(), X[1, 0, :3, :3].reshape(1, 3, 3).copy())),
    "power_by_a_fraction": Case("b = exp(a);\ny = pow(b, 2.3333);"),
    "upsampled_by_two_and_three": Case("y = nearest_upsample(a, factor = [2, 3]);", (IMAGE,)),
    "deboxed": Case("y = debox(a, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)]);", (IMAGE,)),
    "rolled": Case("b = concat([slice(a, axes = [1], begin = [1], end = [3], stride = [1]), slice(a, axes = [1], begin = [0], end = [1], stride = [1])], axis = 1);\ny = neg(b);"),
    "extents_of_two_axes_subtracted": Case("y = sub(a, b);", (X[0, 0, 0].reshape(1, 1, 1, 5, 1).copy(),
                                                            X[0, 0, :, 0].reshape(1, 1, 1, 1, 4).copy())),
    "row_of_a_range": Case("w = reshape(tract_core_cast(tract_core_range(0, 5, 1), to = 'f32'), shape = [1, 5]);\ny = sigmoid(add(mul(w, a), a));", (X[0, 0, :1].copy(),)),
    "range_before_its_successor": Case("r = tract_core_range(0, 4, step = 1);\nc = lt(r, add(r, 1));\ny = select(c, a, 0.0);", (X[0, 0, :, 0].copy(),)),
    "transformers_rms_norm": Case("y = tract_transformers_rms_norm(a, axis = 3, eps = 0.01);"),
    "apply_rope": Case("y = tract_transformers_apply_rope(a, b, c);", (HEADS, MASK, MASK[::-1].copy())),
    "scaled_masked_softmax": Case("y = tract_transformers_scaled_masked_softmax(a, b, 0.5);", (HEADS, MASK)),
    "masked_softmax": Case("y = tract_transformers_scaled_masked_softmax(a, b, 0.5);", (HEADS, MASK > -1)),
    "masked_rows": Case("y = tract_transformers_scaled_masked_softmax(a, b, 0.5, post_softmax_mask = true);",
                        (HEADS, np.arange(6)[:, None] + np.zeros((2, 1, 6, 8)) > 2)),
    "grouped_heads": Case("y = tract_transformers_sdpa(a, b, c, datum_type = 'f32', acc_datum_type = 'f32', is_causal = false);",
                          (HEADS, GROUPS, GROUPS[::-1].copy())),
}


def test_core_comes_along(nnefc: Path, tmp_path: Path) -> None:
    """Any line for tract includes its core, as exporters assume, though tract's package requires the line."""
    case = Case("b = tract_core_cast(a, to = 'f32');\ny = tract_transformers_silu(b);", head="extension tract_registry tract_transformers;\n")
    case.write(tmp_path)
    np.save(tmp_path / "a.npy", X)
    actual = Nnefc(nnefc, tmp_path).run(tmp_path, "--input", f"a={tmp_path / 'a.npy'}")["y"]
    np.testing.assert_allclose(actual, X / (1 + np.exp(-X)), rtol=1e-5)


def agree(actual: np.ndarray, expected: np.ndarray) -> None:
    assert actual.shape == expected.shape
    if expected.dtype == F32:
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=2e-5)
    else:
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("name", CASES)
def test_operation(name: str, nnefc: Path, tmp_path: Path) -> None:
    case, tool = CASES[name], Nnefc(nnefc, tmp_path)
    model = tmp_path / "model"
    model.mkdir()
    inputs = case.write(model)
    expected = tract.nnef().with_tract_transformers().with_tract_extra().load(str(model)).into_runnable().run(list(inputs.values()))[0].to_numpy()
    np.savez(tmp_path / "in.npz", **inputs)
    for backend in ("reference", "fast"):
        agree(tool.run(model, "--inputs", tmp_path / "in.npz", "--backend", backend)["y"], expected)
    tool.must("compile", model, "-o", tmp_path / "net.xml")
    compiled = openvino.Core().compile_model(str(tmp_path / "net.xml"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    agree(compiled({compiled.input(key): value for key, value in inputs.items()})[compiled.output(0)], expected)


@pytest.mark.parametrize("statement, rule", [
    ("y = tract_core_resize(a, sizes = [2, 3, 9, 9], interpolator = 'lanczos', coord_transformer = 'half_pixel');", "tract_sampling.choice"),
    ("y = tract_core_resize(a, sizes = [2, 3, 9, 9], interpolator = 'linear', coord_transformer = 'tf_crop');", "tract_sampling.choice"),
    # tract refuses both; equal ones are accepted.
    *((f"y = tract_core_resize(a, sizes = [2, 3, 8, 5], scales = [1.0, 1.0, {scale}, 1.0], interpolator = '{interpolator}', "
       "coord_transformer = 'half_pixel');", "tract_sampling.choice") for interpolator in ("linear", "cubic") for scale in (1.0, 1.9, 2.25)),
    ("y = tract_core_fft(a, axis = 1);", "tract_fft.shape"),
    ("y = tract_core_grid_sample(a, a);", "tract_sampling.grid"),
    ("i = tract_core_cast(a, to = 'i64');\ny = tract_core_gather_nd(a, i);", "tract_nd.tuples"),
    ("y = tract_core_range(3, 3, step = 1);", "value.type"),
    ("y = tract_core_range(0, 3, step = 0);", "arithmetic.division-by-zero"),
    ("y = tract_core_range(0, 9000000000000, step = 1);", "limit.items"),
])
def test_refusal(statement: str, rule: str, nnefc: Path, tmp_path: Path) -> None:
    Case(statement).write(tmp_path)
    done = Nnefc(nnefc, tmp_path).call("check", tmp_path)
    assert done.returncode == 1 and f"[{rule}]" in done.stderr


@pytest.mark.parametrize("scale", [2.0, 2.2])
def test_sizes_and_their_scales(scale: float, nnefc: Path, tmp_path: Path) -> None:
    Case(f"y = tract_core_resize(a, sizes = [2, 3, 8, 5], scales = [1.0, 1.0, {scale}, 1.0], interpolator = 'linear', "
         "coord_transformer = 'half_pixel');").write(tmp_path)
    done = Nnefc(nnefc, tmp_path).call("check", tmp_path)
    assert done.returncode == 0, done.stderr
