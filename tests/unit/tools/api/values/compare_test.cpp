#include "tools/api/values/compare.h"

#include <limits>

#include "gtest/gtest.h"

namespace nnefc::api {
namespace {

using package::NamedTensor;

NamedTensor Floats(const std::string& name, const std::vector<float>& items) {
  return {name, TensorValue::FromFloats({static_cast<int64_t>(items.size())}, items)};
}

Comparison CompareItems(const std::vector<float>& actual, const std::vector<float>& expected,
                        const Tolerance& tolerance) {
  return Compare(Floats("y", actual), {Floats("y", expected)}, tolerance);
}

// max|a-b| / max|b|, with 1 as the largest element.
TEST(CompareTest, BoundsTheLargestDifference) {
  EXPECT_TRUE(CompareItems({1, 0.5F}, {1, 0.5F}, {.word = "exact"}).within);
  EXPECT_FALSE(CompareItems({1, 0.5F}, {1, 0.50000006F}, {.word = "exact"}).within);
  EXPECT_TRUE(CompareItems({1, 0.5F}, {1, 0.5000005F}, {.word = "close"}).within);
  EXPECT_FALSE(CompareItems({1, 0.5F}, {1, 0.500002F}, {.word = "close"}).within);
  EXPECT_TRUE(CompareItems({1, 0.5F}, {1, 0.50009F}, {.word = "approximate"}).within);
  EXPECT_FALSE(CompareItems({1, 0.5F}, {1, 0.5002F}, {.word = "approximate"}).within);
  EXPECT_TRUE(CompareItems({1, 0.5F}, {1, 0.509F}, {.word = "very"}).within);
  EXPECT_FALSE(CompareItems({1, 0.5F}, {1, 0.511F}, {.word = "very"}).within);
}

// |a-b| <= absolute + relative * |b|, at the bound itself and above it. All numbers are exact in f32.
TEST(CompareTest, BoundsEachElement) {
  EXPECT_TRUE(CompareItems({2.25F}, {2}, {.absolute = 0.25}).within);
  EXPECT_FALSE(CompareItems({2.25F}, {2}, {.absolute = 0.125}).within);
  EXPECT_TRUE(CompareItems({2.25F}, {2}, {.relative = 0.125}).within);
  EXPECT_FALSE(CompareItems({2.25F}, {2}, {.relative = 0.0625}).within);
  EXPECT_TRUE(CompareItems({2.25F}, {2}, {.absolute = 0.125, .relative = 0.0625}).within);
  EXPECT_FALSE(CompareItems({2.25F}, {2}, {.absolute = 0.0625, .relative = 0.0625}).within);
}

// NaN and infinities are within a tolerance only of themselves.
TEST(CompareTest, BoundsElementsThatAreNotFinite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float values[] = {kNan, kInfinity, -kInfinity, 1};
  for (size_t a = 0; a < std::size(values); ++a) {
    for (size_t b = 0; b < std::size(values); ++b) {
      for (const Tolerance& tolerance : {Tolerance{.absolute = 1e30}, Tolerance{.relative = 1e30}}) {
        EXPECT_EQ(CompareItems({0, values[a]}, {0, values[b]}, tolerance).within, a == b) << a << " " << b;
        EXPECT_EQ(CompareItems({0, values[a]}, {0, values[b]}, {.word = "very"}).within, a == b)
            << a << " " << b;
      }
    }
  }
}

TEST(CompareTest, ComparesIndicesOfTheHighestElements) {
  const Tolerance indices{.top = 2, .bounds_values = false};
  EXPECT_TRUE(CompareItems({5, 9, 1}, {50, 40, 2}, indices).within);
  EXPECT_FALSE(CompareItems({5, 9, 1}, {50, 1, 40}, indices).within);
  EXPECT_FALSE(CompareItems({5, 9, 1}, {50, 40, 2}, {.top = 2}).within);
}

TEST(CompareTest, ReportsShapesNamesAndElementsThatAreNotNumbers) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(CompareItems({kNan, 1}, {kNan, 1}, {}).within);
  const Comparison nan = CompareItems({kNan, 1}, {0, 1}, {});
  EXPECT_FALSE(nan.within);
  EXPECT_NE(nan.text.find("NaN where a number is expected: 1 element, the first at [0]"), std::string::npos)
      << nan.text;
  EXPECT_EQ(CompareItems({1, 2}, {1}, {}).text, "y: shape [2], expected [1]\n");
  const Comparison unnamed = Compare(Floats("y", {1}), {Floats("z", {1})}, {});
  EXPECT_FALSE(unnamed.within);
  EXPECT_EQ(unnamed.text, "y: no tensor of this name to compare with\n");
}

}  // namespace
}  // namespace nnefc::api
