"""tools/dev/check_words.py reports each kind of wording in a small repository, and nothing in a repository without them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "tools" / "dev" / "check_words.py"
# Twenty comments, because the limits are rates.
FINE = "".join(f"// Returns the extent {number}.\nint Extent{number}();\n\n" for number in range(20))


def check(folder: Path, files: dict[str, str], subject: str = "compiler: report extents") -> str:
    """Commits the files and returns the report."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for command in (["init", "-q"], ["add", "-A"],
                    ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", subject]):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)
    finished = subprocess.run([sys.executable, str(SCRIPT), str(folder)], capture_output=True, text=True)
    assert (finished.returncode == 0) == finished.stdout.endswith("written by the rules\n"), finished.stdout + finished.stderr
    return finished.stdout


def test_plain_text_is_accepted(tmp_path: Path) -> None:
    report = check(tmp_path, {"compiler/a.cpp": FINE + 'const char* text = "there is no key; invalid JSON";\n'})
    assert report == "1 source files are written by the rules\n"


@pytest.mark.parametrize(("name", "text", "expected"), [
    ("compiler/a.cpp", FINE + "// The code behind it.\n", "limited words per 1,000 comment lines"),
    ("compiler/a.cpp", FINE + "int x;  // tells the extent\n", "limited words per 1,000 comment lines"),
    ("compiler/a.cpp", FINE + "// Of rows.\n", "begin with a function word"),
    ("compiler/a.cpp", FINE + "/* how it ends */\n", "begin with a function word"),
    ("compiler/a.cpp", FINE + 'Fail("`{}` is no number");\n', "compiler/a.cpp:61: `is no` in a message"),
    ("compiler/seen_codes.h", FINE, "`seen` in a file's name"),
    ("README.md", "# A\n\nShort. Short.\n\n" + "word " * 70 + "end.\n", "README.md: sentences of 24.3 words on average"),
    ("compiler/a.cpp", FINE + "// Returns the outptus.\n".replace("outptus", "ouptut"), "ouptut ==> output"),
])
def test_each_rule_is_enforced(tmp_path: Path, name: str, text: str, expected: str) -> None:
    report = check(tmp_path, {name: text})
    assert expected in report
    assert len(report.splitlines()) == 1, report


@pytest.mark.parametrize(("subject", "expected"), [
    ("Keep extents", "begins with `Keep`"),
    ("compiler: let extents pass", "begins with `Let`"),
    ("compiler: report " + "x" * 56, "73 characters; at most 72"),
    ("compiler: report " + "x" * 55, ""),
])
def test_subjects_of_commits(tmp_path: Path, subject: str, expected: str) -> None:
    report = check(tmp_path, {"compiler/a.cpp": FINE}, subject)
    assert (expected in report and len(report.splitlines()) == 1) if expected else report.endswith("written by the rules\n")


def test_strings_are_not_comments(tmp_path: Path) -> None:
    text = FINE + 'const char* a = "// what lies behind"; char b = \'"\'; const char* c = R"(// so many)";  // Fine.\n'
    assert check(tmp_path, {"runtime/a.cpp": text}).endswith("written by the rules\n")


def test_markers_of_tools_are_skipped(tmp_path: Path) -> None:
    text = FINE + "}  // namespace what::which\nint x;  // NOLINT(what)\n"
    assert check(tmp_path, {"runtime/a.cpp": text}).endswith("written by the rules\n")
