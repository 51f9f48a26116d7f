"""Folders of extensions as packages: imports between their modules, and imports of the Model Optimizer."""

import os
import subprocess
import sys

import numpy as np
import pytest

import nnefc

MODEL = """version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [2, 3]);
    y = tanh(x);
}
"""

X = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)

BASE = "from nnefc.mo.front.common.replacement import FrontReplacementPattern\n"

# A transformation that appends its name to `builtins.record`.
RECORDED = (
    BASE
    + """
class NAME(FrontReplacementPattern):
    def find_and_replace_pattern(self, graph):
        import builtins
        builtins.record.append("NAME")
"""
)

AFTER_ONE = """

class Two(FrontReplacementPattern):
    def run_after(self):
        IMPORT
        return [One]

    def find_and_replace_pattern(self, graph):
        IMPORT
        import builtins
        builtins.record.append("Two")
        assert One is builtins.first
"""


def write(folder, modules):
    for name, text in modules.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def record():
    import builtins

    builtins.record = []
    yield builtins.record
    del builtins.record
    vars(builtins).pop("first", None)


IMPORTS = [
    "from extensions.front.a.one import One",
    "from front.a.one import One",
    "from .a.one import One",
    "from .a import one; One = one.One",
    "from ..front.a.one import One",
    "from .. import front; from ..front.a import one as module; One = module.One",
    "import extensions.front.a.one; One = extensions.front.a.one.One",
    "import extensions.front.a.one as module; One = module.One",
    "import front.a.one; One = front.a.one.One",
    "from extensions.front.a import *; One = one.One",
]


@pytest.mark.parametrize("where", ["here", "elsewhere"])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("text", IMPORTS)
def test_every_import_of_a_module_names_one_class(tmp_path, monkeypatch, record, text, inside, where):
    # 3.10.25: the folder is the package that its parent directory makes of it.
    one = RECORDED.replace("NAME", "One") + "\nimport builtins\nbuiltins.first = One\n"
    if not inside:
        two = BASE + text + AFTER_ONE.replace("IMPORT", "pass")
    elif "*" in text:
        return  # Python accepts it in modules only
    else:
        two = BASE + AFTER_ONE.replace("IMPORT", text)
    files = {"front/a/one.py": one, "front/two.py": two, "front/a/__init__.py": "__all__ = ['one']\n"}
    folder = write(tmp_path / "inner" / "extensions", files)
    monkeypatch.chdir(folder.parent if where == "here" else tmp_path)
    nnefc.load(MODEL).compile(extensions=os.path.relpath(folder), threads=1)
    assert record == ["One", "Two"]


@pytest.mark.parametrize(("order", "recorded"), [("run_after", ["One", "Two"]), ("run_before", ["Two", "One"])])
def test_the_order_follows_a_class_imported_by_the_name_of_the_folder(tmp_path, record, order, recorded):
    two = BASE + "from my_folder.front.one import One\n" + RECORDED.replace("NAME", "Two")
    two += f"\n    def {order}(self):\n        return [One]\n"
    files = {"front/one.py": RECORDED.replace("NAME", "One"), "front/two.py": two}
    nnefc.load(MODEL).compile(extensions=write(tmp_path / "my_folder", files), threads=1)
    assert record == recorded


def test_modules_above_their_package_are_imported(tmp_path, record):
    # Old extensions of ONNX import their operations from `...ops`.
    user = BASE + "from ...ops.helper import NUMBER\n" + RECORDED.replace('"NAME"', "NUMBER").replace("NAME", "User")
    files = {"front/onnx/user.py": user, "ops/helper.py": "NUMBER = 7\n"}
    nnefc.load(MODEL).compile(extensions=write(tmp_path / "e", files), threads=1)
    assert record == [7]


