// int8 convolution with dot4 microkernels, for rows of images and output tiles of a grid: VNNI
// (simd/vnni_microkernel.h), or saturating maddubs with clamped values (simd/saturating_int8_microkernel.h).
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/fast/int8/saturation_correction.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/int8/vnni_microkernel.h"
#include "runtime/kernels/reason.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

class Dot4Gemm {
 public:
  // Returns an empty reason if the shape is supported.
  static kernels::Reason Applies(const Int8ConvolutionShape& form, bool has_vnni = HasVnni());
  // Returns whether it is faster than accumulators of two products (simd/dot2_microkernel.h).
  static bool IsFasterThanDot2(const Int8ConvolutionShape& form, bool has_vnni = HasVnni());
  // Returns whether it is supported and faster.
  static bool Suits(const Int8ConvolutionShape& form, bool has_vnni = HasVnni()) {
    return Applies(form, has_vnni).empty() && IsFasterThanDot2(form, has_vnni);
  }
  Dot4Gemm(const Int8ConvolutionShape& form, const Int8Grid& grid, bool has_vnni = HasVnni());

  // Returns the scratch size per thread.
  int64_t scratch_bytes() const;
  // Returns the number of weights per output tile.
  int64_t WeightsOfTile() const { return strip_count() * quads() * simd::kQuadWeights; }
  // A part of the result, computed by one thread: rows of the image and tiles of outputs.
  struct Part {
    simd::IndexRange rows, tiles;
    const int8_t* weights;        // kQuadWeights per group of four inputs, by tile
    const int32_t* less_weights;  // negated sum of the weights per output; may be null for zero point 0
    std::byte* scratch;
    // If set, VNNI tiles write accumulators directly to a row-major result, or quantized or f32 results: the
    // address of the first row's results, or parameters for the first row and channel.
    int32_t* out = nullptr;
    const simd::RequantizedResults* codes = nullptr;
    const simd::HSwishResults* hard_swish = nullptr;
    const simd::DequantizedResults* numbers = nullptr;
    // The number of tiles that can be written so, from the first one of the result.
    int64_t direct_tiles = 0;
    // If set, is called for f32 results of tiles and pixels of the part after they have been written.
    llvm::function_ref<void(const simd::IndexRange& tiles, const simd::IndexRange& pixels)> finish = nullptr;
  };
  // Receives kBlockColumns accumulators per pixel for pixels of a part.
  using Store = llvm::function_ref<void(int64_t tile, const simd::IndexRange& pixels, const int32_t* sums)>;
  // Returns false, without storing anything, if too many values exceed the clamping range without VNNI, so
  // that SumNumbers is faster.
  bool SumQuantized(const Part& part, const uint8_t* image, int zero, Store store) const;
  // The same for values without zero point, as in WidenedPart.
  void SumNumbers(const Part& part, const int16_t* numbers, Store store) const;

 private:
  // Several tiles and their initial accumulators.
  struct Group {
    simd::IndexRange tiles;
    int32_t *sums, *starts;
  };
  int64_t quads() const { return strips_.quads(); }
  int64_t strip_count() const { return static_cast<int64_t>(strips_.places.size()); }
  // Returns the bytes that the last group of a strip includes after it.
  int64_t over_read() const { return quads() * simd::kQuad - strips_.length; }
  int64_t PartBytes() const {
    return has_vnni_ ? Im2colBuffer::Bytes(form_, rows_of_part_, over_read())
                     : SaturationCorrection::Scratch::Bytes(form_, rows_of_part_);
  }
  template <typename Number>
  simd::Dot4Tile<Number> TileOf(const Part& part, const Number* numbers, int64_t tile) const;
  template <typename Start, typename Sum>
  void ForGroups(const Part& part, const Start& start, const Sum& sum, Store store) const;
  static void FindStarts(const Part& part, int distance, const Group& group);
  // Destination of the accumulators of the first pixel and tile; null for other direct results.
  struct Sums {
    int32_t* first = nullptr;
    int64_t pixel_stride = 0, tile_stride = 0;
  };
  // Computes with VNNI from the im2col buffer.
  void SumWhole(const Part& part, const uint8_t* seen, int zero, const simd::IndexRange& tiles,
                const simd::IndexRange& pixels, const Sums& sums) const;
  void SumClamped(const Part& part, const SaturationCorrection& clamped, const Group& group,
                  const simd::IndexRange& pixels) const;

  Int8ConvolutionShape form_;
  bool has_vnni_;
  int64_t rows_of_part_;
  TapStrips strips_;
  std::vector<int32_t> seen_, seen_pixels_, strip_pixels_;
};

}  // namespace nnefc::runtime::fast::int8
