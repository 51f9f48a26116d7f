#pragma once

#include "compiler/lower/node_lowering.h"
#include "compiler/lower/quantized_type.h"

namespace nnefc::lower {

// Arithmetic in f64 whose results are those of f32, or whole numbers: sums of products are exact, and no step
// is joined with the next one.

OutputPort ToDouble(NodeLowering& n, OutputPort x);
OutputPort Double(NodeLowering& n, double value, std::string_view suffix);
// A tensor of f64 to the nearest numbers of f32, still in f64.
OutputPort RoundToFloat(NodeLowering& n, OutputPort x);
OutputPort RoundHalfToEven(NodeLowering& n, OutputPort x);
// Quantized values less their zero point in f64, from the numbers that they stand for.
OutputPort Steps(NodeLowering& n, OutputPort numbers, const QuantizedType& type);
// The reverse: numbers of f32.
OutputPort ScaleSteps(NodeLowering& n, OutputPort steps, const QuantizedType& type);

// `box` and `avg_pool`: sums of f32 in the order of the window's elements, by reciprocals of their counts.
// Nothing if the window has too many elements or extents are unknown.
std::optional<OutputPort> SumInOrder(NodeLowering& n);
// `multilinear_upsample` and `tract_core_interpolate`: axis by axis in f32, as tract does it. Nothing for
// what tract does not have, or if extents are unknown.
std::optional<OutputPort> InterpolateInOrder(NodeLowering& n);

}  // namespace nnefc::lower
