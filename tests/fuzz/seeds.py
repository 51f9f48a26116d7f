#!/usr/bin/env python3
"""Makes seeds for the fuzz targets from the documents and files of the tests.

    seeds.py FOLDER [--nnefc NNEFC] [--all] [--files FOLDER...] [--largest BYTES]

Writes FOLDER/<target>/<digest>. With NNEFC, which compiles documents, it also makes seeds of OpenVINO IR and of graphs
in text form from a sample of the documents. With --all it uses every document, every case of
tests/interop/opsets/opset_cases.py and every case of tests/conformance/operations; these cases of single operations need
NumPy. `--files` adds the files of a folder and those in its archives, for example the output of `pytest --basetemp`.
Inputs longer than BYTES (8,000) are skipped: they slow fuzzing down and reach little new code.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import gzip
import hashlib
import io
import json
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path.insert(0, str(TESTS / "golden"))
sys.path.insert(0, str(TESTS / "conformance" / "adversary"))
import entries  # noqa: E402
import file_forms  # noqa: E402
import golden  # noqa: E402
import rule_file  # noqa: E402

# The targets of a file of the tests, by its suffix.
TARGETS = {".nnef": ("document", "formatter"), ".quant": ("quantization", "formatter"), ".dat": ("dat",), ".npy": ("npy",),
           ".safetensors": ("safetensors",),
           ".npz": ("npy",), ".tgz": ("container",), ".tar": ("container",), ".ir": ("graph_text",), ".json": ("lint_config", "device_profile")}
# The start of a document in a literal of a unit test, and the file name for it.
LITERALS = ((re.compile(r"\s*(#[^\n]*\n\s*)*version [0-9.]+"), "net.nnef"), (re.compile(r'\s*graph "'), "net.ir"),
            (re.compile(r"\s*<(\?xml|net)\b"), "net.xml"), (re.compile(r'\s*\{\s*"'), "net.json"))
COMPILE_SECONDS = 60
COMPILED = 120  # documents that NNEFC compiles
SESSIONS = 40  # documents in sessions of an editor


class Seeds:
    def __init__(self, folder: pathlib.Path, largest: int):
        self.folder, self.largest = folder, largest
        self.counts: dict[str, int] = {}
        self._added: set[pathlib.Path] = set()

    def add(self, target: str, data: bytes) -> None:
        if len(data) > self.largest:
            return
        path = self.folder / target / hashlib.sha1(data).hexdigest()[:16]
        self._added.add(path)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            self.counts[target] = self.counts.get(target, 0) + 1

    def remove_others(self) -> None:
        """Removes the seeds of an earlier run that no test has now, so that each clone tests the same mutants."""
        for path in set(self.folder.glob("*/*")) - self._added:
            path.unlink()

    def add_files(self, files: dict[str, bytes]) -> None:
        """Adds the files of a test, by name."""
        for name, data in files.items():
            path = pathlib.PurePath(name)
            for target in TARGETS.get(path.suffix, ()):
                self.add(target, data)
            if path.suffix == ".xml":
                self.add("openvino", data + b"\0" + files.get(str(path.with_suffix(".bin")), bytes(64)))
            if path.suffix == ".json":
                self.add("resources", b"$\n" + data)
            if path.suffix in (".zip", ".npz"):
                self.add_files(members_of(data))


def members_of(archive: bytes) -> dict[str, bytes]:
    """Returns the members of a zip file; none for a damaged one."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as members:
            return {name: members.read(name) for name in members.namelist()}
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, ValueError, OSError, EOFError):
        return {}


