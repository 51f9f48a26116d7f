// The taps of resized axes.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/kernels/fault.h"
#include "runtime/kernels/windows/taps.h"

namespace nnefc::runtime::kernels {

// An Interpolate with known extents of the input, including its zero padding, and of the result.
struct Resizing {
  const ir::Node& node;
  llvm::ArrayRef<int64_t> input, output;
  // Returns the elements of an input of the node.
  llvm::function_ref<llvm::SmallVector<double, 8>(size_t)> numbers;
};

// Returns the elements of a constant.
llvm::SmallVector<double, 8> NumbersOf(const TensorValue& constant);

// Returns the taps of each output position along each axis. Axes that are not resized have an empty list.
FaultOr<std::vector<std::vector<Taps>>> TapsOfInterpolation(const Resizing& of);

}  // namespace nnefc::runtime::kernels
