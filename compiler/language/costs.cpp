#include <new>
#include <set>

#include "compiler/expand/print/flat.h"
#include "compiler/ir/op_registry.h"
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

// Returns the extents of the tensors; nothing if one is unknown.
template <typename Ports>
std::optional<std::vector<Shape>> ShapesOf(const ir::Graph& graph, const Ports& ports) {
  std::vector<Shape> shapes;
  for (const ir::OutputPort port : ports) {
    const ir::PartialShape& shape = graph.output(port).shape;
    if (!shape.known()) return std::nullopt;
    shapes.push_back(shape.known_extents());
  }
  return shapes;
}

// Returns the multiply-adds of a graph of OpenVINO operations; nothing if a shape is unknown.
std::optional<double> MacsOf(const ir::Graph& graph) {
  double macs = 0;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.info().products == nullptr) continue;
    std::vector<ir::OutputPort> outputs;
    for (int32_t i = 0; i < node.num_outputs(); ++i) outputs.push_back(node.port(i));
    const auto input_shapes = ShapesOf(graph, node.inputs());
    const auto output_shapes = ShapesOf(graph, outputs);
    if (!input_shapes || !output_shapes) return std::nullopt;
    macs += node.info().products(node, *input_shapes, *output_shapes);
  }
  return macs;
}

std::optional<double> MacsOf(const Analysis& analysis) {
  driver::CompileOptions options = OptionsOf(analysis);
  options.structure_only = true;
  driver::Compilation compilation(analysis.uri(), std::move(options));
  if (!compilation.RunUntil(driver::Stage::kLower)) return std::nullopt;
  return MacsOf(*compilation.lowered());
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
