#!/usr/bin/env python3
"""Makes a model of a flat NNEF document: its graph, random weights and a random input.

Every value depends on the seed, the label of its variable and the role of the variable; README.md states the rule.
`nnefc run --random-weights` uses the same rule.
"""

from __future__ import annotations

import argparse
import math
import shutil
import struct
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import flat

GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1
CHUNK = 1 << 18
# The reciprocal standard deviation of a sum of four independent uniform 16-bit integers.
UNIT = math.sqrt(3.0 / 4294967295.0)

# The parameters, in order, of the operations that determine the role of a variable.
PARAMETERS = {
    "conv": ("input", "filter", "bias"),
    "deconv": ("input", "filter", "bias"),
    "linear": ("input", "filter", "bias"),
    "planewise_conv": ("input", "filter", "bias"),
    "planewise_deconv": ("input", "filter", "bias"),
    "separable_conv": ("input", "plane_filter", "point_filter", "bias"),
    "separable_deconv": ("input", "plane_filter", "point_filter", "bias"),
    "matmul": ("A", "B"),
    "batch_normalization": ("input", "mean", "variance", "offset", "scale"),
}
ITEM_TYPES = {"scalar": np.dtype("<f4"), "integer": np.dtype("<i4"), "logical": np.dtype("u1")}


class Tensor(NamedTuple):
    """A tensor to be filled: its file, the key of its values, and their distribution."""

    name: str
    key: str
    shape: tuple[int, ...]
    dtype: str
    role: str


# --- the rule -----------------------------------------------------------------------------------


def fnv1a(text: str) -> int:
    """Returns the 64-bit FNV-1a hash of a text's bytes."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def mix(value: int) -> int:
    """Computes the output function of SplitMix64."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def stream_key(seed: int, key: str) -> int:
    """Returns the state of the generator of one tensor before its first word."""
    return fnv1a(key) ^ mix((seed + GOLDEN) & MASK)


def words(state: int, begin: int, count: int) -> np.ndarray:
    """Returns the words begin .. begin + count of the generator that starts in `state`."""
    z = np.arange(begin + 1, begin + 1 + count, dtype=np.uint64)
    z *= np.uint64(GOLDEN)
    z += np.uint64(state)
    t = np.empty_like(z)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z ^= np.right_shift(z, np.uint64(shift), out=t)
        z *= np.uint64(factor)
    z ^= np.right_shift(z, np.uint64(31), out=t)
    return z


def normal(word: np.ndarray, deviation: float) -> np.ndarray:
    """Returns approximately normal values of mean zero: the sum of the four 16-bit fields of a word."""
    total = word.view(np.uint16).reshape(-1, 4).sum(axis=1, dtype=np.int32)
    total -= 131070
    return (total * (deviation * UNIT)).astype(np.float32)


def uniform(word: np.ndarray, factor: float, offset: float) -> np.ndarray:
    """Returns uniform values of [factor * offset, factor * (offset + 1))."""
    steps = (word >> np.uint64(40)).astype(np.float64) + offset * 2.0**24
    return (steps * 2.0**-24 * factor).astype(np.float32)


def fan_in(shape: tuple[int, ...]) -> int:
    """Returns the number of values that one output of a filter of this shape sums up."""
    return max(1, math.prod(shape[1:]))


def values(word: np.ndarray, tensor: Tensor) -> np.ndarray:
    """Returns the items of a tensor that belong to these words."""
    if tensor.dtype != "scalar":
        return (word >> np.uint64(63)).astype(ITEM_TYPES[tensor.dtype])
    if tensor.role == "variance":
        return uniform(word, 1.0, 0.5)
    if tensor.role == "scale":
        return uniform(word, 0.4, 2.0)
    deviations = {"data": 1.0, "bias": 0.01, "mean": 0.1, "offset": 0.1}
    return normal(word, deviations.get(tensor.role) or math.sqrt(2.0 / fan_in(tensor.shape)))


def generate(tensor: Tensor, seed: int) -> Iterator[np.ndarray]:
    """Yields the items of a tensor in row-major order, in chunks."""
    state, count = stream_key(seed, tensor.key), math.prod(tensor.shape)
    for begin in range(0, count, CHUNK):
        yield values(words(state, begin, min(CHUNK, count - begin)), tensor)


# --- tensors to fill ----------------------------------------------------------------------------


def variable_key(label: str) -> str:
    """Returns the key of the values of a variable; the case of labels is ignored."""
    return label.lower()


def external_key(name: str) -> str:
    """Returns the key of the values of an external tensor; no label contains a colon."""
    return "external:" + name


def roles(document: flat.Document) -> dict[str, str]:
    """Returns, for every tensor that is used as a parameter with a role, the parameter of its first use in the order of
    the text."""
    found: dict[str, str] = {}
    for operation in document.operations:
        parameters = PARAMETERS.get(operation.name, ())
        arguments = [*zip(parameters, operation.positional), *operation.named.items()]
        for parameter, value in arguments:
            if parameter in parameters and isinstance(value, flat.Name):
                found.setdefault(value, parameter)
    return found


