// The entry point of expansion: evaluates a checked document to a graph of NNEF operations.

#include "compiler/expand/expand.h"

#include "compiler/expand/build/graph_builder.h"
#include "compiler/expand/evaluate/machine.h"
#include "compiler/expand/provisional/coordinates.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/ops/adjusting_inputs.h"
#include "compiler/ir/ops/variables.h"

namespace nnefc::expand {
namespace {

// Reports names in `--lower` that are not standard compounds.
void CheckLowered(const semantics::CheckedDocument& document, const semantics::StandardLibrary& library,
                  const ExpandOptions& options, Context& context) {
  const semantics::CheckedDocument& standard = library.Get(document.dialect());
  for (const std::string& name : options.lower) {
    if (name == "all") continue;
    Symbol symbol = context.symbols.Find(name);
    semantics::Callee callee = symbol.valid() ? standard.Find(symbol) : semantics::Callee();
    if (callee.valid() && standard.signature(callee.fragment).has_body) continue;
    context.emitter.Emit(kUnknownLower, SourceRange(), "`--lower` names `{}`, which is not a standard {}",
                         name, callee.valid() ? "compound but a primitive" : "operation");
  }
}

// Reports labels that a ratified text cannot have, once for all of them.
void ReportPrintedLabels(const ir::Graph& graph, const build::NodeFactory& nodes, Emitter& emitter) {
  const ir::ops::RatifiedLabels labels(graph);
  if (labels.changes().empty()) return;
  const auto& [variable, before, after] = labels.changes().front();
  const size_t others = labels.changes().size() - 1;
  emitter.Emit(kPrintedLabel, variable.valid() ? nodes.VariablePlace(variable).range : SourceRange(),
               "label `{}` is written as `{}`, the name of its tensor file{}", before, after,
               others == 0   ? ""
               : others == 1 ? "; another label is written differently, too"
                             : fmt::format("; {} other labels are written differently, too", others));
}

}  // namespace

ExpandedDocument ExpandDocument(const semantics::CheckedDocument& document,
                                const semantics::StandardLibrary& library, ir::OpRegistry& registry,
                                const ExpandOptions& options, Context& context) {
  ExpandedDocument result;
  if (document.graph() == nullptr) return result;
  Context own(context, context.emitter.room());
  CheckLowered(document, library, options, own);
  Symbol name = document.graph()->name.symbol;  // invalid if it could not be parsed
  const std::string text = name.valid() ? std::string(own.symbols.Text(name)) : std::string();
  auto graph = std::make_shared<ir::Graph>(&registry, text);
  Heap heap(own.limits.items);
  build::GraphBuilder builder(*graph, {.registry = registry,
                                       .library = library,
                                       .dialect = document.dialect(),
                                       .options = options,
                                       .heap = heap,
                                       .context = own});
  builder.symbols().Open(document);
  const bool evaluated = evaluate::Machine(document, builder).Run();
  bool has_valid_variables = true;
  builder.reporter().ReportDeviations();
  if (!builder.reporter().stopped()) {
    if (evaluated) builder.externals().ReportUnknown();
    if (document.dialect().coordinates) {
      provisional::NumberCoordinates(*graph, options.purpose, own.emitter);
    }
    if (options.purpose == Purpose::kPrint) ReportPrintedLabels(*graph, builder.nodes(), own.emitter);
    has_valid_variables = ir::ops::CheckVariables(
        *graph, own.emitter, [&](ir::NodeId node) { return builder.nodes().VariablePlace(node); },
        options.purpose == Purpose::kPrint ? ir::ops::SharedShapes::kEqual
                                           : ir::ops::SharedShapes::kOfDialect);
    ir::ops::CheckAdjustingInputs(*graph, own.emitter);
  }
  builder.names().Finish(*graph);
  if (options.replace_attributes && !own.emitter.has_errors()) options.replace_attributes(*graph);
  result.graph = std::move(graph);
  result.has_trial_extents = options.tries_symbols;
  result.open_shapes = builder.externals().open_shapes();
  result.open_extents = builder.externals().open_extents();
  result.complete = document.complete() && evaluated && has_valid_variables && !own.emitter.has_errors();
  result.diagnostics = own.emitter.diagnostics();
  context.emitter.Take(std::move(own.emitter));
  return result;
}

}  // namespace nnefc::expand
