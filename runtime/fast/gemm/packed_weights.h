#pragma once

#include "runtime/tensor/layout.h"

namespace nnefc::runtime::fast::gemm {

// Returns the packed layout of a constant matrix for GEMM microkernels (simd/gemm_microkernel.h): [outputs /
// 32][terms][32], zero-padded. The source is [terms, outputs] if `inputs_first`, otherwise [outputs, terms],
// or a filter [outputs, inputs, taps..].
tensor::Layout PackedWeightLayout(int64_t terms, int64_t outputs, bool inputs_first);

}  // namespace nnefc::runtime::fast::gemm
