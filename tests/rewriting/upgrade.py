#!/usr/bin/env python3
"""Upgrades every provisional document: the result has no diagnostics, is formatted, and computes the same, bit for bit."""

from __future__ import annotations

import collections
import pathlib
import random
import re
import shutil
import struct
import sys

import corpus

LEAST_DOCUMENTS = 100
LEAST_RUNS = 90
# Longer expansions are compared as text only; shorter ones are also run.
MOST_LINES_TO_RUN = 40
INPUTS = ("--random-inputs", "7", "--backend", "reference")
SEEDS = ("--random-weights", "7", *INPUTS)

# Parts of each document of `provisional` that must keep their composition: fragments by name, and text.
KEPT = {
    "types": ["fragment sum_list(", "fragment scaled(", "fragment masked(", "mask: tensor<logical>", "items[1:]",
              "yield i * 2", "factor = 0.5", "axes = [2, 0, 1]", "# recursion stays"],
    "windows": ["fragment block(", "stride = [2, 1]", "size = [1, 3, 1, 1]", "groups = 0", "size = [1, 1] + [2] + [1]"],
    "meanings": ["fragment dense(", "transposeB = true", "k = l1_normalization(d", "r = leaky_relu(d"],
    "variables": ["fragment activate(", "# a comment inside", "b = activate(a);  # kept", "y = activate(c, slope = 0.5)"],
    "names": ["fragment gelu_2(", "yield_2", "integer_2 = 2", "stack = "],
    "tuples": ["u = reshape(x, shape = [2, 3])", "s = sum_reduce(x, axes = [2])"],
    "nested": ["z = act(z_deep_y);", "two(a_p, [a_q, a_p])", "# closes", "# of the layer\n    # the number", "# behind it"],
    "composition": ["t_z_2 = plain(t_matmul_2, e = 2.0);", "t = plain(t_z_4);", "b = plain(b_n);", "b2 = norm(a, bias = 0.0);",
                    "s = plain(s_norm_y, e = 1.5);", "c, d = swap(q, b2);", "# one floor\n    t_f = variable(", "# slope is halved"],
    "externals": ["graph extension_2( x, u )", "# no parameter"],
    "updates": ["fragment gate(", "next = update(h, y)"],
    "layers": ["# Three ways to the same extents, side by side.", "# Pools only.", "label = 'mixed/point11/filter'",
               "label = 'block/unit2/norm1/gamma'"],
}


STATEMENT = re.compile(r"^    (\(?[\w\[\], ]+\)?) = ", re.MULTILINE)
WORD = re.compile(r"'(?:\\.|[^'\\])*'|\b[A-Za-z_]\w*\b(?! = )")


def canonical(flat: str) -> str:
    """Returns a flat document with numbered tensors, except inputs and results, whose names are kept."""
    numbers = {name: name for name in re.findall(r"\w+", flat[flat.find("graph "):flat.find("\n{")])}
    for left in STATEMENT.findall(flat):
        for name in re.findall(r"\w+", left):
            numbers.setdefault(name, f"#{len(numbers)}")
    flat = WORD.sub(lambda match: numbers.get(match[0], match[0]), flat)
    return STATEMENT.sub(lambda match: re.sub(r"\w+", lambda name: numbers.get(name[0], name[0]), match[0]), flat)


def run_outputs(nnefc: str, path: pathlib.Path, outputs: pathlib.Path, has_data: bool = False) -> bytes:
    """Returns the archive of outputs of a run with random inputs, and random weights unless the model has data; of a
    failed run the errors, without their places in the text."""
    seeds = INPUTS if has_data else SEEDS
    code, _, said = corpus.run(nnefc, "run", str(path), *seeds, "--outputs", str(outputs))
    if code == 0:
        return outputs.read_bytes()
    return "\n".join(line[line.index("error:"):] for line in said.splitlines() if "error:" in line).encode()


def with_data(nnefc: str, old: pathlib.Path, folder: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path] | str:
    """Returns folders with the tensor files of a document and of its upgrade, or a message."""
    before, after = folder / "before", folder / "after"
    for made in (before, after):
        shutil.rmtree(made, ignore_errors=True)
    for command in (["run", str(old), *SEEDS, "--save-weights", str(before)], ["upgrade", str(before), "-o", str(after)]):
        code, _, said = corpus.run(nnefc, *command)
        if code != 0:
            return said
    return before, after


