// Properties and assertions that exporters write into documents.

#include "tools/api/facts/document_facts.h"

#include "compiler/semantics/extensions.h"
#include "compiler/syntax/print.h"
#include "fmt/core.h"

namespace nnefc::api {
namespace {

std::string Unquoted(const ast::Document& document, ast::ExprId expr, const Context& context) {
  const auto* text = std::get_if<ast::StringLiteral>(&document.exprs[expr].node);
  return text != nullptr ? std::string(context.symbols.Text(text->value))
                         : ast::PrintExpr(document, expr, context);
}

void AddProperties(const ast::Document& document, const Context& context, DocumentFacts& facts) {
  for (const ast::Fragment& fragment : document.fragments) {
    if (!fragment.parameters.empty()) continue;
    for (const ast::Assignment& assignment : fragment.body) {
      if (!assignment.right.valid()) continue;
      const auto* list = std::get_if<ast::ArrayExpr>(&document.exprs[assignment.right].node);
      if (list == nullptr) continue;
      for (ast::ExprId item : list->items) {
        const auto* pair = ast::Find<ast::TupleExpr>(document.exprs[item].node);
        if (pair == nullptr || pair->items.size() != 2) continue;
        facts.properties.emplace_back(Unquoted(document, pair->items[0], context),
                                      Unquoted(document, pair->items[1], context));
      }
    }
  }
}

void AddAssertions(const ast::Document& document, const Context& context, DocumentFacts& facts) {
  for (const ast::Extension& line : document.extensions) {
    for (const semantics::ExtensionUse& use : semantics::ExtensionsIn(line, context.symbols)) {
      if (use.extension == nullptr || use.extension->role != semantics::ExtensionRole::kAssertion) continue;
      const SourceRange begin = use.arguments.empty() ? line.tail : use.arguments.front().range;
      const SourceRange end = line.tail.valid() ? line.tail : begin;
      if (!begin.valid()) continue;
      facts.assertions.emplace_back(
          context.sources.Text(begin.file).substr(begin.begin, end.end - begin.begin));
    }
  }
}

}  // namespace

DocumentFacts FactsOf(const driver::Compilation& compilation) {
  DocumentFacts facts;
  if (compilation.checked() == nullptr) return facts;
  const ast::Document& document = compilation.checked()->ast();
  AddProperties(document, compilation.context(), facts);
  for (const ast::Name& symbol : compilation.checked()->symbols())
    facts.symbols.emplace_back(compilation.context().symbols.Text(symbol.symbol));
  AddAssertions(document, compilation.context(), facts);
  return facts;
}

std::string OutputName(const ir::Node& node, int32_t index) {
  const ir::Output& output = node.output(index);
  if (!output.names.empty()) return output.names.front();
  return node.num_outputs() == 1 ? node.name() : fmt::format("{}.{}", node.name(), index);
}

ir::PartialShape ShownShape(const driver::Compilation& compilation, const ir::Node& node, int32_t index) {
  const expand::ExpandedDocument& expansion = compilation.expansion();
  if (!expansion.is_trial() || node.Is(ir::OpRole::kVariable) || node.Is(ir::OpRole::kConst))
    return node.output(index).shape;
  const auto open = expansion.open_shapes.find(OutputName(node, index));
  if (!node.Is(ir::OpRole::kExternal)) return {};
  return open == expansion.open_shapes.end() ? node.output(index).shape : open->second;
}

}  // namespace nnefc::api
