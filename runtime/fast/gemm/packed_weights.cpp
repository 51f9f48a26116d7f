// Packed layouts of constant matrices, and the kernels that pack them.

#include "runtime/fast/gemm/packed_weights.h"

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/simd/gemm/gemm_microkernel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::gemm {

tensor::Layout PackedWeightLayout(int64_t terms, int64_t outputs, bool inputs_first) {
  memory::BlockedFormat format = memory::RowMajorFormat({terms, outputs});
  memory::SetBlock(format, 1, simd::kTileColumns);
  format.strides[0] = simd::kTileColumns;
  format.strides[1] = terms * simd::kTileColumns;
  return std::make_shared<memory::BlockedLayout>(
      std::move(format), memory::BlockedLayout::Form{.order = inputs_first ? memory::AxisOrder()
                                                                           : memory::SwappedOrder(2, 0, 1)});
}

}  // namespace nnefc::runtime::fast::gemm
