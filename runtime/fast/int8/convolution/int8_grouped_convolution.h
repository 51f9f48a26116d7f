// Grouped int8 convolution, with VNNI only where oneDNN has no kernel. A range of groups is processed as one
// dense convolution, with a filter that is 0 between different groups.
#pragma once

#include <numeric>
#include <vector>

#include "runtime/fast/int8/dot4_gemm.h"
#include "runtime/fast/int8/int8_epilogue.h"

namespace nnefc::runtime::fast::int8 {

// The channel counts of a group.
struct Int8Groups {
  int64_t inputs, outputs;

  // The groups per range: the fewest that fill output tiles.
  int64_t groups_of_range() const { return std::lcm(outputs, simd::kBlockColumns) / outputs; }
  int64_t range_inputs() const { return groups_of_range() * inputs; }
  int64_t range_outputs() const { return groups_of_range() * outputs; }
  // Returns whether tiles are filled enough to be faster than f32.
  bool Suit() const;
};

class Int8GroupConvolution final : public kernels::Kernel {
 public:
  // `form` describes all channels.
  static bool Suits(const Int8ConvolutionShape& form, const Int8Groups& groups);
  Int8GroupConvolution(const Int8ConvolutionShape& form, Int8Epilogue results, const Int8Groups& groups);

  std::string implementation() const override { return "nnefc:int8_grouped"; }
  size_t scratch_bytes() const;
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override;

 private:
  using Call = Int8Epilogue::Call;
  // The packed weights of a range, as Dot4Gemm expects them.
  struct Weights {
    int8_t* codes;
    int32_t* less;
  };

  int64_t ranges() const;
  int64_t range_tiles() const {
    return (groups_.range_outputs() + simd::kBlockColumns - 1) / simd::kBlockColumns;
  }
  int64_t WeightBytes() const;
  int64_t ImageBytes() const;
  int64_t NumberBytes() const;
  int64_t ThreadBytes() const;
  void MergeWeights(const Call& call, int64_t range, const Weights& weights) const;
  void CopyImage(const Call& call, int64_t image, int64_t range, uint8_t* codes) const;
  void RunRange(const Call& call, int64_t image, int64_t range, std::byte* own) const;

  Int8ConvolutionShape form_, range_form_;
  Int8Groups groups_;
  Int8Grid grid_;
  Dot4Gemm sums_;
  Int8Epilogue results_;
};

}  // namespace nnefc::runtime::fast::int8
