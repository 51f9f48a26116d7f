"""The tests that mutants are evaluated with, in small parts: a *probe* is one suite of a unit test program, one golden
file, one document of the conformance lists, one case of the conformance suite or one whole test of CTest."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

MEMORY_BYTES = 5 << 30
FILE_BYTES = 1 << 30
# Tests of CTest that are run whole, with what they are asked to do here instead of their usual count.
WHOLE = {"robustness": [], "robustness.paths": [], "rewriting.fmt": [], "rewriting.fix": [], "rewriting.upgrade": [],
         "conformance.words": [], "fuzz.mutants": ["--count", "300"], "differential.kept": [],
         "differential.openvino": [], "differential.rows": []}
# Files of pytest that take minutes or test no code of the mutated folders.
LEFT_OUT = {"test_networks", "test_translator", "test_ci", "test_opset_coverage", "test_package", "test_distributed"}
# Processor seconds that pytest takes to start with NumPy and OpenVINO.
PYTEST_START = 2.0


@dataclasses.dataclass(frozen=True)
class Probe:
    """One part of the tests; `kind` says how `arguments` are run."""

    name: str
    kind: str  # unit, golden, rule, document, case, command, pytest (a file, and the tests of it to run)
    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()


class Failed(Exception):
    """A probe that noticed a fault."""


def limit_memory() -> None:
    """Bounds the memory and the size of files of this process and of those that it starts."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextlib.contextmanager
def limited_children(seconds: float):
    """Bounds the processor time of the processes that other modules start."""
    start = subprocess.Popen.__init__

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))

    def start_limited(self, *arguments, **options) -> None:
        start(self, *arguments, **{"preexec_fn": limit, **options})

    subprocess.Popen.__init__ = start_limited
    try:
        yield
    finally:
        subprocess.Popen.__init__ = start


