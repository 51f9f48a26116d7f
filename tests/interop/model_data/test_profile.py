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


SCOPES = """version 1.0;
extension KHR_enable_fragment_definitions;
fragment inner( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = tanh(x);
}
fragment outer( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    a = inner(x);
    y = matmul(a, a);
}
graph net( x ) -> ( y )
{
    x = external(shape = [16, 16]);
    b = outer(x);
    c = outer(b);
    y = sin(c);
}
"""


def test_trace_and_folded_stacks(nnefc: Path, tmp_path: Path) -> None:
    """Steps of a trace follow each other within the events of their fragments; folded stacks have the same frames."""
    (tmp_path / "net.nnef").write_text(SCOPES, encoding="utf-8")
    words = [nnefc, "run", "net.nnef", "--random-inputs", "1", "--trace", "trace.json", "--folded", "net.folded", "--profile",
             "--iterations", "3", "--format", "json", "-o", "out.npz"]
    done = subprocess.run([str(word) for word in words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    steps = report["profile"]
    trace = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    events = trace["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X"}
    complete = [event for event in events if event["ph"] == "X"]
    assert all(event["pid"] == 1 and event["tid"] == 1 and event["dur"] >= 0 for event in complete)
    leaves = [event for event in complete if event["cat"] != "scope"]
    assert [event["args"]["kernel"] for event in leaves] == [step["kernel"] for step in steps]
    assert [event["dur"] for event in leaves] == pytest.approx([1000 * step["milliseconds"] for step in steps])
    ends = np.cumsum([0, *(event["dur"] for event in leaves)])
    assert [event["ts"] for event in leaves] == pytest.approx(list(ends[:-1]))
    # Events with one thread are nested or apart.
    for first in complete:
        for second in complete:
            begin, end = max(first["ts"], second["ts"]), min(first["ts"] + first["dur"], second["ts"] + second["dur"])
            is_within = end - begin >= min(first["dur"], second["dur"]) - 1e-6
            assert end - begin <= 1e-6 or is_within

    def frames(leaf: dict) -> list[str]:
        middle = leaf["ts"] + leaf["dur"] / 2
        return [event["name"] for event in complete
                if event["cat"] == "scope" and event["ts"] <= middle <= event["ts"] + event["dur"]]

    stacks = [line.rpartition(" ") for line in (tmp_path / "net.folded").read_text(encoding="utf-8").splitlines()]
    assert [stack.split(";")[1:-1] for stack, _, _ in stacks] == [frames(leaf) for leaf in leaves]
    assert max(len(stack.split(";")) for stack, _, _ in stacks) == 4
    assert [int(count) for _, _, count in stacks] == pytest.approx([1e6 * step["milliseconds"] for step in steps], abs=1)
    # The sums of each kernel.
    for kernel in report["kernels"]:
        own = [step for step in steps if step["kernel"] == kernel["kernel"]]
        assert kernel["steps"] == len(own)
        assert kernel["milliseconds"] == pytest.approx(sum(step["milliseconds"] for step in own))
        assert kernel["operations"] == sum(step["operations"] for step in own)
    assert sum(kernel["steps"] for kernel in report["kernels"]) == len(steps)


def test_order_of_steps(nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text(SCOPES, encoding="utf-8")
    for order, is_sorted in (("time", True), ("execution", False)):
        words = [nnefc, "run", "net.nnef", "--random-inputs", "1", "--profile", "--sort", order]
        text = subprocess.run([str(word) for word in words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True).stdout
        table = text.split(" all; ")[0].splitlines()[1:-1]
        times = [float(line.split()[0]) for line in table]
        assert len(times) >= 5
        if is_sorted:
            assert times == sorted(times, reverse=True)
        else:
            assert "Sin" in table[-1]


@pytest.mark.parametrize(("words", "expected"), [
    (["--trace", "trace.txt"], "cannot write `trace.txt`"),
    (["--trace", "-"], "`--trace` and `--folded` write files"),
    (["--sort", "time"], "--profile"),
    (["--trace", "nowhere/trace.json"], "nowhere/trace.json")])
def test_misuse_of_traces(nnefc: Path, tmp_path: Path, words: list[str], expected: str) -> None:
    (tmp_path / "net.nnef").write_text(SCOPES, encoding="utf-8")
    done = subprocess.run([str(nnefc), "run", "net.nnef", "--random-inputs", "1", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert expected in done.stderr


def test_statistics_of_bench(nnefc: Path, tmp_path: Path) -> None:
    """Percentiles as NumPy interpolates them."""
    (tmp_path / "net.nnef").write_text(SCOPES, encoding="utf-8")
    for iterations in (1, 2, 7):
        words = [str(nnefc), "bench", "net.nnef", "--iterations", str(iterations), "--threads", "1"]
        done = subprocess.run([*words, "--format", "json"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
        report = json.loads(done.stdout)
        times = report["milliseconds"]
        assert len(times) == iterations
        for key, expected in (("mean_ms", np.mean(times)), ("median_ms", np.median(times)), ("p90_ms", np.percentile(times, 90)),
                              ("p99_ms", np.percentile(times, 99)), ("fastest_ms", min(times)), ("slowest_ms", max(times))):
            assert report[key] == pytest.approx(expected), key
        # Runs of one stream take nearly all of the time.
        assert report["runs_per_second"] <= 1000 / np.mean(times) * 1.01
