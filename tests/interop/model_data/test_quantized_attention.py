"""Attention of quantized tensors, as NNCF writes it, of matmuls and as one operation: by NumPy in f64, for all instruction sets."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from processor import has_lanes, has_wide_vnni

F32 = np.float32
TOKENS, HEADS, TERMS = 200, 2, 96
# Scales and zero points of queries, keys, probabilities, values and results.
QUERIES, KEYS, VALUES = (0.02, 131), (0.03, 128), (0.05, 90)
PROBABILITIES, RESULTS = (1 / 255 / 8, 0), (0.03, 120)


def quantized(x: np.ndarray, by: tuple[float, int]) -> np.ndarray:
    scale, zero = by
    return (np.clip(np.rint(x / scale) + zero, 0, 255) - zero) * scale


def fake_quantize(x: ov.Node, by: tuple[float, int]) -> ov.Node:
    scale, zero = by
    low, high = np.asarray(-zero * scale, F32), np.asarray((255 - zero) * scale, F32)
    return op.fake_quantize(x, low, high, low, high, 256)


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def named(shape: list[int], name: str) -> ov.Node:
    parameter = op.parameter(shape, F32, name=name)
    parameter.output(0).set_names({name})
    return parameter


def run(nnefc: Path, model: ov.Model, inputs: dict[str, np.ndarray], folder: Path, instructions: str) -> tuple[np.ndarray, str]:
    ov.save_model(model, folder / "net.xml", compress_to_fp16=False)
    np.savez(folder / "in.npz", **inputs)
    environment = {**os.environ, **({"ONEDNN_MAX_CPU_ISA": instructions} if instructions else {})}
    done = subprocess.run([nnefc, "run", folder / "net.xml", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz",
                           "--profile"], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "out.npz")["y"], done.stdout + done.stderr


@pytest.mark.parametrize("instructions", ["", "AVX512_CORE", "AVX2_VNNI", "AVX2"])
@pytest.mark.parametrize("function", ["softmax", "squares"])
@pytest.mark.parametrize("transposed", ["keys", "transpose_b"])
def test_attention(function: str, transposed: str, instructions: str, nnefc: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    data = {name: random.normal(size=[1, TOKENS, HEADS * TERMS]).astype(F32) for name in "qkv"}
    parameters = [named([1, TOKENS, HEADS * TERMS], name) for name in "qkv"]

    def heads(x: ov.Node, by: tuple[float, int], order: list[int]) -> ov.Node:
        parts = op.reshape(fake_quantize(x, by), np.asarray([1, TOKENS, HEADS, TERMS]), False)
        return op.transpose(parts, np.asarray(order))

    is_flag = transposed == "transpose_b"
    q, v = heads(parameters[0], QUERIES, [0, 2, 1, 3]), heads(parameters[2], VALUES, [0, 2, 1, 3])
    k = heads(parameters[1], KEYS, [0, 2, 1, 3] if is_flag else [0, 2, 3, 1])
    scale = F32(1 / np.sqrt(TERMS))
    scores = op.multiply(op.matmul(q, k, False, is_flag), scale)
    if function == "softmax":
        scores = op.softmax(scores, -1)
    else:  # a gated attention unit
        scores = op.multiply(op.relu(scores), np.asarray(0.02, F32))
    product = op.matmul(fake_quantize(scores, PROBABILITIES), v, False, False)
    result = op.result(fake_quantize(product, RESULTS))
    result.input_value(0).set_names({"y"})
    found, profile = run(nnefc, ov.Model([result], parameters), data, tmp_path, instructions)

    parts = [quantized(data[name].astype(np.float64), by).reshape(1, TOKENS, HEADS, TERMS).transpose(0, 2, 1, 3)
             for name, by in (("q", QUERIES), ("k", KEYS), ("v", VALUES))]
    numbers = parts[0] @ parts[1].swapaxes(-1, -2) * float(scale)
    numbers = softmax(numbers) if function == "softmax" else np.maximum(numbers, 0) * 0.02
    numbers = quantized(quantized(numbers, PROBABILITIES) @ parts[2], RESULTS)
    steps = np.abs(found - numbers) / RESULTS[0]
    # Numbers nearly halfway between two quantized values may become the other one.
    assert steps.max() < 1.01 and np.count_nonzero(steps > 0.01) <= 0.004 * steps.size
    assert np.unique(numbers).size > 10
    if has_lanes() and instructions in ("AVX512_CORE", "AVX2"):  # without VNNI, whatever the processor
        assert "int8_tensors" not in profile
    if has_wide_vnni() and not instructions:
        products = [line for line in profile.splitlines() if "MatMul" in line]
        assert len(products) >= 2 and all("int8_tensors" in line for line in products)


def check_operation(queries: int, keys: int, width: int, values: int, mask: str, by: tuple[tuple[float, int], tuple[float, int]],
                    instructions: str, nnefc: Path, folder: Path, threads: int = 1) -> str:
    """Compares ScaledDotProductAttention of two batch elements and three heads; returns the profile."""
    random = np.random.default_rng(queries * 7 + keys)

    def apart_from_ties(shape: list[int], one: tuple[float, int]) -> np.ndarray:
        steps = np.rint(random.normal(size=shape) / one[0]) + random.uniform(-0.4, 0.4, shape)
        return (steps * one[0]).astype(F32)

    data = {"q": apart_from_ties([2, queries, 3 * width], by[0]), "k": apart_from_ties([2, keys, 3 * width], by[1]),
            "v": random.normal(size=[2, keys, 3 * values]).astype(F32)}
    parameters = [named(list(numbers.shape), name) for name, numbers in data.items()]

    def heads(x: ov.Node, tokens: int, each: int) -> ov.Node:
        return op.transpose(op.reshape(x, np.asarray([2, tokens, 3, each]), False), np.asarray([0, 2, 1, 3]))

    operands = [heads(fake_quantize(parameters[0], by[0]), queries, width), heads(fake_quantize(parameters[1], by[1]), keys, width),
                heads(parameters[2], keys, values)]
    masks = {"boolean": random.random([queries, keys]) < 0.7, "additive": random.normal(size=[3, 1, keys]).astype(F32),
             "scaled": np.zeros([], F32)}
    if mask in masks:
        if mask == "boolean":
            masks[mask][:, 0] = True
        operands.append(op.constant(masks[mask]))
    if mask == "scaled":
        operands.append(op.constant(F32(0.4)))
    result = op.result(op.scaled_dot_product_attention(*operands, causal=mask == "causal"))
    result.input_value(0).set_names({"y"})
    model = ov.Model([result], parameters)
    found, profile = run(nnefc, model, data, folder, instructions)

    q, k = (quantized(data[name].astype(np.float64), one).reshape(2, -1, 3, width).swapaxes(1, 2) for name, one in zip("qk", by))
    scores = q @ k.swapaxes(-1, -2) * (0.4 if mask == "scaled" else 1 / np.sqrt(width))
    if mask == "causal":
        scores = np.where(np.tri(queries, keys, dtype=bool), scores, -np.inf)
    elif mask == "boolean":
        scores = np.where(masks[mask], scores, -np.inf)
    elif mask == "additive":
        scores = scores + masks[mask]
    expected = softmax(scores) @ data["v"].astype(np.float64).reshape(2, keys, 3, values).swapaxes(1, 2)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(expected).max())
    return profile


@pytest.mark.parametrize("mask", ["none", "causal", "boolean", "additive", "scaled"])
@pytest.mark.parametrize(("queries", "keys", "width", "values"), [
    (8, 1, 1, 1), (15, 16, 4, 16), (16, 17, 5, 15), (29, 33, 7, 33), (57, 31, 64, 64), (300, 320, 32, 48), (8, 65, 66, 20)])
def test_operation(queries: int, keys: int, width: int, values: int, mask: str, nnefc: Path, tmp_path: Path) -> None:
    profile = check_operation(queries, keys, width, values, mask, (QUERIES, KEYS), "", nnefc, tmp_path)
    if has_wide_vnni():
        assert "int8_attention" in profile


@pytest.mark.parametrize("instructions", ["", "AVX512_CORE", "AVX2_VNNI", "AVX2"])
@pytest.mark.parametrize("zeros", [(0, 0), (255, 255), (0, 255), (128, 127), (127, 128), (77, 200)])
def test_zero_points_of_an_operation(zeros: tuple[int, int], instructions: str, nnefc: Path, tmp_path: Path) -> None:
    by = ((0.02, zeros[0]), (0.03, zeros[1]))
    profile = check_operation(33, 47, 24, 16, "none", by, instructions, nnefc, tmp_path)
    if has_lanes() and instructions in ("AVX512_CORE", "AVX2"):
        assert "int8_attention" not in profile