def argument(operation: flat.Operation, name: str, position: int) -> object:
    """Returns an argument by its name, or by its position if it is positional."""
    if name in operation.named:
        return operation.named[name]
    return operation.positional[position]


def tensors(document: flat.Document, shapes: dict[str, list[int]]) -> list[Tensor]:
    """Returns the externals and the variables of a document, each label once, in the order of the text."""
    role, found, seen = roles(document), [], set()
    for operation in document.operations:
        if operation.name not in ("external", "variable"):
            continue
        result, dtype = operation.results[0], operation.dtype or "scalar"
        shape = tuple(argument(operation, "shape", 0))
        if operation.name == "external":
            shape = tuple(shapes.get(result, shape))
            found.append(Tensor(result, external_key(result), shape, dtype, "data"))
            continue
        label = str(argument(operation, "label", 1))
        if label.lower() not in seen:
            seen.add(label.lower())
            kind = role.get(result, "filter")
            found.append(Tensor(label.lstrip("/"), variable_key(label), shape, dtype, kind))
    return found


# --- files --------------------------------------------------------------------------------------


def header(tensor: Tensor, provisional: bool) -> bytes:
    """Returns the header of a tensor's file in either dialect."""
    rank, bits = len(tensor.shape), ITEM_TYPES[tensor.dtype].itemsize * 8
    if provisional:
        code = {"scalar": 0, "integer": 2, "logical": 3}[tensor.dtype]
        start = struct.pack("<4B2I", 0x4E, 0xEF, 1, 0, 16 + 4 * rank, rank)
        return start + struct.pack(f"<{rank}I2BH", *tensor.shape, code, bits, 0)
    code = {"scalar": 0, "integer": 4, "logical": 5}[tensor.dtype]
    length = math.prod(tensor.shape) * bits // 8
    extents = tensor.shape + (0,) * (8 - rank)
    return struct.pack("<4B2I8I2I76x", 0x4E, 0xEF, 1, 0, length, rank, *extents, bits, code)


def write_tensor(path: Path, tensor: Tensor, seed: int, provisional: bool) -> None:
    """Writes the file of one tensor."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.write(header(tensor, provisional))
        for chunk in generate(tensor, seed):
            file.write(chunk.data)


def make_model(
    graph: Path,
    out: Path,
    seed: int = 1,
    provisional: bool = False,
    with_input: bool = True,
    shapes: dict[str, list[int]] | None = None,
) -> list[Tensor]:
    """Makes a model folder of the flat document `graph`; returns the tensors that it wrote."""
    document = flat.parse_flat_file(graph)
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(graph, out / "graph.nnef")
    made = [t for t in tensors(document, shapes or {}) if with_input or t.role != "data"]
    for tensor in made:
        if min(tensor.shape, default=1) <= 0:
            raise ValueError(f"`{tensor.name}` has an unspecified extent; see --input-shape")
        write_tensor(out / (tensor.name + ".dat"), tensor, seed, provisional)
    return made


def pack(folder: Path, archive: Path) -> None:
    """Packs a model folder, the graph first; the same folder always yields the same archive."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    files.sort(key=lambda path: path != folder / "graph.nnef")
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        for path in files:
            info = tar.gettarinfo(path, str(path.relative_to(folder)))
            info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
            with open(path, "rb") as file:
                tar.addfile(info, file)


def shape_option(text: str) -> tuple[str, list[int]]:
    """Reads `NAME=1,3,224,224`."""
    name, _, extents = text.partition("=")
    return name, [int(extent) for extent in extents.split(",")]


def arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", type=Path, help="a flat document of either dialect")
    parser.add_argument("out", type=Path, help="the folder or archive to make")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--provisional", action="store_true",
                        help="write tensor files of the provisional layout")
    parser.add_argument("--input-shape", type=shape_option, action="append", default=[],
                        metavar="NAME=N,N,..", help="override the shape of an external tensor")
    parser.add_argument("--no-input", action="store_true",
                        help="make no files for the external tensors")
    parser.add_argument("--format", choices=("folder", "tgz"), default="folder")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    keywords = dict(seed=options.seed, provisional=options.provisional,
                    with_input=not options.no_input, shapes=dict(options.input_shape))
    try:
        if options.format == "tgz":
            with tempfile.TemporaryDirectory(dir=options.out.parent) as folder:
                made = make_model(options.graph, Path(folder), **keywords)
                pack(Path(folder), options.out)
        else:
            made = make_model(options.graph, options.out, **keywords)
    except (flat.FlatError, ValueError, OSError) as error:
        print(f"{options.graph}: error: {error}", file=sys.stderr)
        return 1
    weights = [math.prod(tensor.shape) for tensor in made if tensor.role != "data"]
    print(f"{options.out}: {len(weights)} variables, {sum(weights) / 1e6:.2f} M parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
