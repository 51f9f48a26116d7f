"""The copy of the sources in which all mutants are compiled, `build/mutation/tree`, with a build of its own."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import json
import pathlib
import re
import shutil
import subprocess

import instrument

PRODUCTION = ("compiler/", "runtime/")
TOPS = ("compiler", "grammar", "runtime", "stdlib", "tests", "tools")
# Changes that are made at many places and noticed nearly always are drawn less often.
WEIGHTS = {"plus": 0.5, "minus": 0.5, "pair": 0.5}
LEAST_OF_FOLDER = 120
ROUNDS = 15  # of compiling without the mutants that the compiler refused


class Tree:
    """The instrumented sources of one sample of mutants."""

    def __init__(self, root: pathlib.Path, work: pathlib.Path, seed: int, sample: int, sources: tuple[str, ...] = (),
                 programs: str = ""):
        """`sources`: the folders whose source files are instrumented, without headers; all files if empty.
        `programs`: a pattern of the test programs to build."""
        self._root = root
        self._work = work
        self._seed = seed
        self._sample = sample
        self._programs = programs
        self._sources = tuple(folder.rstrip("/") + "/" for folder in sources)
        self.folder = work / "tree"
        self.build = self.folder / "build" / "release"
        self._stored = work / "mutants.json"

    def mutants(self) -> dict[int, instrument.Mutant]:
        """The compiled mutants by number."""
        stored = json.loads(self._stored.read_text())
        return {each["number"]: instrument.Mutant(**each) for each in stored["mutants"]}

    def _names(self) -> list[str]:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=self._root, check=True,
                                capture_output=True, text=True).stdout.split("\0")
        return [name for name in listed if name and (self._root / name).is_file()]

    def _digest(self, names: list[str]) -> str:
        """A digest of everything that decides which mutants there are."""
        digest = hashlib.sha256(f"{self._seed} {self._sample} {self._sources}".encode())
        own = ("tests/mutation/instrument.py", "tests/mutation/operators.py", "tests/mutation/mutant.h", "tests/mutation/tree.py")
        for name in sorted(names):
            if name.startswith((*PRODUCTION, "grammar/", "stdlib/")) or name in own:
                digest.update(name.encode() + b"\0" + (self._root / name).read_bytes())
        return digest.hexdigest()

    def _copy(self, names: list[str]) -> None:
        """Makes files of the copy equal to those of the sources; times of equal ones stay."""
        for name in names:
            source, copy = self._root / name, self.folder / name
            if not copy.is_file() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
                shutil.copymode(source, copy)

    def _configure(self) -> None:
        linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold", "-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=mold"]
        if not (self.folder / ".venv").exists() and (self._root / ".venv").exists():
            (self.folder / ".venv").symlink_to((self._root / ".venv").resolve())
        flags = [] if self._sources else ["-DNNEFC_PRECOMPILE=OFF", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
                                          f"-DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS -include {self.folder}/tests/mutation/mutant.h -w"]
        subprocess.run(["cmake", "--preset", "release", "-DNNEFC_BUILD_BENCH=OFF", *flags,
                        *(linker if shutil.which("mold") else [])],
                       cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def _mark_instrumented(self) -> None:
        """Adds the flags of instrumented files to the build of the chosen folders: other files keep those of the
        preset, so that the compiler cache has them."""
        path = self.build / "build.ninja"
        folders = tuple(f"build {folder}" for folder in self._sources)
        blocks = path.read_text().split("\n\n")
        for index, block in enumerate(blocks):
            lines = block.splitlines()
            head = next((line for line in lines if line.startswith("build ")), "")
            if "CXX_COMPILER" not in head or not head.startswith(folders) or "_apart.dir" in head:
                continue
            changed = []
            for line in lines:
                if line.lstrip().startswith("FLAGS = "):
                    line = re.sub(r" -(Winvalid-pch|include \S*cmake_pch\.hxx)", "", line)
                    line += f" -O1 -w -D_GLIBCXX_ASSERTIONS -include {self.folder}/tests/mutation/mutant.h"
                changed.append(line)
            blocks[index] = "\n".join(changed)
        path.write_text("\n\n".join(blocks))

    def _targets(self) -> list[str]:
        shown = subprocess.run(["ninja", "-t", "targets", "all"], cwd=self.build, check=True, capture_output=True, text=True)
        names = {line.split(":")[0] for line in shown.stdout.splitlines()}
        return sorted(name for name in names if "/" not in name and not name.startswith("cmake_object") and (
            name in ("nnefc", "nnefc_differential") or re.search(self._programs, name) and (
                name == "nnefc_python" or name.endswith("_test") or name.startswith("fuzz_") and not name.endswith("_apart"))))

    def _ninja(self, jobs: int, *targets: str) -> subprocess.CompletedProcess:
        return subprocess.run(["ninja", "-k0", f"-j{jobs}", *targets], cwd=self.build, capture_output=True, text=True)

    def make(self, jobs: int) -> None:
        """Brings the build up to date with the sources: all mutants again if production code changed."""
        names = self._names()
        digest = self._digest(names)
        stored = json.loads(self._stored.read_text()) if self._stored.is_file() else {}
        if stored.get("digest") == digest:
            self._copy([name for name in names if not name.startswith(PRODUCTION)])
            self._finish(jobs, self._ninja(jobs, *self._targets()))
            return
        self._copy(names)
        current = set(names)
        for path in [path for top in TOPS for path in (self.folder / top).rglob("*") if path.is_file()]:
            if path.relative_to(self.folder).as_posix() not in current and "__pycache__" not in path.parts:
                path.unlink()
        self._configure()
        generated = self._ninja(jobs, "nnefc_generate_grammar", "nnefc_interface_digest")
        if generated.returncode:
            raise SystemExit(generated.stdout[-3000:])
        print("reading the syntax trees of all code", flush=True)
        sites = instrument.find_sites(self.folder, self.build / "compile_commands.json", jobs, self._sources)
        if self._sources:
            self._mark_instrumented()
        found = instrument.Instrumented(self.folder, sites)
        kept = self._draw(found.mutants)
        dropped = {mutant.number for mutant in found.mutants} - kept
        found.write_all(dropped)
        targets = self._targets()
        for _ in range(ROUNDS):
            print(f"compiling {len(found.mutants) - len(dropped)} of {len(found.mutants)} mutants", flush=True)
            made = self._ninja(jobs, *targets)
            if made.returncode == 0 or not found.drop_refused(made.stdout, dropped):
                break
        self._finish(jobs, made)
        # Numbers of mutants are new: what was recorded of the old ones does not apply.
        (self._work / "recording.npz").unlink(missing_ok=True)
        live = [dataclasses.asdict(mutant) for mutant in found.mutants if mutant.number not in dropped]
        self._stored.write_text(json.dumps({"digest": digest, "of": len(found.mutants), "mutants": live}))

    def _finish(self, jobs: int, made: subprocess.CompletedProcess) -> None:
        """Makes what the probes need in addition to programs: seeds of the fuzz targets and the cases of the conformance suite."""
        if made.returncode:
            raise SystemExit("the instrumented sources do not compile:\n" + made.stdout[-5000:])
        python = str(self.folder / ".venv" / "bin" / "python")
        cases, seeds = self.build / "conformance", self.build / "fuzz_seeds"
        if not cases.is_dir():
            subprocess.run([python, "tests/conformance/operations/make.py", str(cases)], cwd=self.folder, check=True)
        if not seeds.is_dir() and any(target.startswith("fuzz_") for target in self._targets()):
            subprocess.run([python, "tests/fuzz/seeds.py", str(seeds), "--nnefc", str(self.build / "bin" / "nnefc")],
                           cwd=self.folder, check=True)

    def _draw(self, mutants: list[instrument.Mutant]) -> set[int]:
        """A sample of all folders in proportion to their number of mutants, with a least number of each."""
        folders: dict[str, list[tuple[float, int]]] = collections.defaultdict(list)
        for mutant in mutants:
            rank = instrument.draw(mutant, self._seed) ** (1 / WEIGHTS.get(mutant.operator, 1.0))
            folders[mutant.folder].append((rank, mutant.number))
        kept: set[int] = set()
        for ranked in folders.values():
            count = max(LEAST_OF_FOLDER, round(self._sample * len(ranked) / len(mutants)))
            kept |= {number for _, number in sorted(ranked, reverse=True)[:count]}
        return kept
