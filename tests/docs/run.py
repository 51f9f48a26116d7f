#!/usr/bin/env python3
"""Builds the documentation site, and checks its pages: run.py NNEFC

- the site builds without warnings: each link to a page or heading of the site exists
- each rule, operation, command and topic has its heading
- no page loads anything from a network
- documents are coloured by the lexer of tools/docs
- each page has a language, a title, one main heading, and texts for images
"""

from __future__ import annotations

import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Page(html.parser.HTMLParser):
    """The links, headings and loaded files of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.problems: list[str] = []
        self.language = ""
        self.main_headings = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "html":
            self.language = values.get("lang", "")
        elif tag == "h1":
            self.main_headings += 1
        elif tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag in ("script", "img", "iframe") and "src" in values:
            self.loaded.append(values["src"])
        elif tag == "link" and values.get("rel") in ("stylesheet", "preload", "preconnect", "icon"):
            self.loaded.append(values.get("href", ""))
        if tag == "img" and not values.get("alt"):
            self.problems.append("an image has no text")


def read_pages(site: pathlib.Path) -> dict[str, Page]:
    pages = {}
    for path in sorted(site.rglob("*.html")):
        page = Page()
        page.feed(path.read_text(encoding="utf-8"))
        pages[path.relative_to(site).as_posix()] = page
    return pages


def wrong_links(name: str, page: Page, pages: dict[str, Page], site: pathlib.Path) -> list[str]:
    failures = []
    for link in [*page.links, *page.loaded]:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            if link in page.loaded:
                failures.append(f"{name}: loads {link}")
            continue
        path = urllib.parse.unquote(parts.path)
        target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        if path.startswith("/"):
            target = path.lstrip("/") or "index.html"
        if not (site / target).exists():
            failures.append(f"{name}: there is no {link}")
        elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].ids:
            failures.append(f"{name}: {link} has no such heading")
    return failures


def expected_headings(nnefc: pathlib.Path) -> dict[str, list[str]]:
    """Returns the headings that the product demands, by the beginning of the names of their pages."""
    def text(*words: str) -> str:
        return subprocess.run([str(nnefc), *words], capture_output=True, text=True, check=True).stdout

    rules = [rule["rule"] for rule in json.loads(text("explain", "--list", "--format", "json"))["rules"]]
    operations = [line.split()[0] for line in text("operations").splitlines()]
    commands = re.findall(r"^  ([a-z]+) {2,}", text("--help").partition("Subcommands:")[2], re.MULTILINE)
    return {"reference/rules/": rules, "reference/operations/": operations, "reference/commands.html": commands}


def check(site: pathlib.Path, nnefc: pathlib.Path) -> list[str]:
    pages = read_pages(site)
    failures = []
    for name, page in pages.items():
        failures += wrong_links(name, page, pages, site) + [f"{name}: {problem}" for problem in page.problems]
        if page.language != "en":
            failures.append(f"{name}: the language is `{page.language}`")
        if page.main_headings != 1 and name != "404.html":
            failures.append(f"{name}: {page.main_headings} main headings")
    for prefix, names in expected_headings(nnefc).items():
        ids = {each for name, page in pages.items() if name.startswith(prefix) for each in page.ids}
        failures += [f"{prefix}: there is no heading `{name}`" for name in names if name not in ids]
        if len(names) < 12:
            failures.append(f"{prefix}: only {len(names)} names are expected")
    for topic in (ROOT / "compiler/explain/topics").glob("*.md"):
        if f"concepts/{topic.stem}.html" not in pages:
            failures.append(f"there is no page of the topic {topic.stem}")
    # The lexer of NNEF is in use.
    if '<span class="k">graph</span>' not in (site / "tutorial.html").read_text(encoding="utf-8"):
        failures.append("tutorial.html: documents have no colours")
    if not (site / "search/search_index.json").exists():
        failures.append("there is no index for the search")
    return failures


def main() -> int:
    nnefc = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        built = subprocess.run([sys.executable, ROOT / "tools/docs/build.py", "--nnefc", nnefc, "--output", name],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if built.returncode != 0:
            print(built.stdout)
            return 1
        site = pathlib.Path(name) / "site"
        failures = check(site, nnefc)
        count = len(list(site.rglob("*.html")))
    print(*failures, sep="\n", end="\n" if failures else "")
    print(f"{count} pages, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
