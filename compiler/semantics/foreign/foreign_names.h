#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/semantics/foreign/operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc {

// What makes a foreign argument right, beside its name.
enum class ForeignRepair : uint8_t {
  kByAdvice,  // what the advice says; the name alone where there is none
  kRename,    // the name alone, whatever the advice says
  kDrop,      // to leave it out
  kDropTrue,  // the same where it is true
  kDropFalse,
  kDropChannelsFirst,  // the same where it is 'NCHW'
  kType,               // a type behind the name of the operation
};

// NNEF's equivalent of a parameter or value of another framework.
struct ForeignName {
  std::string_view theirs;  // in lower case, without `_`
  // The name that takes its place, the arguments as they are; empty if none does.
  std::string_view ours;
  std::string_view advice;  // what to write where a name alone does not serve
  ForeignRepair repair = ForeignRepair::kByAdvice;
};

// True if another framework spells the operation `ours` as `theirs`: in another
// case, with other `_`, with its number of dimensions (`SeparableConv2D`).
bool IsSpelledSo(std::string_view theirs, std::string_view ours);

// The rows of the operation that other frameworks call `name`; empty if none is known to.
llvm::SmallVector<const ForeignOperation*, 2> FindForeignOperations(std::string_view name);
// Says how NNEF computes what `rows` do, or that it has no `name`.
std::string DescribeForeignOperations(std::string_view name, llvm::ArrayRef<const ForeignOperation*> rows);
// The names of operations that are invoked in a formula: "softmax" and "neg" of `softmax(neg(x))`.
std::vector<std::string> OperationsIn(std::string_view formula);

// NNEF's equivalent of a parameter that others call `name`, of an operation
// whose parameters `has` knows; nullptr if there is none.
const ForeignName* FindForeignParameter(std::string_view name,
                                        llvm::function_ref<bool(std::string_view)> has);
// True if `name` is in the table of parameters, for whichever operation.
bool IsForeignParameter(std::string_view name);

// What stands for the value that others call `name` (`True`, `None`).
const ForeignName* FindForeignValue(std::string_view name);

}  // namespace nnefc
