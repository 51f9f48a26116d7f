// Rows divided by their norms, several rows per vector.
#pragma once

#include <cmath>
#include <optional>

#include "runtime/kernels/implementation.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::pointwise {

// A term added to the sum of squares of a row, or its minimum.
struct NormFloor {
  double eps;
  bool adds;

  // Returns the factor of a row.
  float FactorOf(double squares) const {
    return static_cast<float>(1 / std::sqrt(adds ? squares + eps : squares > eps ? squares : eps));
  }
};

// Normalizes a row of any length in f64.
void NormalizeRow(const float* x, int64_t terms, const NormFloor& floor, float* out);

// Creates the kernel of a normalization along the last axis. Rows may have strides.
kernels::KernelOrReason MakeL2Normalization(const kernels::KernelRequest& request, const NormFloor& floor);

}  // namespace nnefc::runtime::fast::pointwise
