"""`inspect --costs`: numbers of torchvision's documentation, and sums made by hand for graphs written by OpenVINO."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

NETWORKS = Path(__file__).resolve().parent.parent.parent / "networks"
MILLION, BILLION = 1e6, 1e9


def inspect(nnefc: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([nnefc, "inspect", *map(str, arguments)], capture_output=True, text=True, timeout=120)


def costs(nnefc: Path, *arguments: object) -> dict:
    done = inspect(nnefc, "--costs", "--format", "json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["models"][0]


def saved(results: list, parameters: list, path: Path) -> Path:
    ov.save_model(ov.Model([op.result(each, name=f"r{i}") for i, each in enumerate(results)], parameters, "net"), path, compress_to_fp16=False)
    return path


def parameter(*shape: int):
    return op.parameter(list(shape), np.float32, name=f"p{'_'.join(map(str, shape))}")


def weights(*shape: int):
    return op.constant(np.random.default_rng(1).standard_normal(shape).astype(np.float32))


# Parameters (millions) and multiply-accumulates (billions) by torchvision's documentation.
PUBLISHED = {"resnet50": (25.56, 4.09), "mobilenetv2": (3.50, 0.30), "vgg19": (143.67, 19.63)}


@pytest.mark.parametrize("network", PUBLISHED)
def test_published_networks(nnefc: Path, network: str) -> None:
    parameters, macs = PUBLISHED[network]
    total = costs(nnefc, NETWORKS / f"{network}.nnef")
    assert total["parameters"] == pytest.approx(parameters * MILLION, rel=0.005)
    assert total["macs"] == pytest.approx(macs * BILLION, rel=0.005)
    for key in ("parameters", "parameter_bytes", "macs", "output_bytes"):
        assert sum(each[key] for each in total["operations"]) == total[key]


def vision_transformer(path: Path) -> Path:
    """Writes ViT-B/16 with 224 x 224 pixels without data: 12 layers of 12 heads for 196 patches and a class token."""
    names: list[str] = []
    lines: list[str] = []

    def variable(*shape: int) -> str:
        names.append(f"w{len(names)}")
        lines.append(f"{names[-1]} = variable<scalar>(shape = {list(shape)}, label = '{names[-1]}');")
        return names[-1]

    def linear(y: str, x: str, inputs: int, outputs: int) -> None:
        lines.append(f"{y} = add(matmul({x}, {variable(1, inputs, outputs)}), {variable(1, 1, outputs)});")

    def normalize(y: str, x: str) -> None:
        lines.append(f"{y}_mean, {y}_variance = moments({x}, axes = [2]);")
        lines.append(f"{y} = ({x} - {y}_mean) / sqrt({y}_variance + 0.000001) * {variable(1, 1, 768)} + {variable(1, 1, 768)};")

    lines.append("image = external<scalar>(shape = [1, 3, 224, 224]);")
    lines.append(f"patches = conv(image, {variable(768, 3, 16, 16)}, {variable(1, 768)}, stride = [16, 16], padding = [(0, 0), (0, 0)]);")
    lines.append("flat = transpose(reshape(patches, shape = [1, 768, 196]), axes = [0, 2, 1]);")
    lines.append(f"x0 = concat([{variable(1, 1, 768)}, flat], axis = 1) + {variable(1, 197, 768)};")
    for i in range(12):
        normalize(f"a{i}", f"x{i}")
        linear(f"b{i}", f"a{i}", 768, 3 * 768)
        lines.append(f"[q{i}, k{i}, v{i}] = split(b{i}, axis = 2, ratios = [1, 1, 1]);")
        for name in "qkv":
            lines.append(f"{name}{i}h = transpose(reshape({name}{i}, shape = [1, 197, 12, 64]), axes = [0, 2, 1, 3]);")
        lines.append(f"s{i} = softmax(matmul(q{i}h, k{i}h, transposeB = true) * 0.125, axes = [3]);")
        lines.append(f"o{i} = reshape(transpose(matmul(s{i}, v{i}h), axes = [0, 2, 1, 3]), shape = [1, 197, 768]);")
        linear(f"p{i}", f"o{i}", 768, 768)
        lines.append(f"r{i} = x{i} + p{i};")
        normalize(f"n{i}", f"r{i}")
        linear(f"m{i}", f"n{i}", 768, 3072)
        lines.append(f"g{i} = gelu(m{i});")
        linear(f"l{i}", f"g{i}", 3072, 768)
        lines.append(f"x{i + 1} = r{i} + l{i};")
    normalize("last", "x12")
    lines.append("token = slice(last, axes = [1], begin = [0], end = [1]);")
    linear("logits", "token", 768, 1000)
    body = "".join(f"    {line}\n" for line in lines)
    path.write_text(f"version 1.0;\nextension KHR_enable_operator_expressions;\n\ngraph vit(image) -> (logits)\n{{\n{body}}}\n")
    return path


def test_published_vision_transformer(nnefc: Path, tmp_path: Path) -> None:
    """By torchvision's documentation, ViT-B/16 has 86,567,656 parameters and 17.56 billion multiply-accumulates."""
    total = costs(nnefc, vision_transformer(tmp_path / "vit.nnef"))
    assert total["parameters"] == 86_567_656
    assert total["macs"] == pytest.approx(17.56 * BILLION, rel=0.005)


