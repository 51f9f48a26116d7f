#pragma once

#include "compiler/ir/op_schema.h"

namespace nnefc::ir {

// True for operations whose nodes each draw their own random numbers, by a seed: they are not computed at
// compile time, and nodes that are equal stay apart.
inline bool DrawsRandomNumbers(const OpInfo& info) {
  return info.FindAttribute("global_seed") != nullptr;
}

}  // namespace nnefc::ir
