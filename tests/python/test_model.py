"""Models: their contents, and how they are saved."""

import gc
import tarfile

import numpy as np
import pytest
from conftest import COUNTER, LINEAR, ROOT, SUM

import nnefc

NETWORKS = ROOT / "tests" / "networks"


def test_a_model_tells_its_inputs_outputs_and_operations(linear):
    assert [str(port) for port in linear.inputs] == ["x: f32[2,3]"]
    assert linear.outputs == (nnefc.Port("y", "f32", (2, 4)),)
    assert linear.outputs[0].dtype == np.float32
    (operation,) = linear.operations
    assert operation.type == "linear"
    assert operation.inputs == ("x", "w", "b")
    assert str(linear) == "<nnefc.Model <text>: (x: f32[2,3]) -> (y: f32[2,4])>"


def test_attributes_are_what_the_document_says():
    model = nnefc.load(
        "version 1.0;\ngraph g(x) -> (y)\n{\n    x = external(shape = [1, 2, 8, 8]);\n"
        "    y = max_pool(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 1), (0, 1)], border = 'ignore');\n}\n"
    )
    (operation,) = model.operations
    assert operation.type == "max_pool"
    assert operation.attributes["size"] == [1, 1, 2, 2]
    assert operation.attributes["padding"] == [[0, 0], [0, 0], [0, 1], [0, 1]]
    assert operation.attributes["border"] == "ignore"


def test_a_wrong_model_is_an_exception_with_diagnostics():
    with pytest.raises(nnefc.ModelError) as failure:
        nnefc.load(SUM.replace("add(a, b)", "ad(a, b)"), name="net.nnef")
    (mistake,) = failure.value.diagnostics
    assert mistake.place.line == 6
    assert "net.nnef:6:9: error:" in str(failure.value)
    assert isinstance(failure.value, ValueError)


def test_variables_are_the_data_that_were_given(linear, weights):
    assert sorted(linear.variables) == ["fc/b", "fc/w"]
    assert linear.variables.port("fc/w") == nnefc.Port("w", "f32", (4, 3))
    np.testing.assert_array_equal(linear.variables["fc/w"], weights["fc/w"])
    with pytest.raises(KeyError, match="`fc/w`"):
        linear.variables["w"]


def test_a_model_does_not_change_with_the_arrays_it_was_made_of(weights):
    kept = weights["fc/w"].copy()
    model = nnefc.load(LINEAR, variables=weights)
    weights["fc/w"][:] = 7
    np.testing.assert_array_equal(model.variables["fc/w"], kept)


def test_variables_are_views_that_outlive_their_model(linear, tmp_path, weights):
    linear.save(tmp_path / "model")
    model = nnefc.load(tmp_path / "model")
    view = model.variables["fc/w"]
    again = model.variables["fc/w"]
    assert view.__array_interface__["data"][0] == again.__array_interface__["data"][0]
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 1
    del model, again
    gc.collect()
    np.testing.assert_array_equal(view, weights["fc/w"])


def test_data_that_do_not_fit_are_told(weights):
    with pytest.raises(ValueError, match="`fc/x`; there are `fc/w`, `fc/b`"):
        nnefc.load(LINEAR, variables={**weights, "fc/x": weights["fc/w"]})
    with pytest.raises(nnefc.ModelError, match=r"\[3,4\].*\[4,3\]"):
        nnefc.load(LINEAR, variables={**weights, "fc/w": weights["fc/w"].T}).compile()
    with pytest.raises(TypeError, match="`fc/w`.*complex64"):
        nnefc.load(LINEAR, variables={**weights, "fc/w": weights["fc/w"].astype(np.complex64)})
    with pytest.raises(nnefc.ModelError, match="fc/b"):
        nnefc.load(LINEAR, variables={"fc/w": weights["fc/w"]}).compile()
    with pytest.raises(ValueError, match="in memory"):
        nnefc.load(NETWORKS / "alexnet.nnef", variables=weights)


