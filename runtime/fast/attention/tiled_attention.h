// f32 attention with register-tiled GEMM microkernels. Processes one block of queries at a time, and stores
// scores in the layout of the following matmul with the values.
#pragma once

#include "runtime/fast/attention/attention_operands.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::attention {

// Returns an empty reason if the kernel supports these sizes.
kernels::Reason TiledAttentionApplies(const AttentionSizes& sizes);
// Creates the kernel. Requires that TiledAttentionApplies.
kernels::PreparedKernel MakeTiledAttention(const kernels::KernelRequest& request,
                                           const AttentionSizes& sizes);

}  // namespace nnefc::runtime::fast::attention
