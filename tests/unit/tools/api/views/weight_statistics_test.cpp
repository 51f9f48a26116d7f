// The histogram of weight statistics: bins include their lower bounds, the last one its upper bound as well.

#include "tools/api/views/weight_statistics.h"

#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "gtest/gtest.h"

namespace nnefc::api {
namespace {

TEST(WeightStatisticsTest, BinsIncludeTheirLowerBounds) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> bounds(-1, 1);
  for (int i = 0; i < 200; ++i) {
    const double low = bounds(random), high = low + std::abs(bounds(random)) + 0.01;
    const double step = (high - low) / static_cast<double>(WeightStatistics::kBins);
    const auto count = static_cast<int64_t>(WeightStatistics::kBins);
    const TensorValue tensor =
        TensorValue::Make<double>(ElementType::kF64, {count + 1}, [&](std::span<double> values) {
          for (int64_t bin = 0; bin < count; ++bin)
            values[static_cast<size_t>(bin)] = low + step * static_cast<double>(bin);
          values.back() = high;
        });
    WeightStatistics statistics;
    const nlohmann::ordered_json json = statistics.Examine(tensor);
    std::vector<int64_t> expected(static_cast<size_t>(count), 1);
    expected.back() = 2;
    EXPECT_EQ(json["bins"].get<std::vector<int64_t>>(), expected) << low << " to " << high;
  }
}

}  // namespace
}  // namespace nnefc::api
