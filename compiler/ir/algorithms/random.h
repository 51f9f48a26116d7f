#pragma once

#include "compiler/ir/op_schema.h"

namespace nnefc::ir {

// True for operations whose nodes each draw random numbers from a seed. They are not folded at compile time,
// and identical nodes are not merged.
inline bool DrawsRandomNumbers(const OpInfo& info) {
  return info.FindAttribute("global_seed") != nullptr;
}

}  // namespace nnefc::ir
