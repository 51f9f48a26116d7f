#pragma once

#include <cstdint>
#include <string_view>

#include "llvm/ADT/STLFunctionalExtras.h"

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

// What serves in NNEF where another framework has a name of its own.
struct ForeignName {
  std::string_view theirs;  // in lower case, without `_`
  // The name that takes its place, the arguments as they are; empty if none does.
  std::string_view ours;
  std::string_view advice;  // what to write where a name alone does not serve
  ForeignRepair repair = ForeignRepair::kByAdvice;
};

// True if another framework spells the operation `ours` as `theirs`: in another
// case, with other `_`, with its number of dimensions (`MaxPool2d`, `conv_2d`).
bool IsSpelledSo(std::string_view theirs, std::string_view ours);

// What NNEF has for the operation that others call `name`; nullptr if that is
// not known.
const ForeignName* FindForeignOperation(std::string_view name);
// The same for a parameter of an operation whose parameters `has` knows.
const ForeignName* FindForeignParameter(std::string_view name,
                                        llvm::function_ref<bool(std::string_view)> has);

// What stands for the value that others call `name` (`True`, `None`).
const ForeignName* FindForeignValue(std::string_view name);

}  // namespace nnefc
