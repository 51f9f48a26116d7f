#pragma once

#include <functional>
#include <optional>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace nnefc::transform::target {

// The nodes of a graph that can compute with 8-bit quantized values.
class QuantizedRegions {
 public:
  // Returns the quantization of a constant filter.
  using FilterOf = std::function<ir::FilterQuantization(const ir::Node&, const TensorValue&)>;
  // Without `filter_of`, no filter is quantized.
  QuantizedRegions(const ir::Graph& graph, FilterOf filter_of)
      : graph_(graph), filter_of_(std::move(filter_of)) {}

  // Finds the quantized results: all candidates at first. Those that no consumer accepts and that are not
  // computed from quantized values are removed until nothing changes.
  void Find();
  // Removes the results that are not in `kept`, then others as Find does.
  void Restrict(const llvm::DenseSet<ir::NodeId>& kept);

  const ir::Graph& graph() const { return graph_; }
  const llvm::DenseSet<ir::NodeId>& results() const { return results_; }
  // The quantizations of all filters that were examined; those without scales are not quantized.
  const llvm::DenseMap<ir::NodeId, ir::FilterQuantization>& filters() const { return filters_; }

  // Returns the result that views, MaxPool, Split, Concat, Pad of channels, Interpolate of nearest pixels
  // and subtractions of zero points carry to a value; of a Concat, that of its first part. Nothing if there
  // is none. A view may need another layout of it.
  std::optional<ir::NodeId> SourceOf(ir::OutputPort port) const;
  // Returns whether a Concat joins images with equal quantization.
  bool JoinsQuantized(const ir::Node& concat) const;
  // Returns whether a node has a filter, its second input: a convolution, or a matmul whose right operand is
  // a single matrix.
  bool HasFilter(const ir::Node& node) const;
  // Returns whether the filter is a constant with int8 scales.
  bool HasQuantizedFilter(const ir::Node& node);
  // Returns whether a convolution has a constant filter that is not quantized and suits a mixed step. It is
  // computed in f32, but may read and write quantized values.
  bool HasMixedFilter(const ir::Node& node);
  // Returns the quantization of an Add of two quantized tensors of equal shapes, its only consumer after an
  // optional ReLU, or PReLU with constant slopes; null for other nodes.
  const ir::Node* QuantizationOfSum(const ir::Node& sum) const;
  // Returns the quantization after a Concat of quantized images and the functions of its channels (see
  // ir::ops::FunctionsOfConcat); null for other nodes.
  const ir::Node* QuantizationOfConcat(const ir::Node& concat) const;
  // Returns the convolution, matmul or sum of quantized values into which a quantization can be fused, or
  // null. Only ReLU and additions of constants may be between them, after a sum also PReLU.
  const ir::Node* ProducerOf(const ir::Node& quantize);

 private:
  void Settle();
  bool IsSlope(const ir::Node& node) const;
  // Returns whether a value is quantized: a result, or a view, MaxPool, Split, Concat, Pad or Interpolate of
  // such values, or their distance from zero points.
  bool IsQuantized(ir::OutputPort port) const;
  const TensorValue* ConstantOf(ir::OutputPort port) const;
  bool IsAcceptedByAny(ir::NodeId id);
  bool IsAccepted(const ir::InputPort& use);
  bool AreAnyPartsAccepted(const ir::Node& split);
  std::optional<ir::ops::LinearQuantization> QuantizationOfImage(ir::OutputPort port) const;

  const ir::Graph& graph_;
  FilterOf filter_of_;
  llvm::DenseSet<ir::NodeId> results_;  // nodes with quantized results
  llvm::DenseMap<ir::NodeId, ir::FilterQuantization> filters_;
};

}  // namespace nnefc::transform::target
