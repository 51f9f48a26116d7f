#include "runtime/fast/gemm/packed_weights.h"

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/simd/gemm_microkernel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime {

Layout PackedWeightLayout(int64_t terms, int64_t outputs, bool inputs_first) {
  BlockedFormat format = RowMajorFormat({terms, outputs});
  SetBlock(format, 1, kTileColumns);
  format.strides[0] = kTileColumns;
  format.strides[1] = terms * kTileColumns;
  return std::make_shared<BlockedLayout>(
      std::move(format), BlockedLayout::Form{.order = inputs_first ? AxisOrder() : SwappedOrder(2, 0, 1)});
}

}  // namespace nnefc::runtime
