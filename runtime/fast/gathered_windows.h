// What the windows of a convolution see, as rows of a matrix: convolutions whose rows of pixels fill tiles
// badly, or whose windows step over pixels, are products with it.
#pragma once

#include <optional>

#include "runtime/fast/lanes/lanes.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

// Images with channels in blocks; of each a matrix in blocks of columns, [taps][inputs], a row for each pixel
// of the result, zeros where a window sees the border.
class GatheredWindows {
 public:
  // `inputs` are whole blocks.
  GatheredWindows(int64_t images, int64_t inputs, const WindowAxis& rows, const WindowAxis& columns)
      : images_(images), blocks_(inputs / kBlockColumns), rows_(rows), columns_(columns) {}

  int64_t pixels() const { return rows_.output * columns_.output; }
  int64_t terms() const { return taps() * blocks_ * kBlockColumns; }
  int64_t floats() const { return images_ * pixels() * terms(); }
  // On the threads of the scope.
  void Gather(const float* images, float* to) const;

 private:
  int64_t taps() const { return rows_.size * columns_.size; }
  // Of a block of channels by one tap.
  void GatherTap(const float* plane, int64_t tap, float* to) const;

  int64_t images_, blocks_;
  WindowAxis rows_, columns_;
};

// Of a Convolution of two axes with a constant filter; nothing where tiles of pixels of its images are as
// fast (direct_convolution.h), and for what MakeDenseProduct declines.
std::optional<PreparedKernel> MakeGatheredConvolution(const KernelRequest& request);

}  // namespace nnefc::runtime
