// Rows divided by their norms, in registers of some rows each.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// What is added to the sum of the squares of a row, or its least value.
struct NormFloor {
  double eps;
  bool adds;

  double Of(double squares) const { return adds ? squares + eps : squares > eps ? squares : eps; }
};

// Of rows along the last axis, which may have strides; nothing where they are too short or too long, or the
// processor has no lanes.
std::optional<PreparedKernel> MakeRowNorms(const KernelRequest& request, const NormFloor& floor);

}  // namespace nnefc::runtime
