// Arithmetic of extents, compared with every pair of values of small intervals.

#include "compiler/ir/interval.h"

#include <cmath>
#include <functional>
#include <vector>

#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

constexpr int64_t kMax = Dim::kUnbounded;
constexpr int64_t kLarge =
    100;  // in place of any extent of an unbounded interval that is larger than the others

std::vector<Dim> SmallDims() {
  std::vector<Dim> dims;
  for (int64_t low = 0; low < 4; ++low) {
    for (int64_t high = low; high < 5; ++high) dims.emplace_back(low, high);
    dims.emplace_back(low, kMax);
  }
  return dims;
}

std::vector<int64_t> ValuesOf(Dim dim) {
  std::vector<int64_t> values;
  for (int64_t value = dim.min; value <= std::min<int64_t>(dim.max, 8); ++value) values.push_back(value);
  if (dim.max == kMax) values.push_back(kLarge);
  return values;
}

// Returns the smallest interval that contains the results for all pairs of values; nothing if there is none.
std::optional<Dim> Hull(Dim a, Dim b,
                        const std::function<std::optional<int64_t>(int64_t, int64_t)>& function) {
  std::optional<Dim> hull;
  for (const int64_t x : ValuesOf(a)) {
    for (const int64_t y : ValuesOf(b)) {
      const std::optional<int64_t> value = function(x, y);
      if (!value) continue;
      if (!hull) hull = Dim(*value);
      *hull = Dim(std::min(hull->min, *value), std::max(hull->max, *value));
    }
  }
  if (hull && hull->max >= kLarge) hull->max = kMax;
  return hull;
}

std::string Text(std::optional<Dim> dim) {
  return dim ? ToString(PartialShape{*dim}) : "none";
}

TEST(IntervalTest, OperationsContainTheResultsOfAllValues) {
  for (const Dim a : SmallDims()) {
    for (const Dim b : SmallDims()) {
      const std::string pair = Text(a) + " " + Text(b);
      EXPECT_EQ(Text(Add(a, b)), Text(Hull(a, b, [](int64_t x, int64_t y) { return x + y; }))) << pair;
      EXPECT_EQ(Text(Multiply(a, b)), Text(Hull(a, b, [](int64_t x, int64_t y) { return x * y; }))) << pair;
      const auto same = [](int64_t x, int64_t y) { return x == y ? std::optional(x) : std::nullopt; };
      EXPECT_EQ(Text(Merge(a, b)), Text(Hull(a, b, same))) << pair;
      const auto broadcast = [&](int64_t x, int64_t y) {
        return x == 1 ? std::optional(y) : y == 1 ? std::optional(x) : same(x, y);
      };
      EXPECT_EQ(Text(BroadcastDim(a, b)), Text(Hull(a, b, broadcast))) << pair;
    }
  }
}

TEST(IntervalTest, DivisionsRoundDownOrUp) {
  for (int64_t a = -9; a <= 9; ++a) {
    for (int64_t b = 1; b <= 4; ++b) {
      const double exact = static_cast<double>(a) / static_cast<double>(b);
      EXPECT_EQ(static_cast<double>(static_cast<int64_t>(FloorDiv(a, b))), std::floor(exact))
          << a << " / " << b;
      EXPECT_EQ(static_cast<double>(static_cast<int64_t>(CeilDiv(a, b))), std::ceil(exact))
          << a << " / " << b;
    }
  }
}

// Extents are 0 to kUnbounded - 1. Too large a lower end is an error; too large an upper end is unbounded.
TEST(IntervalTest, LargeExtents) {
  EXPECT_EQ(NarrowExtent(-1), std::nullopt);
  EXPECT_EQ(NarrowExtent(0), 0);
  EXPECT_EQ(NarrowExtent(Wide{kMax} - 1), kMax - 1);
  EXPECT_EQ(NarrowExtent(kMax), std::nullopt);
  EXPECT_EQ(NarrowExtent(Wide{kMax} + 1), std::nullopt);
  EXPECT_EQ(NarrowExtent(Wide{kMax} * kMax), std::nullopt);
  EXPECT_EQ(Add(Dim(kMax - 3), Dim(2)), Dim(kMax - 1));
  EXPECT_EQ(Add(Dim(kMax - 3), Dim(3)), std::nullopt);
  EXPECT_EQ(Add(Dim(kMax - 3), Dim(2, 3)), Dim(kMax - 1, kMax));
  EXPECT_EQ(Add(Dim(1, kMax - 3), Dim(2)), Dim(3, kMax - 1));
  EXPECT_EQ(Add(Dim(1, kMax - 3), Dim(3)), Dim(4, kMax));
  EXPECT_EQ(Multiply(Dim(kMax / 2), Dim(2)), Dim(kMax - 1));
  EXPECT_EQ(Multiply(Dim(kMax / 2), Dim(3)), std::nullopt);
  EXPECT_EQ(Multiply(Dim(kMax - 1), Dim(1)), Dim(kMax - 1));
  EXPECT_EQ(Multiply(Dim(0), Dim()), Dim(0));
  EXPECT_EQ(Multiply(Dim(), Dim(0)), Dim(0));
}

