#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/expand/build/build_settings.h"
#include "compiler/expand/build/externals.h"
#include "compiler/expand/build/integer_widths.h"
#include "compiler/expand/build/node_factory.h"
#include "compiler/expand/build/reporter.h"
#include "compiler/expand/build/symbol_scopes.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::expand::build {

// Turns calls of operations into nodes: converts arguments and results where the document's dialect differs
// from the ratified declarations. Errors are emitted with the stack of fragments.
class GraphBuilder {
 public:
  GraphBuilder(ir::Graph& graph, const BuildSettings& settings);

  // Creates a node for a call of the plan's operation; `arguments` are those of the callee. Returns its
  // result: a tensor, an array, or a tuple; poison after an error.
  Value Make(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site);
  // Creates a node of a ratified operation with arguments in the order of its declaration; missing ones at
  // the end have their defaults.
  Value MakeRatified(std::string_view name, llvm::ArrayRef<Value> arguments, const Site& site);
  // Names a tensor or literal as an identifier of the graph's body: a tensor that has another identifier is
  // copied, in lenient mode a known number is returned instead, and a literal becomes a constant.
  Value NameInBody(const Value& value, Symbol identifier, const Site& site);

  // Returns the plan of an operation of the ratified dialect or of an extension.
  const OpPlan& RatifiedPlan(std::string_view name);
  // Returns the value of a constant or variable, looking through views; nothing if it is unknown.
  std::optional<TensorValue> KnownTensor(ir::OutputPort port) const;

  void Report(const Fault& fault, const Site& site) { reporter_.Report(fault, site); }
  void Report(const Fault& fault, const OpPlan& plan, const Site& site) {
    reporter_.Report(fault, plan, site);
  }
  Reporter& reporter() { return reporter_; }
  SymbolScopes& symbols() { return symbols_; }
  Externals& externals() { return externals_; }
  IntegerWidths& widths() { return widths_; }
  NodeFactory& nodes() { return nodes_; }
  // Returns the graph that receives new nodes, and its names.
  ir::Graph& graph() { return nodes_.graph(); }
  Names& names() { return nodes_.names(); }

  const BuildSettings& settings() const { return settings_; }
  bool is_lenient() const { return settings_.is_lenient(); }
  ir::OpRegistry& registry() { return settings_.registry; }
  Heap& heap() { return settings_.heap; }

 private:
  const BuildSettings settings_;
  Reporter reporter_;
  SymbolScopes symbols_;
  Externals externals_;
  NodeFactory nodes_;
  IntegerWidths widths_;
  llvm::StringMap<std::unique_ptr<OpPlan>> plans_;  // keyed by name
};

}  // namespace nnefc::expand::build
