// The implementation table of ScaledDotProductAttention.

#include <cstdint>

#include "runtime/fast/attention/attention_operands.h"
#include "runtime/fast/attention/tiled_attention.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/reasons.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::fast::attention {

namespace {

constexpr int64_t kMaxKeys = int64_t{1} << 32;

kernels::Reason TiledApplies(const kernels::KernelRequest& request) {
  const kernels::OrReason<AttentionSizes> sizes = AttentionSizesOf(request);
  return sizes ? TiledAttentionApplies(*sizes) : sizes.reason();
}
kernels::KernelOrReason MakeTiled(const kernels::KernelRequest& request) {
  return MakeTiledAttention(request, *AttentionSizesOf(request));
}

// Keys and values are packed for each head, which takes longer than the products of few queries with them.
kernels::Cost TiledCost(const kernels::KernelRequest& request) {
  constexpr double kTime = 1, kOfFewQueries = 3;
  constexpr int64_t kMinQueries = 8, kFewKeys = 64;
  const kernels::OrReason<AttentionSizes> sizes = AttentionSizesOf(request);
  if (sizes->queries >= kMinQueries || sizes->keys <= kFewKeys) return {kTime};
  return {kOfFewQueries, kernels::Reason("{} queries are too few for {} keys", sizes->queries, sizes->keys)};
}

constexpr kernels::Implementation kAttention[] = {{"tiled", TiledApplies, TiledCost, MakeTiled}};
const kernels::ImplementationTable kAttentionTables[] = {{"f32", kernels::AlwaysApplies, kAttention}};

}  // namespace

kernels::OrReason<AttentionSizes> AttentionSizesOf(const kernels::KernelRequest& request) {
  if (!request.posts.empty()) return kHasFusedOperation;
  if (request.outputs.size() != 1 || !memory::IsDenseF32(request.outputs[0])) return kNotF32;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const bool is_mask = i == 3 && request.inputs[i].type == ElementType::kBoolean;
    kernels::ValueInfo input = request.inputs[i];
    if (i < 3 && tensor::StridesOf(input.layout) != nullptr) input.layout = nullptr;
    if (!is_mask && !memory::IsDenseF32(input)) return kNotF32;
  }
  const Shape &q = request.inputs[0].shape, &k = request.inputs[1].shape, &out = request.outputs[0].shape;
  AttentionSizes sizes{.batches = 1,
                       .queries = q[q.size() - 2],
                       .keys = k[k.size() - 2],
                       .width = q.back(),
                       .values = out.back(),
                       .rows = 0,
                       .group = 1,
                       .threads = tensor::CurrentThreads(),
                       .causal = request.node->Bool("causal"),
                       .type = HasAmx() ? memory::MatmulType(request) : memory::StorageType::kF32};
  for (int64_t extent : llvm::ArrayRef<int64_t>(out).drop_back(2)) sizes.batches *= extent;
  if (HasVnni() && sizes.type == memory::StorageType::kF32)
    sizes.operands = ir::ops::QuantizedOperandsOf(*request.node);
  if (sizes.keys > kMaxKeys) return kernels::Reason("{} keys, more than {}", sizes.keys, kMaxKeys);
  return sizes;
}

void AddFastAttention(FastTables& tables) {
  tables.Add({"opset13"}, "ScaledDotProductAttention", kAttentionTables);
}

}  // namespace nnefc::runtime::fast::attention
