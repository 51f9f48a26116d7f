#!/usr/bin/env python3
"""Builds the documentation site: build.py [--nnefc FILE] [--output FOLDER] [--pages-only]

The pages are those of `pages`, the topics of `nnefc explain`, READMEs of the repository, and a reference made of the product
(reference.py). They are written to FOLDER/pages, and the site to FOLDER/site (default: build/docs). The packages of
requirements.txt are needed, and no network.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import reference

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOPICS = ROOT / "compiler" / "explain" / "topics"
# Documents of the repository that are pages of the site.
COPIED = {
    "README.md": "index.md",
    "tools/examples/README.md": "examples.md",
    "tools/python/README.md": "reference/python.md",
    "tools/api/README.md": "reference/cpp.md",
    "compiler/README.md": "development/compiler.md",
    ".github/CONTRIBUTING.md": "development/contributing.md",
    ".github/CHANGELOG.md": "development/changelog.md",
}
# Documents with a section that is a page of the reference.
QUOTED = {"compiler/lint/README.md": "reference/configuration.md", "compiler/support/README.md": "reference/reports.md"}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def page_of(path: str) -> str | None:
    """Returns the page that shows a file of the repository, or nothing."""
    if path.startswith("tools/docs/pages/"):
        return path.removeprefix("tools/docs/pages/")
    if path.startswith("compiler/explain/topics/"):
        return path.replace("compiler/explain/topics/", "concepts/")
    return COPIED.get(path) or QUOTED.get(path)


def with_links(text: str, source: str, page: str) -> str:
    """Returns the text of a document with links to pages of the site. A link to another file becomes its text and path."""
    def replaced(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match[0]
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(source), path))
        shown = page_of(path) or page_of(f"{path}/README.md")
        if shown is None:
            return f"{words} (`{path}`)" if words.strip("`") != path else f"`{path}`"
        return f"{mark}[{words}]({os.path.relpath(shown, os.path.dirname(page) or '.')}{'#' if anchor else ''}{anchor})"
    return LINK.sub(replaced, text)


def with_sections(text: str) -> str:
    """Returns the text with sections of the ratified specification, such as `R 4.3.1`, as links to Khronos."""
    specification = reference.Specification()
    return re.sub(r"\bR (\d+(?:\.\d+)*)\b", lambda match: specification.link(match[0], match[0]), text)


def write_pages(nnefc: pathlib.Path, folder: pathlib.Path) -> dict[str, list[str]]:
    """Writes all pages, and returns the entries of each generated part of the navigation."""
    shutil.copytree(HERE / "pages", folder)
    sources = {path.relative_to(ROOT).as_posix(): path.relative_to(HERE / "pages").as_posix() for path in (HERE / "pages").rglob("*.md")}
    for source, page in (COPIED | sources).items():
        path = folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        text = with_links((ROOT / source).read_text(encoding="utf-8"), source, page)
        path.write_text(with_sections(text) if page == "decisions.md" else text, encoding="utf-8")
    (folder / "concepts").mkdir()
    topics = sorted(TOPICS.glob("*.md"))
    names = {path.stem for path in topics}
    for path in topics:
        text, _, ending = path.read_text(encoding="utf-8").partition("See also: ")
        ending = re.sub(r"`(\w+)`", lambda match: f"[{match[1]}]({match[1]}.md)" if match[1] in names else match[0], ending)
        (folder / "concepts" / path.name).write_text(f"{text}See also: {ending}", encoding="utf-8")
    entries = reference.write(nnefc, folder / "reference")
    return {"CONCEPTS": [f"concepts/{path.name}" for path in topics], **entries}


def write_configuration(output: pathlib.Path, entries: dict[str, list[str]]) -> pathlib.Path:
    text = (HERE / "mkdocs.yml").read_text(encoding="utf-8").replace("ROOT", str(ROOT))
    for name, pages in entries.items():
        text = re.sub(rf"^( *)(- .*): {name}$", lambda match: "\n".join(
            [f"{match[1]}{match[2]}:", *(f"{match[1]}    - {page}" for page in pages)]), text, flags=re.MULTILINE)
    path = output / "mkdocs.yml"
    path.write_text(text, encoding="utf-8")
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nnefc", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "nnefc")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "docs")
    parser.add_argument("--pages-only", action="store_true", help="write the pages without building the site")
    options = parser.parse_args()
    pages = options.output / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    options.output.mkdir(parents=True, exist_ok=True)
    configuration = write_configuration(options.output, write_pages(options.nnefc.resolve(), pages))
    if options.pages_only:
        return 0
    return subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-f", configuration],
                          env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
