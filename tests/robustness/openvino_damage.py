#!/usr/bin/env python3
"""Damaged OpenVINO IR. Every attribute of a model is dropped, duplicated, emptied, made huge or negative in turn, and
every dim is changed. Files are truncated; cycles, a million layers and XML entities are included. Each model must be
rejected with exit code 1, or be valid if the rules below allow it. A run must not crash, or need over a second or a
gigabyte.

    openvino_damage.py NNEFC [ON|OFF: built with sanitizers]

One process reads several models; the diagnostics, as JSON, name the rejected ones.
"""

from __future__ import annotations

import json
import pathlib
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time

SECONDS = 1.0
BYTES = 1 << 30
BATCH = 150

HUGE = "99999999999999999999999"
DAMAGES = {"dropped": None, "doubled": None, "emptied": "", "huge": HUGE, "negative": "-7"}

# ---- damage that may be valid -------------------------------------------------------------------

# Free text: any value is valid.
TEXT = {("net", "name"), ("layer", "name"), ("port", "names"), ("layer", "output_names"), ("attribute", "value"),
        ("author", "value"), ("info", "value"), ("info", "name"), ("attribute", "version"), ("attribute", "name")}
# If omitted, OpenVINO and nnefc use a default.
OPTIONAL = {("port", "precision"), ("input", "start"), ("input", "end"), ("input", "stride"), ("input", "part_size"),
            ("output", "start"), ("output", "end"), ("output", "stride"), ("output", "part_size")}
# `<data>` by operation: attribute -> kind, with ? if it has a default.
DATA = {
    # Without an element type the precision of the port is used, as in files of 2020.
    "Parameter": {"shape": "shape", "element_type": "type?"},
    "Const": {"shape": "shape", "element_type": "type?", "offset": "count", "size": "count"},
    "Convolution": {"strides": "counts?", "dilations": "counts?", "pads_begin": "ints?", "pads_end": "ints?", "auto_pad": "enum?"},
    "MaxPool": {"strides": "counts?", "dilations": "counts?", "pads_begin": "ints?", "pads_end": "ints?", "kernel": "counts",
                "rounding_type": "enum?", "auto_pad": "enum?", "index_element_type": "type?", "axis": "axis?"},
    "Concat": {"axis": "axis"},
    "Transpose": {}, "ReLU": {},
    "Clamp": {"min": "double", "max": "double"},
    "Reshape": {"special_zero": "bool?"},
    "TopK": {"axis": "axis", "mode": "enum", "sort": "enum", "index_element_type": "type?", "stable": "bool?"},
    "ReduceSum": {"keep_dims": "bool?"},
    "Add": {"auto_broadcast": "enum?"}, "Multiply": {"auto_broadcast": "enum?"},
}
VALID, REFUSED, EITHER = "valid", "refused", "either"


def verdict(element: str, attribute: str, kind: str | None, damage: str) -> str:
    """Returns the required verdict on a model with this damage. `kind` is of an attribute of <data>."""
    if damage == "doubled":
        return REFUSED  # invalid XML
    if (element, attribute) in TEXT:
        # The name of an rt_info entry, of a layer and similar names are required.
        return EITHER if damage == "dropped" or element in ("info", "attribute") else VALID
    if damage == "dropped":
        if kind is not None:
            return EITHER if kind.endswith("?") else REFUSED  # a default may not fit the declared shapes
        if attribute == "axis":
            return EITHER  # a slice becomes the whole, which may fit
        return EITHER if (element, attribute) in OPTIONAL else REFUSED
    kind = (kind or "").rstrip("?")
    if kind in ("bool", "enum", "type", "count", "counts"):
        return EITHER if damage == "emptied" and kind == "counts" else REFUSED
    if kind in ("ints", "shape"):
        return EITHER if damage in ("emptied", "negative") else REFUSED  # an empty list is valid; negative pads crop
    if kind == "axis":
        return REFUSED
    if kind == "double":
        return REFUSED if damage == "emptied" else EITHER
    return REFUSED  # ids, versions, types, port maps


