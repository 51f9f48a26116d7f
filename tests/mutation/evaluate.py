"""Records which probes reach which mutants, and runs them against single mutants until one notices."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import tempfile
import time

import numpy as np

import probes
from probes import Probe, Runner

MARGIN = 3.0  # seconds of a processor that a probe may take beyond several times its usual ones
FACTOR = 6
MAX_TESTS = 40  # of one file of pytest that run against a mutant

_runner: Runner | None = None


def start_worker(tree: str, shared: str, temporary: str) -> None:
    """Each worker has a folder of its own in `temporary` for temporary files."""
    global _runner
    probes.limit_memory()
    os.environ["TMPDIR"] = tempfile.mkdtemp(dir=temporary)
    tempfile.tempdir = None
    _runner = Runner(pathlib.Path(tree), pathlib.Path(shared))


def probes_of_worker(broken: frozenset[str]) -> list[Probe]:
    return _runner.probes(broken)


def _record(probe: Probe) -> tuple[float, str | None, list[tuple[str, float, np.ndarray]]]:
    """The processor time of a probe, why it failed, and the name, time and reached mutants of its parts: each test of pytest apart."""
    with tempfile.NamedTemporaryFile() as file, tempfile.TemporaryDirectory() as folder:
        by_test = pathlib.Path(folder) / "tests.npz"
        os.environ["NNEFC_MUTANTS_REACHED"] = file.name
        os.environ["NNEFC_REACHED_BY_TEST"] = str(by_test)
        seconds, problem = probes.timed(_runner, probe, 600)
        del os.environ["NNEFC_MUTANTS_REACHED"], os.environ["NNEFC_REACHED_BY_TEST"]
        if not by_test.is_file():
            return seconds, problem, [(probe.name, seconds, np.flatnonzero(np.fromfile(file.name, dtype=np.uint8)))]
        with np.load(by_test, allow_pickle=False) as stored:
            facts = json.loads(bytes(stored["facts"]))
            parts = np.split(stored["numbers"], stored["ends"][:-1])
        return seconds, problem, [(f"{probe.name}::{name}", spent, part)
                                  for name, spent, part in zip(facts["names"], facts["seconds"], parts)]


def _evaluate(number: int, chosen: list[tuple[Probe, float]], budget: float) -> tuple[str | None, str, float, int]:
    """The probe that noticed a mutant, what it said, the processor time, and how many probes ran."""
    os.environ["NNEFC_MUTANT"] = str(number)
    used, count = 0.0, 0
    try:
        for probe, usual in chosen:
            if used > 0 and used + usual > budget:
                continue
            seconds, problem = probes.timed(_runner, probe, FACTOR * usual + MARGIN)
            used += seconds
            count += 1
            if problem is not None:
                return probe.name, problem, used, count
    finally:
        del os.environ["NNEFC_MUTANT"]
    return None, "", used, count


class Recording:
    """Which probes reach which mutants, and how long each takes; kept as a file."""

    def __init__(self, path: pathlib.Path):
        self._path = path
        self.seconds: dict[str, float] = {}
        self.broken: dict[str, str] = {}
        self.reached: dict[str, np.ndarray] = {}
        if path.is_file():
            with np.load(path, allow_pickle=False) as stored:
                facts = json.loads(bytes(stored["facts"]))
                self.seconds, self.broken = facts["seconds"], facts["broken"]
                numbers, ends = stored["numbers"], stored["ends"]
            begin = 0
            for name, end in zip(facts["names"], ends):
                self.reached[name] = numbers[begin:end]
                begin = end

    def save(self) -> None:
        names = list(self.reached)
        numbers = np.concatenate([self.reached[name] for name in names] or [np.zeros(0, np.int32)]).astype(np.int32)
        ends = np.cumsum([len(self.reached[name]) for name in names])
        facts = json.dumps({"names": names, "seconds": self.seconds, "broken": self.broken}).encode()
        temporary = self._path.with_suffix(".new.npz")
        np.savez_compressed(temporary, numbers=numbers, ends=ends, facts=np.frombuffer(facts, np.uint8))
        temporary.rename(self._path)

    def forget(self, prefixes: tuple[str, ...]) -> None:
        """Drops what is known of probes whose names start so."""
        for name in [name for name in self.seconds if name.startswith(prefixes)]:
            del self.seconds[name]
            self.reached.pop(name, None)
            self.broken.pop(name, None)

    def record(self, pool: concurrent.futures.Executor, todo: list[Probe]) -> None:
        """Runs probes on the code without an active mutant. One that fails there says nothing of mutants."""
        missing = [probe for probe in todo if probe.name not in self.seconds]
        saved = time.monotonic()
        futures = {pool.submit(_record, probe): probe for probe in missing}
        for future in concurrent.futures.as_completed(futures):
            probe = futures[future]
            seconds, problem, parts = future.result()
            self.seconds[probe.name] = seconds
            if problem is not None:
                print(f"warning: {probe.name} fails on unchanged code and is left out: {problem[-300:]}", flush=True)
                self.broken[probe.name] = problem[-2000:]
            if problem is None or parts[:1] and parts[0][0] != probe.name:  # tests of pytest that pass are recorded anyway
                for name, spent, reached in parts:
                    self.seconds[name] = spent
                    self.reached[name] = reached.astype(np.int32)
            if time.monotonic() - saved > 60:
                self.save()
                saved = time.monotonic()
        self.save()


class Evaluation:
    """Chooses the probes for each mutant and keeps the results, a line of JSON each."""

    def __init__(self, path: pathlib.Path, recording: Recording, known: list[Probe], budget: float):
        self._path = path
        self._recording = recording
        self._probes = {probe.name: probe for probe in known}
        self._budget = budget
        self._kills: dict[tuple[str, str], float] = {}  # folder and probe
        self.results: dict[str, dict] = {}
        if path.is_file():
            for line in path.read_text().splitlines():
                result = json.loads(line)
                self.results[result["key"]] = result
                if result["killer"]:
                    self._count(result["path"], result["killer"])
        self._reaching: dict[int, list[str]] = {}
        for name, numbers in recording.reached.items():
            if name.partition("::")[0] in self._probes:
                for number in numbers.tolist():
                    self._reaching.setdefault(number, []).append(name)

    def is_reached(self, number: int) -> bool:
        return number in self._reaching

    def names(self, mutant) -> list[str]:
        """The probes that reach a mutant, in the order in which they run."""
        return [probe.name for probe, _ in self._chosen(mutant)]

    def _count(self, path: str, killer: str) -> None:
        for group in (path, path.rpartition("/")[0]):
            self._kills[group, killer] = self._kills.get((group, killer), 0.0) + 1

    def _near(self, name: str) -> float:
        """How much of what a probe reaches is near a mutant: one that reaches little examines it closely."""
        return 200.0 / (50 + len(self._recording.reached[name]))

    def _chosen(self, mutant) -> list[tuple[Probe, float]]:
        """The probes that reach a mutant: those first that probably notice it for their time."""
        chosen: list[tuple[float, Probe, float]] = []
        files: dict[str, list[str]] = {}  # of pytest, with the tests that reach the mutant
        for name in self._reaching.get(mutant.number, []):
            file, _, test = name.partition("::")
            if test and self._probes[file].kind == "pytest":
                files.setdefault(file, []).append(name)
            else:
                seconds = self._recording.seconds[name]
                chosen.append((self._order(mutant, name, self._near(name), seconds), self._probes[name], seconds))
        for file, names in files.items():
            names.sort(key=self._near, reverse=True)
            tests, seconds = [], probes.PYTEST_START
            for name in names:
                if tests and (seconds + self._recording.seconds[name] > self._budget / 2 or len(tests) == MAX_TESTS):
                    continue
                seconds += self._recording.seconds[name]
                tests.append(name.partition("::")[2])
            probe = self._probes[file]
            chosen.append((self._order(mutant, file, self._near(names[0]), seconds),
                           dataclasses.replace(probe, arguments=(*probe.arguments, *tests)), seconds))
        chosen.sort(key=lambda each: each[0], reverse=True)
        return [(probe, seconds) for _, probe, seconds in chosen]

    def _order(self, mutant, name: str, near: float, seconds: float) -> float:
        kills = 3 * self._kills.get((mutant.path, name), 0.0) + self._kills.get((mutant.folder, name), 0.0)
        # SessionTest is about session.cpp.
        is_named = pathlib.Path(mutant.path).stem.replace("_", "") in name.rpartition("/")[2].replace("_", "").lower()
        return (kills + near + (10 if is_named else 0)) / (seconds + 0.02)

    def evaluate(self, pool: concurrent.futures.Executor, mutants: list, deadline: float, jobs: int) -> None:
        """Evaluates mutants until the deadline; those that have a result are passed over."""
        waiting = [mutant for mutant in mutants if mutant.key not in self.results]
        running: dict[concurrent.futures.Future, object] = {}
        done = 0
        with open(self._path, "a") as file:
            while waiting or running:
                while waiting and len(running) < jobs and time.monotonic() < deadline:
                    mutant = waiting.pop(0)
                    running[pool.submit(_evaluate, mutant.number, self._chosen(mutant), self._budget)] = mutant
                if not running:
                    return
                finished, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in finished:
                    mutant = running.pop(future)
                    killer, said, seconds, count = future.result()
                    result = {"key": mutant.key, "number": mutant.number, "path": mutant.path, "line": mutant.line,
                              "operator": mutant.operator, "source": mutant.source, "before": mutant.before,
                              "after": mutant.after, "killer": killer, "said": said[-200:], "seconds": round(seconds, 2),
                              "probes": count}
                    self.results[mutant.key] = result
                    if killer:
                        self._count(mutant.path, killer)
                    file.write(json.dumps(result) + "\n")
                    file.flush()
                    done += 1
                    if done % 100 == 0:
                        print(f"{done} evaluated, {len(waiting)} left", flush=True)
