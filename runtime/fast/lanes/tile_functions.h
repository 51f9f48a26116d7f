// Post-ops of a matmul on a tile of its result.
#pragma once

#include "runtime/fast/lanes/product_tile.h"

namespace nnefc::runtime {

enum class TileFunction : uint8_t {
  kAdd,       // x + operand
  kMultiply,  // x * operand
  kPRelu,     // x < 0 ? x * operand : x
  kLinear,    // alpha * x + beta
  kRelu,      // x > 0 ? x : alpha * x
  kAtLeast,   // x > alpha ? x : alpha
  kAtMost,    // x < alpha ? x : alpha
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

struct FunctionTile {
  BlockedMatrix<float> out;
  int64_t rows, blocks;
  // Operands of kAdd, kMultiply and kPRelu; per-column operands have row stride 0. Other functions use `out`.
  BlockedMatrix<const float> operand = {};
  float alpha = 0, beta = 0;
};

NNEFC_LANE_FUNCTION(ApplyToTile, void(TileFunction function, const FunctionTile& tile));

}  // namespace nnefc::runtime
