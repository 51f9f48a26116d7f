#!/usr/bin/env python3
"""Opens the documentation site in Chromium: browser.py SITE [--chromium FILE] [--pages NAME...]

SITE is a folder that tools/docs/build.py has written, such as build/docs/site.
It needs Debian's package `chromium`, and the packages of browser_requirements.txt. All pages (or those given) are opened in light and dark
colours, and NARROW_PAGES also at the width of a telephone:

- axe-core finds no violation of any of its rules
- no page scrolls sideways, and no request leaves the machine
- the search finds a rule and an operation
"""

from __future__ import annotations

import argparse
import functools
import http.server
import pathlib
import sys
import threading

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

NARROW_PAGES = ("index.html", "tutorial.html", "tour.html", "guides/ci.html", "concepts/types.html", "decisions.html",
                "reference/operations/4.3.html", "reference/rules/conv.html", "reference/rules/index.html", "reference/commands.html")
WIDE, NARROW = 1280, 400
TIMEOUT_MILLISECONDS = 120_000
SEARCHES = ("conv.rank", "local_response_normalization", "broadcasting")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


def check_page(page: Page, address: str, name: str, label: str) -> list[str]:
    page.goto(f"{address}/{name}")
    page.wait_for_timeout(100)  # the scripts of the theme add buttons
    failures = [f"{label}: {violation['id']}: {violation['help']}\n  {node['html'][:160]}"
                for violation in Axe().run(page).response["violations"] for node in violation["nodes"][:3]]
    if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
        failures.append(f"{label}: scrolls sideways")
    return failures


def check_pages(browser: Browser, address: str, names: list[str], scheme: str, width: int) -> list[str]:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    page.set_default_timeout(TIMEOUT_MILLISECONDS)
    requests: set[str] = set()
    page.on("request", lambda request: requests.add(request.url))
    failures = []
    for name in names:
        failures += check_page(page, address, name, f"{name} ({scheme}, {width} pixels)")
    page.close()
    return failures + [f"a page requests {url}" for url in sorted(requests) if not url.startswith((address, "data:", "blob:"))]


def check_search(browser: Browser, address: str) -> list[str]:
    failures = []
    for words in SEARCHES:
        page = browser.new_page()
        page.goto(f"{address}/index.html")
        page.locator(".md-search__input").fill(words)
        try:
            page.locator(".md-search-result__item", has_text=words).first.wait_for(state="attached", timeout=30_000)
        except Exception:
            failures.append(f"the search does not find `{words}`")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--pages", nargs="+")
    options = parser.parse_args()
    pages = options.pages or sorted(path.relative_to(options.site).as_posix() for path in options.site.rglob("*.html"))
    narrow_pages = [name for name in NARROW_PAGES if name in pages]
    failures: list[str] = []
    handler = functools.partial(QuietHandler, directory=str(options.site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            failures += check_pages(browser, address, pages, scheme, WIDE) + check_pages(browser, address, narrow_pages, scheme, NARROW)
        failures += check_search(browser, address)
        browser.close()
        server.shutdown()
    print(*failures, sep="\n", end="\n" if failures else "")
    print(f"{len(pages)} pages, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