def _call(command: list[str], folder: pathlib.Path, seconds: float, environment: dict[str, str]) -> tuple[int, str]:
    """Runs a command in a group of processes that ends with it; -1 where its time is over."""

    def limit() -> None:
        # A test that bounds its own children asks for more than is left here: the hard limit stays as it is.
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, resource.getrlimit(resource.RLIMIT_CPU)[1]))

    process = subprocess.Popen(command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limit)
    try:
        output, _ = process.communicate(timeout=10 * seconds)
        return process.returncode, output.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return -1, "time is over"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Runner:
    """Runs probes of one tree."""

    def __init__(self, tree: pathlib.Path, shared: pathlib.Path):
        self.tree = tree
        self.build = tree / "build" / "release"
        self.nnefc = self.build / "bin" / "nnefc"
        self.cases = self.build / "conformance"
        self._environment = {"NNEFC": str(self.nnefc), "NNEFC_TEST_CACHE": str(tree / "build" / "test-cache"),
                             "NNEFC_SHARED_DATA": str(shared / "data"), "PYTHONDONTWRITEBYTECODE": "1",
                             "NNEFC_DIFFERENTIAL": str(self.build / "bin" / "nnefc_differential")}
        for folder in ("golden", "conformance/adversary", "conformance/operations"):
            sys.path.append(str(tree / "tests" / folder))

    def _golden(self):
        import golden
        import rule_file
        return golden, rule_file

    def _entries(self) -> dict:
        if not hasattr(self, "_documents"):
            import entries
            self._documents = {entry.id: entry for entry in entries.load()}
        return self._documents

    def _adversary(self):
        import importlib.util
        if not hasattr(self, "_judge"):
            spec = importlib.util.spec_from_file_location("adversary_run", self.tree / "tests/conformance/adversary/run.py")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self._judge = module.judge
        return self._judge

    def _suite(self):
        import importlib.util
        if not hasattr(self, "_operations"):
            spec = importlib.util.spec_from_file_location("operations_run", self.tree / "tests/conformance/operations/run.py")
            module = importlib.util.module_from_spec(spec)
            sys.modules["operations_run"] = module
            spec.loader.exec_module(module)
            self._operations = module
        return self._operations

    def probes(self, broken: frozenset[str] = frozenset()) -> list[Probe]:
        """All probes of the tree; of broken suites of unit tests each test is one."""
        found: list[Probe] = []
        shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.build, check=True, capture_output=True, text=True)
        tests = {test["name"]: test for test in json.loads(shown.stdout)["tests"] if "command" in test}

        def environment(test: dict) -> tuple:
            items = next((item["value"] for item in test.get("properties", []) if item["name"] == "ENVIRONMENT"), [])
            return tuple(tuple(item.split("=", 1)) for item in items)

        suite = ""
        for name, test in tests.items():
            command = test["command"]
            if name.startswith("unit.") and pathlib.Path(command[0]).is_file():
                listed = subprocess.run([*command, "--gtest_list_tests"], cwd=self.tree, capture_output=True, text=True)
                has_parts = len(command) > 1  # a filter chooses tests of the suites
                for line in listed.stdout.splitlines():
                    suite, outer = (line.split("#")[0].strip(), suite if line.startswith(" ") else "")
                    if outer and (has_parts or f"{name}/{outer[:-1]}" in broken):
                        found.append(Probe(f"{name}/{outer}{suite}", "unit", (command[0], outer + suite), environment(test)))
                        suite = outer
                    elif outer:
                        suite = outer
                    elif suite.endswith(".") and not has_parts:
                        found.append(Probe(f"{name}/{suite[:-1]}", "unit", (command[0], suite + "*"), environment(test)))
            elif name.startswith("fuzz.") and name not in ("fuzz.seeds", "fuzz.mutants"):
                found.append(Probe(name, "command", tuple(command), environment(test)))
            elif name in WHOLE:
                found.append(Probe(name, "command", (*command, *WHOLE[name]), environment(test)))
        golden, _ = self._golden()
        for path in golden.paths([]):
            kind = "rule" if path.suffix == ".rule" else "golden"
            found.append(Probe(f"{kind}/{path.relative_to(self.tree)}", kind, (str(path),)))
        found += [Probe(f"document/{name}", "document", (name,)) for name in self._entries()]
        for path in sorted(self.cases.rglob("case.json")):
            backends = ("check",) if '"rule"' in path.read_text() else ("reference", "fast")
            found += [Probe(f"case/{path.parent.relative_to(self.cases)}/{backend}", "case", (str(path.parent), backend))
                      for backend in backends]
        found += self._differential()
        for folder in ("interop", "python", "boundaries"):
            if folder != "interop" and not (self.build / "python").is_dir():
                continue
            for path in sorted((self.tree / "tests" / folder).rglob("test_*.py")):
                if path.stem not in LEFT_OUT:
                    found.append(Probe(f"{folder}/{path.stem.removeprefix('test_')}", "pytest", (str(path),),
                                       (("PYTHONPATH", f"{self.build / 'python'}:{self.tree / 'tests' / 'mutation'}"),)))
        return found

    def _differential(self) -> list[Probe]:
        """Random graphs of each operation apart."""
        program = str(self.build / "bin" / "nnefc_differential")
        listed = subprocess.run([program, "--describe", "--level", "both", "--seed", "1", "--graphs", "3000"],
                                capture_output=True, text=True)
        names = sorted({f"{node['set']}.{node['name']}" for node in map(json.loads, listed.stdout.splitlines())})
        found = [Probe(f"differential/{name}", "command", (program, "--level", "both", "--seed", "1", "--graphs", "60", "--only", name))
                 for name in names]
        wide = ("Convolution", "GroupConvolution", "ConvolutionBackpropData", "MatMul", "MaxPool", "AvgPool", "ReduceMean", "Add")
        found += [Probe(f"differential/wide-{name}", "command",
                        (program, "--wide", "100", "--seed", "1", "--graphs", "60", "--only", f"opset1.{name}")) for name in wide]
        found.append(Probe("differential/graphs", "command", (program, "--level", "both", "--seed", "1", "--graphs", "600")))
        return found

    def run(self, probe: Probe, seconds: float) -> None:
        """Raises Failed where a probe notices a fault or takes more than `seconds` of a processor."""
        match probe.kind:
            case "unit":
                code, output = _call([probe.arguments[0], f"--gtest_filter={probe.arguments[1]}", "--gtest_fail_fast",
                                      "--gtest_brief=1"], self.tree, seconds, {**self._environment, **dict(probe.environment)})
                if code:
                    raise Failed(output[-1000:])
            case "pytest":
                path, *tests = probe.arguments
                command = [str(self.tree / ".venv/bin/python"), "-m", "pytest", "-q", "--no-header", "--tb=line",
                           "-p", "no:cacheprovider", "-p", "pytest_reached"]
                command += [f"{path}::{test}" for test in tests] or [path]
                code, output = _call([*command, "-x"] if tests else command,
                                     self.tree, seconds, {**self._environment, **dict(probe.environment)})
                if code not in (0, 5):  # 5: pytest found nothing that it can run here
                    raise Failed(output[-1000:])
            case "command":
                code, output = _call(list(probe.arguments), self.tree, seconds,
                                     {**self._environment, **dict(probe.environment)})
                if code:
                    raise Failed(output[-1000:])
            case _:
                with limited_children(seconds):
                    self._in_process(probe, seconds)

    def _in_process(self, probe: Probe, seconds: float) -> None:
        golden, rule_file = self._golden()
        golden.TIMEOUT_SECONDS = rule_file.TIMEOUT_SECONDS = int(2 * seconds) + 2
        try:
            if probe.kind in ("golden", "rule"):
                path = pathlib.Path(probe.arguments[0])
                if probe.kind == "golden":
                    text, faults = golden.render(golden.run(golden.read(path), self.nnefc)), []
                else:
                    text, faults = rule_file.actual(path, self.nnefc)
                if faults or text != path.read_text(encoding="utf-8"):
                    raise Failed("\n".join(faults))
            elif probe.kind == "document":
                with tempfile.TemporaryDirectory() as folder:
                    problem, _ = self._adversary()(str(self.nnefc), self._entries()[probe.arguments[0]], pathlib.Path(folder) / "x")
                if problem:
                    raise Failed(problem)
            else:
                self._case(pathlib.Path(probe.arguments[0]), probe.arguments[1])
        except (subprocess.TimeoutExpired, ValueError, OSError, KeyError, IndexError) as error:
            raise Failed(repr(error)) from error

    def _case(self, folder: pathlib.Path, backend: str) -> None:
        suite = self._suite()
        suite.SECONDS = 10
        command = f"{self.nnefc} run {{model}} --inputs {{inputs}} --outputs {{outputs}} --backend {backend}"
        with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()):
            tool = suite.Commands(command, f"{self.nnefc} check {{model}}")
            result = suite.evaluate(tool, self.cases, folder, pathlib.Path(scratch))
        rule = result.facts.get("rule")
        if result.outcome != suite.PASSED or (rule and f"[{rule}]" not in result.detail):
            raise Failed(result.detail)


def processor_seconds() -> float:
    """The processor time of this process and its ended children."""
    used, own = resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime + own.ru_utime + own.ru_stime


def timed(runner: Runner, probe: Probe, seconds: float) -> tuple[float, str | None]:
    """The processor time of a probe, and what it noticed."""
    begin = processor_seconds()
    try:
        runner.run(probe, seconds)
        problem = None
    except Failed as failed:
        problem = str(failed) or "failed"
    except Exception as error:  # of the tests' own code
        problem = repr(error)
    return processor_seconds() - begin, problem


if __name__ == "__main__":
    tree = pathlib.Path(sys.argv[1])
    runner = Runner(tree, tree)
    import collections
    print(collections.Counter(probe.kind for probe in runner.probes()), time.process_time())
