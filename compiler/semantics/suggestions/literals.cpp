#include "compiler/semantics/suggestions/literals.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::semantics::suggestions {
namespace {

// Fixes `padding = 'same'`, `transposeB = 'true'`.
void FixWord(const CheckContext& check, ExprId id, std::string_view word, TypeId expected,
             DiagnosticBuilder& builder) {
  const SourceRange range = check.expr(id).range;
  const bool is_padding =
      check.Kind(expected) == TypeKind::kArray && check.Kind(check.types.Item(expected)) == TypeKind::kTuple;
  if (is_padding && (word == "same" || word == "same_upper")) builder.Fix(range, "[]");
  if (is_padding && word == "valid") builder.Fix(range, "[(0,0), (0,0)]");
  if (expected == check.logical && (word == "true" || word == "false")) builder.Fix(range, std::string(word));
}

// Returns true for four or more numbers, `padding = [1,1,1,1]`, which may be all begins followed by all ends,
// unless the first two are 0 for batch and channels.
bool MixesBeginsAndEnds(const CheckContext& check, llvm::ArrayRef<ExprId> items, TypeId item) {
  if (check.Kind(item) != TypeKind::kTuple || items.size() < 4) return false;
  const auto number = [&](ExprId id) { return std::get_if<ast::IntegerLiteral>(&check.expr(id).node); };
  if (!llvm::all_of(items, number)) return false;
  return number(items[0])->value != 0 || number(items[1])->value != 0;
}

void FixArray(const CheckContext& check, ExprId id, TypeId item, DiagnosticBuilder& builder) {
  const ast::Expr& value = check.expr(id);
  if (const auto* array = std::get_if<ast::ArrayExpr>(&value.node)) {
    if (array->items.size() > kMaxFixedItems || MixesBeginsAndEnds(check, array->items, item)) return;
    for (ExprId inner : array->items) {
      if (!check.IsCastable(check.TypeOf(inner), item)) FixLiteral(check, inner, item, builder);
    }
    return;
  }
  if (const auto* tuple = ast::Find<ast::TupleExpr>(value.node)) {
    const bool fits = tuple->parenthesized && llvm::all_of(tuple->items, [&](ExprId inner) {
                        return check.IsCastable(check.TypeOf(inner), item);
                      });
    if (fits) ReplaceBrackets(value.range, "[", "]", builder);
    return;
  }
  // `axes = 1`
  const bool is_literal = std::holds_alternative<ast::IntegerLiteral>(value.node) ||
                          std::holds_alternative<ast::ScalarLiteral>(value.node) ||
                          std::holds_alternative<ast::IdentifierExpr>(value.node);
  // `padding = 1`
  const auto* number = std::get_if<ast::IntegerLiteral>(&value.node);
  const bool is_pair = check.Kind(item) == TypeKind::kTuple && check.types.Items(item).size() == 2 &&
                       check.types.Items(item)[0] == check.integer &&
                       check.types.Items(item)[1] == check.integer;
  if (number != nullptr && is_pair)
    builder.Fix(value.range, fmt::format("[({0},{0})]", number->value), Applicability::kUnsafe);
  if (!is_literal || !check.IsCastable(check.TypeOf(id), item)) return;
  builder.Fix({value.range.file, value.range.begin, value.range.begin}, "[");
  builder.Fix({value.range.file, value.range.end, value.range.end}, "]");
}

void FixTuple(const CheckContext& check, ExprId id, TypeId expected, DiagnosticBuilder& builder) {
  const ast::Expr& value = check.expr(id);
  const llvm::ArrayRef<TypeId> types = check.types.Items(expected);
  if (const auto* array = std::get_if<ast::ArrayExpr>(&value.node)) {
    if (array->items.size() != types.size()) return;
    for (size_t i = 0; i < types.size(); ++i) {
      if (!check.IsCastable(check.TypeOf(array->items[i]), types[i])) return;
    }
    ReplaceBrackets(value.range, "(", ")", builder);
    return;
  }
  if (const auto* tuple = ast::Find<ast::TupleExpr>(value.node)) {
    if (tuple->items.size() != types.size()) return;
    for (size_t i = 0; i < types.size(); ++i) FixLiteral(check, tuple->items[i], types[i], builder);
    return;
  }
  // `padding = [1,1]`: each number is the padding on both sides.
  const auto* number = std::get_if<ast::IntegerLiteral>(&value.node);
  const bool is_pair = types.size() == 2 && types[0] == check.integer && types[1] == check.integer;
  if (number != nullptr && is_pair)
    builder.Fix(value.range, fmt::format("({0},{0})", number->value), Applicability::kUnsafe);
}

}  // namespace

