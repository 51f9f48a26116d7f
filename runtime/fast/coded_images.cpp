#include "runtime/fast/coded_images.h"

#include <algorithm>
#include <type_traits>

#include "runtime/fast/lanes/code_tile.h"
#include "runtime/fast/window_tiles.h"

namespace nnefc::runtime {

CodedGrid CodedGrid::Of(const CodedForm& form, int64_t tiles, int64_t number_bytes, int64_t result_bytes) {
  constexpr int64_t kLeastPixels = 24;  // for which weights come from a far cache once
  // What a part reads and, some channels at a time, writes.
  const int64_t of_row = form.rows.stride * form.row_numbers() * number_bytes +
                         form.columns.output * form.outputs * result_bytes;
  const int64_t bytes = CacheFloats() * int64_t{sizeof(float)};
  const int64_t rows =
      std::max(bytes / std::max<int64_t>(of_row, 1), DividedUp(kLeastPixels, form.columns.output));
  CodedGrid grid{.row_parts = DividedUp(form.rows.output, rows), .tile_parts = 1};
  const int64_t wanted = 4 * form.threads;  // tasks
  if (form.threads == 1 || form.images * grid.row_parts >= wanted) return grid;
  const int64_t more = DividedUp(wanted, form.images * grid.row_parts);
  const int64_t least_rows = DividedUp(kLeastPixels, form.columns.output);
  if (form.rows.output / (grid.row_parts * more) >= least_rows) {
    grid.row_parts *= more;
  } else {
    grid.tile_parts = std::min(tiles, more);
  }
  return grid;
}

int64_t CodedGrid::ScratchNumbers(const CodedForm& form) const {
  return form.RowsSeenBy(DividedUp(form.rows.output, row_parts)) * form.row_numbers() + 1;
}

std::vector<int32_t> CodedGrid::SeenBy(const CodedForm& form) const {
  std::vector<int32_t> seen;
  for (int64_t row = 0; row < DividedUp(form.rows.output, row_parts); ++row) {
    for (int64_t column = 0; column < form.columns.output; ++column)
      seen.push_back(static_cast<int32_t>(row * form.rows.stride * form.row_numbers() +
                                          column * form.columns.stride * form.padded_channels));
  }
  return seen;
}

template <typename Number>
void CodedPart<Number>::Widen(const uint8_t* codes, int64_t count, Number* out) const {
  if constexpr (std::is_same_v<Number, float>) {
    WidenCodesToFloats({codes, count, form_.zero, out});
  } else {
    WidenCodes({codes, count, form_.zero, out});
  }
}

template <typename Number>
void CodedPart<Number>::Fill(const uint8_t* image) const {
  const int64_t first = rows_.begin * form_.rows.stride - form_.rows.before;
  const int64_t size = form_.columns.input * form_.channels, count = form_.RowsSeenBy(rows_.count());
  // Rows that windows see as they are lie behind one another.
  if (form_.row_numbers() == size && form_.columns.before == 0 && first >= 0 &&
      first + count <= form_.rows.input)
    return Widen(image + first * size, count * size, numbers_);
  for (int64_t row = 0; row < count; ++row) {
    Number* out = numbers_ + row * form_.row_numbers();
    const int64_t from = first + row;
    if (from < 0 || from >= form_.rows.input) {
      std::fill_n(out, form_.row_numbers(), Number{0});
    } else {
      FillRow(image + from * size, out);
    }
  }
}

template <typename Number>
void CodedPart<Number>::FillRow(const uint8_t* row, Number* out) const {
  const int64_t padded = form_.padded_channels, before = form_.columns.before;
  const int64_t seen = form_.row_numbers() / padded;  // pixels
  const int64_t begin = std::clamp<int64_t>(before, 0, seen);
  const int64_t end = std::clamp(before + form_.columns.input, begin, seen);
  std::fill_n(out, begin * padded, Number{0});
  std::fill(out + end * padded, out + seen * padded, Number{0});
  const uint8_t* from = row + (begin - before) * form_.channels;
  if (padded == form_.channels) return Widen(from, (end - begin) * padded, out + begin * padded);
  for (int64_t pixel = begin; pixel < end; ++pixel, from += form_.channels) {
    Number* to = out + pixel * padded;
    Widen(from, form_.channels, to);
    for (int64_t i = form_.channels; i < padded; ++i) to[i] = 0;
  }
}

template class CodedPart<int16_t>;
template class CodedPart<float>;

}  // namespace nnefc::runtime
