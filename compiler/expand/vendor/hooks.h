#pragma once

#include <optional>

#include "compiler/expand/evaluate/evaluation.h"

namespace nnefc::expand::vendor {

// The entry points of vendors' extensions. No other part of the expansion knows an extension by name: rows of
// semantics::Extensions() turn on switches of the document's dialect, and these, with the tables of
// operations in hooks.cpp, choose the conversions.

// Makes an operation that becomes more than one node, such as a loop or the call of a submodel. Its arguments
// are no longer on the stack. Returns false if the statement must be abandoned.
using OperationMaker = bool (*)(evaluate::Evaluation& state, const evaluate::Call& call, const OpPlan& plan,
                                llvm::ArrayRef<Value> arguments, const Site& site);
// Returns the maker of an operation; null if it becomes one node.
OperationMaker FindMaker(ir::OpId op);

// In a submodel, replaces an external, whose arguments are on the stack, by the tensor passed for it; the
// result is that of an instruction. Prepends the submodel's path to the label of a variable. Returns nothing
// if the operation becomes a node.
std::optional<bool> MakeInSubmodel(evaluate::Evaluation& state, const OpPlan& plan, size_t num_arguments,
                                   const Site& site);

// Checks and converts the arguments of a fragment that is about to be instantiated. Returns false after a
// reported error.
[[nodiscard]] bool ReadCall(evaluate::Evaluation& state, const evaluate::Call& call,
                            llvm::MutableArrayRef<Value> arguments);

// Creates the node of an operation in a lenient document: converts the arguments and the result. `arguments`
// are in the order of the plan's parameters. Returns poison after a reported error.
Value MakeLeniently(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
                    build::GraphBuilder& builder);

}  // namespace nnefc::expand::vendor
