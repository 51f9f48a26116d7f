// Attention of f32 in tiles of registers: a block of queries at a time, whose scores lie as tiles of the
// product with the values want them.
#pragma once

#include <optional>

#include "runtime/fast/attention_operands.h"

namespace nnefc::runtime {

// Nothing where the processor has no lanes, factors are rounded to bf16, values fill no whole blocks, or
// keys and values do not stay in a core's cache.
std::optional<PreparedKernel> MakeTiledAttention(const KernelRequest& request, const AttentionSizes& sizes);

}  // namespace nnefc::runtime
