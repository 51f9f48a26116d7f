// The texts and tensor files that `nnefc upgrade` writes. A provisional document is rewritten, a lenient one
// becomes a flat ratified document, and a ratified one is only formatted.

#include "compiler/driver/stages/upgrade_model.h"

#include <set>

#include "compiler/driver/data/write_variables.h"
#include "compiler/expand/print/flat.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "compiler/upgrade/rules.h"
#include "compiler/upgrade/upgrade.h"

namespace nnefc::driver {
namespace {

std::string InLowerCase(std::string_view text) {
  return llvm::StringRef(text.data(), text.size()).lower();
}

}  // namespace

UpgradedTexts UpgradeTexts(Compilation& compilation) {
  Context& context = compilation.context();
  const semantics::CheckedDocument& document = *compilation.checked();
  const semantics::CheckedDocument* quantization = compilation.quantization().document.get();
  UpgradedTexts texts;
  if (document.dialect().lenient) {
    texts.graph =
        expand::print::PrintFlatDocument(*compilation.expanded(), compilation.library(), context.symbols);
    const FileId flat = context.sources.AddText("flat", texts.graph);
    texts.graph =
        ast::PrintDocument(*ast::ParseDocument(flat, {.dialect = ast::Dialect::kRatified}, context), context);
    if (quantization != nullptr) texts.quantization = ast::PrintDocument(quantization->ast(), context);
    return texts;
  }
  if (!document.dialect().translated && compilation.adaptation().empty()) {
    context.emitter.Emit(upgrade::kAlreadyRatified, document.ast().version_range,
                         "the document is already ratified; only its formatting may change");
    texts.graph = ast::PrintDocument(document.ast(), context);
    if (quantization != nullptr) texts.quantization = ast::PrintDocument(quantization->ast(), context);
    return texts;
  }
  const upgrade::UpgradeInput input{.document = document,
                                    .expanded = *compilation.expanded(),
                                    .instances = compilation.instances(),
                                    .library = compilation.library(),
                                    .registry = compilation.registry(),
                                    .is_adapted = !compilation.adaptation().empty(),
                                    .lowered = compilation.adaptation().compounds};
  upgrade::UpgradedDocument upgraded = upgrade::UpgradeDocument(input, context);
  texts.graph = std::move(upgraded.text);
  if (quantization != nullptr)
    texts.quantization = upgrade::UpgradeQuantization(input, quantization->ast(), upgraded.renamed, context);
  return texts;
}

ErrorOr<bool> WriteUpgradedData(Compilation& compilation, const std::string& folder) {
  Context& context = compilation.context();
  const package::ModelContainer& model = *compilation.model();
  const ir::Graph& graph = *compilation.expanded();
  VariableStore variables(model, graph, compilation.quantization().table, std::nullopt, context);
  if (compilation.checked()->dialect().translated) variables.ImplyTrailingOnes();
  std::set<std::string> labels;  // in lower case
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.Is(ir::OpRole::kVariable)) labels.insert(InLowerCase(node.attribute("label").AsString()));
  }
  if (model.has_weights()) {
    if (auto written = WriteVariables(graph, variables, LabelsOf::kPrinted, folder); !written)
      return written.error();
  }
  for (const std::string& label : model.Labels()) {
    if (labels.contains(InLowerCase(label))) continue;
    context.emitter.Emit(upgrade::kDataLeftOut, {}, "`{}.dat` is the data of no variable and was left out",
                         label);
  }
  return !context.emitter.has_errors();
}

}  // namespace nnefc::driver
