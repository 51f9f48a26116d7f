#!/usr/bin/env python3
"""Formats every document, as it is and with comments strewn in: twice is once, comments and meaning stay."""

from __future__ import annotations

import pathlib
import sys
import tempfile

import corpus

# Fewer than these were compared: the corpus was not found.
LEAST_DOCUMENTS = 60
LEAST_EXPANSIONS = 45


def failures(nnefc: str, document: corpus.Document, folder: pathlib.Path, counts: dict[str, int]) -> list[str]:
    """What formatting did wrong to one document."""
    code, formatted, said = corpus.run(nnefc, "fmt", "-", text=document.text)
    if code == 1 and said:
        counts["syntax errors"] += 1
        return [] if not formatted else ["printed a document with syntax errors"]
    if code != 0:
        return [f"exit code {code}: {said}"]
    counts["documents"] += 1
    found = []
    if corpus.run(nnefc, "fmt", "-", text=formatted) != (0, formatted, ""):
        found.append("formatting again changes it")
    if corpus.comments(document.text) != corpus.comments(formatted):
        found.append("comments changed")
    if any(line != line.rstrip() for line in formatted.splitlines()):
        found.append("a line ends in blanks")
    expansions = []
    for text in (document.text, formatted):
        path = folder / "graph.nnef"
        path.write_text(text, encoding="utf-8", newline="")
        expansions.append(corpus.run(nnefc, "expand", str(path))[:2])
    counts["expansions"] += expansions[0][0] == 0
    if expansions[0] != expansions[1]:
        found.append("the expansion changed")
    return found


def main() -> int:
    nnefc = sys.argv[1]
    counts = {"documents": 0, "expansions": 0, "syntax errors": 0}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        documents = corpus.documents()
        documents += [corpus.with_comments(document, seed) for document in documents for seed in (1, 2)]
        for document in documents:
            for failure in failures(nnefc, document, pathlib.Path(folder), counts):
                print(f"{document.name}: {failure}")
                failed += 1
    print(", ".join(f"{count} {what}" for what, count in counts.items()), f"- {failed} failures")
    if counts["documents"] < LEAST_DOCUMENTS or counts["expansions"] < LEAST_EXPANSIONS:
        print("too few documents were found")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
