"""Shape cases of transforms, random numbers, pictures, sparse data and detection, for make_shape_cases.py."""

import numpy as np


def const(values, dtype=np.int64):
    return np.array(values, dtype)


def transforms():
    for name in ["opset7.DFT", "opset7.IDFT"]:
        for inputs in [["f32[4,6,2]", const([1])], ["f32[?,6,2]", const([-1, 0])], ["f32[4,6,2]", const([0, 1]), const([-1, 9])],
                       ["f32[4,6,2]", "i64[1]"], ["f32[4,6,2]", "i64[1]", "i64[1]"], ["f32[4,6,2]", const([1]), "i64[1]"],
                       ["f32[4,6,2]", const([2])], ["f32[4,6,3]", const([1])], ["f32[4,6,2]", const([0, 0])],
                       ["f32[2]", const([0])], ["f32[4,6,2]", const([0]), const([2, 3])], ["f32[...]", const([0])]]:
            yield name, inputs, {}
    for inputs in [["f32[4,6]", const([1])], ["f32[4,7]", const([-1])], ["f32[?,3..8]", const([0, 1])],
                   ["f32[4,6]", const([1, 0]), const([-1, 9])], ["f32[4,6]", "i64[1]"], ["f32[4,6]", const([2])],
                   ["f32[4,6]", const([1, 1])]]:
        yield "opset9.RDFT", inputs, {}
    for inputs in [["f32[4,6,2]", const([1])], ["f32[4,6,2]", const([0, 1]), const([8, -1])], ["f32[?,3..8,2]", const([1])],
                   ["f32[4,6,2]", const([1]), const([7])], ["f32[4,6,2]", "i64[1]"], ["f32[4,6,3]", const([1])]]:
        yield "opset9.IRDFT", inputs, {}
    size, step = const(16), const(4)
    for transposed in [False, True]:
        frames = dict(transpose_frames=transposed)
        for inputs in [["f32[2,48]", "f32[16]", size, step], ["f32[48]", "f32[9]", size, step], ["f32[?,48]", "f32[?]", size, step],
                       ["f32[2,48]", "f32[16]", "i64[]", step],
                       ["f32[2,48]", "f32[17]", size, step], ["f32[2,15]", "f32[16]", size, step], ["f32[2,48]", "f32[16]", size, const(0)],
                       ["f32[2,48]", "f32[16]", const(0), step], ["f32[2,3,48]", "f32[16]", size, step]]:
            yield "opset15.STFT", inputs, frames
    for center in [False, True]:
        modes = dict(center=center, normalized=False)
        for inputs in [["f32[2,9,5,2]", "f32[16]", size, step], ["f32[9,5,2]", "f32[11]", size, step],
                       ["f32[?,9,5,2]", "f32[16]", size, step, const(30)], ["f32[2,9,5,2]", "f32[16]", size, step, "i64[]"],
                       ["f32[2,9,5,2]", "f32[16]", size, "i64[]"], ["f32[2,9,5,2]", "f32[17]", size, step],
                       ["f32[2,9,5,2]", "f32[16]", size, const(0)], ["f32[5,2]", "f32[16]", size, step]]:
            yield "opset16.ISTFT", inputs, modes


def random_numbers():
    plain = dict(output_type="f32", global_seed=1, op_seed=2, alignment="tensorflow")
    low, high = const(0, np.float32), const(2, np.float32)
    for shape in [const([2, 3]), const([0]), "i64[3]", "i32[2]"]:
        yield "opset8.RandomUniform", [shape, low, high], plain
    yield "opset8.RandomUniform", [const([2]), "f32[]", "f32[1]"], plain
    yield "opset8.RandomUniform", [const([2]), high, low], plain
    yield "opset8.RandomUniform", [const([2]), low, high], plain | dict(output_type="i32")
    yield "opset8.RandomUniform", [const([[2]]), low, high], plain
    draws = dict(convert_type="i64", with_replacement=True, log_probs=False, global_seed=1, op_seed=2)
    for inputs in [["f32[2,5]", const(3)], ["f32[?,5]", const([3])], ["f32[2,5]", "i64[]"], ["f32[5]", const(3)]]:
        yield "opset13.Multinomial", inputs, draws


def pictures():
    for name in ["NV12toRGB", "NV12toBGR"]:
        for inputs in [["f32[2,6,8,1]"], ["f32[?,6,8,1]"], ["f32[2,4,8,1]", "f32[2,2,4,2]"], ["f32[?,?,8,1]", "f32[2,2,?,2]"],
                       ["f32[2,5,8,1]"], ["f32[2,6,7,1]"], ["f32[2,6,8,2]"], ["f32[2,4,8,1]", "f32[2,2,4,1]"],
                       ["f32[2,4,8,1]", "f32[2,4,4,2]"], ["f32[2,6,8]"], ["i64[2,6,8,1]"]]:
            yield f"opset8.{name}", inputs, {}
    for name in ["I420toRGB", "I420toBGR"]:
        plane = "f32[2,2,4,1]"
        for inputs in [["f32[2,6,8,1]"], ["f32[2,4,8,1]", plane, plane], ["f32[2,4,8,1]", plane], ["f32[2,4,8,1]", plane, "f32[2,2,4,2]"]]:
            yield f"opset8.{name}", inputs, {}


def distinct():
    kinds = dict(sorted=True, index_element_type="i64", count_element_type="i32")
    for inputs in [["f32[4,3]"], ["f32[?,3]"], ["f32[]"], ["f32[4,3]", const(2)]]:
        yield "opset10.Unique", inputs, kinds


def narrow_floats():
    for inputs in [["f32[2,3]", "f32[]"], ["f32[2,3]", "f32[3]", "f32[3]"], ["f32[?,3]", "f32[1,3]"], ["f32[2,3]", "f32[2]"]]:
        yield "opset13.FakeConvert", inputs, dict(destination_type="f8e4m3")
    yield "opset13.FakeConvert", ["f32[2,3]", "f32[]"], dict(destination_type="f8e3m4")


FAMILIES = [transforms, random_numbers, pictures, distinct, narrow_floats]
