"""The mutants of a small program: each changes what the program prints, and none does when no mutant is active."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
instrument = pytest.importorskip("instrument", reason="libclang is missing")
import summary  # noqa: E402
import tree as trees  # noqa: E402

SOURCE = """\
extern "C" int printf(const char*, ...);
int min(int a, int b) { return a < b ? a : b; }
int max(int a, int b) { return a < b ? b : a; }
struct Range { int begin, end; };
enum Sign { kNegative, kPositive };
int total = 0;
void Add(int value) { total = total * 3 + value; }
int Choose(Sign sign, bool twice) { return twice ? 2 + sign : 5 + sign; }
constexpr int Half(int value) { if (value < 2) return 7; return value / 2; }
static_assert(Half(8) == 4);
int Sum(const Range& range) {
  int sum = 0;
  for (int i = range.begin; i < range.end; ++i) {
    if (i == 4) continue;
    sum = sum * 2 + i;
  }
  return sum;
}
bool Inside(int x, int low, int high) { return x >= low && x <= high; }
bool Outside(int x, int low, int high) { return x < low || x > high; }
int main() {
  Add(min(1, 2));
  Add(Choose(kPositive, true));
  for (int x = 1; x <= 5; ++x) {
    Add(Inside(x, 2, 4));
    Add(Outside(x, 2, 4));
  }
  Add(Half(2));
  Add(1);
  Add(1);
  Add(1);
  printf("%d %d\\n", total, Sum({1, 7}));
  return 0;
}
"""
EXPECTED = {  # operator, before, after
    ("relation", "i < range.end", "i <= range.end"), ("relation", "i == 4", "i != 4"), ("relation", "x >= low", "x > low"),
    ("relation", "x <= high", "x < high"), ("relation", "x < low", "x <= low"), ("relation", "x > high", "x >= high"),
    ("relation", "value < 2", "value <= 2"), ("drop", "x >= low", "true"), ("drop", "x <= high", "true"),
    ("drop", "x < low", "false"), ("drop", "x > high", "false"), ("negate", "value < 2", "!(value < 2)"),
    ("negate", "twice", "!(twice)"), ("plus", "7", "(7) + 1"), ("minus", "4", "(4) - 1"), ("plus", "sum", "(sum) + 1"),
    ("sum", "2 + sign", "2 - (sign)"), ("pair", "range.begin", "range.end"), ("pair", "high", "low"),
    ("minmax", "min(1, 2)", "max(1, 2)"), ("call", "Add(min(1, 2))", ""), ("jump", "continue", ""), ("jump", "return 7", ""),
    ("flip", "true", "false"), ("enumerator", "kPositive", "kNegative"),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The mutants of the program, and its instrumented build."""
    tree = tmp_path_factory.mktemp("tree")
    (tree / "compiler").mkdir()
    path = tree / "compiler" / "program.cpp"
    path.write_text(SOURCE)
    commands = tree / "compile_commands.json"
    commands.write_text(json.dumps([{"directory": str(tree), "file": str(path), "command": "g++ -std=c++20 -c program.cpp"}]))
    made = instrument.Instrumented(tree, instrument.find_sites(tree, commands, 1))
    dropped: set[int] = set()
    made.write_all(dropped)
    command = ["g++", "-std=c++20", "-w", "-include", str(HERE / "mutant.h"), str(path), "-o", str(tree / "program")]
    subprocess.run(command, check=True)
    return made.mutants, tree / "program", tree


def run(binary: pathlib.Path, **environment: str) -> tuple[int, str]:
    done = subprocess.run([str(binary)], env=environment, capture_output=True, text=True, timeout=10)
    return done.returncode, done.stdout


def test_every_operator_has_its_mutants(program):
    found = {(mutant.operator, mutant.before, mutant.after) for mutant in program[0]}
    assert EXPECTED <= found, sorted(EXPECTED - found)


def test_each_mutant_changes_the_output(program, tmp_path):
    mutants, binary, _ = program
    plain = tmp_path / "plain.cpp"
    plain.write_text(SOURCE)
    subprocess.run(["g++", "-std=c++20", "-w", str(plain), "-o", str(tmp_path / "plain")], check=True)
    expected = run(tmp_path / "plain")
    assert run(binary) == expected
    active = [mutant for mutant in mutants if (mutant.operator, mutant.before, mutant.after) in EXPECTED]
    equal = [mutant for mutant in active if run(binary, NNEFC_MUTANT=str(mutant.number)) == expected]
    # Only mutants return 7.
    assert {(mutant.operator, mutant.before) for mutant in equal} == {
        ("plus", "7"), ("jump", "return 7")}, equal


def test_equal_mutants_of_equal_lines_are_told_apart(program):
    keys = [mutant.key for mutant in program[0]]
    assert len(set(keys)) == len(keys)


def test_reached_mutants_are_recorded(program, tmp_path):
    mutants, binary, _ = program
    file = tmp_path / "reached"
    run(binary, NNEFC_MUTANTS_REACHED=str(file))
    reached = {number for number, byte in enumerate(file.read_bytes()) if byte}
    unreached = {(mutant.line, mutant.operator) for mutant in mutants if mutant.number not in reached}
    lines = {line for line, _ in unreached}
    assert lines <= {3, 8, 9}, unreached  # `max`, the other value of `?:`, and `return 7`
    assert (9, "jump") in unreached


def test_a_mutant_that_does_not_compile_is_dropped(program):
    mutants, _, tree = program
    made = instrument.Instrumented(tree, {"compiler/program.cpp": []})
    assert made.mutants == []
    path = tree / "compiler" / "dropped.cpp"
    path.write_text("bool Less(int a, int b) {\n  return a < b;\n}\n")
    commands = tree / "dropped.json"
    commands.write_text(json.dumps([{"directory": str(tree), "file": str(path), "command": "g++ -std=c++20"}]))
    made = instrument.Instrumented(tree, instrument.find_sites(tree, commands, 1))
    dropped: set[int] = set()
    assert made.drop_refused(f"{path}:1:7: error: something\n", dropped) == 0
    assert made.drop_refused(f"{path}:2:7: error: something\n", dropped) == len(made.mutants) == 1
    assert path.read_text() == "bool Less(int a, int b) {\n  return a < b;\n}\n"


def test_the_sample_of_unchanged_code_stays(tmp_path):
    def mutants(sources: list[str]) -> list[instrument.Mutant]:
        return [instrument.Mutant(number, "compiler/a.cpp", number, 1, "negate", "a", "!(a)", source)
                for number, source in enumerate(sources)]

    def sample(sources: list[str], seed: int) -> set[str]:
        chosen = trees.Tree(tmp_path, tmp_path, seed, 500)._draw(mutants(sources))
        return {sources[number] for number in chosen}

    lines = [f"if (a{index}) {{" for index in range(1000)]
    moved = ["if (added) {", *lines[300:], *lines[:300]]
    assert len(sample(lines, 1)) == 500
    assert len(sample(lines, 1) - sample(moved, 1)) <= 2
    assert 150 < len(sample(lines, 1) & sample(lines, 2)) < 350


def test_equivalent_mutants_have_reasons():
    for (path, source, change), reason in summary.read_equivalent().items():
        assert reason.strip(), (path, source, change)
        assert " + " not in f" {reason}" or " -> " not in reason, f"no empty line ends the block of `{source}` in {path}"
        text = (HERE.parent.parent / path).read_text(encoding="utf-8")
        assert source in text, f"{path} has no line `{source}`"
