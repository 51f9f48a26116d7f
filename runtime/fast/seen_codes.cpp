#include "runtime/fast/seen_codes.h"

#include "runtime/fast/round_up.h"

namespace nnefc::runtime {

int64_t SeenCodes::Bytes(const CodedForm& form, int64_t rows) {
  constexpr int64_t kLine = 64;  // cache line
  return RoundUp(form.RowsSeenBy(rows) * form.row_numbers(), kLine);
}

bool SeenCodes::lie_in_image() const {
  return form_.columns.before == 0 && form_.row_numbers() == form_.columns.input * form_.channels &&
         first_row() >= 0 && first_row() + rows() <= form_.rows.input;
}

const uint8_t* SeenCodes::Find(const uint8_t* image) const {
  if (lie_in_image()) return InImage(image);
  TakeRows(image, static_cast<uint8_t>(form_.zero),
           [&](const uint8_t* codes, int64_t count, int64_t at) { std::copy_n(codes, count, out_ + at); });
  return out_;
}

}  // namespace nnefc::runtime
