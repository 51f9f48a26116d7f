"""The command line beyond what a golden file can hold: streams that cannot be written, names that begin like options."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

RIGHT = "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 3, 8, 8]);\n    y = relu(x);\n}\n"
WRONG = RIGHT.replace("relu(x)", "relu(z)")
# A command of each kind, with the exit code for a valid document and for an invalid one.
COMMANDS = ["check", "lint", "expand", "fmt --check", "upgrade", "compile", "run --random-inputs 1", "inspect", "draw", "bench --iterations 1"]


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    (tmp_path / "right.nnef").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "wrong.nnef").write_text(WRONG, encoding="utf-8")
    return tmp_path


def _shell(nnefc: Path, folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell command line in which `nnefc` is the binary."""
    return subprocess.run(["bash", "-c", line.replace("nnefc ", f"{nnefc} ", 1)], cwd=folder, capture_output=True, text=True,
                          timeout=60, check=False)


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
@pytest.mark.parametrize("command", COMMANDS + ["nonsense", "check --nonsense"])
def test_standard_error_that_cannot_be_written(command: str, redirection: str, nnefc: Path, folder: Path) -> None:
    right = _shell(nnefc, folder, f"nnefc {command} right.nnef {redirection}")
    wrong = _shell(nnefc, folder, f"nnefc {command} wrong.nnef {redirection}")
    is_misuse = "nonsense" in command
    # `upgrade` has a message for a document that is already ratified, which is lost.
    is_lost = redirection == "2>/dev/full" and command == "upgrade"
    assert right.returncode == (2 if is_misuse or is_lost else 0)
    # The formatter only checks the syntax.
    assert wrong.returncode == (2 if is_misuse else 0 if command.startswith("fmt") else 1)


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
@pytest.mark.parametrize("line", ["--help", "--version", "run --help", "help check", "explain --list", "operations",
                                  "inspect right.nnef", "draw right.nnef", "expand right.nnef", "fmt right.nnef", "compile right.nnef",
                                  "run right.nnef --random-inputs 1"])
def test_standard_output_that_cannot_be_written(line: str, redirection: str, nnefc: Path, folder: Path) -> None:
    done = _shell(nnefc, folder, f"nnefc {line} {redirection}")
    assert done.returncode == 2
    assert done.stderr == "nnefc: error: cannot write to standard output\n"


def test_a_file_does_not_take_the_place_of_a_closed_stream(nnefc: Path, folder: Path) -> None:
    done = _shell(nnefc, folder, "nnefc check wrong.nnef -o report.txt 2>&-; cat report.txt")
    assert "undefined name `z`" in done.stdout
    done = _shell(nnefc, folder, "nnefc expand missing.nnef -o flat.nnef >&- 2>&- <&-; cat flat.nnef")
    assert done.stdout == ""


@pytest.mark.parametrize("line", ["check {} --tolerance close", "run {} --device CPU", "run {} --tolerence close",
                                  "check {} -x 3", "expand --nonsense 3 {}", "bench {} --loops 3"])
def test_an_unknown_option_with_a_value(line: str, nnefc: Path, folder: Path) -> None:
    done = _shell(nnefc, folder, "nnefc " + line.format("right.nnef"))
    option = next(word for word in line.split() if word.startswith("-"))
    assert done.returncode == 2
    assert f"has no option `{option}`" in done.stderr


@pytest.mark.parametrize(("line", "told"), [
    ("check right.nnef --tolerance close", "has `--tolerance`"),
    ("check right.nnef --toleranse close", "`check` has no option `--toleranse`\n"),
    ("lint right.nnef --rule x", "`lint` has no option `--rule`\n"),
    ("lint right.nnef --tune", "`lint` has no option `--tune`; `nnefc run` has `--tune`"),
    ("check right.nnef -format json", "did you mean `--format`?"),
    ("lint right.nnef --enable no.such", "`--enable`: there is no lint rule `no.such`"),
    ("lint right.nnef --disable no.such", "`--disable`: there is no lint rule `no.such`"),
    ("lint right.nnef --level no.such=error", "`--level`: there is no lint rule `no.such`"),
])
def test_advice_about_options(line: str, told: str, nnefc: Path, folder: Path) -> None:
    done = _shell(nnefc, folder, f"nnefc {line}")
    assert done.returncode == 2 and told in done.stderr, done.stderr


