"""Views of models for terminals and notebooks, drawings, pickling and copying."""

import copy
import html
import html.parser
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset8 as ops
import pytest
from conftest import LINEAR, ROOT, SUM

import nnefc
import nnefc.openvino

NETWORKS = ROOT / "tests" / "networks"
HOSTILE = "</td></table><script>alert(1)</script>\"'&"


class Tags(html.parser.HTMLParser):
    """Collects elements, which must be closed in order, and texts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.names, self.texts, self.attributes = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.names.append(tag)
        self.attributes.append(dict(attrs))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


# The numbers of parameters and multiply-accumulates in torchvision's documentation of resnet50 and mobilenet_v2.
@pytest.mark.parametrize(("network", "parameters", "macs"), [("resnet50", 25.56e6, 4.09e9), ("mobilenetv2", 3.50e6, 0.30e9)])
def test_a_summary_has_the_published_costs(network, parameters, macs):
    *rows, empty, totals = nnefc.load(NETWORKS / f"{network}.nnef").summary().splitlines()
    words = totals.replace(",", "").split()
    assert empty == ""
    assert int(words[0]) == len(rows) - 1
    assert int(words[words.index("parameters") - 1]) == pytest.approx(parameters, rel=0.005)
    assert int(words[words.index("multiply-accumulates") - 1]) == pytest.approx(macs, rel=0.005)


def test_a_summary_lists_operations(linear):
    head, *rows, empty, totals = linear.summary().splitlines()
    assert head.split() == ["name", "operation", "result", "parameters", "MACs"]
    # f32[2,3] times f32[3,4] is 2 * 3 * 4 multiply-accumulates; the bias has 4 elements.
    assert [row.split()[1:] for row in rows] == [["MatMul", "f32[2,4]", "12", "24"], ["Add", "f32[2,4]", "4", "0"]]
    assert empty == "" and totals == "2 operations, 16 parameters, 24 multiply-accumulates"


def relu_model(folder, shape, name="x"):
    """OpenVINO IR of one operation, whose result has the same name with a `y` before it."""
    x = ops.parameter(shape, np.float32, name=name)
    x.output(0).set_names({name})
    y = ops.relu(x, name="y" + name)
    y.output(0).set_names({"y" + name})
    ov.save_model(ov.Model([y], [x], "net"), folder / "net.xml", compress_to_fp16=False)
    return nnefc.load(folder / "net.xml")


def test_a_summary_without_known_extents_has_no_costs(tmp_path):
    model = relu_model(tmp_path, [1, -1])
    head, row, empty, totals = model.summary().splitlines()
    assert head.split() == ["name", "operation", "result"]
    assert row.split() == ["yx", "ReLU", "f32[1,?]"]
    assert totals == "1 operation"
    with pytest.raises(nnefc.NnefError, match="unknown extents"):
        model.draw(costs=True)


def test_a_model_in_a_notebook(linear):
    shown = Tags(linear._repr_html_())
    assert {"table", "details", "iframe"} <= set(shown.names)
    assert "linear" in "".join(shown.texts) or "MatMul" in "".join(shown.texts)
    (frame,) = [attributes for attributes in shown.attributes if "srcdoc" in attributes]
    assert frame["srcdoc"].startswith("<!DOCTYPE html>")


def test_hostile_names_are_text(tmp_path):
    model = relu_model(tmp_path, [1, 2], HOSTILE)
    shown = Tags(model._repr_html_())
    assert "script" not in shown.names
    assert HOSTILE in shown.texts
    assert "script" not in Tags(model.compile()._repr_html_()).names


def test_a_large_model_has_a_short_table(monkeypatch):
    from nnefc import views

    def chain(length):
        body = "\n".join(f"    x{i + 1} = relu(x{i});" for i in range(length))
        return nnefc.load(f"version 1.0;\ngraph g(x0) -> (x{length})\n{{\n    x0 = external<scalar>(shape = [1]);\n{body}\n}}\n")

    assert f"{views.MOST_ROWS} operations" in Tags(chain(views.MOST_ROWS)._repr_html_()).texts
    model = chain(views.MOST_ROWS + 1)
    shown = Tags(model._repr_html_())
    assert f"{views.MOST_ROWS + 1} operations, the first {views.MOST_ROWS} of them" in shown.texts
    assert len(model.summary().splitlines()) == views.MOST_ROWS + 4
    monkeypatch.setattr(views, "LARGEST_DRAWING", len(model._native.draw("html", True)[0]) - 1)
    assert "iframe" not in Tags(model._repr_html_()).names
    monkeypatch.setattr(views, "LARGEST_DRAWING", len(model._native.draw("html", True)[0]))
    assert "iframe" in Tags(model._repr_html_()).names


def test_an_executable_in_a_notebook(linear):
    texts = Tags(linear.compile()._repr_html_()).texts
    assert texts[texts.index("x") + 1] == "f32[2,3]"
    assert texts[texts.index("y") + 1] == "f32[2,4]"


def test_a_difference_in_a_notebook():
    old, new = nnefc.load(SUM), nnefc.load(SUM.replace("add(a, b)", "sub(a, b)"))
    shown = Tags(nnefc.diff(old, new)._repr_html_())
    assert "del" in shown.names and "ins" in shown.names
    assert any("sub" in text for text in shown.texts)
    assert "del" not in Tags(nnefc.diff(old, old)._repr_html_()).names


@pytest.mark.parametrize(("name", "begins"), [("net.html", "<!DOCTYPE html>"), ("net.dot", "digraph"), ("net.gv", "digraph"),
                                              ("net.json", "{"), ("net.svg", "<?xml")])
def test_drawings(linear, tmp_path, name, begins):
    if name == "net.svg" and shutil.which("dot") is None:
        pytest.skip("no Graphviz: install the Debian package graphviz")
    text = linear.draw(tmp_path / name)
    assert text.startswith(begins)
    assert (tmp_path / name).read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert linear.draw(tmp_path / name, costs=True) != text, "the lowered graph"


def test_a_drawing_is_the_same_after_the_model_is_lowered(linear):
    before = linear.draw()
    linear.compile()
    assert linear.draw() == before


def test_drawings_of_weights_and_times(linear, tmp_path):
    nodes = json.loads(linear.draw(tmp_path / "net.json", weights=True))["graph"]["nodes"]
    assert any("statistics" in node for node in nodes)
    named = [node for node in json.loads(linear.draw(tmp_path / "net.json", costs=True))["graph"]["nodes"] if node["kind"] == "operation"]
    step = {"name": named[0]["name"], "operation": "", "kernel": "k", "milliseconds": 2.5, "operations": 1, "bytes": 1}
    (tmp_path / "profile.json").write_text(json.dumps({"profile": [step]}))
    found = json.loads(linear.draw(tmp_path / "net.json", profile=tmp_path / "profile.json"))
    assert found["profile"]["milliseconds"] == 2.5
    with pytest.raises(nnefc.NnefError, match="cannot open"):
        linear.draw(profile=tmp_path / "none.json")
    with pytest.raises(nnefc.NnefError, match="no data of variables"):
        nnefc.load(NETWORKS / "mobilenetv2.nnef").draw(weights=True)


def test_pictures_need_graphviz(linear, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(nnefc.NnefError, match="install the Debian package `graphviz`"):
        linear.draw(tmp_path / "net.svg")
    assert list(tmp_path.iterdir()) == []


def test_other_forms_of_drawings_are_errors(linear, tmp_path):
    with pytest.raises(ValueError, match=r"\.html, \.svg, \.dot or \.json"):
        linear.draw(tmp_path / "net.png")
    assert list(tmp_path.iterdir()) == []


def test_a_pickled_text_has_its_data(linear, weights):
    again = pickle.loads(pickle.dumps(linear))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(again.compile()(x)["y"], linear.compile()(x)["y"])
    np.testing.assert_array_equal(again.variables["fc/w"], weights["fc/w"])


def test_a_pickled_path_works_from_another_folder(tmp_path, monkeypatch):
    (tmp_path / "net.nnef").write_text(SUM)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(nnefc.load("net.nnef")))
    program = "import pickle, sys\nprint(pickle.load(open(sys.argv[1], 'rb')))"
    (tmp_path / "elsewhere").mkdir()
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "model.pickle")], cwd=tmp_path / "elsewhere",
                          env={**os.environ, "PYTHONPATH": str(Path(nnefc.__file__).parents[1])}, capture_output=True, text=True,
                          check=True)
    assert "net.nnef" in done.stdout


def write_folder(folder, value=1.0):
    shutil.rmtree(folder, ignore_errors=True)
    model = nnefc.load(LINEAR, random_weights=1)
    data = {label: np.full(model.variables.port(label).shape, value, np.float32) for label in model.variables}
    nnefc.load(LINEAR, variables=data).save(folder)
    return folder


def tensor_file(folder):
    return next(iter(sorted(folder.rglob("*.dat"))))


CHANGES = {
    "none": (lambda folder: None, None),
    "time": (lambda folder: os.utime(folder / "graph.nnef", (1, 1)), None),
    "other file": (lambda folder: (folder / "notes.txt").write_text("new"), None),
    "content": (lambda folder: tensor_file(folder).write_bytes(tensor_file(folder).read_bytes()[:-1] + b"!"), "has another content"),
    "size": (lambda folder: (folder / "graph.nnef").write_text((folder / "graph.nnef").read_text() + "#"), r"has \d+ bytes, not \d+"),
    "missing": (lambda folder: tensor_file(folder).unlink(), "is missing"),
    "new": (lambda folder: (folder / "graph.quant").write_text("# nothing\n"), "did not exist"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_pickled_folder_is_compared(tmp_path, change):
    folder = write_folder(tmp_path / "net")
    data = pickle.dumps(nnefc.load(folder))
    act, message = CHANGES[change]
    act(folder)
    if message is None:
        assert pickle.loads(data).inputs == nnefc.load(folder).inputs
        return
    with pytest.raises(pickle.UnpicklingError, match=message) as caught:
        pickle.loads(data)
    assert str(folder) in str(caught.value) and "load the model and pickle it again" in str(caught.value)


def test_a_pickled_file_is_compared(tmp_path):
    path = tmp_path / "net.nnef"
    path.write_text(SUM)
    data = pickle.dumps(nnefc.load(path))
    path.write_text(SUM + "\n")
    with pytest.raises(pickle.UnpicklingError, match=r"net\.nnef"):
        pickle.loads(data)
    path.unlink()
    with pytest.raises(nnefc.MissingFile):
        pickle.loads(data)
    path.write_text(SUM)
    assert "net.nnef" in repr(pickle.loads(data))


def test_both_files_of_openvino_ir_are_compared(tmp_path):
    x = ops.parameter([1, 300], np.float32, name="x")
    ov.save_model(ov.Model([ops.add(x, ops.constant(np.arange(300, dtype=np.float32)[None]))], [x], "net"), tmp_path / "net.xml", compress_to_fp16=False)
    data = pickle.dumps(nnefc.load(tmp_path / "net.xml"))
    assert pickle.loads(data).inputs[0].name == "x"
    file = tmp_path / "net.bin"
    file.write_bytes(b"\1" + file.read_bytes()[1:])
    with pytest.raises(pickle.UnpicklingError, match=r"net\.bin` has another content"):
        pickle.loads(data)


def test_a_model_whose_file_changed_is_not_pickled(tmp_path):
    folder = write_folder(tmp_path / "net")
    model = nnefc.load(folder)
    pickle.dumps(model)
    write_folder(folder, 2.0)
    with pytest.raises(pickle.PicklingError, match="changed after the model was loaded"):
        pickle.dumps(model)
    assert pickle.loads(pickle.dumps(nnefc.load(folder))).inputs == model.inputs


def test_a_model_with_temporary_files_is_not_pickled():
    x = ops.parameter([1, 2], np.float32, name="x")
    model = nnefc.openvino.from_model(ov.Model([ops.relu(x)], [x], "net"))
    with pytest.raises(TypeError, match="save"):
        pickle.dumps(model)


def test_copies_are_the_model_itself(linear):
    assert copy.copy(linear) is linear
    assert copy.deepcopy([linear])[0] is linear
    executable = linear.compile()
    assert copy.copy(executable) is executable
    assert copy.deepcopy(executable) is executable
    with pytest.raises(TypeError, match="compile it there"):
        pickle.dumps(executable)


def test_the_document_of_a_model_is_unchanged_text():
    assert pickle.loads(pickle.dumps(nnefc.load(LINEAR, random_weights=1))).variables["fc/w"].shape == (4, 3)