VARIABLES = """version 1.0;
graph net( x ) -> ( y, m, i )
{
    x = external(shape = [4]);
    w = variable<scalar>(shape = [2,3], label = 'block/w');
    m = variable<logical>(shape = [4], label = 'm');
    i = variable<integer>(shape = [4], label = 'i');
    y = copy(w);
}
"""
FITTING = {"block/w": np.ones((2, 3), np.float32), "m": np.ones(4, bool), "i": np.arange(4)}


@pytest.mark.parametrize(
    ("label", "data", "line", "said"),
    [
        ("block/w", np.ones((3, 2), np.float32), 5, "has shape [3,2]; the document says [2,3]"),
        ("block/w", np.ones((2, 3), np.int64), 5, "64-bit signed integers"),
        ("block/w", np.ones((2, 3), bool), 5, "1-bit bools"),
        ("block/w", np.float32(1), 5, "has shape []; the document says [2,3]"),
        ("block/w", [[1, 2, 3], [4, 5, 6]], 5, "64-bit signed integers"),
        ("m", np.ones(4, np.float32), 6, "32-bit floats"),
        ("m", np.ones(4, np.int32), 6, "32-bit signed integers"),
        ("m", np.ones((4, 1), bool), 6, "has shape [4,1]; the document says [4]"),
        ("i", np.ones(4, np.float64), 7, "64-bit floats"),
        ("i", np.ones(4, bool), 7, "1-bit bools"),
        ("i", np.ones(3, np.int64), 7, "has shape [3]; the document says [4]"),
    ],
)
def test_data_that_do_not_fit_are_reported_at_their_statement(label, data, line, said):
    for source in (nnefc.load, lambda text, **options: nnefc.load(text, random_weights=1, **options)):
        with pytest.raises(nnefc.ModelError) as failure:
            source(VARIABLES, variables={**FITTING, label: data}, name="net.nnef")
        (mistake,) = failure.value.diagnostics
        assert mistake.place.line == line
        assert f"`{label}`" in mistake.message
        assert said in mistake.message


def test_data_that_are_missing_are_reported_at_their_statement():
    with pytest.raises(nnefc.ModelError) as failure:
        nnefc.load(VARIABLES, variables={"block/w": FITTING["block/w"]})
    assert [mistake.place.line for mistake in failure.value.diagnostics] == [6, 7]
    assert "no data were passed for variable `m`; expected logical of shape [4]" in failure.value.diagnostics[0].message
    nnefc.load(VARIABLES)
    nnefc.load(VARIABLES, variables={"block/w": FITTING["block/w"]}, random_weights=1)


@pytest.mark.parametrize("label", ["x", "y", "block", "w", "../block/w", ""])
def test_labels_that_no_variable_has_are_reported(label):
    with pytest.raises(ValueError, match="no variable has the label"):
        nnefc.load(VARIABLES, variables={**FITTING, label: np.ones((2, 3), np.float32)})


def test_data_without_a_shape_are_reported_by_label():
    with pytest.raises(ValueError, match="`block/w`"):
        nnefc.load(VARIABLES, variables={**FITTING, "block/w": [[1.0, 2.0], [3.0]]})
    with pytest.raises(TypeError, match="`block/w`"):
        nnefc.load(VARIABLES, variables={**FITTING, "block/w": [["a", "b", "c"], ["d", "e", "f"]]})


@pytest.mark.parametrize(
    "data",
    [
        np.arange(6, dtype=np.float64).reshape(2, 3),
        np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2],
        np.arange(6, dtype=np.float32).reshape(3, 2).T,
        np.arange(6, dtype=">f4").reshape(2, 3),
        np.arange(6, dtype=np.float16).reshape(2, 3),
        [[0.5, 1, 2], [3, 4, 5]],
    ],
)
@pytest.mark.parametrize("label", ["block/w", "/block/w", "./block//w"])
def test_data_that_fit(data, label):
    if label != "block/w":
        text = VARIABLES.replace("'block/w'", f"'{label}'")
    else:
        text = VARIABLES
    given = {**FITTING, label: data}
    if label != "block/w":
        del given["block/w"]
    model = nnefc.load(text, variables=given)
    np.testing.assert_array_equal(model.variables[label], np.asarray(data, np.float32))


