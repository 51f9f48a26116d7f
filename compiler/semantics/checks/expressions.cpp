#include "compiler/semantics/checks/expressions.h"

#include "compiler/semantics/checks/invocations.h"
#include "compiler/semantics/checks/operators.h"
#include "compiler/semantics/suggestions/literals.h"
#include "compiler/semantics/suggestions/names.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::semantics::checks {
namespace {

void ReportUndefined(CheckContext& check, SourceRange range, Symbol name, const Local* local) {
  if (check.body.has_dropped_names || check.context.emitter.exhausted()) return;
  if (check.body.kind == BodyKind::kQuantization) {
    check.Report(kUndefined, range,
                 "`{}` is not a value; arguments in a quantization file are compile-time expressions",
                 check.Text(name));
    return;
  }
  if (!check.MayCompare(check.body.remaining.size() + check.body.scope.entries().size())) {
    if (local == nullptr) check.Report(kUndefined, range, "undefined name `{}`", check.Text(name));
    return;
  }
  // Search the left values from here on, for a better message.
  llvm::SmallVector<ExprId, 8> lefts;
  for (const ast::Assignment& assignment : llvm::reverse(check.body.remaining))
    lefts.push_back(assignment.left);
  while (!lefts.empty()) {
    const ast::Expr& left = check.expr(lefts.pop_back_val());
    if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&left.node)) {
      if (identifier->name != name) continue;
      check.Report(kUsedBeforeAssigned, range, "`{}` is used before it is assigned", check.Text(name))
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
  const suggestions::Proposal proposal = suggestions::ForUndefinedName(check, range, name);
  DiagnosticBuilder builder =
      check.Report(kUndefined, range, "undefined name `{}`{}", check.Text(name), proposal.hint);
  proposal.AddFixes(builder);
}

TypeId CheckIdentifier(CheckContext& check, const ast::Expr& use, Symbol name) {
  const Local* local = check.body.scope.Find(name);
  if (local != nullptr && (local->assigned || local->kind == LocalKind::kUnknown)) return local->type;
  if (local == nullptr && check.dialect.non_finite &&
      (check.Text(name) == "inf" || check.Text(name) == "nan")) {
    check.Deviate(kLenientNonFinite, use.range, "`{}` stands for a number, which no literal is",
                  check.Text(name));
    return check.scalar;
  }
  ReportUndefined(check, use.range, name, local);
  // Report each name once.
  if (local == nullptr) {
    check.body.scope.Add(name, {.kind = LocalKind::kUnknown, .type = check.error, .declaration = use.range});
  }
  return check.error;
}

TypeId CheckArray(CheckContext& check, const ast::Expr& array, llvm::ArrayRef<ExprId> items, Use use) {
  TypeId common = check.types.Primitive(TypeKind::kAny);
  bool is_reported = false;
  for (ExprId item : items) {
    const TypeId type = CheckExpr(check, item, use);
    if (is_reported) continue;
    const TypeId joined = check.CommonType(common, type);
    if (joined.valid()) {
      common = joined;
      continue;
    }
    is_reported = true;
    DiagnosticBuilder builder =
        check.Report(kItemTypes, check.expr(item).range,
                     "the item is of type `{}`, those before it in the array of type `{}`", check.Text(type),
                     check.Text(common));
    suggestions::FixLiteral(check, item, common, builder);
  }
  if (is_reported) return check.error;
  return check.Bounded(check.types.Array(common), array.range);
}

TypeId CheckTuple(CheckContext& check, const ast::Expr& tuple, llvm::ArrayRef<ExprId> items, Use use) {
  llvm::SmallVector<TypeId, 4> types;
  for (ExprId item : items) types.push_back(CheckExpr(check, item, use));
  const TypeId type = check.types.Tuple(types);
  // For an argument the parameter's type decides; it may turn an attribute into a tensor.
  if (use == Use::kValue && !check.dialect.mixed_tuples && !check.IsError(type) &&
      check.types.ContainsTensor(type) && !check.types.OnlyTensors(type)) {
    check.Report(kMixedTuple, tuple.range, "the tuple mixes tensors and attributes: its type would be `{}`",
                 check.Text(type));
    return check.error;
  }
  return check.Bounded(type, tuple.range);
}

void CheckCondition(CheckContext& check, ExprId condition) {
  const TypeId type = CheckExpr(check, condition);
  if (type == check.logical || check.IsError(type) || check.Kind(type) == TypeKind::kAny) return;
  check.Report(kConditionType, check.expr(condition).range,
               "the condition is of type `{}`; expected `logical`{}", check.Text(type),
               check.Kind(type) == TypeKind::kTensor
                   ? ", known when the graph is compiled; the operation `select` takes tensors"
                   : "");
}

// Scopes of `[for i in a, j in b if c yield e]`: iterators are visible in `c` and `e` only, neither in `a`
// and `b` nor after the bracket.
TypeId CheckComprehension(CheckContext& check, const ast::Expr& whole,
                          const ast::ComprehensionExpr& comprehension) {
  llvm::SmallVector<TypeId, 2> items;
  for (const ast::Iterator& iterator : comprehension.iterators) {
    const TypeId type = CheckExpr(check, iterator.iterable);
    if (check.Kind(type) == TypeKind::kArray) {
      items.push_back(check.types.Item(type));
      continue;
    }
    items.push_back(check.error);
    if (check.IsError(type)) continue;
    check.Report(kIterableType, check.expr(iterator.iterable).range,
                 "`{}` runs through `{}`; only arrays can be iterated", check.Text(iterator.name.symbol),
                 check.Text(type));
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
    Local* local = check.body.scope.Find(name.symbol);
    if (local == nullptr) {
      check.body.scope.Add(name.symbol, iterator);
      ++added;
      continue;
    }
    if (local->kind == LocalKind::kUnknown) continue;  // undefined in an iterable, already reported
    check
        .Report(kShadowed, name.range, "iterator `{}` has the name of another identifier",
                check.Text(name.symbol))
        .Note(local->declaration, "declared here");
    hidden.push_back({name.symbol, *local});
    *local = iterator;
  }
  const size_t size = check.body.scope.entries().size();
  if (comprehension.condition.valid()) CheckCondition(check, comprehension.condition);
  const TypeId body = CheckExpr(check, comprehension.body);
  // Remove undefined names of the body together with the iterators; outside, the same name is another one and
  // is reported again.
  for (size_t i = check.body.scope.entries().size() - size + added; i > 0; --i) check.body.scope.Pop();
  for (const Scope::Entry& entry : llvm::reverse(hidden)) {
    if (Local* local = check.body.scope.Find(entry.name)) *local = entry.local;
  }
  return check.Bounded(check.types.Array(body), whole.range);
}

TypeId CheckBuiltin(CheckContext& check, const ast::Expr& whole, const ast::BuiltinExpr& builtin) {
  const TypeId type = CheckExpr(check, builtin.argument);
  const TypeKind kind = check.Kind(type);
  const bool is_open = kind == TypeKind::kError || kind == TypeKind::kAny;
  const bool is_primitive = kind >= TypeKind::kInteger && kind <= TypeKind::kGeneric;
  bool is_valid = is_open || is_primitive;
  std::string_view expected = "a value of a primitive type";
  TypeId result = check.error;
  switch (builtin.builtin) {
    case ast::Builtin::kShapeOf:
      // All other values have the shape of rank 0.
      is_valid = kind == TypeKind::kTensor || !check.types.ContainsTensor(type);
      expected = "a tensor";
      result = check.types.Array(check.integer);
      break;
    case ast::Builtin::kLengthOf:
    case ast::Builtin::kRangeOf:
      is_valid = is_open || kind == TypeKind::kArray || kind == TypeKind::kString;
      expected = "an array or a string";
      result = builtin.builtin == ast::Builtin::kLengthOf ? check.integer : check.types.Array(check.integer);
      break;
    case ast::Builtin::kInteger:
    case ast::Builtin::kExtent:
      result = check.integer;
      break;
    case ast::Builtin::kScalar:
      result = check.scalar;
      break;
    case ast::Builtin::kLogical:
      result = check.logical;
      break;
    case ast::Builtin::kString:
      result = check.string;
      break;
  }
  if (!is_valid) {
    check.Report(kBuiltinArgument, check.expr(builtin.argument).range,
                 "the argument of `{}` is of type `{}`; expected {}", ast::Spelling(builtin.builtin),
                 check.Text(type), expected);
  }
  return result;
}

// Checks an expression that is not a chain of operators, subscripts or branches.
TypeId CheckLeaf(CheckContext& check, ExprId id, Use use) {
  const ast::Expr& leaf = check.expr(id);
  const ast::ExprNode& node = leaf.node;
  if (std::holds_alternative<ast::IntegerLiteral>(node)) return check.integer;
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&node))
    return CheckIdentifier(check, leaf, identifier->name);
  if (const auto* array = std::get_if<ast::ArrayExpr>(&node))
    return CheckArray(check, leaf, array->items, use);
  if (const auto* invocation = ast::Find<ast::InvocationExpr>(node))
    return CheckInvocation(check, id, *invocation, use);
  if (std::holds_alternative<ast::ScalarLiteral>(node)) return check.scalar;
  if (std::holds_alternative<ast::StringLiteral>(node)) return check.string;
  if (std::holds_alternative<ast::LogicalLiteral>(node)) return check.logical;
  if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) return CheckTuple(check, leaf, tuple->items, use);
  if (const auto* comprehension = ast::Find<ast::ComprehensionExpr>(node)) {
    return CheckComprehension(check, leaf, *comprehension);
  }
  if (const auto* builtin = ast::Find<ast::BuiltinExpr>(node)) return CheckBuiltin(check, leaf, *builtin);
  NNEFC_CHECK(std::holds_alternative<ast::ErrorExpr>(node));
  // Reported by the parser; the enclosing body must not be expanded.
  check.body.has_syntax_error = true;
  return check.error;
}

