// The im2col data for the saturating int8 microkernels (simd/saturating_int8_microkernel.h).
#pragma once

#include <algorithm>
#include <numeric>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/fast/int8/convolution/im2col_buffer.h"
#include "runtime/fast/simd/int8/saturating_int8_microkernel.h"

namespace nnefc::runtime::fast::int8 {

// The clamped receptive field of several result rows, and the residuals of values that were clamped. Pixels
// have multiples of four channels without padding.
class SaturationCorrection {
 public:
  // Returns the base for values around a zero point. It minimises the values below the base, or pairs more
  // than kMaxPairSum above it, if the standard deviation is two ninths of the distance between a central zero
  // point and the limits.
  static int BaseOf(int zero) {
    constexpr int kBelowZero = 76;
    return std::max(zero - kBelowZero, 0);
  }

  // Returns the maximum number of windows that contain a pixel, considering strides.
  static int64_t WindowsOf(const Int8ConvolutionShape& form) {
    const auto windows = [](const kernels::WindowAxis& axis) {
      const int64_t between = axis.stride / std::gcd(axis.stride, axis.dilation);
      return (axis.size + between - 1) / between;
    };
    return windows(form.rows) * windows(form.columns);
  }

  // Memory for a part with up to `rows` rows.
  struct Scratch {
    uint8_t* codes;
    simd::Residuals rests;
    int32_t* before;  // prefix counts of residuals by pixel of the receptive field
    simd::ResidualTerm *terms_above, *terms_below;

    Scratch(const Int8ConvolutionShape& form, int64_t rows, std::byte* from);
    static int64_t Bytes(const Int8ConvolutionShape& form, int64_t rows);
  };
  // Receptive fields as strips of consecutive pixels.
  struct Windows {
    llvm::ArrayRef<int32_t> seen, strips;  // see Int8Grid and TapStrips; in pixels
    int64_t strip_pixels;
  };
  SaturationCorrection(const Int8ConvolutionShape& form, const Windows& windows, const simd::IndexRange& rows,
                       const Scratch& scratch)
      : form_(form), windows_(windows), rows_(rows), scratch_(scratch) {}

  // Clamps the values. Returns false if other microkernels are faster because of the number of residuals.
  bool Fill(const uint8_t* image, int zero);
  const uint8_t* codes() const { return scratch_.codes; }
  // Adds the contributions of residuals to accumulators of several pixels. `products` has all arguments
  // except the residuals.
  void AddResidualsTo(const simd::IndexRange& pixels, simd::ResidualProducts products) const;

 private:
  void ClampRows(const uint8_t* image, int zero);
  void CountBefore(llvm::ArrayRef<simd::Residual> rests) const;
  llvm::ArrayRef<simd::ResidualTerm> FindTerms(llvm::ArrayRef<simd::Residual> rests,
                                               simd::ResidualTerm* terms) const;

  const Int8ConvolutionShape& form_;
  Windows windows_;
  simd::IndexRange rows_;
  Scratch scratch_;
  llvm::ArrayRef<simd::ResidualTerm> above_, below_;
};

}  // namespace nnefc::runtime::fast::int8
