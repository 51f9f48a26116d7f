"""Records which probes reach which mutants, and runs them against single mutants until one notices."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import random
import tempfile
import time

import numpy as np

import probes as probe_module
from probes import Probe, Runner

MARGIN = 3.0  # seconds of a processor that a probe may take beyond several times its usual ones
FACTOR = 6

_runner: Runner | None = None


def start_worker(tree: str, shared: str) -> None:
    """Each worker has a folder of its own for temporary files."""
    global _runner
    probe_module.limit_memory()
    os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="nnefc-mutation-")
    tempfile.tempdir = None
    _runner = Runner(pathlib.Path(tree), pathlib.Path(shared))


def probes_of_worker(broken: frozenset[str]) -> list[Probe]:
    return _runner.probes(broken)


def _record(probe: Probe) -> tuple[float, str | None, list[int]]:
    with tempfile.NamedTemporaryFile() as file:
        os.environ["NNEFC_MUTANTS_REACHED"] = file.name
        seconds, problem = probe_module.timed(_runner, probe, 600)
        del os.environ["NNEFC_MUTANTS_REACHED"]
        reached = np.fromfile(file.name, dtype=np.uint8)
    return seconds, problem, np.flatnonzero(reached).tolist()


def _evaluate(number: int, chosen: list[tuple[Probe, float]], budget: float) -> tuple[str | None, str, float, int]:
    """The probe that noticed a mutant, what it said, the processor time, and how many probes ran."""
    os.environ["NNEFC_MUTANT"] = str(number)
    used, count = 0.0, 0
    try:
        for probe, usual in chosen:
            if used > 0 and used + usual > budget:
                continue
            seconds, problem = probe_module.timed(_runner, probe, FACTOR * usual + MARGIN)
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
            seconds, problem, reached = future.result()
            self.seconds[probe.name] = seconds
            if problem is not None:
                print(f"warning: {probe.name} fails on unchanged code and is left out: {problem[-300:]}", flush=True)
                self.broken[probe.name] = problem[-2000:]
            else:
                self.reached[probe.name] = np.array(reached, np.int32)
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
            if name in self._probes:
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

    def _chosen(self, mutant) -> list[tuple[Probe, float]]:
        """The probes that reach a mutant: those first that probably notice it for their time."""

        def order(name: str) -> float:
            kills = 3 * self._kills.get((mutant.path, name), 0.0) + self._kills.get((mutant.folder, name), 0.0)
            # A probe that reaches little is about what it reaches.
            near = 200.0 / (50 + len(self._recording.reached[name]))
            return (kills + near) / (self._recording.seconds[name] + 0.02)

        names = sorted(self._reaching.get(mutant.number, []), key=order, reverse=True)
        return [(self._probes[name], self._recording.seconds[name]) for name in names]

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


def sample(mutants: list, count: int, seed: int) -> list:
    """Mutants of all folders in proportion to their number, in a random order."""
    generator = random.Random(seed)
    shuffled = list(mutants)
    generator.shuffle(shuffled)
    return shuffled[:count]