# A label must not escape from the folder or archive that is written.
@pytest.mark.parametrize("label", ["../victim/v", "../../../../victim/v", "a/../../victim/v", "..\\\\victim\\\\v"])
@pytest.mark.parametrize("dialect", ["ratified", "provisional"])
def test_labels_lead_nowhere_else(tmp_path, label, dialect):
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "v.dat").write_text("precious")
    text = f"version 1.0;\ngraph net( x ) -> ( y )\n{{\n    x = external(shape = [2]);\n    v = variable(shape = [2], label = '{label}');\n    y = add(x, v);\n}}\n"
    if dialect == "provisional":
        text = text.replace(";", "")
    report = nnefc.check(text)
    assert [item.rule for item in report] == ["variable.label"]
    with pytest.raises(nnefc.ModelError, match="names no file in the model's folder"):
        nnefc.load(text, random_weights=1).save(tmp_path / "a" / "out")
    assert (tmp_path / "victim" / "v.dat").read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["victim"]


@pytest.mark.parametrize("target", ["out", "out.tgz", "out.tar"])
def test_every_variable_is_saved(tmp_path, target):
    label = "/a//b/../block/w/"
    data = {label if name == "block/w" else name: value for name, value in FITTING.items()}
    model = nnefc.load(VARIABLES.replace("'block/w'", f"'{label}'"), variables=data)
    model.save(tmp_path / target)
    again = nnefc.load(tmp_path / target)
    for label in model.variables:
        np.testing.assert_array_equal(again.variables[label], model.variables[label])


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_data_of_other_floats_are_converted(weights, dtype):
    given = {label: value.astype(dtype) for label, value in weights.items()}
    executable = nnefc.load(LINEAR, variables=given).compile(backend="reference")
    x = np.ones((2, 3), np.float32)
    expected = x @ given["fc/w"].astype(np.float32).T + given["fc/b"].astype(np.float32)
    np.testing.assert_allclose(executable(x)["y"], expected, rtol=1e-6)


def test_logical_and_integer_data_are_kept():
    text = (
        "version 1.0;\ngraph g(x) -> (y)\n{\n    x = external(shape = [4]);\n"
        "    m = variable<logical>(shape = [4], label = 'm');\n    y = select(m, x, 0.0);\n}\n"
    )
    mask = np.array([True, False, False, True])
    model = nnefc.load(text, variables={"m": mask})
    np.testing.assert_array_equal(model.variables["m"], mask)
    x = np.arange(4, dtype=np.float32) + 1
    np.testing.assert_array_equal(model.compile()(x)["y"], np.where(mask, x, 0))


def test_operations_and_variables_stay_as_they_were_read(linear):
    before = linear.operations
    linear.compile()
    later = nnefc.load(LINEAR, random_weights=1)
    later.compile()
    assert [item.type for item in later.operations] == [item.type for item in before]
    assert later.variables["fc/w"].shape == (4, 3)


def test_expand_evaluates_fragments():
    text = nnefc.load(NETWORKS / "resnet50.nnef").expand()
    assert "fragment" not in text
    assert nnefc.check(text)
    assert "softmax(" not in nnefc.load(NETWORKS / "alexnet.nnef").expand(lower="softmax")


@pytest.mark.parametrize("name", ["model", "model.tgz", "model.tar", "model.tar.gz"])
def test_a_model_is_saved_with_its_data(linear, weights, tmp_path, name):
    assert linear.save(tmp_path / name)
    again = nnefc.load(tmp_path / name)
    for label, value in weights.items():
        np.testing.assert_array_equal(again.variables[label], value)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = x @ weights["fc/w"].T + weights["fc/b"]
    np.testing.assert_allclose(again.compile()(x)["y"], expected, rtol=1e-5)
    assert [item.name for item in tmp_path.iterdir()] == [name]


