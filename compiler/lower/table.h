#pragma once

#include <string_view>

#include "llvm/ADT/StringMap.h"

namespace nnefc::lower {

class NodeLowering;

// Adds the computation of one NNEF node to the target and sets its outputs.
using LowerFunction = void (*)(NodeLowering&);

// The lowerings of NNEF operations that have an OpenVINO form, by name.
using LoweringTable = llvm::StringMap<LowerFunction>;

// Returns the lowerings of the standard operations.
const LoweringTable& StandardLowerings();

// Calls `void Register<Family>(LoweringTable& table)` of each file, which adds its lowerings.
void RegisterFamilies(LoweringTable& table);

}  // namespace nnefc::lower
