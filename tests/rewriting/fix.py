#!/usr/bin/env python3
"""Damages valid documents so that `check --fix` can repair them: afterwards the expansion must be that of the original
document."""

from __future__ import annotations

import pathlib
import random
import re
import sys
import tempfile

import corpus

LEAST_MENDED = 30


def without_semicolons(text: str, source: random.Random) -> str:
    """Removes `;` from statements where it is then the only error: without that of its version a document may be
    provisional, and a fragment without it awaits a body."""
    looks_ratified = re.search(r"\n\s*extension\b|tensor\s*<", text)
    stays = re.compile(r"^\s*fragment\b.*;|\).*->.*;" if looks_ratified else r"^\s*(?:fragment|version)\b.*;|\).*->.*;")
    return "".join(line if stays.search(line) or source.random() >= 0.3 else re.sub(r";(?=[ \t]*\n)", "", line)
                   for line in text.splitlines(keepends=True))


def with_other_words(text: str, source: random.Random) -> str:
    """Renames types as in the other dialect, and removes extensions."""
    text = re.sub(r": integer\b", ": extent", text)
    return re.sub(r"extension KHR_enable_\w+;", "", text) if source.random() < 0.5 else text


def misspelt(text: str, source: random.Random) -> str:
    """Removes a letter from names of arguments that are not near any other."""
    return re.sub(r"\b(padding|dilation|border)( = )",
                  lambda match: match[1][:3] + match[1][4:] + match[2] if source.random() < 0.3 else match[0], text)


def with_integers(text: str, source: random.Random) -> str:
    """Writes scalars of attributes as integers."""
    return re.sub(r"\b(alpha|beta|bias|epsilon) = (\d+)\.0\b",
                  lambda match: f"{match[1]} = {match[2]}" if source.random() < 0.7 else match[0], text)


DAMAGES = (without_semicolons, with_other_words, misspelt, with_integers)


def main() -> int:
    nnefc = sys.argv[1]
    mended = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "graph.nnef")
        link = pathlib.Path(folder, "link.nnef")
        link.symlink_to(path.name)
        for document in corpus.documents():
            if not re.search(r"version\s+1\.0\s*;", document.text):
                continue
            path.write_text(document.text, encoding="utf-8", newline="")
            expected = corpus.run(nnefc, "expand", str(path))[:2]
            if expected[0] != 0:
                continue
            for damage in DAMAGES:
                damaged = damage(document.text, random.Random(document.text))
                if damaged == document.text:
                    continue
                path.write_text(damaged, encoding="utf-8", newline="")
                path.chmod(0o640)
                code, out, said = corpus.run(nnefc, "check", "--fix", str(link))
                found = corpus.run(nnefc, "expand", str(path))[:2]
                kept = link.is_symlink() and path.stat().st_mode & 0o777 == 0o640
                if code == 0 and not out and found == expected and kept and len(list(path.parent.iterdir())) == 2:
                    mended += 1
                    continue
                failed += 1
                print(f"{document.name}: {damage.__name__}: exit code {code}\n{said[:2000]}")
    print(f"{mended} mended - {failed} failures")
    return 1 if failed or mended < LEAST_MENDED else 0


if __name__ == "__main__":
    sys.exit(main())
