#include <cmath>

#include "compiler/semantics/checker.h"
#include "compiler/semantics/foreign/foreign_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::semantics {

// Reports a word for no value, `border = None`, for an argument that has a default.
bool Checker::ReportNoValue(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                            Callee callee) {
  const ast::Expr& value = expr(argument.value);
  const auto* word = std::get_if<ast::IdentifierExpr>(&value.node);
  if (word == nullptr || !argument.name.has_value() || scope_.Find(word->name) != nullptr) return false;
  const foreign::ForeignName* foreign = foreign::FindForeignValue(Text(word->name));
  if (foreign == nullptr || foreign->repair != foreign::ForeignRepair::kDrop) return false;
  if (!callee.valid() || IsBroken(callee)) return false;
  const std::optional<size_t> place = PlaceOf(SignatureOf(callee), *argument.name);
  if (!place) return false;
  const ExprId default_value = SignatureOf(callee).parameters[*place].default_value;
  if (!default_value.valid()) return false;
  const std::string_view text = SourceText(callee.document->ast().exprs[default_value].range);
  const std::string_view name = Text(argument.name->symbol);
  {
    DiagnosticBuilder builder =
        Report(kUndefined, value.range, "`{}` is not a value; remove `{}`, whose default is `{}`",
               Text(word->name), name, text);
    // An empty list has a separate meaning, such as automatic padding.
    if (text != "[]" && invocation.arguments.size() > 1) RemoveArgument(invocation, argument, builder);
  }
  SetType(argument.value, error_);
  return true;
}

// Reports an undefined name where a string is expected: `border = constant`.
bool Checker::ReportBareWord(const ast::InvocationExpr& invocation, const ast::Argument& argument) {
  const ast::Expr& value = expr(argument.value);
  const auto* word = std::get_if<ast::IdentifierExpr>(&value.node);
  if (word == nullptr || !argument.name.has_value() || scope_.Find(word->name) != nullptr ||
      has_dropped_names_)
    return false;
  const Callee callee = out_->Find(invocation.callee.symbol);
  if (!callee.valid() || IsBroken(callee)) return false;
  const auto wants_string = [&](const TypedName& parameter) {
    return parameter.name.symbol == argument.name->symbol && parameter.type == string_;
  };
  if (llvm::none_of(SignatureOf(callee).parameters, wants_string)) return false;
  const std::string quoted = fmt::format("'{}'", Text(word->name));
  Report(kUndefined, value.range, "undefined name `{}`; a string stands in quotes, `{}`", Text(word->name),
         quoted)
      .Fix(value.range, quoted);
  SetType(argument.value, string_);
  return true;
}

// Returns a hint where FixLiteral offers no fix.
std::string Checker::HintFor(ExprId id, TypeId expected) const {
  const ast::Expr& value = expr(Inner(id));
  const TypeKind kind = Kind(expected);
  if (const auto* text = std::get_if<ast::StringLiteral>(&value.node)) {
    const std::string word = llvm::StringRef(Text(text->value).data(), Text(text->value).size()).lower();
    const bool is_padding = kind == TypeKind::kArray && Kind(types_.Item(expected)) == TypeKind::kTuple;
    if (is_padding && word.starts_with("same")) return "; `padding = []` pads so";
    if (is_padding && word == "valid") return "; `padding = [(0,0), (0,0)]` pads nothing";
  }
  if (kind == TypeKind::kTensor && std::holds_alternative<ast::ArrayExpr>(value.node) &&
      !types_.ContainsTensor(TypeOf(id)))
    return "; `constant(shape = .., value = ..)` makes a tensor of an array";
  if (kind != TypeKind::kArray) return "";
  if (ast::Is<ast::TupleExpr>(value.node)) return "; an array stands in `[` and `]`";
  const TypeId item = types_.Item(expected);
  const bool is_pair = Kind(item) == TypeKind::kTuple && types_.Items(item).size() == 2;
  if (is_pair) return "; each item is a pair, such as `(1,1)` before and behind";
  return "";
}

