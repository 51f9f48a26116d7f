#!/usr/bin/env python3
"""Tests the texts for users: run.py NNEFC [--package FOLDER]

- runs the code blocks of the repository's README and of the pages in tools/docs/pages (blocks.py), and checks the documents in the
  topics of `nnefc explain`; blocks in Python need the folder of the package
- compares the picture of a report with the output of nnefc, and the numbers of the README with the tables that it cites
- checks that CI runs each command of the READMEs that installs nnefc
- checks that each command and option of nnefc in READMEs, CONTRIBUTING and pages exists, and each rule in pages
- checks the workflows, the action, the hooks and the forms for GitHub and pre-commit (github_files.py)
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import blocks
import command_lines
import github_files

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ROOT / "tools" / "docs" / "pages"
TOPICS = ROOT / "compiler" / "explain" / "topics"
# The scripts of continuous integration.
SCRIPTS = [".ci/run", "tools/dev/check_install.sh"]
INSTALLED = ("tools/", "pip install", "sudo cmake --install")


# The pages of the site that are READMEs. The blocks of tools/python/README.md run in tests/python.
READMES = ["README.md", "tools/examples/README.md", "tools/api/README.md", "compiler/README.md", ".github/CONTRIBUTING.md",
           ".github/CHANGELOG.md", "compiler/lint/README.md"]


def tested_pages() -> list[pathlib.Path]:
    return [*(ROOT / name for name in READMES), *sorted(PAGES.rglob("*.md")), *sorted(TOPICS.glob("*.md"))]


def texts() -> list[pathlib.Path]:
    """Returns all texts that may name commands of nnefc."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    readmes = [ROOT / name for name in listed if pathlib.PurePosixPath(name).name in ("README.md", "CONTRIBUTING.md")]
    return sorted({*readmes, *tested_pages()})


def write_onnx_model(path: pathlib.Path) -> None:
    """Writes a small ONNX model with a dynamic batch, such as users export."""
    import onnx
    from onnx import TensorProto, helper

    weights = helper.make_tensor("weights", TensorProto.FLOAT, [8, 3, 3, 3], [0.01 * (i % 7 - 3) for i in range(216)])
    nodes = [helper.make_node("Conv", ["image", "weights"], ["features"], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["features"], ["positive"]),
             helper.make_node("GlobalAveragePool", ["positive"], ["pooled"]),
             helper.make_node("Flatten", ["pooled"], ["scores"]),
             helper.make_node("Softmax", ["scores"], ["classes"], axis=1)]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 32, 32])],
                              [helper.make_tensor_value_info("classes", TensorProto.FLOAT, [1, 8])], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def run_pages(nnefc: pathlib.Path, package: pathlib.Path | None) -> tuple[int, list[str]]:
    """Runs the blocks of all pages, each in a new folder with the repository's tests and examples and an ONNX model."""
    count, failures = 0, []
    for page in tested_pages():
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "tests").symlink_to(ROOT / "tests")
            (folder / "tools").mkdir()
            (folder / "tools" / "examples").symlink_to(ROOT / "tools" / "examples")
            (folder / ".bin").mkdir()
            (folder / ".bin" / "nnefc").symlink_to(nnefc)
            text = page.read_text(encoding="utf-8")
            if "model.onnx" in text:
                write_onnx_model(folder / "model.onnx")
            paths = [str(folder / ".bin"), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]
            environment = os.environ | {"PATH": os.pathsep.join(paths), "NO_COLOR": "1"}
            if package:
                environment["PYTHONPATH"] = str(package)
            runner = blocks.Runner(page.relative_to(ROOT).as_posix(), folder, environment, package is not None)
            runner.run(text)
            count += runner.count
            failures += runner.failures
    return count, failures


