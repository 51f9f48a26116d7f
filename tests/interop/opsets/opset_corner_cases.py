"""Cases of opset_cases.py at the corners of their data: halves, regions and points outside the map, equal elements."""

from __future__ import annotations

import numpy as np

from opset_case_builder import F32, Const, add, f, ints, one


def regions() -> None:
    # Halves are rounded away from 0. A region of negative extent has one pixel, and one outside the map is empty.
    corners = np.array([[0, 0.5, 1.5, 6.5, 5.49], [1, -0.5, -1.5, 2.5, 3.5], [1, 6, 5, 2, 1], [0, 7, 6, 30, 9], [0, -9, -9, -3, -2],
                        [0, 20, 1, 25, 3], [1, 8, 7, 8, 7], [1, 0, 0, 0, 0]], F32)
    for height, width, scale in [(1, 1, 1.0), (3, 2, 1.0), (2, 5, 0.5), (9, 10, 1.0)]:
        add("opset2.ROIPooling", f(2, 2, 8, 9), Const(corners), pooled_h=height, pooled_w=width, spatial_scale=scale, method="max")
    parts = np.array([[0, 0, 0, 1, 1], [1, 0.25, 0.5, 0.75, 0.5], [0, 0.9, 0.8, 0.1, 0.2], [1, 0, 0, 0, 0], [0, 1, 1, 1, 1]], F32)
    for height, width in [(1, 1), (1, 3), (4, 1), (8, 9)]:
        add("opset2.ROIPooling", f(2, 2, 8, 9), Const(parts), pooled_h=height, pooled_w=width, spatial_scale=1.0, method="bilinear")


def samples() -> None:
    # Halves between pixels, the centres and the edges of the outermost pixels, and points several maps away.
    steps = np.arange(-12, 13) / 4
    points = np.stack(np.meshgrid(steps, steps), -1)[None].astype(F32)
    for mode in ["bilinear", "bicubic", "nearest"]:
        for padding in ["zeros", "border", "reflection"]:
            for align in [True, False]:
                for shape in [(5, 4), (1, 3), (2, 1)]:
                    add("opset9.GridSample", f(1, 1, *shape), points, align_corners=align, mode=mode, padding_mode=padding)


def order() -> None:
    # Equal elements keep their order: within the k elements, at their end and after it.
    equal = np.array([[2, 1, 2, 3, 1, 2, 3, 1], [1, 1, 1, 1, 1, 1, 1, 1]], F32)
    for mode in ["max", "min"]:
        for count in [1, 2, 3, 5, 7, 8]:
            add("opset11.TopK", equal, one(count), axis=1, mode=mode, sort="value", index_element_type="i64", stable=True)


def resized() -> None:
    # Results of one element, of fewer, equal and more ones along each axis.
    for coordinates in ["half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"]:
        for mode in ["nearest", "linear", "linear_onnx", "cubic"]:
            for extents in [(1, 1), (1, 12), (3, 7), (4, 5)]:
                resize = dict(mode=mode, shape_calculation_mode="sizes", coordinate_transformation_mode=coordinates, nearest_mode="floor",
                              antialias=False, pads_begin=[0], pads_end=[0], cube_coeff=-0.75)
                add("opset11.Interpolate", f(1, 2, 4, 6), ints(*extents), ints(2, 3), **resize)


for family in [regions, samples, order, resized]:
    family()
