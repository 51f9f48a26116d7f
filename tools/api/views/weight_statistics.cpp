// Statistics of weights.

#include "tools/api/views/weight_statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;

// Returns the number of values in each bin; see WeightStatistics::Examine.
std::vector<int64_t> CountBins(const std::vector<double>& values, double lowest, double highest) {
  std::vector<int64_t> bins(static_cast<size_t>(WeightStatistics::kBins));
  const auto count = static_cast<double>(WeightStatistics::kBins);
  // The range of doubles does not fit a double.
  const double scale = std::isfinite(highest - lowest) ? 1.0 : 0.5;
  const double begin = scale * lowest;
  const double step = (scale * highest - begin) / count;
  for (const double value : values) {
    const double scaled = scale * value;
    auto bin = static_cast<int64_t>(std::clamp(std::floor((scaled - begin) / step), 0.0, count - 1));
    // The division rounds.
    if (bin > 0 && scaled < begin + step * static_cast<double>(bin)) --bin;
    if (bin + 1 < WeightStatistics::kBins && scaled >= begin + step * static_cast<double>(bin + 1)) ++bin;
    ++bins[static_cast<size_t>(bin)];
  }
  return bins;
}

}  // namespace

Json WeightStatistics::Examine(const TensorValue& tensor) {
  const bool is_number = IsFloat(tensor.type()) || IsInteger(tensor.type()) ||
                         tensor.type() == ElementType::kBoolean || IsNarrowFloat(tensor.type());
  const int64_t count = tensor.volume();
  const int64_t examined = std::min(count, kMaxElements);
  if (!is_number || examined > remaining_) return nullptr;
  remaining_ -= examined;
  const TensorValue loaded = tensor.Loaded();
  std::vector<double> values;
  values.reserve(static_cast<size_t>(examined));
  int64_t zeros = 0;
  int64_t not_finite = 0;
  const int64_t num_blocks = count > examined ? examined / kBlock : 1;
  const int64_t length = count > examined ? kBlock : count;
  for (int64_t block = 0; block < num_blocks; ++block) {
    // The blocks are spread from the first element to the last, up to rounding.
    const int64_t begin = num_blocks == 1 ? 0 : (count - length) / (num_blocks - 1) * block;
    for (int64_t i = begin; i < begin + length; ++i) {
      const double value = loaded.ElementAsDouble(i);
      zeros += value == 0 ? 1 : 0;
      if (std::isfinite(value))
        values.push_back(value);
      else
        ++not_finite;
    }
  }
  Json json = {{"count", count}, {"examined", examined}, {"not_finite", not_finite}, {"zeros", zeros}};
  if (values.empty()) return json;
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  // The squares of large doubles fit a long double.
  long double sum = 0;
  for (const double value : values) sum += value;
  const long double mean = sum / static_cast<long double>(values.size());
  long double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  json["min"] = *lowest;
  json["max"] = *highest;
  json["mean"] = static_cast<double>(mean);
  json["deviation"] = static_cast<double>(std::sqrt(squares / static_cast<long double>(values.size())));
  if (*lowest < *highest) json["bins"] = CountBins(values, *lowest, *highest);
  return json;
}

}  // namespace nnefc::api
