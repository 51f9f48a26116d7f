#!/usr/bin/env python3
"""Writes corner_cases.txt: operations at the corners of their attributes, in the form of cases.txt (see make_cases.py).

Each attribute has its smallest and its largest value, the value equal to its reference (a stride the window, a window
the image, a shift the extent) and the adjacent ones. Images have uneven extents that windows just cover or just miss.
"""
import itertools
import pathlib

import numpy as np
from openvino import opset1, opset3, opset6, opset7, opset8, opset12

from make_cases import LINES, case, const, f32, ints, lrn

LOWEST = "-3.40282347e+38"
RANDOM = np.random.default_rng(7)


def pick(*choices):
    return choices[RANDOM.integers(len(choices))]


def window(axes):
    """Returns attributes of a window over a subset of the axes, and extents of an image that it fits."""
    size = [pick(1, 2, 3) for _ in range(axes)]
    stride = [pick(1, 2, extent, extent + 1) for extent in size]
    dilation = [pick(1, 1, 2, 3) for _ in range(axes)]
    begin = [int(RANDOM.integers(extent)) for extent in size]
    end = [int(RANDOM.integers(extent)) for extent in size]
    reach = [(n - 1) * d + 1 for n, d in zip(size, dilation)]
    image = [max(1, r - b - e) + pick(0, 1, 2, s) + (2, 1, 0)[axes - 1] for r, b, e, s in zip(reach, begin, end, stride)]
    return size, stride, dilation, begin, end, image


def backward(x, w, stride, begin, end, dilation, extra):
    """Computes a deconvolution by loops, w: [groups, channels, filters, ...]: each element contributes to a window of
    the output."""
    groups, channels, filters = w.shape[:3]
    axes = range(len(stride))
    reach = [(w.shape[3 + a] - 1) * dilation[a] + 1 for a in axes]
    whole = [(x.shape[2 + a] - 1) * stride[a] + reach[a] + extra[a] for a in axes]
    out = np.zeros((x.shape[0], groups * filters, *whole))
    for at in np.ndindex(*w.shape[3:]):
        place = tuple(slice(i * d, i * d + (n - 1) * s + 1, s)
                      for i, d, s, n in zip(at, dilation, stride, x.shape[2:]))
        for g in range(groups):
            part = x[:, g * channels:(g + 1) * channels].astype(np.float64)
            out[(slice(None), slice(g * filters, (g + 1) * filters), *place)] += np.einsum(
                "bc...,cf->bf...", part, w[(g, slice(None), slice(None), *at)])
    inside = tuple(slice(b, n - e) for b, e, n in zip(begin, end, whole))
    return out[(slice(None), slice(None), *inside)].astype(np.float32)


def convolutions():
    for number in range(18):
        axes = number % 3 + 1
        size, stride, dilation, begin, end, image = window(axes)
        channels, filters = (pick(1, 2, 17), pick(1, 3, 16)) if axes < 3 else (2, pick(1, 3))
        case(f"conv_corner_{number}", lambda x, w: opset1.convolution(x, w, stride, begin, end, dilation),
             f32(pick(1, 2), channels, *image), ("const", f32(filters, channels, *size)), tolerance=1e-5)
        groups = pick(1, 2, 3)
        case(f"group_conv_corner_{number}", lambda x, w: opset1.group_convolution(x, w, stride, begin, end, dilation),
             f32(pick(1, 2), 2 * groups, *image), f32(groups, pick(1, 2), 2, *size), tolerance=1e-5)
        # An output padding is less than the stride.
        extra = [int(RANDOM.integers(s)) for s in stride]
        small = [min(extent, 5 - axes) for extent in image]
        x, w = f32(pick(1, 2), channels, *small), f32(channels, filters, *size)
        case(f"deconv_corner_{number}", lambda a, b: opset1.convolution_backprop_data(
            a, b, stride, None, begin, end, dilation, "explicit", extra), x, w, tolerance=1e-5,
            expected=backward(x, w[None], stride, begin, end, dilation, extra))
        x, w = f32(1, 2 * groups, *small), f32(groups, 2, pick(1, 2), *size)
        case(f"group_deconv_corner_{number}", lambda a, b: opset1.group_convolution_backprop_data(
            a, b, stride, None, begin, end, dilation, "explicit", extra), x, w, tolerance=1e-5,
            expected=backward(x, w, stride, begin, end, dilation, extra))


