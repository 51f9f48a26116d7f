#!/usr/bin/env python3
"""Tests an installed package with numpy alone: smoke.py NETWORK

NETWORK is a document for which oneDNN has kernels, such as GoogLeNet. `--onnx FOLDER` names a model with its data and a
file model.onnx, for which ONNX Runtime computes the same outputs.
"""

import argparse
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings

import numpy as np

import nnefc


def assert_close(actual: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    for name, value in actual.items():
        assert np.isfinite(value).all(), name
        assert np.abs(value - expected[name]).max() <= 1e-4 * np.abs(expected[name]).max(), name


def compare_with_onnx(folder: str) -> None:
    import onnxruntime  # noqa: PLC0415, there for this comparison alone

    executable = nnefc.load(folder).compile()
    inputs = executable.random_inputs(2)
    session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    assert_close(executable.run(inputs), dict(zip(names, session.run(names, inputs), strict=True)))
    print(f"{folder}: as ONNX Runtime {onnxruntime.__version__} computes it")


def compare_with_openvino(network: str) -> None:
    """Checks that the package has OpenVINO's front end for the installed release of OpenVINO."""
    import openvino  # noqa: PLC0415

    import nnefc.openvino  # noqa: PLC0415

    assert nnefc.openvino.front_end_library() is not None, f"no front end for OpenVINO {openvino.__version__}"
    model = nnefc.load(network, random_weights=1)
    executable = model.compile()
    inputs = executable.random_inputs(2)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.tgz"
        nnefc.load(model.expand(), variables=model.variables).save(path)
        compiled = openvino.compile_model(openvino.convert_model(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(list(inputs.values()))
    assert_close(executable.run(inputs), dict(zip((port.name for port in model.outputs), results.values(), strict=True)))
    print(f"{network}: as OpenVINO {openvino.__version__} computes it")


def check_libraries(network: str, has_onednn: bool) -> None:
    """Checks the libraries that nnefc opens on demand."""
    loaded = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    assert ("libnnefc_onednn" in loaded) == has_onednn, f"{network} runs without oneDNN: another network must test it"
    done = subprocess.run(["nnefc", "run", network, "--random-weights", "1", "--random-inputs", "1"], capture_output=True, text=True, check=True)
    if has_onednn:
        assert done.stderr == "", done.stderr
    else:
        assert "this build of nnefc is without oneDNN" in done.stderr, done.stderr
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.tar.xz"
        with tarfile.open(path, "w:xz") as archive:
            archive.add(network, "graph.nnef")
        report = nnefc.check(path)
        assert report, report


EXTENSION = """
from nnefc.mo.front.common.replacement import FrontReplacementOp
from nnefc.mo.ops.op import Op


class ReluToAbs(FrontReplacementOp):
    op = "relu"

    def replace_op(self, graph, node):
        return [Op(graph, {"op": "Abs"}).create_node([node.in_port(0)]).id]
"""


def check_extensions(network: str) -> None:
    """Checks that the command line runs transformations in Python."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "relu.py").write_text(EXTENSION)
        words = ["nnefc", "compile", network, "--extensions", folder]
        graph = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert ".Abs" in graph, graph
    assert ".Relu" not in graph, graph


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network")
    parser.add_argument("--reference", action="store_true", help="compare both backends")
    parser.add_argument("--onnx", metavar="FOLDER", help="compare with ONNX Runtime")
    parser.add_argument("--without-onednn", action="store_true", help="the package is built without oneDNN, and reports it")
    parser.add_argument("--openvino", action="store_true", help="compare with OpenVINO")
    options = parser.parse_args()
    # Python reports so that oneDNN is missing.
    warnings.filterwarnings("ignore" if options.without_onednn else "error", category=RuntimeWarning)
    start = time.monotonic()
    network = options.network
    report = nnefc.check(network)
    assert report, report
    model = nnefc.load(network, random_weights=1)
    inputs = model.compile().random_inputs(1)
    fast = model.compile().run(inputs)
    plain = model.compile(backend="reference").run(inputs) if options.reference else fast
    assert_close(fast, plain)
    check_libraries(network, has_onednn=not options.without_onednn)
    if options.onnx:
        compare_with_onnx(options.onnx)
    if options.openvino:
        compare_with_openvino(network)
    told = subprocess.run(["nnefc", "--version"], capture_output=True, text=True, check=True).stdout
    assert nnefc.__version__ in told, told
    module = subprocess.run([sys.executable, "-m", "nnefc", "check", network], check=False)
    assert module.returncode == 0
    check_extensions(network)
    print(f"{nnefc.__file__}: {network} checked and run in {time.monotonic() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
