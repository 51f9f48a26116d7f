// f32 attention with register-tiled GEMM microkernels. Processes one block of queries at a time, and stores
// scores in the layout of the following matmul with the values.
#pragma once

#include <optional>

#include "runtime/fast/attention/attention_operands.h"

namespace nnefc::runtime {

// Returns nothing if vector kernels are unavailable, operands are bf16, the value width is not a multiple of
// the block size, or keys and values exceed a core's cache.
std::optional<PreparedKernel> MakeTiledAttention(const KernelRequest& request, const AttentionSizes& sizes);

}  // namespace nnefc::runtime
