"""`nnefc diff`: structure of random graphs with known changes, data of variables by NumPy, outputs by NumPy, and the page."""

from __future__ import annotations

import json
import random
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from tensor_files import write_dat

NETWORKS = Path(__file__).resolve().parent.parent.parent / "networks"
NET = """version 1.0;
graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    w = variable(shape = [4, 3, 3, 3], label = 'w');
    a = conv(x, w, 0.0, padding = [(1, 1), (1, 1)]);
    b = relu(a);
    y = softmax(b);
}
"""


def run(nnefc: Path, folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(nnefc), "diff", *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def compare(nnefc: Path, folder: Path, old: str, new: str, *words: object) -> dict:
    (folder / "old.nnef").write_text(old, encoding="utf-8")
    (folder / "new.nnef").write_text(new, encoding="utf-8")
    done = run(nnefc, folder, "old.nnef", "new.nnef", "--format", "json", *words)
    assert done.returncode in (0, 1), done.stderr
    value = json.loads(done.stdout)
    is_equal = value["equal"] and value.get("values", {"within": True})["within"]
    assert done.returncode == (0 if is_equal else 1)
    return value


# A random graph: for each operation its name and the indices of its operands.
UNARY, BINARY = ["relu", "tanh", "sigmoid", "abs", "neg"], ["add", "sub", "mul", "max"]


def random_graph(random_: random.Random, size: int) -> list[tuple[str, list[int]]]:
    operations: list[tuple[str, list[int]]] = []
    for index in range(size):
        # Operands are -1 for the input, or earlier operations.
        kind = random_.choice(UNARY + BINARY)
        operations.append((kind, [random_.randrange(-1, index) for _ in range(2 if kind in BINARY else 1)]))
    return operations


def document(operations: list[tuple[str, list[int]]], names: list[str], order: list[int]) -> str:
    """Returns the graph with all tensors that nothing reads as its results, in the order of `operations`."""
    used = {operand for _, operands in operations for operand in operands}
    results = [names[index] for index in range(len(operations)) if index not in used]
    lines = [f"    {names[index]} = {operations[index][0]}({', '.join('x' if k < 0 else names[k] for k in operations[index][1])});"
             for index in order]
    body = "\n".join(lines)
    return (f"version 1.0;\ngraph net( x ) -> ( {', '.join(results)} )\n{{\n    x = external(shape = [2, 3]);\n{body}\n}}\n")


def shuffled(random_: random.Random, operations: list[tuple[str, list[int]]]) -> list[int]:
    """Returns another topological order."""
    order: list[int] = []
    while len(order) < len(operations):
        ready = [index for index, (_, operands) in enumerate(operations)
                 if index not in order and all(k < 0 or k in order for k in operands)]
        order.append(random_.choice(ready))
    return order


@pytest.mark.parametrize("seed", range(8))
def test_isomorphic_graphs_do_not_differ(nnefc: Path, tmp_path: Path, seed: int) -> None:
    """Renamed inner tensors in another order: the same graph."""
    random_ = random.Random(seed)
    operations = random_graph(random_, 25)
    used = {operand for _, operands in operations for operand in operands}
    names = [f"t{index}" for index in range(25)]
    others = [f"r{(index * 7) % 25}" if index in used else f"t{index}" for index in range(25)]
    value = compare(nnefc, tmp_path, document(operations, names, list(range(25))),
                    document(operations, others, shuffled(random_, operations)))
    assert value["equal"], value


@pytest.mark.parametrize("seed", range(8))
def test_one_replaced_operation(nnefc: Path, tmp_path: Path, seed: int) -> None:
    """One operation of another kind, all inner tensors renamed: it is removed and added, and its readers read another tensor."""
    random_ = random.Random(seed)
    operations = random_graph(random_, 25)
    used = {operand for _, operands in operations for operand in operands}
    changed = random_.choice([index for index, (kind, _) in enumerate(operations) if kind in UNARY and index in used])
    replaced = list(operations)
    replaced[changed] = ("exp", operations[changed][1])
    names = [f"t{index}" for index in range(25)]
    others = [f"r{index}" if index in used else f"t{index}" for index in range(25)]
    value = compare(nnefc, tmp_path, document(operations, names, list(range(25))), document(replaced, others, list(range(25))))
    assert not value["equal"]
    added = [entry["new"]["operation"] for entry in value["operations"] if entry["change"] == "added"]
    assert added == ["exp"]
    removed = [entry["old"]["operation"] for entry in value["operations"] if entry["change"] == "removed"]
    assert removed == [operations[changed][0]]
    readers = sum(changed in operands for _, operands in operations)
    entries = [entry for entry in value["operations"] if entry["change"] == "changed"]
    assert len(entries) == readers
    assert all(entry["attributes"] == [] and entry["inputs"] for entry in entries)


def test_an_attribute(nnefc: Path, tmp_path: Path) -> None:
    value = compare(nnefc, tmp_path, NET, NET.replace("(1, 1), (1, 1)", "(1, 1), (0, 2)"))
    (entry,) = value["operations"]
    assert (entry["change"], entry["inputs"]) == ("changed", [])
    assert [(each["name"], each["old"], each["new"]) for each in entry["attributes"]] == [
        ("padding", "[[1, 1], [1, 1]]", "[[1, 1], [0, 2]]")]


def test_a_literal(nnefc: Path, tmp_path: Path) -> None:
    """A changed bias that no variable has."""
    value = compare(nnefc, tmp_path, NET, NET.replace("w, 0.0", "w, 0.5"))
    (entry,) = value["operations"]
    assert [(each["index"], float(each["old"]), float(each["new"])) for each in entry["inputs"]] == [(2, 0.0, 0.5)]


def test_shapes(nnefc: Path, tmp_path: Path) -> None:
    value = compare(nnefc, tmp_path, NET, NET.replace("[1, 3, 8, 8]", "[2, 3, 8, 8]"))
    assert [(each["old"]["shape"], each["new"]["shape"]) for each in value["inputs"]] == [([1, 3, 8, 8], [2, 3, 8, 8])]
    assert value["operations"] == []
    assert [(each["old"]["shape"], each["new"]["shape"]) for each in value["tensors"]] == [([1, 4, 8, 8], [2, 4, 8, 8])] * 3


def test_an_output_of_another_tensor(nnefc: Path, tmp_path: Path) -> None:
    """The same operations with the same names of the results, but another one is the output."""
    old = "version 1.0;\ngraph net( x ) -> ( y, z )\n{\n    x = external(shape = [3]);\n    y = relu(x);\n    z = tanh(x);\n}\n"
    new = old.replace("y = relu", "q = relu").replace("z = tanh", "y = tanh").replace("q = relu", "z = relu")
    value = compare(nnefc, tmp_path, old, new)
    assert not value["equal"]
    assert [entry["old"]["name"] for entry in value["outputs"]] == ["y", "z"]


def model(folder: Path, data: np.ndarray, text: str = NET) -> Path:
    folder.mkdir()
    (folder / "graph.nnef").write_text(text, encoding="utf-8")
    write_dat(folder / "w.dat", data)
    return folder


@pytest.mark.parametrize("change", ["none", "one", "nan", "both_nan", "sign_of_zero"])
def test_data_of_variables(nnefc: Path, tmp_path: Path, change: str) -> None:
    old = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(np.float32)
    old[0, 0, 0, 0] = 0.0
    new = old.copy()
    if change == "one":
        new[1, 2, 0, 1] += 0.5
        new[3, 0, 0, 0] -= 0.25
    elif change == "nan":
        new[0, 0, 0, 1] = np.nan
    elif change == "both_nan":
        old[0, 0, 0, 1] = new[0, 0, 0, 1] = np.nan
    elif change == "sign_of_zero":
        new[0, 0, 0, 0] = -0.0
    model(tmp_path / "old", old)
    model(tmp_path / "new", new)
    done = run(nnefc, tmp_path, "old", "new", "--format", "json")
    value = json.loads(done.stdout)
    same = np.array_equal(old, new, equal_nan=True)
    assert (done.returncode, value["equal"]) == (0 if same else 1, same)
    if same:
        return
    (entry,) = value["variables"]
    different = np.abs(old.astype(np.float64) - new.astype(np.float64))
    assert entry["elements"] == np.count_nonzero(old != new)
    assert entry["largest"] == ("inf" if np.isnan(different).any() else different.max())
    assert run(nnefc, tmp_path, "old", "new", "--no-data").returncode == 0


def test_outputs_and_the_first_operation(nnefc: Path, tmp_path: Path) -> None:
    """`b` changes, `a` before it does not, `y` after it does."""
    text = ("version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n    a = tanh(x);\n"
            "    b = mul(a, 2.0);\n    y = add(b, 1.0);\n}\n")
    inputs = np.array([[0.1, -0.2, 0.3], [1, 2, -3]], np.float32)
    np.savez(tmp_path / "in.npz", x=inputs)
    value = compare(nnefc, tmp_path, text, text.replace("2.0", "2.5"), "--inputs", "in.npz")
    expected, actual = np.tanh(inputs) * 2 + 1, np.tanh(inputs) * 2.5 + 1
    (output,) = value["values"]["outputs"]
    assert output["difference"] == pytest.approx(np.abs(actual - expected).max() / np.abs(expected).max(), rel=1e-5)
    assert (value["values"]["first"]["old"], value["values"]["first"]["operation"]) == ("b", "mul")
    same = compare(nnefc, tmp_path, text, text.replace("b", "c"), "--random-inputs", 3)
    assert same["equal"] and same["values"]["within"]
    # Within a large tolerance, the outputs agree although the structure differs.
    near = compare(nnefc, tmp_path, text, text.replace("2.0", "2.0001"), "--random-inputs", 3, "--tolerance", "very")
    assert near["values"]["within"] and not near["equal"]


def test_renamed_inputs_get_the_same_data(nnefc: Path, tmp_path: Path) -> None:
    new = NET.replace("x", "image").replace("softmaimage", "softmax").replace("eimageternal", "external")
    value = compare(nnefc, tmp_path, NET, new, "--random-inputs", 1, "--random-weights", 1)
    assert [(each["old"]["name"], each["new"]["name"]) for each in value["inputs"]] == [("x", "image")]
    assert value["operations"] == [] and value["values"]["within"]


def test_a_document_and_its_openvino_form(nnefc: Path, tmp_path: Path) -> None:
    model(tmp_path / "net", np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(np.float32))
    subprocess.run([str(nnefc), "compile", "net", "-o", "net.xml"], cwd=tmp_path, check=True, timeout=60)
    done = run(nnefc, tmp_path, "net", "net.xml", "--random-inputs", 1)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "no difference"), done.stdout


