// Depthwise int8 convolution with VNNI (simd/int8/dot4_depthwise_microkernel.h).
#pragma once

#include <vector>

#include "runtime/fast/int8/convolution/convolution_shape.h"
#include "runtime/fast/int8/int8_epilogue.h"

namespace nnefc::runtime::fast::int8 {

class Dot4Depthwise final : public kernels::Kernel {
 public:
  // Returns the reason if a convolution is not supported.
  static kernels::Reason Applies(const Int8ConvolutionShape& form);
  // Treats images with a single column as images with a single row, which have the same memory. Returns
  // whether it did.
  static bool SwapColumn(Int8ConvolutionShape& form);
  // Returns the layout of a filter [channels, 1, 1, ..]: kQuadWeights for each group of four taps of a row,
  // and the negated sums of the channels after them.
  static tensor::Layout FilterLayout(llvm::ArrayRef<int64_t> filter, const Int8ConvolutionShape& form,
                                     bool is_swapped, memory::BlockedLayout::Form codes);

  // `zeros`: zero points by channel; empty for that of the shape.
  Dot4Depthwise(const Int8ConvolutionShape& form, Int8Epilogue results, llvm::ArrayRef<int32_t> zeros);

  std::string implementation() const override { return "nnefc:int8_depthwise_vnni"; }
  size_t scratch_bytes() const;
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override;

 private:
  using Call = Int8Epilogue::Call;
  // Results that are computed together: rows and columns of an image, and a tile of channels.
  struct Part {
    int64_t image, tile;
    simd::IndexRange rows, columns;
  };
  // The buffers of a thread.
  struct Buffers {
    uint8_t* rows;  // interleaved: a ring of as many as a window reaches
    int32_t* sums;
  };

  int64_t tiles() const;
  int64_t quads() const;  // groups of taps per row of the filter
  int64_t RowQuads(int64_t columns) const;
  int64_t RowBytes() const;
  int64_t ThreadBytes() const;
  void RunPart(const Call& call, const Part& part, const Buffers& buffers) const;

  Int8ConvolutionShape form_;
  Int8Grid grid_;
  int64_t column_parts_;
  int64_t sum_rows_;  // rows whose accumulators are stored at once; 0 if they stay in registers
  Int8Epilogue results_;
  std::vector<int32_t> zeros_;
};

}  // namespace nnefc::runtime::fast::int8
