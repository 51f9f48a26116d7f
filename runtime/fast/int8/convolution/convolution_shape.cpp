// Shapes of int8 convolutions of NHWC images: the offsets of filter taps in the im2col buffer (rows of
// row_numbers() values, borders included), the partition of the result into tasks, and the conversion of
// quantized values to i16 or f32.

#include "runtime/fast/int8/convolution/convolution_shape.h"

#include <algorithm>
#include <type_traits>

#include "runtime/fast/gemm/row_partitions.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::int8 {

using tensor::CeilDivide;

void Int8ConvolutionShape::MergePixelsIntoColumn() {
  const auto is_pixel = [](const kernels::WindowAxis& axis) {
    return axis.size == 1 && axis.stride == 1 && axis.before == 0 && axis.input == axis.output;
  };
  if (!is_pixel(rows) || !is_pixel(columns)) return;
  rows.input = rows.output = rows.input * columns.input;
  columns = kernels::WindowAxis{};
}

simd::IndexRange Int8ConvolutionShape::InputColumns() const {
  const int64_t seen = row_numbers() / padded_channels;
  const int64_t begin = std::clamp<int64_t>(columns.before, 0, seen);
  return {begin, std::clamp(columns.before + columns.input, begin, seen)};
}

// Joins the taps of a filter row to one strip unless they are dilated.
TapStrips TapStrips::Of(const Int8ConvolutionShape& form) {
  const kernels::WindowAxis &rows = form.rows, &columns = form.columns;
  const int64_t together = columns.dilation == 1 ? columns.size : 1;
  TapStrips strips{.places = {}, .length = together * form.padded_channels};
  for (int64_t row = 0; row < rows.size; ++row) {
    for (int64_t column = 0; column < columns.size; column += together)
      strips.places.push_back(static_cast<int32_t>(row * rows.dilation * form.row_numbers() +
                                                   column * columns.dilation * form.padded_channels));
  }
  return strips;
}

// Partitions rows so that the input and the result of a part fit into limits.bytes, then rows and tiles
// further until there are enough tasks for all threads.
Int8Grid Int8Grid::Of(const Int8ConvolutionShape& form, const Limits& limits) {
  constexpr int64_t kMinPixels = 24;  // minimum pixels per weight load from a remote cache
  const auto number_bytes = static_cast<int64_t>(limits.number_bytes);
  const int64_t bytes_of_row =
      form.rows.stride * form.row_numbers() * number_bytes + form.columns.output * limits.result_bytes;
  const int64_t least_rows = CeilDivide(kMinPixels, form.columns.output);
  const int64_t rows = std::max(limits.bytes / std::max<int64_t>(bytes_of_row, 1), least_rows);
  Int8Grid grid{.row_parts = CeilDivide(form.rows.output, rows), .tile_parts = 1};
  const int64_t wanted = tensor::kTasksPerThread * form.threads;
  if (form.threads == 1 || form.images * grid.row_parts >= wanted) return grid;
  // Each part widens its receptive field, so the same rows should be in few parts.
  const int64_t most_parts = form.rows.output / least_rows, parts = CeilDivide(wanted, form.images);
  const auto cut_rows = [&](int64_t more) {
    grid.row_parts = std::max(grid.row_parts, std::min(more, most_parts));
  };
  if (!limits.cuts_rows_first) {
    cut_rows(parts);
    grid.tile_parts =
        std::min(CeilDivide(form.outputs, simd::kBlockColumns), CeilDivide(parts, grid.row_parts));
    return grid;
  }
  cut_rows(tensor::RoundUp(grid.row_parts, gemm::RowPartitionsFor(form.out_pixels(), form.threads)));
  const int64_t tiles = CeilDivide(form.outputs, simd::kBlockColumns * simd::BlocksPerTile());
  grid.tile_parts = std::min(tiles, CeilDivide(parts, grid.row_parts));
  cut_rows(CeilDivide(parts, grid.tile_parts));  // few column tiles
  return grid;
}

