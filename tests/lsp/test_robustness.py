"""Malformed messages: each gets an error or is ignored, and the server continues."""

from __future__ import annotations

import json
import random
import subprocess

import pytest
from conftest import CACHE, CONFIG, NNEFC
from raw_server import INITIALIZE, framed, request

SHUTDOWN = {"jsonrpc": "2.0", "id": 99, "method": "shutdown"}
EXIT = {"jsonrpc": "2.0", "method": "exit"}
URI = "file:///net.nnef"
TEXT = "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    y = relu(x);\n}\n"
OPEN = {"jsonrpc": "2.0", "method": "textDocument/didOpen",
        "params": {"textDocument": {"uri": URI, "languageId": "nnef", "version": 1, "text": TEXT}}}


def serve(data: bytes, code: int | None = 0, memory: int = 1 << 30) -> list[dict]:
    """Returns the messages of a server that reads `data`."""
    limit = ["prlimit", f"--as={memory}"] if memory else []
    done = subprocess.run([*limit, NNEFC, "lsp"], input=data, capture_output=True, timeout=60, check=False, env=CONFIG.server_env)
    assert done.returncode >= 0 and (code is None or done.returncode == code), done.stderr
    assert b"error" not in done.stderr, done.stderr
    messages, output = [], done.stdout
    while output:
        header, output = output.split(b"\r\n\r\n", 1)
        length = int(header.removeprefix(b"Content-Length: "))
        messages.append(json.loads(output[:length]))
        output = output[length:]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    return messages


def answers(*messages: object, code: int | None = 0) -> dict[object, dict]:
    """Returns the responses to messages of an initialized session, by their ids."""
    data = b"".join(map(framed, (INITIALIZE, OPEN, *messages, SHUTDOWN, EXIT)))
    return {message["id"]: message for message in serve(data, code) if "id" in message}


def position(line: object = 4, character: object = 8, uri: object = URI) -> dict:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def test_a_session() -> None:
    responses = answers(request("textDocument/hover", position()))
    assert "relu" in responses[5]["result"]["contents"]["value"]
    assert responses[99]["result"] is None


@pytest.mark.parametrize("data", [b"", b"Content-Length: 10\r\n\r\n{}", b"garbage"])
def test_the_input_ends(data: bytes) -> None:
    assert serve(data, code=1) == []


def test_exit_codes() -> None:
    assert serve(framed(INITIALIZE) + framed(EXIT), code=1)
    assert serve(framed(INITIALIZE) + framed(SHUTDOWN), code=0)


@pytest.mark.parametrize("broken", [
    b"\r\n\r\n", b"Content-Type: x\r\n\r\n", b"Content-Length: -1\r\n\r\n", b"Content-Length: 1e3\r\n\r\n", b"Content-Length:\r\n\r\n",
    b"Content-Length: 99999999999999999999999\r\n\r\n", b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", b"x" * 40000 + b"\r\n\r\n",
    framed(b"{"), framed(b"\xff\xfe"), framed(b'{"a": "\\ud800"}'), framed(b"[" * 100000), framed(b""), framed([]), framed(1), framed(None),
    framed("text"), framed([INITIALIZE]), framed({}), framed({"id": 3}), framed({"id": {}, "method": "x"}), framed({"method": 5}),
    framed({"id": [1], "method": "shutdown"}), framed({"id": 1.5, "method": "shutdown"})])
def test_broken_messages(broken: bytes) -> None:
    data = framed(INITIALIZE) + framed(OPEN) + broken + framed(request("textDocument/hover", position())) + framed(SHUTDOWN) + framed(EXIT)
    messages = serve(data)
    responses = {message["id"]: message for message in messages if "id" in message}
    assert [each for each in messages if each.get("error", {}).get("code") in (-32700, -32600)]
    assert "relu" in responses[5]["result"]["contents"]["value"]


def test_depth_of_messages() -> None:
    """Valid JSON, some deeper than a stack: as an unknown member of a request, and as ids that are compared."""
    def nested(depth: int) -> str:
        return "[" * depth + "]" * depth

    def lens(data: str) -> bytes:
        return framed(('{"jsonrpc": "2.0", "id": 5, "method": "codeLens/resolve", "params": {"data": {"uri": "%s"}, "x": %s}}' % (URI, data)).encode())

    ends = framed(SHUTDOWN) + framed(EXIT)
    begins = framed(INITIALIZE) + framed(OPEN)
    for depth, deep in ((254, False), (255, True), (1_000_000, True)):
        messages = serve(begins + lens(nested(depth)) + ends)
        assert any(message.get("error", {}).get("code") == -32700 for message in messages) == deep
        assert any(message.get("id") == 5 for message in messages) != deep
    cancel = '{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": %s}}' % nested(1_000_000)
    same = '{"jsonrpc": "2.0", "method": "shutdown", "id": %s}' % nested(1_000_000)
    assert serve(begins + framed(same.encode()) + framed(cancel.encode()) + ends)[-1]["id"] == 99
    # Brackets in strings do not count.
    assert {message.get("id") for message in serve(begins + lens('"%s\\"%s"' % ("[" * 5000, "{" * 5000)) + ends)} >= {5, 99}


