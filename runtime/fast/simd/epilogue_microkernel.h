// Post-ops of a matmul on a tile of its result.
#pragma once

#include "runtime/fast/simd/gemm_microkernel.h"

namespace nnefc::runtime {

enum class EpilogueFunction : uint8_t {
  kAdd,         // x + operand
  kMultiply,    // x * operand
  kPRelu,       // x < 0 ? x * operand : x
  kLinear,      // alpha * x + beta
  kRelu,        // x > 0 ? x : alpha * x
  kLowerBound,  // x > alpha ? x : alpha
  kUpperBound,  // x < alpha ? x : alpha
  kSigmoid,
  kSwish,  // x * sigmoid(alpha * x)
  kHSwish,
  kGelu,  // with erf
  kGeluTanh,
  kTanh,
  kElu,  // x > 0 ? x : alpha * (e^x - 1)
  kMish,
  kSoftPlus,  // log(1 + e^x)
};

struct EpilogueTile {
  BlockedMatrix<float> out;
  int64_t rows, blocks;
  // Operands of kAdd, kMultiply and kPRelu; per-column operands have row stride 0. Other functions use `out`.
  BlockedMatrix<const float> operand = {};
  float alpha = 0, beta = 0;
};

NNEFC_SIMD_FUNCTION(ApplyEpilogue, void(EpilogueFunction function, const EpilogueTile& tile));

}  // namespace nnefc::runtime
