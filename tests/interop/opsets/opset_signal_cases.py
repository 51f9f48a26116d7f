"""Cases of transforms, random numbers, images and distinct elements, in the form of opset_cases.py."""

from __future__ import annotations

import numpy as np

from opset_case_builder import F32, Const, Dynamic, add, f, i, ints, one

U8 = np.uint8


def transforms() -> None:
    # Longer ones, which OpenVINO transforms with less precision, are compared with NumPy.
    for length in [1, 2, 5, 8, 12]:
        for name in ["opset7.DFT", "opset7.IDFT"]:
            add(name, f(3, length, 2), ints(1))
        if length > 1:
            add("opset9.RDFT", f(3, length), ints(-1))
    for length in [2, 5, 9]:
        add("opset9.IRDFT", f(2, length, 2), ints(1), ints(2 * length - 1))
    for length in [2, 5, 9]:
        add("opset9.IRDFT", f(2, length, 2), ints(1))
    for name in ["opset7.DFT", "opset7.IDFT"]:
        add(name, f(4, 6, 5, 2), ints(0, 2))
        add(name, f(4, 6, 5, 2), ints(-1, -3, -2))
        add(name, f(4, 6, 5, 2), ints(2, 0), ints(3, -1))
        add(name, f(4, 6, 5, 2), ints(1), ints(9))
        add(name, Dynamic(f(4, 6, 5, 2), "?,6,?,2"), ints(0, 1))
        add(name, f(3, 4, 2), i(1, low=0, high=1), i(1, low=3, high=4))
    add("opset9.RDFT", f(4, 6, 5), ints(0, 2))
    add("opset9.RDFT", f(4, 6, 5), ints(2, 0, 1))
    add("opset9.RDFT", f(4, 6, 5), ints(1, 2), ints(4, 3))
    add("opset9.IRDFT", f(4, 6, 5, 2), ints(0, 2))
    add("opset9.IRDFT", f(4, 6, 5, 2), ints(2, 0, 1))
    add("opset9.IRDFT", f(4, 6, 5, 2), ints(1, 2), ints(3, 4))


def frames() -> None:
    for size, step, window in [(16, 4, 16), (16, 16, 16), (15, 3, 10), (16, 5, 11), (1, 1, 1), (48, 1, 48)]:
        for transposed in [False, True]:
            add("opset15.STFT", f(2, 48), f(window), one(size), one(step), transpose_frames=transposed)
            add("opset15.STFT", f(48), f(window), one(size), one(step), transpose_frames=transposed)
    add("opset15.STFT", Dynamic(f(1, 30), "?,?"), f(8), np.array(8), np.array(3), transpose_frames=False)
    for size, step, window in [(16, 4, 16), (16, 16, 16), (15, 4, 10), (16, 5, 11)]:
        for center in [False, True]:
            for normalized in [False, True]:
                modes = dict(center=center, normalized=normalized)
                length = f(window, low=0.1, high=1.0)
                add("opset16.ISTFT", f(3, size // 2 + 1, 5, 2), length, one(size), one(step), **modes)
                add("opset16.ISTFT", f(size // 2 + 1, 5, 2), length, one(size), one(step), one(21), **modes)


def distinct() -> None:
    values = np.round(f(4, 5))
    for sorted_ in [True, False]:
        for index in ["i32", "i64"]:
            kinds = dict(sorted=sorted_, index_element_type=index, count_element_type="i64" if index == "i32" else "i32")
            add("opset10.Unique", values, **kinds)
            add("opset10.Unique", Const(values), **kinds)
            add("opset10.Unique", i(30, low=-3, high=3, dtype=np.int32), **kinds)
            for axis in [0, 1, -1]:
                add("opset10.Unique", i(6, 2, 1, low=0, high=2, dtype=np.int32), one(axis), **kinds)
                add("opset10.Unique", i(3, 5, 2, low=0, high=1), one(axis), **kinds)
            add("opset10.Unique", Dynamic(values, "?,5"), one(0), **kinds)
            add("opset10.Unique", np.array(3.5, F32), **kinds)


def random_numbers() -> None:
    # OpenVINO's CPU plug-in generates numbers of other types as f32 and i32.
    for seeds in [dict(global_seed=150, op_seed=10), dict(global_seed=0, op_seed=7), dict(global_seed=2**33 + 5, op_seed=0)]:
        for kind, low, high in [("f32", -2.5, 3.0), ("i32", -50, 100)]:
            dtype = F32 if kind == "f32" else np.int32
            # PyTorch's generator makes 624 numbers at once.
            for alignment, shape in [("tensorflow", (3, 3)), ("tensorflow", (401,)), ("pytorch", (2, 3)), ("pytorch", (1301,))]:
                if alignment == "pytorch" and seeds["global_seed"] == 0:
                    continue
                add("opset8.RandomUniform", np.array(shape), one(low, dtype), one(high, dtype), output_type=kind,
                    alignment=alignment, **seeds)
    chances = np.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [0.4, 0.1, 0.4, 0.1]], F32)
    for given, log_probs in [(chances, False), (np.log(chances), True)]:
        for replaced, count in [(True, 9), (False, 3)]:
            for kind in ["i32", "i64"]:
                add("opset13.Multinomial", given, one(count), convert_type=kind, with_replacement=replaced,
                    log_probs=log_probs, global_seed=3, op_seed=5)


def pictures() -> None:
    for dtype in [U8, F32]:
        for name in ["NV12toRGB", "NV12toBGR", "I420toRGB", "I420toBGR"]:
            add(f"opset8.{name}", i(2, 6, 8, 1, low=0, high=255).astype(dtype))
            colors = [(2, 2, 3, 2)] if name.startswith("NV12") else [(2, 2, 3, 1)] * 2
            add(f"opset8.{name}", *(i(*shape, low=0, high=255).astype(dtype) for shape in [(2, 4, 6, 1), *colors]))


def narrow_floats() -> None:
    special = np.array([0, -0.0, 1e-4, 0.00195, 0.0029, 0.0137, 1.0625, 1.1875, 240, 248, 440, 449, 464, 465, 6e4, 6.2e4, 1e6, -1e9, np.inf,
                        1.0625 + 2**-11, 1.125 + 2**-11, 1.5e-5, 7.6e-6, 2.3e-5, 3.1e-5, 1e-7], F32)
    for kind in ["f8e4m3", "f8e5m2"]:
        add("opset13.FakeConvert", special, one(1.0, F32), destination_type=kind)
        add("opset13.FakeConvert", f(2, 3, 4), Const(f(3, 1, low=0.5)), destination_type=kind)
        add("opset13.FakeConvert", f(2, 3, 4), Const(f(1, 3, 1, low=0.5)), Const(f(1, 3, 1)), destination_type=kind)
        add("opset13.FakeConvert", f(5), f(5, low=0.5), f(5), destination_type=kind)


for family in [transforms, frames, distinct, random_numbers, pictures, narrow_floats]:
    family()
