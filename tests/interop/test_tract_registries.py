"""Operations of tract's registries tract_onnx, tract_pulse and tract_transformers, against tract: single documents, and
streams that run part by part with the states of a session."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import tract

from models import Nnefc
from tract_models import F32, I64, Net, linear, recurrent

RANDOM = np.random.default_rng(54)
HEAD = "version 1.0;\n\n" + "".join(f"extension tract_registry tract_{name};\n" for name in ("core", "onnx", "pulse", "transformers"))
IMAGE = RANDOM.standard_normal((2, 6, 3, 4)).astype(F32)
BOXES = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]]], F32)
SCORES = np.array([[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]]], F32)
SIGNAL = np.arange(1, 7, dtype=F32)[None]


@dataclass
class Case:
    body: str  # the statements; `y` is the result
    inputs: dict[str, np.ndarray] = field(default_factory=lambda: {"x": SIGNAL})  # with --runs, of one run
    runs: int = 0
    head: str = ""

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True)
        lines = []
        for name, value in self.inputs.items():
            kind = "bool" if value.dtype == bool else f"{value.dtype.kind}{8 * value.itemsize}"
            lines.append(f"{name} = tract_core_external(shape = {list(value.shape)}, datum_type = '{kind}');")
        text = "\n  ".join([*lines, *self.body.strip().splitlines()])
        (folder / "graph.nnef").write_text(f"{HEAD}{self.head}\ngraph net({', '.join(self.inputs)}) -> (y)\n{{\n  {text}\n}}\n")
        return folder

    def data(self) -> dict[str, np.ndarray]:
        """Returns the inputs; with --runs those of all runs, of different values."""
        if not self.runs:
            return self.inputs
        return {name: np.stack([value * (run + 1) for run in range(self.runs)]) for name, value in self.inputs.items()}


def registry() -> object:
    return tract.nnef().with_onnx().with_pulse().with_tract_transformers().with_tract_extra()


def by_tract(model: Path, case: Case) -> np.ndarray:
    runnable = registry().load(str(model)).into_runnable()  # type: ignore[attr-defined]
    data = [*case.data().values()]
    if not case.runs:
        return runnable.run(data)[0].to_numpy()
    state = runnable.spawn_state()
    return np.stack([state.run([np.ascontiguousarray(value[run]) for value in data])[0].to_numpy() for run in range(case.runs)])


def resize(mode: str, coordinates: str, nearest: str = "floor", scales: str = "[1.0, 1.0, 2.0, 1.5]") -> Case:
    return Case(f"y = tract_onnx_resize(x, {scales}, coord_transformer = '{coordinates}', interpolator = '{mode}', nearest_mode = '{nearest}');",
                {"x": IMAGE})


def sample(settings: str, scales: str = "[1.0, 1.0, 2.0, 1.5]", mode: str = "cubic", coordinates: str = "half_pixel", nearest: str = "floor", image: np.ndarray = IMAGE) -> Case:
    return Case(f"y = tract_onnx_resize(x, {scales}, coord_transformer = '{coordinates}', interpolator = '{mode}', nearest_mode = '{nearest}'{settings});", {"x": image})


def boxes(arguments: str) -> Case:
    count, rest = arguments.split(", ", 1)
    return Case(f"k = tract_core_cast({count}.0, to = 'i64');\ny = tract_onnx_non_max_suppression(b, s, k, {rest});", {"b": BOXES, "s": SCORES})


CELLS = RANDOM.standard_normal((1, 2, 1, 4)).astype(F32)
TOKENS = RANDOM.standard_normal((1, 2, 40, 4)).astype(F32)
QUERIES = RANDOM.standard_normal((1, 4, 3, 4)).astype(F32)
CASES: dict[str, Case] = {
    # ---- tract_onnx ----
    **{f"lrn_of_{size}": Case(f"y = tract_onnx_lrn(x, alpha = 0.3, beta = 0.75, bias = 1.5, size = {size});", {"x": IMAGE}) for size in (1, 2, 3, 6, 9)},
    "lrn_by_defaults": Case("y = tract_onnx_lrn(x * 100.0, size = 3);", {"x": IMAGE}),
    "non_zero": Case("y = tract_onnx_non_zero(x, count_symbol = 'n');", {"x": np.array([[0, 2, 0], [-1, 0, 3]], F32)}),
    "non_zero_of_integers": Case("y = tract_onnx_non_zero(x);", {"x": np.array([0, 2, 0, 4])}),
    "non_zero_of_logicals": Case("y = tract_onnx_non_zero(x);", {"x": np.array([[[True], [False]], [[False], [True]]])}),
    "boxes": boxes("3, 0.5, 0.0"),
    "boxes_one_of_each_class": boxes("1, 0.5, 0.0"),
    "boxes_above_a_score": boxes("3, 0.5, 0.4"),
    "boxes_without_limit": boxes("0, 0.5, 0.0"),
    "boxes_by_center": boxes("3, 0.5, 0.0, center_point_box = 1"),
    "boxes_without_a_score": boxes("3, 0.5"),
    "boxes_without_overlap": boxes("6, 0.0, 0.0"),
    "boxes_by_data": Case("y = tract_onnx_non_max_suppression(b, s, k, i, t);",
                          {"b": BOXES, "s": SCORES, "k": np.array(0, I64), "i": np.array(0.5, F32), "t": np.array(0.25, F32)}),
    **{f"resize_linear_{c}": resize("linear", c) for c in ("half_pixel", "align_corners", "asymmetric")},
    **{f"resize_nearest_{c}_{n}": resize("nearest", c, n) for c in ("half_pixel", "asymmetric")
       for n in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")},
    **{f"resize_{mode}_{c}_{'less' if less else 'more'}": resize(mode, c, scales="[1.0, 1.0, 0.7, 0.6]" if less else "[1.0, 1.0, 2.0, 1.5]")
       for mode in ("cubic", "linear", "nearest") for less in (False, True)
       for c in ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")},
    # Scales that are 1 in f32, as a factor of the extent and of coordinates.
    **{f"resize_linear_{c}_in_f32": resize("linear", c, scales="[1.0, 1.0, 0.99999999, 1.00000001]")
       for c in ("half_pixel", "half_pixel_symmetric", "asymmetric")},
    **{f"resize_nearest_half_pixel_symmetric_{n}": resize("nearest", "half_pixel_symmetric", n, "[1.0, 1.0, 1.7, 1.3]")
       for n in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")},
    **{f"resize_to_one_{c}": resize("linear", c, scales="[1.0, 1.0, 0.4, 0.3]") for c in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")},
    "resize_all_axes": sample("", "[1.5, 0.5, 2.0, 1.5]", mode="linear"),
    "resize_of_two_axes": sample("", "[1.0, 1.7]", mode="linear", image=IMAGE[0, 0]),
    **{f"resize_by_another_cubic_{a}": sample(f", cubic_coeff_a = {a}") for a in (-0.5, -1.0, 0.0)},
    **{f"resize_without_outside_{c}": sample(", exclude_outside = true", coordinates=c) for c in ("half_pixel", "align_corners", "asymmetric")},
    **{f"resize_linear_without_outside_{c}": sample(", exclude_outside = true", mode="linear", coordinates=c) for c in ("half_pixel", "asymmetric")},
    **{f"resize_antialiased_{mode}_{i}": sample(", antialias = true", scales, mode) for mode in ("linear", "cubic")
       for i, scales in enumerate(("[1.0, 1.0, 0.5, 0.5]", "[1.0, 1.0, 0.7, 0.3]", "[1.0, 1.0, 2.0, 0.6]"))},
    "resize_antialiased_without_outside": sample(", antialias = true, exclude_outside = true", "[1.0, 1.0, 0.5, 0.6]"),
    **{f"resize_of_a_region_{mode}_{i}": sample(f", extrapolation_value = 7.5, roi = {roi}", "[1.0, 1.0, 2.0, 0.8]", mode, "tf_crop_and_resize")
       for mode in ("linear", "nearest", "cubic") for i, roi in enumerate((
           "[0.0, 0.0, 0.2, 0.3, 1.0, 1.0, 0.9, 0.8]", "[0.0, 0.0, -0.4, 0.0, 1.0, 1.0, 1.2, 1.5]"))},
    "resize_by_whole_factors": resize("nearest", "asymmetric", scales="[1.0, 1.0, 2.0, 3.0]"),
    "grid_sample": Case("y = tract_onnx_grid_sample(x, g, mode = 'bilinear', padding_mode = 'zeros', align_corners = true);",
                        {"x": IMAGE, "g": RANDOM.uniform(-1.2, 1.2, (2, 3, 5, 2)).astype(F32)}),
    "direct_lookup": Case("i = tract_core_cast(x, to = 'i32');\nv = tract_core_cast([5.0, 6.0, 7.0], to = 'i64');\nf = tract_core_cast(-1.0, to = 'i64');\n"
                          "y = tract_onnx_ml_direct_lookup(i, v, f);", {"x": np.array([[0, 1, 2, 3, -1]], F32)}),
    # ---- tract_pulse ----
    **{f"delay_of_{delay}_{overlap}": Case(f"y = tract_pulse_delay(x, axis = 1, delay = {delay}, overlap = {overlap});", runs=4)
       for delay, overlap in ((0, 2), (2, 0), (2, 1), (6, 0), (7, 0), (5, 2), (13, 3))},
    "delay_of_nothing": Case("y = tract_pulse_delay(x, axis = 1, delay = 0, overlap = 0);", runs=2),
    "delay_of_rows": Case("y = tract_pulse_delay(x, axis = 0, delay = 1, overlap = 1);", {"x": IMAGE[0, 0]}, runs=3),
    "mask": Case("y = tract_pulse_mask(x, axis = 1, begin = 2, end = 8, value = -1.0);", runs=3),
    "mask_of_whole_runs": Case("y = tract_pulse_mask(x, axis = 1, begin = 6, end = 12, value = -1.0);", runs=4),
    "mask_to_the_end": Case("y = tract_pulse_mask(x, axis = 1, begin = 7, end = S + 2, value = 0.5);", runs=3, head="extension tract_symbol S;\n"),
    "pad": Case("y = tract_pulse_pulse_pad(x, axis = 1, before = 2, after = 2, begin_input = 2, end_input = 8, border = 'constant', value = -1.0, overlap = 0);", runs=2),
    "pad_with_overlap": Case("y = tract_pulse_pulse_pad(x, axis = 1, before = 2, after = 0, begin_input = 2, end_input = 80, border = 'constant', value = -1.0, overlap = 2);", runs=3),
    "pad_to_the_end": Case("y = tract_pulse_pulse_pad(x, axis = 1, before = 1, after = 3, begin_input = 1, end_input = S + 1, border = 'constant', value = 9.0, overlap = 1);",
                           runs=3, head="extension tract_symbol S;\n"),
    "pad_by_edges": Case("y = tract_pulse_pulse_pad(x, axis = 1, before = 2, after = 3, begin_input = 2, end_input = 8, border = 'replicated', value = 0.0, overlap = 0);", runs=2),
    "pad_by_the_edge_of_a_former_run": Case("y = tract_pulse_pulse_pad(x, axis = 1, before = 0, after = 3, begin_input = 0, end_input = 6, border = 'replicated', value = 0.0, overlap = 0);", runs=2),
    **{f"cumsum_{exclusive}_from_{skip}": Case(f"y = tract_pulse_cumsum(x, axis = 1, exclusive = {exclusive}, skip = {skip});", runs=3)
       for exclusive in ("false", "true") for skip in (0, 2, 6, 8)},
    **{f"mean_of_a_stream_{stateless}": Case(f"y = tract_extra_exp_mean_norm(x, s, axis = 1, alpha = 0.75, stateless = {stateless}, skip = 0, scaling_factor = 2.0);",
                                             {"x": SIGNAL, "s": np.array([0.5], F32)}, runs=3, head="extension tract_registry tract_extra;\n") for stateless in ("false", "true")},
    # ---- tract_transformers ----
    "keys_of_all_runs": Case("k = tract_transformers_dyn_kv_cache(x, name = 'k', axis = 1, past_sequence_shape = [1, P], input_sequence_shape = [1, 6], datum_type = 'f32');\n"
                             "y = sum_reduce(k, axes = [1]);", runs=3, head="extension tract_symbol P;\n"),
    **{f"window_of_{window}": Case(f"y = tract_transformers_window_kv_sdpa(x, x * 2.0, x + 1.0, axis = 2, window = {window});", {"x": CELLS}, runs=4)
       for window in (1, 2, 8)},
    "window_with_a_scale": Case("y = tract_transformers_window_kv_sdpa(x, x * 2.0, x + 1.0, axis = 2, window = 3, scale = 0.25);", {"x": CELLS}, runs=4),
    "window_of_grouped_heads": Case("y = tract_transformers_window_kv_sdpa(q, k, k + 1.0, axis = 2, window = 5);", {"q": QUERIES, "k": TOKENS[:, :, :3]}, runs=3),
    **{f"quantized_attention_{name}": Case(f"y = tract_transformers_quantized_kv_sdpa({body}, axis = 2{scale});", inputs, runs=runs)
       for name, body, scale, inputs, runs in (
           ("to_all_tokens", "x, x * 2.0, x + 1.0", "", {"x": TOKENS}, 3), ("step_by_step", "x, x * 20.0, x + 1.0", "", {"x": TOKENS[:, :, :1]}, 6),
           ("with_a_scale", "x, x * 300.0, x + 1.0", ", scale = 0.001", {"x": TOKENS[:, :, :2]}, 4),
           ("of_grouped_heads", "q, k, k + 1.0", "", {"q": QUERIES, "k": TOKENS[:, :, :3]}, 3))},
    **{f"quantized_keys_of_{bits}_bits_{count}": Case(
        f"v = tract_transformers_quantized_dyn_kv_cache(x, name = 'v', axis = 2, bits = {bits}, per_channel = 1, datum_type = 'f32', "
        f"past_sequence_shape = [1, 2, P, 4], input_sequence_shape = [1, 2, {count}, 4]);\ny = sum_reduce(v * v + v, axes = [2]);",
        {"x": TOKENS[:, :, :count]}, runs=runs, head="extension tract_symbol P;\n")
       for bits in (4, 8) for count, runs in ((1, 6), (18, 5), (12, 6), (40, 3))},
    **{f"quantized_values_of_{bits}_bits": Case(
        f"v = tract_transformers_quantized_dyn_kv_cache(x, name = 'v', axis = 2, bits = {bits}, per_channel = 0, datum_type = 'f32', "
        "past_sequence_shape = [1, 2, P, 4], input_sequence_shape = [1, 2, 3, 4]);\ny = sum_reduce(v, axes = [2]);",
        {"x": RANDOM.standard_normal((1, 2, 3, 4)).astype(F32)}, runs=3, head="extension tract_symbol P;\n") for bits in (4, 8)},
}


@pytest.mark.parametrize("name", CASES)
def test_operation(name: str, nnefc: Path, tmp_path: Path) -> None:
    case, tool = CASES[name], Nnefc(nnefc, tmp_path)
    model = case.write(tmp_path / "model")
    expected = by_tract(model, case)
    np.savez(tmp_path / "in.npz", **case.data())
    options = ["--runs", case.runs] if case.runs else []
    for backend in ("reference", "fast"):
        actual = tool.run(model, "--inputs", tmp_path / "in.npz", "--backend", backend, *options)["y"]
        assert actual.shape == expected.shape
        np.testing.assert_allclose(actual.astype(np.float64), expected.astype(np.float64), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["boxes_above_a_score", "non_zero", "lrn_of_3", "delay_of_2_1", "pad_by_edges", "cumsum_true_from_2", "keys_of_all_runs", "window_of_2",
                                  "resize_antialiased_cubic_0", "resize_of_a_region_linear_1", "quantized_keys_of_4_bits_18", "quantized_attention_with_a_scale"])
def test_ir_computes_the_same(name: str, nnefc: Path, tmp_path: Path) -> None:
    """The IR of `compile` runs in OpenVINO, with its states as those of a session."""
    import openvino

    case, tool = CASES[name], Nnefc(nnefc, tmp_path)
    model = case.write(tmp_path / "model")
    expected = by_tract(model, case)
    tool.must("compile", model, "-o", tmp_path / "net.xml")
    precision = {"INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(str(tmp_path / "net.xml"), "CPU", precision).create_infer_request()
    data = [*case.data().values()]
    for run in range(case.runs or 1):
        found = [*request.infer([value[run] if case.runs else value for value in data]).values()][0]
        np.testing.assert_allclose(found, expected[run] if case.runs else expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["i64", "i32", "f32"])
def test_reverse_lookup(kind: str, nnefc: Path, tmp_path: Path) -> None:
    """The first position of a value in the keys: of integers and numbers, in one axis or several. tract 0.23.9 takes the keys
    for the fallback when it reads a document, and the reverse."""
    keys, fallback, x = [5, -6, 7, 5, 16777217 if kind != "f32" else 9], -3, np.array([[5, 7, 8], [-6, 0, 16777217 if kind != "f32" else 9]], np.dtype(f"{kind[0]}{int(kind[1:]) // 8}"))
    expected = np.array([[keys.index(value) if value in keys else fallback for value in row] for row in x.tolist()])
    items = ", ".join(str(float(key)) if kind == "f32" else str(key) for key in keys)
    tool = Nnefc(nnefc, tmp_path)
    for shape in ((2, 3), (6,), (1, 2, 3)):
        case = Case(f"k = tract_core_cast([{items}], to = '{kind}');\ny = tract_onnx_ml_reverse_lookup(x, k, fallback = {fallback});", {"x": x.reshape(shape)})
        model = case.write(tmp_path / f"model_{len(shape)}_{shape[0]}")
        np.savez(tmp_path / "in.npz", **case.inputs)
        for backend in ("reference", "fast"):
            found = tool.run(model, "--inputs", tmp_path / "in.npz", "--backend", backend)["y"]
            np.testing.assert_array_equal(found, expected.reshape(shape))
            assert found.dtype.kind == "i"


@pytest.mark.parametrize("axis, code", [(2, 0), (1, 1), (3, 1)])
@pytest.mark.parametrize("per_channel", ["1", "true", "0", "false"])
def test_axis_of_a_quantized_cache(per_channel: str, axis: int, code: int, nnefc: Path, tmp_path: Path) -> None:
    """The tokens are at axis 2. `true` is 1."""
    tool, results = Nnefc(nnefc, tmp_path), []
    np.savez(tmp_path / "in.npz", x=np.stack([TOKENS, 2 * TOKENS]))
    for given in (per_channel, {"true": "1", "false": "0"}.get(per_channel, per_channel)):
        model = Case(f"y = tract_transformers_quantized_dyn_kv_cache(x, name = 'v', axis = {axis}, bits = 4, per_channel = {given});", {"x": TOKENS}).write(
            tmp_path / f"model_{len(results)}")
        if code:
            done = tool.call("check", model)
            assert done.returncode == 1 and f"is {axis}; expected 2, the tokens in [batch, heads, tokens, width]" in done.stderr
            return
        last = model / "graph.nnef"
        last.write_text(last.read_text().replace("y = tract", "v = tract").replace("\n}\n", "\n  y = sum_reduce(v, axes = [2]);\n}\n"))
        results.append(tool.run(model, "--inputs", tmp_path / "in.npz", "--runs", 2)["y"])
    np.testing.assert_array_equal(*results)


def test_random_numbers(nnefc: Path, tmp_path: Path) -> None:
    """Numbers of tract's generator are its own; the distributions are those of the arguments."""
    tool = Nnefc(nnefc, tmp_path)
    for dist, parameters, mean, deviation in (("uniform", "[2.0, 5.0]", 3.5, 3 / np.sqrt(12)), ("normal", "[1.0, 2.0]", 1.0, 2.0)):
        case = Case(f"r = tract_onnx_random(datum_type = 'F32', shape = [40, 500], dist = '{dist}', parameters = {parameters}, seed = 7);\ny = r + x;",
                    {"x": np.zeros((1, 1), F32)})
        model = case.write(tmp_path / dist)
        np.savez(tmp_path / "in.npz", **case.inputs)
        found = tool.run(model, "--inputs", tmp_path / "in.npz")["y"]
        assert found.shape == (40, 500)
        assert abs(found.mean() - mean) < 0.05 * deviation + 0.02 and abs(found.std() - deviation) < 0.03 * deviation
        if dist == "uniform":
            assert 2 <= found.min() < 2.01 and 4.99 < found.max() < 5
    case = Case("y = tract_onnx_multinomial(log(x), dtype = 7, sample_size = 4000, seed = 3);", {"x": np.array([[1, 0.001, 3], [0.001, 1, 0.001]], F32)})
    np.savez(tmp_path / "in.npz", **case.inputs)
    found = tool.run(case.write(tmp_path / "multinomial"), "--inputs", tmp_path / "in.npz")["y"]
    assert found.shape == (2, 4000)
    assert abs((found[0] == 2).mean() - 0.75) < 0.04 and (found[1] == 1).mean() > 0.98