// Returns a hint where FixLiteral offers no fix.
std::string HintFor(const CheckContext& check, ExprId id, TypeId expected) {
  const ast::Expr& value = check.expr(check.Inner(id));
  const TypeKind kind = check.Kind(expected);
  if (const auto* text = std::get_if<ast::StringLiteral>(&value.node)) {
    const std::string word =
        llvm::StringRef(check.Text(text->value).data(), check.Text(text->value).size()).lower();
    const bool is_padding =
        kind == TypeKind::kArray && check.Kind(check.types.Item(expected)) == TypeKind::kTuple;
    if (is_padding && word.starts_with("same")) return "; `padding = []` pads so";
    if (is_padding && word == "valid") return "; `padding = [(0,0), (0,0)]` pads nothing";
  }
  if (kind == TypeKind::kTensor && std::holds_alternative<ast::ArrayExpr>(value.node) &&
      !check.types.ContainsTensor(check.TypeOf(id)))
    return "; `constant(shape = .., value = ..)` makes a tensor of an array";
  if (kind != TypeKind::kArray) return "";
  if (ast::Is<ast::TupleExpr>(value.node)) return "; an array stands in `[` and `]`";
  const TypeId item = check.types.Item(expected);
  const bool is_pair = check.Kind(item) == TypeKind::kTuple && check.types.Items(item).size() == 2;
  if (is_pair) return "; each item is a pair, such as `(1,1)` before and behind";
  return "";
}

// Fixes a literal, or an array or tuple of literals, in the wrong notation for the expected type: `2` for
// `2.0`, `(1,2)` for `[1,2]`.
void FixLiteral(const CheckContext& check, ExprId id, TypeId expected, DiagnosticBuilder& builder) {
  id = check.Inner(id);
  const ast::Expr& value = check.expr(id);
  if (const auto* text = std::get_if<ast::StringLiteral>(&value.node)) {
    FixWord(check, id,
            llvm::StringRef(check.Text(text->value).data(), check.Text(text->value).size()).lower(), expected,
            builder);
    return;
  }
  if (check.Kind(expected) == TypeKind::kArray) {
    FixArray(check, id, check.types.Item(expected), builder);
    return;
  }
  if (check.Kind(expected) == TypeKind::kTuple) {
    FixTuple(check, id, expected, builder);
    return;
  }
  if (expected == check.integer) {
    const auto* scalar = std::get_if<ast::ScalarLiteral>(&value.node);
    const bool is_whole =
        scalar != nullptr && std::trunc(scalar->value) == scalar->value && std::abs(scalar->value) < 1e15;
    if (is_whole) builder.Fix(value.range, fmt::format("{}", static_cast<int64_t>(scalar->value)));
    return;
  }
  if (expected == check.logical) {
    const auto* number = std::get_if<ast::IntegerLiteral>(&value.node);
    const bool is_bit = number != nullptr && (number->value == 0 || number->value == 1);
    if (is_bit) builder.Fix(value.range, number->value == 1 ? "true" : "false");
    return;
  }
  FixScalars(check, id, expected, builder);
}

void ReplaceBrackets(SourceRange range, std::string_view open, std::string_view close,
                     DiagnosticBuilder& builder) {
  builder.Fix({range.file, range.begin, range.begin + 1}, std::string(open));
  builder.Fix({range.file, range.end - 1, range.end}, std::string(close));
}

void FixScalars(const CheckContext& check, ExprId id, TypeId expected, DiagnosticBuilder& builder) {
  id = check.Inner(id);
  const ast::Expr& value = check.expr(id);
  if (const auto* array = std::get_if<ast::ArrayExpr>(&value.node)) {
    if (check.Kind(expected) != TypeKind::kArray || array->items.size() > kMaxFixedItems) return;
    for (ExprId item : array->items) FixScalars(check, item, check.types.Item(expected), builder);
    return;
  }
  if (const auto* tuple = ast::Find<ast::TupleExpr>(value.node)) {
    if (check.Kind(expected) != TypeKind::kTuple || check.types.Items(expected).size() != tuple->items.size())
      return;
    for (size_t i = 0; i < tuple->items.size(); ++i)
      FixScalars(check, tuple->items[i], check.types.Items(expected)[i], builder);
    return;
  }
  const TypeId element = check.Kind(expected) == TypeKind::kTensor ? check.types.Element(expected) : expected;
  const bool wants_scalar =
      element == check.scalar || (!check.dialect.exact_literals && check.Kind(element) == TypeKind::kAny);
  if (!wants_scalar || check.TypeOf(id) != check.integer) return;
  const auto* unary = std::get_if<ast::UnaryExpr>(&value.node);
  const ExprId operand = unary != nullptr ? unary->operand : id;
  if (std::holds_alternative<ast::IntegerLiteral>(check.expr(operand).node)) {
    SourceRange behind = value.range;
    behind.begin = behind.end;
    builder.Fix(behind, ".0");
  } else if (check.dialect.operators || check.kind != CheckedKind::kModel) {
    builder.Fix(value.range, fmt::format("scalar({})", check.SourceText(value.range)));
  }
}

}  // namespace nnefc::semantics::suggestions
