"""Each request of an editor, answered by the server for one document."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest
from conftest import NNEFC, Editor
from lsprotocol import types as lsp

pytestmark = pytest.mark.asyncio

NET = """version 1.0;
extension KHR_enable_fragment_definitions;
extension KHR_enable_operator_expressions;

# A layer:
# filter, then activation.
fragment layer( input: tensor<scalar>, filter: tensor<scalar>, step: integer = 1 )
-> ( output: tensor<scalar> )
{
    sizes = [for i in [1, 1] yield i * step];
    sum = conv(input, filter, stride = sizes);
    output = relu(sum);
}

graph net( image ) -> ( best, rest )
{
    image = external(shape = [1, 3, 32, 32]);
    filter = variable(shape = [8, 3, 3, 3], label = 'filter');
    filter2 = variable(shape = [8, 8, 3, 3], label = 'filter2');
    first = layer(image, filter, step = 2);
    second = layer(first, filter2);
    (best, rest) = max_pool_with_index(second, size = [1, 1, 2, 2], border = 'ignore');
}
"""


def shown(ranges) -> list[str]:
    return [f"{each.start.line}:{each.start.character}" for each in ranges]


async def test_capabilities_and_encodings(client) -> None:
    capabilities = lsp.ClientCapabilities(general=lsp.GeneralClientCapabilities(
        position_encodings=[lsp.PositionEncodingKind.Utf16, lsp.PositionEncodingKind.Utf8]))
    result = await client.initialize_session(lsp.InitializeParams(capabilities=capabilities))
    assert result.capabilities.position_encoding == "utf-8"
    assert result.server_info.name == "nnefc"
    # A column counts bytes: `é` has two, the symbol four.
    text = "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1]);\n    v = variable(shape = [1], label = '\u00e9\U0001f600'); y = rleu(v);\n}\n"
    document = lsp.TextDocumentItem(uri="file:///t.nnef", language_id="nnef", version=1, text=text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=document))
    await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    line = text.splitlines()[4]
    column = len(line[:line.index("rleu")].encode())
    assert column in [each.range.start.character for each in client.diagnostics["file:///t.nnef"]]
    await client.shutdown_session()


async def test_diagnostics_fixes_and_links(editor) -> None:
    uri = editor.open("net.nnef", NET.replace("stride = sizes", "strides = sizes").replace("shape = [8, 8", "shape = [8, 7"))
    found = {each.code: each for each in await editor.diagnostics(uri)}
    unknown = found["binding.unknown-argument"]
    assert unknown.severity == lsp.DiagnosticSeverity.Error and unknown.source == "nnefc"
    assert unknown.code_description.href.startswith("https://registry.khronos.org/NNEF/specs/1.0/nnef-1.0.5.html#")
    # A note about an operation refers to a file that every editor can open.
    notes = [note.location.uri for each in found.values() for note in each.related_information or []]
    for note in notes:
        assert note == uri or Path(note.removeprefix("file://")).is_file()
    actions = await editor.client.text_document_code_action_async(lsp.CodeActionParams(
        text_document=lsp.TextDocumentIdentifier(uri=uri), range=unknown.range, context=lsp.CodeActionContext(diagnostics=[])))
    fix = next(each for each in actions if each.kind == "quickfix")
    [edit] = fix.edit.document_changes
    assert edit.text_document.version == 1
    assert "stride = sizes" in editor.apply(uri, edit.edits)


async def test_all_safe_fixes(editor) -> None:
    text = "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1, 4])\n    y = relu(x = x);\n}\n"
    uri = editor.open("net.nnef", text)
    assert "syntax.missing-semicolon 3:32" in await editor.rules(uri)
    whole = lsp.Range(start=lsp.Position(line=0, character=0), end=lsp.Position(line=9, character=0))
    [action] = await editor.client.text_document_code_action_async(lsp.CodeActionParams(
        text_document=lsp.TextDocumentIdentifier(uri=uri), range=whole,
        context=lsp.CodeActionContext(diagnostics=[], only=["source.fixAll"])))
    if action.edit is None:
        action = await editor.client.code_action_resolve_async(action)
    fixed = editor.apply(uri, action.edit.document_changes[0].edits)
    assert "[1, 4]);" in fixed
    editor.replace(uri, fixed)
    assert not [rule for rule in await editor.rules(uri) if rule.startswith("syntax.")]


async def test_hover(editor) -> None:
    uri = editor.open("net.nnef", NET)

    async def hover(word: str, nth: int = 0) -> str:
        return (await editor.client.text_document_hover_async(editor.params(lsp.HoverParams, uri, word, nth))).contents.value

    text = await hover("conv(input")
    assert "conv( input: tensor<scalar>" in text and "shape `[1,8,16,16]`" in text
    assert "- `border = 'constant'`" in text and "[section 4.3.1](https://" in text
    assert "output[" in text  # the formula
    assert "tensor<scalar>" in await hover("first =") and "`[1,8,16,16]`" in await hover("first =")
    assert "value `2 and 1 other`" in await hover("step]")
    assert await editor.client.text_document_hover_async(editor.params(lsp.HoverParams, uri, "version")) is None


async def test_definition_and_references(editor) -> None:
    uri = editor.open("net.nnef", NET)
    place = await editor.client.text_document_definition_async(editor.params(lsp.DefinitionParams, uri, "layer(image"))
    assert (place.uri, place.range.start) == (uri, editor.find(uri, "layer( input"))
    place = await editor.client.text_document_definition_async(editor.params(lsp.DefinitionParams, uri, "conv(input"))
    lines = Path(place.uri.removeprefix("file://")).read_text(encoding="utf-8").splitlines()
    assert lines[place.range.start.line][place.range.start.character:].startswith("conv(")
    # The editor opens that file; it is not checked as a model.
    library = lsp.TextDocumentItem(uri=place.uri, language_id="nnef", version=1, text="\n".join(lines))
    editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=library))
    places = await editor.client.text_document_references_async(
        editor.params(lsp.ReferenceParams, uri, "step: integer", context=lsp.ReferenceContext(include_declaration=True)))
    assert shown(each.range for each in places) == ["6:63", "9:39", "19:33"]
    assert place.uri not in editor.client.diagnostics
    highlights = await editor.client.text_document_document_highlight_async(editor.params(lsp.DocumentHighlightParams, uri, "sizes ="))
    assert shown(each.range for each in highlights) == ["9:4", "10:39"]


async def test_renaming(editor) -> None:
    (editor.folder / "filter.dat").write_bytes(b"data")
    quant = editor.open("net.quant", "\"first\": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n")
    uri = editor.open("net.nnef", NET)

    async def rename(word: str, name: str, nth: int = 0) -> list:
        params = editor.params(lsp.RenameParams, uri, word, nth, new_name=name)
        return (await editor.client.text_document_rename_async(params)).document_changes

    prepared = await editor.client.text_document_prepare_rename_async(editor.params(lsp.PrepareRenameParams, uri, "step: integer"))
    assert prepared.placeholder == "step"
    [edit] = await rename("step: integer", "stride_")
    assert editor.apply(uri, edit.edits).count("stride_") == 3
    edits = {each.text_document.uri: each.edits for each in await rename("first =", "begin")}
    assert editor.apply(quant, edits[quant]).startswith('"begin"')
    assert "layer(begin, filter2)" in editor.apply(uri, edits[uri])
    # The label of a variable is renamed with its file.
    edit, file = await rename("filter'", "weights")
    assert "label = 'weights')" in editor.apply(uri, edit.edits)
    assert (file.old_uri, file.new_uri) == (editor.uri("filter.dat"), editor.uri("weights.dat"))
    (editor.folder / "taken.dat").write_bytes(b"data")
    for word, name in (("first =", "second"), ("first =", "a-b"), ("layer(image", "conv"), ("conv(input", "convolution"),
                       ("filter'", "filter2"), ("filter'", "../up"), ("filter'", "taken")):
        with pytest.raises(Exception, match="already|valid|expected|inside"):
            await rename(word, name)


async def test_completion_and_signatures(editor) -> None:
    uri = editor.open("net.nnef", NET)
    result = await editor.client.text_document_completion_async(editor.params(lsp.CompletionParams, uri, "stride = sizes"))
    assert [item.label for item in result.items[:3]] == ["border", "padding", "stride"]
    assert [item.insert_text for item in result.items[:1]] == ["border = "]
    conv = next(item for item in result.items if item.label == "conv")
    assert conv.kind == lsp.CompletionItemKind.Function and conv.detail.startswith("conv( input: tensor<scalar>")

    async def active(word: str, nth: int = 0) -> str | None:
        params = editor.params(lsp.SignatureHelpParams, uri, word, nth)
        help_ = await editor.client.text_document_signature_help_async(params)
        if help_ is None:
            return None
        parameters = help_.signatures[0].parameters
        return parameters[help_.active_parameter].label if help_.active_parameter < len(parameters) else ""

    assert await active("input, filter, stride") == "input: tensor<scalar>"
    assert await active("filter, stride") == "filter: tensor<scalar>"
    assert (await active("sizes)")).startswith("stride: integer[]")
    assert (await active("3, 32, 32")).startswith("shape: integer[]")
    assert (await active("gnore'")).startswith("border: string")
    assert await active("sum = conv") is None


async def test_tokens(editor) -> None:
    uri = editor.open("net.nnef", NET)
    legend = ["comment", "string", "number", "keyword", "type", "function", "parameter", "variable", "class"]

    def decoded(data: list[int]) -> list[tuple[str, str, int]]:
        lines, line, column, tokens = NET.splitlines(), 0, 0, []
        for down, right, length, kind, modifiers in zip(*[iter(data)] * 5):
            line, column = line + down, right if down else column + right
            tokens.append((lines[line][column:column + length], legend[kind], modifiers))
        return tokens

    full = await editor.client.text_document_semantic_tokens_full_async(
        lsp.SemanticTokensParams(text_document=lsp.TextDocumentIdentifier(uri=uri)))
    tokens = decoded(full.data)
    for token in (("version", "keyword", 0), ("1.0", "number", 0), ("# A layer:", "comment", 0), ("layer", "function", 1),
                  ("layer", "function", 0), ("conv", "function", 2), ("stride", "parameter", 2), ("step", "parameter", 1),
                  ("'filter2'", "string", 0), ("net", "class", 1), ("first", "variable", 1), ("tensor", "type", 0)):
        assert token in tokens
    part = await editor.client.text_document_semantic_tokens_range_async(lsp.SemanticTokensRangeParams(
        text_document=lsp.TextDocumentIdentifier(uri=uri),
        range=lsp.Range(start=lsp.Position(line=9, character=0), end=lsp.Position(line=10, character=0))))
    assert [token[0] for token in decoded(part.data)] == ["sizes", "for", "i", "in", "1", "1", "yield", "i", "step"]


async def test_changes_of_tokens(editor) -> None:
    uri = editor.open("net.nnef", NET)
    document = lsp.TextDocumentIdentifier(uri=uri)

    async def changed(previous: str):
        return await editor.client.text_document_semantic_tokens_full_delta_async(
            lsp.SemanticTokensDeltaParams(text_document=document, previous_result_id=previous))

    first = await editor.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(text_document=document))
    last, data, before = first, list(first.data), NET
    # The same text, an inserted line, two deleted lines, a changed word, the empty text, the first text.
    texts = [NET, NET.replace("    second =", "    more = layer(first, filter2);\n    second ="), NET.replace("# A layer:\n# filter, then activation.\n", ""),
             NET.replace("'filter2'", "'filters'").replace("first", "begin"), "", NET]
    for text in texts:
        editor.replace(uri, text)
        edits = await changed(last.result_id)
        assert edits.result_id != last.result_id and len(edits.edits) == (text != before)
        for edit in edits.edits:
            data[edit.start:edit.start + edit.delete_count] = edit.data
        last = edits
        before = text
        full = await editor.client.text_document_semantic_tokens_range_async(lsp.SemanticTokensRangeParams(
            text_document=document, range=lsp.Range(start=lsp.Position(line=0, character=0), end=lsp.Position(line=99, character=0))))
        assert list(full.data) == data
    # An old or unknown identifier returns all tokens.
    for identifier in (first.result_id, "", "none"):
        assert list((await changed(identifier)).data) == data
    # The identifiers of a closed text are unknown.
    last = await changed("none")
    editor.client.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=document))
    editor.open("net.nnef", NET)
    assert list((await changed(last.result_id)).data) == data


async def test_structure(editor) -> None:
    uri = editor.open("net.nnef", NET)
    document = lsp.TextDocumentIdentifier(uri=uri)
    symbols = await editor.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(text_document=document))
    assert [(each.name, len(each.children)) for each in symbols] == [("layer", 6), ("net", 7)]
    folds = await editor.client.text_document_folding_range_async(lsp.FoldingRangeParams(text_document=document))
    assert [(each.start_line, each.end_line, each.kind) for each in folds] == [
        (4, 5, "comment"), (6, 11, "region"), (14, 21, "region")]
    [selection] = await editor.client.text_document_selection_range_async(
        lsp.SelectionRangeParams(text_document=document, positions=[editor.find(uri, "32, 32")]))
    texts = []
    while selection is not None:
        first, last = selection.range.start, selection.range.end
        texts.append(NET.splitlines()[first.line][first.character:last.character] if first.line == last.line else "...")
        selection = selection.parent
    assert texts[:4] == ["32", "[1, 3, 32, 32]", "external(shape = [1, 3, 32, 32])", "image = external(shape = [1, 3, 32, 32]);"]
    whole = lsp.Range(start=lsp.Position(line=0, character=0), end=lsp.Position(line=99, character=0))
    hints = await editor.client.text_document_inlay_hint_async(lsp.InlayHintParams(text_document=document, range=whole))
    labels = [each.label for each in hints]
    for label in (": [1,8,16,16]", "<scalar>", ", bias = 0.0, border = 'constant', padding = [], dilation = [], groups = 1", ", step = 1"):
        assert label in labels


async def test_calls(editor) -> None:
    uri = editor.open("net.nnef", NET)
    [item] = await editor.client.text_document_prepare_call_hierarchy_async(
        editor.params(lsp.CallHierarchyPrepareParams, uri, "layer(first"))
    assert item.name == "layer"
    [incoming] = await editor.client.call_hierarchy_incoming_calls_async(lsp.CallHierarchyIncomingCallsParams(item=item))
    assert incoming.from_.name == "net" and shown(incoming.from_ranges) == ["19:12", "20:13"]
    [outgoing] = await editor.client.call_hierarchy_outgoing_calls_async(lsp.CallHierarchyOutgoingCallsParams(item=incoming.from_))
    assert outgoing.to.name == "layer" and len(outgoing.from_ranges) == 2


async def test_formatting(editor) -> None:
    uri = editor.open("net.nnef", NET.replace("    first = layer(image, filter, step = 2);", "  first=layer( image,filter,step=2 ) ;")
                      .replace("    second =", " second ="))
    document, options = lsp.TextDocumentIdentifier(uri=uri), lsp.FormattingOptions(tab_size=4, insert_spaces=True)
    edits = await editor.client.text_document_formatting_async(lsp.DocumentFormattingParams(text_document=document, options=options))
    command = [NNEFC, "fmt", "-"]
    assert editor.apply(uri, edits) == subprocess.run(command, input=editor.texts[uri], capture_output=True, text=True, check=True).stdout
    line = editor.find(uri, "first=").line
    edits = await editor.client.text_document_range_formatting_async(lsp.DocumentRangeFormattingParams(
        text_document=document, options=options,
        range=lsp.Range(start=lsp.Position(line=line, character=0), end=lsp.Position(line=line, character=3))))
    assert {edit.range.start.line for edit in edits} == {line}
    editor.replace(uri, "version 1.0;\ngraph g( x ) -> ( y )\n{\n")
    edits = await editor.client.text_document_on_type_formatting_async(lsp.DocumentOnTypeFormattingParams(
        text_document=document, position=lsp.Position(line=3, character=0), ch="\n", options=options))
    assert [edit.new_text for edit in edits] == ["    "]
    # A text with syntax errors is not formatted.
    assert await editor.client.text_document_formatting_async(
        lsp.DocumentFormattingParams(text_document=document, options=options)) is None


async def test_formatting_while_typing(editor) -> None:
    document, options = "", lsp.FormattingOptions(tab_size=4, insert_spaces=True)

    async def typed(before: str, after: str) -> str:
        """Returns the text after the last character of `before` is typed."""
        nonlocal document
        document = document or editor.open("net.nnef", "")
        editor.replace(document, before + after)
        edits = await editor.client.text_document_on_type_formatting_async(lsp.DocumentOnTypeFormattingParams(
            text_document=lsp.TextDocumentIdentifier(uri=document), position=editor.at(document, len(before)), ch=before[-1], options=options))
        return editor.apply(document, edits or [])

    head = "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x  =  external(shape = [1, 4]);\n"
    # The statement that a semicolon ends; not those before it.
    assert await typed(head + "y=relu( x ) ;", "\n}\n") == head + "    y = relu(x);\n}\n"
    # A line within brackets and one after them.
    assert await typed(head + "    y = conv(x,\n", "x);\n}\n") == head + "    y = conv(x,\n        x);\n}\n"
    assert await typed(head + "    y = relu(x);\n", "}\n") == head + "    y = relu(x);\n}\n"
    assert await typed(head + "    y = relu(x);\n    }", "\n") == head + "    y = relu(x);\n}\n"


async def test_renaming_in_an_editor_that_renames_no_files(client, tmp_path: Path) -> None:
    await client.initialize_session(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    (tmp_path / "filter.dat").write_bytes(b"data")
    editor = Editor(client, tmp_path)
    uri = editor.open("net.nnef", NET)
    with pytest.raises(Exception, match="this editor cannot rename `filter.dat` with its label"):
        await client.text_document_rename_async(editor.params(lsp.RenameParams, uri, "filter'", new_name="weights"))
    # A label without a file, and a tensor.
    for word, name, count in (("filter2'", "weights", 1), ("first =", "begin", 2)):
        edit = await client.text_document_rename_async(editor.params(lsp.RenameParams, uri, word, new_name=name))
        assert edit.document_changes is None and len(edit.changes[uri]) == count
    await client.shutdown_session()


async def test_expansion_is_opened(editor) -> None:
    uri = editor.open("net.nnef", NET)

    async def expand() -> dict:
        return await editor.client.workspace_execute_command_async(lsp.ExecuteCommandParams(command="nnefc.showExpansion", arguments=[uri]))

    await expand()
    for _ in range(4000):
        if editor.client.shown_documents:
            break
        await asyncio.sleep(0.005)
    [shown_document] = editor.client.shown_documents
    text = Path(shown_document.uri.removeprefix("file://")).read_text(encoding="utf-8")
    (editor.folder / "net.nnef").write_text(NET, encoding="utf-8")
    assert text == subprocess.run([NNEFC, "expand", editor.folder / "net.nnef"], capture_output=True, text=True, check=True).stdout
    editor.replace(uri, NET.replace("relu(sum)", "rleu(sum)"))
    with pytest.raises(Exception, match="the document has errors"):
        await expand()


async def test_costs_and_expansion(editor) -> None:
    uri = editor.open("net.nnef", NET)
    document = lsp.TextDocumentIdentifier(uri=uri)
    lenses = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(text_document=document))
    costs = await editor.client.code_lens_resolve_async(next(each for each in lenses if each.command is None))
    # Two convolutions and activations, and a pooling. 8*3*9 + 8*8*9 weights, once for each of 256 pixels.
    assert costs.command.title == "5 operations, 792 parameters, 202752 MACs"
    shown_lens = next(each for each in lenses if each.command is not None)
    result = await editor.client.workspace_execute_command_async(
        lsp.ExecuteCommandParams(command=shown_lens.command.command, arguments=shown_lens.command.arguments))
    text = result["text"] if isinstance(result, dict) else result.text
    assert "fragment" not in text.split("graph")[0] and text.count("conv(") == 2


async def test_quantization_and_configuration(editor) -> None:
    (editor.folder / "graph.nnef").write_text(NET, encoding="utf-8")
    quant = editor.open("graph.quant", "\"first\": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n\"none\": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n")
    # The model is read from disk.
    assert "quantization.unknown-key 1:0" in await editor.rules(quant)
    hover = await editor.client.text_document_hover_async(editor.params(lsp.HoverParams, quant, "first"))
    assert "[1,8,16,16]" in hover.contents.value
    place = await editor.client.text_document_definition_async(editor.params(lsp.DefinitionParams, quant, "first"))
    assert place.uri == editor.uri("graph.nnef") and place.range.start.line == 19
    uri = editor.open("graph.nnef", NET.replace("    second =", "    spare = layer(first, filter2);\n    second ="))
    assert await editor.rules(uri) == ["lint.unused-tensor 20:4"]
    config = editor.open(".nnefc.json", '{"lint": {"disable": ["unused-tensr"]}}')
    assert (await editor.rules(config))[0].startswith("config.unknown-rule 0:22")
    (editor.folder / ".nnefc.json").write_text("{}", encoding="utf-8")
    editor.replace(config, '{"lint": {"disable": ["unused-tensor"]}}')
    assert await editor.rules(config) == []
    # The text of the editor applies before it is saved.
    for _ in range(100):
        if not await editor.rules(uri):
            break
        await asyncio.sleep(0.02)
    assert await editor.rules(uri) == []
