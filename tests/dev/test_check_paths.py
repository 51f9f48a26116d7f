"""tools/dev/check_paths.py reports each kind of missing file or name in a small repository, and nothing if all exist."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "tools" / "dev" / "check_paths.py"
FILES = {
    "compiler/expand/expand.cpp": "void Graph::AddNode() {}\n",
    "compiler/README.md": "A text.\n",
    "tools/run.sh": "",
    "CMakePresets.json": '{ "configurePresets": [ { "name": "release" } ] }',
}


def check(folder: Path, name: str, text: str) -> str:
    for path, content in {**FILES, name: text}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    done = subprocess.run([sys.executable, str(SCRIPT), str(folder)], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == done.stdout.endswith(" 0 wrong\n"), done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("right", "wrong", "message"), [
    ("`compiler/expand`", "`compiler/expant`", "there is no `compiler/expant`"),
    ("`expand.cpp`", "`expant.cpp`", "there is no `expant.cpp`"),
    ("[a](compiler/README.md#x)", "[a](compiler/READ.md#x)", "the link `compiler/READ.md` leads to no file"),
    ("    tools/run.sh --fast  # tools/other.sh", "    tools/ran.sh --fast", "there is no script `tools/ran.sh`"),
    ("```sh\ntools/run.sh\n```", "```sh\ntools/ran.sh\n```", "there is no script `tools/ran.sh`"),
    ("    cmake --preset release", "    cmake --preset release2", "there is no preset `release2`"),
    ("```text\nnet.nnef --> expand -+-> x\n   +--> net.xml\n```", "```text\nnet.nnef --> expant\n```", "there is no stage `expant`"),
    ("```text\nnet.nnef --> expand\n```\n\n```text\na --> b\n```", "```text\nnet.nnef --> expand\n  +--> b\n```",
     "there is no stage `b`"),
])
@pytest.mark.parametrize("name", ["README.md", ".github/CONTRIBUTING.md", "tools/docs/pages/guides/a.md"])
def test_a_missing_file_is_reported(name: str, right: str, wrong: str, message: str, tmp_path: Path) -> None:
    depth = name.count("/")
    for folder, text, expected in (("right", right, ""), ("wrong", wrong, message)):
        (tmp_path / folder).mkdir()
        relative = text.replace("(compiler", "(" + "../" * depth + "compiler")
        report = check(tmp_path / folder, name, relative + "\n")
        assert (expected.replace("link `", "link `" + "../" * depth) in report and " 1 wrong\n" in report) if expected else " 0 wrong\n" in report


@pytest.mark.parametrize(("name", "is_checked"), [("README.md", True), ("compiler/README.md", True), (".github/CONTRIBUTING.md", True),
                                                  (".github/CHANGELOG.md", False), ("tools/docs/pages/guides/a.md", False)])
@pytest.mark.parametrize(("right", "wrong", "part"), [("`AddNode`", "`AddNodes`", "AddNodes"), ("`Graph::AddNode()`", "`Graph::Add()`", "Add"),
                                                      ("`Graph::AddNode`", "`Net::AddNode`", "Net"), ("`graph` `add-node`", "`add_node`", "add_node")])
def test_a_missing_name_is_reported(name: str, is_checked: bool, right: str, wrong: str, part: str, tmp_path: Path) -> None:
    assert " 0 wrong\n" in check(tmp_path, name, right + "\n")
    report = check(tmp_path, name, wrong + "\n")
    assert (f"{name}:1: error: the code has no `{part}`" in report) == is_checked


def test_other_texts_are_not_checked(tmp_path: Path) -> None:
    assert " 0 wrong\n" in check(tmp_path, "compiler/notes.md", "`compiler/expant` [a](b.md)\n")
