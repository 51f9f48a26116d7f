#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/package/tensors/npz.h"
#include "nlohmann/json.hpp"
#include "tools/nnefc/common.h"

namespace nnefc::cli {

// The options of a comparison: the expected data and the tolerance.
struct CompareOptions {
  std::string path;  // path of the .npz; empty to compare nothing
  std::string tolerance = "approximate";
  std::optional<double> absolute;
  std::optional<double> relative;
  std::optional<int64_t> top;
  CLI::Option* tolerance_option = nullptr;

  void Add(CLI::App& command);
  // Adds `--tolerance` only.
  void AddTolerance(CLI::App& command);
  // True if differences of values are bounded. Otherwise only the indices of the highest elements are
  // compared.
  bool bounds_values() const { return !top || tolerance_option->count() > 0 || absolute || relative; }
};

// The result of comparing a tensor with its expected value.
struct Comparison {
  bool within = false;
  std::string text;  // one or more lines
  nlohmann::ordered_json json;
};

// Compares `actual` with the expected tensor of the same name.
Comparison Compare(const package::NamedTensor& actual, const std::vector<package::NamedTensor>& expected,
                   const CompareOptions& options);

}  // namespace nnefc::cli