# ---- streams: models that tract's pulse pass cuts ----

def padded(net: Net) -> str:
    x = net.add("Conv", [net.input("x", 1, 3, "S"), net.weight("w", 4, 3, 3), net.weight("b", 4)], "c1/conv:0", kernel_shape=[3], pads=[1, 1])
    x = net.add("Conv", [net.add("Relu", [x], "c1/relu:0"), net.weight("w2", 2, 4, 5)], "c2/conv:0", kernel_shape=[5], dilations=[2])
    return net.add("Add", [x, x], "out:0")


def causal(net: Net) -> str:
    x = net.input("x", 1, 3, "S")
    y = net.add("Conv", [x, net.weight("w", 3, 1, 4)], "/layer.0/Conv", kernel_shape=[4], pads=[3, 0], group=3)
    return net.add("Add", [net.add("Sigmoid", [y], "/layer.0/Sigmoid"), x], "/layer.0/Add")


def residual(net: Net) -> str:
    x = net.input("x", 1, 3, "S")
    y = net.add("Conv", [x, net.weight("w", 3, 3, 5)], "/block.0/Conv", kernel_shape=[5], pads=[2, 2])
    y = net.add("Mul", [net.add("Tanh", [y], "/block.0/Tanh"), x], "/block.0/Mul")
    return net.add("AveragePool", [y], "/block.0/AveragePool", kernel_shape=[3])


