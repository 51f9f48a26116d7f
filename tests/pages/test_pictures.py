"""The pictures of pages in the documentation. They are made again by NNEFC_UPDATE_PICTURES=1.

Each picture has the labels of its drawing as text (an iTXt chunk of PNG), which must be those that the page has now: pixels differ between
browsers and fonts.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, binary, labels_of, nnefc
from playwright.sync_api import Browser, Page

PICTURES = ROOT / "tools" / "docs" / "pages" / "images"
MAX_BYTES = 150_000
SIGNATURE = b"\x89PNG\r\n\x1a\n"
KEYWORD = b"Labels\0\0\0\0\0"  # not compressed, no language, no translated keyword


def chunks(picture: bytes) -> list[tuple[bytes, bytes]]:
    """Returns the types and contents of the chunks of a PNG file."""
    assert picture.startswith(SIGNATURE)
    found, at = [], len(SIGNATURE)
    while at < len(picture):
        (size,) = struct.unpack_from(">I", picture, at)
        found.append((picture[at + 4:at + 8], picture[at + 8:at + 8 + size]))
        at += size + 12
    return found


def with_labels(picture: bytes, labels: list[str]) -> bytes:
    """Returns a PNG file with labels as text before its end."""
    text = b"iTXt" + KEYWORD + json.dumps(labels, ensure_ascii=False).encode()
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    return picture[:-12] + chunk + picture[-12:]


def labels_in(picture: bytes) -> list[str]:
    (text,) = (content for kind, content in chunks(picture) if kind == b"iTXt" and content.startswith(KEYWORD))
    return json.loads(text[len(KEYWORD):])


def draw_page(folder: Path) -> str:
    nnefc("expand", ROOT / "tests" / "networks" / "resnet50.nnef", "-o", folder / "resnet50.nnef")
    return "draw resnet50.nnef --costs -o net.html"


def show_draw(page: Page) -> None:
    page.select_option("#measure", "macs")
    for _ in range(2):
        page.click("#out")
    page.locator("#canvas g[aria-label^='group block × 2']").first.click()
    page.locator("#canvas g[aria-label^='group block 1']").first.click()
    page.locator("#canvas g[aria-label^='Convolution, unit_2_2']").first.click()


def diff_page(folder: Path) -> str:
    nnefc("expand", ROOT / "tests" / "networks" / "resnet50.nnef", "-o", folder / "old.nnef")
    lines = (folder / "old.nnef").read_text()
    changed = lines.replace("unit_4_3_reduced = relu(", "unit_4_3_reduced = elu(")
    assert changed != lines
    (folder / "new.nnef").write_text(changed)
    return "diff old.nnef new.nnef -o net.html"


def show_diff(page: Page) -> None:
    page.click("#next")


PAGES: dict[str, tuple[Callable[[Path], str], Callable[[Page], None]]] = {"draw": (draw_page, show_draw), "diff": (diff_page, show_diff)}


@pytest.mark.parametrize("name", PAGES)
def test_pictures_are_up_to_date(browser: Browser, tmp_path: Path, name: str) -> None:
    write, show = PAGES[name]
    done = subprocess.run([binary(), *write(tmp_path).split()], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1), done.stderr
    page = browser.new_page(viewport={"width": 1100, "height": 680}, color_scheme="light")
    page.goto((tmp_path / "net.html").as_uri())
    show(page)
    labels = labels_of(page.locator("g[role=button]"))
    path = PICTURES / f"{name}.png"
    if os.environ.get("NNEFC_UPDATE_PICTURES"):
        path.write_bytes(with_labels(page.screenshot(), labels))
    page.close()
    picture = path.read_bytes()
    assert labels_in(picture) == labels, "make the picture again: NNEFC_UPDATE_PICTURES=1 python -m pytest tests/pages/test_pictures.py"
    assert len(picture) <= MAX_BYTES
    header = dict(chunks(picture))[b"IHDR"]
    assert struct.unpack(">II", header[:8]) == (1100, 680)


def test_labels_of_pictures_are_compared() -> None:
    picture = (PICTURES / "draw.png").read_bytes()
    labels = labels_in(picture)
    assert labels
    end = picture[-12:]
    without = SIGNATURE + b"".join(struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
                                   for kind, content in chunks(picture) if kind not in (b"iTXt", b"IEND")) + end
    assert labels_in(with_labels(without, ["other"])) == ["other"]
    assert with_labels(without, labels) == picture
