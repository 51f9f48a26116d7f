"""Runs: arrays in and out, threads, errors, memory."""

import ast
import gc
import os
import resource
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import SUM

import nnefc

BIG = """version 1.0;
graph net(x) -> (y)
{{
    x = external<scalar>(shape = [{count}]);
    y = max_reduce(x, axes = [0]);
}}
"""

# Rows of a table that begins one element after the beginning of its file.
TABLE = """<?xml version="1.0"?>
<net name="net" version="11"><layers>
  <layer id="0" name="i" type="Parameter" version="opset1"><data shape="1" element_type="i64"/>
    <output><port id="0" precision="I64"><dim>1</dim></port></output></layer>
  <layer id="1" name="table" type="Const" version="opset1">
    <data element_type="f32" shape="{rows},1000" offset="4" size="{size}"/>
    <output><port id="0" precision="FP32"><dim>{rows}</dim><dim>1000</dim></port></output></layer>
  <layer id="2" name="axis" type="Const" version="opset1">
    <data element_type="i64" shape="" offset="{end}" size="8"/>
    <output><port id="0" precision="I64"/></output></layer>
  <layer id="3" name="y" type="Gather" version="opset8"><data batch_dims="0"/>
    <input><port id="0"><dim>{rows}</dim><dim>1000</dim></port><port id="1"><dim>1</dim></port><port id="2"/></input>
    <output><port id="3" precision="FP32"><dim>1</dim><dim>1000</dim></port></output></layer>
  <layer id="4" name="out" type="Result" version="opset1">
    <input><port id="0"><dim>1</dim><dim>1000</dim></port></input></layer>
</layers><edges>
  <edge from-layer="1" from-port="0" to-layer="3" to-port="0"/>
  <edge from-layer="0" from-port="0" to-layer="3" to-port="1"/>
  <edge from-layer="2" from-port="0" to-layer="3" to-port="2"/>
  <edge from-layer="3" from-port="3" to-layer="4" to-port="0"/>
</edges></net>
"""


CONVOLUTION = """version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [1, 32, 20, 20]);
    w = variable<scalar>(shape = [48, 32, 3, 3], label = 'w');
    y = conv(x, w);
}
"""


@pytest.fixture(name="add")
def add_fixture() -> nnefc.Executable:
    """Compiles the sum of two matrices."""
    return nnefc.load(SUM).compile()


A = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.array([[2, 4, 8], [16, 32, 64]], np.float32)


def test_inputs_are_given_by_name_by_order_or_as_a_dictionary(add):
    for outputs in (add(a=A, b=B), add(A, B), add(A, b=B), add.run({"a": A, "b": B})):
        assert list(outputs) == ["y"]
        assert outputs["y"].dtype == np.float32
        np.testing.assert_array_equal(outputs["y"], A + B)


@pytest.mark.parametrize(
    "form",
    [
        lambda x: np.asfortranarray(x),
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: x[::-1][::-1],
        lambda x: x.astype(np.float64),
        lambda x: x.astype(np.float16),
        lambda x: x.astype(">f4"),
        lambda x: x.tolist(),
        lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(x.shape),
        lambda x: np.broadcast_to(x, x.shape),
        lambda x: memoryview(np.ascontiguousarray(x)),
    ],
    ids=["fortran", "strided", "reversed", "f64", "f16", "big-endian", "list", "unaligned", "read-only", "memoryview"],
)
def test_any_layout_and_float_gives_the_same(add, form):
    given = form(A)
    np.testing.assert_array_equal(add(given, form(B))["y"], A + B)


