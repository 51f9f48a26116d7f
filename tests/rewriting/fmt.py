#!/usr/bin/env python3
"""Formats every document, unchanged and with inserted comments: formatting twice equals once, and comments and meaning
are kept."""

from __future__ import annotations

import pathlib
import sys
import tarfile

import corpus

# With fewer documents, the corpus was not found.
LEAST_DOCUMENTS = 60
LEAST_EXPANSIONS = 45


def failures(nnefc: str, document: corpus.Document, folder: pathlib.Path, counts: dict[str, int]) -> list[str]:
    """Returns the errors of formatting one document."""
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


def in_place_failures(nnefc: str, folder: pathlib.Path) -> list[str]:
    """Returns the errors of `--in-place` for a folder, a link, an archive and a document with a syntax error."""
    model, link, wrong, archive = folder / "model", folder / "link.nnef", folder / "wrong.nnef", folder / "model.tar"
    model.mkdir()
    texts = {"graph.nnef": "version 1.0 graph g(x)->(y){x=external(shape=[1]) y=relu(x)}",
             "graph.quant": "'x':linear_quantize(min=0.0,max=1.0,bits=8)"}
    for name, text in texts.items():
        (model / name).write_text(text)
    with tarfile.open(archive, "w") as tar:
        tar.add(model / "graph.nnef", "graph.nnef")
    link.symlink_to(model / "graph.nnef")
    (model / "graph.nnef").chmod(0o640)
    expected = {name: corpus.run(nnefc, "fmt", str(model / name))[1] for name in texts}
    found = []
    if corpus.run(nnefc, "fmt", "--check", str(model))[0] != 1:
        found.append("--check found nothing to change")
    for target in (link, model):
        if corpus.run(nnefc, "fmt", "--in-place", str(target)) != (0, "", ""):
            found.append(f"--in-place failed on {target.name}")
    if {name: (model / name).read_text() for name in texts} != expected:
        found.append("--in-place wrote something else than what is printed")
    if not link.is_symlink() or (model / "graph.nnef").stat().st_mode & 0o777 != 0o640 or len(list(model.iterdir())) != 2:
        found.append("--in-place changed a link or permissions, or left a file behind")
    if corpus.run(nnefc, "fmt", "--check", str(model), str(link)) != (0, "", ""):
        found.append("--check wants more changes")
    wrong.write_text("version 1.0; graph g(x) -> (y) { x = ; }")
    if corpus.run(nnefc, "fmt", "--in-place", str(wrong))[0] != 1 or "x = ;" not in wrong.read_text():
        found.append("a document with a syntax error was touched")
    # A file that cannot be written is unchanged; later files are processed.
    model.joinpath("graph.nnef").write_text(texts["graph.nnef"])
    model.joinpath("graph.nnef").chmod(0o440)
    other = folder / "other.nnef"
    other.write_text(texts["graph.nnef"])
    code, _, said = corpus.run(nnefc, "fmt", "--in-place", str(link), str(folder / "nowhere.nnef"), str(other))
    if code != 2 or "read-only" not in said or (model / "graph.nnef").read_text() != texts["graph.nnef"]:
        found.append("a read-only file was replaced")
    if other.read_text() != expected["graph.nnef"]:
        found.append("files behind a read-only one were left out")
    before = archive.read_bytes()
    if corpus.run(nnefc, "fmt", "--in-place", str(archive))[0] != 2 or archive.read_bytes() != before:
        found.append("an archive was taken")
    if corpus.run(nnefc, "check", "--fix", str(archive))[0] != 0:
        found.append("an archive without mistakes was refused")
    return found


def main() -> int:
    # Examples of rules are often similar: a fifth of them suffices.
    documents = [document for number, document in enumerate(corpus.documents())
                 if ".rule:" not in document.name or number % 5 == 0]
    documents += [corpus.with_comments(document, seed) for document in documents for seed in (1, 2)]
    return corpus.judge(sys.argv[1], "in place", in_place_failures, documents, failures,
                        counts={"documents": 0, "expansions": 0, "syntax errors": 0},
                        least={"documents": LEAST_DOCUMENTS, "expansions": LEAST_EXPANSIONS})


if __name__ == "__main__":
    sys.exit(main())
