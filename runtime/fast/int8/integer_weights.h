// The packed constants of integer convolutions and matmuls (integer_gemm.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "compiler/support/tensor/element_type.h"
#include "runtime/fast/simd/int8/saturating_int8_microkernel.h"
#include "runtime/kernels/kernel.h"
#include "runtime/tensor/layout.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

// The extents of integer weights, and their strides in the constant.
struct WeightSizes {
  int64_t outputs, inputs, taps;
  int64_t output_stride, input_stride;  // taps are contiguous
  bool fit_bytes;
  int64_t together;  // interleaved inputs: 2 or kQuad
  // Subtracted from the weights, so that those with a zero point of their own fit bytes. The sum of the data
  // of a result times this number is added to it.
  int32_t offset = 0;

  int64_t tiles() const { return tensor::CeilDivide(outputs, simd::kBlockColumns); }
  int64_t padded_inputs() const { return tensor::RoundUp(inputs, together); }
  int64_t numbers_of_tile() const { return taps * padded_inputs() * simd::kBlockColumns; }
  int64_t numbers() const { return tiles() * numbers_of_tile(); }
  // After the weights, if interleaved by four: the negative sum of the weights of each output.
  int64_t sums() const { return together == simd::kQuad ? tiles() * simd::kBlockColumns : 0; }
  // Returns the offset of the first output of a tile; consecutive outputs are `together` apart.
  int64_t PlaceOf(int64_t tap, int64_t input) const {
    const int64_t first = tap * padded_inputs() + input / together * together;
    return first * simd::kBlockColumns + input % together;
  }
  bool operator==(const WeightSizes&) const = default;
};

// The packing for Dot2Tile and Dot4Tile: tiles of outputs, then taps, then interleaved inputs.
class IntegerWeights final : public tensor::OpaqueLayout {
 public:
  explicit IntegerWeights(const WeightSizes& sizes) : sizes_(sizes) {}

  const WeightSizes& sizes() const { return sizes_; }
  size_t byte_size() const override {
    return static_cast<size_t>(sizes_.numbers()) * (sizes_.fit_bytes ? sizeof(int8_t) : sizeof(int16_t)) +
           static_cast<size_t>(sizes_.sums()) * sizeof(int32_t);
  }
  bool Equals(const tensor::OpaqueLayout& other) const override {
    const auto* same = dynamic_cast<const IntegerWeights*>(&other);
    return same != nullptr && same->sizes_ == sizes_;
  }
  std::string ToString() const override {
    return sizes_.together == simd::kQuad ? "fours of i8" : sizes_.fit_bytes ? "pairs of i8" : "pairs of i16";
  }
  std::string Key() const override;

 private:
  WeightSizes sizes_;
};

// Creates the kernel that packs the constants of these kernels from layout `from` to `to`; null for other
// layouts.
std::shared_ptr<const kernels::Kernel> MakeIntegerReorder(ElementType type, const tensor::Layout& from,
                                                          const tensor::Layout& to);

}  // namespace nnefc::runtime::fast::int8
