"""`nnefc lint` compares the variables of a document with the tensor files of its model: their items, shapes and labels."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

TYPES = {"scalar": "", "integer": "<integer>", "logical": "<logical>"}
# The items of tensor files: code, bits, and the byte or bytes of one item.
RATIFIED = {"float": (0, 32, "0000803f"), "half": (0, 16, "003c"), "unsigned": (1, 8, "01"), "signed": (4, 8, "01"), "bit": (1, 1, "80"),
            "bool": (5, 8, "01"), "bool_bit": (5, 1, "80"), "quantized": (2, 8, "01"), "quantized_signed": (3, 8, "01"),
            "linear": (0x10, 8, "01")}
PROVISIONAL = {"float": (0, 32, "0000803f"), "quantized": (1, 8, "01"), "signed": (2, 8, "01"), "unsigned": (3, 8, "01"), "bit": (3, 1, "80")}
# R 5.2.1, the deprecated item types of R 5.2, which stand for floats, and integers of one bit for logicals.
FITS_RATIFIED = {"scalar": {"float", "half", "quantized", "quantized_signed", "linear"}, "integer": {"unsigned", "signed", "bit"},
                 "logical": {"bool", "bool_bit", "bit"}}
# P 5.2 has no bools: integers stand for them.
FITS_PROVISIONAL = {"scalar": {"float", "quantized"}, "integer": {"signed", "unsigned", "bit"}, "logical": {"signed", "unsigned", "bit"}}


def _ratified(code: int, bits: int, items: bytes, shape: tuple[int, ...] = (1,)) -> bytes:
    extents = [*shape, *[0] * (8 - len(shape))]
    header = struct.pack("<4sII8III", b"\x4e\xef\x01\x00", len(items), len(shape), *extents, bits, code)
    return (header + struct.pack("<2f", 0.0, 1.0)).ljust(128, b"\0") + items


def _provisional(code: int, bits: int, items: bytes) -> bytes:
    return struct.pack("<4sIIIBBH", b"\x4e\xef\x01\x00", 20, 1, 1, code, bits, 0) + items


def _lint(nnefc: Path, folder: Path, *options: str) -> tuple[int, list[str]]:
    """Returns the exit code, and the diagnostics of variables and their files."""
    done = subprocess.run([str(nnefc), "lint", "model", *options], cwd=folder.parent, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, [line for line in done.stderr.splitlines() if re.search(r"\[(lint\.data|lint\.variable-without|variable)[a-z.-]*\]$", line)]


def _write(folder: Path, statements: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "graph.nnef").write_text(f"version 1.0;\ngraph net( x ) -> ( y )\n{{\n    x = external(shape = [2]);\n{statements}    y = copy(x);\n}}\n")


@pytest.fixture(name="model")
def _model(tmp_path: Path) -> Path:
    return tmp_path / "model"


@pytest.mark.parametrize(("items", "fits"), [(RATIFIED, FITS_RATIFIED), (PROVISIONAL, FITS_PROVISIONAL)], ids=["ratified", "provisional"])
def test_items_fit_the_type_of_the_variable(items: dict[str, tuple[int, int, str]], fits: dict[str, set[str]], nnefc: Path, model: Path) -> None:
    cases = [(kind, form) for kind in TYPES for form in items]
    _write(model, "".join(f"    {kind}_{form} = variable{TYPES[kind]}(shape = [1], label = '{kind}_{form}');\n" for kind, form in cases))
    make = _ratified if items is RATIFIED else _provisional
    for kind, form in cases:
        code, bits, content = items[form]
        (model / f"{kind}_{form}.dat").write_bytes(make(code, bits, bytes.fromhex(content)))
    returncode, found = _lint(nnefc, model)
    wrong = {f"{kind}_{form}" for kind, form in cases if form not in fits[kind]}
    assert {re.search(r"`(\w+)\.dat` holds", line)[1] for line in found if "[lint.data-type]" in line} == wrong
    assert (returncode, len([line for line in found if "[lint.data-" in line])) == (1, len(wrong))


FLOATS = _ratified(0, 32, struct.pack("<2f", 1, 2), (2,))


def _found(nnefc: Path, folder: Path, *options: str) -> list[tuple[str, str]]:
    """Returns the label and the name of the file or variable of each finding, in order."""
    _, lines = _lint(nnefc, folder, *options)
    return [(re.search(r"\[lint\.([a-z-]+)\]", line)[1], re.search(r"`([^`]+)`", line.split(": ", 2)[2])[1]) for line in lines]


@pytest.mark.parametrize(("shape", "is_equal"), [((2,), True), ((1,), False), ((3,), False), ((2, 1), False), ((1, 2), False), ((), False)])
def test_shapes_of_files_are_those_of_variables(shape: tuple[int, ...], is_equal: bool, nnefc: Path, model: Path) -> None:
    _write(model, "    v = variable(shape = [2], label = 'v');\n    w = variable(shape = [2], label = 'v');\n")
    volume = int(np.prod(shape))
    (model / "v.dat").write_bytes(_ratified(0, 32, struct.pack(f"<{volume}f", *range(volume)), shape))
    # Once for each label.
    assert _found(nnefc, model) == ([] if is_equal else [("data-shape", "v.dat")])
    # The type is compared, too.
    (model / "v.dat").write_bytes(_ratified(4, 32, bytes(4 * volume), shape))
    shapes, types = [] if is_equal else [("data-shape", "v.dat")], [("data-type", "v.dat")]
    assert _found(nnefc, model) == shapes + types
    # Each finding is enabled separately.
    assert _found(nnefc, model, "--disable", "data-type") == shapes
    assert _found(nnefc, model, "--disable", "data-shape") == types
    assert _found(nnefc, model, "--disable", "data-shape,data-type") == []


@pytest.mark.parametrize(("labels", "files", "found"), [
    (["a", "b"], ["a", "b"], []),
    (["a", "a"], ["a"], []),
    (["a", "b"], ["a"], [("variable-without-data", "b")]),
    (["a", "b"], ["b"], [("variable-without-data", "a")]),
    (["a", "b", "c"], ["b"], [("variable-without-data", "a"), ("variable-without-data", "c")]),
    (["a"], ["a", "b", "c"], [("data-without-variable", "b.dat"), ("data-without-variable", "c.dat")]),
    # A file that differs in case alone is not a superfluous one.
    (["a", "B"], ["a", "b"], [("variable-without-data", "B.dat")]),
    (["part/a"], ["part/A"], [("variable-without-data", "part/a.dat")]),
    (["part/a"], ["part/b"], [("data-without-variable", "part/b.dat"), ("variable-without-data", "part/a")]),
    (["part/a", "a"], ["part/a", "a"], []),
    (["/part/a"], ["part/a"], []),
    # No file at all: a document.
    (["a", "b"], [], None),
])
def test_variables_have_files_and_files_have_variables(labels: list[str], files: list[str], found: list[tuple[str, str]] | None, nnefc: Path,
                                                       model: Path) -> None:
    _write(model, "".join(f"    v{i} = variable(shape = [2], label = '{label}');\n" for i, label in enumerate(labels)))
    for file in files:
        (model / f"{file}.dat").parent.mkdir(exist_ok=True)
        (model / f"{file}.dat").write_bytes(FLOATS)
    if found is None:
        assert [line.rsplit(" ", 1)[1] for line in _lint(nnefc, model)[1]] == ["[variable.no-files]"]
    else:
        assert sorted(_found(nnefc, model)) == sorted(found)


def test_labels_are_those_of_instantiations(nnefc: Path, model: Path) -> None:
    """A label that an invocation passes is reported with the statement of the variable and the invocation."""
    model.mkdir()
    (model / "graph.nnef").write_text("version 1.0\nfragment named( x: tensor, label: string ) -> ( y: tensor )\n{\n"
                                      "    v = variable(shape = [2], label = label)\n    y = add(x, v)\n}\n"
                                      "graph net( x ) -> ( e )\n{\n    x = external(shape = [2, 2])\n    a = named(x, label = 'a')\n"
                                      "    b = named(a, label = 'b')\n    c = named(b, label = 'c')\n    d = variable(shape = [2], label = 'd')\n"
                                      "    e = add(c, d)\n}\n")
    (model / "a.dat").write_bytes(FLOATS)
    (model / "c.dat").write_bytes(_ratified(0, 32, bytes(4), (1,)))
    done = subprocess.run([str(nnefc), "lint", "graph.nnef", "--disable", "not-ratified"], cwd=model, capture_output=True, text=True, timeout=60,
                          check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("graph.nnef:")]
    assert lines == [
        "graph.nnef:4:9: warning: the model has no data for variable `b`; add `b.dat` [lint.variable-without-data]",
        "graph.nnef:11:9: note: in `named`, instantiated here",
        "graph.nnef:4:9: error: `c.dat` holds a tensor of shape [1]; the document says [2], change one of them [lint.data-shape]",
        "graph.nnef:12:9: note: in `named`, instantiated here",
        "graph.nnef:13:39: warning: the model has no data for variable `d`; add `d.dat` [lint.variable-without-data]"]



def test_variables_of_layers_are_those_of_the_invocation(nnefc: Path, model: Path) -> None:
    model.mkdir()
    (model / "graph.nnef").write_text("version 1.0\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 3])\n"
                                      "    y = linear_layer(x, channels = 2, scope = 'fc')\n}\n")
    (model / "fc").mkdir()
    (model / "fc" / "filter.dat").write_bytes(_ratified(0, 32, bytes(4 * 8), (2, 4)))
    done = subprocess.run([str(nnefc), "lint", "graph.nnef", "--disable", "not-ratified,undefined-layer"], cwd=model, capture_output=True, text=True,
                          timeout=60, check=False)
    assert [line for line in done.stderr.splitlines() if line.startswith("graph.nnef:")] == [
        "graph.nnef:5:9: warning: the model has no data for variable `fc/bias`; add `fc/bias.dat` [lint.variable-without-data]",
        "graph.nnef:5:9: note: in `linear_layer`, instantiated here",
        "graph.nnef:5:9: error: `fc/filter.dat` holds a tensor of shape [2,4]; the document says [2,3], change one of them [lint.data-shape]",
        "graph.nnef:5:9: note: in `linear_layer`, instantiated here"]
