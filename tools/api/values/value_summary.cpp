// Summaries of tensors for the terminal.

#include "tools/api/values/value_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fmt/format.h"
#include "tools/api/values/element_index.h"

namespace nnefc::api {
namespace {

constexpr int64_t kMaxRows = 8;  // rows whose highest elements are printed

// NaN is printed without a sign.
std::string NumberText(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value);
}

}  // namespace

int64_t RowsOf(const TensorValue& value) {
  return value.rank() < 2 || value.volume() == 0 ? 1 : value.shape().front();
}

std::string IndexInRow(int64_t position, const TensorValue& value) {
  const llvm::ArrayRef<int64_t> extents = value.shape();
  return ElementIndex(extents.drop_front(extents.size() < 2 ? 0 : 1), position);
}

std::string IndexText(int64_t position, const TensorValue& value) {
  return ElementIndex(value.shape(), position);
}

std::vector<int64_t> HighestOfRow(const TensorValue& value, int64_t row, int64_t count) {
  const int64_t length = value.volume() / RowsOf(value);
  std::vector<double> items(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i)
    items[static_cast<size_t>(i)] = value.ElementAsDouble(row * length + i);
  std::vector<int64_t> order(items.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  count = std::min(count, length);
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](int64_t a, int64_t b) {
    const double left = items[static_cast<size_t>(a)];
    const double right = items[static_cast<size_t>(b)];
    if (std::isnan(left) != std::isnan(right)) return std::isnan(right);
    return left > right || (!(left < right) && a < b);
  });
  order.resize(static_cast<size_t>(count));
  return order;
}

ValueSummary Summarize(const TensorValue& value) {
  ValueSummary summary{.count = value.volume()};
  if (summary.count == 0) return summary;
  summary.lowest = std::numeric_limits<double>::infinity();
  summary.highest = -summary.lowest;
  double sum = 0;
  for (int64_t i = 0; i < summary.count; ++i) {
    const double item = value.ElementAsDouble(i);
    summary.not_finite += std::isfinite(item) ? 0 : 1;
    summary.lowest = std::isnan(item) || item < summary.lowest ? item : summary.lowest;
    summary.highest = std::isnan(item) || item > summary.highest ? item : summary.highest;
    sum += item;
  }
  summary.mean = sum / static_cast<double>(summary.count);
  return summary;
}

std::string ToText(const ValueSummary& summary) {
  if (summary.count == 0) return "empty";
  if (summary.count == 1) return NumberText(summary.mean);
  std::string text = fmt::format("min {}, mean {}, max {}", NumberText(summary.lowest),
                                 NumberText(summary.mean), NumberText(summary.highest));
  if (summary.not_finite > 0) text += fmt::format(", {} not finite", summary.not_finite);
  return text;
}

std::string HighestText(const TensorValue& value) {
  if (value.volume() < 2) return "";
  const int64_t rows = RowsOf(value);
  const int64_t length = value.volume() / rows;
  std::string text = rows == 1 ? "; top" : "";
  for (int64_t row = 0; row < std::min(rows, kMaxRows) && length > 1; ++row) {
    if (rows > 1) text += fmt::format("\n  row {}: top", row);
    for (int64_t at : HighestOfRow(value, row, kTopValues))
      text +=
          fmt::format(" {} {}", IndexInRow(at, value), NumberText(value.ElementAsDouble(row * length + at)));
  }
  if (rows > kMaxRows && length > 1) text += fmt::format("\n  .. and {} more rows", rows - kMaxRows);
  return text;
}

}  // namespace nnefc::api
