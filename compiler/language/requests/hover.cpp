// Descriptions of the name at a position of a document.

#include "compiler/explain/operation_pages.h"
#include "compiler/language/analysis.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::language {
namespace {

// Returns the invocation whose operation name has the range `callee`.
ast::ExprId InvocationNamedAt(const ast::Document& document, SourceRange callee) {
  for (size_t i = 0; i < document.exprs.size(); ++i) {
    const ast::ExprId id(static_cast<int32_t>(i));
    const auto* invocation = ast::Find<ast::InvocationExpr>(document.exprs[id].node);
    if (invocation != nullptr && invocation->callee.range == callee) return id;
  }
  return {};
}

void DescribeInvocation(const Analysis& analysis, ast::ExprId id, Hover& hover) {
  const semantics::Binding* binding = analysis.checked().binding(id);
  const SourceRange range = analysis.checked().ast().exprs[id].range;
  hover.type = analysis.TypeText(analysis.checked().type(id));
  hover.shape = analysis.ShapeAt(range, -1);
  if (binding == nullptr) return;
  hover.generic = binding->generic.valid() ? analysis.TypeText(binding->generic) : "";
  const semantics::Signature& signature = binding->callee.document->signature(binding->callee.fragment);
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    if (binding->arguments[i].valid()) continue;
    hover.defaults.emplace_back(analysis.Text(signature.parameters[i].name.symbol),
                                analysis.DefaultText(binding->callee, i));
  }
}

void DescribeOperation(Hover& hover) {
  std::optional<explain::OperationPage> page = explain::FindOperationPage(hover.name);
  if (!page) return;
  hover.summary = page->summary.empty() ? std::move(page->comment) : std::move(page->summary);
  hover.formula = std::move(page->formula);
  hover.section = std::move(page->section);
}

std::string_view Word(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::kGraph:
      return "graph";
    case SymbolKind::kFragment:
      return "fragment";
    case SymbolKind::kOperation:
      return "operation";
    case SymbolKind::kParameter:
      return "parameter";
    case SymbolKind::kInput:
      return "input";
    case SymbolKind::kResult:
      return "result";
    case SymbolKind::kTensor:
      return "tensor";
    case SymbolKind::kValue:
      return "value";
    case SymbolKind::kIterator:
      return "iterator";
    case SymbolKind::kKeyword:
      return "keyword";
  }
  return "";
}

}  // namespace

std::string Hover::Text() const {
  std::string text(Word(kind));
  text += ' ';
  text += signature.empty() ? name : signature;
  if (signature.empty() && !type.empty()) text += ": " + type;
  if (!generic.empty()) text += "\n? = " + generic;
  if (!shape.empty()) text += "\nshape " + shape;
  for (const auto& [parameter, fallback] : defaults) text += fmt::format("\n{} = {}", parameter, fallback);
  if (!value.empty()) text += "\nvalue " + value;
  return text;
}

std::optional<Hover> FindHover(const Analysis& analysis, uint32_t offset) {
  const Occurrence* occurrence = analysis.names().At(offset);
  if (occurrence == nullptr) return std::nullopt;
  const Entity& entity = analysis.names().entity(occurrence->entity);
  Hover hover{.range = analysis.RangeOf(occurrence->range),
              .kind = analysis.KindOf(entity),
              .name = std::string(analysis.Text(entity.name)),
              .type = {},
              .shape = {},
              .signature = {},
              .generic = {},
              .defaults = {},
              .value = {},
              .summary = {},
              .formula = {},
              .section = {}};
  if (entity.kind == EntityKind::kFragment || entity.kind == EntityKind::kOperation) {
    hover.signature = analysis.SignatureText(entity.callee);
    const ast::ExprId invocation = occurrence->is_declaration
                                       ? ast::ExprId()
                                       : InvocationNamedAt(analysis.checked().ast(), occurrence->range);
    if (invocation.valid()) DescribeInvocation(analysis, invocation, hover);
    if (entity.kind == EntityKind::kOperation) DescribeOperation(hover);
    return hover;
  }
  hover.type = analysis.TypeText(entity.type);
  hover.shape = analysis.ShapeOf(entity);
  if (entity.kind == EntityKind::kParameter) {
    std::string value = analysis.DefaultText(entity.callee, static_cast<size_t>(entity.parameter));
    if (!value.empty()) hover.defaults.emplace_back(hover.name, std::move(value));
    hover.value = analysis.ValueOf(entity);
  }
  return hover;
}

}  // namespace nnefc::language
