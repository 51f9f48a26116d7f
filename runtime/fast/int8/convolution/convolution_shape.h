// int8 images in the layouts of the microkernels.
#pragma once

#include <vector>

#include "runtime/fast/simd/index_range.h"
#include "runtime/fast/simd/int8/dot2_microkernel.h"
#include "runtime/fast/simd/int8/saturating_int8_microkernel.h"
#include "runtime/kernels/windows/window.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

// The shape of NHWC images and of a window on them. The rows of a matrix are images with one column.
struct Int8ConvolutionShape {
  int64_t images, channels, outputs;
  // Channels per pixel including zero padding; fewer than `channels` if they are processed in parts.
  int64_t padded_channels;
  kernels::WindowAxis rows, columns;
  int zero;  // zero point
  int threads;

  // Returns the number of input values of an image.
  int64_t in_size() const { return rows.input * columns.input * channels; }
  // Returns the number of result pixels of an image.
  int64_t out_pixels() const { return rows.output * columns.output; }
  // Returns the number of values per row of the receptive field, including borders.
  int64_t row_numbers() const {
    return ((columns.output - 1) * columns.stride + columns.reach()) * padded_channels;
  }
  // Returns the number of input rows in the receptive field of `count` result rows.
  int64_t InputRowsFor(int64_t count) const { return (count - 1) * rows.stride + rows.reach(); }
  // Treats the image as a column of pixels if the window is a single pixel; otherwise changes nothing.
  void MergePixelsIntoColumn();
  // Returns the columns in the receptive field without borders, in pixels of `row_numbers`.
  simd::IndexRange InputColumns() const;
};

// A receptive field as contiguous strips: taps of a row with adjacent pixels form one strip.
struct TapStrips {
  std::vector<int32_t> places;  // offsets of the strips relative to a pixel's first tap
  int64_t length;               // in elements

  // Returns the number of groups of two or four elements per strip. The last group may include elements of
  // the next pixels, with weights of 0.
  int64_t pairs() const { return tensor::CeilDivide(length, 2); }
  int64_t quads() const { return tensor::CeilDivide(length, simd::kQuad); }
  // Returns the strips of a convolution's window.
  static TapStrips Of(const Int8ConvolutionShape& form);
};

// The partition of result rows and channel tiles of all images into tasks.
struct Int8Grid {
  int64_t row_parts, tile_parts;  // parts per image

  // Limits on the size of a part.
  struct Limits {
    int64_t bytes;
    size_t number_bytes;       // bytes per input value
    int64_t result_bytes = 0;  // bytes per result pixel
    // Partitions rows by threads first, as in other matmuls (gemm/row_partitions.h), if parts of the same
    // rows share little work.
    bool cuts_rows_first = false;
  };
  // The results of a task: rows of an image, of a range of channel tiles.
  struct Part {
    int64_t image;
    simd::IndexRange rows, tiles;
  };
  // Returns the partition of a convolution for its threads.
  static Int8Grid Of(const Int8ConvolutionShape& form, const Limits& limits);
  // Returns the number of tasks of all images.
  int64_t Tasks(const Int8ConvolutionShape& form) const { return form.images * row_parts * tile_parts; }
  // Returns the part of a task in [0, Tasks) of a result with `tiles` channel tiles. Tasks of the same rows
  // are adjacent.
  Part PartOf(const Int8ConvolutionShape& form, int64_t tiles, int64_t task) const;
  // Per-thread buffer size in elements: the largest part plus one element of over-read, and a whole cache
  // line against false sharing.
  int64_t ThreadValues(const Int8ConvolutionShape& form) const;
  // Returns the offset of the first tap for each pixel of the largest part. Smaller parts use a prefix.
  std::vector<int32_t> FirstTapOffsets(const Int8ConvolutionShape& form) const;
};

// The receptive field of several result rows as i16 or f32 values without zero point.
template <typename Number>
class WidenedPart {
 public:
  WidenedPart(const Int8ConvolutionShape& form, const simd::IndexRange& rows, Number* numbers)
      : form_(form), rows_(rows), numbers_(numbers) {}

  // Fills the buffer with channels starting at `channel`. `zeros` has the zero points of kBlockColumns
  // channels, which must be the padded channels of the shape; null for that of the shape.
  void Fill(const uint8_t* image, int64_t channel = 0, const int32_t* zeros = nullptr) const;
  const simd::IndexRange& rows() const { return rows_; }
  int64_t pixels() const { return rows_.count() * form_.columns.output; }
  // Returns the first pixel in the image.
  int64_t first_pixel() const { return rows_.begin * form_.columns.output; }
  const Number* numbers() const { return numbers_; }

 private:
  void Widen(simd::WidenedValues<Number> codes) const;
  void FillRow(const uint8_t* row, int64_t channels, const int32_t* zeros, Number* out) const;

  const Int8ConvolutionShape& form_;
  simd::IndexRange rows_;
  Number* numbers_;
};

}  // namespace nnefc::runtime::fast::int8
