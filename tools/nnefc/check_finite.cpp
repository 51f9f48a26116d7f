#include "tools/nnefc/check_finite.h"

#include <cmath>

#include "compiler/driver/rules.h"
#include "compiler/ir/copy.h"
#include "fmt/format.h"
#include "llvm/ADT/DenseMap.h"
#include "tools/nnefc/value_summary.h"

namespace nnefc::cli {
namespace {

// The index of the first element that is not finite.
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
  return fmt::format("{} at {}", text, IndexText(position, value));
}

class FiniteChecker {
 public:
  FiniteChecker(Compilation& compilation, const Execution& prepared)
      : emitter_(compilation.context().emitter), prepared_(prepared), graph_(*compilation.lowered()) {}

  bool Check() {
    const std::optional<std::vector<ir::NodeId>> order = graph_.TopologicalOrder();
    if (!order) return true;
    std::vector<ir::NamedPort> kept;
    for (ir::NodeId id : *order) {
      const ir::Node& node = graph_.node(id);
      for (int32_t i = 0; i < node.num_outputs(); ++i)
        kept.emplace_back(fmt::format("#{}", kept.size()), ir::OutputPort{id, i});
    }
    const std::shared_ptr<const runtime::Executable> executable =
        runtime::Executable::Create(std::shared_ptr<const ir::Graph>(ir::Clone(graph_, kept)),
                                    {.backend = runtime::Backend::kReference}, emitter_);
    if (executable == nullptr) return false;
    const auto values = runtime::Session::Create(executable)->Run(prepared_.inputs);
    if (!values) {
      Emit(values.error(), emitter_);
      return false;
    }
    const size_t own = values->size() - kept.size();  // those of the graph come first
    for (size_t i = 0; i < kept.size(); ++i) {
      const TensorValue& value = (*values)[own + i];
      if (const auto at = FindNotFinite(value)) wrong_[kept[i].second.node] = ElementText(value, *at);
    }
    for (ir::NodeId id : *order) {
      if (wrong_.count(id) > 0 && !Report(id)) break;
    }
    return wrong_.empty();
  }

 private:
  // False for the operation that is at fault: what follows from it is not told.
  bool Report(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    const std::string& element = wrong_[id];
    if (node.Is(ir::OpRole::kParameter)) {
      emitter_.Emit(runtime::kRunFailed, node.origin().range, "the data of input `{}` hold {}", node.name(),
                    element);
      return true;
    }
    if (node.info().is_source) {
      emitter_.Emit(runtime::kRunFailed, node.origin().range, "`{}` holds {}", node.name(), element);
      return true;
    }
    for (ir::OutputPort input : node.inputs()) {
      if (wrong_.count(input.node) > 0) return true;
    }
    emitter_
        .Emit(runtime::kRunFailed, node.origin().range, "`{}` ({}) makes {} from finite values", node.name(),
              node.type(), element)
        .Notes(ir::StackNotes(node.origin().frame));
    return false;
  }

  Emitter& emitter_;
  const Execution& prepared_;
  const ir::Graph& graph_;
  llvm::DenseMap<ir::NodeId, std::string> wrong_;  // by node: its first element that is not finite
};

}  // namespace

bool CheckFinite(Compilation& compilation, const Execution& prepared) {
  return FiniteChecker(compilation, prepared).Check();
}

}  // namespace nnefc::cli