def test_what_speaks_dlpack_alone_is_taken(add):
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **given):
            return self.array.__dlpack__(**given)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    outputs = add(Foreign(A), Foreign(B))
    np.testing.assert_array_equal(np.from_dlpack(outputs["y"]), A + B)


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"a": A}, nnefc.InputError, "`b`"),
        ({"a": A, "b": B, "c": B}, nnefc.InputError, "`c`.*`a`, `b`"),
        ({"a": A, "b": B.astype(np.int32)}, nnefc.InputError, "`b`.*i32.*f32"),
        ({"a": A, "b": B > 0}, nnefc.InputError, "`b`.*boolean.*f32"),
        ({"a": A, "b": B.astype(np.complex64)}, TypeError, "`b`.*complex64"),
        ({"a": A, "b": [["x"] * 3] * 2}, TypeError, "`b`.*list"),
        ({"a": A, "b": None}, TypeError, "`b`.*NoneType"),
        ({"a": A, "b": [[1.0], [2.0, 3.0]]}, TypeError, "`b`"),
        ({"a": A, "b": B.astype(np.longdouble)}, TypeError, "`b`.*longdouble|`b`.*float128"),
        ({1: A, "b": B}, TypeError, "`int`"),
    ],
)
def test_what_does_not_fit_is_told_by_name(add, given, error, told):
    with pytest.raises(error, match=told):
        add.run(given)
    np.testing.assert_array_equal(add(A, B)["y"], A + B)


def test_a_wrong_shape_is_told(add):
    with pytest.raises(nnefc.InputError, match=r"`b`.*\[3,2\].*\[2,3\]") as failure:
        add(A, B.T)
    assert failure.value.diagnostics[0].rule == "input.shape"
    with pytest.raises(nnefc.InputError, match=r"\[0,3\]"):
        add(A, B[:0])
    with pytest.raises(TypeError, match="2 inputs"):
        add(A, B, A)
    with pytest.raises(TypeError, match="twice"):
        add(A, a=B)


def test_outputs_are_the_users_and_outlive_all(add):
    first = add(A, B)["y"]
    kept = first.copy()
    second = add(B, B)["y"]
    np.testing.assert_array_equal(first, kept)
    first[:] = 0
    np.testing.assert_array_equal(second, B + B)
    del add
    gc.collect()
    np.testing.assert_array_equal(second, B + B)


def test_inputs_are_let_go_after_the_run(add):
    import weakref

    class Mine(np.ndarray):
        pass

    given = A.copy().view(Mine)
    watched = weakref.ref(given)
    add(given, B)
    del given
    gc.collect()
    assert watched() is None


def resident_peak() -> int:
    """Returns the peak memory of this process, in bytes, since it was last reset."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def begin_peak() -> int:
    """Resets the peak to the current memory, and returns that."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as refs:
        refs.write("5")
    return resident_peak()


