"""Identity operations between a parameter and a result: OpenVINO names the tensors of the written IR as the document
does, and returns the inputs. Variables that are stored and never read are included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")

FLOATS = np.array([[-1.5, 0.0, 2.25], [4.0, -3.0, 0.5]], np.float32)
LOGICALS = FLOATS > 0
INTEGERS = np.array([[1, 0, 2], [2, 1, 0]], np.int64)
IMAGE = np.arange(-8, 8, dtype=np.float32).reshape(1, 1, 4, 4)

OF_FLOATS = {
    "copy": "copy(x)",
    "copy of a copy": "copy(copy(x))",
    "copy_n": "copy_n(x, times = 1)[0]",
    "add": "x + 0.0",
    "add_n": "add_n([x])",
    "sub": "x - 0.0",
    "mul": "1.0 * x",
    "div": "x / 1.0",
    "pow": "x ^ 1.0",
    "neg twice": "-(-x)",
    "unary plus": "+x",
    "select": "select(true, x, 0.0)",
    "select of equal values": "select(x > 0.0, x, x)",
    "min": "min(x, x)",
    "max": "max(x, x)",
    "clamp": "clamp(x, -100.0, 100.0)",
    "transpose": "transpose(x, axes = [0, 1])",
    "transpose of the first axis": "transpose(x, axes = [0])",
    "transpose of no axis": "transpose(x, axes = [])",
    "transpose back": "transpose(transpose(x, axes = [1, 0]), axes = [1, 0])",
    "reshape": "reshape(x, shape = [2, 3])",
    "reshape to the same extents": "reshape(x, shape = [0, 0])",
    "reshape of no axis": "reshape(x, shape = [], axis_start = 1, axis_count = 0)",
    "squeeze": "squeeze(x, axes = [])",
    "unsqueeze": "unsqueeze(x, axes = [])",
    "squeeze back": "squeeze(unsqueeze(x, axes = [0]), axes = [0])",
    "split": "split(x, axis = 1, ratios = [1])[0]",
    "concat": "concat([x], axis = 0)",
    "slice": "slice(x, axes = [0], begin = [0], end = [0])",
    "slice of no axis": "slice(x, axes = [], begin = [], end = [])",
    "pad": "pad(x, padding = [(0, 0), (0, 0)])",
    "tile": "tile(x, repeats = [1, 1])",
    "cast": "cast<scalar>(x)",
    "box": "box(x, size = [1, 1])",
    "box, normalized": "box(x, size = [1, 1], normalize = true)",
    "debox": "debox(x, size = [1, 1])",
    "max_pool": "max_pool(x, size = [1, 1])",
    "avg_pool": "avg_pool(x, size = [1, 1])",
    "sum_reduce": "sum_reduce(x, axes = [])",
    "sum_reduce, normalized": "sum_reduce(x, axes = [], normalize = true)",
    "mean_reduce": "mean_reduce(x, axes = [])",
    "max_reduce": "max_reduce(x, axes = [])",
    "min_reduce": "min_reduce(x, axes = [])",
    "leaky_relu": "leaky_relu(x, alpha = 1.0)",
    "prelu": "prelu(x, 1.0)",
    "batch_normalization": "batch_normalization(x, 0.0, 1.0, 0.0, 1.0, epsilon = 0.0)",
    "local_mean_normalization": "local_mean_normalization(x, size = [1, 1]) + x",
    "local_response_normalization":
        "local_response_normalization(x, size = [1, 1], alpha = 0.0, beta = 1.0, bias = 1.0)",
}
OF_LOGICALS = {
    "copy": "copy(x)",
    "not twice": "!(!x)",
    "and": "x && true",
    "or": "x || false",
    "select": "select(x, true, false)",
    "any_reduce": "any_reduce(x, axes = [])",
    "all_reduce": "all_reduce(x, axes = [])",
    "transpose": "transpose(x, axes = [0, 1])",
    "reshape": "reshape(x, shape = [2, 3])",
    "concat": "concat([x], axis = 1)",
    "cast": "cast<logical>(x)",
    "slice": "slice(x, axes = [1], begin = [0], end = [0])",
    "tile": "tile(x, repeats = [1, 1])",
}
OF_INTEGERS = {
    "copy": "copy(x)",
    "transpose": "transpose(x, axes = [0, 1])",
    "reshape": "reshape(x, shape = [2, 3])",
    "concat": "concat([x], axis = 1)",
    "cast": "cast<integer>(x)",
    "split": "split(x, axis = 0, ratios = [2])[0]",
}
OF_IMAGES = {
    "conv by 1": "conv(x, [[[[1.0]]]], padding = [(0, 0), (0, 0)])",
    "box": "box(x, size = [1, 1, 1, 1])",
    "avg_pool": "avg_pool(x, size = [1, 1, 1, 1], padding = [(0, 0), (0, 0), (0, 0), (0, 0)])",
    "nearest_downsample": "nearest_downsample(x, factor = [1, 1])",
    "area_downsample": "area_downsample(x, factor = [1, 1])",
    "nearest_upsample": "nearest_upsample(x, factor = [1, 1])",
    "multilinear_upsample": "multilinear_upsample(x, factor = [1, 1])",
}
CASES = [(type_, data, name, text) for type_, data, forms in (
    ("scalar", FLOATS, OF_FLOATS), ("logical", LOGICALS, OF_LOGICALS), ("integer", INTEGERS, OF_INTEGERS),
    ("scalar", IMAGE, OF_IMAGES)) for name, text in forms.items()]
# Statements that the standard library cannot express in one expression.
STATEMENTS = {
    "copy_n(x, times = 1)[0]": "[y] = copy_n(x, times = 1);",
    "split(x, axis = 1, ratios = [1])[0]": "[y] = split(x, axis = 1, ratios = [1]);",
    "split(x, axis = 0, ratios = [2])[0]": "[y] = split(x, axis = 0, ratios = [2]);",
    "conv(x, [[[[1.0]]]], padding = [(0, 0), (0, 0)])":
        "f = constant(shape = [1, 1, 1, 1], value = [1.0]); y = conv(x, f, padding = [(0, 0), (0, 0)]);",
}


class CompiledDocument:
    """A document compiled to OpenVINO IR, as OpenVINO reads and compiles it."""

    def __init__(self, program: Nnefc, folder: Path, signature: str, body: str) -> None:
        document, path = folder / "net.nnef", folder / "net.xml"
        document.write_text(f"version 1.0;\nextension KHR_enable_operator_expressions;\n\n"
                            f"graph net{signature}\n{{\n{body}\n}}\n")
        program.must("compile", document, "--random-weights", 1, "-o", path)
        self.model = ov.Core().read_model(path)
        self.compiled = ov.Core().compile_model(self.model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

    def check_names(self, inputs: list[str], outputs: list[str]) -> None:
        """Checks that each input and output has its own name and no other, before and after OpenVINO's passes."""
        known = {*inputs, *outputs}
        for model in (self.model, self.compiled):
            assert [sorted(port.names & known) for port in model.inputs] == [[name] for name in inputs]
            assert [sorted(port.names) for port in model.outputs] == [[name] for name in outputs]