def test_an_archive_holds_what_the_specification_says(linear, tmp_path):
    linear.save(tmp_path / "model.tgz")
    with tarfile.open(tmp_path / "model.tgz") as archive:
        assert sorted(archive.getnames()) == ["fc", "fc/b.dat", "fc/w.dat", "graph.nnef"]


def test_a_document_is_saved_with_its_comments(linear, tmp_path):
    linear.save(tmp_path / "net.nnef")
    assert "# A layer." in (tmp_path / "net.nnef").read_text()


def test_given_shapes_are_saved(tmp_path):
    nnefc.load(SUM, shapes={"a": [5, 3], "b": [5, 3]}).save(tmp_path / "net.nnef")
    assert nnefc.load(tmp_path / "net.nnef").outputs[0].shape == (5, 3)


def test_random_weights_are_saved(tmp_path):
    model = nnefc.load(LINEAR, random_weights=3)
    model.save(tmp_path / "model")
    again = nnefc.load(tmp_path / "model")
    np.testing.assert_array_equal(again.variables["fc/w"], model.variables["fc/w"])


def test_a_model_is_quantized_on_request(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "graph.nnef").write_text(
        "version 1.0;\ngraph g(x) -> (y)\n{\n    x = external(shape = [4]);\n    y = mul(x, 2.0);\n}\n"
    )
    x = np.array([0.1, 0.3, 1.3, -3.0], np.float32)
    with pytest.raises(nnefc.ModelError, match="graph.quant"):
        nnefc.load(folder, quantize=True)
    (folder / "graph.quant").write_text(
        '"x": zero_point_linear_quantize(zero_point = 0, scale = 0.25, bits = 3, signed = true, symmetric = false);\n'
    )
    # R 4.9.5: to multiples of 0.25 between -4 and 3 of them.
    np.testing.assert_array_equal(nnefc.load(folder, quantize=True).compile()(x=x)["y"], [0.0, 0.5, 1.5, -2.0])
    np.testing.assert_array_equal(nnefc.load(folder).compile()(x=x)["y"], x * 2)


def test_openvino_ir_is_written_and_read(linear, weights, tmp_path):
    linear.save(tmp_path / "net.xml")
    model = nnefc.load(tmp_path / "net.xml")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    (result,) = model.compile()(x).values()
    np.testing.assert_allclose(result, x @ weights["fc/w"].T + weights["fc/b"], rtol=1e-5)
    assert any(np.array_equal(model.variables[label], weights["fc/w"]) for label in model.variables)
    with pytest.raises(nnefc.SystemFailure, match="no document"):
        model.save(tmp_path / "model")


def test_what_is_there_is_not_written_over(linear, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mine").touch()
    with pytest.raises(FileExistsError):
        linear.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"\.onnx"):
        linear.save(tmp_path / "net.onnx")
    with pytest.raises(OSError):
        linear.save(tmp_path / "nowhere" / "model")


def test_transformations_are_chosen():
    model = nnefc.load(SUM.replace("y = add(a, b)", "c = softplus(a);\n    d = tanh(c);\n    e = mul(a, d);\n    y = add(e, b)"))
    assert "Mish" in model.lower()
    assert "Mish" not in model.transform(disable=["nnefc::transform::front::MishFusion"]).lower()
    with pytest.raises(ValueError, match="`NoSuchThing`"):
        model.transform(disable=["NoSuchThing"])


def test_a_graph_of_openvino_operations_is_shown(linear):
    assert "MatMul" in linear.lower()


def test_state_belongs_to_sessions():
    executable = nnefc.load(COUNTER, variables={"v": np.zeros(2)}).compile()
    one = np.ones(2, np.float32)
    session = executable.session()
    assert [session(one)["y"][0] for _ in range(3)] == [1, 2, 3]
    assert [executable(one)["y"][0] for _ in range(3)] == [1, 1, 1]
    session.reset_state()
    assert session(one)["y"][0] == 1


def test_writing_to_results_changes_no_state():
    session = nnefc.load(COUNTER, variables={"v": np.zeros(2)}).compile().session()
    one = np.ones(2, np.float32)
    session(one)["y"][:] = 100
    assert session(one)["y"][0] == 2
