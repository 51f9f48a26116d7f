#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "compiler/semantics/checked_document.h"
#include "compiler/support/text/symbol.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::upgrade {

// Type inference for the data types of a provisional document's tensors, whose `tensor` has no element type:
// from the ratified declarations of operations, propagated along assignments and invocations by unification.
// A fragment has one set of types, however often it is invoked.
class ElementTypes {
 public:
  ElementTypes(const semantics::CheckedDocument& document, const semantics::CheckedDocument& ratified,
               const SymbolTable& symbols);

  // Returns the data type of a parameter or result. `leaf` counts tensors and attributes within tuples;
  // arrays are transparent. Returns `scalar` if the type is unknown or contradictory.
  ast::PrimitiveName Of(ast::FragmentId fragment, Symbol identifier, size_t leaf);

 private:
  using Variable = int32_t;
  using Leaves = llvm::SmallVector<Variable, 2>;
  enum class Kind : uint8_t { kUnknown, kInteger, kScalar, kLogical, kString, kContradiction };

  static Kind KindOf(const semantics::TypeTable& types, semantics::TypeId element);
  Variable Fresh(Kind kind = Kind::kUnknown);
  Leaves Fresh(size_t count);
  Variable Find(Variable variable);
  void Unify(Variable a, Variable b);
  void Unify(const Leaves& a, const Leaves& b);
  Leaves LeavesOf(Symbol identifier, size_t count);
  size_t Count(semantics::TypeId type) const;

  void Infer(llvm::ArrayRef<ast::Assignment> body);
  void Assign(ast::ExprId left, semantics::TypeId type, llvm::ArrayRef<Variable> right);
  Leaves Infer(ast::ExprId id);
  Leaves InferBinary(const ast::BinaryExpr& binary, semantics::TypeId type);
  Leaves InferUnary(const ast::UnaryExpr& unary);
  Leaves InferComprehension(const ast::ComprehensionExpr& comprehension);
  Leaves InferSubscript(const ast::SubscriptExpr& subscript);
  Leaves InferInvocation(ast::ExprId id, semantics::TypeId type);
  Leaves InferOwn(const semantics::Binding& binding);
  Leaves InferStandard(const semantics::Binding& binding);

  const semantics::CheckedDocument& document_;
  const semantics::CheckedDocument& ratified_;
  const SymbolTable& symbols_;
  int32_t scope_ = -1;  // index of the fragment; -1 for the graph
  std::map<std::tuple<int32_t, Symbol, size_t>, Variable> named_;
  std::vector<Variable> parents_;
  std::vector<Kind> kinds_;
};

}  // namespace nnefc::upgrade
