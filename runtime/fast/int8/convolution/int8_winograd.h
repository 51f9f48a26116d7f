// Integer Winograd convolution of int8 NHWC images with 3x3 filters, identical to direct convolution
// (simd/int8_winograd_microkernel.h).
#pragma once

#include "runtime/fast/int8/convolution/convolution_shape.h"
#include "runtime/fast/int8/int8_epilogue.h"
#include "runtime/fast/simd/int8/dot2_microkernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast::int8 {

class Int8Winograd final : public kernels::Kernel {
 public:
  // Returns the reason if Winograd does not apply or is not exact. `magnitude`:
  // ir::FilterQuantization::max_magnitude.
  static kernels::Reason Applies(const Int8ConvolutionShape& form, float magnitude);
  // Returns whether it is faster than direct int8 convolution.
  static bool IsFasterThanDirect(const Int8ConvolutionShape& form);

  Int8Winograd(const Int8ConvolutionShape& form, Int8Epilogue results);

  std::string implementation() const override { return "nnefc:int8_winograd"; }
  size_t scratch_bytes() const;
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override;

 private:
  using Call = Int8Epilogue::Call;
  struct Scratch;

  simd::IndexRange TilesOf(int64_t group) const;
  void TransformTiles(const Call& call, const simd::IndexRange& group, const simd::IndexRange& tiles,
                      int16_t* numbers) const;
  void Multiply(const Call& call, const simd::IndexRange& group, const simd::IndexRange& tiles, int64_t block,
                const Scratch& scratch) const;
  void FindOffsets(simd::Int16Dot2Tile of_one, int32_t* offsets) const;
  void Finish(const Call& call, const simd::IndexRange& tiles, int64_t block, const Scratch& scratch) const;

  Int8ConvolutionShape form_;
  Int8Epilogue results_;
  int64_t groups_;  // groups of tiles transformed together
};

}  // namespace nnefc::runtime::fast::int8
