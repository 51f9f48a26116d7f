"""Every range by which a loop slices an axis or concatenates parts along it, from every start to every end: on both
backends, unrolled, and by the definition of the port map in OpenVINO's documentation of TensorIterator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

EXTENT = 6
STRIDES = (1, 2, 3, 6, -1, -2, -3, -6)


def parts_of(start: int, end: int, stride: int, extent: int) -> list[int] | None:
    """Returns the first index of each part, in the order of the iterations; nothing if the range is invalid for this
    extent."""
    begin, stop = (bound if bound >= 0 else bound + extent + 1 for bound in (start, end))
    if not (0 <= begin <= extent and 0 <= stop <= extent) or begin == stop or (stop - begin) % stride or (stop - begin) // stride < 0:
        return None
    return [bound if stride > 0 else bound + stride for bound in range(begin, stop, stride)]


def ranges(bounds: range) -> Iterator[tuple[int, int, int, list[int]]]:
    for start in bounds:
        for end in bounds:
            for stride in STRIDES:
                parts = parts_of(start, end, stride, EXTENT)
                if parts is not None:
                    yield start, end, stride, parts


def cut(start: int, end: int, stride: int) -> str:
    return f"slice(axis 1, start {start}, end {end}, stride {stride}, part {abs(stride)})"


class Loops:
    """A graph of loops, each with its expected results."""

    def __init__(self) -> None:
        self.data = np.random.default_rng(1).integers(-9, 9, (2, EXTENT)).astype(np.float32)
        self.expected: dict[str, np.ndarray] = {}
        self.lines = [f'%0 = opset1.Parameter "x" {{element_type = f32, shape = [2,{EXTENT}]}} : f32[2,{EXTENT}]',
                      '%1 = opset1.Const "first" : f32[2,1] = dense<f32[2,1]: 1.0, 2.0>']

    def add(self, expected: list[np.ndarray], operation: str, inputs: str, mapping: str, part: int, slices: bool) -> None:
        """Adds a loop with state = 2 * state + the sum of the part; results are the last state, and the concatenated
        states or parts."""
        number, name = len(self.lines), f"loop{len(self.lines)}"
        source = [f'%0 = opset1.Parameter "p" {{element_type = f32, shape = [2,{part}]}} : f32[2,{part}]',
                  '%1 = opset1.Parameter "s" {element_type = f32, shape = [2,1]} : f32[2,1]',
                  '%2 = opset1.Const "axis" : i64[1] = dense<i64[1]: 1>',
                  '%3 = opset1.ReduceSum "sum" (%0, %2) {keep_dims = true} : f32[2,1]',
                  '%4 = opset1.Add "twice" (%1, %1) : f32[2,1]', '%5 = opset1.Add "next" (%4, %3) : f32[2,1]',
                  f'%6 = opset1.Add "wide" (%0, %5) : f32[2,{part}]']
        if not slices:  # the part is the state, repeated
            source[0] = f'%0 = opset1.Const "p" : f32[2,{part}] = dense<f32[2,{part}]: ' + ", ".join(["1.0"] * 2 * part) + ">"
        if operation == "opset5.Loop":
            source += ['%7 = opset1.Const "goes_on" : boolean[] = dense<boolean[]: 1>', 'opset1.Result "condition" (%7)']
        body = "\n      ".join(source + ['opset1.Result "last" (%5)', 'opset1.Result "parts" (%6)'])
        self.lines.append(f'%{number}:2 = {operation} "{name}" ({inputs}) : f32[...], f32[...] bodies {{\n'
                          f'    "body" {mapping} graph "step" {{\n      {body}\n    }}\n  }}')
        for output, value in zip(("last", "parts"), expected):
            self.expected[f"{name}_{output}"] = value

    def states(self, parts: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
        state, wide = np.array([[1.0], [2.0]], np.float32), []
        for part in parts:
            state = 2 * state + part.sum(axis=1, keepdims=True)
            wide.append(part + state)
        return state, wide

    def iterate(self, taken: tuple[int, int, int], offsets: list[int], joined: int) -> None:
        part = abs(taken[2])
        last, wide = self.states([self.data[:, offset:offset + part] for offset in offsets])
        give = cut(0, -1, part) if joined > 0 else cut(-1, 0, -part)
        self.add([last, np.concatenate(wide[::joined], axis=1)], "opset1.TensorIterator", "%0, %1",
                 f"input 0 -> 0 {cut(*taken)} input 1 -> 1 output 0 -> 0 output 1 -> 1 {give} back 0 -> 1", part, True)

    def repeat(self, given: tuple[int, int, int], count: int) -> None:
        """Adds a loop without slices: the concatenation determines the trip count."""
        part = abs(given[2])
        last, wide = self.states([np.ones((2, part), np.float32)] * count)
        self.add([last, np.concatenate(wide[::1 if given[2] > 0 else -1], axis=1)], "opset1.TensorIterator", "%1",
                 f"input 0 -> 0 output 0 -> 0 output 1 -> 1 {cut(*given)} back 0 -> 0", part, False)

    def count(self, trips: int, taken: tuple[int, int, int], offsets: list[int]) -> None:
        """Adds a Loop over slices that ends by its trip count."""
        part = abs(taken[2])
        constants = len(self.lines)
        self.lines += [f'%{constants} = opset1.Const "trips{constants}" : i64[] = dense<i64[]: {trips}>',
                       f'%{constants + 1} = opset1.Const "runs{constants}" : boolean[] = dense<boolean[]: 1>']
        used = offsets if trips < 0 else offsets[:trips]
        last, wide = self.states([self.data[:, offset:offset + part] for offset in used])
        self.add([last, np.concatenate(wide, axis=1)], "opset5.Loop", f"%{constants}, %{constants + 1}, %0, %1",
                 f"input 2 -> 0 {cut(*taken)} input 3 -> 1 output -1 -> 0 output 0 -> 1 output 1 -> 2 {cut(0, -1, part)} back 1 -> 1",
                 part, True)

    def text(self) -> str:
        results = [f'opset1.Result "{name}" (%{name[4:].split("_")[0]}.{int(name.endswith("parts"))})' for name in self.expected]
        return 'graph "net" {\n  ' + "\n  ".join(self.lines + results) + "\n}\n"


@pytest.fixture(scope="module")
def loops() -> Loops:
    made = Loops()
    for number, (start, end, stride, offsets) in enumerate(ranges(range(-EXTENT - 1, EXTENT + 1))):
        made.iterate((start, end, stride), offsets, 1 if number % 2 else -1)
    for start, end, stride, _ in ranges(range(0, EXTENT + 1)):
        # The larger bound is the extent of the concatenation, which must be written completely.
        if min(start, end) == 0:
            made.repeat((start, end, stride), abs(end - start) // abs(stride))
    for start, end, stride, offsets in ranges(range(0, EXTENT + 1)):
        for trips in {-1, 1, len(offsets) - 1, len(offsets)} - {0}:
            made.count(trips, (start, end, stride), offsets)
    return made


@pytest.mark.parametrize("way", ["reference", "fast", "unrolled"])
def test_ranges(nnefc: Path, tmp_path: Path, loops: Loops, way: str) -> None:
    (tmp_path / "net.ir").write_text(loops.text(), encoding="utf-8")
    np.savez(tmp_path / "in.npz", x=loops.data)
    tool = Nnefc(nnefc, tmp_path)
    options = ("--inputs", tmp_path / "in.npz", "--backend", "fast" if way == "fast" else "reference")
    if way == "unrolled":
        tool.must("transform", tmp_path / "net.ir", "--only", "middle.UnrollLoops,middle.RemoveUnneeded", "-o", tmp_path / "flat.ir")
        flat = (tmp_path / "flat.ir").read_text(encoding="utf-8")
        assert "TensorIterator" not in flat and "opset5.Loop" not in flat
        outputs = tool.without_transformations().run(tmp_path / "flat.ir", *options)
    else:
        outputs = tool.without_transformations().run(tmp_path / "net.ir", *options)
    assert outputs.keys() == loops.expected.keys()
    for name, value in loops.expected.items():
        np.testing.assert_array_equal(outputs[name], value, err_msg=name)
