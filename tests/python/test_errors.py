"""Exceptions: the cause comes first, options are spelled as in Python, and classes derive from Python's own errors."""

import pickle

import numpy as np
import pytest

import nnefc
from conftest import LINEAR, SUM
from nnefc.report import in_python


def test_the_cause_is_in_the_first_line():
    with pytest.raises(nnefc.ModelError) as caught:
        nnefc.load(SUM.replace("add", "ad"))
    assert str(caught.value).splitlines()[0].startswith("<text>:6:9: error: undeclared operation `ad`")
    assert caught.value.what == "opening the model"
    executable = nnefc.load(SUM).compile()
    with pytest.raises(nnefc.InputError) as caught:
        executable.run({})
    assert "no data for input `a`" in str(caught.value).splitlines()[0]


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    for path in ("no.nnef", "no_folder/net.nnef"):
        with pytest.raises(FileNotFoundError) as caught:
            nnefc.load(tmp_path / path)
        assert isinstance(caught.value, nnefc.MissingFile) and isinstance(caught.value, nnefc.SystemFailure)
        assert "no such file or directory" in str(caught.value).splitlines()[0]
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    (tmp_path / "not.nnef").mkdir()
    # A folder without a document is an error of the model.
    with pytest.raises(nnefc.ModelError):
        nnefc.load(tmp_path / "not.nnef")


def test_options_are_spelled_as_in_python():
    with pytest.raises(nnefc.ModelError) as caught:
        nnefc.load(LINEAR).compile()
    assert "`random_weights=SEED`" in str(caught.value)
    assert "--random-weights" not in str(caught.value) + caught.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("`--input-shape x=5,3` makes it", "`shapes={'x': (5,3)}` makes it"),
        ("or `--input-shape x=..`", "or `shapes={'x': ..}`"),
        ("give it with `--input-shape`", "give it with `shapes=`"),
        ("allowed (`--max-memory`)", "allowed (`max_memory=`)"),
        ("see `nnefc explain conv`", "see `nnefc.explain('conv')`"),
        ("`--max-steps` raises it", "`--max-steps` raises it"),
        ("a plain message", "a plain message"),
    ],
)
def test_spellings(said, expected):
    assert in_python(said) == expected


def test_advice_about_data():
    executable = nnefc.load(SUM).compile()
    good = np.zeros((2, 3), np.float32)
    with pytest.raises(nnefc.InputError, match=r"expected f32; convert them \(`x.astype\(np.float32\)` in NumPy\)"):
        executable.run({"a": good.astype(np.uint8), "b": good})
    with pytest.raises(nnefc.InputError, match=r"`shapes=\{'a': \(5,3\)\}` makes the graph for that batch"):
        executable.run({"a": np.zeros((5, 3), np.float32), "b": good})
    executable = nnefc.load(SUM.replace("[2, 3]", "[1, 3]")).compile()
    with pytest.raises(nnefc.InputError, match="put a batch of one before it"):
        executable.run({"a": np.zeros(3, np.float32), "b": np.zeros((1, 3), np.float32)})


def test_numbers_of_inputs():
    one = nnefc.load("version 1.0;\ngraph net(x) -> (y) { x = external<scalar>(shape = [2]); y = exp(x); }\n").compile()
    with pytest.raises(TypeError, match="the model has 1 input$"):
        one(np.zeros(2, np.float32), np.zeros(2, np.float32))
    two = nnefc.load(SUM).compile()
    with pytest.raises(TypeError, match="the model has 2 inputs$"):
        two(*[np.zeros((2, 3), np.float32)] * 3)


def test_dir_lists_what_is_for_users():
    names = [name for name in dir(nnefc) if not name.startswith("__")]
    assert names == sorted(nnefc.__all__)
