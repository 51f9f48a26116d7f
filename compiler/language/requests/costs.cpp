// The costs of a document's network (parameters, operations, multiply-adds), and its expanded text.

#include <new>
#include <set>

#include "compiler/expand/print/flat.h"
#include "compiler/ir/op_registry.h"
#include "compiler/ir/ops/costs.h"
#include "compiler/language/queries.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"

namespace nnefc::language {
namespace {

driver::CompileOptions OptionsOf(const Analysis& analysis) {
  driver::CompileOptions options;
  options.dialect = analysis.options().dialect;
  options.document = std::string(analysis.text());
  options.limits = analysis.options().limits;
  return options;
}

// Returns the multiply-accumulates of the lowered graph; nothing if a shape is unknown.
std::optional<double> MacsOf(const Analysis& analysis) {
  driver::CompileOptions options = OptionsOf(analysis);
  options.structure_only = true;
  driver::Compilation compilation(analysis.uri(), std::move(options));
  if (!compilation.RunUntil(driver::Stage::kLower)) return std::nullopt;
  const std::optional<ir::ops::GraphCosts> costs = ir::ops::FindCosts(*compilation.lowered());
  return costs ? std::optional(costs->macs) : std::nullopt;
}

}  // namespace

std::optional<NetworkCosts> FindCosts(const Analysis& analysis) {
  const ir::Graph* graph = analysis.graph();
  if (graph == nullptr || analysis.context().emitter.has_errors()) return std::nullopt;
  NetworkCosts costs;
  std::set<std::string> labels;  // variables with one label share their values
  for (ir::NodeId id : graph->nodes()) {
    const ir::Node& node = graph->node(id);
    if (node.Is(ir::OpRole::kVariable) && labels.insert(node.String("label")).second)
      costs.parameters += node.output().shape.volume().value_or(0);
    if (!node.info().is_source && !node.Is(ir::OpRole::kResult)) ++costs.operations;
  }
  costs.macs = MacsOf(analysis);
  return costs;
}

std::optional<std::string> Expansion(const Analysis& analysis) {
  driver::CompileOptions options = OptionsOf(analysis);
  options.purpose = expand::Purpose::kPrint;
  driver::Compilation compilation(analysis.uri(), std::move(options));
  if (!compilation.RunUntil(driver::Stage::kExpand)) return std::nullopt;
  const std::string flat = expand::print::PrintFlatDocument(*compilation.expanded(), compilation.library(),
                                                            compilation.context().symbols);
  Context context;
  context.limits = analysis.options().limits;
  const auto document = ast::ParseDocument(context.sources.AddText("flat", flat),
                                           {.dialect = ast::Dialect::kRatified}, context);
  return context.emitter.has_errors() ? flat : ast::PrintDocument(*document, context);
}

}  // namespace nnefc::language
