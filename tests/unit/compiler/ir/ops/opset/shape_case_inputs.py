"""Constant inputs and common attributes of shape cases, for make_shape_cases.py."""

import numpy as np

TYPES = {"f32": np.float32, "i64": np.int64, "i32": np.int32, "boolean": np.bool_, "f16": np.float16, "f64": np.float64,
         "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64}


def const(values, dtype="i64"):
    return np.array(values, TYPES[dtype])


def kernel(pads=None, **more):
    begin, end = pads or ([0, 0], [0, 0])
    return dict(strides=[1, 1], pads_begin=begin, pads_end=end, auto_pad="explicit") | more


def conv(pads=None, **more):
    return kernel(pads, dilations=[1, 1]) | more


def pool(size=(3, 3), pads=None, **more):
    return kernel(pads, kernel=list(size), rounding_type="floor") | more
