// The part of the parser that builds declarations of fragments: types, defaults, parameters and results.

#include <algorithm>

#include "compiler/syntax/parse/ast_builder.h"
#include "compiler/syntax/parse/type_names.h"
#include "compiler/syntax/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::ast::parse {
// ---- types ----

std::optional<PrimitiveName> ExpressionBuilder::FindTypeName(Token name) const {
  switch (name.kind) {
    case TokenKind::kScalar:
      return PrimitiveName::kScalar;
    case TokenKind::kLogical:
      return PrimitiveName::kLogical;
    case TokenKind::kString:
      return PrimitiveName::kString;
    case TokenKind::kQuestion:
      return PrimitiveName::kGeneric;
    default:
      if (Text(name) == "integer") return PrimitiveName::kInteger;
      if (Text(name) == "extent") return PrimitiveName::kExtent;
      return std::nullopt;
  }
}

std::optional<PrimitiveName> ExpressionBuilder::BuildTypeName(Token name) {
  if (const auto found = FindTypeName(name)) return found;
  const IntendedType meant = IntendedTypeOf(Text(name), document_.dialect);
  auto report =
      context_.emitter.Emit(kUnknownTypeName, Range(name), "`{}` is not a type{}", Text(name),
                            meant.name.empty() ? "" : fmt::format("; did you mean `{}`?", meant.name));
  if (meant.is_certain) report.Fix(Range(name), std::string(meant.name));
  return std::nullopt;
}

TypeId AstBuilder::BuildType(const Parser::TypeSpecContext& context) {
  Type type;
  type.range = Range(context);
  if (static_cast<int64_t>(context.arrays.size()) > context_.limits.nesting) {
    context_.emitter.Emit(kNestingLimit, type.range,
                          "the type nests more than {} arrays; `--max-nesting` raises the limit",
                          context_.limits.nesting);
    return document_.types.Add(type);
  }
  SourceRange item_range = type.range;
  if (context.name != nullptr) {
    item_range = Range(*context.name);
    if (const auto name = BuildTypeName(*context.name)) type.node = PrimitiveType{*name};
  } else if (context.tensor != nullptr) {
    item_range = Range(*context.tensor);
    TensorType tensor;
    tensor.has_brackets = context.tensor->open != nullptr;
    if (context.tensor->element != nullptr) tensor.element = BuildTypeName(*context.tensor->element);
    const bool unknown = context.tensor->element != nullptr && !tensor.element.has_value();
    if (!unknown) type.node = tensor;
  } else {
    item_range = Range(*context.tuple);
    llvm::SmallVector<TypeId, 4> items;
    for (const auto* item : context.tuple->items) items.push_back(BuildType(*item));
    type.node = TupleType{Keep(items)};
  }
  TypeId id = document_.types.Add({item_range, type.node});
  for (const auto* bracket : context.arrays) {
    // Up to the `]`, which may be separate from the `[`.
    SourceRange range = type.range;
    const size_t close = text_.find(']', Unwrap(bracket).end);
    range.end = close == std::string_view::npos ? Unwrap(bracket).end : static_cast<uint32_t>(close) + 1;
    id = document_.types.Add({range, ArrayType{id}});
  }
  return id;
}

// ---- defaults ----

AstBuilder::Built AstBuilder::BuildDefault(const Parser::LiteralExprContext& context) {
  if (context.literal != nullptr) {
    const Token literal = Unwrap(context.literal);
    if (IsMinInteger(context.sign, context.literal)) return BuildNumber(literal, true, Range(context));
    const Built built = BuildLiteral(literal);
    return context.sign != nullptr ? ApplyUnary(Unwrap(context.sign), built) : built;
  }
  const auto& items = context.array != nullptr ? context.array->items : context.tuple->items;
  llvm::SmallVector<ExprId, 4> kept;
  int64_t height = 0;
  for (const auto* item : items) {
    const Built built = BuildDefault(*item);
    kept.push_back(built.id);
    height = std::max(height, built.height);
  }
  if (context.array != nullptr) return Make(Range(context), ArrayExpr{Keep(kept)}, height + 1);
  return Make(Range(context), document_.Keep(TupleExpr{Keep(kept), true}), height + 1);
}

// Appends a literal to a default without parentheses: `size: (extent,extent) = 1, 1` becomes a tuple.
void AstBuilder::ExtendDefault(Parameter& parameter, const Parser::LiteralExprContext& context) {
  const Built item = BuildDefault(context);
  llvm::SmallVector<ExprId, 4> items;
  const Expr& before = document_.exprs[parameter.default_value];
  const auto* tuple = ast::Find<TupleExpr>(before.node);
  if (tuple != nullptr && !tuple->parenthesized) {
    items.append(tuple->items.begin(), tuple->items.end());
  } else {
    items.push_back(parameter.default_value);
  }
  items.push_back(item.id);
  const SourceRange range = Cover(before.range, Range(item.id));
  parameter.default_value = Make(range, document_.Keep(TupleExpr{Keep(items), false}), 0).id;
}

// ---- declarations ----

