// Quantized images as microkernels read them against loops over pixels, taps and channels.

#include "runtime/fast/int8/convolution/convolution_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "runtime/fast/int8/convolution/im2col_buffer.h"

namespace nnefc::runtime::fast::int8 {

using kernels::WindowAxis;

namespace {

std::vector<uint8_t> RandomValues(int64_t count) {
  std::mt19937 random(5);
  std::vector<uint8_t> codes(static_cast<size_t>(count));
  for (uint8_t& code : codes) code = static_cast<uint8_t>(random());
  return codes;
}

std::vector<WindowAxis> WindowAxes() {
  return {{.input = 5, .output = 5},
          {.input = 5, .output = 3, .size = 3},
          {.input = 5, .output = 5, .size = 3, .before = 1},
          {.input = 6, .output = 3, .size = 2, .stride = 2},
          {.input = 5, .output = 3, .size = 3, .stride = 2, .before = 1},
          {.input = 5, .output = 5, .size = 3, .dilation = 2, .before = 2},
          {.input = 7, .output = 2, .size = 1, .stride = 4},
          {.input = 2, .output = 6, .size = 3, .before = 3}};
}

// Each pair of axes, channels with and without zeros after them.
std::vector<Int8ConvolutionShape> Int8Shapes() {
  std::vector<Int8ConvolutionShape> forms;
  for (const WindowAxis& rows : WindowAxes()) {
    for (const WindowAxis& columns : WindowAxes()) {
      for (int64_t padded : {3, 4, 2})
        forms.push_back({.images = 1,
                         .channels = 3,
                         .outputs = 16,
                         .padded_channels = padded,
                         .rows = rows,
                         .columns = columns,
                         .zero = 131,
                         .threads = 1});
    }
  }
  return forms;
}

// The code less its zero, or nothing's: 0 in the border.
int NumberAt(const Int8ConvolutionShape& form, const std::vector<uint8_t>& image, int64_t row, int64_t column,
             int64_t channel) {
  if (row < 0 || row >= form.rows.input || column < 0 || column >= form.columns.input) return 0;
  return image[static_cast<size_t>((row * form.columns.input + column) * form.channels + channel)] -
         form.zero;
}

// Checks each number that a window sees by a tap, at the offsets of its pixel and strip.
template <typename Number>
void CheckPart(const Int8ConvolutionShape& form, const simd::IndexRange& rows, int64_t first_channel) {
  const std::vector<uint8_t> image = RandomValues(form.in_size());
  // The largest part has as many rows or more.
  const Int8Grid grid{.row_parts = form.rows.output / rows.count(), .tile_parts = 1};
  const auto size = static_cast<size_t>(form.InputRowsFor(rows.count()) * form.row_numbers());
  std::vector<Number> numbers(size + 64, 7777);
  const WidenedPart<Number> part(form, rows, numbers.data());
  part.Fill(image.data(), first_channel);
  EXPECT_EQ(part.pixels(), rows.count() * form.columns.output);
  EXPECT_EQ(part.first_pixel(), rows.begin * form.columns.output);
  for (size_t i = size; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], 7777);
  ASSERT_GE(grid.ThreadValues(form), static_cast<int64_t>(size) + 1);
  const std::vector<int32_t> seen = grid.FirstTapOffsets(form);
  ASSERT_GE(static_cast<int64_t>(seen.size()), part.pixels());
  const TapStrips strips = TapStrips::Of(form);
  const int64_t together = form.columns.dilation == 1 ? form.columns.size : 1;
  ASSERT_EQ(strips.length, together * form.padded_channels);
  ASSERT_EQ(strips.pairs(), (strips.length + 1) / 2);
  ASSERT_EQ(strips.quads(), (strips.length + 3) / 4);
  ASSERT_EQ(static_cast<int64_t>(strips.places.size()), form.rows.size * form.columns.size / together);
  const int64_t taps = form.rows.size * form.columns.size;
  for (int64_t i = 0; i < part.pixels() * taps * form.padded_channels; ++i) {
    const int64_t channel = i % form.padded_channels, tap = i / form.padded_channels % taps;
    const int64_t pixel = i / form.padded_channels / taps;
    const int64_t row = rows.begin + pixel / form.columns.output, column = pixel % form.columns.output;
    const int64_t in_row =
        row * form.rows.stride - form.rows.before + tap / form.columns.size * form.rows.dilation;
    const int64_t in_column =
        column * form.columns.stride - form.columns.before + tap % form.columns.size * form.columns.dilation;
    const int64_t strip = tap / together, place = tap % together * form.padded_channels + channel;
    const auto at = static_cast<size_t>(seen[static_cast<size_t>(pixel)] +
                                        strips.places[static_cast<size_t>(strip)] + place);
    const bool is_channel = first_channel + channel < form.channels;
    const int expected = is_channel ? NumberAt(form, image, in_row, in_column, first_channel + channel) : 0;
    ASSERT_LT(at, size);
    ASSERT_EQ(numbers[at], expected) << "pixel " << pixel << ", tap " << tap << ", channel " << channel;
  }
}

TEST(Int8ConvolutionShapeTest, PartsOfImages) {
  for (const Int8ConvolutionShape& form : Int8Shapes()) {
    for (int64_t begin = 0; begin < form.rows.output; ++begin) {
      for (int64_t end : {begin + 1, form.rows.output}) {
        CheckPart<int16_t>(form, {begin, end}, 0);
        CheckPart<float>(form, {begin, end}, 0);
        if (form.padded_channels == 2) CheckPart<float>(form, {begin, end}, 2);
      }
    }
  }
}

TEST(Int8ConvolutionShapeTest, ExtentsOfForms) {
  const Int8ConvolutionShape form{
      .images = 2,
      .channels = 3,
      .outputs = 16,
      .padded_channels = 4,
      .rows = {.input = 9, .output = 4, .size = 3, .stride = 2, .dilation = 2, .before = 1},
      .columns = {.input = 7, .output = 3, .size = 2, .stride = 3, .before = 1},
      .zero = 0,
      .threads = 1};
  EXPECT_EQ(form.in_size(), 9 * 7 * 3);
  EXPECT_EQ(form.out_pixels(), 12);
  EXPECT_EQ(form.row_numbers(), (2 * 3 + 2) * 4);
  EXPECT_EQ(form.InputRowsFor(1), 5);
  EXPECT_EQ(form.InputRowsFor(3), 9);
  EXPECT_EQ(form.InputColumns().begin, 1);
  EXPECT_EQ(form.InputColumns().end, 8);
}

TEST(Int8ConvolutionShapeTest, PixelsInAColumn) {
  Int8ConvolutionShape form{.images = 1,
                            .channels = 4,
                            .outputs = 16,
                            .padded_channels = 4,
                            .rows = {.input = 5, .output = 5},
                            .columns = {.input = 7, .output = 7},
                            .zero = 0,
                            .threads = 1};
  Int8ConvolutionShape column = form;
  column.MergePixelsIntoColumn();
  EXPECT_EQ(column.rows.input, 35);
  EXPECT_EQ(column.rows.output, 35);
  EXPECT_EQ(column.columns.input, 1);
  EXPECT_EQ(column.columns.output, 1);
  for (auto change : {+[](WindowAxis& axis) { axis.size = 2; }, +[](WindowAxis& axis) { axis.stride = 2; },
                      +[](WindowAxis& axis) { axis.before = 1; }, +[](WindowAxis& axis) { ++axis.input; }}) {
    for (bool is_row : {false, true}) {
      Int8ConvolutionShape changed = form;
      change(is_row ? changed.rows : changed.columns);
      const int64_t rows = changed.rows.input, columns = changed.columns.input;
      changed.MergePixelsIntoColumn();
      EXPECT_EQ(changed.rows.input, rows);
      EXPECT_EQ(changed.columns.input, columns);
    }
  }
}

// Parts cover the rows, need no more memory than allowed if a part of 24 pixels does, and are enough for all
// threads.
TEST(Int8ConvolutionShapeTest, PartsForThreads) {
  for (int threads : {1, 2, 8}) {
    for (int64_t images : {1, 3, 40}) {
      for (int64_t outputs : {5, 16, 300}) {
        for (int64_t rows : {1, 7, 200}) {
          for (int64_t bytes : {1000, 100000}) {
            for (bool cuts_rows_first : {false, true}) {
              const Int8ConvolutionShape form{.images = images,
                                              .channels = 4,
                                              .outputs = outputs,
                                              .padded_channels = 4,
                                              .rows = {.input = rows, .output = rows},
                                              .columns = {.input = 5, .output = 5},
                                              .zero = 0,
                                              .threads = threads};
              const Int8Grid grid =
                  Int8Grid::Of(form, {.bytes = bytes, .number_bytes = 2, .cuts_rows_first = cuts_rows_first});
              const std::string name = std::to_string(threads) + " threads, " + std::to_string(images) +
                                       " images, " + std::to_string(outputs) + " outputs, " +
                                       std::to_string(rows) + " rows";
              EXPECT_GE(grid.row_parts, 1) << name;
              EXPECT_LE(grid.row_parts, rows) << name;
              EXPECT_GE(grid.tile_parts, 1) << name;
              EXPECT_LE(grid.tile_parts, (outputs + 15) / 16) << name;
              constexpr int64_t kMinRows = 5;  // of 24 pixels
              const int64_t part_rows = (rows + grid.row_parts - 1) / grid.row_parts;
              EXPECT_LE(part_rows, std::max(bytes / (5 * 4 * 2), kMinRows)) << name;
              if (threads == 1) {
                EXPECT_EQ(grid.tile_parts, 1) << name;
              }
              // Four tasks for each thread, unless parts are as small as they may be.
              const int64_t tiles = (outputs + 15) / 16;
              const bool is_smallest =
                  grid.row_parts >= rows / kMinRows && grid.tile_parts >= tiles / simd::BlocksPerTile();
              if (threads > 1 && !is_smallest) {
                EXPECT_GE(images * grid.row_parts * grid.tile_parts, 4 * threads) << name;
              }
            }
          }
        }
      }
    }
  }
}

// Codes that windows see, in the image where it has them so, or copied with their border.
TEST(Im2colBufferTest, RowsOfCodes) {
  for (const Int8ConvolutionShape& form : Int8Shapes()) {
    if (form.padded_channels != form.channels) continue;
    const std::vector<uint8_t> image = RandomValues(form.in_size());
    for (int64_t begin = 0; begin < form.rows.output; ++begin) {
      for (int64_t end : {begin + 1, form.rows.output}) {
        const int64_t after = form.channels % 4;  // bytes that readers may load
        const int64_t bytes = Im2colBuffer::Bytes(form, end - begin, after), row_codes = form.row_numbers();
        EXPECT_EQ(bytes % 64, 0);
        ASSERT_GE(bytes, form.InputRowsFor(end - begin) * row_codes + after);
        EXPECT_LT(bytes, form.InputRowsFor(end - begin) * row_codes + after + 64);
        std::vector<uint8_t> out(static_cast<size_t>(bytes), 77);
        const Im2colBuffer seen(form, {begin, end}, out.data(), after);
        const uint8_t* const found = seen.Find(image.data(), form.zero);
        EXPECT_EQ(found != out.data(), seen.lie_in_image());
        bool is_inside = true;
        for (int64_t i = 0; i < seen.rows() * row_codes; ++i) {
          const int64_t row = begin * form.rows.stride - form.rows.before + i / row_codes;
          const int64_t column = i % row_codes / form.channels - form.columns.before;
          ASSERT_EQ(found[i], NumberAt(form, image, row, column, i % form.channels) + form.zero) << i;
          is_inside &= row >= 0 && row < form.rows.input && column >= 0 && column < form.columns.input;
        }
        const bool has_whole_rows = row_codes == form.columns.input * form.channels;
        const int64_t last = (begin * form.rows.stride - form.rows.before + seen.rows()) * row_codes;
        EXPECT_EQ(seen.lie_in_image(), is_inside && has_whole_rows && last + after <= form.in_size());
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8
