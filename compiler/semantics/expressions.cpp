#include "compiler/semantics/checker.h"
#include "compiler/semantics/foreign/foreign_names.h"
#include "compiler/support/suggest.h"

namespace nnefc::semantics {

// Descends a chain, such as `a[0] + b + c`, to its innermost expression and checks the links on the way back.
// Iterative, so long chains need no stack.
TypeId Checker::CheckExpr(ExprId id, Use use) {
  llvm::SmallVector<ExprId, 4> links;
  while (true) {
    const ast::ExprNode& node = expr(id).node;
    ExprId inner;
    if (const auto* binary = ast::Find<ast::BinaryExpr>(node)) {
      inner = binary->left;
      use = Use::kArgument;
    } else if (const auto* unary = std::get_if<ast::UnaryExpr>(&node)) {
      inner = unary->operand;
      use = Use::kArgument;
    } else if (const auto* subscript = std::get_if<ast::SubscriptExpr>(&node)) {
      inner = subscript->base;
      use = Use::kValue;
    } else if (const auto* paren = std::get_if<ast::ParenExpr>(&node)) {
      inner = paren->inner;
    } else if (const auto* select = std::get_if<ast::SelectExpr>(&node)) {
      CheckCondition(select->condition);
      CheckExpr(select->value, use);
      inner = select->otherwise;
    } else {
      break;
    }
    links.push_back(id);
    id = inner;
  }
  TypeId type = SetType(id, CheckLeaf(id, use));
  while (!links.empty()) {
    const ExprId link = links.pop_back_val();
    type = SetType(link, CheckLink(link, type));
  }
  return type;
}

TypeId Checker::CheckLeaf(ExprId id, Use use) {
  const ast::Expr& leaf = expr(id);
  const ast::ExprNode& node = leaf.node;
  if (std::holds_alternative<ast::IntegerLiteral>(node)) return integer_;
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&node))
    return CheckIdentifier(leaf, identifier->name);
  if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) return CheckArray(leaf, array->items, use);
  if (const auto* invocation = ast::Find<ast::InvocationExpr>(node))
    return CheckInvocation(id, *invocation, use);
  if (std::holds_alternative<ast::ScalarLiteral>(node)) return scalar_;
  if (std::holds_alternative<ast::StringLiteral>(node)) return string_;
  if (std::holds_alternative<ast::LogicalLiteral>(node)) return logical_;
  if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) return CheckTuple(leaf, tuple->items, use);
  if (const auto* comprehension = ast::Find<ast::ComprehensionExpr>(node)) {
    return CheckComprehension(leaf, *comprehension);
  }
  if (const auto* builtin = ast::Find<ast::BuiltinExpr>(node)) return CheckBuiltin(leaf, *builtin);
  NNEFC_CHECK(std::holds_alternative<ast::ErrorExpr>(node));
  // Reported by the parser; the enclosing body must not be expanded.
  has_syntax_error_ = true;
  return error_;
}

TypeId Checker::CheckLink(ExprId id, TypeId inner) {
  const ast::Expr& link = expr(id);
  if (const auto* binary = ast::Find<ast::BinaryExpr>(link.node)) {
    return BinaryType(link, *binary, inner, CheckExpr(binary->right, Use::kArgument));
  }
  if (const auto* unary = std::get_if<ast::UnaryExpr>(&link.node)) return UnaryType(link, *unary, inner);
  if (const auto* subscript = std::get_if<ast::SubscriptExpr>(&link.node)) {
    return CheckSubscript(link, *subscript, inner);
  }
  if (const auto* select = std::get_if<ast::SelectExpr>(&link.node)) return CheckSelect(link, *select, inner);
  return inner;  // parentheses
}

TypeId Checker::CheckIdentifier(const ast::Expr& use, Symbol name) {
  const Local* local = scope_.Find(name);
  if (local != nullptr && (local->assigned || local->kind == LocalKind::kUnknown)) return local->type;
  if (local == nullptr && dialect_.non_finite && (Text(name) == "inf" || Text(name) == "nan")) {
    Deviate(kLenientNonFinite, use.range, "`{}` stands for a number, which no literal is", Text(name));
    return scalar_;
  }
  ReportUndefined(use.range, name, local);
  // Report each name once.
  if (local == nullptr) {
    scope_.Add(name, {.kind = LocalKind::kUnknown, .type = error_, .declaration = use.range});
  }
  return error_;
}

