"""Texts of the binary: pages of operations, help of commands, limits, and files that are not overwritten."""

from __future__ import annotations

import concurrent.futures
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tensor_files import write_dat

STDLIB = Path(__file__).resolve().parent.parent.parent.parent / "stdlib"
RIGHT = "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    y = relu(x);\n}\n"
COMMANDS = ["check", "lint", "expand", "fmt", "upgrade", "compile", "convert", "run", "inspect", "draw", "bench", "explain", "operations", "lsp"]


def _declarations(name: str) -> dict[str, str]:
    """Returns the fragments of a library with the text of their declarations, including bodies."""
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
    assert sorted(EXTENSION) == ["if_else", "tensor_iterator", "while_loop"]


def test_the_pages_of_operations(nnefc: Path, tmp_path: Path) -> None:
    names = [*RATIFIED, *EXTENSION]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pages = dict(zip(names, pool.map(lambda name: json.loads(_run(nnefc, tmp_path, "explain", name, "--format", "json").stdout), names)))
    for name, page in pages.items():
        declaration = (RATIFIED | EXTENSION)[name]
        assert page["signature"] == declaration
        assert page["provisional"] in ("", PROVISIONAL.get(name))
        if name in RATIFIED:
            assert page["summary"].endswith(".") and len(page["summary"]) < 100, name
            head = re.sub(r"\[[^]]*\]", "", declaration.split("->")[0])
            assert [item["name"] for item in page["parameters"]] == re.findall(r"(\w+) ?:", head), name
            assert all(item["text"] for item in page["parameters"]), name
        # A primitive has no body that would describe it.
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
    if name in RATIFIED:
        # The summary comes first, then the signature, then a line for each parameter.
        parts = [page["summary"], page["signature"].splitlines()[0], "Parameters:", *(item["text"] for item in page["parameters"])]
        positions = [shown.index(part) for part in parts]
        assert positions == sorted(positions)
        assert shown.splitlines()[2] == page["summary"]
    assert all(line.strip() in shown for line in page["signature"].splitlines())
    assert page["openvino"] or "OpenVINO IR has no form of it" in shown
    if name in RATIFIED:
        assert f"{name}: section {page['section'][2:]} of NNEF 1.0.5" in shown


def test_the_manual_of_control_flow(nnefc: Path, tmp_path: Path) -> None:
    shown = _run(nnefc, tmp_path, "explain", "control_flow").stdout
    assert shown == _run(nnefc, tmp_path, "explain", "NNEFC_control_flow").stdout
    for words in ("extension NNEFC_control_flow", "if_else", "tensor_iterator", "while_loop", "slice_strides: integer[] = []", "TensorIterator"):
        assert words in shown
    listed = _run(nnefc, tmp_path, "operations").stdout
    assert {line.split()[0] for line in listed.splitlines()} == set(RATIFIED) | set(EXTENSION) | TRACT


TOPICS = sorted((STDLIB.parent / "compiler/explain/topics").glob("*.md"))


def test_topics_are_listed(nnefc: Path, tmp_path: Path) -> None:
    listed = re.search(r"Topics: ([^.]*)\.", _run(nnefc, tmp_path, "help", "explain").stdout)
    assert listed and listed[1].replace(",", " ").split() == sorted(["control_flow", *(path.stem for path in TOPICS)])