def failures(nnefc: str, document: corpus.Document, folder: pathlib.Path, counts: dict[str, int]) -> list[str]:
    """Returns the errors of upgrading one document."""
    old, new = folder / "old.nnef", folder / "new.nnef"
    old.write_text(document.text, encoding="utf-8", newline="")
    expected = corpus.run(nnefc, "expand", str(old))[:2]
    if expected[0] != 0:
        return []
    code, out, said = corpus.run(nnefc, "upgrade", str(old), "-o", str(new))
    if code != 0 or out:
        return [f"exit code {code}: {said}"]
    counts["documents"] += 1
    found = []
    text = new.read_text(encoding="utf-8")
    if not re.search(r"^version 1\.0;", text, re.MULTILINE):
        found.append("not ratified")
    if corpus.run(nnefc, "check", str(new)) != (0, "", ""):
        found.append("not silent")
    if corpus.run(nnefc, "fmt", str(new)) != (0, text, ""):
        found.append("not formatted")
    code, expansion, _ = corpus.run(nnefc, "expand", str(new))
    if code != 0 or canonical(expansion) != canonical(expected[1]):
        found.append("the expansion changed")
    renamed = "[variable.printed-label]" in said
    # A label that must change may have no statement of its own to change.
    if "is written flat" in said and not renamed:
        found.append("written flat")
    comments = collections.Counter(corpus.comments(document.text))
    kept = collections.Counter(corpus.comments(text))
    if not kept <= comments or "are left out" not in said and kept != comments:
        found.append("comments changed")
    if expected[1].count("\n") <= MOST_LINES_TO_RUN:
        counts["runs"] += 1
        # Random weights depend on the label, so that renamed variables get theirs from files.
        pair = with_data(nnefc, old, folder) if renamed else (old, new)
        if isinstance(pair, str):
            found.append(f"no data: {pair}")
        elif run_outputs(nnefc, pair[0], folder / "old.npz", renamed) != run_outputs(nnefc, pair[1], folder / "new.npz", renamed):
            found.append("outputs differ")
    stem = pathlib.Path(document.name).stem
    if "rewriting/provisional" in document.name:
        found += [f"`{kept}` is not kept" for kept in KEPT[stem] if kept not in text]
    return found


def provisional_tensor(shape: list[int], source: random.Random) -> bytes:
    """Returns a tensor file of the provisional layout (P 5.2): 32-bit floats."""
    count = 1
    for extent in shape:
        count *= extent
    head = struct.pack("<4BII", 0x4E, 0xEF, 1, 0, 16 + 4 * len(shape), len(shape))
    head += struct.pack(f"<{len(shape)}IBBH", *shape, 0, 32, 0)
    return head + struct.pack(f"<{count}f", *(source.uniform(-1, 1) for _ in range(count)))


