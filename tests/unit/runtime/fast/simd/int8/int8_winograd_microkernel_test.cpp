// Winograd convolutions of quantized images by 3x3 filters against sums over all taps in integers: they are
// equal, even where intermediate sums exceed 32 bits.

#include "runtime/fast/simd/int8/int8_winograd_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

constexpr int64_t kInt8Taps = kWinogradTaps, kInt8Extent = kWinogradExtent, kInt8Results = kWinogradResults;

// An image of 6x7 pixels that a filter sees with a border of one, two tiles next to one another.
class CodeWinogradTileTest : public SimdTest {
 protected:
  static constexpr int64_t kRows = 6, kColumns = 7, kChannels = 48, kTiles = 2;

  void DrawNumbers(int min_code, int max_code, int min_tap, int max_tap) {
    image_ = Draw<uint8_t>(kRows * kColumns * kChannels, min_code, max_code);
    taps_ = Draw<int8_t>(kInt8Taps * kInt8Taps * kChannels * kBlockColumns, min_tap, max_tap);
  }

  int64_t Expected(int64_t row, int64_t column, int64_t output) const {
    int64_t sum = 0;
    for (int64_t i = 0; i < kInt8Taps * kInt8Taps * kChannels; ++i) {
      const int64_t channel = i % kChannels, tap = i / kChannels;
      const int64_t y = row + tap / kInt8Taps - 1, x = column + tap % kInt8Taps - 1;
      const bool sees = y >= 0 && y < kRows && x >= 0 && x < kColumns;
      const int64_t code = sees ? image_[(y * kColumns + x) * kChannels + channel] : border_;
      sum += (code - kMidpoint) * TapOf(tap, channel, output);
    }
    return sum;
  }

  // As the tiles have them: pairs of channels for each output.
  int8_t TapOf(int64_t tap, int64_t channel, int64_t output) const {
    const int64_t pair = tap * kChannels / 2 + channel / 2;
    return taps_[(pair * kBlockColumns + output) * 2 + channel % 2];
  }

  GuardedArray<int32_t> Products() const {
    constexpr int64_t kProducts = kInt8Extent * kInt8Extent;
    GuardedArray<int16_t> numbers = Array<int16_t>(kProducts * kTiles * kChannels);
    for (int64_t tile = 0; tile < kTiles; ++tile) {
      Of(TransformInt8Image)({.image = image_.data(),
                              .rows = kRows,
                              .columns = kColumns,
                              .channels = kChannels,
                              .row = -1,
                              .column = tile * kInt8Results - 1,
                              .border = border_,
                              .out = numbers.data() + tile * kChannels,
                              .stride = kTiles * kChannels});
    }
    GuardedArray<int32_t> products = Array<int32_t>(kProducts * kTiles * kBlockColumns);
    GuardedArray<int16_t> filter = Array<int16_t>(kInt8Extent * kChannels * kBlockColumns);
    const std::vector<int32_t> seen = {0, kChannels}, strips = {0};
    for (int64_t product = 0; product < kProducts; ++product) {
      Of(TransformInt8Filter)({.taps = taps_.data(),
                               .tap_stride = kChannels * kBlockColumns,
                               .pairs = kChannels / 2,
                               .row = product / kInt8Extent,
                               .out = filter.data(),
                               .stride = kChannels * kBlockColumns});
      Of(RunInt16Dot2Microkernel)(
          kTiles, {.numbers = numbers.data() + product * kTiles * kChannels,
                   .seen = seen.data(),
                   .strips = strips.data(),
                   .strip_count = 1,
                   .pairs = kChannels / 2,
                   .weights = filter.data() + product % kInt8Extent * kChannels * kBlockColumns,
                   .sums = products.data() + product * kTiles * kBlockColumns});
    }
    return products;
  }