def test_folders_within_folders(nnefc: Path, tmp_path: Path) -> None:
    """Each model once: links to folders are not followed, hidden names are skipped."""
    places = ["a/one.nnef", "a/b/graph.nnef", "a/b/c/two.nnef", ".hidden/three.nnef", "graph.txt"]
    for place in places:
        (tmp_path / "all" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "all" / place).write_text("version 1.0;", encoding="utf-8")
    (tmp_path / "all" / "link").symlink_to(tmp_path / "all" / "a")
    (tmp_path / "all" / "a" / "around").symlink_to(tmp_path / "all")
    done = _shell(nnefc, tmp_path, "nnefc check -r all --format json")
    found = {diagnostic["file"] for diagnostic in json.loads(done.stderr)["diagnostics"]}
    assert done.returncode == 1
    assert found == {"all/a/one.nnef", "all/a/b/graph.nnef", "all/a/b/c/two.nnef"}


@pytest.mark.parametrize("command", COMMANDS)
def test_names_that_begin_like_options(command: str, nnefc: Path, folder: Path) -> None:
    (folder / "-net.nnef").write_text(RIGHT, encoding="utf-8")
    plain = _shell(nnefc, folder, f"nnefc {command} -net.nnef")
    assert plain.returncode == 2
    assert "name the file `./-net.nnef`, or write `--` before it" in plain.stderr
    assert _shell(nnefc, folder, f"nnefc {command} -- -net.nnef").returncode == 0
    assert _shell(nnefc, folder, f"nnefc {command} ./-net.nnef").returncode == 0


@pytest.mark.parametrize("command", [command for command in COMMANDS if not command.startswith("fmt")] + ["fmt"])
def test_every_command_writes_to_a_file(command: str, nnefc: Path, folder: Path) -> None:
    name = "out.npz" if command.startswith("run") else "out.dot" if command == "draw" else "out.nnef" if command in ("expand", "upgrade") else "out.txt"
    done = _shell(nnefc, folder, f"nnefc {command} right.nnef --output {name}")
    assert (done.returncode, done.stdout) == (0, "")
    assert (folder / name).exists()


@pytest.mark.parametrize("line", ["check --format json", "check right.nnef --nonsense --format=json", "--format json check right.nnef",
                                  "run right.nnef --threads x --format json", "explain nonsense --format json",
                                  "check right.nnef wrong.nnef missing.nnef --format json"])
def test_misuse_is_told_in_the_form_that_is_asked_for(line: str, nnefc: Path, folder: Path) -> None:
    done = _shell(nnefc, folder, f"nnefc {line}")
    assert done.returncode == 2
    report = json.loads(done.stderr)
    assert all(diagnostic["severity"] == "error" for diagnostic in report["diagnostics"])
    assert report["diagnostics"]


def test_the_version_tells_the_commit_and_what_computes(nnefc: Path, folder: Path) -> None:
    version, commit, backend = _shell(nnefc, folder, "nnefc --version").stdout.splitlines()
    assert re.fullmatch(r"nnefc \d+\.\d+\.\d+", version)
    assert re.fullmatch(r"commit ((v\d+\.\d+\.\d+(-\d+-g[0-9a-f]+)?|[0-9a-f]{12})\+?|unknown)", commit)
    assert re.fullmatch(r"oneDNN \d+\.\d+\.\d+, which uses .+", backend)


