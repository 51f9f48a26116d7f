// Constant matrices packed in panels of 16 outputs, and our matmuls with them: memory-bound for one row,
// compute-bound for several.
#pragma once

#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/simd/limits.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::gemm {

inline constexpr int64_t kPanelWidth = 16;  // outputs

inline int64_t CountPanels(int64_t outputs) {
  return (outputs + kPanelWidth - 1) / kPanelWidth;
}

// A constant [outputs, terms], or a batch [count, outputs, terms], packed: a row of the panel's outputs per
// term, zero-padded; for bf16 a row of pairs per two terms.
class PanelMatrix {
 public:
  // A panel only has outputs of one group of `group` outputs. Returns nothing for values other than f32
  // constants.
  static std::optional<PanelMatrix> Make(const kernels::ValueInfo& value, int64_t group,
                                         memory::StorageType type);

  // Returns the packed layout for the plan.
  const tensor::Layout& layout() const { return layout_; }
  memory::StorageType type() const { return type_; }
  int64_t terms() const { return terms_; }
  // Returns the elements per left row: for bf16 padded to an even number of terms.
  int64_t row_stride() const { return type_ == memory::StorageType::kBf16 ? (terms_ + 1) / 2 * 2 : terms_; }
  int64_t panels_of_group() const { return CountPanels(group_); }
  // Returns the bytes between panels; groups are consecutive.
  int64_t panel_bytes() const { return panel_bytes_; }

 private:
  PanelMatrix(tensor::Layout layout, memory::StorageType type, int64_t terms, int64_t group,
              int64_t panel_bytes)
      : layout_(std::move(layout)), type_(type), terms_(terms), group_(group), panel_bytes_(panel_bytes) {}

  tensor::Layout layout_;
  memory::StorageType type_;
  int64_t terms_, group_;
  int64_t panel_bytes_;
};

// out[row] = start[row] + left[row] * panel, with row strides of `start` and `out`.
struct PanelSums {
  const std::byte* panel;
  const float* start;  // null: zeros
  int64_t start_stride;
  float* out;
  int64_t out_stride;
  // For bf16 panels: a number per output, added to all rows, null for zeros, and limits of the results.
  const float* bias = nullptr;
  simd::Limits limits = {};
};

// Maximum rows per call, limited by registers.
inline constexpr int64_t kMaxPanelRows = 8;

// Multiplies up to kMaxPanelRows rows, f32 or bf16 as the panels, by all panels; `terms` is the K size.
void MultiplyByPanels(llvm::ArrayRef<const std::byte*> rows, memory::StorageType type, int64_t terms,
                      llvm::ArrayRef<PanelSums> panels);

// The same for f32 with microkernels for 16 registers.
void MultiplyByPanelsAvx2(llvm::ArrayRef<const std::byte*> rows, int64_t terms,
                          llvm::ArrayRef<PanelSums> panels);

void RoundToBf16(const float* numbers, int64_t count, uint16_t* rounded);
// The same for `count` blocks of kPanelWidth numbers, with these distances between them.
void RoundBlocksToBf16(const float* numbers, int64_t stride, int64_t count, uint16_t* rounded,
                       int64_t rounded_stride);

}  // namespace nnefc::runtime::fast::gemm
