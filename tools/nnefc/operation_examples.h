#pragma once

#include <string_view>

#include "llvm/ADT/ArrayRef.h"

namespace nnefc::cli {

// What a declaration cannot tell of an operation: the formula of a primitive,
// and a document that uses it (empty where a graph of tensors of any shape does).
struct OperationExample {
  std::string_view name;
  std::string_view formula;
  std::string_view document;
};
llvm::ArrayRef<OperationExample> OperationExamples();

}  // namespace nnefc::cli
