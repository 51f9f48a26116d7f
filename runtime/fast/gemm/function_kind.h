#pragma once

#include <cstdint>

namespace nnefc::runtime::fast::gemm {

// Functions of each element x, then binary operations with a number or another operand.
enum class FunctionKind : uint8_t {
  kLinear,  // alpha * x + beta
  kRelu,    // x > 0 ? x : alpha * x, and 0 for alpha = 0
  kClip,    // limits alpha and beta; NaN becomes alpha
  kElu,     // alpha is the factor of negative values
  kSwish,   // x * sigmoid(alpha * x)
  kSigmoid,
  kTanh,
  kAbs,
  kSqrt,
  kHSwish,
  kMish,
  kSoftPlus,
  kGelu,
  kGeluTanh,
  kRound,  // ties to even
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMinimum,
  kMaximum,
};

}  // namespace nnefc::runtime::fast::gemm
