"""Statistics of weights and measured times in drawings, against NumPy and the profile that they come from."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import ml_dtypes
import nnef
import numpy as np
import openvino as ov
import openvino.opset13 as ops
import pytest
from conftest import ROOT, nnefc, violations

MOBILENET = ROOT / "tests" / "networks" / "mobilenetv2.nnef"
RANDOM = np.random.default_rng(7)
SMALLEST = 17  # elements of a constant whose elements are not in the description


def refused(*arguments: object) -> str:
    """Runs the command line, which must fail, and returns its messages."""
    found: list[str] = []
    try:
        nnefc(*arguments)
    except subprocess.CalledProcessError as error:
        found = [str(error.returncode), error.stderr]
        assert error.stdout == ""
    assert found and found[0] == "2", found
    return found[1]


def save(path: Path, constants: list, name: str = "weights") -> Path:
    """Writes OpenVINO IR whose results are constants."""
    x = ops.parameter([1], np.float32, name="x")
    results = [ops.result(x)] + [ops.result(constant) for constant in constants]
    ov.save_model(ov.Model(results, [x], name), path, compress_to_fp16=False)
    return path


def statistics(described, path: Path) -> list[dict | None]:
    nodes = described(path, "--weights")["graph"]["nodes"]
    return [node.get("statistics") for node in nodes if node["kind"] in ("constant", "variable")]


def check(found: dict, values: np.ndarray) -> None:
    """Compares statistics with those that NumPy computes in double precision."""
    values = values.astype(np.float64).ravel()
    finite = values[np.isfinite(values)]
    assert (found["count"], found["examined"]) == (values.size, values.size)
    assert (found["zeros"], found["not_finite"]) == (np.count_nonzero(values == 0), values.size - finite.size)
    if not finite.size:
        assert {"min", "max", "mean", "deviation", "bins"}.isdisjoint(found)
        return
    assert (found["min"], found["max"]) == (finite.min(), finite.max())
    assert found["mean"] == pytest.approx(finite.mean(), rel=1e-12, abs=1e-300)
    assert found["deviation"] == pytest.approx(finite.std(), rel=1e-12)
    if finite.min() == finite.max():
        assert "bins" not in found
    else:
        assert found["bins"] == np.histogram(finite, 16)[0].tolist()


ARRAYS = {
    "f32": RANDOM.normal(size=(7, 11)).astype(np.float32),
    "f16": RANDOM.normal(size=300).astype(np.float16),
    "f64": RANDOM.normal(size=(2, 3, 50)),
    "i8": RANDOM.integers(-128, 128, 1000).astype(np.int8),
    "u8": RANDOM.integers(0, 256, 1000).astype(np.uint8),
    "i32": RANDOM.integers(-(2**31), 2**31, 100).astype(np.int32),
    "i64": RANDOM.integers(-(2**40), 2**40, 100),
    "bool": RANDOM.integers(0, 2, 90).astype(bool),
    "edges": np.arange(33, dtype=np.float32),  # on the limits of the bins
    "one value": np.full(20, -2.5, np.float32),
    "zeros": np.array([0.0, -0.0] * 10 + [1e-45], np.float32),
    "not finite": np.array([np.nan, np.inf, -np.inf] * 6 + [1, 2], np.float32),
    "no finite": np.full(SMALLEST, np.nan, np.float32),
    "empty": np.zeros((0, 4), np.float32),
    "smallest": np.arange(SMALLEST, dtype=np.float32),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_statistics_are_those_of_numpy(described, tmp_path, name):
    (found,) = statistics(described, save(tmp_path / "net.xml", [ops.constant(ARRAYS[name])]))
    check(found, ARRAYS[name])


def test_statistics_of_bf16(described, tmp_path):
    values = RANDOM.normal(size=200).astype(ml_dtypes.bfloat16)
    tensor = ov.Tensor(values.view(np.uint16), ov.Shape([200]), ov.Type.bf16)
    (found,) = statistics(described, save(tmp_path / "net.xml", [ov.op.Constant(tensor)]))
    check(found, values)


def test_statistics_of_large_doubles(described, tmp_path):
    """The range of the values and their squares are not doubles."""
    values = np.array([-1.5e308, 1.5e308, 0, 1] * 5)
    (found,) = statistics(described, save(tmp_path / "net.xml", [ops.constant(values)]))
    assert (found["min"], found["max"]) == (-1.5e308, 1.5e308)
    scaled = values / 2**600
    assert found["deviation"] == pytest.approx(scaled.std() * 2.0**600, rel=1e-12)
    assert found["bins"] == np.histogram(values / 2, 16)[0].tolist()


@pytest.mark.parametrize("extra", [0, 1])
def test_large_tensors_are_sampled(described, tmp_path, extra):
    """At most 2^22 elements of a tensor are examined, from its first to its last block of 4,096."""
    count = 2**22 + extra * 2**21
    values = np.linspace(-1, 1, count, dtype=np.float32)
    (found,) = statistics(described, save(tmp_path / "net.xml", [ops.constant(values)]))
    assert (found["count"], found["examined"]) == (count, 2**22)
    assert found["min"] == -1
    assert found["max"] == pytest.approx(1, abs=0 if extra == 0 else 1e-3)
    assert found["mean"] == pytest.approx(0, abs=1e-3)
    assert found["deviation"] == pytest.approx(values.astype(np.float64).std(), rel=1e-2)
    assert sum(found["bins"]) == 2**22


def test_small_constants_have_no_statistics(described, tmp_path):
    assert statistics(described, save(tmp_path / "net.xml", [ops.constant(np.arange(SMALLEST - 1, dtype=np.float32))])) == [None]


WEIGHTED = """version 1.0;
graph net( x ) -> ( y )
{
    x = external<scalar>(shape = [1, 3, 8, 8]);
    w = variable<scalar>(shape = [4, 3, 3, 3], label = 'w');
    b = variable<scalar>(shape = [1, 4], label = 'b');
    y = conv(x, w, b);
}
"""


@pytest.fixture
def weighted(tmp_path):
    """A folder with weights, and their arrays."""
    path = tmp_path / "weighted"
    (tmp_path / "net.nnef").write_text(WEIGHTED)
    nnefc("run", tmp_path / "net.nnef", "--random-weights", "3", "--random-inputs", "3", "--save-weights", path)
    arrays = {}
    for label in ("w", "b"):
        with open(path / f"{label}.dat", "rb") as file:
            arrays[label] = nnef.read_tensor(file)
    return path, {label: each[0] if isinstance(each, tuple) else each for label, each in arrays.items()}


@pytest.mark.parametrize("options", [[], ["--costs"]])
def test_statistics_of_variables(described, weighted, options):
    path, arrays = weighted
    nodes = described(path, "--weights", *options)["graph"]["nodes"]
    found = [node["statistics"] for node in nodes if "statistics" in node]
    expected = [arrays["b"], arrays["w"]] if not options else [arrays["w"]]  # 4 elements are in a lowered constant itself
    assert sorted(each["count"] for each in found) == sorted(each.size for each in expected)
    for each in found:
        check(each, next(array for array in expected if array.size == each["count"]))
    assert not any("statistics" in node for node in described(path, *options)["graph"]["nodes"])


def test_histograms_are_in_the_details(draw, weighted):
    path, arrays = weighted
    drawing = draw(path, "--weights")
    drawing.item("conv, y").click()
    text = drawing.details.inner_text()
    assert "Elements of filter" in text and "Elements of bias" in text
    chart = drawing.details.get_by_role("img").first
    bins = np.histogram(arrays["w"].astype(np.float64), 16)[0]
    assert chart.get_attribute("aria-label").endswith(f"in 16 bins: {', '.join(map(str, bins))} elements.")
    heights = [float(each.get_attribute("height")) for each in chart.locator("rect").all()]
    assert len(heights) == 16
    assert heights == pytest.approx([70 * each / bins.max() for each in bins], abs=1)
    table = drawing.details.locator("h3:has-text('Elements of filter') + table").inner_text()
    mean = float(re.search(r"mean\t(\S+)", table)[1])
    assert mean == pytest.approx(arrays["w"].astype(np.float64).mean(), rel=1e-3)


def test_models_without_data_have_no_weights(tmp_path):
    output = tmp_path / "net.html"
    assert "the model has no data of variables" in refused("draw", MOBILENET, "--weights", "-o", output)
    assert not output.exists()


@pytest.mark.parametrize("name", ["net.dot", "net.svg"])
@pytest.mark.parametrize("option", [["--weights"], ["--profile", "profile.json"]])
def test_graphviz_shows_neither_weights_nor_times(weighted, tmp_path, name, option):
    assert "by a page (`.html`) or described by a `.json` only" in refused("draw", weighted[0], *option, "-o", tmp_path / name)
    assert not (tmp_path / name).exists()


def test_data_that_cannot_be_read_are_errors(weighted, tmp_path):
    path = weighted[0] / "w.dat"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(subprocess.CalledProcessError) as caught:
        nnefc("draw", weighted[0], "--weights", "-o", tmp_path / "net.html")
    assert caught.value.returncode in (1, 2)
    assert "w.dat" in caught.value.stderr
    assert not (tmp_path / "net.html").exists()


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    path = tmp_path_factory.mktemp("profile") / "profile.json"
    path.write_text(nnefc("run", MOBILENET, "--random-weights", "1", "--random-inputs", "1", "--profile", "--format", "json"))
    return path


def test_times_are_those_of_the_profile(described, profile):
    written = json.loads(profile.read_text())
    found = described(MOBILENET, "--profile", profile)
    nodes = [node for node in found["graph"]["nodes"] if "milliseconds" in node]
    for key, other in (("milliseconds", "milliseconds"), ("arithmetic", "operations"), ("bytes", "bytes")):
        assert sum(node[key] for node in nodes) == pytest.approx(sum(step[other] for step in written["profile"]))
    times = {step["name"]: step["milliseconds"] for step in written["profile"]}
    assert all(node["milliseconds"] == times[node["name"]] for node in nodes if [step["name"] for step in written["profile"]].count(node["name"]) == 1)
    assert found["profile"] == {"milliseconds": pytest.approx(sum(step["milliseconds"] for step in written["profile"])),
                                "steps": len(written["profile"]), "without_node": 0,
                                "peak_operations_per_second": written["peak_operations_per_second"]}
    assert found["costs"]["macs"] > 0


def test_a_roofline_of_measured_times(draw, profile):
    drawing = draw(MOBILENET, "--profile", profile)
    steps = json.loads(profile.read_text())["profile"]
    slowest = max(steps, key=lambda step: step["milliseconds"])
    chart = drawing.page.locator("#details svg.roofline")
    measured = [step for step in steps if step["operations"] > 0]
    assert chart.get_attribute("aria-label").startswith(f"Roofline of {len(measured)} operations: ")
    points = [(float(each.get_attribute("cx")), float(each.get_attribute("cy"))) for each in chart.locator("circle").all()]
    assert len(points) == len(measured)
    # No point is above the slope. A kernel with fewer operations than those that are counted, such as Winograd, may exceed the peak.
    corners = [tuple(map(float, each.split(","))) for each in re.findall(r"[\d.]+,[\d.]+", chart.locator(".roof").get_attribute("d"))]
    (x0, y0), (x1, y1), _ = corners
    for x, y in points:
        assert y >= y0 + (y1 - y0) * (x - x0) / (x1 - x0) - 0.2
    peak = json.loads(profile.read_text())["peak_operations_per_second"]
    fast = [step for step in measured if step["operations"] / step["milliseconds"] * 1e3 > peak]
    assert sum(y < y1 for _, y in points) == pytest.approx(len(fast), abs=1)
    rows = drawing.details.locator("h3:has-text('Slowest operations') + table tbody tr")
    name, milliseconds, speed, intensity = rows.first.inner_text().split("\t")
    assert name.strip() == slowest["name"]
    assert float(milliseconds) == pytest.approx(slowest["milliseconds"], rel=1e-3)
    assert float(speed) == pytest.approx(slowest["operations"] / slowest["milliseconds"] / 1e6, rel=1e-3)
    assert float(intensity) == pytest.approx(slowest["operations"] / slowest["bytes"], rel=1e-3)
    drawing.page.select_option("#measure", "milliseconds")
    assert drawing.page.locator("#canvas g[class*=level]").count() > 10
    drawing.page.click("#unfold")
    shares = {label: float(found[1]) for label in drawing.labels() if not label.startswith("group ") and (found := re.search(r"\(([\d.e-]+) %\)", label))}
    (longest,) = (label for label in shares if f", {slowest['name']}," in label)
    assert shares[longest] == max(shares.values())
    assert shares[longest] == pytest.approx(100 * slowest["milliseconds"] / sum(step["milliseconds"] for step in steps), rel=0.06)
    rows.first.get_by_role("button").click()
    assert "Gop/s" in drawing.details.inner_text() and slowest["kernel"] in drawing.details.inner_text()


def test_times_are_summed_and_may_lack_a_node(described, tmp_path):
    model = tmp_path / "net.nnef"
    model.write_text("version 1.0;\ngraph net(x) -> (y)\n{\n    x = external<scalar>(shape = [1, 4]);\n    a = exp(x);\n    y = tanh(a);\n}\n")
    step = {"name": "a", "operation": "Exp", "kernel": "one", "milliseconds": 1.5, "operations": 10, "bytes": 4}
    path = tmp_path / "profile.json"

    def times(*steps):
        path.write_text(json.dumps({"profile": steps}))
        return described(model, "--profile", path)

    found = times(step, step | {"kernel": "two", "milliseconds": 2}, step | {"name": "other"}, step | {"name": "another"})
    (node,) = (node for node in found["graph"]["nodes"] if "milliseconds" in node)
    assert (node["name"], node["milliseconds"], node["arithmetic"], node["bytes"], node["kernel"]) == ("a", 3.5, 20, 8, "one+two")
    assert found["profile"] == {"milliseconds": 6.5, "steps": 4, "without_node": 2}
    path.write_text(json.dumps({"profile": [step] + 2 * [step | {"name": "other"}]}))
    assert "1 of its 3 steps have the name of an operation" in refused("draw", model, "--profile", path, "-o", tmp_path / "net.html")


STEP = '"name": "y", "operation": "Exp", "kernel": "k", "milliseconds": 1, "operations": 1'


@pytest.mark.parametrize(("text", "message"), [
    ("{", "invalid JSON"), ("[]", "found no list `profile`"), ("{}", "found no list `profile`"), ('{"profile": 1}', "found no list `profile`"),
    ('{"profile": []}', "0 of its 0 steps"), ('{"profile": [1]}', "step 0 of `profile` lacks"), (f'{{"profile": [{{{STEP}}}]}}', "step 0 of `profile` lacks"),
    (f'{{"profile": [{{{STEP}, "bytes": -1}}]}}', "step 0 of `profile` lacks"), (f'{{"profile": [{{{STEP}, "bytes": "1"}}]}}', "step 0 of `profile` lacks"),
    (None, "cannot open"),
])
def test_files_that_are_no_profile(tmp_path, text, message):
    path = tmp_path / "profile.json"
    if text is not None:
        path.write_text(text)
    found = refused("draw", MOBILENET, "--profile", path, "-o", tmp_path / "net.html")
    assert message in found and str(path) in found
    assert not (tmp_path / "net.html").exists()


def test_hostile_profiles(draw, tmp_path):
    model = tmp_path / "net.nnef"
    model.write_text("version 1.0;\ngraph net(x) -> (y)\n{\n    x = external<scalar>(shape = [1, 4]);\n    y = exp(x);\n}\n")
    path = tmp_path / "profile.json"
    kernel = "</script><img src=x onerror=\"document.title='broken'\">"
    path.write_text(json.dumps({"profile": [{"name": "y", "operation": "Exp", "kernel": kernel, "milliseconds": 0, "operations": 1e300, "bytes": 0}]}))
    drawing = draw(model, "--profile", path)
    drawing.item("Exp, y").click()
    assert kernel in drawing.details.inner_text()
    assert drawing.page.locator("img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_accessibility(draw, weighted, profile, scheme, width):
    drawing = draw(MOBILENET, "--profile", profile, scheme=scheme, width=width)
    drawing.page.select_option("#measure", "milliseconds")
    assert violations(drawing.page) == []
    drawing = draw(weighted[0], "--weights", scheme=scheme, width=width)
    drawing.search("conv")
    drawing.page.keyboard.press("Enter")
    assert drawing.page.locator("svg.histogram").count() == 2
    assert violations(drawing.page) == []
    assert not drawing.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
