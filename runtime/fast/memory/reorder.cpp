// Reorders between layouts, and between f32 and quantized values.

#include <algorithm>

#include "runtime/fast/factories.h"
#include "runtime/fast/int8/convolution/filter_packing.h"
#include "runtime/fast/int8/int8_reorder.h"
#include "runtime/fast/int8/integer_weights.h"
#include "runtime/fast/memory/block_reorder.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/memory/plain_reorder.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::fast::memory {

std::shared_ptr<const kernels::Kernel> MakeFastReorder(ElementType type, llvm::ArrayRef<int64_t> shape,
                                                       const tensor::Layout& from, const tensor::Layout& to) {
  if (type != ElementType::kF32) return int8::MakeIntegerReorder(type, from, to);
  const BlockedLayout::Form &from_form = FormOf(from), &to_form = FormOf(to);
  if (to_form.merged_groups > 1) return nullptr;
  const bool is_small = Volume(shape).value_or(tensor::kParallelGrain) < tensor::kParallelGrain / 2;
  const tensor::ThreadScope scope(is_small ? 1 : tensor::CurrentThreads());
  const BlockedFormat target = MemoryFormatOf(to, shape);
  if (from == nullptr) {
    if (std::shared_ptr<const kernels::Kernel> filter = int8::MakeFilterPacking(shape, to_form, target))
      return filter;
  }
  // Row-major memory may have other extents than the value (a filter as a matrix, a matrix as its transpose).
  const BlockedFormat source =
      from != nullptr ? MemoryFormatOf(from, shape) : OrderedFormat(target.shape(), to_form.order);
  if (!from_form.codes && !to_form.codes && !to_form.filter_codes) {
    if (std::shared_ptr<const kernels::Kernel> blocks = MakeChannelsLastReorder(source, target))
      return blocks;
    if (std::shared_ptr<const kernels::Kernel> blocks = MakeBlockReorder(source, target)) return blocks;
    if (std::shared_ptr<const kernels::Kernel> plain = MakePlainReorder(source, target)) return plain;
  }
  if (from_form.codes && !to_form.filter_codes) {
    const bool to_codes = to_form.codes.has_value();
    if (to_codes && to_form.codes != from_form.codes) return nullptr;
    return int8::MakeInt8Reorder(source, *from_form.codes, target, to_codes);
  }
  return nullptr;
}

}  // namespace nnefc::runtime::fast::memory