def test_a_relative_import_cannot_leave_the_folder(tmp_path):
    folder = write(tmp_path / "e", {"front/a.py": "from ... import b\n"})
    with pytest.raises(nnefc.ModelError, match=r"leaves the folder `.*e` \(line 1\)"):
        nnefc.load(MODEL, extensions=folder)
    write(tmp_path / "e", {"front/a.py": "from .. import b\n"})  # the highest valid level: the folder has no `b`
    with pytest.raises(nnefc.ModelError, match=r"ImportError: cannot import name 'b'"):
        nnefc.load(MODEL, extensions=folder)


def test_folders_with_equal_modules_are_independent(tmp_path, record):
    folders = []
    for number in (1, 2):
        user = BASE + "from extensions.ops.helper import NUMBER\n"
        user += RECORDED.replace('"NAME"', "NUMBER").replace("NAME", f"User{number}")
        files = {f"front/user{number}.py": user, "ops/helper.py": f"NUMBER = {number}\n"}
        folders.append(write(tmp_path / str(number) / "extensions", files))
    nnefc.load(MODEL).compile(extensions=folders, threads=1)
    assert sorted(record) == [1, 2]
    assert not [name for name in sys.modules if name.split(".")[0] in ("extensions", "front", "ops", "e")]


def test_a_folder_is_loaded_again_after_a_change(tmp_path, record):
    folder = write(tmp_path / "e", {"front/a.py": RECORDED.replace("NAME", "First")})
    nnefc.load(MODEL).compile(extensions=folder, threads=1)
    write(folder, {"front/a.py": RECORDED.replace("NAME", "Other")})
    nnefc.load(MODEL).compile(extensions=folder, threads=1)
    assert record == ["First", "Other"]


def test_modules_that_import_each_other(tmp_path, record):
    one = BASE + "from extensions.front import two\n" + RECORDED.replace("NAME", "One")
    two = BASE + "from extensions.front import one\n" + RECORDED.replace("NAME", "Two")
    two += "\n    def run_after(self):\n        return [one.One]\n"
    nnefc.load(MODEL).compile(extensions=write(tmp_path / "extensions", {"front/one.py": one, "front/two.py": two}), threads=1)
    assert record == ["One", "Two"]


def test_initializers_run_once_and_may_have_transformations(tmp_path, record):
    files = {
        "front/__init__.py": "import builtins\nbuiltins.record.append('init')\n" + RECORDED.replace("NAME", "InPackage"),
        "front/one.py": RECORDED.replace("NAME", "One"),
        "front/two.py": "import front\nfrom front.one import One\n",
    }
    nnefc.load(MODEL).compile(extensions=write(tmp_path / "e", files), threads=1)
    assert record[0] == "init"
    assert sorted(record) == ["InPackage", "One", "init"]


def test_hidden_files_are_skipped(tmp_path, record):
    files = {"front/.#one.py": "raise ValueError\n", ".git/a.py": "raise ValueError\n", "front/one.py": RECORDED.replace("NAME", "One")}
    nnefc.load(MODEL).compile(extensions=write(tmp_path / "e", files), threads=1)
    assert record == ["One"]


def test_dataclasses_find_their_module(tmp_path, record):
    text = "from __future__ import annotations\nimport dataclasses\nfrom typing import ClassVar\n\n"
    text += "@dataclasses.dataclass\nclass Settings:\n    shared: ClassVar[int] = 1\n    own: int = 2\n\n"
    text += RECORDED.replace('"NAME"', "Settings(3).own").replace("NAME", "User")
    nnefc.load(MODEL).compile(extensions=write(tmp_path / "e", {"front/a.py": text}), threads=1)
    assert record == [3]


# ---- imports of the Model Optimizer ----

SWAP = '''
IMPORT


class Swap(FrontReplacementOp):
    op = "tanh"

    def replace_op(self, graph, node):
        INSIDE
        return [Op(graph, {"op": "Sin"}).create_node([node.in_port(0)]).id]
'''


def swap(package, inside="pass"):
    text = f"from {package}.front.common.replacement import FrontReplacementOp\n"
    text += f"from {package}.ops.op import Op\n" if inside == "pass" else ""
    return SWAP.replace("IMPORT", text).replace("INSIDE", inside)


