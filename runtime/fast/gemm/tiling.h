// Windows and row panels of register-tiled kernels.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/index_range.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/windows/window.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::gemm {

// Returns the maximum pixels per tile for a channel block.
inline int64_t TilePixels() {
  return simd::TileRows();
}

// A partition of rows into panels of at most TileRows() rows with sizes that differ by at most one, larger
// ones first.
class TilePanels {
 public:
  explicit TilePanels(int64_t rows)
      : count_(tensor::CeilDivide(rows, simd::TileRows())),
        each_(rows / std::max<int64_t>(count_, 1)),
        longer_(rows - count_ * each_) {}

  int64_t count() const { return count_; }
  // Returns the first row of a panel, and the number of its rows.
  int64_t Begin(int64_t panel) const { return panel * each_ + std::min(panel, longer_); }
  int64_t RowsOf(int64_t panel) const { return panel < longer_ ? each_ + 1 : each_; }
  // Calls work(panel, count) for consecutive panels of equal size, few enough for their results to stay
  // cached.
  template <typename Work>
  void ForEqualPanels(const Work& work) const {
    constexpr int64_t kMax = 8;
    for (int64_t panel = 0, count = 0; panel < count_; panel += count) {
      count = std::min(kMax, (panel < longer_ ? longer_ : count_) - panel);
      work(panel, count);
    }
  }

 private:
  int64_t count_, each_, longer_;
};

// Returns the window of a Convolution or GroupConvolution.
kernels::Window WindowOfConvolution(const kernels::KernelRequest& request);

// Returns true if windows along an axis are single positions in order.
bool IsIdentityWindow(const kernels::WindowAxis& axis);

// Returns the input position of a tap at an output position.
inline int64_t InputPosition(const kernels::WindowAxis& axis, int64_t place, int64_t tap) {
  return place * axis.stride - axis.before + tap * axis.dilation;
}
// Return the taps of a position that are inside the input, and the positions for which a tap is inside.
simd::IndexRange ValidTaps(const kernels::WindowAxis& axis, int64_t place);
simd::IndexRange ValidOutputs(const kernels::WindowAxis& axis, int64_t tap);
// Returns the union of the taps over several positions.
simd::IndexRange ValidTaps(const kernels::WindowAxis& axis, const simd::IndexRange& places);

// The output positions of a tile along a row, and the union of their valid taps.
struct TileColumns {
  simd::IndexRange places, taps;
  std::vector<uint16_t> seeing;  // per tap from taps.begin, a bit mask of positions whose tap is inside the
                                 // input
};

// The widths of the tiles of a row: equal ones, or TilePixels() except for the last one.
enum class TileWidths : uint8_t { kEqual, kWidest };
// Divides the output positions along an axis into tiles of at most TilePixels(), from left to right.
std::vector<TileColumns> DivideColumns(const kernels::WindowAxis& axis,
                                       TileWidths widths = TileWidths::kEqual);

}  // namespace nnefc::runtime::fast::gemm
