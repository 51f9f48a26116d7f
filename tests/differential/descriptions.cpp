#include "tests/differential/descriptions.h"

#include "compiler/ir/ops/opset/register.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"

namespace nnefc::differential {

namespace {

using Kind = AttributeDescription::Kind;

Kind KindOf(ir::AttributeKind kind) {
  switch (kind) {
    case ir::AttributeKind::kBool:
      return Kind::kBool;
    case ir::AttributeKind::kInt:
      return Kind::kInt;
    case ir::AttributeKind::kDouble:
      return Kind::kDouble;
    case ir::AttributeKind::kString:
      return Kind::kString;
    case ir::AttributeKind::kInts:
      return Kind::kInts;
    case ir::AttributeKind::kDoubles:
      return Kind::kDoubles;
    case ir::AttributeKind::kType:
      return Kind::kType;
    case ir::AttributeKind::kShape:
      return Kind::kShape;
  }
  return Kind::kInt;
}

// The kind of a parameter that is no tensor; nothing for kinds that no
// standard operation has.
std::optional<Kind> KindOf(const TypeTable& types, TypeId type) {
  switch (types.Kind(type)) {
    case TypeKind::kInteger:
      return Kind::kInt;
    case TypeKind::kScalar:
      return Kind::kDouble;
    case TypeKind::kLogical:
      return Kind::kBool;
    case TypeKind::kString:
      return Kind::kString;
    case TypeKind::kArray:
      break;
    default:
      return std::nullopt;
  }
  switch (types.Kind(types.Item(type))) {
    case TypeKind::kInteger:
      return Kind::kInts;
    case TypeKind::kScalar:
      return Kind::kDoubles;
    case TypeKind::kTuple:
      return Kind::kPairs;
    default:
      return std::nullopt;
  }
}

// A default as the attribute that expansion makes of it.
std::optional<ir::Attribute> Evaluate(const ast::Document& document, ast::ExprId id,
                                      const SymbolTable& symbols) {
  const ast::Expr& expr = document.exprs[id];
  if (const auto* literal = std::get_if<ast::IntegerLiteral>(&expr.node))
    return ir::Attribute(literal->value);
  if (const auto* literal = std::get_if<ast::ScalarLiteral>(&expr.node)) return ir::Attribute(literal->value);
  if (const auto* literal = std::get_if<ast::LogicalLiteral>(&expr.node))
    return ir::Attribute(literal->value);
  if (const auto* literal = std::get_if<ast::StringLiteral>(&expr.node))
    return ir::Attribute(symbols.Text(literal->value));
  if (const auto* unary = std::get_if<ast::UnaryExpr>(&expr.node)) {
    std::optional<ir::Attribute> operand = Evaluate(document, unary->operand, symbols);
    if (!operand || unary->op != ast::UnaryOperator::kMinus) return std::nullopt;
    if (const auto* value = operand->get<int64_t>()) return ir::Attribute(-*value);
    return ir::Attribute(-operand->AsDouble());
  }
  const auto* array = std::get_if<ast::ArrayExpr>(&expr.node);
  if (array == nullptr) return std::nullopt;
  ir::Attribute::Integers integers;
  for (ast::ExprId item : array->items) {
    std::optional<ir::Attribute> value = Evaluate(document, item, symbols);
    if (!value || value->get<int64_t>() == nullptr) return std::nullopt;
    integers.push_back(value->AsInt());
  }
  return array->items.empty() ? ir::Attribute() : ir::Attribute(integers);
}

}  // namespace

std::vector<OperationDescription> DescribeOpsets() {
  ir::OpRegistry registry;
  ir::RegisterOpsets(registry);
  std::vector<OperationDescription> operations;
  for (size_t i = 0; i < registry.size(); ++i) {
    const ir::OpInfo& row = registry.Info(ir::OpId(static_cast<int32_t>(i)));
    if (row.is_source || row.is_sink) continue;
    OperationDescription operation{.set = row.set, .name = row.name, .inputs = row.inputs};
    for (const ir::AttributeInfo& info : row.attributes) {
      operation.attributes.push_back({.name = info.name,
                                      .kind = KindOf(info.kind),
                                      .fallback = info.fallback,
                                      .choices = {info.choices.begin(), info.choices.end()}});
    }
    operation.outputs = static_cast<int>(row.outputs.size());
    operation.variadic_outputs = !row.outputs.empty() && row.outputs.back().ends_with("[]");
    operations.push_back(std::move(operation));
  }
  return operations;
}

std::vector<OperationDescription> DescribeNnef(const ir::OpRegistry& registry) {
  const StandardLibrary& library = StandardLibrary::Shared();
  const SymbolTable& symbols = library.base().symbols;
  const CheckedDocument& document = library.Get(ast::Dialect::kRatified);
  const TypeTable& types = document.types();
  std::vector<OperationDescription> operations;
  for (size_t i = 0; i < document.ast().fragments.size(); ++i) {
    const Signature& signature = document.signature(ast::FragmentId(static_cast<int32_t>(i)));
    const ir::OpId op = registry.Find(ir::kNnefSet, symbols.Text(signature.name.symbol));
    if (!op.valid()) continue;  // a helper of the library's
    const ir::OpInfo& info = registry.Info(op);
    if (info.is_source || info.is_sink) continue;
    OperationDescription operation{.set = info.set, .name = info.name, .inputs = info.inputs};
    // Expansion gives a tensor that has a default like any other.
    for (ir::InputInfo& input : operation.inputs) input.optional = false;
    for (const TypedName& parameter : signature.parameters) {
      if (types.ContainsTensor(parameter.type)) continue;
      AttributeDescription attribute{.name = std::string(symbols.Text(parameter.name.symbol))};
      const std::optional<Kind> kind = KindOf(types, parameter.type);
      if (!kind) continue;
      attribute.kind = *kind;
      if (parameter.default_value.valid())
        attribute.fallback = Evaluate(document.ast(), parameter.default_value, symbols);
      operation.attributes.push_back(std::move(attribute));
    }
    if (signature.is_generic) {
      operation.attributes.push_back(
          {.name = "dtype", .kind = Kind::kDataType, .choices = {"scalar", "integer", "logical"}});
    }
    operation.outputs = static_cast<int>(info.outputs.size());
    operation.variadic_outputs = info.outputs.back().ends_with("[]");
    operations.push_back(std::move(operation));
  }
  return operations;
}

}  // namespace nnefc::differential