llvm::ArrayRef<Parameter> AstBuilder::BuildParameters(const Parser::ParameterListContext* context) {
  if (context == nullptr) return {};
  llvm::SmallVector<Parameter, 8> parameters;
  for (const auto* item : context->items) {
    if (item->continuation != nullptr) {
      if (parameters.empty() || !parameters.back().default_value.valid()) {
        context_.emitter.Emit(kUnexpectedToken, Range(*item),
                              "expected the name of a parameter, found a literal");
        continue;
      }
      ExtendDefault(parameters.back(), *item->continuation);
      continue;
    }
    const Parser::ParameterContext& spelled = *item->declared;
    Parameter parameter;
    parameter.name = MakeName(spelled.name);
    parameter.type = BuildType(*spelled.type);
    if (spelled.defaultValue != nullptr) parameter.default_value = Limit(BuildDefault(*spelled.defaultValue));
    parameters.push_back(parameter);
  }
  return Keep(parameters);
}

llvm::ArrayRef<Result> AstBuilder::BuildResults(const Parser::ResultListContext* context) {
  if (context == nullptr) return {};
  llvm::SmallVector<Result, 4> results;
  for (const auto* item : context->items) results.push_back({MakeName(item->name), BuildType(*item->type)});
  return Keep(results);
}

llvm::ArrayRef<Name> AstBuilder::BuildNames(const Parser::IdentifierListContext* context) {
  if (context == nullptr) return {};
  llvm::SmallVector<Name, 4> names;
  for (const auto* name : context->names) names.push_back(MakeName(name));
  return Keep(names);
}

SourceRange AstBuilder::Between(const antlr4::Token* open, const antlr4::Token* close) const {
  return Cover(Range(Unwrap(open)), Range(Unwrap(close)));
}

void AstBuilder::RequireItems(size_t count, SourceRange range, std::string_view owner, Name name,
                              std::string_view what) {
  if (count > 0) return;
  context_.emitter.Emit(kEmptyList, range, "expected at least one {} of the {} `{}`", what, owner,
                        context_.symbols.Text(name.symbol));
}

Fragment AstBuilder::BuildFragment(const Parser::FragmentDeclarationContext& context, bool broken) {
  Fragment fragment;
  const Token keyword = Unwrap(context.start);
  fragment.keyword_range = Range(keyword);
  fragment.range = fragment.keyword_range;
  fragment.name = MakeName(context.name);
  fragment.has_error = broken;
  if (broken) return fragment;
  fragment.range = Range(context);
  if (context.generic != nullptr) {
    fragment.is_generic = true;
    fragment.generic_range = Range(*context.generic);
    if (context.generic->defaultType != nullptr)
      fragment.generic_default = BuildTypeName(*context.generic->defaultType);
  }
  fragment.parameters = BuildParameters(context.parameters);
  fragment.results = BuildResults(context.results);
  fragment.parameters_range = Between(context.open, context.close);
  RequireItems(fragment.results.size(), Between(context.openResults, context.closeResults), "fragment",
               fragment.name, "result");
  return fragment;
}

bool AstBuilder::IsOfTract() const {
  const auto is_of_tract = [&](Symbol name) {
    return name.valid() && context_.symbols.Text(name).starts_with("tract_");
  };
  return llvm::any_of(document_.extensions,
                      [&](const Extension& extension) {
                        return !extension.names.empty() && is_of_tract(extension.names.front().symbol);
                      }) ||
         llvm::any_of(document_.fragments, [&](const Fragment& fragment) {
           return fragment.name.symbol.valid() &&
                  context_.symbols.Text(fragment.name.symbol) == "tract_core_properties";
         });
}

Graph AstBuilder::BuildGraph(const Parser::GraphDeclarationContext& context, bool broken) {
  Graph graph;
  const Token keyword = Unwrap(context.start);
  graph.keyword_range = Range(keyword);
  graph.range = graph.keyword_range;
  graph.name = MakeName(context.name);
  graph.has_error = broken;
  if (broken) return graph;
  graph.range = Range(context);
  graph.parameters = BuildNames(context.parameters);
  graph.results = BuildNames(context.results);
  if (!IsOfTract()) {
    RequireItems(graph.parameters.size(), Between(context.open, context.close), "graph", graph.name,
                 "parameter");
  }
  RequireItems(graph.results.size(), Between(context.openResults, context.closeResults), "graph", graph.name,
               "result");
  return graph;
}

Extension AstBuilder::BuildExtension(const Parser::ExtensionContext& context) {
  Extension extension;
  extension.range = Range(context);
  llvm::SmallVector<Name, 4> names;
  for (const auto* name : context.names) names.push_back(MakeName(name));
  extension.names = Keep(names);
  if (context.tail != nullptr) extension.tail = Range(*context.tail);
  if (!context.commas.empty()) {
    const SourceRange comma = Range(Unwrap(context.commas.front()));
    auto report =
        context_.emitter.Emit(kExtensionComma, comma, "extensions are separated by blanks, not by `,`");
    const std::string_view text = context_.sources.Text(comma.file);
    for (const auto* spelled : context.commas) {
      const SourceRange range = Range(Unwrap(spelled));
      const bool blank_follows =
          range.end < text.size() && (text[range.end] == ' ' || text[range.end] == '\n');
      report.Fix(range, blank_follows ? "" : " ");
    }
  }
  return extension;
}

}  // namespace nnefc::ast::parse