def pools():
    for number in range(12):
        axes = number % 3 + 1
        size, stride, dilation, begin, end, image = window(axes)
        rounding = pick("floor", "ceil")
        whole = [n + b + e for n, b, e in zip(image, begin, end)]
        first = len(LINES)
        case(f"max_pool_corner_{number}", lambda x: opset8.max_pool(
            x, stride, dilation, begin, end, size, rounding, "explicit", "i64", pick(0, 1, 2)),
            f32(*((2, pick(1, 3, 16)) if axes < 3 else (1, 2)), *image))
        if any(line.startswith("output f32") and LOWEST in line for line in LINES[first:]):
            del LINES[first:]  # a window in the border alone: the plug-in has another maximum of no elements
        for exclude in (False, True):
            case(f"avg_pool_corner_{number}_{int(exclude)}", lambda x: opset1.avg_pool(
                x, stride, begin, end, size, exclude, "floor", "explicit"), f32(*((2, pick(1, 3, 16)) if axes < 3 else (1, 2)), *image), tolerance=1e-5)
        case(f"avg_pool_whole_{number}", lambda x: opset1.avg_pool(
            x, [1] * axes, begin, end, whole, True, "floor", "explicit"), f32(1, 2, *image), tolerance=1e-5)


def reductions():
    x = f32(2, 3, 1, 4, low=0.5)
    for count in range(1, 5):
        for axes in itertools.combinations(range(4), count):
            name = "".join(map(str, axes))
            make = [opset1.reduce_sum, opset1.reduce_mean, opset1.reduce_max, opset1.reduce_min, opset1.reduce_prod]
            for one in (make if count == 2 else [make[0], make[count]]):
                case(f"{one.__name__}_{name}", lambda a, b: one(a, b, bool(count % 2)), x, const(axes), tolerance=1e-5)
    b = f32(2, 3, 4) > 0
    for axes in ([0], [2], [0, 2], [1, 2], [0, 1, 2]):
        name = "".join(map(str, axes))
        case(f"reduce_all_{name}", lambda a, b: opset1.reduce_logical_and(a, b, False), b, const(axes))
        case(f"reduce_any_{name}", lambda a, b: opset1.reduce_logical_or(a, b, True), b, const(axes))
    for axis, (exclusive, reverse) in itertools.product((-1, 0, 1), itertools.product((False, True), repeat=2)):
        case(f"cum_sum_{axis % 3}_{int(exclusive)}{int(reverse)}",
             lambda a, at: opset3.cum_sum(a, at, exclusive, reverse), f32(2, 3, 4), const(axis), tolerance=1e-5)
    for axis, mode, sort in itertools.product((0, 1, 2), ("max", "min"), ("value", "index")):
        shape = (3, 5, 4)
        for count in (1, shape[axis] - 1, shape[axis]):
            case(f"top_k_{axis}_{mode}_{sort}_{count}", lambda a, k: opset3.topk(a, k, axis, mode, sort), f32(*shape),
                 const(count))