@pytest.fixture
def program(nnefc: Path, tmp_path: Path) -> Nnefc:
    return Nnefc(nnefc, tmp_path)


def external(type_: str, data: np.ndarray, name: str = "x") -> str:
    return f"    {name} = external<{type_}>(shape = {list(data.shape)});\n"


@pytest.mark.parametrize("type_, data, text", [pytest.param(*case[:2], case[3], id=f"{case[0]} {case[2]} {case[1].ndim}")
                                               for case in CASES])
def test_identity(program: Nnefc, tmp_path: Path, type_: str, data: np.ndarray, text: str) -> None:
    statement = STATEMENTS.get(text, f"y = {text};")
    document = CompiledDocument(program, tmp_path, "(x) -> (y)", external(type_, data) + f"    {statement}")
    document.check_names(["x"], ["y"])
    found = document.compiled({"x": data})["y"]
    assert found.dtype == data.dtype
    np.testing.assert_array_equal(found, data)


@pytest.mark.parametrize("body, outputs", [
    ("y = relu(x); z = transpose(y, axes = [0, 1]);", {"y": np.maximum(FLOATS, 0), "z": np.maximum(FLOATS, 0)}),
    ("y = transpose(x, axes = [0, 1]); z = sum_reduce(y, axes = []);", {"y": FLOATS, "z": FLOATS}),
    ("t = relu(x); y = copy(t); z = copy(t); w = concat([t], axis = 0);",
     dict.fromkeys("yzw", np.maximum(FLOATS, 0))),
    ("y = copy(x); z = relu(y);", {"y": FLOATS, "z": np.maximum(FLOATS, 0)}),
    ("[y, z] = copy_n(x, times = 2);", {"y": FLOATS, "z": FLOATS}),
    ("[y, t] = split(x, axis = 1, ratios = [1, 2]); z = box(y, size = [1, 1]);",
     {"y": FLOATS[:, :1], "z": FLOATS[:, :1]}),
    ("v = constant(shape = [1, 2], value = [1.0, 2.0]); y = copy(v); z = transpose(v, axes = []); w = relu(x);",
     {"y": np.array([[1, 2]], np.float32), "z": np.array([[1, 2]], np.float32), "w": np.maximum(FLOATS, 0)}),
])
def test_results_of_one_tensor(program: Nnefc, tmp_path: Path, body: str, outputs: dict[str, np.ndarray]) -> None:
    document = CompiledDocument(program, tmp_path, f"(x) -> ({', '.join(outputs)})",
                                external("scalar", FLOATS) + "    " + body)
    document.check_names(["x"], list(outputs))
    found = document.compiled({"x": FLOATS})
    for name, expected in outputs.items():
        np.testing.assert_array_equal(found[name], expected)


