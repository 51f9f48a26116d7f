// Element types of a provisional document's tensors, inferred by unification. Each identifier has one type
// variable per tensor or attribute within its tuples (a leaf).

#include "compiler/upgrade/element_types.h"

#include <algorithm>

#include "compiler/expand/provisional_names.h"

namespace nnefc::upgrade {

using semantics::TypeId;
using semantics::TypeKind;

ElementTypes::ElementTypes(const semantics::CheckedDocument& document,
                           const semantics::CheckedDocument& ratified, const SymbolTable& symbols)
    : document_(document), ratified_(ratified), symbols_(symbols) {
  const ast::Document& ast = document.ast();
  for (size_t i = 0; i < ast.fragments.size(); ++i) {
    scope_ = static_cast<int32_t>(i);
    const ast::FragmentId id(scope_);
    if (document.sound(id)) Infer(ast.fragments[id].body);
  }
  scope_ = -1;
  if (document.graph() != nullptr) Infer(document.graph()->body);
}

ast::PrimitiveName ElementTypes::Of(ast::FragmentId fragment, Symbol identifier, size_t leaf) {
  auto found = named_.find({fragment.index, identifier, leaf});
  if (found == named_.end()) return ast::PrimitiveName::kScalar;
  switch (kinds_[static_cast<size_t>(Find(found->second))]) {
    case Kind::kInteger:
      return ast::PrimitiveName::kInteger;
    case Kind::kLogical:
      return ast::PrimitiveName::kLogical;
    case Kind::kString:
      return ast::PrimitiveName::kString;
    default:
      return ast::PrimitiveName::kScalar;
  }
}

// ---- type variables ----

ElementTypes::Kind ElementTypes::KindOf(const semantics::TypeTable& types, TypeId element) {
  switch (types.Kind(element)) {
    case TypeKind::kInteger:
      return Kind::kInteger;
    case TypeKind::kScalar:
      return Kind::kScalar;
    case TypeKind::kLogical:
      return Kind::kLogical;
    case TypeKind::kString:
      return Kind::kString;
    default:
      return Kind::kUnknown;
  }
}

ElementTypes::Variable ElementTypes::Fresh(Kind kind) {
  parents_.push_back(static_cast<Variable>(parents_.size()));
  kinds_.push_back(kind);
  return parents_.back();
}

ElementTypes::Leaves ElementTypes::Fresh(size_t count) {
  Leaves leaves;
  for (size_t i = 0; i < count; ++i) leaves.push_back(Fresh());
  return leaves;
}

ElementTypes::Variable ElementTypes::Find(Variable variable) {
  while (parents_[static_cast<size_t>(variable)] != variable) {
    Variable& parent = parents_[static_cast<size_t>(variable)];
    parent = parents_[static_cast<size_t>(parent)];
    variable = parent;
  }
  return variable;
}

void ElementTypes::Unify(Variable a, Variable b) {
  a = Find(a);
  b = Find(b);
  if (a == b) return;
  parents_[static_cast<size_t>(b)] = a;
  Kind& kind = kinds_[static_cast<size_t>(a)];
  const Kind other = kinds_[static_cast<size_t>(b)];
  if (kind == Kind::kUnknown) {
    kind = other;
  } else if (other != Kind::kUnknown && other != kind) {
    kind = Kind::kContradiction;
  }
}

void ElementTypes::Unify(const Leaves& a, const Leaves& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) Unify(a[i], b[i]);
}

ElementTypes::Leaves ElementTypes::LeavesOf(Symbol identifier, size_t count) {
  Leaves leaves;
  for (size_t i = 0; i < count; ++i) {
    auto [entry, added] = named_.try_emplace({scope_, identifier, i}, 0);
    if (added) entry->second = Fresh();
    leaves.push_back(entry->second);
  }
  return leaves;
}

// Returns the number of leaves of a type.
size_t ElementTypes::Count(TypeId type) const {
  if (!type.valid()) return 1;
  const semantics::TypeTable& types = document_.types();
  if (types.Kind(type) == TypeKind::kArray) return Count(types.Item(type));
  if (types.Kind(type) != TypeKind::kTuple) return 1;
  size_t count = 0;
  for (TypeId item : types.Items(type)) count += Count(item);
  return count;
}

