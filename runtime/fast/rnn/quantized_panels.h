// Constant weights of recurrent layers that are multiples of a scale by -128 to 127, stored as i8 in panels
// of 16 outputs, and their products by VNNI. Data are u8 with a scale and zero point, or f32 numbers in fixed
// point with 24 bits, so that only the rounding differs from products in f32.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/simd/index_range.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::rnn {

// Rows of f32 numbers in fixed point (simd/int8/fixed_point_microkernel.h).
struct FixedPointRows {
  uint8_t* bytes;  // [rows, simd::kFixedPointBytes, row_bytes]
  float* units;    // one per row; NaN for a row with a number that is not finite or at least 2^64
  int64_t row_bytes;

  // Stores the numbers of a row.
  void Store(int64_t row, const float* numbers, int64_t count) const;
};

// A constant [outputs, terms], or a batch of these.
class QuantizedPanels {
 public:
  // A panel only has outputs of one group of `group` outputs. Returns nothing for values that are not such
  // constants, with less than a group of four terms, and without VNNI.
  static std::optional<QuantizedPanels> Make(const kernels::ValueInfo& value, int64_t group);

  // Returns the packed layout for the plan.
  const tensor::Layout& layout() const { return layout_; }
  // Returns the bytes of a row of data, with zeros after its terms.
  int64_t row_bytes() const;

  // out[row] = start[row] + products of a range of panels, counted from the first group.
  struct Results {
    simd::IndexRange panels;
    const float* start;
    int64_t start_stride;  // between rows
    float* out;
    int64_t out_stride;
  };
  struct QuantizedRows {
    const uint8_t* values;  // [count, row_bytes]
    int64_t count;
    memory::ValueQuantization quantization;
  };
  // Multiplies rows by packed weights. `weights` is the memory of the layout.
  void Multiply(const std::byte* weights, const QuantizedRows& rows, const Results& results) const;
  // Multiplies `count` rows. `numbers` has their f32 numbers, for rows without a unit.
  void Multiply(const std::byte* weights, const FixedPointRows& rows, int64_t count,
                const float* const* numbers, const Results& results) const;

 private:
  QuantizedPanels() = default;
  struct Tile;
  template <typename Store>
  void ForTiles(const std::byte* weights, const Tile& tile, const simd::IndexRange& panels,
                const Store& store) const;
  void AddInF32(const std::byte* weights, const float* numbers, int64_t row, const Results& results) const;

  tensor::Layout layout_;
  int64_t terms_ = 0;
  int64_t panels_ = 0;         // panels in all groups
  std::vector<float> scales_;  // one per panel and output, 0 in padding
};

}  // namespace nnefc::runtime::fast::rnn
