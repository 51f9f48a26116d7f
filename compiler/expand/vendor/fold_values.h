#pragma once

#include <optional>

#include "compiler/expand/build/graph_builder.h"

namespace nnefc::expand::vendor {

// Row-major elements of a tensor known at compile time: numbers, logicals, or unknown extents.
struct ValueItems {
  Shape shape;
  std::vector<Value> items;
};

// Returns the elements of a number, a logical or nested arrays of equal lengths; nothing for other values,
// empty arrays and more than 2^20 elements.
std::optional<ValueItems> ItemsOf(const Value& value);
// Returns the elements as a number or nested arrays.
Value FromItems(const ValueItems& items, Heap& heap);
// Returns the elements of a tensor of numbers or logicals as a number or nested arrays.
Value FromTensor(const TensorValue& tensor, Heap& heap);

// Evaluates an operation whose tensor arguments are all given as values, such as shapes:
// `squeeze(slice(shape, ..), ..)`. `arguments` are in the order of the plan's parameters, and `generic` is
// the type bound to `?`. Returns nothing if the operation must become a node: it has no folding, its
// arguments are invalid, or its result exceeds 2^20 elements or the heap's limit.
std::optional<Value> FoldValues(const OpPlan& plan, llvm::ArrayRef<Value> arguments,
                                semantics::TypeKind generic, Heap& heap, build::SymbolScopes& symbols);

}  // namespace nnefc::expand::vendor
