#pragma once

#include <memory>

#include "runtime/fast/int8/convolution/convolution_shape.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/kernel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

// Creates a kernel that quantizes a constant f32 filter of that shape by `form.filter_codes` and packs it in
// the layout `target`, including the sums that compensate a zero point. The elements must be multiples of the
// scales. Returns null if `form` has no scales, and for layouts that are not supported.
std::shared_ptr<const kernels::ConstantKernel> MakeFilterPacking(llvm::ArrayRef<int64_t> shape,
                                                                 const memory::BlockedLayout::Form& form,
                                                                 const memory::BlockedFormat& target);

// Returns the packed filter layout: groups of inputs by kBlockColumns outputs, tap by tap within an output
// tile. If `has_sums`, the negated weight sums of the outputs follow all tiles.
tensor::Layout FilterOfTiles(llvm::ArrayRef<int64_t> filter, size_t output_axis, int64_t inputs_together,
                             bool has_sums, memory::BlockedLayout::Form form);

// The conversion of a filter from the layout above, with groups of one input, to strips (TapStrips) of groups
// of `together` elements, without padding after each pixel of a strip.
class StripFilter {
 public:
  StripFilter(const Int8ConvolutionShape& form, int64_t together)
      : strips_(form.rows.size * (form.columns.dilation == 1 ? 1 : form.columns.size)),
        length_(form.rows.size * form.columns.size * form.padded_channels / strips_),
        together_(together),
        is_joined_(length_ > form.padded_channels && form.padded_channels % together != 0) {}

  // Returns whether strips differ from the layout above with groups of `together` inputs.
  bool is_joined() const { return is_joined_; }
  // Returns the inputs per group of the layout from which the kernel starts.
  int64_t given_together() const { return is_joined_ ? 1 : together_; }
  // Returns the bytes of a tile of outputs, in the layout with groups of one input and in strips.
  int64_t given_tile_bytes() const { return strips_ * length_ * simd::kBlockColumns; }
  int64_t tile_bytes() const { return strips_ * tensor::RoundUp(length_, together_) * simd::kBlockColumns; }
  // Writes tile_bytes() for each tile.
  void Pack(const int8_t* given, int64_t tiles, int8_t* out) const;

 private:
  int64_t strips_, length_, together_;
  bool is_joined_;
};

// Returns the depthwise filter layout: kBlockColumns channels per tap.
tensor::Layout DepthwiseFilter(llvm::ArrayRef<int64_t> filter, memory::BlockedLayout::Form form);

}  // namespace nnefc::runtime::fast::int8