def missing_installations() -> list[str]:
    """Returns a message for each command that installs nnefc and is not run by CI."""
    scripts = "".join((ROOT / name).read_text(encoding="utf-8") for name in SCRIPTS)
    found, count = [], 0
    for page in [ROOT / "README.md", ROOT / "tools/python/README.md", *sorted(PAGES.rglob("*.md"))]:
        for block in blocks.parse(page.read_text(encoding="utf-8")):
            if block.language != "sh":
                continue
            for line in blocks.commands(block):
                command = line.partition("#")[0].strip()
                if command.startswith(INSTALLED) and not command.startswith("pip install openvino"):
                    count += 1
                    if command.removeprefix("sudo ") not in scripts:
                        found.append(f"{page.relative_to(ROOT)}:{block.line}: {command}\n  none of {', '.join(SCRIPTS)} runs it")
    return found or ([] if count else ["no README has a command that installs nnefc"])


def unknown_rules(nnefc: pathlib.Path) -> list[str]:
    """Returns a message for each label in back-quotes of a family of rules that names no rule."""
    listed = subprocess.run([str(nnefc), "explain", "--list"], capture_output=True, text=True, check=True).stdout
    labels = {line.split()[0] for line in listed.splitlines()}
    families = {label.partition(".")[0] for label in labels}
    return [f"{page.relative_to(ROOT)}: there is no rule `{label}`"
            for page in tested_pages() for label in re.findall(r"`([a-z_-]+\.[a-z-]+)`", page.read_text(encoding="utf-8"))
            if label.partition(".")[0] in families and label not in labels and not re.search(r"\.(nnef|quant|xml|pb|h)$", label)]


def numbers_of_readme(nnefc: pathlib.Path) -> list[tuple[str, bool]]:
    """Returns the statements with numbers in the README, and whether the tables that it cites support them."""
    table = (ROOT / "tests/conformance/README.md").read_text(encoding="utf-8")
    row = re.search(r"^\| all \|(.*)\|$", table, re.MULTILINE)
    assert row
    counts = [int(cell or 0) for cell in (cell.strip() for cell in row[1].split("|"))]
    tract, khronos = counts[:4], counts[4:]
    speed = (ROOT / "tests/bench/results/2026-11-26-emerald-f32.txt").read_text(encoding="utf-8")
    mean = re.search(r"geometric mean of (\d+), 1 thread: ([\d.]+)", speed)
    assert mean

    def lines(*words: str) -> list[str]:
        return subprocess.run([str(nnefc), *words], capture_output=True, text=True, check=True).stdout.splitlines()

    return [
        (f"all {sum(khronos):,} ratified cases", sum(tract) == sum(khronos)),
        (f"Khronos' interpreter passes {khronos[0]:,}", True),
        (f"tract {tract[0]:,}", True),
        (f"{mean[1]} networks take {float(mean[2]):.2f} of the time", True),
        ("more than 400 rules", len(lines("explain", "--list")) > 400),
        ("110 operations", len([line for line in lines("operations") if re.search(r"\bR \d", line)]) > 110),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nnefc", type=pathlib.Path)
    parser.add_argument("--package", type=pathlib.Path, help="the folder that contains the Python package")
    options = parser.parse_args()
    nnefc = options.nnefc.resolve()
    package = options.package.resolve() if options.package else None
    if package:
        sys.path.insert(0, str(package))
    count, failures = run_pages(nnefc, package)
    failures += missing_installations()
    known = command_lines.Help(nnefc)
    for path in texts():
        failures += [f"{path.relative_to(ROOT)}:{message}" for message in command_lines.wrong_lines(path.read_text(encoding="utf-8"), known)]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    failures += [f"README.md: expected `{statement}`, which a table states" for statement, is_true in numbers_of_readme(nnefc)
                 if statement not in readme or not is_true]
    failures += unknown_rules(nnefc) + github_files.check(nnefc)
    picture = subprocess.run([sys.executable, ROOT / "tools/docs/error_picture.py", nnefc, "--check"], capture_output=True, text=True, check=False)
    if picture.returncode != 0:
        failures.append(picture.stdout + picture.stderr)
    print(*failures, sep="\n", end="\n" if failures else "")
    print(f"{count} blocks in {len(tested_pages())} pages, {len(failures)} failures")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
