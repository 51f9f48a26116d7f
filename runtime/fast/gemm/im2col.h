#pragma once

#include <cstdint>

#include "runtime/fast/simd/dispatch.h"
#include "runtime/kernels/windows/window.h"

namespace nnefc::runtime::fast::gemm {

// The im2col matrices of nChw16c images: blocks of columns [taps][inputs], one row per result pixel, zeros
// for the border.
class Im2col {
 public:
  // `inputs` must be a multiple of the block size.
  Im2col(int64_t images, int64_t inputs, const kernels::WindowAxis& rows, const kernels::WindowAxis& columns)
      : images_(images), blocks_(inputs / simd::kBlockColumns), rows_(rows), columns_(columns) {}

  int64_t pixels() const { return rows_.output * columns_.output; }
  int64_t terms() const { return taps() * blocks_ * simd::kBlockColumns; }
  int64_t floats() const { return images_ * pixels() * terms(); }
  // Runs on the threads of the scope.
  void Gather(const float* images, float* to) const;

 private:
  int64_t taps() const { return rows_.size * columns_.size; }
  // Gathers a channel block of one tap.
  void GatherTap(const float* plane, int64_t tap, float* to) const;

  int64_t images_, blocks_;
  kernels::WindowAxis rows_, columns_;
};

}  // namespace nnefc::runtime::fast::gemm
