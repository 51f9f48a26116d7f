"""A plug-in of pytest that records which mutants each passing test reaches: `-p pytest_reached`, NNEFC_REACHED_BY_TEST=FILE.npz.

The processes that a test starts write into the file of NNEFC_MUTANTS_REACHED (mutant.h), and so does the Python module
of nnefc. The plug-in clears that file before each test and reads it afterwards.
"""

from __future__ import annotations

import json
import mmap
import os
import time

import numpy as np
import pytest

MUTANTS = 1 << 18  # kMaxMutants of mutant.h


class Recorder:
    """Counts per test: processor seconds and the numbers of reached mutants."""

    def __init__(self, reached: str, result: str) -> None:
        self._result = result
        with open(reached, "r+b") as file:
            file.truncate(MUTANTS)
            self._map = mmap.mmap(file.fileno(), MUTANTS)
        self._names: list[str] = []
        self._seconds: list[float] = []
        self._numbers: list[np.ndarray] = []
        # Reached while the test files are imported: by each of their tests.
        self._at_import = np.zeros(0, np.int64)

    def _take(self) -> np.ndarray:
        numbers = np.flatnonzero(np.frombuffer(self._map[:], np.uint8))
        self._map[:] = bytes(MUTANTS)
        return numbers

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._at_import = self._take()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        begin = _processor_seconds()
        self._is_failed = False
        yield
        reached = self._take()
        if self._is_failed:
            return
        self._names.append(item.nodeid.partition("::")[2])
        self._seconds.append(round(_processor_seconds() - begin, 3))
        self._numbers.append(np.union1d(reached, self._at_import))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._is_failed |= report.failed

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        numbers = np.concatenate([np.zeros(0, np.int64), *self._numbers]).astype(np.int32)
        ends = np.cumsum([len(each) for each in self._numbers])
        facts = json.dumps({"names": self._names, "seconds": self._seconds}).encode()
        np.savez_compressed(self._result, numbers=numbers, ends=ends, facts=np.frombuffer(facts, np.uint8))


def _processor_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def pytest_configure(config: pytest.Config) -> None:
    if "NNEFC_REACHED_BY_TEST" in os.environ:
        config.pluginmanager.register(Recorder(os.environ["NNEFC_MUTANTS_REACHED"], os.environ["NNEFC_REACHED_BY_TEST"]))