def test_parameters_crossed(program: Nnefc, tmp_path: Path) -> None:
    body = external("scalar", FLOATS) + external("scalar", FLOATS, "w") + "    y = copy(w); z = transpose(x, axes = []);"
    document = CompiledDocument(program, tmp_path, "(x, w) -> (y, z)", body)
    document.check_names(["x", "w"], ["y", "z"])
    found = document.compiled({"x": FLOATS, "w": -FLOATS})
    np.testing.assert_array_equal(found["y"], -FLOATS)
    np.testing.assert_array_equal(found["z"], FLOATS)


VARIABLE = external("scalar", FLOATS) + "    v = variable<scalar>(shape = [2, 3], label = 'v');\n"


@pytest.mark.parametrize("body, result, read_variables", [
    ("u = update(v, x);", "u", []),
    ("u = update(v, r);", "r", []),
    ("u = update(v, r); y = x + u;", "y", []),
    ("u = update(v, x); unread = v + 1.0; y = relu(x);", "y", []),
    ("u = update(v, x); y = x + v;", "y", ["v"]),
    ("u = update(v, transpose(x, axes = [])); y = x + v;", "y", ["v"]),
    ("w = variable<scalar>(shape = [2, 3], label = 'w'); u = update(v, x); t = update(w, u); y = x + w;", "y", ["w"]),
])
def test_updated_variables(program: Nnefc, tmp_path: Path, body: str, result: str, read_variables: list[str]) -> None:
    """A variable has a state in OpenVINO, whether it is read or not, with the stored value."""
    text = VARIABLE + "    r = relu(x);\n    " + body
    document = CompiledDocument(program, tmp_path, f"(x) -> ({result})", text)
    document.check_names(["x"], [result])
    request, before = document.compiled.create_infer_request(), None
    for data in (FLOATS, FLOATS * 3, FLOATS - 1):
        request.infer({"x": data})
        value = np.maximum(data, 0) if "update(v, r)" in body else data
        for state in request.query_state():
            np.testing.assert_array_equal(state.state.data, value)
        if read_variables and before is not None:
            np.testing.assert_array_equal(request.get_tensor("y").data, data + before)
        before = value.copy()


def test_swapped_variables(program: Nnefc, tmp_path: Path) -> None:
    body = external("scalar", FLOATS) + "".join(f"    {name} = variable<scalar>(shape = [2, 3], label = '{name}');\n"
                                                for name in "vw")
    document = CompiledDocument(program, tmp_path, "(x) -> (y, z)",
                                body + "    s = update(v, w); t = update(w, v); y = x * v; z = x * w;")
    document.check_names(["x"], ["y", "z"])
    request, steps = document.compiled.create_infer_request(), []
    for _ in range(3):
        request.infer({"x": np.ones_like(FLOATS)})
        steps.append([request.get_tensor(name).data.copy() for name in "yz"])
    for (y, z), (next_y, next_z) in zip(steps, steps[1:]):
        assert not np.array_equal(y, z)
        np.testing.assert_array_equal(next_y, z)
        np.testing.assert_array_equal(next_z, y)


def test_updated_logical(program: Nnefc, tmp_path: Path) -> None:
    text = external("logical", LOGICALS) + ("    s = variable<logical>(shape = [2, 3], label = 's');\n"
                                            "    u = update(s, x);")
    document = tmp_path / "net.nnef"
    document.write_text(f"version 1.0;\n\ngraph net(x) -> (u)\n{{\n{text}\n}}\n")
    program.must("compile", document, "--random-weights", 1, "-o", tmp_path / "net.xml")
    request = ov.Core().compile_model(tmp_path / "net.xml", "CPU").create_infer_request()
    for data in (LOGICALS, ~LOGICALS):
        request.infer({"x": data})
        np.testing.assert_array_equal(request.get_tensor("u").data, data)
        np.testing.assert_array_equal(request.query_state()[0].state.data, data)


def test_updated_variables_on_both_backends(program: Nnefc, tmp_path: Path) -> None:
    """On both backends of nnefc, the result of `update` is the stored value."""
    document = tmp_path / "net.nnef"
    document.write_text("version 1.0;\n\ngraph net(x) -> (u)\n{\n" + VARIABLE + "    u = update(v, x);\n}\n")
    np.save(tmp_path / "x.npy", FLOATS)
    for backend in ("reference", "fast"):
        found = program.run(document, "--random-weights", 1, "--input", f"x={tmp_path / 'x.npy'}", "--backend", backend)
        np.testing.assert_array_equal(found["u"], FLOATS)
