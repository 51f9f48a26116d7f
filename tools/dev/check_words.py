#!/usr/bin/env python3
"""Checks how the repository is written, by the words of tools/dev/words.toml.

    check_words.py [ROOT]           reports what breaks the rules; exit code 1 if anything does
    check_words.py --rates          prints the rates of each folder that has limits of its own
    check_words.py --list FOLDER    prints each forbidden word and opening in the comments of a folder

Comments of C++ code may have a bounded rate of some words and openings (`[[comments]]`: the most specific folder counts).
Forbidden are words of messages (`[messages]`), names of files (`[files]`) and subjects of recent commits (`[commits]`).
READMEs have a bounded mean length of sentences (`[readmes]`), and codespell finds misspelled words (`[spelling]`).
"""

from __future__ import annotations

import importlib.util
import pathlib
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RULES = pathlib.Path(__file__).with_name("words.toml")
CODE = (".cpp", ".h", ".inc")
TOKEN = re.compile(r'R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
# Comments for tools, and licence or closing lines of namespaces.
MARKER = re.compile(r"^\W*(NOLINT|clang-format|IWYU|namespace\b|static$|LCOV)")


@dataclass
class Comment:
    """Consecutive comment lines of a source file."""

    line: int  # of the first one, from 1
    lines: list[str] = field(default_factory=list)


def tokens(text: str) -> tuple[list[Comment], list[tuple[int, str]]]:
    """Returns the comments of C++ code, and its string literals with their lines."""
    comments: list[Comment] = []
    strings: list[tuple[int, str]] = []
    line, at, last_end, own_line = 1, 0, -1, False
    for match in TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        token = match[0]
        if token.startswith("//"):
            is_own = not text[text.rfind("\n", 0, at) + 1:at].strip()
            words = token.lstrip("/").strip()
            if comments and is_own and own_line and line == last_end + 1:
                comments[-1].lines.append(words)
            else:
                comments.append(Comment(line, [words]))
            last_end, own_line = line, is_own
        elif token.startswith("/*"):
            comments.append(Comment(line, [part.strip(" *") for part in token[2:-2].split("\n")]))
        elif not token.startswith("'") and not text.startswith("#include", text.rfind("\n", 0, at) + 1):
            strings.append((line, token))
    comments = [comment for comment in comments if comment.lines[0] and not MARKER.match(comment.lines[0])]
    return comments, strings


class Rules:
    """The rules of words.toml."""

    def __init__(self, path: pathlib.Path):
        with open(path, "rb") as file:
            stored = tomllib.load(file)
        self.words = re.compile(rf"\b({'|'.join(stored['words']['limited'])})\b", re.IGNORECASE)
        self.openings = re.compile(rf"^\W*({'|'.join(stored['words']['openings'])})\b", re.IGNORECASE)
        self.folders = sorted(stored["comments"], key=lambda each: len(each["folder"]), reverse=True)
        self.messages = [(re.compile(each["pattern"]), each["use"]) for each in stored["messages"]["forbidden"]]
        self.stems = set(stored["files"]["forbidden"])
        self.verbs = set(stored["commits"]["forbidden"])
        self.readmes = stored["readmes"]
        self.spelling = stored["spelling"]

    def folder_of(self, path: str) -> dict | None:
        return next((each for each in self.folders if path.startswith(each["folder"])), None)


@dataclass
class Counts:
    lines: int = 0
    comments: int = 0
    words: list[tuple[str, int, str]] = field(default_factory=list)
    openings: list[tuple[str, int, str]] = field(default_factory=list)

    def word_rate(self) -> float:
        return 1000 * len(self.words) / max(self.lines, 1)

    def opening_rate(self) -> float:
        return 100 * len(self.openings) / max(self.comments, 1)


def count(rules: Rules, path: str, comments: list[Comment], into: Counts) -> None:
    for comment in comments:
        into.comments += 1
        into.lines += len(comment.lines)
        for index, line in enumerate(comment.lines):
            into.words += [(path, comment.line + index, line)] * len(rules.words.findall(line))
        if rules.openings.match(comment.lines[0]):
            into.openings.append((path, comment.line, comment.lines[0]))


def check_comments(rules: Rules, sources: dict[str, list[Comment]]) -> tuple[list[str], list[str]]:
    """Returns what is wrong, and the rates of each folder that has limits."""
    counts = {each["folder"]: Counts() for each in rules.folders}
    for path, comments in sources.items():
        folder = rules.folder_of(path)
        if folder:
            count(rules, path, comments, counts[folder["folder"]])
    wrong, rates = [], []
    for each in sorted(rules.folders, key=lambda each: each["folder"]):
        found = counts[each["folder"]]
        rates.append(f"{each['folder']}: {found.word_rate():.0f} of {each['words']} words, {found.opening_rate():.1f} % of "
                     f"{each['openings']} % openings in {found.comments} comments")
        if found.word_rate() > each["words"]:
            wrong.append(f"{each['folder']}: {found.word_rate():.1f} limited words per 1,000 comment lines; "
                         f"at most {each['words']} (--list {each['folder']} prints them)")
        if found.opening_rate() > each["openings"]:
            wrong.append(f"{each['folder']}: {found.opening_rate():.1f} % of the comments begin with a function word; "
                         f"at most {each['openings']} % (--list {each['folder']} prints them)")
    return wrong, rates


def check_messages(rules: Rules, strings: dict[str, list[tuple[int, str]]]) -> list[str]:
    wrong = []
    for path, literals in strings.items():
        for line, literal in literals:
            for pattern, use in rules.messages:
                match = pattern.search(literal)
                if match:
                    wrong.append(f"{path}:{line}: `{match[0]}` in a message; write {use}")
    return wrong


def check_files(rules: Rules, files: list[str]) -> list[str]:
    wrong = []
    for path in files:
        if not path.endswith((*CODE, ".py")):
            continue
        parts = set(re.split(r"[_.\-]", pathlib.PurePosixPath(path).name.lower()))
        for part in sorted(parts & rules.stems):
            wrong.append(f"{path}: `{part}` in a file's name; name the file after its main type or operation")
    return wrong


def check_subjects(rules: Rules, subjects: list[str]) -> list[str]:
    wrong = []
    for subject in subjects:
        verb = subject.rpartition(": ")[2].split(" ")[0].capitalize()
        if verb in rules.verbs:
            wrong.append(f"commit `{subject}`: begins with `{verb}`; use the verb of the change, such as add, fix, move, report")
        if len(subject) > 72:
            wrong.append(f"commit `{subject}`: {len(subject)} characters; at most 72")
    return wrong


def sentences(text: str) -> list[str]:
    """The sentences of a Markdown text without code blocks, tables, headings and links' targets."""
    paragraphs, is_code, current = [], False, []
    for line in [*text.splitlines(), ""]:
        if line.startswith("```"):
            is_code = not is_code
            continue
        if is_code or line.startswith(("    ", "\t", "|", "#", "<")):
            line = ""
        item = re.match(r"^\s*(?:[-*]|\d+\.)\s+", line)
        if (not line.strip() or item) and current:
            paragraphs.append(" ".join(current))
            current = []
        if line.strip():
            current.append(line[item.end():] if item else line.strip())
    found = []
    for paragraph in paragraphs:
        plain = re.sub(r"`[^`]*`", "code", re.sub(r"\]\([^)]*\)", "]", paragraph))
        found += [part for part in re.split(r"(?<=[.!?])\s+", plain) if part.strip()]
    return found


def check_readme(rules: Rules, path: str, text: str) -> list[str]:
    lengths = [len(each.split()) for each in sentences(text)]
    if len(lengths) < 3:
        return []
    mean = sum(lengths) / len(lengths)
    limit = rules.readmes["mean"]
    return [f"{path}: sentences of {mean:.1f} words on average; at most {limit}"] if mean > limit else []


def check_spelling(rules: Rules, root: pathlib.Path, files: list[str]) -> list[str]:
    """Runs codespell (PyPI), if the environment has it, on what is written for readers. Minified files are another project's."""
    if importlib.util.find_spec("codespell_lib") is None:
        return []
    chosen = [path for path in files if path.startswith(tuple(rules.spelling["folders"])) or "/" not in path]
    chosen = [path for path in chosen if not path.endswith(".min.js")]
    finished = subprocess.run([sys.executable, "-m", "codespell_lib", "--ignore-regex", r"\b\w*[a-z][A-Z]\w*\b",
                               "--ignore-words-list", ",".join(rules.spelling["known"]), *chosen],
                              cwd=root, capture_output=True, text=True)
    return [f"{line} (spelling; `known` in words.toml lists exceptions)" for line in finished.stdout.splitlines() if "==>" in line]


def listed(root: pathlib.Path) -> list[str]:
    shown = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    return [name for name in shown.split("\0") if name and (root / name).is_file()]


def main() -> int:
    arguments = sys.argv[1:]
    option = arguments.pop(0) if arguments[:1] in (["--rates"], ["--list"]) else ""
    folder = arguments.pop(0) if option == "--list" else ""
    root = pathlib.Path(arguments[0]).resolve() if arguments else ROOT
    rules = Rules(RULES)
    files = listed(root)
    comments: dict[str, list[Comment]] = {}
    strings: dict[str, list[tuple[int, str]]] = {}
    for path in files:
        if path.endswith(CODE):
            comments[path], literals = tokens((root / path).read_text(encoding="utf-8", errors="replace"))
            if path.startswith(("compiler/", "runtime/", "tools/")):
                strings[path] = literals
    if option == "--list":
        found = Counts()
        for path, of_file in comments.items():
            if path.startswith(folder):
                count(rules, path, of_file, found)
        print("\n".join(f"{path}:{line}: {text}" for path, line, text in sorted({*found.words, *found.openings})))
        return 0
    wrong, rates = check_comments(rules, comments)
    if option == "--rates":
        print("\n".join(rates))
        return 0
    wrong += check_messages(rules, strings) + check_files(rules, files)
    for path in files:
        if pathlib.PurePosixPath(path).name == "README.md":
            wrong += check_readme(rules, path, (root / path).read_text(encoding="utf-8"))
    wrong += check_spelling(rules, root, files)
    log = subprocess.run(["git", "log", "-30", "--no-merges", "--format=%s"], cwd=root, capture_output=True, text=True)
    wrong += check_subjects(rules, log.stdout.splitlines())
    print("\n".join(wrong) if wrong else f"{len(comments)} source files are written by the rules")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