# ---- the model -----------------------------------------------------------------------------------

def ports(first: int, shapes: list[tuple[str, list[int]]]) -> str:
    text = ""
    for place, (precision, dims) in enumerate(shapes):
        inner = "".join(f"<dim>{dim}</dim>" for dim in dims)
        text += f'<port id="{first + place}" precision="{precision}" names="t{first + place}">{inner}</port>\n'
    return text


def layer(number: int, kind: str, version: str, data: str, inputs: list, outputs: list, inner: str = "") -> str:
    ins = f"<input>\n{ports(0, inputs)}</input>\n" if inputs else ""
    outs = f"<output>\n{ports(len(inputs), outputs)}</output>\n" if outputs else ""
    data = f"<data {data}/>\n" if data else ""
    return f'<layer id="{number}" name="n{number}" type="{kind}" version="{version}">\n{data}{ins}{outs}{inner}</layer>\n'


def net(layers: str, edges: list[tuple[int, int, int, int]], more: str = "<rt_info/>", tag: str = "net") -> str:
    links = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>\n' for a, b, c, d in edges)
    head = '<net name="m" version="11">' if tag == "net" else f"<{tag}>"
    return f"{head}\n<layers>\n{layers}</layers>\n<edges>\n{links}</edges>\n{more}\n</{tag}>\n"


F = "FP32"
CONV = 'strides="1, 1" dilations="1, 1" pads_begin="0, 0" pads_end="0, 0" auto_pad="explicit"'
POOL = ('strides="1, 1" dilations="1, 1" pads_begin="0, 0" pads_end="0, 0" kernel="2, 2" rounding_type="floor" '
        'auto_pad="explicit" index_element_type="i64" axis="0"')


def parameter(number: int, dims: list[int], kind: str = "f32", precision: str = F) -> str:
    return layer(number, "Parameter", "opset1", f'shape="{",".join(map(str, dims))}" element_type="{kind}"', [], [(precision, dims)])


def const(number: int, dims: list[int], offset: int, size: int, kind: str = "f32", precision: str = F) -> str:
    data = f'element_type="{kind}" shape="{",".join(map(str, dims))}" offset="{offset}" size="{size}"'
    return layer(number, "Const", "opset1", data, [], [(precision, dims)])


def result(number: int, dims: list[int], precision: str = F) -> str:
    return layer(number, "Result", "opset1", "", [(precision, dims)], [])


WEIGHTS = struct.pack("<4f", 1, 2, 3, 4) + struct.pack("<2q", 1, -1) + struct.pack("<q", 1)


def plain() -> str:
    """Returns a convolution, pooling and subsequent layers, with rt_info."""
    layers = (parameter(0, [1, 1, 4, 4]) + const(1, [1, 1, 2, 2], 0, 16)
              + layer(2, "Convolution", "opset1", CONV, [(F, [1, 1, 4, 4]), (F, [1, 1, 2, 2])], [(F, [1, 1, 3, 3])],
                      '<rt_info>\n<attribute name="fused_names" version="0" value="a"/>\n</rt_info>\n')
              + layer(3, "MaxPool", "opset8", POOL, [(F, [1, 1, 3, 3])], [(F, [1, 1, 2, 2]), ("I64", [1, 1, 2, 2])])
              + layer(4, "Concat", "opset1", 'axis="1"', [(F, [1, 1, 2, 2])] * 2, [(F, [1, 2, 2, 2])])
              + layer(5, "Clamp", "opset1", 'min="-1" max="2.5"', [(F, [1, 2, 2, 2])], [(F, [1, 2, 2, 2])])
              + const(6, [2], 16, 16, "i64", "I64")
              + layer(7, "Reshape", "opset1", 'special_zero="true"', [(F, [1, 2, 2, 2]), ("I64", [2])], [(F, [1, 8])])
              + const(8, [1], 32, 8, "i64", "I64")
              + layer(9, "ReduceSum", "opset1", 'keep_dims="true"', [(F, [1, 8]), ("I64", [1])], [(F, [1, 1])])
              + result(10, [1, 1])
              + layer(11, "TopK", "opset11", 'axis="1" mode="max" sort="value" index_element_type="i32" stable="false"',
                      [(F, [1, 8]), ("I64", [])], [(F, [1, 1]), ("I32", [1, 1])])
              + result(12, [1, 1]) + const(13, [], 32, 8, "i64", "I64"))
    edges = [(0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0), (3, 1, 4, 0), (3, 1, 4, 1), (4, 2, 5, 0), (5, 1, 7, 0), (6, 0, 7, 1),
             (7, 2, 9, 0), (8, 0, 9, 1), (9, 2, 10, 0), (7, 2, 11, 0), (13, 0, 11, 1), (11, 2, 12, 0)]
    return net(layers, edges, '<rt_info>\n<author value="x"/>\n<info name="a b" value="y"/>\n</rt_info>')


