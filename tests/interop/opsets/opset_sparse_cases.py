"""Cases of embedding sums, segments, sparse matrices and beams, in the form of opset_cases.py."""

from __future__ import annotations

import numpy as np

from opset_case_builder import F32, Const, Dynamic, add, f, i, ints, one

I32 = np.int32


def embeddings() -> None:
    table, indices, offsets = f(5, 2, 3), ints(0, 2, 3, 4, 1, 1, dtype=I32), ints(0, 2, 2, 4, dtype=I32)
    default, weights = one(3, I32), f(6)
    for inputs in [(table, indices, offsets), (table, indices, offsets, default), (table, indices, offsets, default, weights),
                   (table, indices, offsets, one(-1, I32), weights), (Dynamic(f(5, 2), "?,2"), indices, offsets)]:
        add("opset3.EmbeddingBagOffsetsSum", *inputs)
        add("opset15.EmbeddingBagOffsets", *inputs, reduction="sum")
        if len(inputs) < 5:
            add("opset15.EmbeddingBagOffsets", *inputs, reduction="mean")
    packed = Const(np.array([[0, 2], [1, 2], [3, 4]], I32))
    for inputs in [(table, packed), (table, packed, f(3, 2)), (Dynamic(f(5, 2), "?,2"), packed)]:
        add("opset3.EmbeddingBagPackedSum", *inputs)
        add("opset15.EmbeddingBagPacked", *inputs, reduction="sum")
        if len(inputs) < 3:
            add("opset15.EmbeddingBagPacked", *inputs, reduction="mean")
    segments = ints(0, 0, 2, 2, 4, 4, dtype=I32)
    count = one(6, I32)
    for inputs in [(), (default,), (default, weights)]:
        add("opset3.EmbeddingSegmentsSum", table, indices, segments, count, *inputs)


def segments() -> None:
    for mode in ["zero", "lowest"]:
        for count in [(), (one(4),), (one(7),), (one(2),)]:
            add("opset16.SegmentMax", f(5, 2, 3), ints(0, 0, 2, 3, 3), *count, fill_mode=mode)
            add("opset16.SegmentMax", i(5, dtype=I32), ints(0, 1, 1, 3, 3), *count, fill_mode=mode)
        add("opset16.SegmentMax", Dynamic(f(3, 2), "?,2"), np.array([0, 0, 4]), fill_mode=mode)


def sparse_rows() -> None:
    pairs = np.array([[0, 1], [3, 0], [3, 4], [1, 2]], I32)
    for indices in [Const(pairs), pairs]:
        add("opset16.SparseFillEmptyRows", f(4), ints(6, 5, dtype=I32), indices, one(-1.5, F32))
    add("opset16.SparseFillEmptyRows", f(2), ints(2, 3, dtype=I32), Const(np.array([[1, 2], [0, 0]], I32)), one(0.5, F32))


def beams() -> None:
    steps = i(5, 2, 3, low=1, high=8, dtype=I32)
    parents = i(5, 2, 3, low=0, high=3, dtype=I32)
    add("opset1.GatherTree", steps, parents, np.array([5, 3], I32), one(9, I32))
    add("opset1.GatherTree", steps, parents, np.array([2, 1], I32), one(4, I32))
    add("opset1.GatherTree", steps.astype(F32), parents.astype(F32), np.array([4, 9], F32), one(5, F32))


def classes() -> None:
    scores = f(2, 6, 4)
    for merge in [False, True]:
        for blank in [(), (one(0, I32),), (one(2, I32),)]:
            for kind in ["i32", "i64"]:
                add("opset6.CTCGreedyDecoderSeqLen", scores, np.array([6, 4], I32), *blank, merge_repeated=merge,
                    classes_index_type=kind, sequence_length_type=kind)
    labels = np.array([[1, 1, 2, 0, 0, 0], [0, 2, 0, 0, 1, 1]], I32)
    for blank in [(), (one(3, I32),)]:
        for collapse in [False, True]:
            for merge in [False, True]:
                for unique in [False, True]:
                    add("opset4.CTCLoss", scores, np.array([6, 5], I32), labels, np.array([3, 2], I32), *blank,
                        preprocess_collapse_repeated=collapse, ctc_merge_repeated=merge, unique=unique)


def inverses() -> None:
    for adjoint in [False, True]:
        add("opset14.Inverse", f(3, 4, 4), adjoint=adjoint)
        add("opset14.Inverse", f(1, 1), adjoint=adjoint)
        add("opset14.Inverse", np.array([[0, 2, 1], [1, 0, 3], [4, 1, 0]], F32), adjoint=adjoint)


def promotions() -> None:
    plain = dict(promote_unsafe=False, pytorch_scalar_promotion=False, u64_integer_promotion_target="f32")
    unsafe = plain | dict(promote_unsafe=True)
    add("opset14.ConvertPromoteTypes", f(2, 3), f(4), **plain)
    add("opset14.ConvertPromoteTypes", f(2, 3), i(4, dtype=np.int8), **plain)
    add("opset14.ConvertPromoteTypes", i(3, dtype=I32), f(4), **unsafe)
    add("opset14.ConvertPromoteTypes", i(3, dtype=I32), i(4, dtype=np.int8), **plain)
    add("opset14.ConvertPromoteTypes", i(3, low=0, dtype=np.uint8), i(4, dtype=I32), **plain)
    add("opset14.ConvertPromoteTypes", i(3, low=0, dtype=np.uint8), i(4, dtype=np.int8), **unsafe)
    add("opset14.ConvertPromoteTypes", i(3, dtype=I32), np.array(3, np.int8), **plain | dict(pytorch_scalar_promotion=True))


def columns() -> None:
    plain = dict(strides=[1, 1], dilations=[1, 1], pads_begin=[0, 0], pads_end=[0, 0])
    for size, kernel, windows, more in [((4, 4), (2, 2), 9, {}), ((4, 5), (2, 2), 4, dict(strides=[2, 2])),
                                        ((5, 5), (2, 3), 9, dict(dilations=[2, 1])),
                                        ((4, 4), (3, 3), 24, dict(pads_begin=[1, 1], pads_end=[1, 3]))]:
        rows = 3 * kernel[0] * kernel[1]
        add("opset15.Col2Im", f(2, rows, windows), ints(*size), ints(*kernel), **plain | more)
        add("opset15.Col2Im", f(rows, windows), ints(*size), ints(*kernel), **plain | more)


def scattered_slices() -> None:
    x = f(4, 5, 6)
    add("opset15.SliceScatter", x, f(2, 5, 6), ints(1), ints(3), ints(1), ints(0))
    add("opset15.SliceScatter", x, f(4, 3, 6), ints(0), ints(2**31 - 1), ints(2), ints(1))
    add("opset15.SliceScatter", x, f(4, 5, 3), ints(-1), ints(0), ints(-2), ints(-1))
    add("opset15.SliceScatter", x, f(2, 2, 6), ints(1, -2), ints(3, 9), ints(1, 1))
    add("opset15.SliceScatter", Dynamic(x, "?,5,?"), f(4, 2, 6), ints(1), ints(3), ints(1), ints(1))


def exclusive() -> None:
    yes = np.array([True, False, True, False])
    add("opset1.Xor", yes, np.array([True, True, False, False]), auto_broadcast="numpy")


for family in [embeddings, segments, sparse_rows, beams, classes, inverses, promotions, columns, scattered_slices, exclusive]:
    family()
