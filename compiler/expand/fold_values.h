#pragma once

#include <optional>

#include "compiler/expand/instantiate.h"

namespace nnefc::expand {

// The elements of a tensor that is known when the graph is compiled, row-major:
// numbers and logicals, or extents that are not known.
struct ValueItems {
  Shape shape;
  std::vector<Value> items;
};

// Those of a number or of nested arrays of equal lengths; nothing of anything
// else.
std::optional<ValueItems> ItemsOf(const Value& value);
// The same as a number or nested arrays.
Value FromItems(const ValueItems& items, Heap& heap);
// The elements of a tensor value.
Value FromTensor(const TensorValue& tensor, Heap& heap);

// Computes an operation of which every tensor is given as a value, as shapes
// are: `squeeze(slice(shape, ..), ..)`. Nothing if the operation is none of
// those that are computed so, or if its arguments do not fit; then it becomes
// a node as ever. `arguments` are in the order of the plan's parameters.
std::optional<Value> FoldValues(const OpPlan& plan, llvm::ArrayRef<Value> arguments, TypeKind generic,
                                Heap& heap);

}  // namespace nnefc::expand
