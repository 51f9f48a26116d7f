#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/graph.h"
#include "compiler/ir/plan_functions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

// Quantization to 8 bits, and the parts of graphs whose values may stay quantized. Transformations of the
// target phase and the backends share these facts.
namespace nnefc::ir::ops {

// The number of different 8-bit values.
inline constexpr int64_t kQuantizedValues = 256;

// The mapping of numbers to quantized values 0 to 255, and back, of a node that quantizes.
struct LinearQuantization {
  // The rounding rule.
  enum class Formula : uint8_t {
    kFakeQuantize,  // ties to even; NaN becomes 0
    kMinMax,        // R 4.9.5: ties up; NaN becomes 255, as defined by clamp
    kZeroPoint,     // the same, in multiples of the scale
  };
  Formula formula = Formula::kFakeQuantize;
  float low = 0;  // lowest input value
  float high = 0;
  // Quantized values represent scale * (value - zero).
  float scale = 1;
  int zero = 0;

  float NumberOf(int64_t value) const { return scale * static_cast<float>(value - zero); }
};
// Returns nothing if the node does not quantize, its values are not multiples of a scale or differ per
// channel, or there are not 256 levels. `limits`: its other inputs, null if not constant.
std::optional<LinearQuantization> LinearQuantizationOf(const Node& node,
                                                       llvm::ArrayRef<const TensorValue*> limits);
// The same for a node in its graph with f32 result and a known shape equal to that of its data.
std::optional<LinearQuantization> LinearQuantizationOf(const Graph& graph, const Node& node);

// Returns the source node of a chain of views.
const Node& SkipViews(const Graph& graph, const Node& node);
// Returns whether a Convert of quantized values is followed only by a Gather from a constant table of 256 f32
// elements.
bool IsTableLookup(const Graph& graph, const Node& convert);
// Returns whether the quantized values of a quantization or of a node after it are stored row-major. The
// others are images, stored channels-last (NHWC).
bool AreRowMajor(const Graph& graph, const Node& quantize);
// Returns whether a Concat joins images of rank 3 to 5 along the channels in channels-last order (NHWC): all
// parts are in this order, or a convolution or MaxPool reads the result, of rank 4 or 5, in this order.
bool JoinsImages(const Graph& graph, const Node& concat);

// Returns whether a Split or VariadicSplit splits channels-last images of rank 3 to 5 along the channels.
bool SplitsImages(const Graph& graph, const Node& split);

// Returns whether an Interpolate copies pixels of channels-last images of rank 3 to 5: of mode `nearest`, of
// spatial axes alone, without padding.
bool RepeatsPixels(const Graph& graph, const Node& resize);

// Returns whether a Pad only adds channels of zeros after those of channels-last images of rank 3 to 5.
bool ExtendsChannels(const Graph& graph, const Node& pad);

// Returns the node whose result MaxPool, Split, a Pad of channels and copies of pixels carry to a value: the
// nearest one that `is_result` accepts. Nothing if another node is before it.
std::optional<NodeId> SourceOfImage(const Graph& graph, OutputPort port,
                                    llvm::function_ref<bool(const Node&)> is_result);

// Returns the nodes that follow a Concat of the channels of images of rank 3 to 5, each the only reader of
// the one before, up to a quantization: a multiplication by constants of channels, an addition of such
// constants, and a ReLU, at least one of them in this order. Empty if there are others.
llvm::SmallVector<NodeId, 4> FunctionsOfConcat(const Graph& graph, const Node& concat);

// Returns whether a node subtracts constants, zero points by channel, before a depthwise convolution, its
// only consumer.
bool SubtractsZeroPoints(const Graph& graph, const Node& node);

// Marks on the nodes of a plan, entries of rt_info. A file has no entries of these names.

// Marks a node whose result is stored as quantized values.
void MarkQuantizedResult(Graph& graph, NodeId node);
bool HasQuantizedResult(const Node& node);
// Marks a node with the quantization of its constant filter.
void MarkQuantizedFilter(Graph& graph, NodeId node, const FilterQuantization& filter);
// Returns the quantization of a marked filter, or nothing.
std::optional<FilterQuantization> QuantizedFilterOf(const Node& node);
// Removes the marks of a quantized result and filter.
void UnmarkQuantized(Graph& graph, NodeId node);

// The quantizations of the operands of a matmul of two tensors, or of the queries and keys of an attention:
// their elements are scale * (value - zero) for values from 0 to 255.
struct QuantizedOperands {
  struct Operand {
    float scale = 1;
    int zero = 0;
  };
  Operand left, right;
};
// The maximum products per element of a result of two quantized tensors, so that sums fit into 32 bits.
inline constexpr int64_t kMaxQuantizedTerms = ((int64_t{1} << 31) - 1) / (255 * 255);

// Marks a matmul or an attention that multiplies its operands in 8 bits.
void MarkQuantizedOperands(Graph& graph, NodeId node, const QuantizedOperands& operands);
// Returns the quantizations of the operands of a marked node, or nothing.
std::optional<QuantizedOperands> QuantizedOperandsOf(const Node& node);
// Returns whether a node is a marked matmul. Its step reads 8-bit values; that of an attention quantizes its
// operands.
bool MultipliesQuantizedTensors(const Node& node);

// Marks a recurrent layer whose data, its first input, are results of that quantization.
void MarkQuantizedData(Graph& graph, NodeId node, const QuantizedOperands::Operand& data);
// Returns the quantization of the data of a marked layer, or nothing.
std::optional<QuantizedOperands::Operand> QuantizedDataOf(const Node& node);

}  // namespace nnefc::ir::ops
