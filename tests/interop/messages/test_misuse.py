"""Mistakes on the command line: each message names the help of the command, and the equivalent of another tool's word."""

from __future__ import annotations

import gzip
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

RIGHT = "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 3]);\n    y = relu(x);\n}\n"
TWO = RIGHT.replace("( y )", "( y, z )").replace("relu(x);", "relu(x);\n    z = exp(x);")
COMMANDS = ["check", "lint", "expand", "fmt", "upgrade", "compile", "convert", "transform", "run", "inspect", "diff", "draw", "bench", "explain", "operations", "lsp"]


@pytest.fixture(name="run")
def _run(nnefc: Path, tmp_path: Path):
    (tmp_path / "net.nnef").write_text(RIGHT, encoding="utf-8")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(nnefc), *words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)

    return run


@pytest.mark.parametrize("words", [["--nonsense", "net.nnef"], ["net.nnef", "--format", "html"], ["--color"]])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_note_names_the_help_of_the_command(command: str, words: list[str], run) -> None:
    done = run(command, *words)
    assert done.returncode == 2
    assert done.stderr.endswith(f"nnefc: note: see `nnefc {command} --help`\n")


@pytest.mark.parametrize("words", [["nonsense"], [], ["--nonsense"]])
def test_without_a_command_the_note_names_the_help_of_all(words: list[str], run) -> None:
    assert run(*words).stderr.endswith("nnefc: note: see `nnefc --help`\n")


@pytest.mark.parametrize("command", ["check", "expand"])
@pytest.mark.parametrize("name", ["run", "check"])
def test_a_model_may_be_named_like_a_command(command: str, name: str, tmp_path: Path, run) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "graph.nnef").write_text(RIGHT, encoding="utf-8")
    done = run(command, name)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("count", "code"), [(0, 2), (1, 2), (2, 0), (3, 2)])
def test_diff_compares_two_models(count: int, code: int, run) -> None:
    done = run("diff", *["net.nnef"] * count)
    assert done.returncode == code
    if count == 1:
        assert "`MODEL` needs 2 values, not 1" in done.stderr


@pytest.mark.parametrize(("word", "advice"), [
    ("validate", "`nnefc check`"), ("verify", "`nnefc check`"), ("execute", "`nnefc run`"), ("infer", "`nnefc run`"),
    ("info", "`nnefc inspect`"), ("benchmark", "`nnefc bench`"), ("profile", "--profile`"), ("optimize", "`nnefc convert`"),
    ("simplify", "`nnefc convert`"), ("translate", "`nnefc compile MODEL -o net.xml`"), ("import", "`python -m nnefc convert model.onnx`"),
    ("export", "`python -m nnefc convert MODEL -o net.onnx`"), ("compare", "`nnefc diff`"), ("plot", "`nnefc draw`"), ("visualize", "`nnefc draw`"),
    ("format", "`nnefc fmt`"), ("formt", "`nnefc fmt`"), ("chekc", "`nnefc check`"), ("valdate", "`nnefc check`"),
    ("version", "`nnefc --version`"), ("server", "`nnefc lsp`")])
def test_commands_of_other_tools(word: str, advice: str, run) -> None:
    done = run(word, "net.nnef")
    assert done.returncode == 2
    assert f"unknown command `{word}`; " in done.stderr and advice in done.stderr
    # The recommended command exists.
    for command in re.findall(r"`nnefc ([a-z]+)", done.stderr):
        assert command in COMMANDS
    for command, option in re.findall(r"`nnefc ([a-z]+)[^`]*(--[a-z-]+)", done.stderr):
        assert option in run(command, "--help").stdout


@pytest.mark.parametrize(("line", "advice"), [
    ("check net.nnef --json", "`--format json`"), ("inspect net.nnef --json", "`--format json`"), ("fmt net.nnef -w", "`--in-place`"),
    ("fmt --write net.nnef", "`--in-place`"), ("check net.nnef -w", "`--fix`"), ("lint net.nnef -w", "`--fix`"), ("expand net.nnef -w", "`--output`"),
    ("check net.nnef -W", "`--werror`")])
