"""Typing: incremental changes, findings about unfinished words, and times."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest
from lsprotocol import types as lsp

pytestmark = pytest.mark.asyncio

NETWORK = """version 1.0;
extension KHR_enable_fragment_definitions;

fragment block( input: tensor<scalar>, filter: tensor<scalar> ) -> ( output: tensor<scalar> )
{
    sum = conv(input, filter, padding = [(1, 1), (1, 1)]);
    output = relu(sum);
}

graph net( image ) -> ( probabilities )
{
    image = external(shape = [1, 3, 8, 8]);
    filter1 = variable(shape = [4, 3, 3, 3], label = 'filter1');
    block1 = block(image, filter1);
    pool1 = max_pool(block1, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], border = 'ignore');
    flat = reshape(pool1, shape = [1, -1]);
    probabilities = softmax(flat);
}
"""


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def long_network(operations: int) -> str:
    lines = [f"    t{i + 1} = relu(t{i});\n" for i in range(operations)]
    return ("version 1.0;\n\ngraph net( t0 ) -> ( t%d )\n{\n    t0 = external(shape = [1, 8]);\n" % operations) + "".join(lines) + "}\n"


async def test_a_network_typed_character_by_character(editor) -> None:
    uri = editor.open("net.nnef", "")
    for i, character in enumerate(NETWORK):
        editor.append(uri, character)
        # Waits for the diagnostics in the middle and at the end of each word.
        if i % 3 and (character.isalnum() or character == "_") and NETWORK[i + 1:i + 2].isalnum():
            continue
        typed = editor.texts[uri]
        word = re.search(r"\w*$", typed)[0]
        begin, end = editor.at(uri, len(typed) - len(word)), editor.at(uri, len(typed))
        for finding in await editor.diagnostics(uri):
            # No finding touches the word, nor what follows from it alone: everything before the statement is correct.
            assert (finding.range.end.line, finding.range.end.character) < (begin.line, begin.character), (typed[-40:], finding)
            assert finding.range.start.line < end.line, (typed[-40:], finding)
    assert await editor.diagnostics(uri) == []


async def test_mistakes_before_the_cursor_are_shown(editor) -> None:
    uri = editor.open("net.nnef", "")
    statement = NETWORK.index("    block1 =")
    editor.append(uri, NETWORK[:statement] + "    wrong = rleu(image);\n")
    assert [rule for rule in await editor.rules(uri) if rule.endswith(" 13:12")] == ["binding.undeclared-operation 13:12"]
    for character in NETWORK[statement:statement + 30]:
        editor.append(uri, character)
        rules = await editor.rules(uri)
        assert "binding.undeclared-operation 13:12" in rules
        assert not [rule for rule in rules if " 14:" in rule]


async def test_a_finding_at_the_cursor_follows_after_a_pause(editor) -> None:
    uri = editor.open("net.nnef", NETWORK)
    assert await editor.diagnostics(uri) == []
    # In the middle of a document.
    start = editor.find(uri, "relu(sum")
    changed = NETWORK.replace("relu(sum", "rel(sum")
    editor.texts[uri] = changed
    at = lsp.Position(line=start.line, character=start.character + 3)
    editor.change(uri, lsp.TextDocumentContentChangePartial(
        range=lsp.Range(start=at, end=lsp.Position(line=at.line, character=at.character + 1)), text=""))
    assert await editor.diagnostics(uri) == []
    await editor.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert (await editor.rules(uri))[0].startswith("binding.undeclared-operation 6:13")
    # Saving shows it at once.
    editor.replace(uri, changed.replace("rel(sum", "re(sum"))
    assert await editor.diagnostics(uri) == []
    editor.client.text_document_did_save(lsp.DidSaveTextDocumentParams(text_document=lsp.TextDocumentIdentifier(uri=uri)))
    await editor.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert (await editor.rules(uri))[0].startswith("binding.undeclared-operation 6:13")


async def test_changes_are_applied_in_order(editor) -> None:
    uri = editor.open("net.nnef", "version 1.0;\ngraph g( x ) -> ( y ) {\n  x = external(shape = [2]); # \U0001f600 \u00e9\n  y = relu(x);\n}\n")
    change = lsp.TextDocumentContentChangePartial

    def at(line: int, first: int, last: int) -> lsp.Range:
        return lsp.Range(start=lsp.Position(line=line, character=first), end=lsp.Position(line=line, character=last))

    # After a character of two code units and one of one.
    editor.change(uri, change(range=at(2, 31, 35), text="plain"), change(range=at(3, 6, 10), text="rleu"))
    editor.client.text_document_did_save(lsp.DidSaveTextDocumentParams(text_document=lsp.TextDocumentIdentifier(uri=uri)))
    assert await editor.rules(uri) == ["binding.undeclared-operation 3:6"]


async def test_a_keystroke_in_a_thousand_operations(editor) -> None:
    uri = editor.open("net.nnef", long_network(1000))
    assert await editor.diagnostics(uri) == []
    pid = editor.client._server.pid
    line = editor.find(uri, "t500 =").line
    document = lsp.TextDocumentIdentifier(uri=uri)
    before = processor_seconds(pid)
    keystrokes = 60
    for i in range(keystrokes):
        at = lsp.Position(line=line, character=4)
        editor.change(uri, lsp.TextDocumentContentChangePartial(range=lsp.Range(start=at, end=at), text=" "))
        await editor.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(text_document=document))
        completions = await editor.client.text_document_completion_async(lsp.CompletionParams(text_document=document, position=lsp.Position(line=line, character=i + 12)))
    assert not completions.is_incomplete and len(completions.items) > 500
    seconds = (processor_seconds(pid) - before) / keystrokes
    assert seconds < 0.05, seconds


async def test_long_lists_of_completions_are_cut(editor) -> None:
    uri = editor.open("net.nnef", long_network(2500))
    result = await editor.client.text_document_completion_async(editor.params(lsp.CompletionParams, uri, "t2499 ="))
    assert result.is_incomplete and len(result.items) == 2000
    result = await editor.client.text_document_completion_async(
        lsp.CompletionParams(text_document=lsp.TextDocumentIdentifier(uri=uri), position=lsp.Position(line=2500, character=19)))
    assert not result.is_incomplete


async def test_several_folders(editor) -> None:
    """Each document has the configuration of its own folder."""
    text = "version 1.0;\ngraph g( x, spare ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    spare = external(shape = [1, 4]);\n    y = relu(x);\n}\n"
    for name, config in (("a", '{"lint": {"disable": ["unused-input"]}}'), ("b", '{"lint": {"levels": {"unused-input": "error"}}}')):
        (editor.folder / name).mkdir()
        (editor.folder / name / ".nnefc.json").write_text(config, encoding="utf-8")
    first, second = editor.open("a/net.nnef", text), editor.open("b/net.nnef", text)
    assert await editor.diagnostics(first) == []
    [finding] = await editor.diagnostics(second)
    assert (finding.code, finding.severity) == ("lint.unused-input", lsp.DiagnosticSeverity.Error)
    # A change on disk.
    (editor.folder / "b" / ".nnefc.json").unlink()
    event = lsp.FileEvent(uri=editor.uri("b/.nnefc.json"), type=lsp.FileChangeType.Deleted)
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(changes=[event]))
    await editor.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    await asyncio.sleep(0.2)
    [finding] = await editor.diagnostics(second)
    assert finding.severity == lsp.DiagnosticSeverity.Warning
    # A closed document has no diagnostics.
    editor.client.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=lsp.TextDocumentIdentifier(uri=second)))
    await editor.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert not editor.client.diagnostics[second]
