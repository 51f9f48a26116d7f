// Convolutions of codes by 3x3 filters in fewer multiplications, against sums over all taps in integers: they
// are equal, whatever sums of products are modulo 2^32 on the way.

#include "runtime/fast/lanes/code_winograd_tile.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nnefc::runtime {
namespace {

constexpr int64_t kTaps = kWinogradTaps, kExtent = kWinogradExtent, kResults = kWinogradResults;

// An image of 6x7 pixels that a filter sees with a border of one, two tiles beside one another.
class CodeWinogradTileTest : public ::testing::TestWithParam<int> {
 protected:
  static constexpr int64_t kRows = 6, kColumns = 7, kChannels = 48, kTiles = 2;

  void SetUp() override {
    if (!HasLanes()) GTEST_SKIP() << "for AVX2";
    image_.resize(kRows * kColumns * kChannels);
    taps_.resize(kTaps * kTaps * kChannels * kBlockColumns);
  }

  void Draw(int least_code, int most_code, int least_tap, int most_tap) {
    std::mt19937 random(11);
    std::uniform_int_distribution<int> codes(least_code, most_code), taps(least_tap, most_tap);
    for (uint8_t& code : image_) code = static_cast<uint8_t>(codes(random));
    for (int8_t& tap : taps_) tap = static_cast<int8_t>(taps(random));
  }

  int64_t Expected(int64_t row, int64_t column, int64_t output) const {
    int64_t sum = 0;
    for (int64_t i = 0; i < kTaps * kTaps * kChannels; ++i) {
      const int64_t channel = i % kChannels, tap = i / kChannels;
      const int64_t y = row + tap / kTaps - 1, x = column + tap % kTaps - 1;
      const bool sees = y >= 0 && y < kRows && x >= 0 && x < kColumns;
      const int64_t code =
          sees ? image_[static_cast<size_t>((y * kColumns + x) * kChannels + channel)] : GetParam();
      sum += (code - kMiddleCode) * TapOf(tap, channel, output);
    }
    return sum;
  }

  // As the tiles have them: pairs of channels for each output.
  int8_t TapOf(int64_t tap, int64_t channel, int64_t output) const {
    const int64_t pair = tap * kChannels / 2 + channel / 2;
    return taps_[static_cast<size_t>((pair * kBlockColumns + output) * 2 + channel % 2)];
  }

  std::vector<int32_t> Products() const {
    constexpr int64_t kProducts = kExtent * kExtent;
    std::vector<int16_t> numbers(kProducts * kTiles * kChannels);
    for (int64_t tile = 0; tile < kTiles; ++tile) {
      TransformCodedImage({.image = image_.data(),
                           .rows = kRows,
                           .columns = kColumns,
                           .channels = kChannels,
                           .row = -1,
                           .column = tile * kResults - 1,
                           .border = GetParam(),
                           .out = numbers.data() + tile * kChannels,
                           .stride = kTiles * kChannels});
    }
    std::vector<int32_t> products(kProducts * kTiles * kBlockColumns);
    std::vector<int16_t> filter(kExtent * kChannels * kBlockColumns);
    const std::vector<int32_t> seen = {0, kChannels}, strips = {0};
    for (int64_t product = 0; product < kProducts; ++product) {
      TransformCodedFilter({.taps = taps_.data(),
                            .tap_stride = kChannels * kBlockColumns,
                            .pairs = kChannels / 2,
                            .row = product / kExtent,
                            .out = filter.data(),
                            .stride = kChannels * kBlockColumns});
      RunNumberTile(kTiles, {.numbers = numbers.data() + product * kTiles * kChannels,
                             .seen = seen.data(),
                             .strips = strips.data(),
                             .strip_count = 1,
                             .pairs = kChannels / 2,
                             .weights = filter.data() + product % kExtent * kChannels * kBlockColumns,
                             .sums = products.data() + product * kTiles * kBlockColumns});
    }
    return products;
  }

  void Check() const {
    const std::vector<int32_t> products = Products();
    std::vector<int32_t> sums(kResults * kTiles * kResults * kBlockColumns), offsets(kBlockColumns);
    for (size_t output = 0; output < offsets.size(); ++output)
      offsets[output] = 1000 * static_cast<int32_t>(output) - 7000;
    TransformCodedSums({.products = products.data(),
                        .stride = kTiles * kBlockColumns,
                        .count = kTiles,
                        .offsets = offsets.data(),
                        .out = sums.data(),
                        .row_stride = kTiles * kResults * kBlockColumns});
    for (int64_t at = 0; at < static_cast<int64_t>(sums.size()); ++at) {
      const int64_t output = at % kBlockColumns, column = at / kBlockColumns % (kTiles * kResults);
      const int64_t row = at / kBlockColumns / (kTiles * kResults);
      if (column >= kColumns) continue;
      ASSERT_EQ(sums[static_cast<size_t>(at)],
                Expected(row, column, output) + offsets[static_cast<size_t>(output)])
          << row << ", " << column << ", " << output;
    }
  }

  std::vector<uint8_t> image_;
  std::vector<int8_t> taps_;
};

TEST_P(CodeWinogradTileTest, SumsAreThoseOfTheDirectWay) {
  Draw(0, 255, -128, 127);
  Check();
}

// Numbers and products are the farthest from 0 that there are, and sums of products leave 32 bits.
TEST_P(CodeWinogradTileTest, SumsOfTheFarthestCodes) {
  for (int code : {0, 255}) {
    for (int tap : {-128, 127}) {
      Draw(code, code, tap, tap);
      Check();
    }
  }
}

// As the matrices weigh them: codes with alternating signs give the farthest transformed numbers.
TEST_P(CodeWinogradTileTest, SumsOfAlternatingCodes) {
  for (int64_t i = 0; i < kRows * kColumns * kChannels; ++i) {
    const int64_t pixel = i / kChannels, place = pixel / kColumns + pixel % kColumns;
    image_[static_cast<size_t>(i)] = place % 2 == 0 ? 255 : 0;
  }
  for (size_t i = 0; i < taps_.size(); ++i) taps_[i] = i % 2 == 0 ? 127 : -128;
  Check();
}

INSTANTIATE_TEST_SUITE_P(Borders, CodeWinogradTileTest, ::testing::Values(0, 1, 128, 255));

}  // namespace
}  // namespace nnefc::runtime