def test_a_large_input_is_not_copied():
    count = 25_000_000  # 100 MB
    executable = nnefc.load(BIG.format(count=count)).compile(threads=1)
    x = np.zeros(count, np.float32)
    x[count // 3] = 5
    session = executable.session()
    before = begin_peak()
    for run in (lambda: session(x), lambda: session(memoryview(x))):
        assert run()["y"] == 5
    assert resident_peak() - before < 20e6


def test_weights_of_a_file_are_read_where_they_lie(tmp_path):
    rows = 25_000  # 100 MB
    size = rows * 4000
    (tmp_path / "net.xml").write_text(TABLE.format(rows=rows, size=size, end=size + 4))
    with open(tmp_path / "net.bin", "wb") as weights:
        weights.seek(4 + 20_000 * 4000)
        np.arange(1000, dtype=np.float32).tofile(weights)
        weights.truncate(size + 12)
    nnefc.load(SUM).compile()  # the memory of the first network
    before = begin_peak()
    model = nnefc.load(tmp_path / "net.xml")
    (row,) = model.compile(threads=1)(np.array([20_000])).values()
    np.testing.assert_array_equal(row, np.arange(1000, dtype=np.float32)[np.newaxis])
    assert "table" in model.variables
    assert resident_peak() - before < 20e6
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0


def test_threads_share_an_executable_and_run_at_once(add):
    failures = []

    def work(seed):
        generator = np.random.default_rng(seed)
        for _ in range(200):
            a, b = generator.standard_normal((2, 2, 3), dtype=np.float32)
            if not np.array_equal(add(a, b)["y"], a + b):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_other_threads_run_meanwhile():
    """A long run releases the interpreter: another thread continues to count."""
    text = "version 1.0;\ngraph g(x, w) -> (y)\n{\n    x = external(shape = [1, 256, 64, 64]);\n" + (
        "    w = external(shape = [256, 256, 3, 3]);\n    y = conv(x, w);\n}\n"
    )
    executable = nnefc.load(text).compile(threads=1)
    inputs = executable.random_inputs(1)
    executable.run(inputs)
    counted, running = 0, True

    def run():
        nonlocal running
        executable.run(inputs)
        running = False

    thread = threading.Thread(target=run)
    thread.start()
    while running:
        counted += 1
    thread.join()
    assert counted > 1000


def test_profile_is_a_table(add):
    profile = add.profile()
    assert len(profile) == 1
    assert "Add" in profile[0].operation
    assert profile[0].milliseconds >= 0
    elements = next(iter(add.run(add.random_inputs(1)).values())).size
    assert profile[0].operations == elements
    assert profile[0].bytes >= 2 * 4 * elements
    assert str(profile).splitlines()[0].split() == ["ms", "share", "operation", "kernel", "tensor"]
    assert len(str(profile).splitlines()) == 2
    assert "<pre" in profile._repr_html_()


def test_random_inputs_are_the_same_for_a_seed(add):
    first, second = add.random_inputs(1), add.random_inputs(1)
    np.testing.assert_array_equal(first["a"], second["a"])
    assert not np.array_equal(first["a"], add.random_inputs(2)["a"])
    assert first["a"].shape == (2, 3)


def test_backends_agree_and_others_are_refused():
    model = nnefc.load(SUM)
    np.testing.assert_array_equal(model.compile(backend="reference")(A, B)["y"], A + B)
    with pytest.raises(ValueError, match="'fast' or 'reference'"):
        model.compile(backend="cuda")
    with pytest.raises(ValueError):
        model.compile(threads=-1)


PRODUCT = """version 1.0;
graph net(x, w) -> (y)
{
    x = external(shape = [8, 64]);
    w = external(shape = [64, 16]);
    y = matmul(x, w);
}
"""


def test_precisions_agree_and_others_are_refused():
    model = nnefc.load(PRODUCT)
    random = np.random.default_rng(1)
    x, w = (random.standard_normal(shape).astype(np.float32) for shape in ((8, 64), (64, 16)))
    expected = x.astype(np.float64) @ w
    bounds = {"exact": 1e-6, "f32": 1e-6, "bf16": 2e-2, "auto": 2e-2}
    for precision, bound in bounds.items():
        found = model.compile(precision=precision)(x, w)["y"]
        assert np.abs(found - expected).max() <= bound * np.abs(expected).max()
    with pytest.raises(ValueError, match="precision is 'f16'"):
        model.compile(precision="f16")


def test_memory_is_bounded():
    with pytest.raises(nnefc.ModelError, match="24 bytes; at most 8 are allowed"):
        nnefc.load(SUM).compile(max_memory=8)
    np.testing.assert_array_equal(nnefc.load(SUM).compile(max_memory=100)(A, B)["y"], A + B)


@pytest.mark.parametrize("terms", [4096, 4099])
@pytest.mark.parametrize("threads", [1, 2])
def test_one_row_is_multiplied_by_a_large_matrix_as_it_lies(terms, threads):
    outputs = 1101  # blocks of eight, and a remainder of five
    generator = np.random.default_rng(8)
    weights = generator.standard_normal((outputs, terms)).astype(np.float32)
    bias = generator.standard_normal((1, outputs)).astype(np.float32)
    x = generator.standard_normal((1, terms)).astype(np.float32)
    exact = np.maximum(x.astype(np.float64) @ weights.T.astype(np.float64) + bias, 0)
    bodies = [
        ("[1, TERMS]", "[OUTPUTS, TERMS]", "linear(x, w, b)", (1, terms)),
        ("[1, TERMS, 1, 1]", "[OUTPUTS, TERMS, 1, 1]", "conv(x, w, b)", (1, terms, 1, 1)),
    ]
    for shape, filter_shape, product, given in bodies:
        text = f"""version 1.0;
graph net(x) -> (y)
{{
    x = external<scalar>(shape = {shape});
    w = variable<scalar>(shape = {filter_shape}, label = 'w');
    b = variable<scalar>(shape = [1, OUTPUTS], label = 'b');
    z = {product};
    y = relu(z);
}}
""".replace("TERMS", str(terms)).replace("OUTPUTS", str(outputs))
        values = {"w": weights.reshape(-1, *given[1:]), "b": bias}
        executable = nnefc.load(text, variables=values).compile(threads=threads)
        found = executable(x=x.reshape(given))["y"]
        np.testing.assert_allclose(found.reshape(1, -1), exact, rtol=0, atol=1e-5 * np.abs(exact).max())
        assert "in_place" in str(executable.profile())


def test_a_plan_cache_gives_the_same(tmp_path):
    model = nnefc.load(CONVOLUTION, random_weights=1)
    plain = model.compile(threads=1)
    inputs = plain.random_inputs()
    expected = plain.run(inputs)
    assert plain.plan_cache_use == (0, 0, 0)
    made, found = (model.compile(threads=1, plan_cache=tmp_path / "cache") for _ in range(2))
    assert made.plan_cache_use[0] == 0 and made.plan_cache_use[1] > 0
    assert found.plan_cache_use == (made.plan_cache_use[1], 0, 0)
    for executable in (made, found):
        outputs = executable.run(inputs)
        assert all(np.array_equal(outputs[name], expected[name]) for name in expected)
    tuned = model.compile(threads=1, plan_cache=tmp_path / "cache", tune=True)
    assert tuned.plan_cache_use[2] == 1
    kept = model.compile(threads=1, plan_cache=tmp_path / "cache")
    assert kept.plan_cache_use[1:] == (0, 0)
    for executable in (tuned, kept):
        np.testing.assert_allclose(executable.run(inputs)["y"], expected["y"], rtol=0, atol=1e-4)
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="is not a folder"):
        model.compile(plan_cache=tmp_path / "file")


