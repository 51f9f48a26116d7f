"""Fixtures: a browser, and drawings of models that are opened in it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, CDPSession, Locator, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]

# Boxes of labels of one drawing whose rectangles share more than a pixel.
OVERLAPS = """(canvas) => {
  const boxes = [...canvas.querySelectorAll("text.label")].map((each) => [each.textContent, each.getBoundingClientRect()]);
  boxes.sort((a, b) => a[1].top - b[1].top);
  const found = [];
  boxes.forEach(([text, a], i) => {
    for (let j = i + 1; j < boxes.length && boxes[j][1].top < a.bottom - 1; ++j) {
      const b = boxes[j][1];
      if (b.left < a.right - 1 && a.left < b.right - 1) found.push(`${text} and ${boxes[j][0]}`);
    }
  });
  return found;
}"""


# Labels alone, in a colour whose sums show where they overlap.
ADDED_LABELS = """html, body { background: #000; margin: 0; height: auto; display: block; }
svg { display: block; background: #000; }
svg * { visibility: hidden; }
svg text.label, svg text.label.quiet { visibility: visible; fill: #404040; stroke: none; mix-blend-mode: plus-lighter; }"""

COUNT_PIXELS = """async (picture) => {
  const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(picture), (each) => each.charCodeAt(0))]));
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
  const found = { labelled: 0, overlapping: 0 };
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] > 0) found.labelled += 1;
    if (data[i] > 0x40 + 2) found.overlapping += 1;
  }
  return found;
}"""


def binary() -> str:
    named = os.environ.get("NNEFC")
    built = sorted(ROOT.glob("build/*/bin/nnefc"), key=lambda path: path.stat().st_mtime)
    return named or (str(built[-1]) if built else "nnefc")


def nnefc(*arguments: str | Path) -> str:
    """Runs the command line and returns its standard output."""
    return subprocess.run([binary(), *map(str, arguments)], check=True, capture_output=True, text=True, timeout=120).stdout


def violations(page: Page) -> list[str]:
    """Returns what axe-core finds."""
    return [f"{each['id']}: {node['html'][:200]}" for each in Axe().run(page).response["violations"] for node in each["nodes"][:3]]


def labels_of(items: Locator) -> list[str]:
    """Returns the accessible names of items of a drawing."""
    return items.evaluate_all("(items) => items.map((item) => item.getAttribute('aria-label'))")


def overlaps(canvas: Locator) -> list[str]:
    """Returns the pairs of labels in a drawing that overlap."""
    return canvas.evaluate(OVERLAPS)


def overlapping_pixels(browser: Browser, page: Page, canvas: str = "#canvas", script: str = "") -> int:
    """Returns the number of pixels that several labels of a drawing cover, in a picture of its labels alone.

    The colours of labels are added to each other. `script` changes the copy of the drawing in the picture.
    """
    style, drawing = page.evaluate("(canvas) => [document.querySelector('style').textContent, document.querySelector(`${canvas} > svg`).outerHTML]", canvas)
    picture = browser.new_page(viewport={"width": 800, "height": 600})
    picture.set_content(f"<style>{style}</style><style>{ADDED_LABELS}</style>{drawing}")
    if script:
        picture.evaluate(script)
    found = picture.evaluate(COUNT_PIXELS, base64.b64encode(picture.screenshot(full_page=True)).decode())
    picture.close()
    assert found["labelled"] > 0
    return found["overlapping"]


class Clock:
    """The processor time of a page's main thread, by Chromium's protocol for developer tools."""

    def __init__(self, session: CDPSession):
        self.session = session
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds(self) -> float:
        """Returns the time of all tasks since the page was opened, when what is drawn is on the screen."""
        metrics = {each["name"]: each["value"] for each in self.session.send("Performance.getMetrics")["metrics"]}
        return metrics["TaskDuration"]


def painted(page: Page) -> None:
    """Waits until what is drawn is on the screen."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


class Drawing:
    """An open page, with all that went wrong in it."""

    def __init__(self, page: Page):
        self.page = page
        self.problems: list[str] = []
        page.on("console", lambda message: self.problems.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: self.problems.append(f"dialog {dialog.message}"))
        self.requests: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: Path) -> Drawing:
        self.page.goto(path.as_uri())
        self.items.first.wait_for()
        return self

    @property
    def items(self) -> Locator:
        """The boxes that can have the focus: operations and groups."""
        return self.page.locator("#canvas g[role=button]")

    @property
    def details(self) -> Locator:
        return self.page.locator("#details")

    def item(self, words: str) -> Locator:
        """The box whose label contains these words."""
        return self.page.locator(f"#canvas g[role=button][aria-label*='{words}']").first

    def labels(self) -> list[str]:
        return labels_of(self.items)

    def focused(self) -> str:
        return self.page.evaluate("document.activeElement.getAttribute('aria-label')")

    def search(self, words: str) -> list[str]:
        """Types into the search, and returns the texts of what it finds."""
        self.page.fill("#search", words)
        return self.page.locator("#found button").all_text_contents()

    def overlaps(self) -> list[str]:
        return overlaps(self.page.locator("#canvas"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        program = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield program
        program.close()


@pytest.fixture
def draw(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Drawing]]:
    """Draws a model and opens the page. Afterwards, nothing may have gone wrong in it."""
    opened: list[Drawing] = []

    def open_drawing(model: Path, *options: str, scheme: str = "light", width: int = 1280) -> Drawing:
        path = tmp_path / f"{model.stem}{len(opened)}.html"
        nnefc("draw", model, *options, "-o", path)
        page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
        drawing = Drawing(page)
        opened.append(drawing)
        return drawing.open(path)

    yield open_drawing
    for drawing in opened:
        drawing.page.close()
        assert drawing.problems == []
        assert len(drawing.requests) == 1, "a page needs no other files"


@pytest.fixture
def described() -> Callable[..., dict]:
    """Returns the description of a model's graph as JSON."""
    return lambda model, *options: json.loads(nnefc("draw", model, *options, "--format", "json"))