def test_texts_with_names_of_the_library() -> None:
    """A text of the editor is not written into the folder of generated files, nor outside of it."""
    uri = "nnefc:/stdlib/../../outside.nnef"
    opened = json.loads(json.dumps(OPEN))
    opened["params"]["textDocument"]["uri"] = uri
    responses = answers(opened, request("textDocument/definition", position(4, 13, uri)))
    assert responses[5]["result"]["uri"] == uri
    assert not (CACHE / "outside.nnef").exists()


def test_lengths_are_not_believed() -> None:
    # A gigabyte is announced, and not allocated.
    assert serve(framed(INITIALIZE) + b"Content-Length: 1000000000\r\n\r\n{}", code=1, memory=1 << 29)[-1]["error"]["code"] == -32700
    assert len(serve(framed(INITIALIZE) + b"Content-Length: 400000000\r\n\r\n{}", code=1, memory=1 << 29)) == 1


def test_cancelled_requests() -> None:
    """The first request waits for the check of the document; the others are queued when one is cancelled."""
    count = 20000
    text = f"version 1.0;\ngraph g( t0 ) -> ( t{count} )\n{{\n    t0 = external(shape = [1]);\n"
    text += "".join(f"    t{i + 1} = relu(t{i});\n" for i in range(count)) + "}\n"
    opened = json.loads(json.dumps(OPEN))
    opened["params"]["textDocument"] |= {"uri": "file:///long.nnef", "text": text}
    requests = [request("textDocument/hover", position(uri="file:///long.nnef"), number) for number in (10, 11, 12, 13)]
    cancels = [{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}} for number in (12, "11", 99)]
    responses = answers(opened, *requests, *cancels)
    assert responses[12]["error"]["code"] == -32800
    assert all("result" in responses[number] for number in (10, 11, 13, 99))


def test_two_lines_separate_header_and_content() -> None:
    content = json.dumps(INITIALIZE).encode()
    data = b"content-type: x\ncontent-length: %d\n\n" % len(content) + content + framed(SHUTDOWN) + framed(EXIT)
    assert [message["id"] for message in serve(data)] == [1, 99]


def test_the_order_of_the_lifecycle() -> None:
    messages = serve(framed(request("textDocument/hover", position())) + framed(OPEN) + framed(INITIALIZE) + framed(INITIALIZE) +
                     framed(request("nonsense", {}, 6)) + framed(SHUTDOWN) + framed(request("textDocument/hover", position(), 7)) + framed(EXIT))
    codes = {(message["id"], message.get("error", {}).get("code")) for message in messages if "id" in message}
    assert codes == {(5, -32002), (1, None), (1, -32600), (6, -32601), (99, None), (7, -32600)}


@pytest.mark.parametrize("at", [(99, 0), (4, 9999), (2**31, 2**31), (-1, -1), (-2**63, 0), (2**63, 2**64 - 1)])
def test_positions_outside_the_text(at: tuple[int, int]) -> None:
    methods = ["hover", "definition", "references", "documentHighlight", "prepareRename", "completion", "signatureHelp", "prepareCallHierarchy"]
    here = {"start": {"line": at[0], "character": at[1]}, "end": {"line": 0, "character": 0}}
    ranged = {"textDocument": {"uri": URI}, "range": here, "context": {"diagnostics": []}, "options": {}}
    messages = [request(f"textDocument/{method}", position(*at), 10 + i) for i, method in enumerate(methods)]
    messages += [request(f"textDocument/{method}", ranged, 30 + i)
                 for i, method in enumerate(["codeAction", "semanticTokens/range", "inlayHint", "rangeFormatting"])]
    messages += [request("textDocument/selectionRange", {"textDocument": {"uri": URI}, "positions": [here["start"]]}, 40),
                 request("textDocument/onTypeFormatting", position(*at) | {"ch": "\n"}, 41)]
    responses = answers(*messages)
    assert all("result" in response for response in responses.values())


