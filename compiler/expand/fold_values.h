#pragma once

#include <optional>

#include "compiler/expand/instantiate.h"

namespace nnefc::expand {

// Row-major elements of a tensor known at compile time: numbers, logicals, or unknown extents.
struct ValueItems {
  Shape shape;
  std::vector<Value> items;
};

// Returns the elements of a number or of nested arrays of equal lengths; nothing for other values.
std::optional<ValueItems> ItemsOf(const Value& value);
// Returns the elements as a number or nested arrays.
Value FromItems(const ValueItems& items, Heap& heap);
// Returns a tensor's elements as a number or nested arrays.
Value FromTensor(const TensorValue& tensor, Heap& heap);

// Evaluates an operation whose tensor arguments are all given as values, such as shapes:
// `squeeze(slice(shape, ..), ..)`. Returns nothing if the operation has no folding or its arguments do not
// fit; it then becomes a node. `arguments` are in the order of the plan's parameters.
std::optional<Value> FoldValues(const OpPlan& plan, llvm::ArrayRef<Value> arguments, TypeKind generic,
                                Heap& heap);

}  // namespace nnefc::expand
