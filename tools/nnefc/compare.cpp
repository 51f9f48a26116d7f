#include <algorithm>
#include <cmath>
#include <numeric>

#include "fmt/format.h"
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

bool CompareOne(const std::string& name, const TensorValue& actual, const TensorValue& expected,
                const std::string& tolerance) {
  if (actual.shape() != expected.shape()) {
    fmt::print("{}: shape {}, expected {}\n", name, ToString(actual.shape()), ToString(expected.shape()));
    return false;
  }
  if (tolerance == "exact") {
    bool equal = actual == expected;
    fmt::print("{}: {}\n", name, equal ? "equal bit for bit" : "not equal bit for bit");
    if (!equal)
      fmt::print("{}: max|a-b| / max|b| = {:.3g}\n", name, api::RelativeDifference(actual, expected));
    return equal;
  }
  double difference = api::RelativeDifference(actual, expected);
  bool within = difference <= Bound(tolerance);
  fmt::print("{}: max|a-b| / max|b| = {:.3g}, {} {}\n", name, difference, within ? "within" : "above",
             Bound(tolerance));
  return within;
}

}  // namespace

bool Compare(const std::vector<runtime::Port>& ports, const std::vector<TensorValue>& outputs,
             const std::vector<NamedTensor>& expected, const std::string& tolerance) {
  bool all = true;
  for (size_t i = 0; i < ports.size(); ++i) {
    auto found =
        llvm::find_if(expected, [&](const NamedTensor& tensor) { return tensor.name == ports[i].name; });
    if (found == expected.end()) {
      fmt::print("{}: no tensor of this name to compare with\n", ports[i].name);
      all = false;
      continue;
    }
    all = CompareOne(ports[i].name, outputs[i], found->value, tolerance) && all;
  }
  return all;
}

std::string Summary(const TensorValue& value) {
  if (value.volume() == 0) return "empty";
  std::vector<double> items(static_cast<size_t>(value.volume()));
  for (size_t i = 0; i < items.size(); ++i) items[i] = value.ElementAsDouble(static_cast<int64_t>(i));
  if (items.size() == 1) return fmt::format("{:.6g}", items[0]);
  auto not_finite = llvm::count_if(items, [](double item) { return !std::isfinite(item); });
  auto [lowest, highest] = std::minmax_element(items.begin(), items.end());
  double mean = std::accumulate(items.begin(), items.end(), 0.0) / static_cast<double>(items.size());
  std::string text = fmt::format("min {:.6g}, mean {:.6g}, max {:.6g}", *lowest, mean, *highest);
  if (not_finite > 0) text += fmt::format(", {} not finite", not_finite);
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  size_t count = std::min(kTopValues, items.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                    [&](size_t a, size_t b) {
                      // NaN goes last, so that the order stays one.
                      if (std::isnan(items[a]) || std::isnan(items[b]))
                        return !std::isnan(items[a]) && std::isnan(items[b]);
                      return items[a] > items[b] || (items[a] == items[b] && a < b);
                    });
  text += "; top";
  for (size_t i = 0; i < count; ++i) text += fmt::format(" [{}] {:.6g}", order[i], items[order[i]]);
  return text;
}

}  // namespace nnefc::cli