def test_a_network_and_its_flat_form(nnefc: Path, tmp_path: Path) -> None:
    network = NETWORKS / "googlenet_provisional.nnef"
    subprocess.run([str(nnefc), "expand", str(network), "-o", "flat.nnef"], cwd=tmp_path, check=True, timeout=60)
    done = run(nnefc, tmp_path, network, "flat.nnef")
    assert (done.returncode, done.stderr) == (0, "")


class Page(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text += data


def read_page(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    assert page.open == []
    return page


def test_page(nnefc: Path, tmp_path: Path) -> None:
    """The name of a file that is code in HTML stays text."""
    hostile = "<script>alert(1)<&amp;.nnef"
    for name in (hostile, "old.nnef"):
        (tmp_path / name).write_text(NET, encoding="utf-8")
    (tmp_path / "new.nnef").write_text(NET.replace("relu", "tanh"), encoding="utf-8")
    for name, page_name in ((hostile, "hostile.html"), ("old.nnef", "plain.html")):
        done = run(nnefc, tmp_path, name, "new.nnef", "-o", page_name)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert {path.name for path in tmp_path.iterdir()} == {hostile, "old.nnef", "new.nnef", "hostile.html", "plain.html"}
    page, plain = read_page(tmp_path / "hostile.html"), read_page(tmp_path / "plain.html")
    assert page.tags == plain.tags
    assert not [tag for tag, _ in page.tags if tag in ("img", "link", "iframe")]
    assert not [name for _, attributes in page.tags for name in attributes if name in ("src", "href") or name.startswith("on")]
    changes = [attributes["class"] for tag, attributes in page.tags if tag == "tr" and "class" in attributes]
    assert sorted(changes) == ["added", "changed", "removed", "same"]
    assert "tanh(" in page.text and "relu(" in page.text and hostile in page.text


@pytest.mark.parametrize(("words", "expected"), [
    (["old.nnef"], "MODEL"),
    (["old.nnef", "old.nnef", "-o", "diff.pdf"], "`diff` writes a page to a `.html`"),
    (["old.nnef", "old.nnef", "-o", "old.nnef"], "cannot write `old.nnef`"),
    (["old.nnef", "old.nnef", "--tolerance", "close"], "`--tolerance` is for outputs"),
    (["old.nnef", "missing.nnef"], "missing.nnef")])
def test_misuse(nnefc: Path, tmp_path: Path, words: list[str], expected: str) -> None:
    (tmp_path / "old.nnef").write_text(NET, encoding="utf-8")
    done = run(nnefc, tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


def test_an_invalid_model(nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "old.nnef").write_text(NET, encoding="utf-8")
    (tmp_path / "new.nnef").write_text(NET.replace("relu(a)", "relu(a, 1)"), encoding="utf-8")
    done = run(nnefc, tmp_path, "old.nnef", "new.nnef")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("new.nnef:7:")
