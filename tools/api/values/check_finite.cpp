// The search for the first value of a run that is infinite or NaN.

#include "tools/api/values/check_finite.h"

#include <cmath>

#include "compiler/driver/rules.h"
#include "compiler/ir/algorithms/copy.h"
#include "fmt/core.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/kernels/rules.h"
#include "tools/api/values/element_index.h"

namespace nnefc::api {
namespace {

// Returns the index of the first non-finite element.
std::optional<int64_t> FindNotFinite(const TensorValue& value) {
  if (!IsFloat(value.type())) return std::nullopt;
  for (int64_t i = 0; i < value.volume(); ++i) {
    if (!std::isfinite(value.ElementAsDouble(i))) return i;
  }
  return std::nullopt;
}

// "a NaN at [0,3]"
std::string ElementText(const TensorValue& value, int64_t position) {
  const double element = value.ElementAsDouble(position);
  const std::string text = std::isnan(element) ? "a NaN" : element > 0 ? "infinity" : "-infinity";
  return fmt::format("{} at {}", text, ElementIndex(value.shape(), position));
}

// Returns true if a body of the node, or one nested in it, has a constant with non-finite elements.
bool HasConstantNotFinite(const ir::Node& node) {
  return llvm::any_of(node.bodies(), [](const ir::Body& body) {
    return llvm::any_of(body.graph->nodes(), [&](ir::NodeId id) {
      const ir::Node& inner = body.graph->node(id);
      if (inner.Is(ir::OpRole::kConst)) return inner.output().value && FindNotFinite(*inner.output().value);
      return HasConstantNotFinite(inner);
    });
  });
}

class FiniteChecker {
 public:
  FiniteChecker(Program& program, const RunOptions& options, const Execution& prepared)
      : program_(program),
        emitter_(program.compilation().context().emitter),
        options_(options.executable),
        prepared_(prepared),
        graph_(*program.compilation().lowered()) {
    options_.backend = runtime::kernels::Backend::kReference;
    options_.plan_cache.clear();
    options_.tune = false;
  }

  void Check() {
    const std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(graph_);
    if (!order) return;
    std::vector<ir::NamedPort> kept;
    for (ir::NodeId id : *order) {
      const ir::Node& node = graph_.node(id);
      for (int32_t i = 0; i < node.num_outputs(); ++i)
        kept.emplace_back(fmt::format("#{}", kept.size()), ir::OutputPort{id, i});
    }
    const Planned planned = program_.Plan(options_, ir::Clone(graph_, kept));
    if (!planned.complete) return;
    const auto values = runtime::engine::Session::Create(planned.executable)->Run(prepared_.inputs);
    if (!values) {
      runtime::kernels::Emit(values.error(), emitter_);
      return;
    }
    const size_t own = values->size() - kept.size();  // the graph's own results come first
    for (size_t i = 0; i < kept.size(); ++i) {
      const TensorValue& value = (*values)[own + i];
      if (const auto at = FindNotFinite(value)) wrong_[kept[i].second.node] = ElementText(value, *at);
    }
    for (ir::NodeId id : *order) {
      if (wrong_.count(id) > 0 && !Report(id)) break;
    }
  }

 private:
  // Reports a node with a non-finite value. Returns false for the first operation that computes one, because
  // later values are consequences.
  bool Report(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    const std::string& element = wrong_[id];
    if (node.Is(ir::OpRole::kParameter)) {
      emitter_.Emit(runtime::kernels::kRunFailed, node.origin().range, "the data of input `{}` contain {}",
                    node.name(), element);
      return true;
    }
    if (node.info().is_source) {
      emitter_.Emit(runtime::kernels::kConstantNotFinite, node.origin().range,
                    "the constant `{}` contains {}", node.name(), element);
      return true;
    }
    if (llvm::any_of(node.inputs(), [&](ir::OutputPort input) { return wrong_.count(input.node) > 0; }) ||
        HasConstantNotFinite(node))
      return true;
    emitter_
        .Emit(runtime::kernels::kRunFailed, node.origin().range, "`{}` ({}) computes {} from finite values",
              node.name(), node.type(), element)
        .Notes(ir::StackNotes(node.origin().frame));
    return false;
  }

  Program& program_;
  Emitter& emitter_;
  runtime::engine::ExecutableOptions options_;
  const Execution& prepared_;
  const ir::Graph& graph_;
  llvm::DenseMap<ir::NodeId, std::string> wrong_;  // the first non-finite element of each node
};

}  // namespace

void CheckFinite(Program& program, const RunOptions& options, const Execution& prepared) {
  FiniteChecker(program, options, prepared).Check();
}

}  // namespace nnefc::api
