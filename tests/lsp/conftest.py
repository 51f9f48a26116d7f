"""Fixtures: a session of `nnefc lsp` with the client of pytest-lsp, and helpers for documents."""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, default_converter, register_lsp_features

ROOT = Path(__file__).resolve().parents[2]


def _binary() -> str:
    named = os.environ.get("NNEFC")
    built = sorted(ROOT.glob("build/*/bin/nnefc"), key=lambda path: path.stat().st_mtime)
    return named or (str(built[-1]) if built else "nnefc")


NNEFC = _binary()


class Editor:
    """An editor with documents, on top of the protocol's client."""

    def __init__(self, client: LanguageClient, folder: Path):
        self.client, self.folder = client, folder
        self.versions: dict[str, int] = {}
        self.texts: dict[str, str] = {}

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> str:
        uri = self.uri(name)
        self.versions[uri], self.texts[uri] = 1, text
        document = lsp.TextDocumentItem(uri=uri, language_id="nnef", version=1, text=text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=document))
        return uri

    def change(self, uri: str, *changes: lsp.TextDocumentContentChangeEvent) -> None:
        self.versions[uri] += 1
        document = lsp.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri])
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(text_document=document, content_changes=list(changes)))

    def replace(self, uri: str, text: str) -> None:
        """Replaces the whole text."""
        self.texts[uri] = text
        self.change(uri, lsp.TextDocumentContentChangeWholeDocument(text=text))

    def append(self, uri: str, text: str) -> None:
        """Types at the end."""
        end = self.at(uri, len(self.texts[uri]))
        self.texts[uri] += text
        self.change(uri, lsp.TextDocumentContentChangePartial(range=lsp.Range(start=end, end=end), text=text))

    def at(self, uri: str, offset: int) -> lsp.Position:
        """Returns the position of an offset of an ASCII text."""
        before = self.texts[uri][:offset]
        return lsp.Position(line=before.count("\n"), character=len(before) - (before.rfind("\n") + 1))

    def find(self, uri: str, word: str, nth: int = 0) -> lsp.Position:
        offset = -1
        for _ in range(nth + 1):
            offset = self.texts[uri].index(word, offset + 1)
        return self.at(uri, offset)

    def params(self, kind: type, uri: str, word: str, nth: int = 0, **more):
        """Returns the parameters of a request about the n-th occurrence of a word."""
        return kind(text_document=lsp.TextDocumentIdentifier(uri=uri), position=self.find(uri, word, nth), **more)

    async def diagnostics(self, uri: str) -> list[lsp.Diagnostic]:
        """Waits for the diagnostics of the current version."""
        for _ in range(4000):
            if uri in self.client.diagnostics and self.received.get(uri) == self.versions.get(uri):
                return list(self.client.diagnostics[uri])
            await asyncio.sleep(0.005)
        raise AssertionError(f"no diagnostics of version {self.versions.get(uri)} of {uri}")

    async def rules(self, uri: str) -> list[str]:
        return [f"{each.code} {each.range.start.line}:{each.range.start.character}" for each in await self.diagnostics(uri)]

    @property
    def received(self) -> dict[str, int]:
        return self.client.received_versions

    def apply(self, uri: str, edits: list[lsp.TextEdit]) -> str:
        """Returns the text after edits."""
        lines = self.texts[uri].splitlines(keepends=True)
        starts = [sum(map(len, lines[:i])) for i in range(len(lines) + 1)]

        def offset(position: lsp.Position) -> int:
            return min(starts[min(position.line, len(lines))] + position.character, len(self.texts[uri]))

        text = self.texts[uri]
        for edit in sorted(edits, key=lambda edit: offset(edit.range.start), reverse=True):
            text = text[:offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end):]
        return text


def make_client() -> LanguageClient:
    client = LanguageClient(converter_factory=default_converter)
    client.received_versions = {}

    def publish(target: LanguageClient, params: lsp.PublishDiagnosticsParams) -> None:
        target.diagnostics[params.uri] = params.diagnostics
        target.received_versions[params.uri] = params.version

    def show(target: LanguageClient, params: lsp.ShowDocumentParams) -> lsp.ShowDocumentResult:
        target.shown_documents.append(params)
        return lsp.ShowDocumentResult(success=True)

    def register(target: LanguageClient, params: lsp.RegistrationParams) -> None:
        target.registered = [each.method for each in params.registrations]

    features = {lsp.CLIENT_REGISTER_CAPABILITY: register, lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: publish, lsp.WINDOW_SHOW_DOCUMENT: show}
    register_lsp_features(client, DEFAULT_CLIENT_FEATURES | features)
    return client


# Generated files of the server, and nothing of the user's.
CACHE = Path(tempfile.mkdtemp(prefix="nnefc-lsp-"))
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)
CONFIG = ClientServerConfig(server_command=[NNEFC, "lsp"], client_factory=make_client,
                            server_env=os.environ | {"XDG_CACHE_HOME": str(CACHE)})
OPTIONS = {"diagnosticDelay": 5, "unfinishedWordDelay": 300, "inlayHints": {"defaults": True}}


@pytest_lsp.fixture(config=CONFIG)
async def _session(lsp_client: LanguageClient):
    """A session with the features of Visual Studio Code."""
    capabilities = client_capabilities("visual-studio-code")
    capabilities.general.position_encodings = None
    await lsp_client.initialize_session(lsp.InitializeParams(capabilities=capabilities, initialization_options=OPTIONS))
    yield
    await lsp_client.shutdown_session()


@pytest.fixture(name="editor")
def _editor(_session: LanguageClient, tmp_path: Path) -> Editor:
    return Editor(_session, tmp_path)


@pytest_lsp.fixture(config=CONFIG)
async def client(lsp_client: LanguageClient):
    """A server that is not initialized."""
    yield
