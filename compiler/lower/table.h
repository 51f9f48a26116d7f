#pragma once

#include <string_view>

#include "llvm/ADT/StringMap.h"

namespace nnefc::lower {

class NodeLowering;

// Adds the computation of one NNEF node to the target and sets its outputs.
using LowerFunction = void (*)(NodeLowering&);

// The lowering of an operation. Most need the ranks of all inputs and outputs.
struct Lowering {
  Lowering() = default;
  Lowering(LowerFunction function, bool accepts_any_rank = false)
      : function(function), accepts_any_rank(accepts_any_rank) {}

  LowerFunction function = nullptr;
  bool accepts_any_rank = false;
};

// The lowerings of NNEF operations that have an OpenVINO form, by name.
using LoweringTable = llvm::StringMap<Lowering>;

// Returns the lowerings of the standard operations.
const LoweringTable& StandardLowerings();

// Calls `void Register<Family>(LoweringTable& table)` of each file, which adds its lowerings.
void RegisterFamilies(LoweringTable& table);

}  // namespace nnefc::lower
