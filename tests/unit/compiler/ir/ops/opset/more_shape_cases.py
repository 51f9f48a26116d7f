"""Shape cases of transforms, random numbers, images, sparse data and detection, for make_shape_cases.py."""

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
    for inputs in [["f32[4,3]"], ["f32[?,3]"], ["f32[]"], ["f32[4,3]", const(2)], ["f32[...]", const(1)]]:
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


def detection():
    common = dict(sort_result_type="none", output_type="i64", nms_top_k=-1, keep_top_k=-1, sort_result_across_batch=False,
                  score_threshold=0.2, background_class=-1, normalized=True)
    matrix = common | dict(decay_function="linear", gaussian_sigma=2.0, post_threshold=0.0)
    greedy = common | dict(iou_threshold=0.3, nms_eta=1.0)
    for inputs in [["f32[2,7,4]", "f32[2,3,7]"], ["f32[?,7,4]", "f32[2,3,7]"], ["f32[2,7,5]", "f32[2,3,7]"], ["f32[2,7,4]", "f32[2,3,6]"]]:
        yield "opset8.MatrixNms", inputs, matrix
        yield "opset8.MulticlassNms", inputs, greedy
        yield "opset9.MulticlassNms", inputs, greedy
    encoding = dict(box_encoding="corner", sort_result_descending=True)
    for opset in ["opset1", "opset3", "opset4"]:
        kind = {} if opset == "opset1" else dict(output_type="i32")
        yield f"{opset}.NonMaxSuppression", ["f32[2,7,4]", "f32[2,3,7]", "i64[]", "f32[]", "f32[]"], encoding | kind
        yield f"{opset}.NonMaxSuppression", ["f32[2,7,4]", "f32[2,3,6]", "i64[]", "f32[]", "f32[]"], encoding | kind
    plain = dict(strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0], dilations=[1, 1], auto_pad="explicit", group=1, deformable_group=1)
    for data, offsets, filters, more in [("f32[2,4,8,8]", "f32[2,12,6,7]", "f32[6,4,3,2]", {}),
                                         ("f32[?,4,?,8]", "f32[2,12,?,7]", "f32[6,4,3,2]", {}),
                                         ("f32[2,4,8,8]", "f32[2,24,6,7]", "f32[6,2,3,2]", dict(group=2, deformable_group=2)),
                                         ("f32[2,4,8,8]", "f32[2,11,6,7]", "f32[6,4,3,2]", {}),
                                         ("f32[2,4,8,8]", "f32[2,12,5,7]", "f32[6,4,3,2]", {}),
                                         ("f32[2,4,8,8]", "f32[2,12,6,7]", "f32[6,3,3,2]", {})]:
        yield "opset1.DeformableConvolution", [data, offsets, filters], plain | more
        yield "opset8.DeformableConvolution", [data, offsets, filters], plain | more | dict(bilinear_interpolation_pad=True)
    yield "opset8.DeformableConvolution", ["f32[2,4,8,8]", "f32[2,12,6,7]", "f32[6,4,3,2]", "f32[2,6,6,7]"], plain
    yield "opset8.DeformableConvolution", ["f32[2,4,8,8]", "f32[2,12,6,7]", "f32[6,4,3,2]", "f32[2,5,6,7]"], plain


