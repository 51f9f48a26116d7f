"""The effect of `--fix` on every invalid document of the tests: none, or a document without a new error in the changed
lines.

The documents are the breaking examples of compiler/explain/rules, the invalid ones of tests/conformance and the
mistakes of newcomers.
"""

from __future__ import annotations

import difflib
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from first_messages import FIRST_MESSAGES, FORMATS
from newcomer_mistakes import MISTAKES
from whole_mistakes import WHOLE_MISTAKES

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "golden"), str(ROOT / "tests" / "conformance" / "adversary")]
import entries  # noqa: E402
import rule_file  # noqa: E402

ROUNDS = 3
# A fix may reveal another mistake nearby: `size: bool = 1` becomes `size: logical = 1`, whose default has another type.
OTHER_MISTAKES = {"declaration.default-type"}


def _documents() -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for path in sorted(rule_file.FOLDER.glob("*.rule")):
        for number, example in enumerate(rule_file.read(path).examples):
            if example.kind == "breaks" and example.command == rule_file.COMMAND and not example.files:
                found[f"rule_{path.stem}_{number}"] = example.document.encode()
    for number, entry in enumerate(entries.load()):
        if not entry.valid and set(entry.files) == {"graph.nnef"}:
            found[f"list_{number}_{entry.name}"] = entry.files["graph.nnef"]
    for number, mistake in enumerate(MISTAKES):
        found[f"mistake_{number}"] = mistake.document().encode()
    for mistake in WHOLE_MISTAKES + FIRST_MESSAGES:
        if set(mistake.files) == {"net.nnef"}:
            found[f"whole_{mistake.name}"] = mistake.files["net.nnef"].encode()
    return found


def _errors(nnefc: Path, folder: Path) -> dict[str, list[dict]]:
    """Returns the errors of each document, all checked by one process."""
    names = sorted(path.name for path in folder.iterdir())
    done = subprocess.run([str(nnefc), "check", "--format", "json", *names], cwd=folder, capture_output=True, timeout=600, check=False)
    report: dict[str, list[dict]] = defaultdict(list)
    decoder, text = json.JSONDecoder(), done.stderr.decode("utf-8", "replace")
    at = 0
    while match := re.compile(r"\S").search(text, at):
        value, at = decoder.raw_decode(text, match.start())
        for diagnostic in value["diagnostics"]:
            if diagnostic["severity"] == "error":
                report[diagnostic["file"]].append(diagnostic)
    return report


def _changed_lines(before: str, after: str) -> set[int]:
    """Returns the lines of `after`, from 1, that are not lines of `before`."""
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    return {line + 1 for tag, _, _, first, last in matcher.get_opcodes() if tag != "equal" for line in range(first, last)}


@pytest.fixture(scope="module")
def corpus(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str, list[dict], list[dict]]]:
    """Returns, by name, the text before and after `--fix` until it changes nothing, and the errors of both."""
    folder = tmp_path_factory.mktemp("corpus")
    documents = _documents()
    for name, text in documents.items():
        (folder / f"{name}.nnef").write_bytes(text)
    before = _errors(nnefc, folder)
    for _ in range(ROUNDS):
        subprocess.run([str(nnefc), "check", "--fix", *sorted(path.name for path in folder.iterdir())], cwd=folder, capture_output=True,
                       timeout=1200, check=False)
    after = _errors(nnefc, folder)
    texts = {name: (folder / f"{name}.nnef").read_bytes().decode("utf-8", "replace") for name in documents}
    return {name: (text.decode("utf-8", "replace"), texts[name], before[f"{name}.nnef"], after[f"{name}.nnef"])
            for name, text in documents.items()}


def test_there_are_many(corpus: dict[str, tuple]) -> None:
    changed = sum(before != after for before, after, _, _ in corpus.values())
    assert len(corpus) > 1500
    assert changed > 300


def test_no_fix_makes_a_new_error_where_it_changed_the_text(corpus: dict[str, tuple]) -> None:
    wrong = []
    for name, (before, after, errors_before, errors_after) in corpus.items():
        if before == after:
            continue
        # A fix of a name changes the names that another message quotes.
        kind = lambda error: (error["rule"], re.sub(r"`[^`]*`", "``", error["message"]))  # noqa: E731
        known = {kind(error) for error in errors_before}
        lines = _changed_lines(before, after)
        new = [error for error in errors_after if error.get("line") in lines and kind(error) not in known
               and error["rule"] not in OTHER_MISTAKES]
        shows_others = any(error["rule"] in OTHER_MISTAKES for error in errors_after)
        if new or (len(errors_after) > len(errors_before) and not shows_others):
            wrong.append((name, [(error["rule"], error["message"]) for error in errors_before], new or errors_after))
    assert not wrong, "\n".join(map(str, wrong))


def test_no_fix_adds_a_second_version(corpus: dict[str, tuple]) -> None:
    for name, (before, after, _, _) in corpus.items():
        count = [len(re.findall(r"^\W*(?:NNEF )?version\b", text, re.MULTILINE)) for text in (before, after)]
        assert count[1] <= max(count[0], 1), name


@pytest.mark.parametrize("mistake", FORMATS, ids=lambda mistake: mistake.name)
@pytest.mark.parametrize("command", [["check", "--fix"], ["lint", "--fix"], ["fmt", "--in-place"]], ids=" ".join)
def test_other_formats_are_left_alone(mistake, command: list[str], nnefc: Path, tmp_path: Path) -> None:
    path = tmp_path / "net.nnef"
    path.write_text(mistake.files["net.nnef"], encoding="utf-8")
    done = subprocess.run([str(nnefc), *command, "net.nnef"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert mistake.message.rsplit(" [", 1)[0] in done.stderr
    assert path.read_text(encoding="utf-8") == mistake.files["net.nnef"]
