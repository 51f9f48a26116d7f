"""What the binary tells of itself: pages of operations, help of commands, limits, and files that are not written over."""

from __future__ import annotations

import concurrent.futures
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

STDLIB = Path(__file__).resolve().parent.parent.parent / "stdlib"
RIGHT = "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    y = relu(x);\n}\n"
COMMANDS = ["check", "lint", "expand", "fmt", "upgrade", "compile", "run", "inspect", "bench", "explain", "operations"]


def _declarations(name: str) -> dict[str, str]:
    """The fragments of a library with the text of their declarations, bodies included."""
    text = (STDLIB / name).read_text(encoding="utf-8")
    return {match[1]: match[0] for match in re.finditer(r"^fragment (\w+)[^;{]*(?:;|\{.*?^\})", text, re.MULTILINE | re.DOTALL)}


RATIFIED = _declarations("ratified.nnef")
EXTENSION = _declarations("control_flow.nnef")
TRACT = {name for path in sorted((STDLIB / "tract").glob("*.nnef"))
         for name in _declarations(str(path.relative_to(STDLIB)))}
PROVISIONAL = _declarations("provisional.nnef")


def _run(nnefc: Path, folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(nnefc), *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_all_operations_are_known() -> None:
    assert len(RATIFIED) > 100
    assert sorted(EXTENSION) == ["if_else", "tensor_iterator"]


def test_the_pages_of_operations(nnefc: Path, tmp_path: Path) -> None:
    names = [*RATIFIED, *EXTENSION]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pages = dict(zip(names, pool.map(lambda name: json.loads(_run(nnefc, tmp_path, "explain", name, "--format", "json").stdout), names)))
    for name, page in pages.items():
        declaration = (RATIFIED | EXTENSION)[name]
        assert page["signature"] == declaration
        assert page["provisional"] in ("", PROVISIONAL.get(name))
        # A primitive has no body that would tell what it computes.
        assert page["formula"] or declaration.endswith("}"), name
        assert page["section"].startswith("R 4." if name in RATIFIED else "NNEFC_"), name
        assert re.search(rf"\b{name}(<\w+>)?\(", page["example"]), name
        (tmp_path / f"{name}.nnef").write_text(page["example"], encoding="utf-8")
    files = [f"{name}.nnef" for name in names]
    _run(nnefc, tmp_path, "check", *files)
    assert _run(nnefc, tmp_path, "fmt", "--diff", *files).stdout == ""


@pytest.mark.parametrize("name", ["conv", "softmax", "cast", "if_else", "separable_conv", "min_max_linear_quantize", "avg_roi_pool"])
def test_the_page_of_an_operation(name: str, nnefc: Path, tmp_path: Path) -> None:
    page = json.loads(_run(nnefc, tmp_path, "explain", name, "--format", "json").stdout)
    (tmp_path / "net.nnef").write_text(page["example"], encoding="utf-8")
    if page["openvino"]:
        printed = _run(nnefc, tmp_path, "compile", "net.nnef").stdout
        for operation in page["openvino"]:
            kind, opset = re.fullmatch(r"(\w+) \((\w+)\)", operation).groups()
            assert f"= {opset}.{kind} " in printed
    shown = _run(nnefc, tmp_path, "explain", name).stdout
    assert all(line.strip() in shown for line in page["signature"].splitlines())
    assert page["openvino"] or "OpenVINO IR has no form of it" in shown
    if name in RATIFIED:
        assert f"{name}: section {page['section'][2:]} of NNEF 1.0.5" in shown


def test_the_manual_of_control_flow(nnefc: Path, tmp_path: Path) -> None:
    shown = _run(nnefc, tmp_path, "explain", "control_flow").stdout
    assert shown == _run(nnefc, tmp_path, "explain", "NNEFC_control_flow").stdout
    for words in ("extension NNEFC_control_flow", "if_else", "tensor_iterator", "slice_strides: integer[] = []", "TensorIterator"):
        assert words in shown
    listed = _run(nnefc, tmp_path, "operations").stdout
    assert {line.split()[0] for line in listed.splitlines()} == set(RATIFIED) | set(EXTENSION) | TRACT


@pytest.mark.parametrize(("word", "meant"), [("max_pol", "max_pool"), ("Conv", "conv"), ("syntax.missing-semicolom", "syntax.")])
def test_words_that_are_misspelt(word: str, meant: str, nnefc: Path, tmp_path: Path) -> None:
    assert f"did you mean `{meant}" in _run(nnefc, tmp_path, "explain", word, code=2).stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command: str, nnefc: Path, tmp_path: Path) -> None:
    told = _run(nnefc, tmp_path, "help", command).stdout
    assert "Example" in told
    assert not re.search(r"--max-(?!none)", told.split("Example")[0])
    # A value is named by its kind.
    assert not re.search(r"^ +-\S+ (TEXT|UINT|INT|FLOAT)", told, re.MULTILINE), told


def test_limits_stand_once(nnefc: Path, tmp_path: Path) -> None:
    told = _run(nnefc, tmp_path, "help", "limits").stdout
    limits = dict(re.findall(r"--(max-[a-z]+) .*\((\d+)\)$", told, re.MULTILINE))
    assert limits["max-nesting"] == "1000"
    readme = (STDLIB.parent / "README.md").read_text(encoding="utf-8")
    assert set(limits) == set(re.findall(r"^\| `--(max-[a-z]+)`", readme, re.MULTILINE))
    (tmp_path / "net.nnef").write_text(RIGHT, encoding="utf-8")
    _run(nnefc, tmp_path, "check", "net.nnef", "--max-nesting", "3")
    assert "`nnefc help limits`" in _run(nnefc, tmp_path, "--help").stdout


@pytest.mark.parametrize("command", ["expand", "upgrade"])
def test_what_is_read_is_not_written_over(command: str, nnefc: Path, tmp_path: Path) -> None:
    path = tmp_path / "net.nnef"
    path.write_text(RIGHT.replace("    ", " "), encoding="utf-8")
    (tmp_path / "link.nnef").symlink_to(path)
    for output in ("net.nnef", "./net.nnef", "link.nnef"):
        assert "`--force` replaces it" in _run(nnefc, tmp_path, command, "net.nnef", "-o", output, code=2).stderr
    assert path.read_text(encoding="utf-8") != RIGHT
    _run(nnefc, tmp_path, command, "net.nnef", "-o", "net.nnef", "--force")
    assert path.read_text(encoding="utf-8") == RIGHT


@pytest.mark.parametrize("line", ["fmt --in-place", "check --fix", "lint --fix"])
def test_changes_in_place_keep_what_a_file_is(line: str, nnefc: Path, tmp_path: Path) -> None:
    path = tmp_path / "net.nnef"
    wrong = RIGHT.replace("    y = relu", "  y = relu") if "fmt" in line else RIGHT.replace("relu", "rleu") if "check" in line \
        else RIGHT.replace("    y =", "    t = exp(x);\n    y =")
    path.write_text(wrong + "# A comment behind that makes the file longer.\n", encoding="utf-8")
    path.chmod(0o640)
    os.link(path, tmp_path / "other.nnef")
    _run(nnefc, tmp_path, *line.split(), "net.nnef")
    assert (tmp_path / "other.nnef").read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
    assert path.read_text(encoding="utf-8").startswith(RIGHT)
    assert path.stat().st_nlink == 2
    assert path.stat().st_mode & 0o777 == 0o640