def test_options_stand_behind_the_command(nnefc: Path, folder: Path) -> None:
    done = _shell(nnefc, folder, "nnefc --dialect ratified check right.nnef")
    assert "`nnefc check --dialect ratified right.nnef`" in done.stderr
    assert "did you mean `nnefc --version`?" in _shell(nnefc, folder, "nnefc check --version").stderr
    assert "did you mean `nnefc check right.nnef`?" in _shell(nnefc, folder, "nnefc right.nnef").stderr
    assert _shell(nnefc, folder, "nnefc -V").stdout == _shell(nnefc, folder, "nnefc --version").stdout
    assert _shell(nnefc, folder, "nnefc help run").stdout == _shell(nnefc, folder, "nnefc run --help").stdout
    assert _shell(nnefc, folder, "nnefc help").stdout == _shell(nnefc, folder, "nnefc --help").stdout


# A quarter of a gigabyte takes a noticeable time to write.
LARGE = ("version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 8192]);\n"
         "    w = variable(shape = [8192, 8192], label = 'w');\n    y = linear(x, w);\n}\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["compile large.nnef --random-weights 1 -o net.xml"])
def test_an_interrupted_write_leaves_nothing(command: str, number: signal.Signals, nnefc: Path, folder: Path) -> None:
    (folder / "large.nnef").write_text(LARGE, encoding="utf-8")
    before = {path.name for path in folder.iterdir()}
    for _ in range(5):
        # If these tests run in the background of a shell they ignore interrupts, and so would their children.
        with subprocess.Popen([str(nnefc), *command.split()], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)) as process:  # noqa: PLW1509
            until = time.monotonic() + 50
            while {path.name for path in folder.iterdir()} == before and process.poll() is None and time.monotonic() < until:
                time.sleep(0.002)
            os.kill(process.pid, number)
            code = process.wait(timeout=50)
        if code != 0:
            break
        # On a busy machine it may have ended before this process runs again.
        for name in {path.name for path in folder.iterdir()} - before:
            (folder / name).unlink()
    assert code == -number
    assert {path.name for path in folder.iterdir()} == before


def test_what_the_caller_ignores_stays_ignored(nnefc: Path, folder: Path) -> None:
    done = _shell(nnefc, folder, "trap '' HUP; nnefc bench right.nnef --iterations 100000 & sleep 0.3; kill -HUP $!; wait $!; echo $?")
    assert done.stdout.endswith("\n0\n")


