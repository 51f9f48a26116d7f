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


def embeddings():
    table, indices, weights = "f32[5,2,3]", "i64[6]", "f32[6]"
    for name, more in [("opset3.EmbeddingBagOffsetsSum", {}), ("opset15.EmbeddingBagOffsets", dict(reduction="sum"))]:
        for inputs in [[table, indices, "i64[4]"], [table, indices, "i64[?]", "i64[]", weights], [table, indices, "i64[4]", "i64[]", "f32[5]"],
                       [table, "i64[6,1]", "i64[4]"], [table, indices, "i32[4]"]]:
            yield name, inputs, more
    for name, more in [("opset3.EmbeddingBagPackedSum", {}), ("opset15.EmbeddingBagPacked", dict(reduction="mean"))]:
        for inputs in [[table, "i64[4,2]"], ["f32[?,2]", "i64[?,2]"], [table, "i64[4]"]]:
            yield name, inputs, more
    for inputs in [[table, indices, indices, const(4)], [table, indices, indices, "i64[]"], [table, indices, "i64[5]", const(4)],
                   [table, indices, indices, const(4), "i64[]", weights]]:
        yield "opset3.EmbeddingSegmentsSum", inputs, {}
    for inputs in [["f32[5,2]", "i64[5]", const(4)], ["f32[5,2]", "i64[5]", "i64[]"], ["f32[3,2]", const([0, 0, 2])],
                   ["f32[5,2]", "i64[5,1]", const(4)]]:
        yield "opset16.SegmentMax", inputs, dict(fill_mode="zero")
    one = const(1, np.float32)
    for inputs in [["f32[2]", const([3, 4]), const([[0, 1], [2, 0]]), one], ["f32[2]", "i64[2]", "i64[2,2]", one],
                   ["f32[2]", const([3, 4]), "i64[2,3]", one]]:
        yield "opset16.SparseFillEmptyRows", inputs, {}
    beams = "i32[5,2,3]"
    for inputs in [[beams, beams, "i32[2]", "i32[]"], ["i32[5,?,3]", "i32[?,2,3]", "i32[2]", "i32[]"], [beams, beams, "i32[3]", "i32[]"],
                   [beams, "i32[5,2]", "i32[2]", "i32[]"]]:
        yield "opset1.GatherTree", inputs, {}


def classes():
    kinds = dict(merge_repeated=True, classes_index_type="i64", sequence_length_type="i32")
    for inputs in [["f32[2,6,4]", "i64[2]"], ["f32[?,6,4]", "i32[2]", "i32[1]"], ["f32[2,6,4]", "i64[3]"], ["f32[2,6]", "i64[2]"]]:
        yield "opset6.CTCGreedyDecoderSeqLen", inputs, kinds
    loss = dict(preprocess_collapse_repeated=False, ctc_merge_repeated=True, unique=False)
    for inputs in [["f32[2,6,4]", "i64[2]", "i64[2,6]", "i64[2]"], ["f32[?,6,4]", "i64[2]", "i64[2,6]", "i64[2]", "i64[]"],
                   ["f32[2,6,4]", "i64[3]", "i64[2,6]", "i64[2]"], ["f32[2,6,4]", "i64[2]", "i64[2,5]", "i64[2]"]]:
        yield "opset4.CTCLoss", inputs, loss


def rest():
    yield "opset14.Inverse", ["f32[2,?,3]"], dict(adjoint=False)
    yield "opset14.Inverse", ["f32[2,4,3]"], dict(adjoint=False)
    safe = dict(promote_unsafe=False, pytorch_scalar_promotion=False, u64_integer_promotion_target="f32")
    for first, second, more in [("f32[2]", "f32[3,?]", {}), ("f32[2]", "boolean[3]", {}), ("f32[2]", "i32[3]", {}),
                                ("f32[2]", "i64[3]", dict(promote_unsafe=True)), ("i32[2]", "i64[3]", {}),
                                ("i64[]", "i32[2]", dict(promote_unsafe=True, pytorch_scalar_promotion=True)),
                                ("i64[]", "i32[2]", dict(pytorch_scalar_promotion=True))]:
        yield "opset14.ConvertPromoteTypes", [first, second], safe | more
    plain = dict(strides=[1, 1], dilations=[1, 1], pads_begin=[0, 0], pads_end=[0, 0])
    for data in ["f32[2,12,9]", "f32[12,9]", "f32[?,12,9]", "f32[2,13,9]", "f32[2,12,8]"]:
        yield "opset15.Col2Im", [data, const([4, 4]), const([2, 2])], plain
    yield "opset15.Col2Im", ["f32[2,12,4]", const([4, 4]), const([2, 2])], plain | dict(strides=[2, 2])
    one = const([1])
    for inputs in [["f32[4,5]", "f32[2,5]", one, const([3]), one, const([0])], ["f32[4,5]", "f32[2,?]", one, const([3]), one],
                   ["f32[4,5]", "f32[3,5]", one, const([3]), one, const([0])], ["f32[4,5]", "f32[2,5]", "i64[1]", "i64[1]", "i64[1]"]]:
        yield "opset15.SliceScatter", inputs, {}
    yield "opset1.Xor", ["boolean[2,1]", "boolean[3]"], dict(auto_broadcast="numpy")


FAMILIES = [transforms, random_numbers, pictures, distinct, narrow_floats, embeddings, classes, rest]
