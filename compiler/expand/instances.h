#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/expand/value.h"
#include "compiler/ir/graph.h"
#include "compiler/syntax/ast.h"

namespace nnefc {

// What a fragment was given or gave: tensors of the graph, literals, and arrays
// and tuples of these.
struct InstanceValue {
  enum class Kind : uint8_t { kUnknown, kTensor, kLiteral, kArray, kTuple };
  Kind kind = Kind::kUnknown;  // kUnknown: what no literal tells, or too much
  ir::OutputPort port;
  std::string literal;  // `0.5`, `'constant'`
  std::vector<InstanceValue> items;
};

// One instantiation of a fragment of the document, complete, that made nodes.
struct FragmentInstance {
  std::shared_ptr<const ir::Frame> frame;
  ast::FragmentId fragment;
  ast::ExprId call;                      // the invocation, in the same document
  std::vector<InstanceValue> arguments;  // by parameter, defaults included
  std::vector<InstanceValue> results;
};

// Every instantiation that an expansion made, inner ones first.
class InstanceRecord {
 public:
  const std::vector<FragmentInstance>& instances() const { return instances_; }
  // Adds an instantiation whose values are still to come; null if there are too
  // many.
  FragmentInstance* Add();
  InstanceValue Keep(const expand::Value& value);

 private:
  std::vector<FragmentInstance> instances_;
  // Values that may still be kept: arrays are passed from level to level of a
  // recursion.
  int64_t left_ = 1'000'000;
};

}  // namespace nnefc
