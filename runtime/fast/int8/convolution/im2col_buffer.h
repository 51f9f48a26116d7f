// The im2col buffer of int8 images for several result rows: consecutive pixel rows with borders. Refers to
// the image itself if its layout matches.
#pragma once

#include <algorithm>

#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/int8/convolution/convolution_shape.h"

namespace nnefc::runtime::fast::int8 {

class Im2colBuffer {
 public:
  // Returns the buffer size for `rows` result rows. Pixels have no channel padding. Readers may load
  // `over_read` bytes after the last pixel.
  static int64_t Bytes(const Int8ConvolutionShape& form, int64_t rows, int64_t over_read = 0);
  // `out` must have that size.
  Im2colBuffer(const Int8ConvolutionShape& form, const simd::IndexRange& rows, uint8_t* out,
               int64_t over_read = 0)
      : form_(form), rows_(rows), out_(out), over_read_(over_read) {}

  int64_t rows() const { return form_.InputRowsFor(rows_.count()); }
  // Returns true if the receptive field consists of whole image rows, and there is memory for readers after
  // it.
  bool lie_in_image() const;
  // Returns the start of the receptive field in the image. Requires lie_in_image().
  const uint8_t* InImage(const uint8_t* image) const { return image + first_row() * form_.row_numbers(); }
  // Returns the receptive field, in the image or copied to `out` with a border of `zero`.
  const uint8_t* Find(const uint8_t* image, int zero) const;
  // Calls take(codes, count, at) for the image part of each row, to be stored at out + at, and fills the
  // border.
  template <typename Take>
  void TakeRows(const uint8_t* image, uint8_t border, const Take& take) const {
    const int64_t channels = form_.channels;
    const int64_t size = form_.columns.input * channels, row_codes = form_.row_numbers();
    const auto [begin, end] = form_.InputColumns();
    for (int64_t row = 0; row < rows(); ++row) {
      uint8_t* out = out_ + row * row_codes;
      const int64_t from = first_row() + row;
      if (from < 0 || from >= form_.rows.input) {
        std::fill_n(out, row_codes, border);
        continue;
      }
      std::fill_n(out, begin * channels, border);
      take(image + from * size + (begin - form_.columns.before) * channels, (end - begin) * channels,
           row * row_codes + begin * channels);
      std::fill(out + end * channels, out + row_codes, border);
    }
  }

 private:
  int64_t first_row() const { return gemm::InputPosition(form_.rows, rows_.begin, 0); }

  const Int8ConvolutionShape& form_;
  simd::IndexRange rows_;
  uint8_t* out_;
  int64_t over_read_;
};

}  // namespace nnefc::runtime::fast::int8