def branch(tag: str, kind: str) -> str:
    body = (parameter(0, [2]) + layer(1, kind, "opset1", 'auto_broadcast="numpy"', [(F, [2])] * 2, [(F, [2])]) + result(2, [2]))
    return net(body, [(0, 0, 1, 0), (0, 0, 1, 1), (1, 2, 2, 0)], tag=tag)


def branches() -> str:
    maps = "".join(f'<{side}_port_map>\n<input external_port_id="1" internal_layer_id="0"/>\n'
                   f'<output external_port_id="2" internal_layer_id="2"/>\n</{side}_port_map>\n' for side in ("then", "else"))
    layers = (parameter(0, [1], "boolean", "BOOL") + parameter(1, [2])
              + layer(2, "If", "opset8", "", [("BOOL", [1]), (F, [2])], [(F, [2])],
                      maps + branch("then_body", "Add") + branch("else_body", "Multiply")) + result(3, [2]))
    return net(layers, [(0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0)])


def loop() -> str:
    piece = 'axis="1" external_port_id="{}" internal_layer_id="{}" start="0" end="-1" stride="1" part_size="1"'
    maps = (f"<port_map>\n<input {piece.format(0, 0)}/>\n" + '<input external_port_id="1" internal_layer_id="1"/>\n'
            + f"<output {piece.format(2, 3)}/>\n" + '<output external_port_id="3" internal_layer_id="4"/>\n</port_map>\n'
            + '<back_edges>\n<edge from-layer="4" to-layer="1"/>\n</back_edges>\n')
    body = (parameter(0, [1, 1]) + parameter(1, [1, 1])
            + layer(2, "Add", "opset1", 'auto_broadcast="numpy"', [(F, [1, 1])] * 2, [(F, [1, 1])]) + result(3, [1, 1]) + result(4, [1, 1]))
    inner = net(body, [(0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0), (2, 2, 4, 0)], tag="body")
    layers = (parameter(0, [1, 4]) + parameter(1, [1, 1])
              + layer(2, "TensorIterator", "opset1", "", [(F, [1, 4]), (F, [1, 1])], [(F, [1, 4]), (F, [1, 1])], maps + inner)
              + result(3, [1, 4]) + result(4, [1, 1]))
    return net(layers, [(0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0), (2, 3, 4, 0)])


# ---- damage --------------------------------------------------------------------------------------

