"""Which tests can see which room, and how they are started."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

import mutants
import tree as trees

TEXT = ("compiler/support", "compiler/syntax", "compiler/semantics")
GRAPHS = ("compiler/expand", "compiler/ir", "compiler/lower", "compiler/openvino", "compiler/driver", "compiler/package")
TOOLS = ("tools/nnefc",)
ALL = ("compiler", "runtime", "tools")

# The rooms that a test of CTest can see, by the beginning of its name; one that is not listed is run for every room. Of
# unit tests and fuzz targets the rooms are those that they link.
SEEN_BY = {
    "golden": (),  # goldens.py takes its place
    "dev": (),
    "interop": (),  # run file by file
    "fuzz.seeds": (),
    "fuzz.mutants": TEXT + ("compiler/expand", "compiler/lint"),
    "conformance": TEXT + GRAPHS + TOOLS,
    "rewriting.fmt": TEXT + TOOLS,
    "rewriting.fix": TEXT + ("compiler/driver",) + TOOLS,
    "rewriting.upgrade": TEXT + GRAPHS + ("compiler/upgrade",) + TOOLS,
    "robustness.openvino": ("compiler/openvino", "compiler/ir", "compiler/support"),
    "robustness": TEXT + GRAPHS + ("runtime/engine", "compiler/lint") + TOOLS,
    "readme": ("compiler/driver", "compiler/lint") + TOOLS,
    "differential": ("compiler/semantics", "runtime") + GRAPHS + TOOLS,
}
# Parts of tests/interop; a file that is not listed is run for every room that makes or runs graphs.
INTEROP = {
    "test_networks": (),
    "test_translator": (),
    "test_nnef_operations": ("compiler/semantics", "runtime") + GRAPHS + TOOLS,
    "test_weights": ("compiler/package", "tools/nnefc"),
    "test_tensor_files": ("compiler/package", "compiler/support/tensor", "compiler/driver") + TOOLS,
    "test_reports": ("compiler/support", "compiler/driver", "compiler/lint") + TOOLS,
    "test_lint_khronos": ("compiler/lint",),
    "test_openvino_ir": ("compiler/openvino", "compiler/ir"),
    "test_ir_rules": ("compiler/openvino", "compiler/ir"),
    "test_exporter": GRAPHS,
    "test_tract": GRAPHS,
}
INTEROP_ELSE = ("runtime",) + GRAPHS + TOOLS
# What a long test is asked to do here instead.
INSTEAD = {"fuzz.mutants": ["--count", "600"]}
# The commands of nnefc whose golden files can see a room.
COMMANDS = {"compiler/lint": "lint,explain", "compiler/upgrade": "upgrade", "runtime": "run,compile,bench"}


@dataclasses.dataclass
class Suite:
    name: str
    target: str  # what ninja must build
    command: list[str]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)


def _sees(rooms: tuple[str, ...], folder: str) -> bool:
    return any(folder == room or folder.startswith(room + "/") for room in rooms)


@functools.cache
def registered(tree: trees.Tree) -> dict[str, dict]:
    """The tests that CTest knows, by name."""
    shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=tree.build, check=True, capture_output=True, text=True)
    return {test["name"]: test for test in json.loads(shown.stdout)["tests"] if "command" in test}


def _of_ctest(tree: trees.Tree, test: dict) -> Suite:
    command = test["command"] + INSTEAD.get(test["name"], [])
    program = pathlib.Path(command[0])
    target = program.name if program.is_relative_to(tree.build) else "nnefc"
    if test["name"].startswith("unit."):
        command = command + ["--gtest_fail_fast", "--gtest_brief=1"]
    set_ = next((item["value"] for item in test.get("properties", []) if item["name"] == "ENVIRONMENT"), [])
    return Suite(test["name"], target, command, dict(item.split("=", 1) for item in set_))


def _linked(tree: trees.Tree, name: str, room: mutants.Room) -> tuple[bool, int, str] | None:
    """Where a test program that links a room stands among them: the room's own first, then those that link least."""
    kind, _, program = name.partition(".")
    function = {"unit": "nnefc_add_unit_test", "fuzz": "nnefc_add_fuzz_target"}.get(kind)
    folder, uses = mutants.programs(tree.folder, function).get(program, ("", frozenset())) if function else ("", ())
    return (folder != f"tests/unit/{room.folder}", len(uses), name) if room.library in uses else None


