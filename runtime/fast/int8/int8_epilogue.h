// The epilogue of int8 accumulators (simd/dot2_microkernel.h): requantization, or f32 values with post-ops.
#pragma once

#include <optional>
#include <vector>

#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/fast/simd/int8/dot2_microkernel.h"
#include "runtime/fast/simd/int8/quantized_results_microkernel.h"
#include "runtime/fast/simd/int8/vnni_microkernel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

// The position of a tile in a result: consecutive pixels of an image, and channels starting at `tile` *
// kBlockColumns.
struct TilePosition {
  int64_t image, pixel, pixels, tile;
};

// Pixels per store call, chosen so that their accumulators fit into L1.
inline constexpr int64_t kMaxStoredPixels = 56;

class Int8Epilogue {
 public:
  struct Form {
    int64_t outputs, pixels;    // per image
    bool is_blocked;            // f32 in nChw16c layout; otherwise row-major
    std::vector<float> scales;  // scales of f32 results by output channel
    std::optional<FoldedRequantization> folded = std::nullopt;
    std::optional<ChannelQuantization> quantization = std::nullopt;  // after post-ops that are not folded
  };
  Int8Epilogue(Form form, gemm::Epilogue steps);

  int64_t element_bytes() const { return form_.folded || form_.quantization ? 1 : int64_t{sizeof(float)}; }
  int64_t scratch_floats() const {
    const int64_t arrays = !is_activated() ? 0 : is_hard_swish() ? kHSwishArrays : kQuantizationArrays;
    return steps_.column_floats(form_.outputs) + arrays * padded_outputs();
  }
  // The pointers of a step in a run: quantized images and filter, result, and operands of post-ops.
  struct Call {
    const uint8_t* in;
    const int8_t* weights;
    std::byte* out;
    gemm::Epilogue::Operands operands;
    // If is_activated(), the quantization of the function's results with the affine steps after it, by output
    // channel. If is_hard_swish(), the parameters of the first channel for VNNI tiles.
    const float *factors = nullptr, *offsets = nullptr;
    simd::HSwishResults hard_swish = {};
  };
  // `scratch` must have scratch_floats() elements.
  Call CallOf(const kernels::KernelRun& run, float* scratch) const;
  // Whether results are linear functions of the accumulators (see MakerOf), and depend on those only.
  bool is_folded() const { return form_.folded.has_value(); }
  bool requantizes_sums_only() const { return is_folded() && !form_.folded->sum; }
  // Whether results are quantized after a function of the accumulators, for any number of pixels at once.
  bool is_activated() const { return form_.quantization && activation_; }
  // Whether that function is HSwish, without limits before it.
  bool is_hard_swish() const {
    return is_activated() && activation_->function == simd::EpilogueFunction::kHSwish &&
           !steps_.limits().has_min && !steps_.limits().has_max;
  }
  simd::RequantizedResults MakerOf(const TilePosition& at, std::byte* out) const;
  simd::HSwishResults HSwishOf(const TilePosition& at, const Call& call) const;
  // Whether results are f32, and whether functions follow the parameters of NumbersOf. FinishNumbers applies
  // these to stored results of `tiles` complete tiles.
  bool are_numbers() const { return !form_.folded && !form_.quantization; }
  bool has_functions() const { return steps_.has_functions(); }
  simd::DequantizedResults NumbersOf(const TilePosition& at, const Call& call) const;
  void FinishNumbers(const TilePosition& at, int64_t tiles, const Call& call) const;
  // Returns the number of tiles with kBlockColumns stored results per pixel.
  int64_t direct_tiles() const {
    return (is_blocked_result() ? padded_outputs() : form_.outputs) / simd::kBlockColumns;
  }
  // Stores kBlockColumns accumulators per pixel. Row-major f32 results are limited to kMaxStoredPixels.
  void Store(const int32_t* sums, const TilePosition& at, const Call& call) const;

  // The same for `tiles` tiles from `at`, with their sums `sums_stride` apart.
  void StoreTiles(const int32_t* sums, int64_t sums_stride, int64_t tiles, TilePosition at,
                  const Call& call) const;

 private:
  // Arrays by output channel in scratch memory.
  static constexpr int64_t kQuantizationArrays = 2, kHSwishArrays = kQuantizationArrays + 4;
  int64_t padded_outputs() const { return tensor::RoundUp(form_.outputs, simd::kBlockColumns); }
  bool is_blocked_result() const { return are_numbers() && form_.is_blocked; }
  // Returns the index of a position's first result.
  int64_t OffsetOf(const TilePosition& at) const {
    if (is_blocked_result())
      return ((at.image * padded_outputs() / simd::kBlockColumns + at.tile) * form_.pixels + at.pixel) *
             simd::kBlockColumns;
    return (at.image * form_.pixels + at.pixel) * form_.outputs + at.tile * simd::kBlockColumns;
  }
  void StoreNumbers(const int32_t* sums, const TilePosition& at, const Call& call) const;
  void StoreQuantized(const int32_t* sums, const TilePosition& at, const Call& call) const;
  void StoreBlocks(const int32_t* sums, const TilePosition& at, const Call& call,
                   simd::QuantizedResults results) const;

  Form form_;
  gemm::Epilogue steps_;
  std::optional<gemm::Epilogue::Activation> activation_;  // of steps_
  std::vector<float> scales_, bias_;
  float low_ = 0, high_ = 255;
  bool is_limited_ = true;
};

}  // namespace nnefc::runtime::fast::int8
