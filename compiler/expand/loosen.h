#pragma once

#include "compiler/expand/instantiate.h"

namespace nnefc::expand {

// Converts the arguments of one operation in lenient mode to the form of its declaration, and records each
// deviation: tensors and arrays for one another, numbers and tensors of another data type, negative axes,
// vectors as operands of tensors with more axes. `arguments` are in the order of the plan's parameters;
// `site.generic` becomes the common type of the arguments. Returns false after a reported error. Arguments
// without a unique meaning are unchanged.
bool LoosenArguments(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, Site& site,
                     GraphBuilder& builder);

// Returns the known value of a tensor for a parameter that is not a tensor, as a number or array; otherwise
// the value itself.
Value LoosenParameter(const TypeTable& types, TypeId type, const Value& value, GraphBuilder& builder);

// Returns a constant node for a number or nested arrays; poison for other values.
Value AsConstant(const Value& value, TypeKind wanted, const Site& site, GraphBuilder& builder);

// Like FoldValues, but also accepts tensors with known values that are single numbers or extents:
// `mul(shape_of(x), repeats)` where `repeats` is a variable of integers.
std::optional<Value> FoldKnown(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                               GraphBuilder& builder);

}  // namespace nnefc::expand