def proposals():
    common = dict(min_size=4.0, nms_threshold=0.5, pre_nms_count=20, post_nms_count=7)
    given = ["f32[2,3]", "f32[3,4,2,4]", "f32[2,8,3,4]", "f32[2,2,3,4]"]
    settings = common | dict(normalized=True, nms_eta=1.0, roi_num_type="i32")
    for place, shape in [(0, "f32[2,3]"), (0, "f32[2,4]"), (0, "f32[?,3]"), (0, "f32[2,5]"), (1, "f32[3,4,2,5]"), (2, "f32[2,9,3,4]"),
                         (3, "f32[2,2,3,5]"), (3, "f32[2,3,4]")]:
        yield "opset9.GenerateProposals", given[:place] + [shape] + given[place + 1:], settings
    given = ["f32[3]", "f32[24,4]", "f32[8,3,4]", "f32[2,3,4]"]
    for place, shape in [(0, "f32[3]"), (1, "f32[?,4]"), (1, "f32[24,5]"), (2, "f32[8,4]")]:
        yield "opset6.ExperimentalDetectronGenerateProposalsSingleImage", given[:place] + [shape] + given[place + 1:], common
    anchors = dict(base_size=8, pre_nms_topn=30, post_nms_topn=6, nms_thresh=0.6, feat_stride=8, min_size=3, ratio=[0.5, 2.0],
                   scale=[1.0, 2.5])
    given = ["f32[2,8,4,5]", "f32[2,16,4,5]", "f32[3]"]
    for place, shape in [(0, "f32[2,8,4,5]"), (1, "f32[?,16,4,5]"), (2, "f32[4]"), (2, "f32[5]"), (0, "f32[3,8,4,5]"), (1, "f32[2,16,4]")]:
        yield "opset1.Proposal", given[:place] + [shape] + given[place + 1:], anchors
        yield "opset4.Proposal", given[:place] + [shape] + given[place + 1:], anchors
    grid = dict(flatten=True, h=0, w=0, stride_x=0.0, stride_y=0.0)
    for inputs in [["f32[3,4]", "f32[1,2,3,4]", "f32[1,3,30,50]"], ["f32[3,4]", "f32[1,2,?,4]", "f32[1,3,30,50]"],
                   ["f32[3,5]", "f32[1,2,3,4]", "f32[1,3,30,50]"]]:
        for more in [{}, dict(flatten=False)]:
            yield "opset6.ExperimentalDetectronPriorGridGenerator", inputs, grid | more
    for inputs in [["f32[7,4]", "f32[7]"], ["f32[?,4]", "f32[7]"], ["f32[7,5]", "f32[7]"], ["f32[7,4]", "f32[6]"]]:
        yield "opset6.ExperimentalDetectronTopKROIs", inputs, dict(max_rois=3)


def pooled():
    rotated = dict(pooled_h=2, pooled_w=3, sampling_ratio=2, spatial_scale=1.0, clockwise_mode=True)
    for inputs in [["f32[2,3,8,9]", "f32[5,5]", "i64[5]"], ["f32[?,?,8,9]", "f32[?,5]", "i64[5]"], ["f32[2,3,8,9]", "f32[5,4]", "i64[5]"],
                   ["f32[2,3,8,9]", "f32[5,5]", "i64[4]"]]:
        yield "opset15.ROIAlignRotated", inputs, rotated
    moved = dict(output_dim=2, spatial_scale=0.8, group_size=2, mode="bilinear_deformable", spatial_bins_x=3, spatial_bins_y=2,
                 trans_std=0.3, part_size=2)
    for inputs in [["f32[2,8,7,8]", "f32[3,5]"], ["f32[2,8,7,8]", "f32[?,5]", "f32[?,4,2,2]"], ["f32[2,8,7]", "f32[3,5]"]]:
        yield "opset1.DeformablePSROIPooling", inputs, moved
    levels = dict(output_size=3, sampling_ratio=2, pyramid_scales=[4, 8], aligned=False)
    for inputs in [["f32[5,4]", "f32[1,2,64,60]", "f32[1,2,32,30]"], ["f32[?,4]", "f32[1,?,64,60]", "f32[1,2,32,30]"],
                   ["f32[5,5]", "f32[1,2,64,60]", "f32[1,2,32,30]"], ["f32[5,4]", "f32[1,2,64,60]", "f32[1,3,32,30]"]]:
        yield "opset6.ExperimentalDetectronROIFeatureExtractor", inputs, levels
    output = dict(score_threshold=0.2, nms_threshold=0.5, max_delta_log_wh=2.0, num_classes=4, post_nms_count=5,
                  max_detections_per_image=8, class_agnostic_box_regression=False, deltas_weights=[10.0, 10.0, 5.0, 5.0])
    given = ["f32[14,4]", "f32[14,16]", "f32[14,4]", "f32[1,3]"]
    for place, shape in [(0, "f32[14,4]"), (0, "f32[?,4]"), (0, "f32[14,5]"), (1, "f32[14,12]"), (2, "f32[14,5]"), (3, "f32[1,4]")]:
        yield "opset6.ExperimentalDetectronDetectionOutput", given[:place] + [shape] + given[place + 1:], output


def promotions():
    """Pairs of element types, of tensors and with a tensor of rank 0."""
    types = ["f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "boolean"]
    for a in types:
        for b in types:
            for unsafe in (False, True):
                for scalar in (False, True) if a != b else (False,):
                    yield "opset14.ConvertPromoteTypes", [f"{a}[]" if scalar else f"{a}[2]", f"{b}[2]"], dict(
                        promote_unsafe=unsafe, pytorch_scalar_promotion=scalar, u64_integer_promotion_target="f32")


FAMILIES = [transforms, random_numbers, pictures, distinct, narrow_floats, embeddings, classes, rest, detection, proposals, pooled, promotions]
