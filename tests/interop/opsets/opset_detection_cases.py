"""Cases of per-class box selection and deformable convolutions, in the form of opset_cases.py."""

from __future__ import annotations

import numpy as np

from opset_case_builder import F32, RANDOM, Const, Dynamic, add, f, one


def boxes(*leading: int) -> np.ndarray:
    """Returns left, top, right, bottom."""
    corners = np.sort(RANDOM.uniform(0, 1, (*leading, 2, 2)), axis=-2)
    return corners.reshape(*leading, 4).astype(F32)


def old_suppression() -> None:
    scores = f(2, 3, 12, low=0.0, high=1.0)
    for opset in ["opset1", "opset3", "opset4"]:
        kind = {} if opset == "opset1" else dict(output_type="i64")
        for encoding in ["corner", "center"]:
            add(f"{opset}.NonMaxSuppression", boxes(2, 12), scores, one(3), one(0.4, F32), one(0.3, F32),
                box_encoding=encoding, sort_result_descending=True, **kind)
        add(f"{opset}.NonMaxSuppression", boxes(2, 12), scores, one(20), one(0.2, F32), one(0.0, F32),
            box_encoding="corner", sort_result_descending=False, **kind)


def by_class() -> None:
    common = dict(sort_result_type="none", output_type="i64", nms_top_k=-1, keep_top_k=-1, sort_result_across_batch=False,
                  score_threshold=0.2, background_class=-1, normalized=True)
    matrix = common | dict(decay_function="linear", gaussian_sigma=2.0, post_threshold=0.0)
    greedy = common | dict(iou_threshold=0.3, nms_eta=1.0)
    settings = [dict(sort_result_type="score"), dict(sort_result_type="classid"), dict(nms_top_k=4, output_type="i32"),
                dict(keep_top_k=5), dict(sort_result_across_batch=True, sort_result_type="score"),
                dict(sort_result_across_batch=True, sort_result_type="classid"), dict(background_class=1), dict(normalized=False)]
    for more in settings:
        given, scores = boxes(2, 12), f(2, 3, 12, low=0.0, high=1.0)
        if "sort_result_type" not in more:
            more = more | dict(sort_result_type="score")
        add("opset8.MatrixNms", given, scores, **matrix | more)
        add("opset8.MatrixNms", given, scores, **matrix | dict(decay_function="gaussian", post_threshold=0.3) | more)
        for opset in ["opset8", "opset9"]:
            add(f"{opset}.MulticlassNms", given, scores, **greedy | more)
            add(f"{opset}.MulticlassNms", given, scores, **greedy | dict(iou_threshold=0.6, nms_eta=0.9) | more)
        add("opset9.MulticlassNms", boxes(3, 12), f(3, 12, low=0.0, high=1.0), np.array([5, 0, 7]), **greedy | more)