// ---- statements and expressions ----

void ElementTypes::Infer(llvm::ArrayRef<ast::Assignment> body) {
  for (const ast::Assignment& assignment : body) {
    const Leaves right = Infer(assignment.right);
    Assign(assignment.left, document_.type(assignment.right), right);
  }
}

// Unifies the targets with the right-hand side of type `type`.
void ElementTypes::Assign(ast::ExprId left, TypeId type, llvm::ArrayRef<Variable> right) {
  const ast::ExprNode& node = document_.ast().exprs[left].node;
  const semantics::TypeTable& types = document_.types();
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&node)) {
    Unify(LeavesOf(identifier->name, right.size()), Leaves(right.begin(), right.end()));
  } else if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) {
    const bool is_array = type.valid() && types.Kind(type) == TypeKind::kArray;
    for (ast::ExprId item : array->items) Assign(item, is_array ? types.Item(type) : type, right);
  } else if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) {
    const bool is_tuple = type.valid() && types.Kind(type) == TypeKind::kTuple;
    for (size_t i = 0; i < tuple->items.size() && !right.empty(); ++i) {
      const TypeId item =
          is_tuple && i < types.Items(type).size() ? types.Items(type)[i] : document_.type(tuple->items[i]);
      const size_t count = std::min(Count(item), right.size());
      Assign(tuple->items[i], item, right.take_front(count));
      right = right.drop_front(count);
    }
  }
}

ElementTypes::Leaves ElementTypes::Infer(ast::ExprId id) {
  if (!id.valid()) return {};
  const TypeId type = document_.type(id);
  if (!type.valid() || !document_.types().ContainsTensor(type)) return Fresh(Count(type));
  const ast::ExprNode& node = document_.ast().exprs[id].node;
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&node))
    return LeavesOf(identifier->name, Count(type));
  if (const auto* paren = std::get_if<ast::ParenExpr>(&node)) return Infer(paren->inner);
  if (const auto* unary = std::get_if<ast::UnaryExpr>(&node)) return InferUnary(*unary);
  if (const auto* binary = ast::Find<ast::BinaryExpr>(node)) return InferBinary(*binary, type);
  if (const auto* subscript = std::get_if<ast::SubscriptExpr>(&node)) return InferSubscript(*subscript);
  if (ast::Is<ast::InvocationExpr>(node)) return InferInvocation(id, type);
  if (const auto* comprehension = ast::Find<ast::ComprehensionExpr>(node))
    return InferComprehension(*comprehension);
  Leaves leaves;
  if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) {
    leaves = Fresh(Count(type));
    for (ast::ExprId item : array->items) Unify(leaves, Infer(item));
  } else if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) {
    for (ast::ExprId item : tuple->items) leaves.append(Infer(item));
  } else if (const auto* select = std::get_if<ast::SelectExpr>(&node)) {
    leaves = Infer(select->value);
    Unify(leaves, Infer(select->otherwise));
  } else {
    leaves = Fresh(Count(type));
  }
  return leaves;
}

ElementTypes::Leaves ElementTypes::InferUnary(const ast::UnaryExpr& unary) {
  Leaves leaves = Infer(unary.operand);
  if (unary.op == ast::UnaryOperator::kPlus || leaves.empty()) return leaves;
  Unify(leaves[0], Fresh(unary.op == ast::UnaryOperator::kNot ? Kind::kLogical : Kind::kScalar));
  return leaves;
}

ElementTypes::Leaves ElementTypes::InferBinary(const ast::BinaryExpr& binary, TypeId type) {
  Leaves left = Infer(binary.left);
  const Leaves right = Infer(binary.right);
  if (document_.types().Kind(type) != TypeKind::kTensor) {  // array operations: `a + b`, `a * 2`
    if (binary.op == ast::BinaryOperator::kAdd) Unify(left, right);
    return left;
  }
  const bool is_logical = binary.op == ast::BinaryOperator::kAnd || binary.op == ast::BinaryOperator::kOr;
  const Leaves operand = {Fresh(is_logical ? Kind::kLogical : Kind::kScalar)};
  Unify(left, operand);
  Unify(right, operand);
  const bool is_arithmetic = binary.op <= ast::BinaryOperator::kPow;
  return {Fresh(is_arithmetic ? Kind::kScalar : Kind::kLogical)};
}