def suites(tree: trees.Tree, room: mutants.Room, path: str, root: pathlib.Path) -> list[Suite]:
    """The tests that can see a file of a room, the room's unit tests first."""
    tests = registered(tree)
    linked = {name: _linked(tree, name, room) for name in tests}
    names = sorted((name for name in linked if linked[name]), key=linked.get)
    found = [_of_ctest(tree, tests[name]) for name in names]
    if room.folder == "compiler/language":
        return found
    nnefc = f"{tree.build}/bin/nnefc"
    words = [word for word in re.split(r"[_/.]", pathlib.PurePath(path).stem) if len(word) > 2]
    commands = next((used for prefix, used in COMMANDS.items() if _sees((prefix,), room.folder)), "all")
    found.append(Suite("golden", "nnefc", [sys.executable, "tests/mutation/goldens.py", nnefc, commands, *words]))
    for name, test in tests.items():
        rooms = next((rooms for prefix, rooms in SEEN_BY.items() if name.startswith(prefix)), ALL)
        if linked[name] is None and not name.startswith("unit.") and _sees(rooms, room.folder) \
                and (name == "fuzz.mutants" or not name.startswith("fuzz.")):
            found.append(_of_ctest(tree, test))
    environment = {"NNEFC": nnefc, "NNEFC_TEST_CACHE": str(root / "build" / "test-cache"),
                   "NNEFC_SHARED_DATA": os.environ.get("NNEFC_SHARED_DATA", str(root.parent / "shared" / "data"))}
    for test in sorted((tree.folder / "tests" / "interop").glob("test_*.py")):
        if _sees(INTEROP.get(test.stem, INTEROP_ELSE), room.folder):
            found.append(Suite(f"interop.{test.stem.removeprefix('test_')}", "nnefc",
                               [str(tree.folder / ".venv/bin/python"), "-m", "pytest", "-q", "-x", "--no-header", "--tb=line",
                                "-p", "no:cacheprovider", str(test)], environment))
    return found


class Times:
    """How many seconds of a processor each suite takes on unchanged code, and how often it killed a mutant of a room; kept
    between runs."""

    def __init__(self, path: pathlib.Path):
        self._path = path
        self._known = json.loads(path.read_text()) if path.is_file() else {"seconds": {}, "kills": {}, "broken": []}

    def _save(self) -> None:
        self._path.write_text(json.dumps(self._known, indent=1))

    def seconds(self, name: str) -> float | None:
        return self._known["seconds"].get(name)

    def broken(self, name: str) -> bool:
        return name in self._known["broken"]

    def measure(self, tree: trees.Tree, suite: Suite) -> None:
        """Runs a suite on unchanged code: one that fails there says nothing of mutants."""
        if self.seconds(suite.name) is not None or self.broken(suite.name):
            return
        outcome = trees.call(suite.command, tree.folder, 1800, suite.environment, limited=True)
        self._known["seconds"][suite.name] = outcome.seconds
        if outcome.code not in (0, 5):  # 5: pytest found nothing that it can run here
            print(f"warning: {suite.name} fails on unchanged code and is left out\n{outcome.output[-2000:]}", flush=True)
            self._known["broken"].append(suite.name)
        self._save()

    def forget(self) -> None:
        self._known["seconds"], self._known["broken"] = {}, []

    def killed(self, folder: str, name: str) -> None:
        kills = self._known["kills"].setdefault(folder, {})
        kills[name] = kills.get(name, 0) + 1
        self._save()

    def order(self, suites_of_file: list[Suite], folder: str) -> list[Suite]:
        """Those first that kill most for their time; the first suite, the room's own tests, stays first. The golden files
        reach everything: until more is known they are taken to kill more than others."""
        kills = {"golden": 1, **self._known["kills"].get(folder, {})}
        rest = [suite for suite in suites_of_file[1:] if not self.broken(suite.name)]
        rest.sort(key=lambda suite: (self.seconds(suite.name) or 60) / (kills.get(suite.name, 0) + 0.3))
        return [suite for suite in suites_of_file[:1] if not self.broken(suite.name)] + rest
