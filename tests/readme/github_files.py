"""Checks the files for GitHub and pre-commit: workflows and forms are YAML and run scripts that exist, the action reports a
mistake at its line, and each hook of the example accepts a valid document and rejects an invalid one."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import subprocess
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ACTION = ROOT / ".github/actions/nnefc"
VALID = "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    y = relu(x);\n}\n"
INVALID = VALID.replace("    y = relu(x);", "  y = rleu(x);")


def load(path: pathlib.Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(document: dict) -> list[dict]:
    jobs = document["jobs"].values() if "jobs" in document else [document["runs"]]
    return [step for job in jobs for step in job["steps"]]


def check_workflows() -> list[str]:
    """Returns a message for each script of a workflow or of the action that does not exist."""
    failures = []
    for path in [*sorted((ROOT / ".github/workflows").glob("*.yml")), ROOT / "tools/examples/github/models.yml", ACTION / "action.yml"]:
        for step in steps(load(path)):
            if "uses" in step and step["uses"].startswith("./.nnefc/"):
                folder = step["uses"].removeprefix("./.nnefc/")
                inputs = load(ROOT / folder / "action.yml")["inputs"]
                failures += [f"{path.name}: the action has no input `{name}`" for name in step["with"] if name not in inputs]
            for script in re.findall(r"(?:^|\s)((?:\.ci|tools)/[\w./-]+)", step.get("run", "").replace("$GITHUB_ACTION_PATH/../../../", " ")):
                if not os.access(ROOT / script, os.X_OK):
                    failures.append(f"{path.name}: there is no script `{script}`")
    for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")):
        if path.stem != "config" and not {"name", "description", "body"} <= set(load(path)):
            failures.append(f"{path.name}: lacks a name, a description or a body")
    version = re.search(r"project\(nnefc VERSION ([\d.]+) ", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    if not version or load(ROOT / ".github/CITATION.cff")["version"] != version[1]:
        failures.append("CITATION.cff: the version is not that of CMakeLists.txt")
    return failures


def check_action(folder: pathlib.Path, environment: dict[str, str]) -> list[str]:
    def run(command: str, models: str, arguments: str = "") -> tuple[int, str]:
        variables = {"NNEFC_COMMAND": command, "NNEFC_MODELS": models, "NNEFC_ARGUMENTS": arguments}
        done = subprocess.run([ACTION / "run.sh"], cwd=folder, env=environment | variables, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    failures = []
    for command, models, arguments, code, text in (
            ("check", "invalid.nnef", "", 1, "::error file=invalid.nnef,line=6,"),
            ("check", "valid.nnef", "", 0, ""),
            ("lint", "valid.nnef unused.nnef", "", 0, "::warning file=unused.nnef,line=6,"),
            ("lint", "valid.nnef unused.nnef", "--werror --quiet", 1, ""),
            ("check", ".", "", 1, "::error file=./invalid.nnef,line=6,"),
            ("fmt", ".", "", 1, "invalid.nnef"),
            ("fmt", "valid.nnef", "", 0, ""),
            ("run", "valid.nnef", "", 2, "::error::unknown command `run`")):
        got = run(command, models, arguments)
        if got[0] != code or text not in got[1]:
            failures.append(f"action {command} {models} {arguments}: exit code {got[0]}, expected {code} and `{text}`\n{got[1]}")
    return failures


def check_hooks(folder: pathlib.Path, environment: dict[str, str]) -> list[str]:
    """Runs each hook of the example as pre-commit does: the entry with the names of matching files."""
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    wanted = [hook["id"] for repository in load(ROOT / "tools/examples/pre-commit/.pre-commit-config.yaml")["repos"]
              for hook in repository["hooks"]]
    failures = [] if sorted(wanted) == sorted(hooks) else [f"the example has the hooks {wanted}; there are {sorted(hooks)}"]
    for name in wanted:
        for file, is_valid in (("valid.nnef", True), ("invalid.nnef", False)):
            path = folder / file
            before = path.read_text(encoding="utf-8")
            assert re.search(hooks[name]["files"], file) and not re.search(hooks[name]["files"], "net.nnef.txt")
            done = subprocess.run([*shlex.split(hooks[name]["entry"]), file], cwd=folder, env=environment, check=False, capture_output=True)
            # pre-commit rejects a commit if a hook fails or changes a file.
            if (done.returncode == 0 and path.read_text(encoding="utf-8") == before) != is_valid:
                failures.append(f"hook {name} {file}: exit code {done.returncode}\n{done.stderr.decode()}")
            path.write_text(before, encoding="utf-8")
    return failures


def check(nnefc: pathlib.Path) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin" / "nnefc").symlink_to(nnefc)
        models = folder / "models"
        models.mkdir()
        (models / "valid.nnef").write_text(VALID, encoding="utf-8")
        (models / "invalid.nnef").write_text(INVALID, encoding="utf-8")
        (models / "unused.nnef").write_text(VALID.replace("    y =", "    z = exp(x);\n    y ="), encoding="utf-8")
        environment = os.environ | {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        return check_workflows() + check_action(models, environment) + check_hooks(models, environment)
