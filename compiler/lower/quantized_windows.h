#pragma once

#include "compiler/lower/node_lowering.h"
#include "compiler/lower/quantized_type.h"

namespace nnefc::lower {

// Arithmetic in f64 with results in f32 or integers: dot products are exact, and no two steps are fused.

OutputPort ToDouble(NodeLowering& n, OutputPort x);
OutputPort Double(NodeLowering& n, double value, std::string_view suffix);
// Rounds a tensor of f64 to f32 precision; the result is still f64.
OutputPort RoundToFloat(NodeLowering& n, OutputPort x);
OutputPort RoundHalfToEven(NodeLowering& n, OutputPort x);
// Replaces NaN by 0.
OutputPort ReplaceNan(NodeLowering& n, OutputPort x);
// Returns quantized values minus their zero point, in f64, for a tensor of real values.
OutputPort Steps(NodeLowering& n, OutputPort numbers, const QuantizedType& type);
// Returns real values in f32 for quantized values minus their zero point.
OutputPort ScaleSteps(NodeLowering& n, OutputPort steps, const QuantizedType& type);

// Computes `box` and `avg_pool`: f32 sums in the order of the window's elements, times the reciprocal of the
// count: NaN if border 'ignore' excludes every element. Returns nothing for large windows, negative padding,
// other borders, or unknown extents.
std::optional<OutputPort> SumInOrder(NodeLowering& n);
// Returns the averages of `box` or `avg_pool` with NaN at the positions where border 'ignore' excludes every
// element.
OutputPort WithNanForNoElements(NodeLowering& n, OutputPort averages);
// True if the window of the node may be entirely in the padding at a position.
bool MayHaveNoElements(NodeLowering& n);
// Computes `multilinear_upsample` and `tract_core_interpolate` axis by axis in f32, like tract. Returns
// nothing for variants that tract does not have, or if extents are unknown.
std::optional<OutputPort> InterpolateInOrder(NodeLowering& n);

}  // namespace nnefc::lower