Int8Grid::Part Int8Grid::PartOf(const Int8ConvolutionShape& form, int64_t tiles, int64_t task) const {
  const int64_t rows = task / tile_parts;
  return {.image = rows / row_parts,
          .rows = simd::IndexRange{0, form.rows.output}.Part(row_parts, rows % row_parts),
          .tiles = simd::IndexRange{0, tiles}.Part(tile_parts, task % tile_parts)};
}

int64_t Int8Grid::ThreadValues(const Int8ConvolutionShape& form) const {
  constexpr int64_t kLine = 32;  // elements
  const int64_t numbers = form.InputRowsFor(CeilDivide(form.rows.output, row_parts)) * form.row_numbers() + 1;
  return tensor::RoundUp(numbers, kLine) + kLine;
}

std::vector<int32_t> Int8Grid::FirstTapOffsets(const Int8ConvolutionShape& form) const {
  std::vector<int32_t> seen;
  for (int64_t row = 0; row < CeilDivide(form.rows.output, row_parts); ++row) {
    for (int64_t column = 0; column < form.columns.output; ++column)
      seen.push_back(static_cast<int32_t>(row * form.rows.stride * form.row_numbers() +
                                          column * form.columns.stride * form.padded_channels));
  }
  return seen;
}

template <typename Number>
void WidenedPart<Number>::Widen(simd::WidenedValues<Number> codes) const {
  codes.zero = form_.zero;
  if constexpr (std::is_same_v<Number, float>) {
    simd::WidenToFloats(codes);
  } else {
    simd::WidenToInt16(codes);
  }
}

// Writes the receptive field of the part's rows: values minus the zero point, and 0 in borders and padded
// channels.
template <typename Number>
void WidenedPart<Number>::Fill(const uint8_t* image, int64_t channel, const int32_t* zeros) const {
  const int64_t first = gemm::InputPosition(form_.rows, rows_.begin, 0);
  const int64_t size = form_.columns.input * form_.channels, count = form_.InputRowsFor(rows_.count());
  // Rows read in place are consecutive.
  const bool is_whole = form_.padded_channels == form_.channels && form_.columns.before == 0;
  if (zeros == nullptr && is_whole && form_.row_numbers() == size && first >= 0 &&
      first + count <= form_.rows.input)
    return Widen({.codes = image + first * size, .count = count * size, .zero = 0, .out = numbers_});
  const int64_t channels = std::min(form_.channels - channel, form_.padded_channels);
  for (int64_t row = 0; row < count; ++row) {
    Number* out = numbers_ + row * form_.row_numbers();
    const int64_t from = first + row;
    if (from < 0 || from >= form_.rows.input) {
      std::fill_n(out, form_.row_numbers(), Number{0});
    } else {
      FillRow(image + from * size + channel, channels, zeros, out);
    }
  }
}

template <typename Number>
void WidenedPart<Number>::FillRow(const uint8_t* row, int64_t channels, const int32_t* zeros,
                                  Number* out) const {
  const int64_t padded = form_.padded_channels;
  const auto [begin, end] = form_.InputColumns();
  std::fill_n(out, begin * padded, Number{0});
  std::fill(out + end * padded, out + form_.row_numbers(), Number{0});
  const uint8_t* from = row + (begin - form_.columns.before) * form_.channels;
  Number* to = out + begin * padded;
  if (zeros == nullptr && padded == form_.channels)
    return Widen({.codes = from, .count = (end - begin) * padded, .zero = 0, .out = to});
  Widen({.codes = from,
         .count = channels,
         .zero = 0,
         .zeros = zeros,
         .out = to,
         .rows = end - begin,
         .stride = form_.channels,
         .out_stride = padded});
  for (int64_t pixel = begin; channels < padded && pixel < end; ++pixel) {
    for (int64_t i = channels; i < padded; ++i) out[pixel * padded + i] = 0;
  }
}

template class WidenedPart<int16_t>;
template class WidenedPart<float>;

}  // namespace nnefc::runtime::fast::int8
