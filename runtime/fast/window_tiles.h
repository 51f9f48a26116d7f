// How windows see an image, and rows of products fall into panels, for kernels that make some pixels or rows
// at a time in registers.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/fast/lanes/lanes.h"
#include "runtime/fast/lanes/span.h"
#include "runtime/fast/round_up.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

// A tile has 1 to so many pixels, of a block of channels each.
inline int64_t TilePixels() {
  return TileRows();
}

// Rows in panels of at most TileRows(), as many as one another or one more, the longer ones first.
class TilePanels {
 public:
  explicit TilePanels(int64_t rows)
      : count_(DividedUp(rows, TileRows())),
        each_(rows / std::max<int64_t>(count_, 1)),
        longer_(rows - count_ * each_) {}

  int64_t count() const { return count_; }
  int64_t Begin(int64_t panel) const { return panel * each_ + std::min(panel, longer_); }
  int64_t RowsOf(int64_t panel) const { return panel < longer_ ? each_ + 1 : each_; }
  // Calls work(panel, count) for panels of as many rows behind one another, so few that a cache holds what is
  // made of them.
  template <typename Work>
  void ForAlike(const Work& work) const {
    constexpr int64_t kMost = 8;
    for (int64_t panel = 0, count = 0; panel < count_; panel += count) {
      count = std::min(kMost, (panel < longer_ ? longer_ : count_) - panel);
      work(panel, count);
    }
  }

 private:
  int64_t count_, each_, longer_;
};

// Of a Convolution or GroupConvolution, by its input and its filter.
Window WindowOfConvolution(const KernelRequest& request);

// True if windows see a place each along an axis, all of them in their order.
bool SeesPlaces(const WindowAxis& axis);

// The place of the input that one sees by a tap.
inline int64_t SeenBy(const WindowAxis& axis, int64_t place, int64_t tap) {
  return place * axis.stride - axis.before + tap * axis.dilation;
}
// The taps of a place that see the input, and the places that see it by a tap.
Span SeeingTaps(const WindowAxis& axis, int64_t place);
Span SeeingPlaces(const WindowAxis& axis, int64_t tap);
// Those by which any of the places does.
Span SeeingTaps(const WindowAxis& axis, const Span& places);

// Places along a row that a tile has, and the taps by which any of them sees the input.
struct TileColumns {
  Span places, taps;
  std::vector<uint16_t> seeing;  // by tap from taps.begin on, a bit for each place that sees the input
};

// Tiles as wide as one another, or of TilePixels() but for the last one.
enum class TileWidths : uint8_t { kAlike, kWidest };
std::vector<TileColumns> DivideColumns(const WindowAxis& axis, TileWidths widths = TileWidths::kAlike);

}  // namespace nnefc::runtime