def gated_dilations(net: Net) -> str:
    """Layers of a network for wake words: gates of dilated convolutions, sums of all layers."""
    x, skips = net.add("Conv", [net.input("x", 1, 4, "S"), net.weight("first", 5, 4, 3)], "net/pre/Conv2D", kernel_shape=[3]), []
    for layer, dilation in enumerate((1, 2, 4)):
        name, cut = f"net/layer_{layer}-rate_{dilation}", net.constant(f"{layer}/first", np.array([2 * dilation]))
        parts = [net.add("Conv", [x, net.weight(f"{name}/{part}", 6, 5, 3)], f"{name}/{part}/Conv2D", kernel_shape=[3], dilations=[dilation]) for part in ("filter", "gate")]
        y = net.add("Mul", [net.add("Tanh", [parts[0]], f"{name}/Tanh"), net.add("Sigmoid", [parts[1]], f"{name}/Sigmoid")], f"{name}/mul")
        skips = [net.add("Slice", [skip, cut, net.constant(f"{layer}/{i}/end", np.array([2**31])), net.constant(f"{layer}/{i}/axis", np.array([2]))], f"{name}/skip_{i}")
                 for i, skip in enumerate(skips)]
        skips.append(net.add("Conv", [y, net.weight(f"{name}/skip", 3, 6, 1)], f"{name}/skip/Conv2D", kernel_shape=[1]))
        x = net.add("Conv", [y, net.weight(f"{name}/next", 5, 6, 1)], f"{name}/next/Conv2D", kernel_shape=[1])
    return net.add("Relu", [net.add("Sum", skips, "net/AddN")], "net/Relu")


