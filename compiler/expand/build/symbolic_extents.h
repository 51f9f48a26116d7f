#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/expand/value.h"
#include "compiler/syntax/ast.h"

namespace nnefc::expand::build {

// The symbols of documents, extents of tensors that are not known, and the expressions of both, `2 * S + 1`,
// which are symbols as well. Shapes of inputs bind the symbols of documents.
class SymbolicExtents {
 public:
  struct Expression {
    ast::BinaryOperator op;
    Value left, right;
    int64_t num_operators;
  };
  // An extent that a run determines.
  struct Unknown {
    ir::OutputPort port;
    int64_t axis;
    friend bool operator==(const Unknown&, const Unknown&) = default;
  };

  // Returns the unknown extent of a tensor along an axis.
  Value ExtentAlong(Unknown extent);
  // Returns null if the value is not the unknown extent of a tensor.
  const Unknown* UnknownOf(const Value& extent) const;
  // Returns null if the value is not an expression.
  const Expression* ExpressionOf(const Value& extent) const;
  // Returns the extent that the operator makes of extents and numbers, one of them symbolic. Returns nothing
  // for an operator that makes no extent, beyond 256 operators, or with a fault, such as an overflow.
  [[nodiscard]] std::optional<Value> Make(ast::BinaryOperator op, const Value& left, const Value& right,
                                          Heap& heap, Fault& fault);
  // Returns the extent of a symbol or an expression; nothing if a symbol in it is not bound. `tried`, if
  // there is one, returns extents of unbound symbols.
  std::optional<int64_t> Find(const Value& extent,
                              const std::function<int64_t(uint32_t)>& tried = nullptr) const;
  std::optional<int64_t> Find(uint32_t symbol) const;
  // Binds the symbols of an extent so that it is `actual`. An expression of two unbound symbols binds
  // neither. Returns false if the extent is another one.
  bool Bind(const Value& extent, int64_t actual);
  // Discards the bindings of the symbols after `last`.
  void Forget(uint32_t last) { bound_.erase(bound_.upper_bound(last), bound_.end()); }
  // Returns the text of an extent, `2*S`.
  std::string TextOf(const Value& extent, const std::function<std::string(uint32_t)>& name) const;

 private:
  int64_t NumOperators(const Value& extent) const;

  std::map<uint32_t, int64_t> bound_;    // extents, keyed by the number of the symbol
  std::vector<Expression> expressions_;  // those of the numbers from kFirstExpression on
  std::vector<Unknown> unknown_;         // those of the numbers from kFirstUnknown on
};

}  // namespace nnefc::expand::build
