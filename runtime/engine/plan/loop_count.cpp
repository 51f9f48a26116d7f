// The number of iterations of loops.

#include "runtime/engine/plan/loop_count.h"

#include <algorithm>
#include <limits>

#include "compiler/ir/ops/opset/control_flow/iterations.h"
#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::runtime::engine::plan {

namespace {

// The common iteration count of several ports, or the first disagreement.
class Agreement {
 public:
  const std::optional<int64_t>& count() const { return count_; }
  const std::optional<kernels::Fault>& error() const { return error_; }

  template <typename Mapping>
  void Cut(const Mapping& mapping, int64_t extent, std::string_view port) {
    std::string reason;
    const std::optional<int64_t> count = ir::ops::opset::CountIterations(
        {mapping.start, mapping.end, mapping.stride, mapping.part_size}, extent, &reason);
    if (!count) return Fail(fmt::format("{} {} cannot be cut: {}", port, mapping.external, reason));
    Agree(*count, fmt::format("{} {}", port, mapping.external));
  }

  void Agree(int64_t count, std::string_view what) {
    if (!count_) count_ = count;
    if (*count_ == count) return;
    Fail(fmt::format("{} gives {} iterations; another port gives {}", what, count, *count_));
  }

  void Fail(std::string message) {
    if (!error_) error_ = kernels::KernelFault("{}", message);
  }

 private:
  std::optional<int64_t> count_;
  std::optional<kernels::Fault> error_;
};

}  // namespace

kernels::FaultOr<std::optional<int64_t>> CountLoop(const ir::Node& node, llvm::ArrayRef<Shape> inputs,
                                                   std::optional<int64_t> trip_count) {
  const ir::Body& body = node.bodies()[0];
  Agreement agreement;
  for (const ir::InputMapping& mapping : body.inputs) {
    if (!mapping.axis) continue;
    const Shape& shape = inputs[static_cast<size_t>(mapping.external)];
    if (*mapping.axis < 0 || *mapping.axis >= static_cast<int64_t>(shape.size())) {
      agreement.Fail(fmt::format("input {} is iterated over axis {}; its rank is {}", mapping.external,
                                 *mapping.axis, shape.size()));
      break;
    }
    agreement.Cut(mapping, shape[static_cast<size_t>(*mapping.axis)], "input");
  }
  if (IsLoop(node)) {
    const bool bounds = trip_count && *trip_count >= 0 && !agreement.error();
    if (bounds && *trip_count < agreement.count().value_or(std::numeric_limits<int64_t>::max()))
      return trip_count;
  } else if (!agreement.count()) {
    for (const ir::OutputMapping& mapping : body.outputs) {
      if (!mapping.axis || mapping.start < 0 || mapping.end < 0) continue;
      agreement.Cut(mapping, std::max(mapping.start, mapping.end), "output");
    }
    if (!agreement.count()) agreement.Agree(1, "the loop");
  }
  if (agreement.error()) return *agreement.error();
  return agreement.count();
}

PlannedInputs FirstInputsOf(const ir::Body& body, llvm::ArrayRef<InputFacts> inputs) {
  const ir::Graph& graph = *body.graph;
  PlannedInputs result{.shapes = std::vector<Shape>(graph.parameters().size()),
                       .constants = std::vector<TensorValue>(graph.parameters().size())};
  for (const ir::InputMapping& mapping : body.inputs) {
    const auto parameter = static_cast<size_t>(mapping.internal);
    if (mapping.external < 0) {  // the iteration number: [] or [1]
      const ir::PartialShape& declared = graph.node(graph.parameters()[parameter]).output().shape;
      if (declared.rank_known() && declared.rank() == 1) result.shapes[parameter] = {1};
      continue;
    }
    const InputFacts& input = inputs[static_cast<size_t>(mapping.external)];
    result.shapes[parameter] = input.shape;
    if (mapping.axis) {
      result.shapes[parameter][static_cast<size_t>(*mapping.axis)] = mapping.part_size;
      continue;
    }
    const bool merged = llvm::any_of(
        body.back_edges, [&](const ir::BackEdge& edge) { return edge.parameter == mapping.internal; });
    if (!merged) result.constants[parameter] = input.constant;
  }
  return result;
}

}  // namespace nnefc::runtime::engine::plan
