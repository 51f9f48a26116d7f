"""The documents for the tests of rewriting commands."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("NNEFC_SHARED", TESTS.parent.parent / "shared"))

sys.path.insert(0, str(TESTS / "golden"))
import golden  # noqa: E402
import rule_file  # noqa: E402

TIMEOUT_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Document:
    """A document's text and its origin."""

    name: str
    text: str


def documents() -> list[Document]:
    """Returns every document, each text once."""
    found: dict[str, str] = {}
    folders = [TESTS]
    for folder in (SHARED / "data", SHARED / "seeds"):
        if folder.is_dir():
            folders.append(folder)
        else:
            print(f"skipped: there is no folder {folder.name} beside the repository")
    for folder in folders:
        for path in sorted(folder.rglob("*.nnef")):
            found.setdefault(path.read_text(encoding="utf-8"), path.as_posix())
    for path in golden.paths([]):
        if path.suffix == ".rule":
            texts = [("keeps", example.document) for example in rule_file.read(path).examples if example.kind == "keeps"]
        else:
            texts = [(name, text) for name, text in golden.read(path).files if name.endswith(".nnef")]
        for name, text in texts:
            if text:
                found.setdefault(text, f"{path.relative_to(TESTS.parent)}:{name}")
    return [Document(name, text) for text, name in found.items()]


def run(nnefc: str, *arguments: str, text: str | None = None) -> tuple[int, str, str]:
    """Runs nnefc on standard input or on the files of `arguments`."""
    done = subprocess.run([nnefc, *arguments], input=text, capture_output=True, encoding="utf-8", errors="replace",
                          timeout=TIMEOUT_SECONDS, check=False, env={**os.environ, "NO_COLOR": "1"})
    return done.returncode, done.stdout, done.stderr


STRING_OR_COMMENT = re.compile(r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|(#[^\n\f]*)")


def comments(text: str) -> list[str]:
    """Returns the comments of a document, sorted."""
    return sorted(match[1].rstrip() for match in STRING_OR_COMMENT.finditer(text) if match[1] is not None)


TOKEN = re.compile(r"#[^\n]*\n|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|\w[\w.]*|->|[<>=!]=|&&|\|\||\S|\s+")


def with_comments(document: Document, seed: int) -> Document:
    """Returns the document with comments in the middle of its statements, after a tenth of the tokens."""
    source = random.Random(f"{seed}{document.text}")
    parts = []
    for number, token in enumerate(TOKEN.findall(document.text)):
        parts.append(token)
        if source.random() < 0.1 and not token.startswith("#") and not token[-1].isdigit():
            parts.append(source.choice((f" # trails {number}\n", f"\n  # stands {number}\n", f"\n\n#a {number}\n\n#b\n")))
    return Document(f"{document.name} with comments {seed}", "".join(parts))


def judge(nnefc: str, what: str, of_files, documents: list[Document], of_document, counts: dict[str, int],
          least: dict[str, int]) -> int:
    """Prints the problems that `of_files(nnefc, folder)`, named `what`, and `of_document(nnefc, document, folder,
    counts)` find. The exit code is 1 if there are any, or if fewer were counted than `least`."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for failure in of_files(nnefc, pathlib.Path(folder)):
            print(f"{what}: {failure}")
            failed += 1
    with tempfile.TemporaryDirectory() as folder:
        for document in documents:
            for failure in of_document(nnefc, document, pathlib.Path(folder), counts):
                print(f"{document.name}: {failure}")
                failed += 1
    print(", ".join(f"{count} {name}" for name, count in counts.items()), f"- {failed} failures")
    if any(counts[name] < count for name, count in least.items()):
        print("too few documents were found")
        return 1
    return 1 if failed else 0