def mutants(xml: str) -> list[tuple[str, str, str]]:
    """Returns (description, damaged text, required verdict) of each mutant."""
    found = []
    kind_of_layer = None
    position = 0
    for line in xml.splitlines(keepends=True):
        if owner := re.search(r'<layer .*type="(\w+)"', line):
            kind_of_layer = owner[1]
        element = (re.match(r"<(\w+)", line) or [None, ""])[1]
        for match in re.finditer(r' ([\w-]+)="([^"]*)"', line):
            attribute = match[1]
            kind = DATA[kind_of_layer][attribute] if element == "data" else None
            for damage, value in DAMAGES.items():
                new = {"dropped": "", "doubled": match[0] * 2}.get(damage, f' {attribute}="{value}"')
                text = xml[:position + match.start()] + new + xml[position + match.end():]
                found.append((f"line {xml.count(chr(10), 0, position) + 1}: {element}.{attribute} {damage}", text,
                              verdict(element, attribute, kind, damage)))
        for match in re.finditer(r"<dim>(-?\d+)</dim>", line):
            for new in ["", "<dim/>", f"<dim>{HUGE}</dim>", "<dim>-7</dim>", "<dim>9223372036854775807</dim>"]:
                text = xml[:position + match.start()] + new + xml[position + match.end():]
                # Without a dim a port of rank 1 does not state its shape.
                found.append((f"{match[0]} -> `{new}`", text, EITHER if new == "" else REFUSED))
        position += len(line)
    for length in range(0, len(xml.rstrip()), max(1, len(xml) // 300)):
        found.append((f"cut after {length} bytes", xml[:length], REFUSED))
    return found


class Checker:
    def __init__(self, nnefc: str, sanitized: bool) -> None:
        self.nnefc, self.slow = nnefc, 20 if sanitized else 1
        self.faults: list[str] = []
        self.tried = 0
        self.sanitized = sanitized

    def limit(self) -> None:
        if not self.sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
        resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))

    def call(self, paths: list[pathlib.Path]) -> tuple[int, set[str], float, str]:
        """Returns the exit code, the names of the rejected files, the seconds of processor time, the diagnostics."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.nnefc, "check", "--format", "json", *map(str, paths)], capture_output=True, text=True,
                              check=False, preexec_fn=self.limit, timeout=300,
                              env={"PATH": "/usr/bin:/bin"})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        refused = set()
        if done.returncode in (0, 1):
            for diagnostic in json.loads(done.stderr)["diagnostics"]:
                if diagnostic["severity"] == "error":
                    refused.add(pathlib.Path(diagnostic.get("file") or diagnostic["message"].split("`")[1]).name)
        return done.returncode, refused, seconds, done.stderr

    def judge(self, batch: list[tuple[str, pathlib.Path, str]]) -> None:
        code, refused, seconds, text = self.call([path for _, path, _ in batch])
        if code not in (0, 1) or seconds > max(SECONDS, 0.02 * len(batch)) * self.slow:
            if len(batch) == 1:
                self.faults.append(f"{batch[0][0]}: exit code {code}, {seconds:.2f} s: {text[-300:]}")
                return
            half = len(batch) // 2  # find the failing file
            self.judge(batch[:half])
            self.judge(batch[half:])
            return
        self.tried += len(batch)
        if code != (1 if refused else 0):
            self.faults.append(f"exit code {code} with {len(refused)} of {len(batch)} files refused")
        for what, path, expected in batch:
            told = path.name in refused
            if (expected == VALID and told) or (expected == REFUSED and not told):
                self.faults.append(f"{what}: must be {expected}")

    def sweep(self, name: str, xml: str, folder: pathlib.Path) -> None:
        models = [("undamaged", xml, VALID), *mutants(xml)]
        batch = []
        for number, (what, text, expected) in enumerate(models):
            path = folder / f"{name}{number}.xml"
            path.write_text(text)
            path.with_suffix(".bin").write_bytes(WEIGHTS)
            batch.append((f"{name}: {what}", path, expected))
            if len(batch) == BATCH or number + 1 == len(models):
                self.judge(batch)
                batch = []

    def cut_weights(self, folder: pathlib.Path) -> None:
        batch = []
        for length in range(len(WEIGHTS)):
            path = folder / f"weights{length}.xml"
            path.write_text(plain())
            path.with_suffix(".bin").write_bytes(WEIGHTS[:length])
            batch.append((f".bin cut to {length} bytes", path, REFUSED))
        self.judge(batch)

    def single(self, what: str, text: str, folder: pathlib.Path, expected: str = REFUSED) -> None:
        path = folder / "single.xml"
        path.write_text(text)
        path.with_suffix(".bin").write_bytes(WEIGHTS)
        self.judge([(what, path, expected)])


def chain(length: int, extra: list[tuple[int, int, int, int]] = (), first: str = "") -> str:
    layers = [parameter(0, [2])]
    layers += [f'<layer id="{i}" name="r" type="ReLU" version="opset1"><input><port id="0"><dim>2</dim></port></input><output>'
               f'<port id="1" precision="FP32"><dim>2</dim></port></output></layer>\n' for i in range(1, length + 1)]
    layers.append(result(length + 1, [2]))
    edges = [(0, 0, 1, 0)] + [(i, 1, i + 1, 0) for i in range(1, length + 1)] + list(extra)
    return net("".join(layers), edges).replace("<net", first + "<net", 1)


def entities() -> str:
    lines = ['<!ENTITY a0 "lol">'] + [f'<!ENTITY a{i} "{"&a%d;" % (i - 1) * 10}">' for i in range(1, 10)]
    return f'<?xml version="1.0"?>\n<!DOCTYPE net [{"".join(lines)}]>\n' + plain().replace('name="m"', 'name="&a9;"')


def special(checker: Checker, folder: pathlib.Path) -> None:
    cycle = plain().replace('from-layer="0" from-port="0" to-layer="2" to-port="0"', 'from-layer="4" from-port="2" to-layer="2" to-port="0"')
    checker.single("a cycle", cycle, folder)
    checker.single("a layer that feeds itself", plain().replace('from-layer="4" from-port="2" to-layer="5"',
                                                               'from-layer="5" from-port="1" to-layer="5"'), folder)
    checker.single("a billion laughs", entities(), folder)
    external = '<!DOCTYPE net [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    checker.single("an external entity", external + plain().replace('name="m"', 'name="&x;"'), folder)
    checker.single("a parameter entity", '<!DOCTYPE net [<!ENTITY % x "y">%x;]>' + plain(), folder)
    checker.single("no text", "", folder)
    checker.single("zeros", "\0" * 4096, folder)
    checker.single("100,000 open elements", "<net>" + "<a>" * 100_000, folder)
    many = " ".join(f'a{i}="1"' for i in range(100_000))
    checker.single("100,000 attributes", f"<net {many}/>", folder)
    checker.single("a chain of 10,000 layers", chain(10_000), folder, VALID)
    nested = branch("then_body", "Add")
    for _ in range(1000):
        nested = f"<then_body><layers>{layer(0, 'If', 'opset8', '', [], [], nested)}</layers><edges/></then_body>"
    checker.single("1,000 nested bodies", net(layer(0, "If", "opset8", "", [], [], nested) + result(1, [2]), []), folder)


def million(checker: Checker, folder: pathlib.Path) -> None:
    """Checks 10^6 layers: a verdict within the memory limit; the limit of a second is for models of ordinary size."""
    for what, inside, edges in [("unconnected", "", ""), ("one id", "", "")]:
        number = (lambda i: 5) if what == "one id" else (lambda i: i)
        path = folder / "million.xml"
        with open(path, "w", encoding="ascii") as out:
            out.write('<net version="11"><layers>\n')
            out.writelines(f'<layer id="{number(i)}" name="r" type="ReLU" version="opset1">{inside}</layer>\n' for i in range(1_000_000))
            out.write(f"</layers><edges>{edges}</edges></net>")
        begin = time.monotonic()
        code, refused, seconds, text = checker.call([path])
        checker.tried += 1
        if code != 1 or not refused or seconds > 5 * checker.slow:
            checker.faults.append(f"a million layers, {what}: exit code {code}, {seconds:.1f} s ({time.monotonic() - begin:.1f}): {text[-200:]}")


def main() -> int:
    checker = Checker(sys.argv[1], sys.argv[2:] == ["ON"])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model, xml in {"plain": plain(), "if": branches(), "loop": loop()}.items():
            checker.sweep(model, xml, folder)
        checker.cut_weights(folder)
        special(checker, folder)
        million(checker, folder)
    print("\n".join(checker.faults[:60]))
    print(f"{checker.tried} damaged models, {len(checker.faults)} faults")
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main())
