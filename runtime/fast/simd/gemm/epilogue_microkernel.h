// Post-ops of a matmul or convolution: elementwise functions on a tile of its result, in place.
#pragma once

#include "runtime/fast/simd/gemm/gemm_microkernel.h"

namespace nnefc::runtime::fast::simd {

enum class EpilogueFunction : uint8_t {
  kAdd,         // x + operand
  kMultiply,    // x * operand
  kPRelu,       // x < 0 ? x * operand : x
  kLinear,      // alpha * x + beta
  kRelu,        // x > 0 ? x : alpha * x
  kLowerBound,  // x > alpha ? x : alpha
  kUpperBound,  // x < alpha ? x : alpha
  kSigmoid,
  kSwish,     // x * sigmoid(alpha * x)
  kHSwish,    // x * min(max(x + 3, 0), 6) / 6
  kGelu,      // with erf
  kGeluTanh,  // the approximation by tanh
  kTanh,
  kElu,  // x > 0 ? x : alpha * (e^x - 1)
  kMish,
  kSoftPlus,  // log(1 + e^x)
};

struct EpilogueTile {
  BlockedMatrix<float> out;  // read and written
  int64_t rows, blocks;      // blocks of kBlockColumns columns, all of them complete
  // The second operand of kAdd, kMultiply and kPRelu, with as many complete blocks as `out`; one with a value
  // per column has row stride 0. Other functions ignore it, but its addresses are computed: set it to `out`.
  BlockedMatrix<const float> operand = {};
  float alpha = 0, beta = 0;
};

// Replaces each element x of the tile by function(x).
NNEFC_SIMD_FUNCTION(ApplyEpilogue, void(EpilogueFunction function, const EpilogueTile& tile));

// A FakeQuantize of each column of a tile, arrays of whole blocks: an element x, clamped to `low` and `high`,
// becomes round(factor * x + offset) * unit + first, with ties to even. NaN is preserved. An element halfway
// between two levels may become either one, because the factors are rounded.
struct LevelColumns {
  const float *low, *high, *factor, *offset, *unit, *first;
  bool replaces_nan = false;  // NaN becomes `low`
  bool adds_operand = false;  // to the element, before it is clamped
};
NNEFC_SIMD_FUNCTION(RoundTileToLevels, void(const LevelColumns& levels, const EpilogueTile& tile));

}  // namespace nnefc::runtime::fast::simd