def renormalized(net: Net) -> str:
    """Layers of a time-delay network: rows are divided by the root of their mean square."""
    x = net.input("x", 1, 4, "S")
    for layer in range(2):
        name = f"tdnn{layer}"
        x = net.add("Relu", [net.add("Conv", [x, net.weight(f"{name}.affine", 4, 4, 3), net.weight(f"{name}.bias", 4)], f"{name}.affine.output", kernel_shape=[3])], f"{name}.relu")
        mean = net.add("ReduceMean", [net.add("Mul", [x, x], f"{name}.sq")], f"{name}.mean", axes=[1])
        root = net.add("Sqrt", [net.add("Add", [mean, net.constant(f"{name}.epsilon", F32(0.01))], f"{name}.sum")], f"{name}.sqrt")
        x = net.add("Div", [x, root], f"{name}.renorm")
    return x


def recurrent_of(kind: str, gates: int, **attributes: object) -> Callable[[Net], str]:
    def make(net: Net) -> str:
        y = recurrent(net, kind, gates, f"/rnn/{kind}", net.input("x", "S", 2, 5), **attributes)
        return net.add("Squeeze", [y, net.constant("axes", np.array([1]))], "/rnn/Squeeze:0")
    return make


def recurrent_after_convolution(net: Net) -> str:
    """The loop skips what the convolution computes before the stream begins."""
    x = net.add("Conv", [net.input("x", 1, 5, "S"), net.weight("w", 5, 5, 4), net.weight("b", 5)], "/c/Conv", kernel_shape=[4])
    y = recurrent(net, "LSTM", 4, "/rnn/LSTM", net.add("Transpose", [x], "/Transpose", perm=[2, 0, 1]))
    first = net.add("Squeeze", [y, net.constant("axes", np.array([1]))], "/rnn/Squeeze")
    z = recurrent(net, "GRU", 3, "/rnn.1/GRU", linear(net, first, 6, 5, "/between"), linear_before_reset=1)
    return net.add("Squeeze", [z, "axes"], "/rnn.1/Squeeze")


