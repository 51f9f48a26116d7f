#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/expand/value.h"
#include "compiler/ir/graph.h"
#include "compiler/syntax/ast.h"

namespace nnefc::expand {

// An argument or result of a fragment: tensors of the graph, literals, and arrays and tuples of these.
struct InstanceValue {
  enum class Kind : uint8_t { kUnknown, kTensor, kLiteral, kArray, kTuple };
  Kind kind = Kind::kUnknown;  // kUnknown: has no literal form, or exceeds the limit
  ir::OutputPort port;
  std::string literal;  // `0.5`, `'constant'`
  std::vector<InstanceValue> items;
};

// One complete instantiation of a fragment of the document that created nodes.
struct FragmentInstance {
  std::shared_ptr<const ir::Frame> frame;
  ast::FragmentId fragment;
  ast::ExprId call;                      // the invocation, in the same document
  std::vector<InstanceValue> arguments;  // indexed by parameter, defaults included
  std::vector<InstanceValue> results;
};

// All instantiations of an expansion, inner ones first.
class InstanceRecord {
 public:
  const std::vector<FragmentInstance>& instances() const { return instances_; }
  // Adds an instantiation without values yet; returns null over the limit.
  FragmentInstance* Add();
  // Converts a value for `arguments` or `results`, and counts it towards the limit.
  InstanceValue Record(const expand::Value& value);

 private:
  std::vector<FragmentInstance> instances_;
  // Remaining number of recorded values. A limit is needed because a recursion passes arrays from level to
  // level.
  int64_t left_ = 1'000'000;
};

}  // namespace nnefc::expand
