#pragma once

#include "compiler/expand/evaluate/evaluation.h"

namespace nnefc::expand::vendor {

// Replaces the data types of tract in arguments of a library's fragment, also in capitals (`F32`), by the
// names in the library. Reports those that tract does not have, and strings; returns false then.
bool ReadDataTypes(evaluate::Evaluation& state, const evaluate::Call& call,
                   const semantics::Signature& signature, llvm::MutableArrayRef<Value> arguments);

}  // namespace nnefc::expand::vendor
