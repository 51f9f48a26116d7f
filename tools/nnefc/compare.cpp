#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/api/difference.h"
#include "tools/nnefc/execution.h"

namespace nnefc::cli {
namespace {

constexpr size_t kTopValues = 5;

double Bound(const std::string& tolerance) {
  if (tolerance == "close") return 1e-6;
  if (tolerance == "approximate") return 1e-4;
  if (tolerance == "very") return 1e-2;
  return 0;
}

// "[0,3,1]"
std::string IndexText(int64_t position, const Shape& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = position % shape[axis];
    position /= shape[axis];
  }
  return fmt::format("[{}]", fmt::join(index, ","));
}

// The element that differs most, as text; a NaN on one side is worst.
std::string WorstElement(const TensorValue& actual, const TensorValue& expected) {
  double largest = -1;
  int64_t worst = 0;
  for (int64_t i = 0; i < actual.volume(); ++i) {
    const double a = actual.ElementAsDouble(i);
    const double b = expected.ElementAsDouble(i);
    double difference = a == b || (std::isnan(a) && std::isnan(b)) ? 0 : std::abs(a - b);
    if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
    if (difference <= largest) continue;
    largest = difference;
    worst = i;
  }
  return fmt::format("{} is {:.6g}, expected {:.6g}", IndexText(worst, actual.shape()),
                     actual.ElementAsDouble(worst), expected.ElementAsDouble(worst));
}

Comparison CompareOne(const std::string& name, const TensorValue& actual, const TensorValue& expected,
                      const std::string& tolerance) {
  Comparison result{.name = name};
  if (actual.shape() != expected.shape()) {
    result.text = fmt::format("{}: shape {}, expected {}\n", name, ToString(actual.shape()),
                              ToString(expected.shape()));
    return result;
  }
  result.difference = api::RelativeDifference(actual, expected);
  if (tolerance == "exact") {
    result.within = actual == expected;
    result.text =
        fmt::format("{}: {}\n", name, result.within ? "equal bit for bit" : "not equal bit for bit");
    if (!result.within)
      result.text += fmt::format("{}: max|a-b| / max|b| = {:.3g}\n", name, *result.difference);
  } else {
    result.within = *result.difference <= Bound(tolerance);
    result.text = fmt::format("{}: max|a-b| / max|b| = {:.3g}, {} {}\n", name, *result.difference,
                              result.within ? "within" : "above", Bound(tolerance));
  }
  if (!result.within && actual.volume() > 0)
    result.text += fmt::format("{}: {}\n", name, WorstElement(actual, expected));
  return result;
}

}  // namespace

std::vector<Comparison> Compare(const std::vector<runtime::Port>& ports,
                                const std::vector<TensorValue>& outputs,
                                const std::vector<NamedTensor>& expected, const std::string& tolerance) {
  std::vector<Comparison> comparisons;
  for (size_t i = 0; i < ports.size(); ++i) {
    auto found =
        llvm::find_if(expected, [&](const NamedTensor& tensor) { return tensor.name == ports[i].name; });
    if (found == expected.end()) {
      comparisons.push_back(
          {.name = ports[i].name,
           .text = fmt::format("{}: no tensor of this name to compare with\n", ports[i].name)});
      continue;
    }
    comparisons.push_back(CompareOne(ports[i].name, outputs[i], found->value, tolerance));
  }
  for (const NamedTensor& tensor : expected) {
    if (llvm::any_of(ports, [&](const runtime::Port& port) { return port.name == tensor.name; })) continue;
    comparisons.push_back({.name = tensor.name,
                           .within = true,
                           .text = fmt::format("{}: no output of this name; not compared\n", tensor.name)});
  }
  return comparisons;
}

ValueSummary Summarize(const TensorValue& value) {
  ValueSummary summary{.count = value.volume()};
  if (summary.count == 0) return summary;
  std::vector<double> items(static_cast<size_t>(value.volume()));
  for (size_t i = 0; i < items.size(); ++i) items[i] = value.ElementAsDouble(static_cast<int64_t>(i));
  summary.not_finite = llvm::count_if(items, [](double item) { return !std::isfinite(item); });
  const auto [lowest, highest] = std::minmax_element(items.begin(), items.end());
  summary.lowest = *lowest;
  summary.highest = *highest;
  summary.mean = std::accumulate(items.begin(), items.end(), 0.0) / static_cast<double>(items.size());
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t count = std::min(kTopValues, items.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                    [&](size_t a, size_t b) {
                      // NaN goes last, so that the order stays one.
                      if (std::isnan(items[a]) || std::isnan(items[b]))
                        return !std::isnan(items[a]) && std::isnan(items[b]);
                      return items[a] > items[b] || (items[a] == items[b] && a < b);
                    });
  for (size_t i = 0; i < count; ++i)
    summary.top.emplace_back(static_cast<int64_t>(order[i]), items[order[i]]);
  return summary;
}

std::string ToText(const ValueSummary& summary) {
  if (summary.count == 0) return "empty";
  if (summary.count == 1) return fmt::format("{:.6g}", summary.top.front().second);
  std::string text =
      fmt::format("min {:.6g}, mean {:.6g}, max {:.6g}", summary.lowest, summary.mean, summary.highest);
  if (summary.not_finite > 0) text += fmt::format(", {} not finite", summary.not_finite);
  text += "; top";
  for (const auto& [index, item] : summary.top) text += fmt::format(" [{}] {:.6g}", index, item);
  return text;
}

}  // namespace nnefc::cli
