// Scores of quantized queries and keys, against sums of integers, in memory of exact size.

#include "runtime/fast/attention/quantized_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "runtime/fast/processor.h"
#include "tests/unit/runtime/fast/simd/guarded_array.h"

namespace nnefc::runtime::fast::attention {
namespace {

using Operand = ir::ops::QuantizedOperands::Operand;

// Rows of numbers, with more elements after each row, and their quantized values.
struct QuantizedRows {
  int64_t rows, width;
  std::vector<float> numbers;
  std::vector<int64_t> codes;

  QuantizedRows(int64_t row_count, int64_t row_width, const Operand& by, unsigned seed)
      : rows(row_count), width(row_width) {
    std::mt19937 random(seed);
    for (int64_t i = 0; i < rows * stride(); ++i) {
      // Some numbers are outside the range of the values.
      const int64_t drawn = static_cast<int64_t>(random() % 270) - 7;
      numbers.push_back(by.scale * static_cast<float>(drawn - by.zero));
      codes.push_back(std::clamp<int64_t>(drawn, 0, 255));
    }
  }
  int64_t stride() const { return width + 3; }
  int64_t Code(int64_t row, int64_t i) const { return codes[static_cast<size_t>(row * stride() + i)]; }
  simd::StridedRows Floats() const { return {numbers.data(), stride(), rows, width}; }
};

struct ScoreSizes {
  int64_t queries, keys, width;
};

void ExpectScores(const ScoreSizes& sizes, const ir::ops::QuantizedOperands& operands) {
  constexpr float kScale = 0.25F;
  constexpr int64_t kBlock = 16;
  SCOPED_TRACE(testing::Message() << sizes.queries << " queries, " << sizes.keys << " keys of " << sizes.width
                                  << ", zero points " << operands.left.zero << ", " << operands.right.zero);
  const QuantizedRows queries(sizes.queries, sizes.width, operands.left, 1);
  const QuantizedRows keys(sizes.keys, sizes.width, operands.right, 2);
  const QuantizedScores scores(operands, sizes.width);
  using simd::GuardedArray;
  using simd::GuardedEdge;
  GuardedArray<std::byte> of_keys(scores.KeyBytes(sizes.keys), GuardedEdge::kEnd, std::byte{0x5A});
  GuardedArray<std::byte> of_queries(scores.QueryBytes(sizes.queries), GuardedEdge::kEnd, std::byte{0x5A});
  const int64_t blocks = (sizes.keys + kBlock - 1) / kBlock;
  GuardedArray<float> out(blocks * sizes.queries * kBlock, GuardedEdge::kEnd, -1.0F);
  scores.PackKeys(keys.Floats(), of_keys.data());
  scores.PackQueries(queries.Floats(), of_queries.data());
  scores.Multiply(of_queries.data(), sizes.queries, of_keys.data(), sizes.keys, kScale,
                  {out.data(), kBlock, sizes.queries * kBlock});
  const float factor = kScale * operands.left.scale * operands.right.scale;
  for (int64_t query = 0; query < sizes.queries; ++query) {
    for (int64_t key = 0; key < sizes.keys; ++key) {
      // Without the term of the zero point of the keys, which is equal for all keys of a query.
      int64_t sum = 0;
      for (int64_t i = 0; i < sizes.width; ++i)
        sum += (queries.Code(query, i) - operands.left.zero) * (keys.Code(key, i) - 128);
      ASSERT_EQ(out[(key / kBlock * sizes.queries + query) * kBlock + key % kBlock],
                factor * static_cast<float>(sum))
          << "query " << query << ", key " << key;
    }
  }
}

TEST(QuantizedScoresTest, QueriesAndKeys) {
  if (!HasVnni()) GTEST_SKIP() << "the kernel needs VNNI";
  for (const int64_t queries : {1, 5, 8, 9, 31}) {
    for (const int64_t keys : {1, 15, 16, 17, 33, 64, 65, 130}) {
      for (const int64_t width : {1, 4, 6, 31})
        ExpectScores({queries, keys, width},
                     {.left = {.scale = 0.5F, .zero = 77}, .right = {.scale = 0.25F, .zero = 128}});
    }
  }
}

TEST(QuantizedScoresTest, ZeroPoints) {
  if (!HasVnni()) GTEST_SKIP() << "the kernel needs VNNI";
  for (const int of_queries : {0, 1, 128, 255}) {
    for (const int of_keys : {0, 127, 128, 255})
      ExpectScores({7, 20, 13},
                   {.left = {.scale = 0.5F, .zero = of_queries}, .right = {.scale = 2, .zero = of_keys}});
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::attention
