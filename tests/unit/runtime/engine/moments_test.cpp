// MVN along rows, against the formula in f64: means that are far from the numbers' spread, a first number
// that is far from the others, squares that leave the range of f32, rows of any length.

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime {
namespace {

struct RowCase {
  std::string name;
  float mean, spread, first;  // the first number lies so many spreads off
};

std::vector<double> Normalized(const std::vector<float>& row, double eps) {
  double mean = 0, variance = 0;
  for (float x : row) mean += static_cast<double>(x) / static_cast<double>(row.size());
  for (float x : row) {
    const double distance = static_cast<double>(x) - mean;
    variance += distance * distance / static_cast<double>(row.size());
  }
  std::vector<double> out;
  for (float x : row) out.push_back((static_cast<double>(x) - mean) / std::sqrt(variance + eps));
  return out;
}

TEST(MomentsTest, RowsAreAsTheFormulaHasThem) {
  const RowCase cases[] = {{"plain", 0, 1, 0},     {"far", 1000, 1, 0},         {"very far", 1e6F, 1, 0},
                           {"outlier", 0, 1, 200}, {"huge", 0, 1e20F, 0},       {"tiny", 0, 1e-20F, 0},
                           {"small", 3, 1e-4F, 0}, {"huge outlier", 1, 2, 1e6F}};
  for (const RowCase& of : cases) {
    for (const int64_t terms : {1, 5, 16, 17, 31, 32, 96, 100, 768, 4096, 5000}) {
      SCOPED_TRACE(of.name + " " + std::to_string(terms));
      const double eps = of.spread < 1e-10F ? 1e-45 : 1e-9;
      std::mt19937 random(static_cast<unsigned>(terms));
      std::normal_distribution<float> normal;
      std::vector<float> numbers, expected;
      constexpr int64_t kRows = 3;
      for (int64_t i = 0; i < kRows; ++i) {
        std::vector<float> row;
        for (int64_t k = 0; k < terms; ++k)
          row.push_back(of.mean + of.spread * (k == 0 ? of.first : normal(random)));
        for (double x : Normalized(row, eps)) expected.push_back(static_cast<float>(x));
        numbers.insert(numbers.end(), row.begin(), row.end());
      }
      TestGraph g;
      ir::AttributeMap attributes;
      attributes.Set("eps", eps);
      attributes.Set("normalize_variance", true);
      attributes.Set("eps_mode", "inside_sqrt");
      const auto x = g.Parameter("x", {kRows, terms});
      g.Result(g.Op("opset6", "MVN", {x, g.Ints({1})}, attributes));
      const auto made = RunGraph(g.graph, {.backend = Backend::kOneDnn},
                                 {TensorValue::FromFloats({kRows, terms}, numbers)});
      ExpectClose(made[0], TensorValue::FromFloats({kRows, terms}, expected), 2e-6);
    }
  }
}

TEST(MomentsTest, SpecialNumbersSpread) {
  for (const float special : {kInfinity, -kInfinity, kNan}) {
    for (const size_t place : {size_t{0}, size_t{20}}) {
      std::vector<float> row(40, 1.5F);
      row[place] = special;
      TestGraph g;
      ir::AttributeMap attributes;
      attributes.Set("eps", 1e-5);
      attributes.Set("normalize_variance", true);
      attributes.Set("eps_mode", "inside_sqrt");
      g.Result(g.Op("opset6", "MVN", {g.Parameter("x", {1, 40}), g.Ints({1})}, attributes));
      const auto made =
          RunGraph(g.graph, {.backend = Backend::kOneDnn}, {TensorValue::FromFloats({1, 40}, row)});
      for (int64_t i = 0; i < 40; ++i) EXPECT_TRUE(std::isnan(made[0].ElementAsDouble(i)));
    }
  }
}

// x - mean: of numbers whose mean is infinite what is finite is infinite, too.
TEST(MomentsTest, AnInfiniteMeanTakesFiniteNumbersWithIt) {
  for (const int64_t terms : {5, 40}) {
    for (const size_t place : {size_t{0}, size_t{3}}) {
      std::vector<float> row(static_cast<size_t>(terms), 1.5F);
      row[place] = kInfinity;
      TestGraph g;
      ir::AttributeMap attributes;
      attributes.Set("eps", 1e-5);
      attributes.Set("normalize_variance", false);
      attributes.Set("eps_mode", "inside_sqrt");
      g.Result(g.Op("opset6", "MVN", {g.Parameter("x", {1, terms}), g.Ints({1})}, attributes));
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
}  // namespace nnefc::runtime