// Fixes a literal, or an array or tuple of literals, in the wrong notation for the expected type: `2` for
// `2.0`, `(1,2)` for `[1,2]`.
void Checker::FixLiteral(ExprId id, TypeId expected, DiagnosticBuilder& builder) {
  id = Inner(id);
  const ast::Expr& value = expr(id);
  if (const auto* text = std::get_if<ast::StringLiteral>(&value.node)) {
    FixWord(id, llvm::StringRef(Text(text->value).data(), Text(text->value).size()).lower(), expected,
            builder);
    return;
  }
  if (Kind(expected) == TypeKind::kArray) {
    FixArray(id, types_.Item(expected), builder);
    return;
  }
  if (Kind(expected) == TypeKind::kTuple) {
    FixTuple(id, expected, builder);
    return;
  }
  if (expected == integer_) {
    const auto* scalar = std::get_if<ast::ScalarLiteral>(&value.node);
    const bool is_whole =
        scalar != nullptr && std::trunc(scalar->value) == scalar->value && std::abs(scalar->value) < 1e15;
    if (is_whole) builder.Fix(value.range, fmt::format("{}", static_cast<int64_t>(scalar->value)));
    return;
  }
  if (expected == logical_) {
    const auto* number = std::get_if<ast::IntegerLiteral>(&value.node);
    const bool is_bit = number != nullptr && (number->value == 0 || number->value == 1);
    if (is_bit) builder.Fix(value.range, number->value == 1 ? "true" : "false");
    return;
  }
  FixScalars(id, expected, builder);
}

// Fixes `padding = 'same'`, `transposeB = 'true'`.
void Checker::FixWord(ExprId id, std::string_view word, TypeId expected, DiagnosticBuilder& builder) {
  const SourceRange range = expr(id).range;
  const bool is_padding =
      Kind(expected) == TypeKind::kArray && Kind(types_.Item(expected)) == TypeKind::kTuple;
  if (is_padding && (word == "same" || word == "same_upper")) builder.Fix(range, "[]");
  if (is_padding && word == "valid") builder.Fix(range, "[(0,0), (0,0)]");
  if (expected == logical_ && (word == "true" || word == "false")) builder.Fix(range, std::string(word));
}

// Fixes the brackets after an operation's name: `relu[x]`.
void Checker::FixCallBrackets(SourceRange name, DiagnosticBuilder& builder) {
  const std::string_view text = context_.sources.Text(name.file);
  if (name.end >= text.size() || text[name.end] != '[') return;
  const size_t line_end = std::min(text.find('\n', name.end), text.size());
  int depth = 0;
  for (size_t at = name.end; at < line_end; ++at) {
    depth += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0;
    if (depth > 0) continue;
    ReplaceBrackets({name.file, name.end, static_cast<uint32_t>(at) + 1}, "(", ")", builder);
    return;
  }
}

void Checker::ReplaceBrackets(SourceRange range, std::string_view open, std::string_view close,
                              DiagnosticBuilder& builder) {
  builder.Fix({range.file, range.begin, range.begin + 1}, std::string(open));
  builder.Fix({range.file, range.end - 1, range.end}, std::string(close));
}

// Returns true for four or more numbers, `padding = [1,1,1,1]`, which may be all begins followed by all ends,
// unless the first two are 0 for batch and channels.
bool Checker::MixesBeginsAndEnds(llvm::ArrayRef<ExprId> items, TypeId item) const {
  if (Kind(item) != TypeKind::kTuple || items.size() < 4) return false;
  const auto number = [&](ExprId id) { return std::get_if<ast::IntegerLiteral>(&expr(id).node); };
  if (!llvm::all_of(items, number)) return false;
  return number(items[0])->value != 0 || number(items[1])->value != 0;
}