void Checker::ReportUndefined(SourceRange range, Symbol name, const Local* local) {
  if (has_dropped_names_ || context_.emitter.exhausted()) return;
  if (body_ == BodyKind::kQuantization) {
    Report(kUndefined, range,
           "`{}` is not a value; arguments in a quantization file are compile-time expressions", Text(name));
    return;
  }
  if (!MayCompare(rest_.size() + scope_.entries().size())) {
    if (local == nullptr) Report(kUndefined, range, "undefined name `{}`", Text(name));
    return;
  }
  // Search the left values from here on, for a better message.
  llvm::SmallVector<ExprId, 8> lefts;
  for (const ast::Assignment& assignment : llvm::reverse(rest_)) lefts.push_back(assignment.left);
  while (!lefts.empty()) {
    const ast::Expr& left = expr(lefts.pop_back_val());
    if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&left.node)) {
      if (identifier->name != name) continue;
      Report(kUsedBeforeAssigned, range, "`{}` is used before it is assigned", Text(name))
          .Note(left.range, "assigned here");
      return;
    }
    if (const auto* array = std::get_if<ast::ArrayExpr>(&left.node)) {
      lefts.append(array->items.rbegin(), array->items.rend());
    } else if (const auto* tuple = ast::Find<ast::TupleExpr>(left.node)) {
      lefts.append(tuple->items.rbegin(), tuple->items.rend());
    }
  }
  if (local != nullptr) return;  // An unassigned result or graph parameter: reported as such.
  if (const foreign::ForeignName* foreign = foreign::FindForeignValue(Text(name))) {
    DiagnosticBuilder builder =
        Report(kUndefined, range, "undefined name `{}`; {}", Text(name),
               foreign->ours.empty() ? std::string(foreign->advice)
                                     : fmt::format("did you mean `{}`?", foreign->ours));
    if (!foreign->ours.empty()) builder.Fix(range, std::string(foreign->ours));
    return;
  }
  if (out_->Find(name).valid()) {
    DiagnosticBuilder builder =
        Report(kUndefined, range, "undefined name `{0}`; the operation is invoked with arguments, `{0}(..)`",
               Text(name));
    FixCallBrackets(range, builder);
    return;
  }
  Suggestion suggestion(Text(name));
  for (const Scope::Entry& entry : scope_.entries()) {
    if (entry.local.assigned) suggestion.Offer(Text(entry.name));
  }
  if (suggestion.best().empty()) {
    Report(kUndefined, range, "undefined name `{}`", Text(name));
    return;
  }
  DiagnosticBuilder builder =
      Report(kUndefined, range, "undefined name `{}`; did you mean `{}`?", Text(name), suggestion.best());
  // Either of the two names may be misspelt.
  if (suggestion.is_typo())
    builder.Fix(range, std::string(suggestion.best()),
                suggestion.is_spelling() ? Applicability::kSafe : Applicability::kUnsafe);
}

TypeId Checker::CheckArray(const ast::Expr& array, llvm::ArrayRef<ExprId> items, Use use) {
  TypeId common = types_.Primitive(TypeKind::kAny);
  bool is_reported = false;
  for (ExprId item : items) {
    const TypeId type = CheckExpr(item, use);
    if (is_reported) continue;
    const TypeId joined = CommonType(types_, dialect_, common, type);
    if (joined.valid()) {
      common = joined;
      continue;
    }
    is_reported = true;
    DiagnosticBuilder builder = Report(kItemTypes, expr(item).range,
                                       "the item is of type `{}`, those before it in the array of type `{}`",
                                       Text(type), Text(common));
    FixLiteral(item, common, builder);
  }
  if (is_reported) return error_;
  return Bounded(types_.Array(common), array.range);
}

