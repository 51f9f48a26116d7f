"""Models inside a model, which `tract_core_submodel` calls by label: folders, archives, nested archives. Compared with
NumPy and tract, on both backends and as OpenVINO IR."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openvino
import pytest
import safetensors.numpy
import tract

from models import Nnefc
from tensor_files import write_dat

HEAD = "version 1.0;\nextension tract_registry tract_core;\n"
OUTER = HEAD + """graph net( x ) -> ( y, s )
{
    x = tract_core_external(shape = [2, 3], datum_type = 'f32');
    w = variable<scalar>(label = 'w', shape = [3, 3]);
    h = matmul(x, w);
    (a, b) = tract_core_submodel([h, x], label = 'part');
    c = tract_core_submodel([a, b], label = 'part');
    [d, e] = tract_core_submodel([b, x], label = 'part');
    y = add(a, d);
    s = mul(b, e);
}
"""
# tract calls an inner model at most once, and finds none in a nested folder.
ONCE = HEAD + """graph net( x ) -> ( y, s )
{
    x = tract_core_external(shape = [2, 3], datum_type = 'f32');
    w = variable<scalar>(label = 'w', shape = [3, 3]);
    h = matmul(x, w);
    (a, b) = tract_core_submodel([h, x], label = 'part');
    y = relu(a);
    s = tanh(b);
}
"""
PART = HEAD + """extension tract_symbol N;
extension tract_assert N >= 2;
graph part( p, q ) -> ( sum, all )
{
    p = tract_core_external(shape = [N, 3], datum_type = 'f32');
    q = tract_core_external(shape = [N, 3], datum_type = 'f32');
    w = variable<scalar>(label = 'w', shape = [1, 3]);
    pw = mul(p, w);
    sum = add(pw, q);
    all = tract_core_submodel([sum], label = 'norm');
}
"""
NORM = HEAD + """fragment shifted( v: tensor<scalar>, by: tensor<scalar> ) -> ( r: tensor<scalar> )
{
    r = sub(v, by);
}
graph norm( v ) -> ( r )
{
    v = tract_core_external(shape = [2, 3], datum_type = 'f32');
    m = mean_reduce(v, axes = [1]);
    r = shifted(v, m);
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    folder = tmp_path / "net"
    (folder / "part" / "norm").mkdir(parents=True)
    for place, text in (("", OUTER), ("part", PART), ("part/norm", NORM)):
        (folder / place / "graph.nnef").write_text(text)
    write_dat(folder / "w.dat", rng.standard_normal((3, 3)).astype("f4"))
    write_dat(folder / "part" / "w.dat", rng.standard_normal((1, 3)).astype("f4"))
    np.savez(tmp_path / "in.npz", x=rng.standard_normal((2, 3)).astype("f4"))
    return folder


def pack(folder: Path, path: Path) -> Path:
    """Packs a folder to an archive and removes the folder."""
    with tarfile.open(path, "w:gz" if path.suffix in (".tgz", ".gz") else "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.add(file, arcname=str(file.relative_to(folder)))
    shutil.rmtree(folder)
    return path


@pytest.fixture
def run(nnefc: Path, tmp_path: Path) -> Callable:
    return Nnefc(nnefc, tmp_path).call


FORMS = ["folder", "tar", "tgz", "part.nnef.tgz", "part.nnef.tar", "norm.nnef.tgz", "all tgz", "all tar"]


def packed(model: Path, form: str) -> Path:
    part = model / "part"
    if form.startswith("all"):
        suffix = form.removeprefix("all ")
        pack(part / "norm", part / f"norm.nnef.{suffix}")
        pack(part, model / f"part.nnef.{suffix}")
        return pack(model, model.with_suffix(f".{suffix}"))
    if form.startswith("part"):
        pack(part, model / form)
    if form.startswith("norm"):
        pack(part / "norm", part / form)
    return pack(model, model.with_suffix(f".{form}")) if form in ("tar", "tgz") else model


def outputs_of(path: Path) -> list[np.ndarray]:
    with np.load(path) as file:
        return [file["y"], file["s"]]


def run_net(model: Path, x: np.ndarray, scale: float = 1) -> list[np.ndarray]:
    """Computes OUTER."""
    outer, own = (np.frombuffer((model / place / "w.dat").read_bytes()[128:], "<f4") for place in ("", "part"))

    def part(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        total = p * (scale * own) + q
        return total, total - total.mean(axis=1, keepdims=True)

    a, b = part(x @ outer.reshape(3, 3), x)
    d, e = part(b, x)
    return [a + d, b * e]


def check_runs(run: Callable, path: Path, tmp_path: Path, expected: list[np.ndarray]) -> None:
    """Checks both backends and OpenVINO. Sums of three products in f32: 1e-5."""
    for backend in ("reference", "fast"):
        done = run("run", path, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz", "--backend", backend)
        assert done.returncode == 0, done.stderr
        for seen, wanted in zip(outputs_of(tmp_path / "out.npz"), expected, strict=True):
            np.testing.assert_allclose(seen, wanted, rtol=1e-5, atol=1e-5)
    done = run("compile", path, "-o", tmp_path / "net.xml")
    assert done.returncode == 0, done.stderr
    compiled = openvino.Core().compile_model(str(tmp_path / "net.xml"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    for seen, wanted in zip(compiled([np.load(tmp_path / "in.npz")["x"]]).values(), expected, strict=True):
        np.testing.assert_allclose(seen, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_runs_in_every_form(run: Callable, model: Path, tmp_path: Path, form: str) -> None:
    expected = run_net(model, np.load(tmp_path / "in.npz")["x"])
    check_runs(run, packed(model, form), tmp_path, expected)


@pytest.mark.parametrize("form", ["norm.nnef.tgz", "all tgz", "all tar"])
def test_agrees_with_tract(run: Callable, model: Path, tmp_path: Path, form: str) -> None:
    (model / "graph.nnef").write_text(ONCE)
    path = packed(model, form)
    x = np.load(tmp_path / "in.npz")["x"]
    check_runs(run, path, tmp_path, [value.to_numpy() for value in tract.nnef().load(str(path)).into_runnable().run([x])])


def test_flat_document_and_upgraded_model_have_none(run: Callable, model: Path, tmp_path: Path) -> None:
    done = run("expand", model, "-o", tmp_path / "flat.nnef")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "flat.nnef").read_text()
    assert "label = 'part/w'" in text and "tract" not in text
    assert run("check", "--strict", tmp_path / "flat.nnef").returncode == 0
    upgraded = tmp_path / "upgraded"
    assert run("upgrade", pack(model, tmp_path / "net.tgz"), "-o", upgraded).returncode == 0
    results = []
    for path in (upgraded, tmp_path / "net.tgz"):
        done = run("run", path, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
        assert done.returncode == 0, done.stderr
        results.append(outputs_of(tmp_path / "out.npz"))
    for ours, same in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, same)


def test_resources_and_safetensors_are_the_inner_models_own(run: Callable, model: Path, tmp_path: Path) -> None:
    """`w` and `config` inside differ from those outside."""
    part = model / "part"
    x = np.load(tmp_path / "in.npz")["x"]
    expected = run_net(model, x, 3)
    safetensors.numpy.save_file({"w": np.frombuffer((part / "w.dat").read_bytes()[128:], "<f4").reshape(1, 3)}, part / "w.safetensors")
    (part / "w.dat").unlink()
    (part / "config.json").write_text(json.dumps({"scale": 3.0}))
    (model / "config.json").write_text(json.dumps({"scale": 5.0}))
    text = PART.replace("tract_core;\n", "tract_core;\nextension tract_registry tract_resource;\n", 1)
    (part / "graph.nnef").write_text(text.replace("mul(p, w)", "mul(p, tract_resource_get('config', '$.scale') * w)"))
    for form in ("folder", "part.nnef.tgz"):
        check_runs(run, packed(model, form), tmp_path, expected)


@pytest.mark.parametrize("place, change, told", [
    ("", ("label = 'part'", "label = 'parts'"), ["graph.nnef:8:", "neither a folder `parts`", "[submodel.missing]"]),
    ("", ("label = 'part'", "label = '../net/part'"), ["[submodel.missing]"]),
    ("", ("label = 'part'", "label = '/etc'"), ["[submodel.missing]"]),
    ("", ("[h, x]", "[h]"), ["part/graph.nnef:8:", "than the 1 tensor that", "[submodel.input]"]),
    ("", ("[h, x]", "[h, x, x]"), ["graph.nnef:8:", "takes 2 of the 3 tensors that it is given", "[submodel.input]"]),
    ("part", ("q = tract_core_external(shape = [N, 3]", "q = tract_core_external(shape = [N, 4]"),
     ["part/graph.nnef:8:", "`q` is `scalar` of shape [2,4], but is given `scalar` of shape [2,3]", "[submodel.input]"]),
    ("part", ("datum_type = 'f32'", "datum_type = 'i64'"), ["`integer`", "[submodel.input]"]),
    ("part", ("N >= 2", "N >= 3"), ["part/graph.nnef:4:", "[assertion.fails]"]),
    ("part", ("add(pw, q)", "add(pw, r)"), ["part/graph.nnef:11:", "`r`"]),
    ("part/norm", ("v = tract_core_external", "v := tract_core_external"), ["part/norm/graph.nnef:9:", "[syntax."]),
    ("part/norm", ("axes = [1]", "axes = [5]"), ["part/norm/graph.nnef:10:", "in `tract_core_submodel`, instantiated here"]),
])
def test_mistakes_are_told_where_they_are(run: Callable, model: Path, place: str, change: tuple[str, str],
                                          told: list[str]) -> None:
    path = model / place / "graph.nnef"
    text = path.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change))
    done = run("check", model)
    assert done.returncode == 1
    for part in told:
        assert part in done.stderr, done.stderr


def test_hostile_archives_are_refused(run: Callable, model: Path, tmp_path: Path) -> None:
    """A damaged archive, one next to a folder of its name, one whose entries escape, one larger than the bound."""
    part = model / "part"
    shutil.copytree(part, tmp_path / "copy")
    pack(tmp_path / "copy", model / "part.nnef.tgz")
    done = run("check", model)
    assert done.returncode == 1 and "[container.several-graphs]" in done.stderr, done.stderr
    shutil.rmtree(part)
    data = (model / "part.nnef.tgz").read_bytes()
    for cut in (0, 9, 20, len(data) // 2, len(data) - 5):
        (model / "part.nnef.tgz").write_bytes(data[:cut])
        done = run("check", model)
        assert done.returncode == 1 and "[archive." in done.stderr, done.stderr
    (model / "part.nnef.tgz").write_bytes(data)
    done = run("check", model, "--max-bytes", "1000")
    assert done.returncode == 1 and "[archive.too-large]" in done.stderr, done.stderr
    with tarfile.open(model / "part.nnef.tgz", "w:gz") as archive:
        archive.add(model / "w.dat", arcname="../w.dat")
    done = run("check", model)
    assert done.returncode == 1 and "[archive.outside]" in done.stderr, done.stderr


def test_archives_within_each_other_end(run: Callable, tmp_path: Path) -> None:
    """Twenty nested archives: reported, with memory in proportion to their size."""
    text = HEAD + "graph a( x ) -> ( y )\n{\n    x = tract_core_external(shape = [1], datum_type = 'f32');\n    y = %s;\n}\n"
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "graph.nnef").write_text(text % "relu(x)")
    for depth in range(20):
        archive = pack(folder, tmp_path / f"a{depth}.tgz")
        folder.mkdir()
        (folder / "graph.nnef").write_text(text % "tract_core_submodel([x], label = 'a')")
        archive.rename(folder / "a.nnef.tgz")
    done = run("check", folder)
    assert done.returncode == 1 and "archives within each other" in done.stderr, done.stderr


def test_calls_that_double_at_each_level_end(run: Callable, tmp_path: Path) -> None:
    """Thirty nested models, each calling the next twice: a billion calls, stopped by a limit within seconds."""
    folder = tmp_path / "net"
    external = "x = tract_core_external(shape = [1], datum_type = 'f32');"
    twice = "z = tract_core_submodel([x], label = 'a');\n    y = tract_core_submodel([z], label = 'a');"
    for depth in range(31):
        folder.mkdir()
        body = twice if depth < 30 else "y = x;"
        (folder / "graph.nnef").write_text(f"{HEAD}extension tract_symbol S;\nextension tract_assert S >= 1;\n"
                                           f"graph a( x ) -> ( y )\n{{\n    {external}\n    {body}\n}}\n")
        folder /= "a"
    done = run("check", tmp_path / "net")
    assert done.returncode == 1 and "[limit." in done.stderr, done.stderr
