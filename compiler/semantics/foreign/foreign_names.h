#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/semantics/foreign/operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::semantics::foreign {

// The repair of a foreign argument, in addition to renaming it.
enum class ForeignRepair : uint8_t {
  kByAdvice,  // follow the advice; rename only if there is none
  kRename,    // rename only, even with advice
  kDrop,      // remove the argument
  kDropTrue,  // remove the argument if it is true
  kDropFalse,
  kDropChannelsFirst,  // remove the argument if it is channels-first, such as 'NCHW'
  kType,               // a type after the operation's name
};

// NNEF's equivalent of a parameter or value of another framework.
struct ForeignName {
  std::string_view theirs;  // in lower case, without `_`
  // The replacement, with the same arguments; empty if there is none.
  std::string_view ours;
  std::string_view advice;  // text for messages where a new name is not enough
  ForeignRepair repair = ForeignRepair::kByAdvice;
};

// Returns true if `theirs` is another spelling of the operation `ours`: with other case, other `_`, or a
// number of dimensions (`SeparableConv2D`).
bool IsSpelledSo(std::string_view theirs, std::string_view ours);

// Returns the rows of the operation `name` of other frameworks; empty if none has it.
llvm::SmallVector<const ForeignOperation*, 2> FindForeignOperations(std::string_view name);
// Describes how NNEF computes the operations of `rows`, or states that it has no `name`.
std::string DescribeForeignOperations(std::string_view name, llvm::ArrayRef<const ForeignOperation*> rows);
// Returns the operations that a formula invokes: "softmax" and "neg" for `softmax(neg(x))`.
std::vector<std::string> OperationsIn(std::string_view formula);

// Returns NNEF's equivalent of the foreign parameter `name`, for an operation that has the parameters
// accepted by `has`; nullptr if there is none.
const ForeignName* FindForeignParameter(std::string_view name,
                                        llvm::function_ref<bool(std::string_view)> has);
// Returns true if `name` is in the table of parameters, for any operation.
bool IsForeignParameter(std::string_view name);

// Returns NNEF's equivalent of a foreign value (`True`, `None`); nullptr if there is none.
const ForeignName* FindForeignValue(std::string_view name);

}  // namespace nnefc::semantics::foreign
