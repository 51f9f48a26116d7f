"""A copy of the sources with a build of its own, in which mutants are compiled: build/mutation/tree."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess

MEMORY_BYTES = 8 << 30
FILE_BYTES = 1 << 30


WAITED = 20  # a process that takes no time of a processor, or has to share it, is waited for so many times as long


@dataclasses.dataclass
class Outcome:
    code: int | None  # None where the time was over
    output: str
    seconds: float  # of processors, by the command and its children


def processor_seconds() -> float:
    """What children of this process have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(command: list[str], folder: pathlib.Path, seconds: float, environment: dict[str, str] | None = None,
         limited: bool = False) -> Outcome:
    """Runs a command with all its children in a group of processes that ends with it. `seconds` are those of a processor
    where the command is limited: what else the machine does must not look like a fault."""

    def limit() -> None:
        if limited:
            # A test that bounds its own children asks for more than is left here: the hard limit stays as it is.
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, resource.getrlimit(resource.RLIMIT_CPU)[1]))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    begin = processor_seconds()
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                               preexec_fn=limit)
    try:
        output, _ = process.communicate(timeout=WAITED * seconds if limited else seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        code, output = None, b""
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if code is None:
        process.communicate()
    return Outcome(code, output.decode("utf-8", "replace"), processor_seconds() - begin)


class Tree:
    """The copy. Unchanged files are compiled through the usual compiler cache, mutants through one of their own."""

    def __init__(self, root: pathlib.Path, work: pathlib.Path):
        self._root = root
        self.folder = work / "tree"
        self.build = self.folder / "build" / "release"
        self._cache = {"CCACHE_DIR": str(work / "ccache"), "CCACHE_MAXSIZE": "2G"}
        self._objects: dict[str, list[str]] = {}

    def synchronize(self) -> None:
        """Makes the copy equal to the working tree, and configures its build."""
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=self._root, check=True,
                                capture_output=True, text=True).stdout.split("\0")
        names = {name for name in listed if name and (self._root / name).is_file()}
        for name in names:
            source, copy = self._root / name, self.folder / name
            if not copy.is_file() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)  # its time is now: what was built of another text is made again
                os.utime(copy)
        if self.folder.is_dir():
            kept = {".venv", "build"}
            for path in self.folder.rglob("*"):
                name = path.relative_to(self.folder).as_posix()
                if path.is_file() and name not in names and name.split("/")[0] not in kept \
                        and "__pycache__" not in path.parts:
                    path.unlink()
        if (self._root / ".venv").exists() and not (self.folder / ".venv").exists():
            (self.folder / ".venv").symlink_to((self._root / ".venv").resolve())
        linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold", "-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=mold"]
        subprocess.run(["cmake", "--preset", "release", "-DNNEFC_BUILD_BENCH=OFF",
                        "-DNNEFC_UNITY=OFF",  # what a mutant makes anew is few files
                        *(linker if shutil.which("mold") else [])], cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)

    def make(self, *targets: str, seconds: float = 7200, mutated: bool = False, jobs: int = 1) -> Outcome:
        return call(["ninja", f"-j{jobs}", *targets], self.build, seconds, self._cache if mutated else None)

    def learn_objects(self) -> None:
        """Finds which objects are compiled of which files, when all is built."""
        listed = subprocess.run(["ninja", "-t", "deps"], cwd=self.build, check=True, capture_output=True, text=True)
        commands = json.loads((self.build / "compile_commands.json").read_text())
        made = {os.path.relpath(os.path.join(entry["directory"], entry["output"]), self.build)
                for entry in commands if "output" in entry}
        current = ""
        for line in listed.stdout.splitlines():
            if not line.startswith(" "):
                current = line.partition(":")[0]
            elif not made or current in made:
                path = pathlib.Path(os.path.normpath(self.build / line.strip()))
                if path.is_relative_to(self.folder):
                    self._objects.setdefault(path.relative_to(self.folder).as_posix(), []).append(current)

    def objects(self, path: str) -> list[str]:
        """The objects compiled of a file or of what includes it, production code before tests."""
        return sorted(self._objects.get(path, []), key=lambda name: (name.startswith("tests/"), name))

    def small_headers(self, most: int) -> frozenset[str]:
        """Headers of production code that few objects include."""
        return frozenset(path for path, objects in self._objects.items()
                         if path.endswith(".h") and re.match(r"(compiler|runtime|tools/nnefc)/", path)
                         and 0 < len(objects) <= most)

    def contents(self, objects: list[str]) -> list[bytes]:
        return [(self.build / name).read_bytes() for name in objects]