# A function and the axis of time, of the input and of the output.
STREAMS: dict[str, tuple[Callable[[Net], str], tuple[int, int]]] = {
    **{make.__name__: (make, (2, 2)) for make in (padded, causal, residual, gated_dilations, renormalized)},
    **{kind.lower(): (recurrent_of(kind, gates, **attributes), (0, 0))
       for kind, gates, attributes in (("LSTM", 4, {}), ("GRU", 3, {"linear_before_reset": 1}), ("RNN", 1, {}))},
    "recurrent_after_convolution": (recurrent_after_convolution, (2, 0)),
}


def write_stream(name: str, pulse: int, length: int, folder: Path) -> tuple[np.ndarray, np.ndarray, int]:
    """Writes the model that tract's pulse pass cuts; returns the parts of an input, the whole output, and the delay."""
    net = Net(7)
    make, (axis, _) = STREAMS[name]
    model = net.model(make(net))
    onnx.save(model, folder / "model.onnx")
    cut = tract.onnx().load(str(folder / "model.onnx")).into_model()
    cut.transform(tract.Pulse(pulse, symbol="S"))
    registry().write_model_to_dir(cut, str(folder / "model"))  # type: ignore[attr-defined]
    text = (folder / "model" / "graph.nnef").read_text()
    delay = int(re.search(r'"pulse.delay", tract_core_cast\(\[(\d+)\]', text)[1])  # type: ignore[index]
    data = net.data({"S": length})["x"]
    whole = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": data})[0]
    return np.stack(np.split(data, length // pulse, axis=axis)), whole, delay


def compare_stream(name: str, parts: np.ndarray, whole: np.ndarray, delay: int) -> None:
    """The parts are those of the whole, after the delay and before the padding at the end of the whole."""
    axis, margin = STREAMS[name][1][1], 10
    stream = np.moveaxis(np.concatenate([*parts], axis=axis), axis, 0)[delay:]
    expected = np.moveaxis(whole, axis, 0)
    count = min(len(stream), len(expected) - margin)
    assert count > 10
    np.testing.assert_allclose(stream[:count], expected[:count], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pulse", [2, 4, 5])
@pytest.mark.parametrize("name", STREAMS)
def test_stream(name: str, pulse: int, nnefc: Path, tmp_path: Path) -> None:
    parts, whole, delay = write_stream(name, pulse, 40, tmp_path)
    tool = Nnefc(nnefc, tmp_path)
    np.savez(tmp_path / "in.npz", x=parts)
    tool.must("upgrade", tmp_path / "model", "-o", tmp_path / "upgraded")
    for model in ("model", "upgraded"):
        for backend in ("reference", "fast"):
            found = tool.run(tmp_path / model, "--inputs", tmp_path / "in.npz", "--runs", len(parts), "--backend", backend)
            compare_stream(name, [*found.values()][0], whole, delay)


@pytest.mark.parametrize("name", ["lstm", "recurrent_after_convolution"])
def test_stream_in_openvino(name: str, nnefc: Path, tmp_path: Path) -> None:
    import openvino

    parts, whole, delay = write_stream(name, 4, 40, tmp_path)
    Nnefc(nnefc, tmp_path).must("compile", tmp_path / "model", "-o", tmp_path / "net.xml")
    request = openvino.Core().compile_model(str(tmp_path / "net.xml"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    found = [[*request.infer([part]).values()][0].copy() for part in parts]
    compare_stream(name, np.stack(found), whole, delay)