def test_each_operation(nnefc: Path, tmp_path: Path) -> None:
    """The second convolution shares the weights of the first, and the input is needed until the addition."""
    x, w = parameter(1, 4, 6, 6), weights(4, 4, 3, 3)
    first = op.convolution(x, w, [1, 1], [1, 1], [1, 1], [1, 1])
    second = op.convolution(first, w, [1, 1], [1, 1], [1, 1], [1, 1])
    y = op.add(op.relu(op.add(second, weights(1, 4, 1, 1))), x)
    total = costs(nnefc, saved([y], [x], tmp_path / "net.xml"))
    image = 4 * 6 * 6 * 4
    macs = 4 * 6 * 6 * 4 * 9
    rows = [(each["operation"], each["parameters"], each["parameter_bytes"], each["macs"], each["output_bytes"]) for each in total["operations"]]
    assert rows == [("Convolution", 144, 576, macs, image), ("Convolution", 0, 0, macs, image), ("Add", 4, 16, 0, image),
                    ("ReLU", 0, 0, 0, image), ("Add", 0, 0, 0, image)]
    assert (total["parameters"], total["macs"], total["output_bytes"]) == (148, 2 * macs, 5 * image)
    assert (total["peak_bytes"], total["peak_operation"]) == (3 * image, second.get_friendly_name())


def test_memory_of_several_users(nnefc: Path, tmp_path: Path) -> None:
    """An output is released after its last use, not after its first; an unused one at once."""
    x = parameter(100)
    a = op.relu(x)
    b = op.tanh(a)
    c = op.sigmoid(b)
    parts = op.split(op.add(c, a), op.constant(np.int64(0)), 2)
    total = costs(nnefc, saved([parts.output(0)], [x], tmp_path / "net.xml"))
    # `a` is alive while `b` and `c` are made, and `a`, `c` while their sum is.
    assert total["peak_bytes"] == 3 * 400
    assert total["output_bytes"] == 5 * 400


def test_constants(nnefc: Path, tmp_path: Path) -> None:
    """Integers and scalars are no parameters; weights that a conversion reads count as they are stored."""
    x = parameter(2, 8)
    half = op.convert(op.constant(np.ones((8, 3), np.float16)), np.float32)
    y = op.multiply(op.matmul(x, half, False, False), op.constant(np.float32(3)))
    y = op.reshape(y, op.constant(np.array([3, 2], np.int64)), False)
    total = costs(nnefc, saved([y], [x], tmp_path / "net.xml"))
    assert (total["parameters"], total["macs"]) == (24, 2 * 8 * 3)
    assert total["parameter_bytes"] in (48, 96)  # folding makes f32 of them


def loop(steps: int, tmp_path: Path) -> Path:
    x, state = parameter(2, steps, 5), parameter(2, 1, 4)
    part, before = parameter(2, 1, 5), parameter(2, 1, 4)
    after = op.add(op.matmul(part, weights(5, 4), False, False), before)
    iterator = op.tensor_iterator()
    body = ov.Model([op.result(after, name="after")], [part, before], "body")
    iterator.set_function(body)
    iterator.set_sliced_input(part, x.output(0), 0, 1, 1, -1, 1)
    iterator.set_merged_input(before, state.output(0), after.output(0))
    last = iterator.get_iter_value(after.output(0), -1)
    return saved([last], [x, state], tmp_path / "loop.xml")


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_loops_count_each_iteration(nnefc: Path, tmp_path: Path, steps: int) -> None:
    total = costs(nnefc, loop(steps, tmp_path))
    assert (total["macs"], total["parameters"]) == (steps * 2 * 5 * 4, 5 * 4)


def test_branches_count_the_costlier_one(nnefc: Path, tmp_path: Path) -> None:
    x, condition = parameter(2, 6), op.parameter([], np.bool_, name="c")
    inner, other = parameter(2, 6), parameter(2, 6)
    choice = op.if_op(condition)
    then = ov.Model([op.result(op.matmul(inner, weights(6, 3), False, False), name="t")], [inner], "then")
    otherwise = op.matmul(op.matmul(other, weights(6, 9), False, False), weights(9, 3), False, False)
    choice.set_then_body(then)
    choice.set_else_body(ov.Model([op.result(otherwise, name="e")], [other], "else"))
    choice.set_input(x.output(0), inner, other)
    result = choice.set_output(then.results[0], choice.get_else_body().results[0])
    assert costs(nnefc, saved([result], [x, condition], tmp_path / "if.xml"))["macs"] == 2 * 9 * (6 + 3)


def test_open_extents_are_an_error(nnefc: Path, tmp_path: Path) -> None:
    x = op.parameter(ov.PartialShape([-1, 4]), np.float32, name="x")
    path = saved([op.relu(x)], [x], tmp_path / "net.xml")
    done = inspect(nnefc, path, "--costs")
    assert (done.returncode, done.stdout) == (1, "")
    assert "set them where the model is converted" in done.stderr
    document = tmp_path / "net.nnef"
    document.write_text("version 1.0\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [0, 4])\n    y = relu(x)\n}\n")
    assert "--input-shape NAME=EXTENTS" in inspect(nnefc, document, "--costs").stderr
    assert costs(nnefc, document, "--input-shape", "x=3,4")["output_bytes"] == 48


def test_text_and_csv(nnefc: Path) -> None:
    network = NETWORKS / "mobilenetv2.nnef"
    text = inspect(nnefc, network, "--costs", "--layers", 2).stdout.splitlines()
    assert text[1] == "parameters  3.5 M, 14.0 MB"
    assert text[-1].startswith("  ... and ") and len(text) == 8
    rows = list(csv.DictReader(io.StringIO(inspect(nnefc, network, "--csv").stdout)))
    total = costs(nnefc, network)
    assert [row["name"] for row in rows] == [each["name"] for each in total["operations"]]
    assert sum(int(row["macs"]) for row in rows) == total["macs"]
