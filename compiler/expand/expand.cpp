#include "compiler/expand/expand.h"

#include <map>

#include "compiler/expand/coordinates.h"
#include "compiler/expand/instantiate.h"
#include "compiler/expand/machine.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/ops/variables.h"

namespace nnefc {
namespace {

// Names in `--lower` must be those of standard compounds.
void CheckLowered(const CheckedDocument& document, const StandardLibrary& library,
                  const ExpandOptions& options, Context& context) {
  const CheckedDocument& standard = library.Get(document.dialect());
  for (const std::string& name : options.lower) {
    if (name == "all") continue;
    Symbol symbol = context.symbols.Find(name);
    Callee callee = symbol.valid() ? standard.Find(symbol) : Callee();
    if (callee.valid() && standard.signature(callee.fragment).has_body) continue;
    context.emitter.Emit(kUnknownLower, SourceRange(), "`--lower` names `{}`, which is no standard {}", name,
                         callee.valid() ? "compound but a primitive" : "operation");
  }
}

// Variables whose labels differ by case alone are one in the ratified dialect
// (R 4.1.3).
void CheckPrintedLabels(const ir::Graph& graph, const expand::GraphBuilder& builder, Emitter& emitter) {
  std::map<std::string, std::string> labels;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!node.Is(ir::kNnefSet, "variable")) continue;
    const std::string& label = node.attribute("label").AsString();
    const std::string& first = labels.try_emplace(ir::VariableKey(node), label).first->second;
    if (first == label) continue;
    emitter
        .Emit(kPrintedLabel, builder.VariablePlace(id),
              "label `{}` differs from `{}` by case alone, which has no ratified form: both would be one "
              "variable",
              label, first)
        .Notes(ir::StackNotes(node.origin().frame));
  }
}

}  // namespace

std::unique_ptr<ir::Graph> ExpandDocument(const CheckedDocument& document, const StandardLibrary& library,
                                          ir::OpRegistry& registry, const ExpandOptions& options,
                                          Context& context) {
  if (document.graph() == nullptr) return nullptr;
  size_t errors = context.emitter.error_count();
  CheckLowered(document, library, options, context);
  Symbol name = document.graph()->name.symbol;  // invalid if its text was not read
  const std::string text = name.valid() ? std::string(context.symbols.Text(name)) : std::string();
  auto graph = std::make_unique<ir::Graph>(&registry, text);
  expand::Heap heap(context.limits.items);
  expand::GraphBuilder builder(*graph, registry, library.Get(ast::Dialect::kRatified), options, heap,
                               context);
  bool complete = expand::Machine(document, registry, options, context, builder).Run();
  if (!builder.stopped()) {
    if (complete) builder.ReportUnknownExternals();
    if (document.dialect() == ast::Dialect::kProvisional) {
      expand::NumberCoordinates(*graph, options.purpose, context.emitter);
      if (options.purpose == Purpose::kPrint) CheckPrintedLabels(*graph, builder, context.emitter);
    }
    ir::CheckVariables(*graph, context.emitter, [&](ir::NodeId node) { return builder.VariablePlace(node); });
  }
  const bool failed = !complete || context.emitter.error_count() != errors;
  if (failed && !options.keep_incomplete) return nullptr;
  builder.names().Finish(*graph);
  return graph;
}

}  // namespace nnefc
