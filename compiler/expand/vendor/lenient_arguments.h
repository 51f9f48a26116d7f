#pragma once

#include "compiler/expand/build/graph_builder.h"

namespace nnefc::expand::vendor {

// Converts the arguments of one operation in lenient mode to the form of its declaration, and records each
// deviation: tensors and arrays for one another, numbers and tensors of another data type, negative axes,
// vectors as operands of tensors with more axes. `arguments` are in the order of the plan's parameters;
// `site.generic` becomes the common type of the arguments. Returns false after a reported error. Arguments
// without a unique meaning are unchanged.
[[nodiscard]] bool ConvertLenientArguments(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments,
                                           Site& site, build::GraphBuilder& builder);

// Converts the argument of a fragment's parameter of type `type` in lenient mode. If the type has no tensor,
// a tensor with a known value becomes a number or array, and scalars with integer values become integers
// where the type has integers. Other values are returned unchanged. Records no deviation.
Value ConvertLenientParameter(const semantics::TypeTable& types, semantics::TypeId type, const Value& value,
                              build::GraphBuilder& builder);

// Creates a `constant` node for a number, a logical, or nested arrays of them with equal lengths. Integers
// become scalars if `wanted` is kScalar or one of the items is a scalar. Returns poison after a reported
// error: a string, an unknown extent, an empty array, or arrays of unequal lengths.
Value MakeConstant(const Value& value, semantics::TypeKind wanted, const Site& site,
                   build::GraphBuilder& builder);

// Folds an operation as FoldValues does, but also accepts tensors with known values that are single numbers
// or extents: `mul(shape_of(x), repeats)` where `repeats` is a variable of integers. With such tensors, a
// folded array is returned only if it has integers and another argument was not a tensor. Returns nothing if
// the operation must become a node.
std::optional<Value> FoldKnownTensors(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                      build::GraphBuilder& builder);

// Casts a tensor to a type of elements: a known number as a document that states the cast would be folded.
Value CastTensor(const Value& tensor, semantics::TypeKind to, const Site& site, build::GraphBuilder& builder);

}  // namespace nnefc::expand::vendor