  void Check() {
    for (int border : {0, 1, 128, 255}) {
      border_ = border;
      const GuardedArray<int32_t> products = Products();
      GuardedArray<int32_t> sums = Array<int32_t>(kInt8Results * kTiles * kInt8Results * kBlockColumns);
      GuardedArray<int32_t> offsets = Array<int32_t>(kBlockColumns);
      for (int64_t output = 0; output < kBlockColumns; ++output)
        offsets[output] = 1000 * static_cast<int32_t>(output) - 7000;
      Of(TransformInt8Sums)({.products = products.data(),
                             .stride = kTiles * kBlockColumns,
                             .count = kTiles,
                             .offsets = offsets.data(),
                             .out = sums.data(),
                             .row_stride = kTiles * kInt8Results * kBlockColumns});
      for (int64_t at = 0; at < sums.size(); ++at) {
        const int64_t output = at % kBlockColumns, column = at / kBlockColumns % (kTiles * kInt8Results);
        const int64_t row = at / kBlockColumns / (kTiles * kInt8Results);
        if (column >= kColumns) continue;
        ASSERT_EQ(sums[at], Expected(row, column, output) + offsets[output])
            << "border " << border << ": " << row << ", " << column << ", " << output;
      }
    }
  }

  int border_ = 0;
  GuardedArray<uint8_t> image_ = Array<uint8_t>(0);
  GuardedArray<int8_t> taps_ = Array<int8_t>(0);
};

TEST_P(CodeWinogradTileTest, SumsAreThoseOfTheDefinition) {
  DrawNumbers(0, 255, -128, 127);
  Check();
}

// Numbers and products are the farthest from 0 that there are, and sums of products exceed 32 bits.
TEST_P(CodeWinogradTileTest, SumsOfTheFarthestCodes) {
  for (int code : {0, 255}) {
    for (int tap : {-128, 127}) {
      DrawNumbers(code, code, tap, tap);
      Check();
    }
  }
}

// As the matrices weigh them: codes with alternating signs have the farthest transformed numbers.
TEST_P(CodeWinogradTileTest, SumsOfAlternatingCodes) {
  DrawNumbers(0, 0, 0, 0);
  for (int64_t i = 0; i < image_.size(); ++i) {
    const int64_t pixel = i / kChannels;
    image_[i] = (pixel / kColumns + pixel % kColumns) % 2 == 0 ? 255 : 0;
  }
  for (int64_t i = 0; i < taps_.size(); ++i) taps_[i] = i % 2 == 0 ? 127 : -128;
  Check();
}

// The transforms of tiles at each position of an image, which may be partly outside of it, are those of a
// copy of the image with its border: B^T d B of numbers less the middle code.
TEST_P(CodeWinogradTileTest, TilesAtEachPosition) {
  constexpr int kMatrix[kInt8Extent][kInt8Extent] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0},
                                                     {0, 4, -4, -1, 1, 0}, {0, -2, -1, 2, 1, 0},
                                                     {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
  DrawNumbers(0, 255, 0, 0);
  constexpr int kBorder = 9;
  const int64_t stride = kChannels + 3;
  for (int64_t row = -6; row <= kRows; ++row) {
    for (int64_t column = -6; column <= kColumns; ++column) {
      GuardedArray<int16_t> out = Array<int16_t>((kWinogradProducts - 1) * stride + kChannels, 7777);
      Of(TransformInt8Image)({.image = image_.data(),
                              .rows = kRows,
                              .columns = kColumns,
                              .channels = kChannels,
                              .row = row,
                              .column = column,
                              .border = kBorder,
                              .out = out.data(),
                              .stride = stride});
      for (int64_t at = 0; at < out.size(); ++at) {
        const int64_t channel = at % stride, product = at / stride;
        int expected = 7777;
        if (channel < kChannels) {
          expected = 0;
          for (int64_t i = 0; i < kWinogradProducts; ++i) {
            const int64_t y = row + i / kInt8Extent, x = column + i % kInt8Extent;
            const bool sees = y >= 0 && y < kRows && x >= 0 && x < kColumns;
            const int code = sees ? image_[(y * kColumns + x) * kChannels + channel] : kBorder;
            expected += kMatrix[product / kInt8Extent][i / kInt8Extent] *
                        kMatrix[product % kInt8Extent][i % kInt8Extent] * (code - kMidpoint);
          }
        }
        ASSERT_EQ(out[at], expected) << row << ", " << column << ": product " << product << ", channel "
                                     << channel;
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(CodeWinogradTileTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
