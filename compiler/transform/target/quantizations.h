#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "compiler/transform/graph.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc::transform::target {

// Returns true for an operation that quantizes by one of the formulas of ir::ops::LinearQuantization.
bool IsQuantization(const ir::Node& node);

// Visits the nodes that quantize to 8 bits with constant f32 limits and have consumers, in topological order
// and including those that earlier visits replaced. Removes dead nodes afterwards.
void ForEachQuantization(Graph& graph, llvm::function_ref<void(const ir::Node&)> visit);

// Returns the value of a constant f32, or null.
const TensorValue* ConstantF32(const ir::Graph& graph, ir::OutputPort port);
// Returns the value of a constant f32 with one element, or null.
const TensorValue* ConstantNumber(const ir::Graph& graph, ir::OutputPort port);
// Returns the constant inputs of a quantization after the data; empty if any is not constant.
std::vector<float> LimitsOf(const ir::Graph& graph, const ir::Node& quantize);
// Returns the range of a quantization with constant f32 limits; nothing for other nodes.
std::optional<ir::ops::LinearQuantization> RangeOf(const ir::Graph& graph, const ir::Node& node);
// Returns whether the quantization `again` leaves the result of `quantize` unchanged.
bool Repeats(const ir::Graph& graph, const ir::Node& quantize, const ir::Node& again);
// Returns whether a step can multiply quantized images by an f32 filter of that shape: of at least 16 groups
// of one channel, which fill vectors, and of one or two spatial axes.
bool SuitsMixedStep(const Shape& filter);
// Returns whether the value of a node is a result of the graph.
bool IsResult(const ir::Graph& graph, const ir::Node& node);
// Returns whether a consumer of a quantization accepts quantized values.
bool HasQuantizedConsumer(const ir::Graph& graph, const ir::Node& node);

// Returns the convolution or matmul into whose step a quantization is fused, after operations with constants
// and functions of one value. Null if there is none.
const ir::Node* ProductBefore(const ir::Graph& graph, const ir::Node& quantize);

// Replaces an output, whose tensor names move along.
void ReplaceOutput(Graph& graph, ir::OutputPort from, ir::OutputPort to);
// Returns an output as a port of `graph`.
Port PortOf(Graph& graph, ir::OutputPort port);

}  // namespace nnefc::transform::target