TypeId Checker::CheckTuple(const ast::Expr& tuple, llvm::ArrayRef<ExprId> items, Use use) {
  llvm::SmallVector<TypeId, 4> types;
  for (ExprId item : items) types.push_back(CheckExpr(item, use));
  const TypeId type = types_.Tuple(types);
  // For an argument the parameter's type decides; it may turn an attribute into a tensor.
  if (use == Use::kValue && !dialect_.mixed_tuples && !IsError(type) && types_.ContainsTensor(type) &&
      !types_.OnlyTensors(type)) {
    Report(kMixedTuple, tuple.range, "the tuple mixes tensors and attributes: its type would be `{}`",
           Text(type));
    return error_;
  }
  return Bounded(type, tuple.range);
}

// Scopes of `[for i in a, j in b if c yield e]`: iterators are visible in `c` and `e` only, neither in `a`
// and `b` nor after the bracket.
TypeId Checker::CheckComprehension(const ast::Expr& whole, const ast::ComprehensionExpr& comprehension) {
  llvm::SmallVector<TypeId, 2> items;
  for (const ast::Iterator& iterator : comprehension.iterators) {
    const TypeId type = CheckExpr(iterator.iterable);
    if (Kind(type) == TypeKind::kArray) {
      items.push_back(types_.Item(type));
      continue;
    }
    items.push_back(error_);
    if (IsError(type)) continue;
    Report(kIterableType, expr(iterator.iterable).range,
           "`{}` runs through `{}`; only arrays can be iterated", Text(iterator.name.symbol), Text(type));
  }
  size_t added = 0;
  llvm::SmallVector<Scope::Entry, 2> hidden;  // locals shadowed by iterators, already reported
  for (size_t i = 0; i < items.size(); ++i) {
    const ast::Name& name = comprehension.iterators[i].name;
    const Local iterator{.kind = LocalKind::kIterator,
                         .assigned = true,
                         .type = items[i],
                         .declaration = name.range,
                         .assignment = name.range};
    Local* local = scope_.Find(name.symbol);
    if (local == nullptr) {
      scope_.Add(name.symbol, iterator);
      ++added;
      continue;
    }
    if (local->kind == LocalKind::kUnknown) continue;  // undefined in an iterable, already reported
    Report(kShadowed, name.range, "iterator `{}` has the name of another identifier", Text(name.symbol))
        .Note(local->declaration, "declared here");
    hidden.push_back({name.symbol, *local});
    *local = iterator;
  }
  const size_t size = scope_.entries().size();
  if (comprehension.condition.valid()) CheckCondition(comprehension.condition);
  const TypeId body = CheckExpr(comprehension.body);
  // Remove undefined names of the body together with the iterators; outside, the same name is another one and
  // is reported again.
  for (size_t i = scope_.entries().size() - size + added; i > 0; --i) scope_.Pop();
  for (const Scope::Entry& entry : llvm::reverse(hidden)) {
    if (Local* local = scope_.Find(entry.name)) *local = entry.local;
  }
  return Bounded(types_.Array(body), whole.range);
}

TypeId Checker::CheckSubscript(const ast::Expr& whole, const ast::SubscriptExpr& subscript, TypeId base) {
  for (ExprId index : {subscript.begin, subscript.end}) {
    if (!index.valid()) continue;
    if (IsError(base)) {
      CheckExpr(index);  // `relu[x]` is not a subscript
    } else {
      CheckIndex(index);
    }
  }
  switch (Kind(base)) {
    case TypeKind::kString:
      return string_;
    case TypeKind::kArray:
      return subscript.is_range ? base : types_.Item(base);
    case TypeKind::kTuple:
      return CheckTupleSubscript(subscript, base);
    case TypeKind::kError:
    case TypeKind::kAny:
      return error_;
    case TypeKind::kTensor:
      // A tensor of one axis with values known at compile time.
      if (dialect_.loose_values) return subscript.is_range ? base : integer_;
      [[fallthrough]];
    default:
      Report(kSubscriptBase, whole.range, "`{}` has no items; arrays, strings and tuples have{}", Text(base),
             Kind(base) == TypeKind::kTensor && standard().Find(context_.symbols.Find("slice")).valid()
                 ? ", and `slice(x, axes = [0], begin = [0], end = [1])` cuts a tensor"
                 : "");
      return error_;
  }
}