def order():
    for number, perm in enumerate(itertools.permutations(range(3))):
        case(f"transpose_{number}", opset1.transpose, f32(2, 3, 4), const(perm))
    for number in range(6):
        case(f"transpose_5d_{number}", opset1.transpose, f32(2, 3, 1, 4, 2), const(RANDOM.permutation(5)))
    for axis in range(4):
        shapes = [[2, 3, 2, 4] for _ in range(3)]
        for part, extent in zip(shapes, (1, 3, 2)):
            part[axis] = extent
        case(f"concat_{axis}", lambda a, b, c: opset1.concat([a, b, c], axis), *[f32(*shape) for shape in shapes])
        case(f"variadic_split_{axis}", opset1.variadic_split, f32(*[6 if at == axis else 2 for at in range(4)]),
             const(axis), const([2, 1, 3]))
    for mode in ("blocks_first", "depth_first"):
        for block in (1, 2, 3):
            case(f"depth_to_space_{mode}_{block}", lambda a: opset1.depth_to_space(a, mode, block),
                 f32(2, 2 * block * block, 2, 3))
            case(f"space_to_depth_{mode}_{block}", lambda a: opset1.space_to_depth(a, mode, block),
                 f32(2, 3, 2 * block, block))
    for axis, groups in ((1, 2), (1, 6), (-1, 3)):
        case(f"shuffle_channels_{axis % 4}_{groups}", lambda a: opset3.shuffle_channels(a, axis, groups), f32(2, 6, 2, 3))
    case("space_to_batch", opset8.space_to_batch,
         f32(2, 3, 4, 5), const([1, 1, 2, 3]), const([0, 0, 1, 0]), const([0, 0, 1, 1]))
    case("batch_to_space", opset8.batch_to_space, f32(12, 2, 3, 2), const([1, 1, 2, 3]), const([0, 0, 1, 0]),
         const([0, 0, 0, 2]))
    lengths = np.array([3, 1, 4], np.int64)
    case("reverse_sequence", lambda a, n: opset1.reverse_sequence(a, n, 0, 1), f32(3, 4, 2), const(lengths))
    case("reverse_sequence_last", lambda a, n: opset1.reverse_sequence(a, n, 1, 2), f32(2, 3, 4), const(lengths))
    for shift, axes in (([1], [0]), ([-1], [1]), ([3, 5], [0, 1]), ([4, -9, 2], [2, 1, 2])):
        case(f"roll_{len(axes)}_{shift[0] % 10}", opset7.roll, f32(3, 5, 4), const(shift), const(axes))


def parts():
    steps = [(0, 7, 1), (6, -8, -1), (-1, 0, -2), (1, -1, 3), (2, 3, 1), (5, 100, 2), (-100, 4, 1), (100, -100, -3),
             (3, 3, 1)]
    for number, (begin, end, step) in enumerate(steps):
        case(f"slice_corner_{number}", lambda a, *at: opset8.slice(a, *at), f32(3, 7), const([begin]), const([end]),
             const([step]), const([1]))
        if number != len(steps) - 1:
            case(f"strided_slice_corner_{number}",
                 lambda a, b, e, s: opset1.strided_slice(a, b, e, s, [0, 0], [0, 0]), f32(3, 7), const([0, begin]),
                 const([3, end]), const([1, step]))
    for mode, most in (("constant", 5), ("edge", 5), ("reflect", 2), ("symmetric", 3)):
        for begin, end in ((0, most), (most, 0), (1, most - 1), (most, most)):
            case(f"pad_{mode}_{begin}_{end}", lambda a, b, e: opset1.pad(a, b, e, mode), f32(2, 3), const([0, begin]),
                 const([1, end]))
    for axis in range(3):
        case(f"gather_corner_{axis}", opset8.gather, f32(2, 3, 4), const([1, 0, -1, -2]), const(axis))
        case(f"gather_elements_{axis}", lambda d, i: opset6.gather_elements(d, i, axis), f32(2, 3, 4),
             ints(2, 3, 4, low=0, high=2 + axis))
    for batch in (0, 1, 2):
        case(f"gather_batch_{batch}", lambda d, i, a: opset8.gather(d, i, a, batch), f32(2, 3, 4, 5),
             ints(2, 3, 2, low=0, high=4), const(2))
        case(f"gather_nd_{batch}", lambda d, i: opset8.gather_nd(d, i, batch), f32(2, 3, 4, 5),
             ints(2, 3, 2, low=0, high=2))
    case("scatter_nd_update", opset8.scatter_nd_update, f32(3, 4, 2), const([[0, 1], [2, 3], [1, 0]]), f32(3, 2))
    case("scatter_nd_rows", opset8.scatter_nd_update, f32(3, 4), const([[2], [0]]), f32(2, 4))
    for axis in (0, 1, 2, -1):
        case(f"scatter_update_{axis % 9}", opset3.scatter_update, f32(3, 4, 3), const([2, 0]),
             f32(*[2 if at == axis % 3 else n for at, n in enumerate((3, 4, 3))]), const(axis))
    for axis in (0, 1, -1):
        case(f"one_hot_{axis % 9}", lambda i, *v: opset1.one_hot(i, *v, axis), ints(2, 3, low=-1, high=6),
             const(5), const(2.5, np.float32), const(-1, np.float32))
    for number, (shape, repeats) in enumerate((((2, 1, 3), (1, 4, 2)), ((3,), (2, 2)), ((2, 3, 2), (2,)), ((2, 3), (1, 1)))):
        case(f"tile_corner_{number}", opset1.tile, f32(*shape), const(repeats))