@pytest.mark.parametrize("path", TOPICS, ids=lambda path: path.stem)
def test_the_text_of_a_topic(path: Path, nnefc: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# ") and "\nSee also: " in text
    for name in (path.stem, path.stem.removesuffix("s")):
        assert _run(nnefc, tmp_path, "explain", name).stdout == text
    assert json.loads(_run(nnefc, tmp_path, "explain", path.stem, "--format", "json").stdout) == {"topic": path.stem, "text": text}
    labels = {rule["rule"] for rule in json.loads(_run(nnefc, tmp_path, "explain", "--list", "--format", "json").stdout)["rules"]}
    cited = re.findall(r"`([a-z_.-]+\.[a-z_.-]*)`", text.partition("\nSee also: ")[2])
    assert all(any(label == name or (name.endswith(".") and label.startswith(name)) for label in labels) for name in cited), cited
    for name in re.findall(r"`([a-z_]+)`", text.partition("\nSee also: ")[2]):
        _run(nnefc, tmp_path, "explain", name)


def test_the_operations_and_rules_of_a_section(nnefc: Path, tmp_path: Path) -> None:
    rules = json.loads(_run(nnefc, tmp_path, "explain", "--list", "--format", "json").stdout)["rules"]
    for section, operations in (("4.3.1", ["conv", "deconv"]), ("4.2.3", ["select"]), ("3.3.2", [])):
        page = json.loads(_run(nnefc, tmp_path, "explain", section, "--format", "json").stdout)
        within = [rule["rule"] for rule in rules
                  if any(re.fullmatch(rf"[RP] {re.escape(section)}(\..*)?", each) for each in rule["sections"])]
        assert page == {"section": section, "operations": operations, "rules": within}
    # A chapter has the operations of all its sections; the number of another section does not begin with it.
    chapter = json.loads(_run(nnefc, tmp_path, "explain", "4", "--format", "json").stdout)
    assert sorted(chapter["operations"]) == sorted(RATIFIED)
    for word in ("4.3.12", "4.3.", "42", "."):
        assert "there is no" in _run(nnefc, tmp_path, "explain", word, code=2).stderr


def test_a_fault_of_nnefc_is_reported_somewhere(nnefc: Path, tmp_path: Path) -> None:
    shown = _run(nnefc, tmp_path, "explain", "runtime.no-onednn").stdout
    assert "please report it to where you got nnefc from" in shown and "`nnefc --version`" in shown


@pytest.mark.parametrize(("word", "meant"), [("max_pol", "did you mean `max_pool`"), ("Conv", "NNEF has `conv`"), ("syntax.missing-semicolom", "did you mean `syntax.")])
def test_words_that_are_misspelt(word: str, meant: str, nnefc: Path, tmp_path: Path) -> None:
    assert meant in _run(nnefc, tmp_path, "explain", word, code=2).stderr


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
    tour = (STDLIB.parent / "tools/docs/pages/tour.md").read_text(encoding="utf-8")
    assert set(limits) == set(re.findall(r"^\| `--(max-[a-z]+)`", tour, re.MULTILINE))
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


OLD = """version 1.0

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4])
    w = variable(shape = [1, 4], label = 'a/w')
    y = add(x, w)
}
"""


def _old_model(folder: Path) -> None:
    """Makes a provisional model folder with data, notes and a tensor file that the graph does not use."""
    (folder / "a").mkdir(parents=True)
    (folder / "graph.nnef").write_text(OLD, encoding="utf-8")
    write_dat(folder / "a" / "w.dat", np.arange(4, dtype=np.float32).reshape(1, 4), "P")
    (folder / "a" / "notes.txt").write_text("keep me", encoding="utf-8")


def test_upgrade_replaces_a_folder(nnefc: Path, tmp_path: Path) -> None:
    _old_model(tmp_path / "old")
    (tmp_path / "link").symlink_to("old")
    for output in ("old", "./old/", "link"):
        assert "`--force` replaces it" in _run(nnefc, tmp_path, "upgrade", "old", "-o", output, code=2).stderr
    assert (tmp_path / "old" / "graph.nnef").read_text(encoding="utf-8") == OLD
    _run(nnefc, tmp_path, "upgrade", "old", "-o", "new")
    _run(nnefc, tmp_path, "upgrade", "old", "-o", "link", "--force")
    assert (tmp_path / "link").is_symlink()
    for path in ("graph.nnef", "a/w.dat"):
        assert (tmp_path / "old" / path).read_bytes() == (tmp_path / "new" / path).read_bytes()
    assert (tmp_path / "old" / "a" / "notes.txt").read_text(encoding="utf-8") == "keep me"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "new", "old"]
    _run(nnefc, tmp_path / "old", "upgrade", ".", "-o", ".", "--force")
    _run(nnefc, tmp_path, "check", "old")


def test_upgrade_replaces_only_models(nnefc: Path, tmp_path: Path) -> None:
    _old_model(tmp_path / "old")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear", encoding="utf-8")
    done = _run(nnefc, tmp_path, "upgrade", "old", "-o", "home", "--force", code=2)
    assert "`--force` replaces only folders with a `graph.nnef`" in done.stderr
    assert (tmp_path / "home" / "letter.txt").read_text(encoding="utf-8") == "dear"
    _old_model(tmp_path / "other")
    done = _run(nnefc, tmp_path, "upgrade", "old", "-o", "other", code=2)
    assert "or replace the model in it with `--force`" in done.stderr
    # An invalid model replaces nothing.
    (tmp_path / "old" / "graph.nnef").write_text(OLD.replace("add(x, w)", "add(x, z)"), encoding="utf-8")
    _run(nnefc, tmp_path, "upgrade", "old", "-o", "other", "--force", code=1)
    assert (tmp_path / "other" / "graph.nnef").read_text(encoding="utf-8") == OLD
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "old", "other"]


def test_a_named_document_is_formatted_alone(nnefc: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "graph.nnef").write_text(RIGHT, encoding="utf-8")
    (folder / "graph.quant").write_text('"y":    linear_quantize(min = 0.0, max = 1.0, bits = 8);\n', encoding="utf-8")
    assert _run(nnefc, tmp_path, "fmt", "model/graph.nnef").stdout == RIGHT
    assert _run(nnefc, tmp_path, "fmt", "--check", "model/graph.nnef").stdout == ""
    assert _run(nnefc, tmp_path, "fmt", "--check", "model", code=1).stdout == "model/graph.quant\n"
    quantization = _run(nnefc, tmp_path, "fmt", "model/graph.quant").stdout
    assert '"y"' in quantization
    assert _run(nnefc, tmp_path, "fmt", "model").stdout == RIGHT + quantization
    _run(nnefc, tmp_path, "fmt", "model/graph.nnef", "-o", "out.nnef")
    assert (tmp_path / "out.nnef").read_text(encoding="utf-8") == RIGHT


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