def deformable() -> None:
    plain = dict(strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0], dilations=[1, 1], auto_pad="explicit", group=1,
                 deformable_group=1)
    for more, extents in [({}, (6, 7)), (dict(strides=[2, 1], pads_begin=[1, 0], pads_end=[0, 2]), (4, 9)),
                          (dict(dilations=[2, 2]), (4, 6)), (dict(group=2), (6, 7)), (dict(deformable_group=2), (6, 7)),
                          (dict(group=2, deformable_group=4), (6, 7)), (dict(auto_pad="same_upper"), (8, 8))]:
        settings = plain | more
        places = settings["deformable_group"] * 6
        inputs = (f(2, 4, 8, 8), f(2, 2 * places, *extents), Const(f(6, 4 // settings["group"], 3, 2)))
        add("opset1.DeformableConvolution", *inputs, **settings)
        # OpenVINO runs nodes that differ only in `bilinear_interpolation_pad` by one kernel: each has another shape.
        padded = settings["strides"] == [1, 1] and settings["deformable_group"] == 1
        add("opset8.DeformableConvolution", *inputs, f(2, places, *extents, low=0.0), **settings, bilinear_interpolation_pad=padded)
        add("opset8.DeformableConvolution", *inputs, **settings, bilinear_interpolation_pad=padded)
    add("opset1.DeformableConvolution", Dynamic(f(1, 2, 5, 5), "?,2,?,?"), f(1, 8, 4, 4), Const(f(3, 2, 2, 2)), **plain)


def proposals() -> None:
    anchors = np.concatenate([RANDOM.uniform(0, 20, (3, 4, 2, 2)), RANDOM.uniform(20, 40, (3, 4, 2, 2))], -1).astype(F32)
    common = dict(min_size=4.0, nms_threshold=0.5, pre_nms_count=20, post_nms_count=7)
    for more in [{}, dict(normalized=False), dict(min_size=15.0), dict(roi_num_type="i32"), dict(post_nms_count=100)]:
        settings = common | dict(normalized=True, nms_eta=1.0, roi_num_type="i64") | more
        for info in [np.array([[30, 40, 1], [35, 36, 2]], F32), np.array([[30, 40, 1, 2], [35, 36, 2, 1]], F32)]:
            inputs = info, anchors, f(2, 8, 3, 4, low=-0.5, high=0.5), f(2, 2, 3, 4, low=0.0, high=1.0)
            add("opset9.GenerateProposals", *inputs, **settings)
    # Regions that are too small have the score 0; their order is undefined.
    for more in [{}, dict(min_size=15.0, post_nms_count=3)]:
        add("opset6.ExperimentalDetectronGenerateProposalsSingleImage", np.array([30, 40, 1], F32), anchors.reshape(-1, 4),
            f(8, 3, 4, low=-0.5, high=0.5), f(2, 3, 4, low=0.1, high=1.0), **common | more)
    common = dict(base_size=8, pre_nms_topn=30, post_nms_topn=6, nms_thresh=0.6, feat_stride=8, min_size=3, ratio=[0.5, 2.0],
                  scale=[1.0, 2.5], clip_before_nms=True, clip_after_nms=False, normalize=False, box_size_scale=1.0,
                  box_coordinate_scale=1.0, framework="")
    for more in [{}, dict(framework="tensorflow", box_size_scale=5.0, box_coordinate_scale=10.0), dict(normalize=True),
                 dict(clip_before_nms=False, clip_after_nms=True), dict(post_nms_topn=4, nms_thresh=0.3)]:
        for opset in ["opset1", "opset4"]:
            add(f"{opset}.Proposal", f(1, 8, 4, 5, low=0.1, high=1.0), f(1, 16, 4, 5, low=-0.5, high=0.5),
                np.array([32, 40, 1], F32), **common | more)


def detectron() -> None:
    common = dict(flatten=True, h=0, w=0, stride_x=0.0, stride_y=0.0)
    # OpenVINO's shape functions ignore `h` and `w`, its kernels do not.
    for more in [{}, dict(flatten=False), dict(stride_x=4.0, stride_y=3.0)]:
        add("opset6.ExperimentalDetectronPriorGridGenerator", f(3, 4), f(1, 2, 3, 4), f(1, 3, 30, 50), **common | more)
    for count in [1, 4, 7]:
        add("opset6.ExperimentalDetectronTopKROIs", f(7, 4), f(7), max_rois=count)


def pooled() -> None:
    regions = np.array([[4, 4, 5, 3, 0.3], [2, 5, 3, 6, -1.2], [7, 7, 6, 6, 2.0]], F32)
    for more in [{}, dict(sampling_ratio=0), dict(clockwise_mode=False), dict(spatial_scale=0.5, pooled_w=3)]:
        settings = dict(pooled_h=2, pooled_w=2, sampling_ratio=2, spatial_scale=1.0, clockwise_mode=True) | more
        add("opset15.ROIAlignRotated", f(2, 3, 8, 9), regions, np.array([0, 1, 1]), **settings)
    boxes_of = np.array([[0, 1, 1, 6, 5], [1, 0, 2, 3, 7], [0, 3.4, 2.6, 20, 11]], F32)
    common = dict(output_dim=2, spatial_scale=0.8, group_size=2, mode="bilinear_deformable", spatial_bins_x=3, spatial_bins_y=2,
                  trans_std=0.3, part_size=2)
    add("opset1.DeformablePSROIPooling", f(2, 8, 7, 8), boxes_of, **common)
    for classes in [1, 2]:
        add("opset1.DeformablePSROIPooling", f(2, 8, 7, 8), boxes_of, f(3, 2 * classes, 2, 2, low=-1, high=1), **common)
    rois = np.array([[10, 10, 60, 70], [0, 5, 300, 200], [30, 30, 30, 40], [5, 5, 12, 9], [100, 40, 500, 480]], F32)
    for more in [{}, dict(aligned=True), dict(sampling_ratio=0)]:
        settings = dict(output_size=3, sampling_ratio=2, pyramid_scales=[4, 8, 16], aligned=False) | more
        add("opset6.ExperimentalDetectronROIFeatureExtractor", rois, f(1, 2, 64, 60), f(1, 2, 32, 30), f(1, 2, 16, 15), **settings)
    common = dict(score_threshold=0.2, nms_threshold=0.5, max_delta_log_wh=2.0, num_classes=4, post_nms_count=5,
                  max_detections_per_image=8, class_agnostic_box_regression=False, deltas_weights=[10.0, 10.0, 5.0, 5.0])
    for more in [{}, dict(max_detections_per_image=60, post_nms_count=100), dict(nms_threshold=0.2, post_nms_count=2)]:
        add("opset6.ExperimentalDetectronDetectionOutput", boxes(14) * 40, f(14, 16), f(14, 4, low=0.0, high=1.0),
            np.array([[50, 60, 1]], F32), **common | more)


for family in [old_suppression, by_class, deformable, proposals, detectron, pooled]:
    family()