@pytest.mark.parametrize(("line", "told"), [
    ("compile right.nnef -o net.onnx", "OpenVINO IR to `.xml` and the text form to `.ir`"),
    ("compile right.nnef -o net.XML", "OpenVINO IR to `.xml` and the text form to `.ir`"),
    ("compile right.nnef -o net.tgz", "OpenVINO IR to `.xml` and the text form to `.ir`"),
    ("run right.nnef --random-inputs 1 --outputs out.csv", "outputs to an `.npz`"),
    ("run right.nnef --random-inputs 1 -o out.npy", "outputs to an `.npz`"),
    ("upgrade model -o new.nnef", "is a folder"),
    ("run right.nnef --random-inputs 1 --save-weights new.tgz", "writes a folder"),
    ("fmt right.nnef -o new.tgz", "a document to a `.nnef`"),
    ("fmt right.nnef -o new.onnx", "a document to a `.nnef`"),
    ("compile right.nnef -o net", "OpenVINO IR to `.xml` and the text form to `.ir`"),
    ("transform right.nnef -o net", "OpenVINO IR to `.xml` and the text form to `.ir`"),
    ("transform right.nnef --bisect -o net.ir", "writes no graph"),
    *((f"transform right.nnef --diff {names} -o d.html", "expects one name") for names in ("all", "front.MishFusion,front.SoftplusFusion")),
    ("transform right.nnef -o d.html", "OpenVINO IR to `.xml` and the text form to `.ir`"),
    *((f"draw right.nnef -o {name}", "DOT to a `.dot`") for name in ("g.pdf", "g.png", "g.txt", "g.xhtml")),
    ("expand right.nnef -o flat", "one document, to a `.nnef`"),
    ("expand right.nnef -o model", "`model`, which is a folder"),
    ("fmt right.nnef -o new", "a document to a `.nnef`"),
    ("upgrade right.nnef -o new", "one document, for a `.nnef`"),
    ("run right.nnef --random-inputs 1 --outputs out", "outputs to an `.npz`"),
    ("run right.nnef --random-inputs 1 --outputs -", "standard output"),
    ("run right.nnef --random-inputs 1 --save-inputs in", "an `.npz`"),
    ("run right.nnef --random-inputs 1 --save-weights w.dat", "writes a folder"),
    ("run right.nnef --random-inputs 1 --save-weights right.nnef", "writes a folder"),
    *((f"{command} -o {name}", "is text")
      for command in ("inspect right.nnef", "bench right.nnef", "check right.nnef", "lint right.nnef", "explain conv", "operations",
                      "fmt --check right.nnef", "transform --list-transformations")
      for name in ("g.svg", "g.html", "g.csv", "g.json", "g.sarif")),
    ("fmt --diff right.nnef -o new.nnef", "a diff"),
    *((f"{command} --format json -o g.svg", "is JSON")
      for command in ("inspect right.nnef", "bench right.nnef", "check right.nnef", "lint right.nnef", "explain conv")),
    ("check right.nnef --format sarif -o g.html", "is SARIF"),
    *((f"{line} ''", "expected a name, not an empty text")
      for line in ("inspect right.nnef -o", "check right.nnef -o", "run right.nnef --random-inputs 1 -o", "check", "run right.nnef --compare",
                   "run right.nnef --random-inputs 1 --save-weights", "upgrade right.nnef --output")),
])
def test_a_name_that_promises_something_else(line: str, told: str, nnefc: Path, folder: Path) -> None:
    (folder / "model").mkdir()
    (folder / "model" / "graph.nnef").write_text(RIGHT, encoding="utf-8")
    before = sorted(folder.rglob("*"))
    done = _shell(nnefc, folder, f"nnefc {line}")
    assert done.returncode == 2
    assert told in done.stderr
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("line", ["compile right.nnef -o net.xml", "compile right.nnef -o net.ir", "compile right.nnef -o net.txt",
                                  "compile right.nnef -o /dev/null", "run right.nnef --random-inputs 1 -o /dev/null",
                                  "expand right.nnef -o flat.nnef", "upgrade right.nnef -o new.nnef", "upgrade model -o model.v2",
                                  "run right.nnef --random-inputs 1 --save-weights model.v2", "fmt right.nnef -o new.nnef",
                                  "fmt --diff right.nnef -o new.diff", "fmt --check right.nnef -o new.txt", "inspect right.nnef -o g",
                                  "inspect right.nnef -o g.txt", "draw right.nnef -o g.dot", "draw right.nnef -o g.gv", "draw right.nnef -o g.html", "draw right.nnef -o g.htm", "draw right.nnef -o g.json", "draw right.nnef -o g", "draw right.nnef -o -", "inspect right.nnef -o g.json --format json", "check right.nnef -o -",
                                  "check right.nnef -o g.sarif --format sarif", "operations -o g.txt", "explain conv -o g.txt",
                                  "bench right.nnef --iterations 1 -o g.json --format json",
                                  "transform right.nnef --diff front.MishFusion -o d.html", "transform right.nnef --diff front.MishFusion -o d.json",
                                  "transform right.nnef --diff all -o net.ir"])
def test_a_name_that_fits(line: str, nnefc: Path, folder: Path) -> None:
    (folder / "model").mkdir()
    (folder / "model" / "graph.nnef").write_text(RIGHT, encoding="utf-8")
    assert _shell(nnefc, folder, f"nnefc {line}").returncode == 0


@pytest.mark.parametrize("line", [
    "expand --lower all right.nnef -o flat.nnef", "expand --lower=relu,softmax right.nnef -o flat.nnef",
    "compile --input-shape x=1,3,8,8 right.nnef -o net.xml", "check --input-shape x=1,3,8,8 right.nnef -o report",
    "compile --disable-transformations a right.nnef -o net.ir", "lint --disable all --enable all right.nnef -o report",
    "run --input x=x.npy right.nnef -o out.npz", "run --inputs x.npz --dump all right.nnef -o out.npz",
    "transform --enable-transformations front.MishFusion right.nnef -o net.ir", "lint --level lint.not-ratified=note right.nnef -o report"])
