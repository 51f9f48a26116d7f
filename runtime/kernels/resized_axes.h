// What the positions of resized axes sum up.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/kernels/fault.h"
#include "runtime/kernels/taps.h"

namespace nnefc::runtime {

// An Interpolate of known extents: of the input with the zeros that it puts around it, and of the result.
struct Resizing {
  const ir::Node& node;
  llvm::ArrayRef<int64_t> input, output;
  // The numbers of an input of the node.
  llvm::function_ref<llvm::SmallVector<double, 8>(size_t)> numbers;
};

// By axis, of each position of the output; of axes that stay as they are nothing.
FaultOr<std::vector<std::vector<Taps>>> TapsOfInterpolation(const Resizing& of);

}  // namespace nnefc::runtime