TEST(IntervalTest, MapsEnds) {
  const auto half = [](Wide x) { return x / 2; };
  const auto less = [](Wide x) { return x - 3; };
  const auto twice = [](Wide x) { return x * 2; };
  EXPECT_EQ(MapDim(Dim(5), half), Dim(2));
  EXPECT_EQ(MapDim(Dim(2, 5), half), Dim(1, 2));
  EXPECT_EQ(MapDim(Dim(2, kMax), half), Dim(1, kMax));
  EXPECT_EQ(MapDim(Dim(3), less), Dim(0));
  EXPECT_EQ(MapDim(Dim(2), less), std::nullopt);
  EXPECT_EQ(MapDim(Dim(2, 5), less), std::nullopt);
  EXPECT_EQ(MapDim(Dim(3, kMax), less), Dim(0, kMax));
  EXPECT_EQ(MapDim(Dim(1, kMax / 2), twice), Dim(2, kMax - 1));
  EXPECT_EQ(MapDim(Dim(1, kMax / 2 + 1), twice), Dim(2, kMax));
  EXPECT_EQ(MapDim(Dim(kMax / 2 + 1), twice), std::nullopt);
  EXPECT_EQ(MapDim(Dim(kMax / 2 + 1, kMax - 1), twice), std::nullopt);
}

TEST(IntervalTest, MergesShapes) {
  const auto merge = [](const char* a, const char* b) {
    const std::optional<PartialShape> merged = Merge(*ParsePartialShape(a), *ParsePartialShape(b));
    return merged ? ToString(*merged) : "none";
  };
  EXPECT_EQ(merge("[...]", "[1,?]"), "[1,?]");
  EXPECT_EQ(merge("[1,?]", "[...]"), "[1,?]");
  EXPECT_EQ(merge("[...]", "[...]"), "[...]");
  EXPECT_EQ(merge("[]", "[]"), "[]");
  EXPECT_EQ(merge("[1]", "[1,1]"), "none");
  EXPECT_EQ(merge("[1,1]", "[1]"), "none");
  EXPECT_EQ(merge("[?,2..5,3]", "[4,4..9,?]"), "[4,4..5,3]");
  EXPECT_EQ(merge("[1,2]", "[1,3]"), "none");
  EXPECT_EQ(merge("[1,2]", "[2,2]"), "none");
}

TEST(IntervalTest, BroadcastsShapes) {
  const auto broadcast = [](const char* a, const char* b, Alignment alignment) {
    const BroadcastResult result = BroadcastShapes(*ParsePartialShape(a), *ParsePartialShape(b), alignment);
    return result.mismatch ? "axis " + std::to_string(*result.mismatch) : ToString(result.shape);
  };
  const auto first = [&](const char* a, const char* b) { return broadcast(a, b, Alignment::kFirst); };
  const auto last = [&](const char* a, const char* b) { return broadcast(a, b, Alignment::kLast); };
  for (const auto& both : {std::function<std::string(const char*, const char*)>(first),
                           std::function<std::string(const char*, const char*)>(last)}) {
    EXPECT_EQ(both("[...]", "[2]"), "[...]");
    EXPECT_EQ(both("[2]", "[...]"), "[...]");
    EXPECT_EQ(both("[]", "[2,?]"), "[2,?]");
    EXPECT_EQ(both("[2,?]", "[]"), "[2,?]");
    EXPECT_EQ(both("[2,1,1]", "[1,3,1]"), "[2,3,1]");
    EXPECT_EQ(both("[2,3]", "[2,4]"), "axis 1");
    EXPECT_EQ(both("[3,4]", "[2,4]"), "axis 0");
  }
  EXPECT_EQ(first("[2,1,4]", "[2]"), "[2,1,4]");
  EXPECT_EQ(first("[1,3]", "[2,1,4]"), "[2,3,4]");
  EXPECT_EQ(first("[2,3]", "[2,4,5]"), "axis 1");
  EXPECT_EQ(first("[2,3]", "[3]"), "axis 0");
  EXPECT_EQ(last("[2,1,4]", "[4]"), "[2,1,4]");
  EXPECT_EQ(last("[1,3]", "[2,4,1]"), "[2,4,3]");
  EXPECT_EQ(last("[2,3]", "[4,5,3]"), "axis 1");
  EXPECT_EQ(last("[2,3]", "[2]"), "axis 1");
}

}  // namespace
}  // namespace nnefc::ir