def test_options_of_other_tools(line: str, advice: str, run) -> None:
    done = run(*line.split())
    assert done.returncode == 2
    assert f"did you mean {advice}?" in done.stderr


def test_advice_names_no_option_that_the_command_lacks(run) -> None:
    assert "--format" not in run("operations", "--json").stderr


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns(command: str, run) -> None:
    text = run(*filter(None, [command]), "--help").stdout
    assert not [line for line in text.splitlines() if len(line) > 80]
    assert not [line for line in text.splitlines() if line != line.rstrip()]
    if not command:
        return
    titles = re.findall(r"^([A-Z][a-z]+(?: options)?):$", text, re.MULTILINE)
    order = ["Positionals", "Options", "Transformation options", "Common options"]
    assert [title for title in order if title in titles] == [title for title in titles if title in order]
    assert "--help" in text.split("Common options:")[1]
    if command != "lsp":  # which writes messages only
        assert "--output" in text.split("Common options:")[0]


def test_the_words_of_an_option_are_in_its_help(run) -> None:
    text = " ".join(run("run", "--help").stdout.split())
    assert "[exact|f32|bf16|auto; default: f32]" in text
    assert "[0 to 1024; default: 0]" in text
    assert "[exact|close|approximate|very; default: approximate; needs --compare; not with --atol, --rtol]" in text


def test_manuals_and_completions_are_made_of_the_help(nnefc: Path, tmp_path: Path) -> None:
    script = Path(__file__).resolve().parents[3] / "tools" / "packages" / "make_manuals.py"
    subprocess.run([sys.executable, script, nnefc, tmp_path], check=True, timeout=60)
    bash = (tmp_path / "nnefc.bash").read_text(encoding="utf-8")
    # Options of all groups, with the valid words of a value.
    for words in ('--precision) COMPREPLY=($(compgen -W "exact f32 bf16 auto"', '--dialect) COMPREPLY=($(compgen -W "auto provisional ratified"',
                  "--disable-transformations", "--save-weights"):
        assert words in bash
    page = gzip.decompress((tmp_path / "man1" / "nnefc-run.1.gz").read_bytes()).decode()
    assert ".SH EXAMPLES\n.nf\nnnefc run model_folder" in page
    assert "\\fB\\-\\-threads\\fR \\fIN\\fR" in page
    assert len(list((tmp_path / "man1").iterdir())) == len(COMMANDS) + 1


def test_a_searched_folder_without_mistakes_is_reported(run, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    for name in ("a.nnef", "b.nnef"):
        (tmp_path / "all" / name).write_text(RIGHT, encoding="utf-8")
    for command in ("check", "lint"):
        done = run(command, "-r", "all")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "nnefc: 2 models, no mistakes\n")
        assert run(command, "-r", "all", "-o", "rep.txt").stderr == ""
        assert (tmp_path / "rep.txt").read_text(encoding="utf-8") == "nnefc: 2 models, no mistakes\n"
        assert run(command, "-r", "all", "--quiet").stderr == ""
        # Without a terminal, checking named files prints nothing.
        assert run(command, "all/a.nnef", "all/b.nnef").stderr == ""
    (tmp_path / "all" / "b.nnef").write_text(RIGHT.replace("relu(x)", "relu(z)"), encoding="utf-8")
    assert "no mistakes" not in run("check", "-r", "all").stderr


def test_a_terminal_shows_that_nothing_is_wrong(nnefc: Path, run, tmp_path: Path) -> None:
    assert run("check", "net.nnef").stderr == ""
    ours, theirs = pty.openpty()
    with subprocess.Popen([str(nnefc), "check", "net.nnef"], cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=theirs) as process:
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65536):
                said += part
        except OSError:  # the other end is closed
            pass
        assert process.wait(timeout=60) == 0
    os.close(ours)
    assert b"nnefc: 1 model, no mistakes" in said


