// Rows divided by their norms, in registers of some rows each.
#pragma once

#include <cmath>
#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// What is added to the sum of the squares of a row, or its least value.
struct NormFloor {
  double eps;
  bool adds;

  // By what a row is multiplied.
  float FactorOf(double squares) const {
    return static_cast<float>(1 / std::sqrt(adds ? squares + eps : squares > eps ? squares : eps));
  }
};

// A row of any length, in f64.
void NormalizeRow(const float* x, int64_t terms, const NormFloor& floor, float* out);

// Of rows along the last axis, which may have strides; nothing where they are too short or too long, or the
// processor has no lanes.
std::optional<PreparedKernel> MakeRowNorms(const KernelRequest& request, const NormFloor& floor);

}  // namespace nnefc::runtime
