"""Features for continuous integration: several files at once, standard input, summaries, and reports for machines."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent.parent
SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"
RIGHT = "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 3, 8, 8]);\n    y = relu(x);\n}\n"
WRONG = RIGHT.replace("relu(x)", "rleu(x)")
# A tensor without a reader is a warning of lint.
DUBIOUS = RIGHT.replace("    y =", "    z = exp(x);\n    y =")
COMMANDS = ["check", "lint", "expand", "fmt", "upgrade", "compile", "run --random-inputs 1", "inspect", "draw", "bench --iterations 1"]


def _run(nnefc: Path, folder: Path, line: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(nnefc), *line.split()], cwd=folder, input=text, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """Makes seven models in folders, one of them invalid, and hidden, linked or other files, which are not models."""
    for name, text in (("a.nnef", RIGHT), ("sub/b.nnef", WRONG), ("sub/model/graph.nnef", RIGHT), ("sub/model/other.nnef", RIGHT),
                       ("sub/deep/er/c.nnef", DUBIOUS), (".git/d.nnef", WRONG), ("sub/notes.txt", WRONG), ("plain/graph.nnef", RIGHT)):
        path = tmp_path / "models" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with tarfile.open(tmp_path / "models" / "e.nnef.tgz", "w:gz") as archive:
        archive.add(tmp_path / "models" / "a.nnef", "graph.nnef")
    (tmp_path / "models" / "loop").symlink_to(tmp_path / "models")
    (tmp_path / "empty").mkdir()
    return tmp_path


MODELS = ["models/a.nnef", "models/e.nnef.tgz", "models/plain", "models/sub/b.nnef", "models/sub/deep/er/c.nnef", "models/sub/model",
          "models/sub/model/other.nnef"]


@pytest.mark.parametrize("command", COMMANDS)
def test_standard_input(command: str, nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text(RIGHT, encoding="utf-8")
    right = _run(nnefc, tmp_path, f"{command} -", RIGHT)
    assert right.returncode == 0, right.stderr
    if not command.startswith("bench"):
        named = _run(nnefc, tmp_path, f"{command} net.nnef")
        assert right.stdout.replace("<stdin>", "net.nnef") == named.stdout
    wrong = _run(nnefc, tmp_path, f"{command} -", WRONG.replace("rleu(x)", "rleu(x"))
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("<stdin>:6:")


def test_fixes_of_standard_input(nnefc: Path, tmp_path: Path) -> None:
    done = _run(nnefc, tmp_path, "check --fix -", WRONG)
    assert (done.returncode, done.stdout) == (0, RIGHT)
    assert _run(nnefc, tmp_path, "check --fix -", RIGHT).stdout == RIGHT
    assert "+    y = relu(x);" in _run(nnefc, tmp_path, "check --fix --diff -", WRONG).stdout


@pytest.mark.parametrize("option", ["-r", "--recursive"])
def test_folders_are_searched(option: str, nnefc: Path, folder: Path) -> None:
    report = json.loads(_run(nnefc, folder, f"check {option} models --format json").stderr)
    assert [model["model"] for model in report["models"]] == MODELS
    assert [model["model"] for model in report["models"] if model["errors"]] == ["models/sub/b.nnef"]
    assert "there is no model in `empty`" in _run(nnefc, folder, f"check {option} empty").stderr
    # Files may be listed next to folders.
    report = json.loads(_run(nnefc, folder, f"lint {option} models/a.nnef models/sub/deep --format json").stderr)
    assert [(model["model"], model["warnings"]) for model in report["models"]] == [("models/a.nnef", 0), ("models/sub/deep/er/c.nnef", 1)]


def test_formatting_of_folders(nnefc: Path, folder: Path) -> None:
    (folder / "models" / "sub" / "model" / "graph.nnef").write_text(RIGHT.replace("    ", "  "), encoding="utf-8")
    done = _run(nnefc, folder, "fmt --recursive --check models")
    assert (done.returncode, done.stdout) == (1, "models/sub/model/graph.nnef\n")
    _run(nnefc, folder, "fmt --recursive --in-place models/sub models/plain")
    assert (folder / "models" / "sub" / "model" / "graph.nnef").read_text(encoding="utf-8") == RIGHT


def test_the_summary(nnefc: Path, folder: Path) -> None:
    done = _run(nnefc, folder, "check --recursive models")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "nnefc: 1 error in 1 of 7 files"
    done = _run(nnefc, folder, "lint --recursive models")
    assert done.stderr.splitlines()[-1] == "nnefc: 1 error and 1 warning in 2 of 7 files"
    (folder / "two.nnef").write_text(WRONG.replace("shape", "shope"), encoding="utf-8")
    assert _run(nnefc, folder, "check two.nnef models/sub/b.nnef").stderr.splitlines()[-1] == "nnefc: 3 errors in 2 of 2 files"
    # A single file needs no summary, a valid document prints nothing, and `--quiet` prints only errors.
    assert " files" not in _run(nnefc, folder, "check two.nnef").stderr
    assert _run(nnefc, folder, "check models/a.nnef models/plain").stderr == ""
    assert "nnefc:" not in _run(nnefc, folder, "check --quiet --recursive models").stderr


def test_quiet(nnefc: Path, folder: Path) -> None:
    both = "lint models/sub/deep/er/c.nnef models/sub/b.nnef"
    assert "warning:" in _run(nnefc, folder, both).stderr
    for option in ("-q", "--quiet"):
        told = _run(nnefc, folder, f"{both} {option}").stderr
        assert "warning:" not in told
        assert "error: undeclared operation `rleu`" in told
    assert _run(nnefc, folder, "lint --quiet models/sub/deep/er/c.nnef").stderr == ""


def test_warnings_as_errors(nnefc: Path, folder: Path) -> None:
    name = "models/sub/deep/er/c.nnef"
    plain, strict = _run(nnefc, folder, f"lint {name}"), _run(nnefc, folder, f"lint --werror {name}")
    assert (plain.returncode, strict.returncode) == (0, 1)
    assert strict.stderr == plain.stderr.replace("warning:", "error:")
    assert _run(nnefc, folder, f"lint --werror --quiet {name}").stderr == strict.stderr
    report = json.loads(_run(nnefc, folder, f"lint --werror {name} --format json").stderr)
    assert [diagnostic["severity"] for diagnostic in report["diagnostics"]] == ["error"]
    assert (report["models"][0]["errors"], report["models"][0]["warnings"]) == (1, 0)


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
@pytest.mark.parametrize("command", ["check", "lint"])
def test_reports_go_to_a_file(command: str, form: str, nnefc: Path, folder: Path) -> None:
    line = f"{command} --recursive models --format {form}"
    plain = _run(nnefc, folder, line)
    done = _run(nnefc, folder, f"{line} --output report")
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, "", "")
    assert (folder / "report").read_text(encoding="utf-8") == plain.stderr


def _unescaped(text: str) -> str:
    return re.sub("%([0-9A-F]{2})", lambda match: chr(int(match[1], 16)), text)


def test_github(nnefc: Path, folder: Path) -> None:
    """The lines are workflow commands with the content of the JSON form."""
    (folder / "100%, of:it.nnef").write_text(WRONG.replace("shape", "shope"), encoding="utf-8")
    (folder / "lines.nnef").write_text(RIGHT.replace("relu(x)", "conv(x,\n  x, x)"), encoding="utf-8")
    names = ["100%, of:it.nnef", "lines.nnef", "models/sub/deep/er/c.nnef"]
    words = [str(nnefc), "lint", *names, "--format"]
    said = subprocess.run([*words, "github"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    expected = json.loads(subprocess.run([*words, "json"], cwd=folder, capture_output=True, text=True, timeout=60, check=False).stderr)
    *lines, summary = said.stderr.splitlines()
    assert said.returncode == 1
    assert summary.startswith("nnefc: ")
    assert len(lines) == len(expected["diagnostics"]) >= 4
    for line, diagnostic in zip(lines, expected["diagnostics"], strict=True):
        command, properties, message = re.fullmatch("::([a-z]+) ([^:]*)::(.*)", line).groups()
        assert command == {"error": "error", "warning": "warning", "note": "notice"}[diagnostic["severity"]]
        values = {key: _unescaped(value) for key, value in (item.split("=", 1) for item in properties.split(","))}
        assert values["file"] == diagnostic["file"]
        assert values["title"] == diagnostic["rule"]
        assert (int(values["line"]), int(values["endLine"])) == (diagnostic["line"], diagnostic["end_line"])
        if diagnostic["line"] == diagnostic["end_line"]:
            assert (int(values["col"]), int(values["endColumn"])) == (diagnostic["column"], diagnostic["end_column"])
        assert _unescaped(message).splitlines()[0] == diagnostic["message"]
    assert _run(nnefc, folder, "check nowhere.nnef --format github").stderr.startswith("::error title=container.unreadable::")
    assert _run(nnefc, folder, "check --nonsense --format github").stderr.startswith("::error title=cli.misuse::")


def test_sarif_is_complete(nnefc: Path, folder: Path) -> None:
    """One run for all models, with the data that code scanning services need: version, texts of rules, fingerprints,
    artifacts."""
    (folder / "two.nnef").write_text(WRONG.replace("    y =", "    z = rleu(x);\n    z = rleu(x);\n    y ="), encoding="utf-8")
    done = _run(nnefc, folder, "lint --recursive models two.nnef --format sarif")
    log = json.loads(done.stderr)
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert not list(jsonschema.validators.validator_for(schema)(schema).iter_errors(log))
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["version"] == driver["semanticVersion"] == _run(nnefc, folder, "--version").stdout.split()[1]
    assert len(driver["rules"]) == len({rule["id"] for rule in driver["rules"]}) > 1
    for rule in driver["rules"]:
        statement = json.loads(_run(nnefc, folder, f"explain {rule['id']} --format json").stdout)["statement"]
        assert rule["fullDescription"]["text"] == " ".join(statement.split())
        assert rule["fullDescription"]["text"].startswith(rule["shortDescription"]["text"])
    assert [artifact["location"]["uri"] for artifact in run["artifacts"]] == [*MODELS, "two.nnef"]
    assert run["invocations"] == [{"executionSuccessful": True}]
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(set(prints)) == len(prints) > 3
    done = _run(nnefc, folder, "lint nowhere.nnef models/a.nnef --format sarif")
    assert json.loads(done.stderr)["runs"][0]["invocations"] == [{"executionSuccessful": False}]


def test_fingerprints_stay_when_lines_move(nnefc: Path, tmp_path: Path) -> None:
    def prints(text: str) -> list[str]:
        (tmp_path / "net.nnef").write_text(text, encoding="utf-8")
        (run,) = json.loads(_run(nnefc, tmp_path, "check net.nnef --format sarif").stderr)["runs"]
        return [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]

    (before,) = prints(WRONG)
    assert prints(WRONG.replace("graph", "\n\n# A comment.\ngraph").replace("    y =", "  y  =")) == [before]
    assert prints(WRONG.replace("rleu", "rleuu")) != [before]


def test_json_follows_its_schema(nnefc: Path, folder: Path) -> None:
    schema = json.loads((SCHEMAS / "diagnostics.json").read_text(encoding="utf-8"))
    report = json.loads(_run(nnefc, folder, "lint --recursive models --format json").stderr)
    assert not list(jsonschema.validators.validator_for(schema)(schema).iter_errors(report))
    assert sum(model["errors"] + model["warnings"] + model["notes"] for model in report["models"]) == len(report["diagnostics"])


def test_pre_commit_hooks(nnefc: Path, folder: Path) -> None:
    """Each hook reports or fixes the problems of the files that it is for."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    hooks = [dict(re.findall(r"^[- ] (\w+): (.*)$", block, re.MULTILINE)) for block in re.split("(?m)^(?=- )", text)[1:]]
    assert [hook["id"] for hook in hooks] == ["nnefc-check", "nnefc-lint", "nnefc-fmt"]
    untidy = RIGHT.replace("    ", "  ")
    for hook in hooks:
        assert {"id", "name", "description", "entry", "language", "files"} == set(hook)
        files = [path for path in ("models/a.nnef", "models/sub/model/graph.nnef", "models/sub/notes.txt") if re.search(hook["files"], path)]
        assert len(files) == 2
        program, *words = hook["entry"].split()
        assert program == "nnefc"
        for path, wrong in (("models/a.nnef", WRONG if hook["id"] == "nnefc-check" else DUBIOUS),):
            assert _run(nnefc, folder, " ".join([*words, *files])).returncode == 0
            if hook["id"] == "nnefc-fmt":
                (folder / path).write_text(untidy, encoding="utf-8")
                assert _run(nnefc, folder, " ".join([*words, path])).returncode == 0
                assert (folder / path).read_text(encoding="utf-8") == RIGHT
                continue
            (folder / path).write_text(wrong, encoding="utf-8")
            assert _run(nnefc, folder, " ".join([*words, path])).returncode == 1
            (folder / path).write_text(RIGHT, encoding="utf-8")