def rows():
    for axis in range(4):
        case(f"softmax_axis_{axis}", lambda a: opset8.softmax(a, axis), f32(2, 3, 1, 5, low=-9, high=9), tolerance=1e-5)
        case(f"log_softmax_axis_{axis}", lambda a: opset8.log_softmax(a, axis), f32(2, 3, 2, 5, low=-9, high=9), tolerance=1e-5)
    shapes = [((3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((1, 3, 4), (5, 1, 4, 2)), ((4,), (4,)), ((4,), (4, 3)),
              ((2, 1, 1), (2, 1, 3)), ((1, 1), (1, 1)), ((17, 1), (1, 19))]
    for number, (a, b) in enumerate(shapes):
        case(f"matmul_corner_{number}", lambda x, y: opset1.matmul(x, y, False, False), f32(*a), f32(*b), tolerance=1e-5)
    x = f32(2, 5, 4, 3)
    for axes, size in (([1], 1), ([1], 3), ([1], 9), ([1], 11), ([2, 3], 5), ([3], 3), ([1, 2, 3], 3)):
        name = "".join(map(str, axes))
        case(f"lrn_{name}_{size}", lambda a, at: opset1.lrn(a, at, 0.3, 0.75, 1.5, size), x, const(axes), tolerance=1e-5,
             expected=lrn(x, axes, 0.3, 0.75, 1.5, size))
    for axes in ([1], [0, 1], [2, 3], [1, 2, 3], [0]):
        name = "".join(map(str, axes))
        for variance in (True, False):
            case(f"mvn_{name}_{int(variance)}", lambda a, at: opset6.mvn(a, at, variance, 1e-3, "inside_sqrt"), x,
                 const(axes), tolerance=1e-5)
        squares = np.sqrt((x.astype(np.float64) ** 2).sum(tuple(axes), keepdims=True) + 1e-3)
        case(f"normalize_l2_{name}", lambda a, at: opset1.normalize_l2(a, at, 1e-3, "add"), x, const(axes),
             tolerance=1e-5, expected=(x / squares).astype(np.float32))
    for levels in (2, 3, 256):
        scalars = [const(v, np.float32) for v in (-1.0, 1.5, -2.0, 3.0)]
        case(f"fake_quantize_{levels}", lambda *a: opset1.fake_quantize(*a, levels), x, *scalars, tolerance=1e-5)
    flat = [const(v, np.float32) for v in (0.5, 0.5, -1.0, 2.0)]  # values up to the bound become the low output
    case("fake_quantize_no_range", lambda *a: opset1.fake_quantize(*a, 16), x, *flat,
         expected=np.where(x <= 0.5, -1, 2).astype(np.float32))


def main():
    for family in [convolutions, pools, reductions, order, parts, rows]:
        family()
    pathlib.Path(__file__).with_name("corner_cases.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
