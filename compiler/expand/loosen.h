#pragma once

#include "compiler/expand/instantiate.h"

namespace nnefc::expand {

// Makes the arguments of one operation, as lenient reading takes them, those
// that its declaration asks for, and notes each difference: tensors and arrays
// for one another, numbers and tensors of another data type, axes counted from
// the end, vectors beside tensors of more axes. `arguments` are in the order of
// the plan's parameters; `site.generic` becomes what the arguments have in
// common. False after a mistake that was told. What has no single meaning is
// left as it is.
bool LoosenArguments(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, Site& site,
                     GraphBuilder& builder);

// What other operations compute in place of one that its arguments do not fit;
// nothing if they fit, or if none do.
std::optional<Value> ReplaceOperation(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                      GraphBuilder& builder);

// A number or array for a parameter that is no tensor, where a tensor is given
// whose value is known; the value itself otherwise.
Value LoosenParameter(const TypeTable& types, TypeId type, const Value& value, GraphBuilder& builder);

// The result of an operation on numbers: whole ones where all operands were.
Value RestoreIntegers(const OpPlan& plan, llvm::ArrayRef<Value> given, Value result, const Site& site,
                      GraphBuilder& builder);

// A number or nested arrays as a node that holds them; poison if they are none.
Value AsConstant(const Value& value, TypeKind wanted, const Site& site, GraphBuilder& builder);

// FoldValues, of tensors too that hold single numbers or extents which are known
// by now: `mul(shape_of(x), repeats)` where `repeats` is a variable of integers.
std::optional<Value> FoldKnown(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                               GraphBuilder& builder);

}  // namespace nnefc::expand