ElementTypes::Leaves ElementTypes::InferComprehension(const ast::ComprehensionExpr& comprehension) {
  for (const ast::Iterator& iterator : comprehension.iterators) {
    const Leaves items = Infer(iterator.iterable);
    Unify(LeavesOf(iterator.name.symbol, items.size()), items);
  }
  return Infer(comprehension.body);
}

ElementTypes::Leaves ElementTypes::InferSubscript(const ast::SubscriptExpr& subscript) {
  Leaves leaves = Infer(subscript.base);
  const semantics::TypeTable& types = document_.types();
  const TypeId base = document_.type(subscript.base);
  if (subscript.is_range || !base.valid() || types.Kind(base) != TypeKind::kTuple) return leaves;
  const auto* index = std::get_if<ast::IntegerLiteral>(&document_.ast().exprs[subscript.begin].node);
  if (index == nullptr || index->value < 0) return leaves;
  size_t first = 0;
  for (size_t i = 0; i < types.Items(base).size(); ++i) {
    const size_t count = Count(types.Items(base)[i]);
    if (static_cast<int64_t>(i) == index->value) {
      Leaves item;
      for (size_t j = first; j < std::min(first + count, leaves.size()); ++j) item.push_back(leaves[j]);
      return item;
    }
    first += count;
  }
  return leaves;
}

ElementTypes::Leaves ElementTypes::InferInvocation(ast::ExprId id, TypeId type) {
  const semantics::Binding* binding = document_.binding(id);
  if (binding == nullptr) return Fresh(Count(type));
  return binding->callee.document == &document_ ? InferOwn(*binding) : InferStandard(*binding);
}

// Infers a call of the document's fragment; its parameters and results are type variables.
ElementTypes::Leaves ElementTypes::InferOwn(const semantics::Binding& binding) {
  std::vector<Leaves> arguments;
  arguments.reserve(binding.arguments.size());
  for (ast::ExprId argument : binding.arguments) arguments.push_back(Infer(argument));
  const int32_t caller = scope_;
  scope_ = binding.callee.fragment.index;
  const semantics::Signature& signature = document_.signature(binding.callee.fragment);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const semantics::TypedName& parameter = signature.parameters[i];
    Unify(LeavesOf(parameter.name.symbol, Count(parameter.type)), arguments[i]);
  }
  Leaves results;
  for (const semantics::TypedName& result : signature.results)
    results.append(LeavesOf(result.name.symbol, Count(result.type)));
  scope_ = caller;
  return results;
}

// Infers a call of a standard operation from its ratified declaration.
ElementTypes::Leaves ElementTypes::InferStandard(const semantics::Binding& binding) {
  const semantics::Signature& called = binding.callee.document->signature(binding.callee.fragment);
  const std::string_view name = expand::RatifiedName(symbols_.Text(called.name.symbol));
  const Symbol symbol = symbols_.Find(name);
  const semantics::Callee target = symbol.valid() ? ratified_.Find(symbol) : semantics::Callee();
  if (!target.valid()) return Fresh(called.results.size());
  const semantics::TypeTable& types = ratified_.types();
  const semantics::Signature& signature = target.document->signature(target.fragment);
  const Variable generic = Fresh();
  auto declared = [&](TypeId type) {
    while (types.Kind(type) == TypeKind::kArray) type = types.Item(type);
    if (types.Kind(type) != TypeKind::kTensor) return Fresh();
    if (types.Kind(types.Element(type)) == TypeKind::kGeneric) return generic;
    return Fresh(KindOf(types, types.Element(type)));
  };
  for (const semantics::TypedName& parameter : signature.parameters) {
    const std::string_view old = expand::ProvisionalParameter(name, symbols_.Text(parameter.name.symbol));
    for (size_t i = 0; i < binding.arguments.size(); ++i) {
      if (symbols_.Text(called.parameters[i].name.symbol) != old || !binding.arguments[i].valid()) continue;
      Unify(Infer(binding.arguments[i]), {declared(parameter.type)});
    }
  }
  Leaves results;
  for (const semantics::TypedName& result : signature.results) results.push_back(declared(result.type));
  return results;
}

}  // namespace nnefc::upgrade
