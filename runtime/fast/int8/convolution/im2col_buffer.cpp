// The im2col buffer of int8 images.

#include "runtime/fast/int8/convolution/im2col_buffer.h"

#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

int64_t Im2colBuffer::Bytes(const Int8ConvolutionShape& form, int64_t rows, int64_t over_read) {
  constexpr int64_t kLine = 64;  // cache line
  return tensor::RoundUp(form.InputRowsFor(rows) * form.row_numbers() + over_read, kLine);
}

bool Im2colBuffer::lie_in_image() const {
  return form_.columns.before == 0 && form_.row_numbers() == form_.columns.input * form_.channels &&
         first_row() >= 0 && (first_row() + rows()) * form_.row_numbers() + over_read_ <= form_.in_size();
}

const uint8_t* Im2colBuffer::Find(const uint8_t* image, int zero) const {
  if (lie_in_image()) return InImage(image);
  TakeRows(image, static_cast<uint8_t>(zero),
           [&](const uint8_t* codes, int64_t count, int64_t at) { std::copy_n(codes, count, out_ + at); });
  return out_;
}

}  // namespace nnefc::runtime::fast::int8