def test_a_list_leaves_the_model_alone(line: str, nnefc: Path, folder: Path) -> None:
    x = np.zeros((1, 3, 8, 8), np.float32)
    np.save(folder / "x.npy", x)
    np.savez(folder / "x.npz", x=x)
    done = _shell(nnefc, folder, f"nnefc {line}")
    assert "MODEL" not in done.stderr and done.returncode != 2, done.stderr


NETWORKS = sorted((Path(__file__).resolve().parent.parent.parent / "networks").glob("*.nnef"))


@pytest.mark.parametrize("network", NETWORKS, ids=lambda path: path.stem)
def test_what_is_printed_is_in_the_one_style(network: Path, nnefc: Path, tmp_path: Path) -> None:
    assert NETWORKS
    done = _shell(nnefc, tmp_path, f"nnefc expand {network} -o flat.nnef")
    assert done.returncode == 0, done.stderr
    assert _shell(nnefc, tmp_path, f"nnefc fmt --diff flat.nnef {network}").stdout == ""


FINITE = ("version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2]);\n    a = sub(x, 1.0);\n    b = log(a);\n"
          "    c = mul(b, 2.0);\n    y = add(c, x);\n}\n")


@pytest.mark.parametrize(("data", "told"), [
    ([2.0, 3.0], ""),
    ([2.0, 1.0], "net.nnef:7:9: error: `b` (Log) computes -infinity at [1] from finite values [run.failed]"),
    ([0.0, 1.0], "net.nnef:7:9: error: `b` (Log) computes a NaN at [0] from finite values [run.failed]"),
    ([2.0, np.inf], "the data of input `x` contain infinity at [1]"),
    ([np.nan, 0.5], "the data of input `x` contain a NaN at [0]"),
])
def test_check_finite(data: list[float], told: str, nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text(FINITE, encoding="utf-8")
    np.save(tmp_path / "x.npy", np.array(data, np.float32))
    done = _shell(nnefc, tmp_path, "nnefc run net.nnef --input x.npy --check-finite")
    assert (done.returncode, told in done.stderr) == (1 if told else 0, True)
    assert done.stderr.count("error: ") == bool(told)


def test_check_finite_notes_a_constant(nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.ir").write_text("""graph "net" {
  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Const "w" : f32[2] = dense<f32[2]: 1.0, 3e+38>
  %2 = opset1.Const "v" : f32[2] = dense<f32[2]: 0x000080bf0000807f>
  %3 = opset1.Add "a" (%0, %1) {auto_broadcast = "numpy"} : f32[2]
  %4 = opset1.Add "b" (%3, %2) {auto_broadcast = "numpy"} : f32[2]
  opset1.Result "y" (%4)
}
""", encoding="utf-8")
    np.save(tmp_path / "x.npy", np.zeros(2, np.float32))
    done = _shell(nnefc, tmp_path, "nnefc run net.ir --input x.npy --check-finite")
    assert done.returncode == 0 and "note: the constant `v` contains infinity at [1]" in done.stderr, done.stderr
    assert "error: " not in done.stderr
    # An operation that computes one from other values is reported nevertheless.
    np.save(tmp_path / "x.npy", np.array([3e38, 0], np.float32))
    done = _shell(nnefc, tmp_path, "nnefc run net.ir --input x.npy --check-finite")
    assert done.returncode == 0
    text = (tmp_path / "net.ir").read_text(encoding="utf-8")
    (tmp_path / "net.ir").write_text(text.replace('1.0, 3e+38', '3e+38, 0.0'), encoding="utf-8")
    done = _shell(nnefc, tmp_path, "nnefc run net.ir --input x.npy --check-finite")
    assert done.returncode == 1 and "`a` (Add) computes infinity at [0] from finite values" in done.stderr, done.stderr


def test_check_finite_of_a_mask_in_a_body(nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.ir").write_text("""graph "net" {
  %0 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
  %1 = opset1.Parameter "c" {element_type = boolean, shape = shape[]} : boolean[]
  %2 = opset8.If "i" (%1, %0) : f32[2] bodies {
    "then_body" input 1 -> 0 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "p" {element_type = f32, shape = shape[2]} : f32[2]
      %1 = opset1.Const "mask" : f32[2] = dense<f32[2]: 0x00000000000080ff>
      %2 = opset1.Add "m" (%0, %1) {auto_broadcast = "numpy"} : f32[2]
      opset1.Result "r" (%2)
    }
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "p" {element_type = f32, shape = shape[2]} : f32[2]
      opset1.Result "r" (%0)
    }
  }
  opset1.Result "y" (%2)
}
""", encoding="utf-8")
    np.savez(tmp_path / "in.npz", x=np.zeros(2, np.float32), c=np.array(True))
    done = _shell(nnefc, tmp_path, "nnefc run net.ir --inputs in.npz --check-finite -o y.npz")
    assert (done.returncode, done.stderr) == (0, "")
    assert np.isinf(np.load(tmp_path / "y.npz")["y"]).any()


def test_check_finite_has_the_limits_of_the_run(nnefc: Path, tmp_path: Path) -> None:
    """The check keeps all values, although the run needs only two of them at a time."""
    lines = "".join(f"    v{i + 1} = sin(v{i});\n" for i in range(9))
    (tmp_path / "net.nnef").write_text("version 1.0;\ngraph net( v0 ) -> ( v9 )\n{\n    v0 = external(shape = [1000000]);\n"
                                       + lines + "}\n", encoding="utf-8")
    run = "nnefc run net.nnef --random-inputs 1 --max-memory"
    assert _shell(nnefc, tmp_path, f"{run} 16000000").returncode == 0
    assert _shell(nnefc, tmp_path, f"{run} 100000000 --check-finite").returncode == 0
    done = _shell(nnefc, tmp_path, f"{run} 16000000 --check-finite")
    assert done.returncode != 0 and "[runtime.memory]" in done.stderr, done.stderr


def test_a_bench_is_of_twenty_runs(nnefc: Path, folder: Path) -> None:
    report = json.loads(_shell(nnefc, folder, "nnefc bench right.nnef --random-inputs 1 --format json").stdout)
    assert report["iterations"] == len(report["milliseconds"]) == 20
    # The same keys as in the reports of `run` and `inspect`.
    assert report["model"] == "right.nnef" and "network" not in report


def test_reports_of_runs(nnefc: Path, folder: Path) -> None:
    run = "nnefc run right.nnef --random-inputs 1 --format json"
    report = json.loads(_shell(nnefc, folder, f"{run} --profile --verbose").stdout)
    assert report["outputs"][0]["name"] == "y"
    assert report["outputs"][0]["shape"] == [1, 3, 8, 8]
    assert report["profile"] and report["stages"]
    _shell(nnefc, folder, "nnefc run right.nnef --random-inputs 1 -o out.npz")
    report = json.loads(_shell(nnefc, folder, f"{run} --compare out.npz --tolerance exact").stdout)
    assert report["comparison"]["within"] is True
    arrays = dict(np.load(folder / "out.npz"))
    arrays["y"][0, 2, 3, 4] += 1
    np.savez(folder / "other.npz", extra=np.zeros(2, np.float32), **arrays)
    told = _shell(nnefc, folder, "nnefc run right.nnef --random-inputs 1 --compare other.npz")
    assert told.returncode == 1
    assert "y: the worst is [0,2,3,4]: " in told.stdout
    assert "extra: no output of this name; not compared" in told.stdout


@pytest.mark.parametrize("models", ["right.nnef", "right.nnef right.nnef"])
def test_reports_of_models_have_one_form(models: str, nnefc: Path, folder: Path) -> None:
    report = json.loads(_shell(nnefc, folder, f"nnefc inspect {models} --format json --layers 0").stdout)
    assert len(report["models"]) == len(models.split())
    for model in report["models"]:
        assert model["layers"] == []
        assert model["inputs"] == [{"name": "x", "type": "f32", "shape": [1, 3, 8, 8]}]


def test_bench_runs_streams_side_by_side(nnefc: Path, folder: Path) -> None:
    bench = "nnefc bench right.nnef --iterations 4 --warmup 1"
    report = json.loads(_shell(nnefc, folder, f"{bench} --streams 3 --format json").stdout)
    assert (report["streams"], len(report["milliseconds"])) == (3, 12)
    assert 12 / report["runs_per_second"] >= max(report["milliseconds"]) / 1e3
    assert " of 12 runs; 3 streams, " in _shell(nnefc, folder, f"{bench} --streams 3").stdout
    assert " of 4 runs\n" in _shell(nnefc, folder, bench).stdout
    assert _shell(nnefc, folder, f"{bench} --streams 0").returncode == 2


def test_a_configuration_of_transformations_is_updated_in_place(nnefc: Path, folder: Path) -> None:
    block = ("fragment block( input: tensor<scalar> ) -> ( output: tensor<scalar> )\n"
             "{\n    s = exp(input);\n    t = tanh(s);\n    output = mul(input, t);\n}\n")
    net = "version 1.0;\nextension KHR_enable_fragment_definitions;\n" + block + RIGHT.partition("\n\n")[2].replace("relu", "block")
    (folder / "net.nnef").write_text(net, encoding="utf-8")
    entry = {"id": "Blocks", "match_kind": "scope", "instances": ["y"], "op": "Mish"}
    (folder / "c.json").write_text(json.dumps([entry]), encoding="utf-8")
    (folder / "link.json").symlink_to("c.json")
    done = _shell(nnefc, folder, "nnefc transform net.nnef --custom-operations-config-update link.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    entry |= {"inputs": [[{"node": "mul$", "port": 0}, {"node": "s$", "port": 0}]], "outputs": [{"node": "mul$", "port": 0}]}
    assert (folder / "c.json").read_text(encoding="utf-8") == json.dumps([entry], indent=4, sort_keys=True) + "\n"
    assert (folder / "link.json").is_symlink()
    done = _shell(nnefc, folder, "nnefc compile net.nnef --transformations-config c.json")
    assert "opset4.Mish" in done.stdout and "Tanh" not in done.stdout
    # An error leaves the file unchanged.
    (folder / "d.json").write_text(json.dumps([entry | {"instances": ["nosuch"]}]), encoding="utf-8")
    before = (folder / "d.json").read_bytes()
    done = _shell(nnefc, folder, "nnefc compile net.nnef --custom-operations-config-update d.json")
    assert done.returncode == 1 and "transform.mismatch" in done.stderr
    assert (folder / "d.json").read_bytes() == before
    assert _shell(nnefc, folder, "nnefc compile net.nnef --custom-operations-config-update nosuch.json").returncode == 2


def test_onednn_is_another_name_of_the_fast_backend(nnefc: Path, folder: Path) -> None:
    for name in ("fast", "onednn", "reference"):
        finished = _shell(nnefc, folder, f"nnefc bench right.nnef --random-inputs 1 --iterations 1 --warmup 0 --backend {name} --format json")
        assert json.loads(finished.stdout)["backend"] == ("reference" if name == "reference" else "fast")
    refused = _shell(nnefc, folder, "nnefc run right.nnef --random-inputs 1 --backend gpu")
    assert refused.returncode == 2 and "expected reference or fast" in refused.stderr


@pytest.mark.parametrize("planned", ["before it runs", "as it runs"])
@pytest.mark.parametrize("command", ["run", "bench --iterations 1 --warmup 0"])
def test_a_missing_library_is_a_warning(command: str, planned: str, nnefc: Path, folder: Path) -> None:
    """oneDNN has a kernel for the operation; the linker finds the broken file first."""
    (folder / "lrn.nnef").write_text(RIGHT.replace("relu(x)", "local_response_normalization(x, size = [1, 3, 1, 1])"), encoding="utf-8")
    line = f"nnefc {command} lrn.nnef --input x.npy"
    np.save(folder / "x.npy", np.ones((1, 3, 8, 8), np.float32))
    if planned == "as it runs":
        assert _shell(nnefc, folder, "nnefc compile lrn.nnef -o lrn.xml").returncode == 0
        text = (folder / "lrn.xml").read_text(encoding="utf-8")
        text = text.replace('shape="1,3,8,8"', 'shape="?,3,8,8"').replace("<dim>1</dim><dim>3</dim>", "<dim>-1</dim><dim>3</dim>")
        (folder / "lrn.xml").write_text(text, encoding="utf-8")
        line = line.replace("lrn.nnef", "lrn.xml")
    assert _shell(nnefc, folder, line).stderr == ""
    (folder / "libnnefc_onednn.so").write_text("", encoding="utf-8")
    broken = f"LD_LIBRARY_PATH=. {line}"
    (warning,) = _shell(nnefc, folder, broken).stderr.splitlines()
    assert warning.startswith("nnefc: warning: some operations run in reference kernels, which are slow, because oneDNN is missing: `libnnefc_onednn.so`")
    assert warning.endswith("install nnefc again [runtime.no-onednn]")
    assert _shell(nnefc, folder, f"{broken} --backend reference").stderr == ""


def test_the_name_of_standard_input(nnefc: Path, folder: Path) -> None:
    (folder / "model").mkdir()
    (folder / "model" / ".nnefc.json").write_text('{"lint": {"levels": {"undefined-layer": "error"}, "disable": ["unused-tensor"]}}', encoding="utf-8")
    named = "--stdin-filename model/net.nnef"
    done = _shell(nnefc, folder, f"nnefc check - {named} < wrong.nnef")
    assert done.returncode == 1 and done.stderr.startswith("model/net.nnef:6:")
    assert _shell(nnefc, folder, f"nnefc fmt - {named} < right.nnef").stdout == RIGHT
    assert _shell(nnefc, folder, f"nnefc fmt - --check {named} < <(sed 's/ = /=/' right.nnef)").stdout == "model/net.nnef\n"
    # The name decides whether the text is a graph.quant file.
    quant = '"x": linear_quantize( min=0.0, max=1.0, bits=8 );\n'
    (folder / "quant").write_text(quant, encoding="utf-8")
    assert _shell(nnefc, folder, "nnefc fmt - < quant").returncode == 1
    done = _shell(nnefc, folder, "nnefc fmt - --stdin-filename model/graph.quant < quant")
    assert (done.returncode, done.stdout) == (0, '"x": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n')
    # The configuration of its folder applies.
    spare = RIGHT.replace("    y =", "    z = relu(x);\n    y =")
    (folder / "spare.nnef").write_text(spare, encoding="utf-8")
    assert "lint.unused-tensor" in _shell(nnefc, folder, "nnefc lint - < spare.nnef").stderr
    assert "lint.unused-tensor" not in _shell(nnefc, folder, f"nnefc lint - {named} < spare.nnef").stderr
    # Fixes are those of the text.
    missing = RIGHT.replace("8, 8]);", "8, 8])")
    (folder / "missing.nnef").write_text(missing, encoding="utf-8")
    assert _shell(nnefc, folder, f"nnefc check - --fix {named} < missing.nnef").stdout == RIGHT
    assert not (folder / "model" / "net.nnef").exists()


@pytest.mark.parametrize(("line", "error"), [
    ("check right.nnef --stdin-filename net.nnef", "which is the model `-`"),
    ("check - --stdin-filename net.xml < right.nnef", "expected the name of an NNEF document"),
    ("fmt right.nnef --stdin-filename net.nnef", "which is the model `-`"),
    ("lint - --stdin-filename '' < right.nnef", "--stdin-filename")])
def test_names_that_standard_input_cannot_have(line: str, error: str, nnefc: Path, folder: Path) -> None:
    done = _shell(nnefc, folder, f"nnefc {line}")
    assert done.returncode == 2 and error in done.stderr
