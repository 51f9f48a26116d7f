"""Runs the code blocks of a Markdown page in a folder.

| block | how it is tested |
|---|---|
| with `title="NAME"` | written to the file NAME, for the blocks that follow |
| a line `--8<-- "PATH"` | replaced by the file of the repository |
| `nnef` | `nnefc check` accepts it; an indented body gets the frame of a graph, as in the examples of rules |
| `sh` | each command runs and ends with exit code 0, or N if the line ends in `# exit code N` |
| `text` directly after `sh` | the expected output of its commands; a line `..` stands for any lines |
| `python` | runs in this process; all blocks of a page share their names |
| `json`, `yaml` | is well-formed (YAML if PyYAML is installed) |
| `quant` | `nnefc check` accepts it as the graph.quant of a document with one tensor, `features` |
| `text` with `-->` | a drawing |
| `sh` in `DEVELOPING` | the paths and presets in its commands exist; other tests and CI run such commands |
| `cpp`, `c`, `cmake` | a file of `tools/examples` or `tests/install`, which the test `install` builds, or a block that it builds (`COMPILED`) |

Any other block, and an indented one, is a failure. Commands that install nnefc are not run here (see run.py). The rest of a page is
skipped from the first `python` block on if the build has no Python package.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import traceback

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "golden"))

import rule_file  # noqa: E402

FENCE = re.compile(r"^( *)```(\w*)(.*)$")
TITLE = re.compile(r'title="([^"]+)"')
INCLUDED = re.compile(r'^--8<-- "([^"]+)"\n', re.MULTILINE)
EXIT_CODE = re.compile(r"\s*# exit code (\d+)$")
COMPILED = {"tools/api/README.md", "tools/docs/pages/tour.md"}
DEVELOPING = {".github/CONTRIBUTING.md", "tools/examples/README.md"}
BUILT = ("tools/examples/", "tests/install/")
INSTALLING = ("tools/", "pip install", "sudo ", "git clone")
TIMEOUT_SECONDS = 120


@dataclasses.dataclass
class Block:
    language: str
    title: str
    text: str
    line: int
    is_adjacent: bool  # only blank lines separate it from the previous block
    included: str = ""  # the path of the file that a line `--8<--` names


def parse(page: str) -> list[Block]:
    """Returns the fenced code blocks of a page, without their indentation."""
    blocks: list[Block] = []
    fence = None
    lines: list[str] = []
    is_adjacent = False
    for number, line in enumerate(page.splitlines(), 1):
        match = FENCE.match(line)
        if fence is None and match:
            title = TITLE.search(match[3])
            fence = match[1] + "```"
            lines = []
            blocks.append(Block(match[2], title[1] if title else "", "", number, is_adjacent))
        elif fence is not None and line == fence:
            text = "".join(f"{each}\n" for each in lines)
            if included := INCLUDED.search(text):
                blocks[-1].included = included[1]
            blocks[-1].text = INCLUDED.sub(lambda match: (ROOT / match[1]).read_text(encoding="utf-8"), text)
            fence = None
            is_adjacent = True
        elif fence is not None:
            lines.append(line[len(fence) - 3:])
        elif line.strip():
            is_adjacent = False
    return blocks


def indented(page: str) -> list[int]:
    """Returns the lines at which an indented code block begins, outside of lists."""
    found, fence, is_list, is_blank = [], False, False, True
    for number, line in enumerate(page.splitlines(), 1):
        if FENCE.match(line):
            fence = not fence
        elif not fence and line.startswith("    ") and is_blank and not is_list:
            found.append(number)
        elif not fence and line.strip() and not line.startswith(" "):
            is_list = bool(re.match(r"[-*] |\d+\. ", line))
        is_blank = not line.strip()
    return found


def commands(block: Block) -> list[str]:
    """Returns the commands of an `sh` block; a backslash at the end continues a line."""
    joined = re.sub(r"\\\n\s*", "", block.text)
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def is_installing(command: str) -> bool:
    return command.startswith(INSTALLING)


def matches(expected: str, actual: str) -> bool:
    pattern = "".join(".*" if line == ".." else re.escape(line) + "\n" for line in expected.strip("\n").splitlines())
    return re.fullmatch(pattern, actual.strip("\n") + "\n", re.DOTALL) is not None


class Runner:
    """Runs the blocks of one page in a folder, with `nnefc` on the path."""

    def __init__(self, name: str, folder: pathlib.Path, environment: dict[str, str], has_package: bool):
        self.name = name
        self.folder = folder
        self.environment = environment
        self.has_package = has_package
        self.names: dict[str, object] = {"__name__": "page"}
        self.output = ""
        self.failures: list[str] = []
        self.count = 0

    def fail(self, block: Block, text: str) -> None:
        self.failures.append(f"{self.name}:{block.line}: {text}")

    def run(self, page: str) -> None:
        self.failures += [f"{self.name}:{line}: an indented block; write it with a fence" for line in indented(page)]
        previous = ""
        for block in parse(page):
            if block.language == "python" and not block.title and not self.has_package:
                print(f"{self.name}:{block.line}: the rest is skipped, because this build has no Python package")
                return
            self.count += 1
            if block.title:
                path = self.folder / block.title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            self.run_block(block, previous)
            previous = block.language

    def run_block(self, block: Block, previous: str) -> None:
        if block.language == "sh" and self.name in DEVELOPING:
            self.check_paths(block)
        elif block.language == "sh" and not block.title:
            self.run_commands(block)
        elif block.title:
            self.run_titled(block)
        elif block.language == "text" and previous == "sh" and block.is_adjacent:
            if not matches(block.text, self.output):
                self.fail(block, f"expected\n{block.text}got\n{self.output}")
        elif block.language == "nnef":
            self.check_document(block)
        elif block.language == "quant":
            self.check_quantization(block)
        elif block.language == "python":
            self.run_python(block)
        elif block.language in ("json", "yaml"):
            self.check_data(block)
        elif block.language in ("cpp", "c", "cmake"):
            if not block.included.startswith(BUILT) and self.name not in COMPILED:
                self.fail(block, "no test builds this block")
        elif block.language != "text" or "-->" not in block.text:
            self.fail(block, f"no test runs a block `{block.language}` here")

    def check_paths(self, block: Block) -> None:
        presets = {each["name"] for each in json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]}
        for command in commands(block):
            words = command.partition("#")[0].split()
            for before, word in zip([""] + words, words):
                if "/" in word and not word.startswith(("build/", "'")) and not (ROOT / word).exists():
                    self.fail(block, f"{command}\n  there is no `{word}`")
                if before == "--preset" and word not in presets:
                    self.fail(block, f"{command}\n  there is no preset `{word}`")

    def run_titled(self, block: Block) -> None:
        if block.language in ("json", "yaml"):
            self.check_data(block)
        elif block.language == "sh":
            self.fail(block, "no test runs a block `sh` with a title")

    def check_data(self, block: Block) -> None:
        if block.language == "json":
            try:
                json.loads(block.text)
            except ValueError as error:
                self.fail(block, f"invalid JSON: {error}")
        elif importlib.util.find_spec("yaml"):
            import yaml

            try:
                yaml.safe_load(block.text)
            except yaml.YAMLError as error:
                self.fail(block, f"invalid YAML: {error}")

    def shell(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_SECONDS, check=False)

    def run_commands(self, block: Block) -> None:
        self.output = ""
        for command in commands(block):
            if is_installing(command) or ("python" in command.split()[0] and not self.has_package):
                continue
            code = EXIT_CODE.search(command)
            done = self.shell(EXIT_CODE.sub("", command))
            self.output += done.stdout
            expected = int(code[1]) if code else 0
            if done.returncode != expected:
                self.fail(block, f"{command}\n  exit code {done.returncode}; expected {expected}\n{done.stdout}")

    def check_document(self, block: Block) -> None:
        path = self.folder / "block.nnef"
        path.write_text(rule_file.expand_body(block.text, "ratified"), encoding="utf-8")
        done = self.shell("nnefc check block.nnef")
        if done.returncode != 0 or done.stdout:
            self.fail(block, f"`nnefc check` reports\n{done.stdout}")
        path.unlink()

    def check_quantization(self, block: Block) -> None:
        folder = self.folder / "quantized"
        folder.mkdir()
        document = "    features = external(shape = [1, 4]);\n    y = relu(features);\n"
        (folder / "graph.nnef").write_text(rule_file.expand_body(document, "ratified"), encoding="utf-8")
        (folder / "graph.quant").write_text(block.text, encoding="utf-8")
        done = self.shell("nnefc check quantized")
        if done.returncode != 0 or done.stdout:
            self.fail(block, f"`nnefc check` reports\n{done.stdout}")
        shutil.rmtree(folder)

    def run_python(self, block: Block) -> None:
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            exec(compile(block.text, f"{self.name}:{block.line}", "exec"), self.names)
        except Exception:
            self.fail(block, traceback.format_exc())
        finally:
            os.chdir(before)