@pytest.mark.parametrize("params", [None, [], 5, "x", {}, {"textDocument": 5}, {"textDocument": {}}, {"textDocument": {"uri": 5}},
                                    {"textDocument": {"uri": URI}}, position("a"), position(1.5), position(None), position(uri="file:///other.nnef"),
                                    position(uri=""), {"item": {}}, {"data": {"uri": 5}}, {"command": "x", "arguments": [1]}])
def test_parameters_of_other_types(params: object) -> None:
    capabilities = next(message for message in serve(framed(INITIALIZE) + framed(SHUTDOWN) + framed(EXIT)))["result"]["capabilities"]
    assert capabilities["hoverProvider"]
    methods = ["textDocument/definition", "textDocument/references", "textDocument/documentHighlight", "textDocument/prepareRename",
               "textDocument/rename", "textDocument/prepareCallHierarchy", "callHierarchy/incomingCalls", "callHierarchy/outgoingCalls",
               "textDocument/completion", "textDocument/signatureHelp", "textDocument/codeAction", "codeAction/resolve",
               "textDocument/rangeFormatting", "textDocument/onTypeFormatting", "workspace/executeCommand", "textDocument/hover",
               "textDocument/semanticTokens/range", "textDocument/selectionRange", "textDocument/inlayHint", "codeLens/resolve"]
    responses = answers(*[request(method, params, 10 + i) for i, method in enumerate(methods)])
    for i, method in enumerate(methods):
        assert responses[10 + i]["error"]["code"] == -32602, (method, responses[10 + i])


@pytest.mark.parametrize("method", ["textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave", "$/nonsense",
                                    "$/cancelRequest", "workspace/didChangeWatchedFiles", "initialized"])
@pytest.mark.parametrize("params", [None, [], {"textDocument": {"uri": URI}}, {"textDocument": {"uri": URI, "version": "1"}, "contentChanges": {}},
                                    {"textDocument": {"uri": URI, "version": 0}, "contentChanges": [{"text": ""}]},
                                    {"textDocument": {"uri": URI, "version": 7}, "contentChanges": [{"text": 5}]},
                                    {"textDocument": {"uri": URI, "version": 7}, "contentChanges": [5]}, {"id": None}])
def test_notifications_are_never_answered(method: str, params: object) -> None:
    responses = answers({"jsonrpc": "2.0", "method": method, "params": params}, request("textDocument/documentSymbol", {"textDocument": {"uri": URI}}))
    assert set(responses) == {1, 5, 99}
    if method not in ("textDocument/didClose",):
        assert "result" in responses[5]


@pytest.mark.parametrize("uri", ["file:///net.xml", "file:///graph.ir", "untitled:1", "", "file:///%00", "file://host/net.nnef", "x" * 100000])
def test_names_of_documents(uri: str) -> None:
    opened = json.loads(json.dumps(OPEN))
    opened["params"]["textDocument"]["uri"] = uri
    responses = answers(opened, opened, request("textDocument/hover", position(uri=uri)), request("textDocument/documentSymbol", {"textDocument": {"uri": uri}}, 6))
    assert {5, 6, 99} <= set(responses)


def test_random_bytes_and_messages() -> None:
    """Mutants of a session: single bytes and members of the messages."""
    random_ = random.Random(7)
    methods = ["textDocument/hover", "textDocument/completion", "textDocument/rename", "textDocument/codeAction", "textDocument/didChange",
               "textDocument/inlayHint", "textDocument/signatureHelp", "textDocument/formatting", "textDocument/didOpen"]
    values = [None, True, -1, 2**40, "", "\n", "net", [], {}, URI, {"line": 4, "character": 6}, {"uri": URI, "version": 9, "text": TEXT[:50]},
              {"start": {"line": 3, "character": 1}, "end": {"line": 4, "character": 2}}, [{"text": TEXT[:70]}]]
    names = ["textDocument", "position", "range", "newName", "context", "contentChanges", "positions", "ch", "item"]
    data = framed(INITIALIZE) + framed(OPEN)
    for number in range(1000, 1800):
        params = {name: random_.choice(values) for name in random_.sample(names, 4)}
        if random_.random() < 0.8:
            params |= {"textDocument": {"uri": URI, "version": number, "text": TEXT}, "position": {"line": 4, "character": number % 17}}
        message = bytearray(json.dumps(request(random_.choice(methods), params, number)).encode())
        if random_.random() < 0.3:
            message[random_.randrange(len(message))] = random_.randrange(256)
        data += framed(bytes(message))
    assert serve(data + framed(SHUTDOWN) + framed(EXIT))[-1]["id"] == 99
    assert CACHE.is_dir()
