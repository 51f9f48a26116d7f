"""`run --profile`: the operations and bytes of each step, by the formulas of the operations, and of networks by
published counts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

ov = pytest.importorskip("openvino")
from openvino import opset13 as op  # noqa: E402

NETWORKS = Path(__file__).resolve().parent.parent.parent / "networks"
F32 = np.float32


def parameter(*shape: int):
    return op.parameter(list(shape), F32)


def weights(*shape: int):
    return op.constant(np.full(shape, 0.1, F32))


def lengths(*values: int):
    return op.constant(np.array(values, np.int32))


def recurrent(kind: str):
    """Two steps of 5 inputs and a state of 4 for a batch of 3."""
    gates = {"lstm": 4, "gru": 3, "rnn": 1}[kind]
    states = [parameter(3, 1, 4) for _ in range(2 if kind == "lstm" else 1)]
    more = [weights(1, gates * 4, 5), weights(1, gates * 4, 4), weights(1, gates * 4), 4, "forward"]
    return getattr(op, f"{kind}_sequence")(parameter(3, 2, 5), *states, lengths(2, 2, 2), *more)


# The operation, and its multiply-accumulates.
PRODUCTS = {
    "matmul": (lambda: op.matmul(parameter(2, 3, 4), parameter(2, 4, 5), False, False), 2 * 3 * 4 * 5),
    "matmul_of_transposes": (lambda: op.matmul(parameter(4, 3), parameter(5, 4), True, True), 3 * 4 * 5),
    "matmul_of_vectors": (lambda: op.matmul(parameter(7), parameter(7), False, False), 7),
    "convolution": (lambda: op.convolution(parameter(2, 3, 8, 9), weights(5, 3, 3, 2), [2, 1], [1, 0], [1, 0], [1, 1]),
                    2 * 5 * 4 * 8 * 3 * 3 * 2),
    "group_convolution": (lambda: op.group_convolution(parameter(1, 6, 8), weights(3, 4, 2, 3), [1], [0], [0], [1]),
                          12 * 6 * 2 * 3),
    "transposed": (lambda: op.convolution_backprop_data(parameter(1, 3, 4, 4), weights(3, 5, 2, 2), [2, 2]),
                   3 * 4 * 4 * 5 * 2 * 2),
    "transposed_groups": (lambda: op.group_convolution_backprop_data(parameter(1, 4, 5), weights(2, 2, 3, 4), [2]),
                          4 * 5 * 3 * 4),
    "lstm_cell": (lambda: op.lstm_cell(parameter(3, 5), parameter(3, 4), parameter(3, 4), weights(16, 5), weights(16, 4),
                                       weights(16), 4), 3 * 16 * (5 + 4)),
    "gru_cell": (lambda: op.gru_cell(parameter(3, 5), parameter(3, 4), weights(12, 5), weights(12, 4), weights(12), 4),
                 3 * 12 * (5 + 4)),
    "rnn_cell": (lambda: op.rnn_cell(parameter(3, 5), parameter(3, 4), weights(4, 5), weights(4, 4), weights(4), 4,
                                     ["tanh"], [], []), 3 * 4 * (5 + 4)),
    "lstm_sequence": (lambda: recurrent("lstm"), 2 * 3 * 16 * (5 + 4)),
    "gru_sequence": (lambda: recurrent("gru"), 2 * 3 * 12 * (5 + 4)),
    "attention": (lambda: op.scaled_dot_product_attention(parameter(2, 3, 5, 8), parameter(2, 3, 7, 8),
                                                          parameter(2, 3, 7, 4)), 2 * 3 * 5 * 7 * (8 + 4)),
    # Operations other than matrix multiplications.
    "einsum": (lambda: op.einsum([parameter(2, 3, 4), parameter(3, 4, 5)], "aij,ijb->aijb"), 2 * 3 * 4 * 5),
    "einsum_of_batches": (lambda: op.einsum([parameter(6, 2, 3), parameter(6, 3, 5)], "...ij,...jk->...ijk"),
                          6 * 2 * 3 * 5),
}


def profile(nnefc: Path, *arguments: object) -> dict:
    done = subprocess.run([nnefc, "run", *map(str, arguments), "--random-inputs", "1", "--profile", "--format", "json"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("backend", ["reference", "fast"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(nnefc: Path, tmp_path: Path, name: str, backend: str) -> None:
    make, products = PRODUCTS[name]
    node = make()
    reads = [source.get_source_output().get_node() for source in node.inputs()]
    inputs = [source for source in reads if source.get_type_name() == "Parameter"]
    model = ov.Model([op.result(output) for output in node.outputs()], inputs, "net")
    ov.save_model(model, tmp_path / "net.xml", compress_to_fp16=False)
    report = profile(nnefc, tmp_path / "net.xml", "--backend", backend)
    made = [step for step in report["profile"] if step["operation"] == node.get_type_name()]
    assert [step["operations"] for step in made] == [2 * products]
    ports = [*(source.get_source_output() for source in node.inputs()), *node.outputs()]
    assert made[0]["bytes"] == sum(port.get_element_type().size * int(np.prod(list(port.shape))) for port in ports)


# Billions of multiply-accumulates in torchvision's documentation, and the tolerance for our form of the network.
PUBLISHED = {"resnet50": (4.09, 0.02), "mobilenetv2": (0.30, 0.04), "vgg19": (19.63, 0.01)}


@pytest.mark.parametrize("network", PUBLISHED)
def test_networks(nnefc: Path, network: str) -> None:
    billions, within = PUBLISHED[network]
    report = profile(nnefc, NETWORKS / f"{network}.nnef", "--random-weights", 1, "--iterations", 2)
    total = sum(step["operations"] for step in report["profile"])
    assert total / 2e9 == pytest.approx(billions, rel=within)
    # The peak was measured with this number of threads: only Winograd convolutions exceed it.
    seconds = sum(step["milliseconds"] for step in report["profile"]) / 1e3
    assert 0 < total / seconds < 4 * report["peak_operations_per_second"]


def test_elementwise_and_views(nnefc: Path, tmp_path: Path) -> None:
    x = parameter(2, 3)
    y = op.tanh(op.reshape(x, op.constant(np.array([3, 2], np.int64)), False))
    ov.save_model(ov.Model([op.result(y)], [x], "net"), tmp_path / "net.xml")
    steps = profile(nnefc, tmp_path / "net.xml")["profile"]
    assert [(step["operation"], step["operations"], step["bytes"]) for step in steps] == [("Tanh", 6, 48)]


def test_iterations_are_of_a_profile(nnefc: Path) -> None:
    command = [nnefc, "run", NETWORKS / "mobilenetv2.nnef", "--random-weights", "1", "--random-inputs", "1"]
    done = subprocess.run([*command, "--iterations", "3"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "--profile" in done.stderr
