// Intermediate values of a graph that a run also returns.

#include "tools/api/values/dumped_values.h"

#include "compiler/support/diagnostics/suggest.h"
#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc::api {
namespace {

// Returns the names of an output that `--dump` accepts.
std::vector<std::string> NamesOf(const ir::Node& node, int32_t index) {
  std::vector<std::string> names = node.output(index).names;
  if (!node.name().empty())
    names.push_back(node.num_outputs() == 1 ? node.name() : fmt::format("{}.{}", node.name(), index));
  return names;
}

class ValueFinder {
 public:
  explicit ValueFinder(const driver::Compilation& compilation)
      : compilation_(compilation), graph_(*compilation.lowered()) {
    const auto order = ir::TopologicalOrder(graph_);
    if (order) order_ = *order;
    for (ir::NodeId id : graph_.results()) outputs_.insert(graph_.node(id).name());
  }

  ErrorOr<std::vector<DumpedValue>> Find(const std::vector<std::string>& names) {
    const bool all = llvm::is_contained(names, "all");
    llvm::StringSet<> missing;
    for (const std::string& name : names) missing.insert(name);
    missing.erase("all");
    std::vector<DumpedValue> found;
    for (ir::NodeId id : order_) {
      const ir::Node& node = graph_.node(id);
      for (int32_t i = 0; i < node.num_outputs(); ++i) {
        const std::vector<std::string> called = NamesOf(node, i);
        bool asked = false;
        for (const std::string& name : called) {
          if (!missing.erase(name) || outputs_.contains(name)) continue;
          found.push_back({name, {id, i}});
          asked = true;
        }
        if (all && !asked && IsNamed(node, i) && !outputs_.contains(called.front()))
          found.push_back({called.front(), {id, i}});
      }
    }
    for (const std::string& name : names) {
      if (missing.contains(name)) return SystemError{fmt::format("`--dump {}`: {}", name, WhyNot(name))};
    }
    return found;
  }

 private:
  // Outputs of a document have names. Lowering names added nodes after the tensor they compute, so these are
  // excluded.
  bool IsNamed(const ir::Node& node, int32_t index) const {
    if (node.info().is_source) return false;
    if (compilation_.format() == driver::ModelFormat::kNnef) return !node.output(index).names.empty();
    return !NamesOf(node, index).empty();
  }

  std::string WhyNot(const std::string& name) const {
    const ir::Graph& graph = compilation_.graph();
    Suggestion suggestion(name);
    for (ir::NodeId id : graph.nodes()) {
      const ir::Node& node = graph.node(id);
      for (int32_t i = 0; i < node.num_outputs(); ++i) {
        for (const std::string& called : node.output(i).names) {
          if (called == name) return "no output depends on it, so it is not computed";
        }
      }
    }
    for (ir::NodeId id : order_) {
      const ir::Node& node = graph_.node(id);
      for (int32_t i = 0; i < node.num_outputs(); ++i) {
        for (const std::string& called : node.output(i).names) suggestion.Offer(called);
      }
    }
    if (!suggestion.best().empty())
      return fmt::format("there is no such tensor; did you mean `{}`?", suggestion.best());
    return compilation_.format() == driver::ModelFormat::kNnef
               ? "there is no such tensor; `nnefc expand` prints those that there are"
               : "there is no such tensor or layer; `nnefc inspect` prints those that there are";
  }

  const driver::Compilation& compilation_;
  const ir::Graph& graph_;
  std::vector<ir::NodeId> order_;
  llvm::StringSet<> outputs_;
};

}  // namespace

ErrorOr<std::vector<DumpedValue>> FindValues(const driver::Compilation& compilation,
                                             const std::vector<std::string>& names) {
  return ValueFinder(compilation).Find(names);
}

}  // namespace nnefc::api