def folder_failures(nnefc: str, folder: pathlib.Path) -> list[str]:
    """Returns the errors of upgrading a folder with tensor files and a graph.quant."""
    old, new = folder / "old", folder / "new"
    (old / "deep").mkdir(parents=True)
    text = (corpus.TESTS / "rewriting" / "provisional" / "windows.nnef").read_text(encoding="utf-8")
    text = text.replace("label = 'f'", "label = 'deep/f'")
    (old / "graph.nnef").write_text(text, encoding="utf-8")
    (old / "graph.quant").write_text('# of the input\n"x": linear_quantize(min = -1.0, max = 1.0, bits = 8)\n')
    source = random.Random(3)
    for label, shape in (("deep/f", [4, 4, 3, 3]), ("g", [4, 1, 3, 3]), ("h", [6, 4, 1, 1])):
        (old / f"{label}.dat").write_bytes(provisional_tensor(shape, source))
    code, out, said = corpus.run(nnefc, "upgrade", str(old), "-o", str(new))
    if code != 0 or out:
        return [f"exit code {code}: {said}"]
    found = []
    if corpus.run(nnefc, "check", str(new)) != (0, "", ""):
        found.append("not silent")
    if (new / "graph.quant").read_text() != '# of the input\n"x": linear_quantize(min = -1.0, max = 1.0, bits = 8);\n':
        found.append("graph.quant is not what it should be")
    for label in ("deep/f", "g", "h"):
        before, after = (old / f"{label}.dat").read_bytes(), (new / f"{label}.dat").read_bytes()
        # The ratified layout (R 5.2.1): a header of 128 bytes, then the same items.
        if after[:4] != b"\x4e\xef\x01\x00" or len(after) != 128 + len(before) - 32 or after[128:] != before[32:]:
            found.append(f"{label}.dat is not what it should be")
    runs = []
    for model in (old, new):
        outputs = folder / "out.npz"
        code, _, said = corpus.run(nnefc, "run", str(model), "--random-inputs", "7", "--backend", "reference", "--outputs",
                                   str(outputs))
        runs.append(outputs.read_bytes() if code == 0 else said)
    if not isinstance(runs[0], bytes) or runs[0] != runs[1]:
        found.append(f"outputs differ: {runs[0][:300]!r}")
    if corpus.run(nnefc, "upgrade", str(old), "-o", str(new))[0] != 2:
        found.append("a folder that exists was taken")
    if sorted(path.name for path in folder.iterdir()) != ["new", "old", "out.npz"]:
        found.append("something was left behind")
    return found


def renamed_failures(nnefc: str, folder: pathlib.Path) -> list[str]:
    """Returns the errors of upgrading the keys of a graph.quant whose tensors are renamed."""
    old, new = folder / "old", folder / "new"
    old.mkdir(parents=True)
    (old / "graph.nnef").write_text(
        "version 1.0\nfragment act( x: tensor ) -> ( y: tensor ) { t = relu(x) y = t * 2.0 }\n"
        "fragment layer( x: tensor ) -> ( y: tensor )\n{\n    v = variable(shape = [3], label = 'v')\n"
        "    y = sigmoid(act(x + v))\n}\n"
        "graph g( x ) -> ( y )\n{\n    x = external(shape = [3])\n    y = layer(x)\n}\n")
    (old / "v.dat").write_bytes(provisional_tensor([3], random.Random(5)))
    flat = corpus.run(nnefc, "expand", str(old))[1]
    inner = re.search(r"(\w+) = relu\(", flat)[1]
    (old / "graph.quant").write_text(f'"{inner}": linear_quantize(min = -1.0, max = 1.0, bits = 8)\n'
                                     '"x": linear_quantize(min = -1.0, max = 1.0, bits = 8)\n')
    code, _, said = corpus.run(nnefc, "upgrade", str(old), "-o", str(new))
    if code != 0:
        return [f"exit code {code}: {said}"]
    now = re.search(r"(\w+) = relu\(", corpus.run(nnefc, "expand", str(new))[1])[1]
    found = [] if now != inner else ["the tensor kept its name: this shows nothing"]
    # An unknown key would be a warning.
    if corpus.run(nnefc, "check", str(new)) != (0, "", ""):
        found.append("not silent")
    keys = re.findall(r'^"(\w+)"', (new / "graph.quant").read_text(), re.MULTILINE)
    if keys != [now, "x"] or " = act(" not in (new / "graph.nnef").read_text():
        found.append(f"keys are {keys}; expected {[now, 'x']}")
    return found


def folders_failures(nnefc: str, folder: pathlib.Path) -> list[str]:
    (folder / "data").mkdir()
    return folder_failures(nnefc, folder / "data") + renamed_failures(nnefc, folder / "renamed")


def main() -> int:
    documents = [document for document in corpus.documents()
                 if re.search(r"version\s+1\.0\s*(?!\s|;)", document.text) and "tensor<" not in document.text]
    return corpus.judge(sys.argv[1], "folder", folders_failures, documents, failures,
                        counts={"documents": 0, "runs": 0}, least={"documents": LEAST_DOCUMENTS, "runs": LEAST_RUNS})


if __name__ == "__main__":
    sys.exit(main())
