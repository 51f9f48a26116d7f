// The comparison of outputs with expected data.

#include "tools/api/values/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/api/values/difference.h"
#include "tools/api/values/value_summary.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;

double Bound(const std::string& word) {
  if (word == "close") return 1e-6;
  if (word == "approximate") return 1e-4;
  if (word == "very") return 1e-2;
  return 0;
}

class Comparer {
 public:
  Comparer(const std::string& name, const TensorValue& actual, const TensorValue& expected,
           const Tolerance& tolerance)
      : name_(name), actual_(actual), expected_(expected), tolerance_(tolerance) {
    result_.json["name"] = name;
  }

  Comparison Compare() {
    if (actual_.shape() != expected_.shape()) {
      Say("shape {}, expected {}", ToString(actual_.shape()), ToString(expected_.shape()));
      result_.json["within"] = false;
      return std::move(result_);
    }
    result_.within = true;
    result_.json["within"] = true;
    result_.json["difference"] = RelativeDifference(actual_, expected_);
    CompareValues();
    if (tolerance_.top) CompareHighest();
    result_.json["within"] = result_.within;
    return std::move(result_);
  }

 private:
  template <typename... Args>
  void Say(fmt::format_string<Args...> format, Args&&... args) {
    result_.text += fmt::format("{}: {}\n", name_, fmt::format(format, std::forward<Args>(args)...));
  }

  void CompareValues() {
    const double difference = result_.json["difference"];
    bool within = true;
    if (tolerance_.absolute || tolerance_.relative) {
      within = CompareElements();
    } else if (tolerance_.word == "exact") {
      within = actual_ == expected_;
      Say("{}", within ? "equal bit for bit" : "not equal bit for bit");
      if (!within) Say("max|a-b| / max|b| = {:.3g}", difference);
    } else {
      const double bound = Bound(tolerance_.word);
      within = difference <= bound;
      Say("max|a-b| / max|b| = {:.3g}{}", difference,
          tolerance_.bounds_values ? fmt::format(", {} {}", within ? "within" : "above", bound) : "");
    }
    if (!within && actual_.volume() > 0) ReportWorst();
    if (tolerance_.bounds_values) result_.within = within;
  }

  // Checks |a-b| <= atol + rtol * |b| for each element.
  bool CompareElements() {
    int64_t above = 0;
    for (int64_t i = 0; i < actual_.volume(); ++i) above += Excess(i) > 0 ? 1 : 0;
    std::string bound = fmt::format("{:.3g}", tolerance_.absolute.value_or(0));
    if (tolerance_.relative) bound += fmt::format(" + {:.3g} * |b|", *tolerance_.relative);
    if (above == 0) {
      Say("all elements within {}", bound);
    } else {
      Say("{} of {} elements {} by more than {}", above, actual_.volume(), above == 1 ? "differs" : "differ",
          bound);
    }
    result_.json["elements_above"] = above;
    return above == 0;
  }

  // Returns the difference of element `i` beyond the tolerance; infinite if only one side is NaN.
  double Excess(int64_t i) const {
    const double a = actual_.ElementAsDouble(i);
    const double b = expected_.ElementAsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) return -1;
    const double difference = std::abs(a - b);
    if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
    return difference - tolerance_.absolute.value_or(0) - tolerance_.relative.value_or(0) * std::abs(b);
  }

  void ReportWorst() {
    int64_t worst = 0;
    double largest = -2;
    for (int64_t i = 0; i < actual_.volume(); ++i) {
      const double excess = Excess(i);
      if (excess <= largest) continue;
      largest = excess;
      worst = i;
    }
    const double a = actual_.ElementAsDouble(worst);
    const double b = expected_.ElementAsDouble(worst);
    Say("the worst is {}: {:.6g}, expected {:.6g}", IndexText(worst, actual_), a, b);
    result_.json["worst"] = {{"position", worst}, {"value", a}, {"expected", b}};
    ReportNotANumber(actual_, expected_, "NaN where a number is expected");
    ReportNotANumber(expected_, actual_, "a number where NaN is expected");
  }

  // Reports elements that are NaN in only one tensor.
  void ReportNotANumber(const TensorValue& with, const TensorValue& without, std::string_view what) {
    int64_t count = 0;
    int64_t first = 0;
    for (int64_t i = 0; i < with.volume(); ++i) {
      if (!std::isnan(with.ElementAsDouble(i)) || std::isnan(without.ElementAsDouble(i))) continue;
      if (count++ == 0) first = i;
    }
    if (count > 0)
      Say("{}: {} element{}, the first at {}", what, count, count == 1 ? "" : "s", IndexText(first, with));
  }

  void CompareHighest() {
    const int64_t rows = RowsOf(actual_);
    const int64_t count = std::min(*tolerance_.top, actual_.volume() / rows);
    int64_t agree = 0;
    std::string first;
    for (int64_t row = 0; row < rows; ++row) {
      const std::vector<int64_t> left = HighestOfRow(actual_, row, count);
      const std::vector<int64_t> right = HighestOfRow(expected_, row, count);
      if (std::is_permutation(left.begin(), left.end(), right.begin(), right.end())) {
        ++agree;
      } else if (first.empty()) {
        first = fmt::format("; row {} has {}, expected {}", row, Places(left), Places(right));
      }
    }
    const std::string places =
        count == 1 ? "places of the highest" : fmt::format("places of the {} highest", count);
    if (rows == 1) {
      Say("the {} {}{}", places, agree == 1 ? "agree" : "do not agree", first);
    } else {
      Say("the {} agree in {} of {} rows{}", places, agree, rows, first);
    }
    result_.json["top"] = {{"count", count}, {"rows", rows}, {"rows_that_agree", agree}};
    result_.within = result_.within && agree == rows;
  }

  std::string Places(const std::vector<int64_t>& places) const {
    std::vector<std::string> texts;
    texts.reserve(places.size());
    for (int64_t place : places) texts.push_back(IndexInRow(place, actual_));
    return fmt::format("{}", fmt::join(texts, " "));
  }

  const std::string& name_;
  const TensorValue& actual_;
  const TensorValue& expected_;
  const Tolerance& tolerance_;
  Comparison result_;
};

}  // namespace

Comparison Compare(const package::NamedTensor& actual, const std::vector<package::NamedTensor>& expected,
                   const Tolerance& tolerance) {
  const auto found =
      llvm::find_if(expected, [&](const package::NamedTensor& tensor) { return tensor.name == actual.name; });
  if (found != expected.end()) return Comparer(actual.name, actual.value, found->value, tolerance).Compare();
  return {.within = false,
          .text = fmt::format("{}: no tensor of this name to compare with\n", actual.name),
          .json = Json{{"name", actual.name}, {"within", false}}};
}

}  // namespace nnefc::api
