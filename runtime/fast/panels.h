// Constant matrices packed in panels of 16 outputs, and products of rows with them in our own loops: of one
// row as fast as weights come from a cache, of several as fast as they are multiplied in registers.
#pragma once

#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/fast/dnnl_layout.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

inline constexpr int64_t kPanelWidth = 16;  // outputs

inline int64_t CountPanels(int64_t outputs) {
  return (outputs + kPanelWidth - 1) / kPanelWidth;
}

// A constant [outputs, terms], or several of them [count, outputs, terms], packed: for each term a row of a
// panel's outputs, zeros behind the last one; of bf16, for two terms a row of pairs.
class PanelMatrix {
 public:
  // A panel has outputs of one group alone, which are `group` each. Nothing for what is no constant of f32.
  static std::optional<PanelMatrix> Make(const ValueInfo& value, int64_t group, DnnType type);

  // How the plan is to lay the constant.
  const Layout& layout() const { return layout_; }
  DnnType type() const { return type_; }
  int64_t terms() const { return terms_; }
  // Elements of a row that is multiplied: of bf16, zeros lie behind an odd number of terms.
  int64_t row_stride() const { return type_ == DnnType::bf16 ? (terms_ + 1) / 2 * 2 : terms_; }
  int64_t panels_of_group() const { return CountPanels(group_); }
  // In bytes, from one panel to the next; those of a group follow those of the one before.
  int64_t panel_bytes() const { return panel_bytes_; }

 private:
  PanelMatrix(Layout layout, DnnType type, int64_t terms, int64_t group, int64_t panel_bytes)
      : layout_(std::move(layout)), type_(type), terms_(terms), group_(group), panel_bytes_(panel_bytes) {}

  Layout layout_;
  DnnType type_;
  int64_t terms_, group_;
  int64_t panel_bytes_;
};

// out[row] = start[row] + left[row] * panel; rows of `start` and of `out` lie so far apart.
struct PanelSums {
  const std::byte* panel;
  const float* start;  // null: zeros
  int64_t start_stride;
  float* out;
  int64_t out_stride;
};

// Rows that are multiplied together: more have no registers.
inline constexpr int64_t kRowsTogether = 8;

// All panels with the same rows, at most kRowsTogether, of f32 or of bf16 as the panels are; `terms` of them
// are added.
void MultiplyByPanels(llvm::ArrayRef<const std::byte*> rows, DnnType type, int64_t terms,
                      llvm::ArrayRef<PanelSums> panels);

// The same of f32 in the tiles for processors with 16 registers.
void MultiplyInNarrowTiles(llvm::ArrayRef<const std::byte*> rows, int64_t terms,
                           llvm::ArrayRef<PanelSums> panels);

void RoundToBf16(const float* numbers, int64_t count, uint16_t* rounded);

}  // namespace nnefc::runtime