TypeId CheckTupleSubscript(CheckContext& check, const ast::SubscriptExpr& subscript, TypeId base) {
  llvm::ArrayRef<TypeId> items = check.types.Items(base);
  const auto* index =
      subscript.begin.valid() ? std::get_if<ast::IntegerLiteral>(&check.expr(subscript.begin).node) : nullptr;
  if (subscript.is_range || index == nullptr) {
    const ExprId place = subscript.begin.valid() ? subscript.begin : subscript.base;
    check.Report(kTupleIndex, check.expr(place).range, "an item of a tuple is chosen by an {} literal",
                 check.dialect.integer);
    return check.error;
  }
  if (index->value < 0 || static_cast<uint64_t>(index->value) >= items.size()) {
    check.Report(kTupleIndex, check.expr(subscript.begin).range, "there is no item {} in `{}`, which has {}",
                 index->value, check.Text(base), items.size());
    return check.error;
  }
  return items[static_cast<size_t>(index->value)];
}

void CheckIndex(CheckContext& check, ExprId index) {
  const TypeId type = CheckExpr(check, index);
  if (type == check.integer || check.IsError(type) || check.Kind(type) == TypeKind::kAny) return;
  check.Report(kSubscriptIndex, check.expr(index).range, "the index is of type `{}`; expected `{}`",
               check.Text(type), check.Text(check.integer));
}

