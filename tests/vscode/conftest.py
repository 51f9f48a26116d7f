"""Fixtures: VS Code with the extension, open in Chromium."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, TimeoutError, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
ROOM = ROOT / "build" / "vscode"
SERVER = ROOM / "server" / "node_modules" / "code-server" / "lib" / "vscode" / "out" / "server-main.js"
PACKAGE = ROOM / "extension" / "build" / "nnef.vsix"
NNEFC = Path(os.environ.get("NNEFC", ROOT / "build" / "release" / "bin" / "nnefc"))
START_MS = 180_000
ANSWER_MS = 60_000
# An editor that is not visible after so long is hidden by another one.
EDITOR_MS = 15_000
# A list that is closed for so long stays closed: between two lists, VS Code may need a moment.
CLOSED_LIST_MS = 8_000
SETTINGS = """{
  "workbench.startupEditor": "none", "files.autoSave": "off",
  "terminal.integrated.gpuAcceleration": "off", "editor.minimap.enabled": false%s
}
"""


class Workbench:
    """A window of VS Code with a folder."""

    def __init__(self, page: Page, folder: Path):
        self.page, self.folder = page, folder

    def open(self, name: str) -> None:
        """Opens a document. The page of welcome may open in front of it before VS Code has read the settings of the folder."""
        deadline = time.monotonic() + ANSWER_MS / 1000
        while True:
            self.page.locator(".explorer-folders-view").get_by_text(name, exact=True).dblclick()
            try:
                self.page.locator(".editor-instance .view-lines").first.wait_for(timeout=EDITOR_MS)
                expect(self.page.locator(".tab.active")).to_contain_text(name, timeout=EDITOR_MS)
                return
            except (AssertionError, TimeoutError):
                if time.monotonic() > deadline:
                    raise

    def command(self, title: str) -> None:
        """Runs a command by its title in the palette."""
        self.page.keyboard.press("F1")
        entry = self.page.locator(".quick-input-widget input.input")
        row = self.page.locator(".quick-input-list .monaco-list-row").filter(has_text=title).first
        deadline = time.monotonic() + ANSWER_MS / 1000
        while not row.is_visible() and time.monotonic() < deadline:
            # The palette replaces what is typed before its list is complete.
            entry.fill(f">{title}")
            self.page.wait_for_timeout(500)
        row.click()

    def choose(self, title: str, *choices: str) -> None:
        """Runs a command, and selects a row of each list that it shows. A list that loses the focus closes: it is opened again."""
        deadline = time.monotonic() + START_MS / 1000
        while True:
            self.command(title)
            if all(self._select(choice) for choice in choices):
                return
            assert time.monotonic() < deadline, f"`{title}` shows no list with {choices}"

    def _select(self, choice: str) -> bool:
        """Clicks a row of the list; returns false if the list is closed, or lacks the row."""
        row = self.page.locator(".quick-input-list .monaco-list-row").filter(has_text=choice).first
        widget = self.page.locator(".quick-input-widget")
        deadline = time.monotonic() + ANSWER_MS / 1000
        opened = time.monotonic()  # when the list was open last
        while time.monotonic() < min(deadline, opened + CLOSED_LIST_MS / 1000):
            if row.is_visible():
                # By an event: a click of the mouse waits for a list that does not move, and may be repeated.
                row.dispatch_event("click")
                return True
            if widget.is_visible():
                opened = time.monotonic()
            self.page.wait_for_timeout(100)
        self.page.keyboard.press("Escape")
        return False

    def go_to(self, line: int, column: int) -> None:
        """Moves the cursor; the first line and column are 1."""
        self.command("Go to Line/Column...")
        entry = self.page.get_by_placeholder("Type the line number")
        entry.wait_for(timeout=ANSWER_MS)
        entry.fill(f":{line}:{column}")
        expect(self.page.locator(".quick-input-list")).to_contain_text(f"line {line} and character {column}", timeout=ANSWER_MS)
        entry.press("Enter")

    def save(self, name: str) -> str:
        """Saves the document in the editor, and returns the text of the file."""
        before = (self.folder / name).stat().st_mtime_ns
        self.page.keyboard.press("Control+s")
        deadline = time.monotonic() + ANSWER_MS / 1000
        while (self.folder / name).stat().st_mtime_ns == before and time.monotonic() < deadline:
            self.page.wait_for_timeout(100)
        return (self.folder / name).read_text(encoding="utf-8")

    def errors(self) -> Locator:
        return self.page.locator(".squiggly-error")


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = tmp_path_factory.mktemp("server")
    environment = os.environ | {"PATH": f"{NNEFC.parent}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(data / "cache")}
    command = ["node", str(SERVER), "--server-data-dir", str(data), "--accept-server-license-terms"]
    done = subprocess.run([*command, "--install-extension", str(PACKAGE)], env=environment, capture_output=True, text=True, timeout=120,
                          check=False)
    assert "successfully installed" in done.stdout, done.stdout + done.stderr
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    with subprocess.Popen([*command, "--host", "127.0.0.1", "--port", str(port), "--without-connection-token", "--disable-workspace-trust",
                           "--force-disable-user-env"], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        for line in server.stdout:
            if re.search("agent listening", line):
                break
        yield f"http://127.0.0.1:{port}"
        server.terminate()


@pytest.fixture(scope="session")
def browser() -> Iterator[BrowserContext]:
    """One browser whose windows share their cache: the pages of VS Code are large."""
    with sync_playwright() as playwright:
        program = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield program.new_context(viewport={"width": 1400, "height": 900})
        program.close()


@pytest.fixture
def settings() -> str:
    """More settings of the folder, as JSON that begins with a comma."""
    return ""


@pytest.fixture
def texts() -> dict[str, str]:
    """The documents of the folder."""
    return {"net.nnef": "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external<scalar>(shape = [1, 4]);\n    y =   rleu(x);\n}\n"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Makes a picture of the window of a test that fails."""
    report = yield
    workbench = getattr(item, "funcargs", {}).get("workbench")
    if workbench is not None and call.when == "call" and report.failed:
        workbench.page.screenshot(path=ROOM / f"{item.name}.png")
    return report


@pytest.fixture
def workbench(browser: BrowserContext, address: str, tmp_path: Path, settings: str, texts: dict[str, str]) -> Iterator[Workbench]:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "settings.json").write_text(SETTINGS % settings, encoding="utf-8")
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    page = browser.new_page()
    page.goto(f"{address}/?folder={tmp_path}")
    page.locator(".explorer-folders-view").get_by_text("net.nnef", exact=True).wait_for(timeout=START_MS)
    yield Workbench(page, tmp_path)
    page.close()