@pytest.mark.parametrize("command", ["check", "lint", "run"])
def test_a_folder_of_models_is_searched_with_recursive(command: str, run, tmp_path: Path) -> None:
    (tmp_path / "all" / "one").mkdir(parents=True)
    (tmp_path / "all" / "two").mkdir()
    (tmp_path / "none").mkdir()
    (tmp_path / "all" / "one" / "graph.nnef").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "all" / "two" / "net.nnef").write_text(RIGHT, encoding="utf-8")
    done = run(command, "all")
    assert done.returncode == 1
    assert "the folders below hold models, such as `one`" in done.stderr
    assert "`--recursive`" in done.stderr
    assert "--recursive" not in run(command, "none").stderr


def test_a_npy_is_compared_with_the_only_output(run, tmp_path: Path) -> None:
    x = np.array([[-1, 0, 2]], np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", np.maximum(x, 0))
    np.save(tmp_path / "wrong.npy", x)
    np.savez(tmp_path / "other.npz", prob=np.maximum(x, 0))
    np.savez(tmp_path / "wrong.npz", prob=x)
    np.savez(tmp_path / "two.npz", prob=np.maximum(x, 0), more=x)
    line = ["run", "net.nnef", "--input", "x.npy", "--compare"]
    assert run(*line, "y.npy", "--tolerance", "exact").returncode == 0
    assert run(*line, "wrong.npy").returncode == 1
    done = run(*line, "other.npz", "--tolerance", "exact")
    assert done.returncode == 0
    assert "y: compared with `prob`, the only tensor\n" in done.stdout
    assert run(*line, "wrong.npz").returncode == 1
    # Two tensors: neither is the only one.
    assert "no tensor of this name to compare with" in run(*line, "two.npz").stdout
    (tmp_path / "two.nnef").write_text(TWO, encoding="utf-8")
    done = run("run", "two.nnef", "--input", "x.npy", "--compare", "y.npy")
    assert done.returncode == 2
    assert "the graph has 2 outputs; an .npz has a tensor for each, by name" in done.stderr
    assert "no tensor of this name" in run("run", "two.nnef", "--input", "x.npy", "--compare", "other.npz").stdout


def test_data_of_inputs_may_come_with_the_results(run, tmp_path: Path) -> None:
    """As in the test data of tract: one archive for both options."""
    x = np.array([[-1, 0, 2]], np.float32)
    np.savez(tmp_path / "io.npz", x=x, y=np.maximum(x, 0))
    assert run("run", "net.nnef", "--inputs", "io.npz", "--compare", "io.npz", "--tolerance", "exact").returncode == 0
    np.savez(tmp_path / "io.npz", x=x, z=x)
    done = run("run", "net.nnef", "--inputs", "io.npz")
    assert done.returncode == 1
    assert "the graph has no input `z`" in done.stderr


def test_data_of_open_inputs_may_come_with_the_results(run, tmp_path: Path) -> None:
    """An input with an open shape has the shape of its data."""
    (tmp_path / "net.nnef").write_text("version 1.0\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [0, 3])\n    y = relu(x)\n}\n",
                                       encoding="utf-8")
    x = np.array([[-1, 0, 2], [3, -4, 5]], np.float32)
    np.savez(tmp_path / "io.npz", x=x, y=np.maximum(x, 0))
    done = run("run", "net.nnef", "--inputs", "io.npz", "--compare", "io.npz", "--tolerance", "exact")
    assert done.returncode == 0, done.stderr


def test_a_wrong_configuration_is_reported_once(run, tmp_path: Path) -> None:
    (tmp_path / ".nnefc.json").write_text('{"lint": {"enable": ["no-such-rule"]}}', encoding="utf-8")
    for name in ("a.nnef", "b.nnef"):
        (tmp_path / name).write_text(RIGHT, encoding="utf-8")
    done = run("lint", "a.nnef", "b.nnef")
    assert done.returncode == 1
    assert done.stderr.count("no-such-rule`") == 1