void Checker::FixArray(ExprId id, TypeId item, DiagnosticBuilder& builder) {
  const ast::Expr& value = expr(id);
  if (const auto* array = std::get_if<ast::ArrayExpr>(&value.node)) {
    if (array->items.size() > kMaxFixedItems || MixesBeginsAndEnds(array->items, item)) return;
    for (ExprId inner : array->items) {
      if (!IsCastable(types_, dialect_, TypeOf(inner), item)) FixLiteral(inner, item, builder);
    }
    return;
  }
  if (const auto* tuple = ast::Find<ast::TupleExpr>(value.node)) {
    const bool fits = tuple->parenthesized && llvm::all_of(tuple->items, [&](ExprId inner) {
                        return IsCastable(types_, dialect_, TypeOf(inner), item);
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
  const bool is_pair = Kind(item) == TypeKind::kTuple && types_.Items(item).size() == 2 &&
                       types_.Items(item)[0] == integer_ && types_.Items(item)[1] == integer_;
  if (number != nullptr && is_pair)
    builder.Fix(value.range, fmt::format("[({0},{0})]", number->value), Applicability::kUnsafe);
  if (!is_literal || !IsCastable(types_, dialect_, TypeOf(id), item)) return;
  builder.Fix({value.range.file, value.range.begin, value.range.begin}, "[");
  builder.Fix({value.range.file, value.range.end, value.range.end}, "]");
}

void Checker::FixTuple(ExprId id, TypeId expected, DiagnosticBuilder& builder) {
  const ast::Expr& value = expr(id);
  const llvm::ArrayRef<TypeId> types = types_.Items(expected);
  if (const auto* array = std::get_if<ast::ArrayExpr>(&value.node)) {
    if (array->items.size() != types.size()) return;
    for (size_t i = 0; i < types.size(); ++i) {
      if (!IsCastable(types_, dialect_, TypeOf(array->items[i]), types[i])) return;
    }
    ReplaceBrackets(value.range, "(", ")", builder);
    return;
  }
  if (const auto* tuple = ast::Find<ast::TupleExpr>(value.node)) {
    if (tuple->items.size() != types.size()) return;
    for (size_t i = 0; i < types.size(); ++i) FixLiteral(tuple->items[i], types[i], builder);
    return;
  }
  // `padding = [1,1]`: each number is the padding on both sides.
  const auto* number = std::get_if<ast::IntegerLiteral>(&value.node);
  const bool is_pair = types.size() == 2 && types[0] == integer_ && types[1] == integer_;
  if (number != nullptr && is_pair)
    builder.Fix(value.range, fmt::format("({0},{0})", number->value), Applicability::kUnsafe);
}

void Checker::FixScalars(ExprId id, TypeId expected, DiagnosticBuilder& builder) {
  id = Inner(id);
  const ast::Expr& value = expr(id);
  if (const auto* array = std::get_if<ast::ArrayExpr>(&value.node)) {
    if (Kind(expected) != TypeKind::kArray || array->items.size() > 64) return;
    for (ExprId item : array->items) FixScalars(item, types_.Item(expected), builder);
    return;
  }
  if (const auto* tuple = ast::Find<ast::TupleExpr>(value.node)) {
    if (Kind(expected) != TypeKind::kTuple || types_.Items(expected).size() != tuple->items.size()) return;
    for (size_t i = 0; i < tuple->items.size(); ++i)
      FixScalars(tuple->items[i], types_.Items(expected)[i], builder);
    return;
  }
  const TypeId element = Kind(expected) == TypeKind::kTensor ? types_.Element(expected) : expected;
  const bool wants_scalar =
      element == scalar_ || (!dialect_.exact_literals && Kind(element) == TypeKind::kAny);
  if (!wants_scalar || TypeOf(id) != integer_) return;
  const auto* unary = std::get_if<ast::UnaryExpr>(&value.node);
  const ExprId operand = unary != nullptr ? unary->operand : id;
  if (std::holds_alternative<ast::IntegerLiteral>(expr(operand).node)) {
    SourceRange behind = value.range;
    behind.begin = behind.end;
    builder.Fix(behind, ".0");
  } else if (dialect_.operators || kind_ != CheckedKind::kModel) {
    builder.Fix(value.range, fmt::format("scalar({})", SourceText(value.range)));
  }
}

}  // namespace nnefc::semantics