# A network for which oneDNN has a kernel.
NORMALIZATION = """version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [1, 8, 4, 4]);
    y = local_response_normalization(x, size = [1, 5, 1, 1], alpha = 0.5, beta = 0.75, bias = 2.0);
}
"""
# Compiles and runs the model twice, and prints the warnings of each step and the line that they name.
WARNED = """
import sys, warnings
import numpy as np
import nnefc
model, x = nnefc.load(sys.argv[1]), np.load(sys.argv[2])
def warned(work):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = work()
    print([(item.category.__name__, str(item.message), item.filename == "<string>") for item in caught])
    return result
executable = warned(lambda: model.compile())
(y,) = warned(lambda: executable(x)).values()
warned(lambda: executable(x))
np.save(sys.argv[3], y)
"""


@pytest.mark.parametrize("planned", ["when it is compiled", "when it runs"])
def test_a_missing_library_is_a_warning(planned, tmp_path):
    model = tmp_path / "net.xml"
    nnefc.load(NORMALIZATION).save(model)
    if planned == "when it runs":
        text = model.read_text()
        model.write_text(text.replace('shape="1,8,4,4"', 'shape="?,8,4,4"').replace("<dim>1</dim><dim>8</dim>", "<dim>-1</dim><dim>8</dim>"))
    x = np.random.default_rng(1).standard_normal((1, 8, 4, 4), dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    windows = np.stack([np.pad(x.astype(np.float64) ** 2, ((0, 0), (2, 2), (0, 0), (0, 0)))[:, i : i + 8] for i in range(5)])
    expected = x / (2.0 + 0.5 * windows.sum(axis=0) / 5) ** 0.75

    def warnings_of(libraries):
        command = [sys.executable, "-c", WARNED, str(model), str(tmp_path / "x.npy"), str(tmp_path / "y.npy")]
        environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(nnefc.__file__)), "LD_LIBRARY_PATH": str(libraries)}
        printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected, rtol=1e-5)
        return [ast.literal_eval(line) for line in printed.splitlines()]

    assert warnings_of(tmp_path / "none") == [[], [], []]
    # The linker finds this file before the library.
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "libnnefc_onednn.so").write_text("")
    steps = warnings_of(tmp_path / "broken")
    (warning,) = steps.pop(["when it is compiled", "when it runs"].index(planned))
    assert steps == [[], []]
    category, message, is_of_caller = warning
    assert category == "RuntimeWarning" and is_of_caller
    assert "oneDNN is missing" in message and "[runtime.no-onednn]" in message