def files_below(folder: pathlib.Path, suffixes: set[str] | None = None) -> dict[str, bytes]:
    """Returns the files of a folder by their paths, only those with the suffixes if any are given."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and (suffixes is None or path.suffix in suffixes)}


def add_literals(seeds: Seeds) -> None:
    """Adds documents, graphs and IR that unit tests have as raw literals or as adjacent ones, one per line."""
    for path in sorted((TESTS / "unit").rglob("*.cpp")):
        text = path.read_text("utf-8")
        literals = re.findall(r'R"(\w*)\((.*?)\)\1"', text, re.DOTALL)
        for literal in [raw for _, raw in literals] + adjacent_literals(text):
            for start, name in LITERALS:
                if start.match(literal):
                    seeds.add_files({name: literal.encode("utf-8")})


def adjacent_literals(text: str) -> list[str]:
    """Concatenates adjacent literals such as `"a\\n" "b\\n"`, as the compiler does."""
    escapes = {r"\n": "\n", r'\"': '"', r"\\": "\\", r"\t": "\t"}
    joined = []
    for found in re.findall(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")+', text):
        parts = re.findall(r'"((?:[^"\\\n]|\\.)*)"', found)
        joined.append(re.sub(r"\\.", lambda match: escapes.get(match[0], match[0]), "".join(parts)))
    return joined


def add_stored(seeds: Seeds) -> None:
    """Adds stored files of the tests: graphs, documents of exporters, schemas."""
    seeds.add_files(files_below(TESTS, {".nnef", ".ir", ".quant", ".zip", ".json", ".npy", ".npz", ".dat"}))
    add_literals(seeds)


def add_conformance(seeds: Seeds) -> None:
    """Adds the models and tensors of tests/conformance/operations."""
    sys.path.insert(0, str(TESTS / "conformance" / "operations"))
    try:
        import make
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as name:
        make.write(pathlib.Path(name))
        seeds.add_files(files_below(pathlib.Path(name), {".nnef", ".dat", ".npz"}))


def files_of_tests() -> list[dict[str, bytes]]:
    """Returns the files of every golden, rule and entry of the adversary."""
    found = []
    for path in golden.paths([]):
        if path.suffix == ".rule":
            for example in rule_file.read(path).examples:
                made = {"net.nnef": example.document.encode("utf-8")} if example.document else {}
                for name, form, text in example.files:
                    made[name] = file_forms.make(name, form, text, made)
                found.append(made)
        else:
            found.append({name: text.encode("utf-8") for name, text in golden.read(path).files})
    found += [{path.name: path.read_bytes()} for path in sorted((TESTS / "networks").glob("*.nnef"))]
    found += [dict(entry.files) for entry in entries.load()]
    return found


def dat(items: bytes, extents: list[int], bits: int, code: int) -> bytes:
    """Returns a tensor file of R 5.2."""
    header = struct.pack("<2sBBII8III", b"\x4e\xef", 1, 0, len(items), len(extents), *(extents + [0] * (8 - len(extents))), bits, code)
    return header.ljust(128, b"\0") + items


def safetensors(tensors: dict[str, tuple[str, list[int], bytes]]) -> bytes:
    """Returns a safetensors file of tensors with name, type, shape and items."""
    header, data = {}, b""
    for name, (kind, shape, items) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(items)]}
        data += items
    text = json.dumps(header).encode("utf-8")
    return struct.pack("<Q", len(text)) + text + data


def npy(header: str, data: bytes, version: int = 1) -> bytes:
    text = header.encode("latin-1") + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def tar(files: dict[str, bytes], form: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()[:-8192] or out.getvalue()


def zipped(files: dict[str, bytes], method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def add_binary(seeds: Seeds) -> None:
    """Adds files of every item type, and containers of them."""
    files = {"graph.nnef": b"version 1.0;\ngraph net(x) -> (y) { x = external(shape = [2]); y = relu(x); }\n"}
    for bits in (1, 2, 4, 8, 16, 32, 64):
        for code in range(6):
            items = bytes(range(6 * bits // 8 + 1))[: (6 * bits + 7) // 8]
            seeds.add("dat", dat(items, [2, 3], bits, code))
            files[f"a/{bits}_{code}.dat"] = dat(items, [2, 3], bits, code)
    few = {name: files[name] for name in ("graph.nnef", "a/8_1.dat", "a/32_0.dat")}
    tensors = {}
    for kind in ("F64", "F32", "F16", "BF16", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64", "BOOL"):
        width = 1 if kind == "BOOL" else int(kind.lstrip("BFIU")) // 8
        tensors["layer." + kind] = (kind, [1, 2], bytes(2 * width) if kind == "BOOL" else bytes(range(2 * width)))
        seeds.add("safetensors", safetensors({kind: tensors["layer." + kind]}))
    few["all.safetensors"] = safetensors(tensors)
    seeds.add("safetensors", few["all.safetensors"])
    for key in ("$", "$.a", "$.b[1].c", "$.b[1].c[0]", "$.b[0]", "$.d", "$.e", "b", "$.b[7]"):
        seeds.add("resources", key.encode("utf-8") + b'\n{"a": -2, "b": [0.5, {"c": [1.0, 2, 3e1]}], "d": true, "e": "x"}')
    arrays = {}
    for kind in ("<f4", ">f8", "<f2", "|b1", "|i1", ">i2", "<u4", "<i8"):
        for order in ("False", "True"):
            for version in (1, 2, 3):
                data = bytes(range(int(kind[-1]) * 6))
                array = npy(f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': (2, 3), }}", data, version)
                seeds.add("npy", array)
                arrays[f"{kind[1:]}{order}{version}.npy"] = array
    some = dict(list(arrays.items())[:3])
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        seeds.add("npy", zipped(some, method))
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        for prefix in ("", "model/", "./"):
            archive = tar({prefix + name: data for name, data in few.items()}, form)
            seeds.add("container", archive)
            seeds.add("container", gzip.compress(archive, mtime=0))
            inside = {"part.nnef.tar": archive, "part.nnef.tgz": gzip.compress(archive, mtime=0)}
            for name, data in inside.items():
                seeds.add("container", tar({**{prefix + each: text for each, text in few.items()}, prefix + name: data}, form))


def add_exported(seeds: Seeds) -> None:
    """Adds documents in the style of exporters: those that the tests compare with other implementations."""
    sys.path[:0] = [str(TESTS / "interop"), str(TESTS / "interop" / "vendors")]
    try:
        import test_lenient_documents
        import test_tract_operations
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as name:
        for number, case in enumerate([*test_lenient_documents.CASES.values(), *test_tract_operations.CASES.values()]):
            folder = pathlib.Path(name) / str(number)
            if not isinstance(case, test_lenient_documents.Case):
                folder.mkdir()
            case.write(folder)
            seeds.add_files({path.name: path.read_bytes() for path in folder.iterdir()})


def add_operations(seeds: Seeds) -> list[bytes]:
    """Adds graphs in text form with one operation of OpenVINO each, and returns them."""
    try:
        import numpy
    except ImportError:
        return []
    sys.path[:0] = [str(TESTS / "interop"), str(TESTS / "interop" / "opsets")]
    import opset_cases

    def type_of(array: numpy.ndarray) -> str:
        return {"b": "boolean", "f": f"f{8 * array.itemsize}", "i": f"i{8 * array.itemsize}",
                "u": f"u{8 * array.itemsize}"}[array.dtype.kind]

    def attribute(value: object) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(attribute(item) for item in value) + "]"
        return f'"{value}"' if isinstance(value, str) else repr(value)

    texts = []
    for operation, cases in opset_cases.CASES.items():
        for inputs, attributes in cases:
            lines = []
            for number, given in enumerate(inputs):
                array = numpy.asarray(getattr(given, "value", given))
                extents = ",".join(map(str, array.shape))
                if isinstance(given, opset_cases.Const):
                    data = ", ".join(repr(item) for item in array.astype("i8" if array.dtype.kind == "b" else array.dtype).ravel().tolist())
                    lines.append(f'%{number} = opset1.Const "c{number}" : {type_of(array)}[{extents}] = dense<{type_of(array)}[{extents}]: {data}>')
                else:
                    shape = getattr(given, "shape", None) if isinstance(given, opset_cases.Dynamic) else extents
                    lines.append(f'%{number} = opset1.Parameter "p{number}" {{element_type = {type_of(array)}, '
                                 f'shape = shape[{shape}]}} : {type_of(array)}[{extents}]')
            values = ", ".join(f"{name} = {attribute(value)}" for name, value in attributes.items())
            lines.append(f'%{len(inputs)} = {operation} "y" ({", ".join(f"%{i}" for i in range(len(inputs)))}) {{{values}}} : dynamic[...]')
            if operation.endswith((".TopK", ".MaxPool")) and operation != "opset1.MaxPool":
                lines[-1] = lines[-1].replace(" = ", ":2 = ", 1) + ", dynamic[...]"
            lines.append(f'opset1.Result "y" (%{len(inputs)})')
            texts.append(('graph "net" {\n  ' + "\n  ".join(lines) + "\n}\n").encode("utf-8"))
    for text in texts:
        seeds.add("graph_text", text)
    return texts


def add_compiled(seeds: Seeds, nnefc: pathlib.Path, models: list[tuple[str, bytes]]) -> None:
    """Adds NNEFC's output for the models (a file's suffix and its bytes) that it accepts."""
    def compiled(model: tuple[str, bytes]) -> tuple[bytes, bytes, bytes] | None:
        suffix, data = model
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / f"in{suffix}").write_bytes(data)
            for output in ("net.xml", "net.ir"):
                done = subprocess.run([nnefc, "compile", f"in{suffix}", "--random-weights", "1", "-o", output], cwd=folder,
                                      capture_output=True, check=False, timeout=COMPILE_SECONDS)
                if done.returncode != 0:
                    return None
            return tuple((folder / f"net.{end}").read_bytes() for end in ("xml", "bin", "ir"))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for made in pool.map(compiled, models):
            if made is not None:
                xml, constants, text = made
                seeds.add("openvino", xml + b"\0" + constants)
                seeds.add("graph_text", text)


def add_sessions(seeds: Seeds, documents: list[bytes]) -> None:
    """Sessions of an editor: a document, requests about it, and changes."""
    uri = "file:///net.nnef"
    positions = ["hover", "definition", "references", "prepareRename", "completion", "signatureHelp", "prepareCallHierarchy"]
    for number, document in enumerate(documents):
        text = document.decode("utf-8", "replace")
        line = number % max(1, text.count("\n"))
        here = {"line": line, "character": number % 13}
        document_params = {"textDocument": {"uri": uri}}
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": line + 5, "character": 0}}
        messages = [{"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri, "version": 1, "text": text}}}]
        messages += [{"method": f"textDocument/{name}", "params": {**document_params, "position": here}} for name in positions]
        messages += [{"method": f"textDocument/{name}", "params": {**document_params, "range": whole, "context": {"only": ["source"]}}}
                     for name in ("codeAction", "semanticTokens/full", "semanticTokens/range", "foldingRange", "inlayHint",
                                  "documentSymbol", "formatting", "rangeFormatting", "codeLens")]
        messages += [{"method": "textDocument/rename", "params": {**document_params, "position": here, "newName": "renamed"}},
                     {"method": "textDocument/onTypeFormatting", "params": {**document_params, "position": here, "ch": "\n"}},
                     {"method": "textDocument/selectionRange", "params": {**document_params, "positions": [here]}},
                     {"method": "workspace/executeCommand", "params": {"command": "nnefc.showExpansion", "arguments": [uri]}},
                     {"method": "codeLens/resolve", "params": {"range": whole, "data": {"uri": uri}}}]
        for index, message in enumerate(messages[1:]):
            message["id"] = index
        messages.insert(9, {"method": "textDocument/didChange", "params": {
            "textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"range": {"start": here, "end": here}, "text": " y = "}]}})
        seeds.add("lsp", json.dumps(messages).encode())
    seeds.add("lsp", b"Content-Length: 2\r\n\r\n{}Content-Length: 40\r\n\r\n" + b'{"id": 1, "method": "textDocument/hover"}')


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--nnefc", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--files", type=pathlib.Path, nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--largest", type=int, default=8000)
    options = parser.parse_args()
    seeds = Seeds(options.folder, options.largest)
    found = files_of_tests()
    for files in found:
        seeds.add_files(files)
    add_binary(seeds)
    add_exported(seeds)
    add_stored(seeds)
    short = sorted({data for files in found for name, data in files.items() if name.endswith(".nnef") and len(data) <= 1500})
    add_sessions(seeds, short[::max(1, len(short) // SESSIONS)])
    if options.all:
        add_conformance(seeds)
    for folder in options.files:
        seeds.add_files(files_below(folder))
    operations = add_operations(seeds)
    if options.nnefc:
        documents = sorted({data for files in found for name, data in files.items()
                            if name.endswith(".nnef") and len(data) <= seeds.largest})
        step = 1 if options.all else max(1, len(documents) // COMPILED)
        models = [(".nnef", data) for data in documents[::step]]
        add_compiled(seeds, options.nnefc.resolve(), models + ([(".ir", text) for text in operations] if options.all else []))
    seeds.remove_others()
    print(", ".join(f"{count} of {target}" for target, count in sorted(seeds.counts.items())), "new")
    return 0


if __name__ == "__main__":
    sys.exit(main())