TypeId Checker::CheckTupleSubscript(const ast::SubscriptExpr& subscript, TypeId base) {
  llvm::ArrayRef<TypeId> items = types_.Items(base);
  const auto* index =
      subscript.begin.valid() ? std::get_if<ast::IntegerLiteral>(&expr(subscript.begin).node) : nullptr;
  if (subscript.is_range || index == nullptr) {
    const ExprId place = subscript.begin.valid() ? subscript.begin : subscript.base;
    Report(kTupleIndex, expr(place).range, "an item of a tuple is chosen by an {} literal", dialect_.integer);
    return error_;
  }
  if (index->value < 0 || static_cast<uint64_t>(index->value) >= items.size()) {
    Report(kTupleIndex, expr(subscript.begin).range, "there is no item {} in `{}`, which has {}",
           index->value, Text(base), items.size());
    return error_;
  }
  return items[static_cast<size_t>(index->value)];
}

void Checker::CheckIndex(ExprId index) {
  const TypeId type = CheckExpr(index);
  if (type == integer_ || IsError(type) || Kind(type) == TypeKind::kAny) return;
  Report(kSubscriptIndex, expr(index).range, "the index is of type `{}`; expected `{}`", Text(type),
         Text(integer_));
}

void Checker::CheckCondition(ExprId condition) {
  const TypeId type = CheckExpr(condition);
  if (type == logical_ || IsError(type) || Kind(type) == TypeKind::kAny) return;
  Report(kConditionType, expr(condition).range, "the condition is of type `{}`; expected `logical`{}",
         Text(type),
         Kind(type) == TypeKind::kTensor
             ? ", known when the graph is compiled; the operation `select` takes tensors"
             : "");
}

TypeId Checker::CheckSelect(const ast::Expr& whole, const ast::SelectExpr& select, TypeId otherwise) {
  const TypeId value = TypeOf(select.value);
  const TypeId common = CommonType(types_, dialect_, value, otherwise);
  if (common.valid()) return common;
  DiagnosticBuilder builder = Report(kBranchTypes, expr(select.otherwise).range,
                                     "the branches are of types `{}` and `{}`, which have no common type",
                                     Text(value), Text(otherwise));
  FixScalars(select.otherwise, value, builder);
  FixScalars(select.value, otherwise, builder);
  return error_;
}

TypeId Checker::CheckBuiltin(const ast::Expr& whole, const ast::BuiltinExpr& builtin) {
  const TypeId type = CheckExpr(builtin.argument);
  const TypeKind kind = Kind(type);
  const bool is_open = kind == TypeKind::kError || kind == TypeKind::kAny;
  const bool is_primitive = kind >= TypeKind::kInteger && kind <= TypeKind::kGeneric;
  bool is_valid = is_open || is_primitive;
  std::string_view expected = "a value of a primitive type";
  TypeId result = error_;
  switch (builtin.builtin) {
    case ast::Builtin::kShapeOf:
      // All other values have the shape of rank 0.
      is_valid = kind == TypeKind::kTensor || !types_.ContainsTensor(type);
      expected = "a tensor";
      result = types_.Array(integer_);
      break;
    case ast::Builtin::kLengthOf:
    case ast::Builtin::kRangeOf:
      is_valid = is_open || kind == TypeKind::kArray || kind == TypeKind::kString;
      expected = "an array or a string";
      result = builtin.builtin == ast::Builtin::kLengthOf ? integer_ : types_.Array(integer_);
      break;
    case ast::Builtin::kInteger:
    case ast::Builtin::kExtent:
      result = integer_;
      break;
    case ast::Builtin::kScalar:
      result = scalar_;
      break;
    case ast::Builtin::kLogical:
      result = logical_;
      break;
    case ast::Builtin::kString:
      result = string_;
      break;
  }
  if (!is_valid) {
    Report(kBuiltinArgument, expr(builtin.argument).range,
           "the argument of `{}` is of type `{}`; expected {}", ast::Spelling(builtin.builtin), Text(type),
           expected);
  }
  return result;
}

TypeId Checker::Bounded(TypeId type, SourceRange range) {
  if (types_.WithinBounds(type)) return type;
  Report(kTypeTooLarge, range, "the type has more than {} levels or {} parts", TypeTable::kMaxDepth,
         TypeTable::kMaxSize);
  return error_;
}

}  // namespace nnefc::semantics
