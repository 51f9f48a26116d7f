#pragma once

#include "compiler/lower/arithmetic/quantized_type.h"
#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// Functions that add OpenVINO nodes for operations on quantized tensors, and for interpolation as in tract.
// Their results must equal those of tract in every bit. The nodes compute in f64, where products and sums of
// quantized values are exact. Results of f32 arithmetic are reproduced by rounding to f32 after each
// operation; this also prevents fused multiply-adds. `n` is the NNEF node that is lowered; `suffix` is
// appended to its name for the new node.

// Converts a tensor to f64 if it has another type.
OutputPort ToDouble(NodeLowering& n, OutputPort x);
// Adds a scalar constant of type f64.
OutputPort Double(NodeLowering& n, double value, std::string_view suffix);
// Adds the scales or the zero points of a type in f64: a scalar, or one for each index of the first axis.
OutputPort Scales(NodeLowering& n, const QuantizedType& type);
OutputPort ZeroPoints(NodeLowering& n, const QuantizedType& type);
// Rounds a tensor of f64 to f32 precision; the result is still f64.
OutputPort RoundToFloat(NodeLowering& n, OutputPort x);
// Rounds to integral values, ties to even; the type is unchanged.
OutputPort RoundHalfToEven(NodeLowering& n, OutputPort x);
// Replaces NaN by 0.
OutputPort ReplaceNan(NodeLowering& n, OutputPort x);
// Quantizes a tensor of real values, but without adding the zero point and without clamping to the range of
// the type: round(x / scale), in f64.
OutputPort Steps(NodeLowering& n, OutputPort numbers, const QuantizedType& type);
// Dequantizes numbers of steps: steps * scale, rounded to f32.
OutputPort ScaleSteps(NodeLowering& n, OutputPort steps, const QuantizedType& type);

// Returns the result of `box` or `avg_pool` for borders 'constant' and 'ignore'. Computes f32 sums of the
// elements of each window in row-major order. Averages (all but `box` without `normalize`) are sums times the
// reciprocal of the count of elements, which excludes padding for border 'ignore': NaN if all elements are
// padding. Returns nothing for large windows (one node is needed per element), negative padding, other
// borders, or unknown extents.
std::optional<OutputPort> SumInOrder(NodeLowering& n);
// Replaces averages of `box` or `avg_pool` by NaN at the positions where border 'ignore' excludes every
// element. Sums, and averages of unknown extents, are unchanged. It serves nodes that SumInOrder does not
// support.
OutputPort WithNanForNoElements(NodeLowering& n, OutputPort averages);
// Returns true if at some position all elements of the node's window are padding, or if extents are unknown.
bool MayHaveNoElements(NodeLowering& n);
// Returns the result of `multilinear_upsample` or `tract_core_interpolate`: interpolates along one axis after
// the other in f32, like tract. Returns nothing for variants that tract does not have, or if extents are
// unknown.
std::optional<OutputPort> InterpolateInOrder(NodeLowering& n);

}  // namespace nnefc::lower