TypeId CheckSubscript(CheckContext& check, const ast::Expr& whole, const ast::SubscriptExpr& subscript,
                      TypeId base) {
  for (ExprId index : {subscript.begin, subscript.end}) {
    if (!index.valid()) continue;
    if (check.IsError(base)) {
      CheckExpr(check, index);  // `relu[x]` is not a subscript
    } else {
      CheckIndex(check, index);
    }
  }
  switch (check.Kind(base)) {
    case TypeKind::kString:
      return check.string;
    case TypeKind::kArray:
      return subscript.is_range ? base : check.types.Item(base);
    case TypeKind::kTuple:
      return CheckTupleSubscript(check, subscript, base);
    case TypeKind::kError:
    case TypeKind::kAny:
      return check.error;
    case TypeKind::kTensor:
      // A tensor of one axis with values known at compile time.
      if (check.dialect.loose_values) return subscript.is_range ? base : check.integer;
      [[fallthrough]];
    default:
      check.Report(kSubscriptBase, whole.range, "`{}` has no items; arrays, strings and tuples have{}",
                   check.Text(base),
                   check.Kind(base) == TypeKind::kTensor &&
                           check.standard.Find(check.context.symbols.Find("slice")).valid()
                       ? ", and `slice(x, axes = [0], begin = [0], end = [1])` cuts a tensor"
                       : "");
      return check.error;
  }
}

TypeId CheckSelect(CheckContext& check, const ast::Expr& whole, const ast::SelectExpr& select,
                   TypeId otherwise) {
  const TypeId value = check.TypeOf(select.value);
  const TypeId common = check.CommonType(value, otherwise);
  if (common.valid()) return common;
  DiagnosticBuilder builder =
      check.Report(kBranchTypes, check.expr(select.otherwise).range,
                   "the branches are of types `{}` and `{}`, which have no common type", check.Text(value),
                   check.Text(otherwise));
  suggestions::FixScalars(check, select.otherwise, value, builder);
  suggestions::FixScalars(check, select.value, otherwise, builder);
  return check.error;
}

// Checks the link of a chain, whose inner expression has type `inner`.
TypeId CheckLink(CheckContext& check, ExprId id, TypeId inner) {
  const ast::Expr& link = check.expr(id);
  if (const auto* binary = ast::Find<ast::BinaryExpr>(link.node)) {
    return BinaryType(check, link, *binary, inner, CheckExpr(check, binary->right, Use::kArgument));
  }
  if (const auto* unary = std::get_if<ast::UnaryExpr>(&link.node))
    return UnaryType(check, link, *unary, inner);
  if (const auto* subscript = std::get_if<ast::SubscriptExpr>(&link.node)) {
    return CheckSubscript(check, link, *subscript, inner);
  }
  if (const auto* select = std::get_if<ast::SelectExpr>(&link.node))
    return CheckSelect(check, link, *select, inner);
  return inner;  // parentheses
}

}  // namespace

// Descends a chain, such as `a[0] + b + c`, to its innermost expression and checks the links on the way back.
// Iterative, so long chains need no stack.
TypeId CheckExpr(CheckContext& check, ExprId id, Use use) {
  llvm::SmallVector<ExprId, 4> links;
  while (true) {
    const ast::ExprNode& node = check.expr(id).node;
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
      CheckCondition(check, select->condition);
      CheckExpr(check, select->value, use);
      inner = select->otherwise;
    } else {
      break;
    }
    links.push_back(id);
    id = inner;
  }
  TypeId type = check.SetType(id, CheckLeaf(check, id, use));
  while (!links.empty()) {
    const ExprId link = links.pop_back_val();
    type = check.SetType(link, CheckLink(check, link, type));
  }
  return type;
}

}  // namespace nnefc::semantics::checks
