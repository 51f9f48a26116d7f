// MVN along rows, and of blocked channels, against the formula in f64: means far larger than the deviation, a
// first element far from the others, squares out of range of f32, rows of any length.

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {

using kernels::Backend;

namespace {

struct RowCase {
  const char* name;
  float mean, spread, first;  // the first element is this number of deviations from the mean
};

std::vector<double> Normalized(const std::vector<float>& row, double eps) {
  double mean = 0, variance = 0;
  for (float x : row) mean += static_cast<double>(x) / static_cast<double>(row.size());
  for (float x : row) {
    const double distance = static_cast<double>(x) - mean;
    variance += distance * distance / static_cast<double>(row.size());
  }
  std::vector<double> out;
  out.reserve(row.size());
  for (float x : row) out.push_back((static_cast<double>(x) - mean) / std::sqrt(variance + eps));
  return out;
}

constexpr RowCase kRowCases[] = {
    {"plain", 0, 1, 0},    {"far", 1000, 1, 0},    {"very far", 1e6F, 1, 0}, {"outlier", 0, 1, 200},
    {"huge", 0, 1e20F, 0}, {"tiny", 0, 1e-20F, 0}, {"small", 3, 1e-4F, 0},   {"huge outlier", 1, 2, 1e6F}};

// Rows of random numbers, and the expected result.
struct Rows {
  std::vector<float> numbers, expected;
  double eps;

  Rows(const RowCase& of, int64_t rows, int64_t terms) : eps(of.spread < 1e-10F ? 1e-45 : 1e-9) {
    std::mt19937 random(static_cast<unsigned>(terms));
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < rows; ++i) {
      std::vector<float> row;
      for (int64_t k = 0; k < terms; ++k)
        row.push_back(of.mean + of.spread * (k == 0 ? of.first : normal(random)));
      for (double x : Normalized(row, eps)) expected.push_back(static_cast<float>(x));
      numbers.insert(numbers.end(), row.begin(), row.end());
    }
  }
};

ir::AttributeMap Normalization(double eps, bool normalizes = true) {
  ir::AttributeMap attributes;
  attributes.Set("eps", eps);
  attributes.Set("normalize_variance", normalizes);
  attributes.Set("eps_mode", "inside_sqrt");
  return attributes;
}

TEST(MomentsTest, RowsAreAsTheFormulaHasThem) {
  for (const RowCase& of : kRowCases) {
    for (const int64_t terms : {1, 5, 16, 17, 31, 32, 96, 100, 768, 4096, 5000, 70001}) {
      SCOPED_TRACE(std::string(of.name) + " " + std::to_string(terms));
      const Rows rows(of, 3, terms);
      TestGraph g;
      g.Result(g.Op("opset6", "MVN", {g.Parameter("x", {3, terms}), g.Ints({1})}, Normalization(rows.eps)));
      const auto made =
          RunGraph(g.graph, {.backend = Backend::kFast}, {TensorValue::FromFloats({3, terms}, rows.numbers)});
      ExpectClose(made[0], TensorValue::FromFloats({3, terms}, rows.expected), 2e-6);
    }
  }
}

// Columns have their own moments, however many terms they have.
TEST(MomentsTest, ColumnsAreAsTheFormulaHasThem) {
  for (const int64_t terms : {5, 4096, 4097, 9000}) {
    const std::vector<TensorValue> x = {RandomTensor({2, terms, 3}, 5)};
    TestGraph g;
    g.Result(g.Op("opset6", "MVN", {g.Parameter("x", {2, terms, 3}), g.Ints({1})}, Normalization(1e-5)));
    const auto expected = RunGraph(g.graph, {.backend = Backend::kReference}, x);
    ExpectClose(RunGraph(g.graph, {.backend = Backend::kFast}, x)[0], expected[0], 1e-5);
  }
}

// Pixels of a channel in blocked images of a convolution: fewer than one block of additions, and more.
TEST(MomentsTest, ChannelsInBlocksAreAsTheFormulaHasThem) {
  for (const RowCase& of : kRowCases) {
    for (const Shape& pixels : {Shape{1, 1}, {3, 5}, {16, 16}, {257, 1}, {40, 33}, {70, 70}}) {
      for (const int64_t channels : {16, 37}) {
        SCOPED_TRACE(std::string(of.name) + " " + ToString(pixels));
        const Rows rows(of, 2 * channels, *Volume(pixels));
        const Shape shape = {2, channels, pixels[0], pixels[1]};
        TestGraph g;
        const auto x = InBlocks(g, g.Parameter("x", shape), channels, 2);
        g.Result(g.Op("opset6", "MVN", {x, g.Ints({2, 3})}, Normalization(rows.eps)));
        for (const int threads : {1, 2}) {
          const auto executable = Compile(g.graph, {.backend = Backend::kFast, .threads = threads});
          const std::string plan = executable->DescribePlan();
          if (fast::simd::HasSimd() && *Volume(pixels) > 1) {
            EXPECT_NE(plan.find("nnefc:channels"), std::string::npos) << plan;
          }
          const auto made = Session::Create(executable)->Run({TensorValue::FromFloats(shape, rows.numbers)});
          ASSERT_TRUE(made.ok());
          ExpectClose((*made)[0], TensorValue::FromFloats(shape, rows.expected), 2e-6);
        }
      }
    }
  }
}

// As for rows: a channel with an infinity or NaN is NaN; other channels are unaffected.
TEST(MomentsTest, SpecialNumbersStayInTheirChannels) {
  const Shape shape = {1, 20, 9, 40};
  for (const bool normalizes : {true, false}) {
    for (const float special : {kInfinity, -kInfinity, kNan}) {
      for (const size_t place : {size_t{0}, size_t{300}}) {
        std::vector<float> numbers;
        numbers.reserve(20 * 360);
        for (int i = 0; i < 20 * 360; ++i) numbers.push_back(static_cast<float>(i % 7));
        numbers[3 * 360 + place] = special;
        TestGraph g;
        const auto x = InBlocks(g, g.Parameter("x", shape), 20, 2);
        g.Result(g.Op("opset6", "MVN", {x, g.Ints({2, 3})}, Normalization(1e-5, normalizes)));
        const std::vector<TensorValue> images = {TensorValue::FromFloats(shape, numbers)};
        const auto expected = RunGraph(g.graph, {.backend = Backend::kReference}, images);
        ExpectNear(RunGraph(g.graph, {.backend = Backend::kFast}, images)[0], expected[0], 1e-5);
      }
    }
  }
}

TEST(MomentsTest, SpecialNumbersSpread) {
  for (const float special : {kInfinity, -kInfinity, kNan}) {
    for (const size_t place : {size_t{0}, size_t{20}}) {
      std::vector<float> row(40, 1.5F);
      row[place] = special;
      TestGraph g;
      g.Result(g.Op("opset6", "MVN", {g.Parameter("x", {1, 40}), g.Ints({1})}, Normalization(1e-5)));
      const auto made =
          RunGraph(g.graph, {.backend = Backend::kFast}, {TensorValue::FromFloats({1, 40}, row)});
      for (int64_t i = 0; i < 40; ++i) EXPECT_TRUE(std::isnan(made[0].ElementAsDouble(i)));
    }
  }
}

// The factor is out of range of f32.
TEST(MomentsTest, DenormalNumbersBecomeWholeOnes) {
  for (const int64_t terms : {40, 9000}) {
    std::vector<float> row;
    for (int64_t i = 0; i < terms; ++i) row.push_back(i % 2 == 0 ? 1e-40F : -1e-40F);
    TestGraph g;
    g.Result(g.Op("opset6", "MVN", {g.Parameter("x", {1, terms}), g.Ints({1})}, Normalization(1e-90)));
    for (const Backend backend : kBackends) {
      const auto made = RunGraph(g.graph, {.backend = backend}, {TensorValue::FromFloats({1, terms}, row)});
      for (int64_t i = 0; i < terms; ++i) EXPECT_NEAR(made[0].ElementAsDouble(i), i % 2 == 0 ? 1 : -1, 1e-5);
    }
  }
}

// x - mean: with an infinite mean, finite numbers become infinite too.
TEST(MomentsTest, AnInfiniteMeanTakesFiniteNumbersWithIt) {
  for (const int64_t terms : {5, 40, 9000}) {
    for (const size_t place : {size_t{0}, size_t{3}}) {
      std::vector<float> row(static_cast<size_t>(terms), 1.5F);
      row[place] = kInfinity;
      TestGraph g;
      g.Result(
          g.Op("opset6", "MVN", {g.Parameter("x", {1, terms}), g.Ints({1})}, Normalization(1e-5, false)));
      for (const Backend backend : kBackends) {
        const auto made = RunGraph(g.graph, {.backend = backend}, {TensorValue::FromFloats({1, terms}, row)});
        for (int64_t i = 0; i < terms; ++i) {
          const double found = made[0].ElementAsDouble(i);
          EXPECT_TRUE(i == static_cast<int64_t>(place) ? std::isnan(found) : found == -HUGE_VAL) << found;
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
