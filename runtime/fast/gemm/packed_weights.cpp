#include "runtime/fast/gemm/packed_weights.h"

#include "runtime/fast/simd/gemm_microkernel.h"
#include "runtime/onednn/dnnl_layout.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime {

Layout PackedWeightLayout(int64_t terms, int64_t outputs, bool inputs_first) {
  dnnl::memory::desc desc = PlainDesc({terms, outputs});
  dnnl_blocking_desc_t& blocking = PutInBlocks(desc, 1, kTileColumns);
  blocking.strides[0] = kTileColumns;
  blocking.strides[1] = terms * kTileColumns;
  return std::make_shared<DnnLayout>(
      std::move(desc), DnnLayout::Form{.order = inputs_first ? AxisOrder() : SwappedOrder(2, 0, 1)});
}

}  // namespace nnefc::runtime
