// Results of runs: names, files, comparison and summaries.

#include "tools/api/values/outputs.h"

#include <algorithm>
#include <utility>

#include "compiler/package/tensors/npz.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/api/values/value_summary.h"

namespace nnefc::api {

using package::NamedTensor;

std::vector<ComputedValue> NameResults(const Execution& execution, const std::vector<TensorValue>& results) {
  const std::vector<runtime::engine::Port>& ports = execution.executable->outputs();
  std::vector<ComputedValue> values;
  for (size_t i = 0; i < ports.size(); ++i)
    values.push_back({{ports[i].name, results[i]}, i < execution.num_outputs});
  std::rotate(values.begin(), values.begin() + static_cast<ptrdiff_t>(execution.num_outputs), values.end());
  return values;
}

ErrorOr<Success> WriteInputs(const std::string& path, const Execution& execution) {
  std::vector<NamedTensor> named;
  const std::vector<runtime::engine::Port>& ports = execution.executable->inputs();
  for (size_t i = 0; i < ports.size(); ++i) named.push_back({ports[i].name, execution.inputs[i]});
  return package::WriteNpz(path, named);
}

ErrorOr<Success> WriteValues(const std::string& path, const std::vector<ComputedValue>& values) {
  std::vector<NamedTensor> named;
  named.reserve(values.size());
  for (const ComputedValue& value : values) named.push_back(value.tensor);
  return package::WriteNpz(path, named);
}

ErrorOr<std::optional<std::vector<NamedTensor>>> ReadExpected(const std::string& path,
                                                              const Execution& execution, uint64_t max_bytes,
                                                              Context& context) {
  if (!IsTensorFile(path)) {
    const ErrorOr<package::DataSource> source = package::OpenData(path, context);
    if (!source) return source.error();
    return package::ReadNpz(*source, context, {.max_bytes = max_bytes});
  }
  if (execution.num_outputs != 1)
    return SystemError{
        fmt::format("`--compare {}`: the graph has {} outputs; an .npz has a tensor for each, by name", path,
                    execution.num_outputs)};
  const runtime::engine::Port& output = execution.executable->outputs().front();
  ErrorOr<std::optional<TensorValue>> value = ReadTensorFile(path, output, context);
  if (!value) return value.error();
  std::optional<std::vector<NamedTensor>> expected;
  if (*value) expected = {{output.name, std::move(**value)}};
  return expected;
}

namespace {

// Renames the only expected tensor to the only output. Returns a line that states it; empty if nothing is
// renamed.
std::string RenameOnly(const std::vector<ComputedValue>& values, std::vector<NamedTensor>& expected) {
  const ComputedValue* only = nullptr;
  for (const ComputedValue& value : values) {
    if (expected.size() != 1 || value.tensor.name == expected.front().name) return "";
    if (value.is_output && only != nullptr) return "";
    if (value.is_output) only = &value;
  }
  if (only == nullptr) return "";
  const std::string name = std::exchange(expected.front().name, only->tensor.name);
  return fmt::format("{}: compared with `{}`, the only tensor\n", only->tensor.name, name);
}

std::string SurplusText(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  if (names.empty()) return "";
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + static_cast<ptrdiff_t>(std::min(kShown, names.size())));
  if (names.size() > kShown) shown.push_back(fmt::format("and {} more", names.size() - kShown));
  return fmt::format("{}: no output of {}; not compared\n", fmt::join(shown, ", "),
                     names.size() == 1 ? "this name" : "these names");
}

// Returns the highest elements of each row with their indices in the row.
nlohmann::ordered_json HighestOfRows(const TensorValue& value) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const int64_t length = value.volume() / RowsOf(value);
  for (int64_t row = 0; row < RowsOf(value); ++row) {
    nlohmann::ordered_json top = nlohmann::ordered_json::array();
    for (int64_t at : HighestOfRow(value, row, kTopValues))
      top.push_back(
          nlohmann::ordered_json{{"index", at}, {"value", value.ElementAsDouble(row * length + at)}});
    rows.push_back(nlohmann::ordered_json{{"top", std::move(top)}});
  }
  return rows;
}

}  // namespace

Comparison CompareValues(const std::vector<ComputedValue>& values, std::vector<NamedTensor> expected,
                         const Tolerance& tolerance) {
  Comparison all{.within = true, .text = RenameOnly(values, expected), .json = {}};
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ComputedValue& value : values) {
    const auto has_its_name = [&](const NamedTensor& tensor) { return tensor.name == value.tensor.name; };
    if (!value.is_output && llvm::none_of(expected, has_its_name)) continue;
    Comparison comparison = Compare(value.tensor, expected, tolerance);
    all.within = all.within && comparison.within;
    all.text += comparison.text;
    list.push_back(std::move(comparison.json));
  }
  std::vector<std::string> surplus;
  for (const NamedTensor& tensor : expected) {
    const auto has_its_name = [&](const ComputedValue& value) { return value.tensor.name == tensor.name; };
    if (llvm::none_of(values, has_its_name)) surplus.push_back(tensor.name);
  }
  all.text += SurplusText(surplus);
  all.json = {{"tolerance", tolerance.word},
              {"within", all.within},
              {"outputs", std::move(list)},
              {"surplus", std::move(surplus)}};
  return all;
}

std::string ValuesText(const std::vector<ComputedValue>& values) {
  std::string text;
  for (const ComputedValue& computed : values) {
    const TensorValue& value = computed.tensor.value;
    text += fmt::format("{} {}{}: {}{}\n", computed.tensor.name, Name(value.type()), ToString(value.shape()),
                        ToText(Summarize(value)), computed.is_output ? HighestText(value) : "");
  }
  return text;
}

void AddValues(const std::vector<ComputedValue>& values, nlohmann::ordered_json& json) {
  for (const ComputedValue& computed : values) {
    const TensorValue& value = computed.tensor.value;
    const ValueSummary summary = Summarize(value);
    nlohmann::ordered_json entry = {
        {"name", computed.tensor.name}, {"type", Name(value.type())}, {"shape", value.shape()}};
    if (summary.count > 0) {
      entry["min"] = summary.lowest;
      entry["mean"] = summary.mean;
      entry["max"] = summary.highest;
      entry["not_finite"] = summary.not_finite;
      if (computed.is_output) entry["rows"] = HighestOfRows(value);
    }
    json[computed.is_output ? "outputs" : "values"].push_back(std::move(entry));
  }
}

}  // namespace nnefc::api