@pytest.mark.parametrize("package", ["openvino.tools.mo", "mo", "extensions", "nnefc.mo"])
def test_imports_of_the_model_optimizer_are_redirected(tmp_path, monkeypatch, package):
    monkeypatch.setenv("NNEFC_MO_IMPORTS", "1")
    for inside in ("pass", f"from {package}.ops.op import Op", f"import {package}.ops.op; Op = {package}.ops.op.Op",
                   f"import {package}.ops.op as module; Op = module.Op", f"import {package} as mo; Op = mo.ops.op.Op"):
        folder = write(tmp_path / "e", {"front/swap.py": swap(package, inside)})
        executable = nnefc.load(MODEL).compile(extensions=folder, threads=1)
        np.testing.assert_allclose(executable(x=X)["y"], np.sin(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("package", ["openvino.tools.mo", "mo", "extensions"])
@pytest.mark.parametrize("setting", [None, "", "0"])
def test_without_redirection_the_message_names_the_module(tmp_path, monkeypatch, package, setting):
    monkeypatch.delenv("NNEFC_MO_IMPORTS", raising=False)
    if setting is not None:
        monkeypatch.setenv("NNEFC_MO_IMPORTS", setting)
    folder = write(tmp_path / "e", {"front/swap.py": swap(package)})
    message = f"there is no module `{package}.front.common.replacement`; import `nnefc.mo.front.common.replacement`, or use `--mo-imports`"
    with pytest.raises(nnefc.ModelError, match=message):
        nnefc.load(MODEL, extensions=folder)


@pytest.mark.parametrize("package", ["openvino.tools.mo", "mo"])
def test_a_module_without_an_equivalent_is_reported(tmp_path, monkeypatch, package):
    monkeypatch.setenv("NNEFC_MO_IMPORTS", "1")
    folder = write(tmp_path / "e", {"front/a.py": f"from {package}.pipeline.unified import unified_pipeline\n"})
    with pytest.raises(nnefc.ModelError, match=rf"nnefc has no equivalent of the module `{package}.pipeline.unified` \(line 1\)"):
        nnefc.load(MODEL, extensions=folder)


def test_other_modules_of_openvino_remain(tmp_path, monkeypatch, record):
    monkeypatch.setenv("NNEFC_MO_IMPORTS", "1")
    text = "import openvino\nfrom openvino import Core\n" + RECORDED.replace('"NAME"', "Core is openvino.Core").replace("NAME", "User")
    nnefc.load(MODEL).compile(extensions=write(tmp_path / "e", {"front/a.py": text}), threads=1)
    assert record == [True]


def test_the_folder_has_priority_over_the_model_optimizer(tmp_path, monkeypatch, record):
    monkeypatch.setenv("NNEFC_MO_IMPORTS", "1")
    text = "from extensions.ops.elu import NUMBER\nfrom extensions.ops.op import Op\n"
    text += RECORDED.replace('"NAME"', "(NUMBER, Op.__module__)").replace("NAME", "User")
    folder = write(tmp_path / "extensions", {"front/a.py": text, "ops/elu.py": "NUMBER = 5\n"})
    nnefc.load(MODEL).compile(extensions=folder, threads=1)
    assert record[0][0] == 5
    assert record[0][1].startswith("nnefc.mo.")


def test_the_command_line_redirects_imports(tmp_path):
    folder = write(tmp_path / "e", {"front/swap.py": swap("openvino.tools.mo")})
    (tmp_path / "net.nnef").write_text(MODEL)
    words = [sys.executable, "-m", "nnefc", "compile", "net.nnef", "--extensions", str(folder)]
    environment = {name: value for name, value in os.environ.items() if name != "NNEFC_MO_IMPORTS"}
    failed = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False, env=environment)
    assert failed.returncode == 1
    assert "--mo-imports" in failed.stderr
    for position in (4, 7):
        with_option = [*words[:position], "--mo-imports", *words[position:]]
        done = subprocess.run(with_option, capture_output=True, text=True, cwd=tmp_path, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        assert "Sin" in done.stdout
