"""The package as a whole: types, the command line."""

import copy
import dataclasses
import inspect
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tarfile

import pytest
from conftest import ROOT

import nnefc

PACKAGE = pathlib.Path(nnefc.__file__).parent


def test_types_are_strict(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "import nnefc\n"
        "report = nnefc.check('net.nnef', dialect='ratified')\n"
        "rules: list[str] = [item.rule for item in report.errors]\n"
        "model = nnefc.load('model', shapes={'x': (1, 2)})\n"
        "executable = model.compile(backend='fast', threads=1)\n"
        "y: np.ndarray = executable(x=np.zeros(3))['y']\n"
        "reveal_type(model.variables['w'])\n"
        "executable.run(3)  # wrong\n"
        "model.compile(backend='cuda')  # wrong\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(PACKAGE), str(program)],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "MYPYPATH": str(PACKAGE.parent)}, check=False,
    )  # fmt: skip
    told = [line for line in done.stdout.splitlines() if "error:" in line]
    assert [line.split(":")[:2] for line in told] == [[program.name, "9"], [program.name, "10"]], done.stdout
    assert "ndarray[Any, Any]" in done.stdout


def test_importing_the_package_imports_little_of_python():
    slow = "{'dataclasses', 'difflib', 'inspect', 'html', 'shutil', 'subprocess', 'tarfile', 'tempfile', 'nnefc.difference'}"
    program = f"import sys\nbefore = set(sys.modules)\nimport nnefc\nprint(({slow} & set(sys.modules)) - before, nnefc.diff.__module__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)})  # fmt: skip
    assert done.stdout.split() == ["set()", "nnefc.difference"]


def test_what_opens_no_archive_loads_no_library_for_them(tmp_path):
    document = tmp_path / "graph.nnef"
    document.write_text("version 1.0;\ngraph g(x) -> (y)\n{\n    x = external(shape = [2]);\n    y = relu(x);\n}\n")
    with tarfile.open(tmp_path / "model.tar.xz", "w:xz") as archive:
        archive.add(document, "graph.nnef")
    program = (
        "import nnefc, pathlib, sys\n"
        "for path in sys.argv[1:]:\n"
        "    nnefc.load(path).compile(threads=1)\n"
        "    print('libarchive' in pathlib.Path('/proc/self/maps').read_text())\n"
    )
    words = [sys.executable, "-c", program, str(document), str(tmp_path / "model.tar.xz")]
    done = subprocess.run(words, capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)})  # fmt: skip
    assert done.stdout.split() == ["False", "True"]


def test_the_module_shows_little_but_its_start():
    words = ["nm", "-D", "-C", "--defined-only", nnefc._nnefc.__file__]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    names = [line.split(" ", 2)[2] for line in told]
    starts = {"PyInit__nnefc", "nnefc_interface_text", "nnefc_register_extension"}
    assert starts <= set(names)
    assert [name for name in names if name not in starts and not re.fullmatch(r"nnefc::([\w:]+::)?k[A-Z]\w*", name)] == []


@pytest.mark.parametrize("record", [nnefc.Diagnostic, nnefc.Fix, nnefc.Note, nnefc.Operation, nnefc.Place, nnefc.Port, nnefc.Step])
def test_records_are_as_dataclasses(record):
    made = dataclasses.make_dataclass(record.__name__, record.__annotations__.items(), frozen=True)
    values = [f"v{i}" for i in range(len(record.__annotations__))]
    named = dict(zip(record.__annotations__, values))
    one = record(*values)
    assert repr(one) == repr(made(*values))
    assert dataclasses.asdict(one) == named
    assert [field.name for field in dataclasses.fields(record)] == list(named)
    assert inspect.signature(record) == inspect.signature(made)
    assert record.__match_args__ == made.__match_args__
    assert one == record(**named) == pickle.loads(pickle.dumps(one)) == copy.copy(one)
    assert hash(one) == hash(record(**named))
    first = next(iter(named))
    other = dataclasses.replace(one, **{first: "other"})
    assert getattr(other, first) == "other" and other != one and one != made(*values)
    for change in (lambda: setattr(one, first, 1), lambda: delattr(one, first)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    for given, more in ((values[:-1], {}), ([*values, 1], {}), (values, {first: 1}), (values, {"unknown": 1})):
        with pytest.raises(TypeError):
            record(*given, **more)


def test_every_public_name_says_what_it_is():
    for name in nnefc.__all__:
        assert getattr(nnefc, name).__doc__, name
    assert sorted(nnefc.__all__) == nnefc.__all__


def test_the_version_is_that_of_the_sources():
    project = (ROOT / "CMakeLists.txt").read_text()
    assert f"project(nnefc VERSION {nnefc.__version__} " in project


def run(*words):
    return subprocess.run([sys.executable, "-m", "nnefc", *words], capture_output=True, text=True, check=False)


def test_the_command_line_is_the_real_one():
    assert nnefc.__version__ in run("--version").stdout
    done = run("check", "no-such-file.nnef")
    assert done.returncode == 2
    assert "no-such-file.nnef" in done.stderr
