"""tools/dev/check_sizes.py reports files, folders and classes beyond a limit, but none at it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "tools" / "dev" / "check_sizes.py"
sys.path.insert(0, str(SCRIPT.parent))
import check_sizes  # noqa: E402


def check(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    done = subprocess.run([sys.executable, str(SCRIPT), str(folder)], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == done.stdout.endswith(" 0 too large\n"), done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["a/long.cpp", "a/long.h", "a/long.py"])
@pytest.mark.parametrize(("lines", "error"), [(600, ""), (601, "601 lines; at most 600")])
def test_lines_of_a_file(name: str, lines: int, error: str, tmp_path: Path) -> None:
    report = check(tmp_path, {name: "\n" * lines})
    assert f"{name}: error: {error}" in report if error else " 0 too large" in report


def test_other_texts_may_be_longer(tmp_path: Path) -> None:
    assert " 0 too large" in check(tmp_path, {"a/table.txt": "\n" * 601})


@pytest.mark.parametrize(("count", "error"), [(25, ""), (26, "a: error: 26 source files; at most 25")])
def test_files_of_a_folder(count: int, error: str, tmp_path: Path) -> None:
    files = {f"a/{number}{suffix}": "" for number, suffix in enumerate([".cpp", ".h", ".py"] * 9) if number < count}
    report = check(tmp_path, {**files, "a/README.md": "", "a/b/more.cpp": ""})
    assert error in report if error else " 0 too large" in report


@pytest.mark.parametrize(("count", "error"), [(40, ""), (41, "`Large` has 41 member functions; at most 40")])
@pytest.mark.parametrize(("name", "header", "line"), [("a/c.h", "class Large {{\n{}}};\n", "  void F();\n"),
                                                    ("a/c.py", "class Large:\n{}", "    def f(self): pass\n")])
def test_functions_of_a_class(name: str, header: str, line: str, count: int, error: str, tmp_path: Path) -> None:
    report = check(tmp_path, {name: header.format(line * count)})
    assert error in report if error else " 0 too large" in report


@pytest.mark.parametrize(("members", "count"), [
    ("A(); ~A(); A(const A&) = delete; A& operator=(A&&) noexcept;", 4),
    ("A(int a, int b) : a_(a), b_{b}, c_(a) { Run(a); } int a_; int b_ = F(3); int c_{4};", 1),
    ("explicit A(int a) noexcept(true);", 1),
    ("int F() const { if (G()) { return 1; } return H(); } int F(int);", 2),
    ("bool operator==(const A&) const = default; bool operator()(int) const; bool operator<(const A& b) const { return b > *this; }", 3),
    ("template <typename T, typename... Args> void F(std::map<T, int> a = {}, Args&&... args);", 1),
    ("template <typename T> requires (sizeof(T) > 4) void F(T);", 1),
    ("[[nodiscard]] std::optional<std::pair<int, int>> F() const; virtual void G() = 0; static constexpr int H() { return 3; }", 3),
    ("std::function<void(int)> f; void (*g)(int); int h = F(2); alignas(16) char i[4]; std::function<void()> j = [](int) { F(); };", 0),
    ("friend bool F(const A&); friend void G(A& a) { a.x(); } using B = int; static_assert(F()); enum class E { kA };", 0),
    ("class B { void F(); void G(); }; struct C; int x;", 0),
    ("public: A(); private: // void F();\n /* void G(); */ const char* text = \"void H(); {\"; char c = '{';", 1),
    ("int x;\n  #define F(a) \\\n void a();\n int y;", 0),
])
def test_counted_members(members: str, count: int) -> None:
    classes = dict((name, functions) for name, _, functions in check_sizes.classes_of(f"class A final : public Z<int> {{ {members} }};"))
    assert classes["A"] == count


def test_classes_with_their_lines() -> None:
    text = "enum class E { kA };\nstruct A { void F(); };\n\nclass B::C : public A { struct D { void G(); void H(); }; void I(); };\n"
    assert check_sizes.classes_of(text) == [("A", 2, 1), ("B::C", 4, 1), ("D", 4, 2)]
