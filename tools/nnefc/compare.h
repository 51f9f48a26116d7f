#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/package/npz.h"
#include "nlohmann/json.hpp"
#include "tools/nnefc/common.h"

namespace nnefc::cli {

// The options of a comparison: with what, and how much may differ.
struct CompareOptions {
  std::string path;  // of the .npz; empty if nothing is compared
  std::string tolerance = "approximate";
  std::optional<double> absolute;
  std::optional<double> relative;
  std::optional<int64_t> top;
  CLI::Option* tolerance_option = nullptr;

  void Add(CLI::App& command);
  // Adds `--tolerance` alone.
  void AddTolerance(CLI::App& command);
  // Numbers bound the differences unless the places of the highest alone do.
  bool bounds_values() const { return !top || tolerance_option->count() > 0 || absolute || relative; }
};

// How a tensor differs from what is expected of it.
struct Comparison {
  bool within = false;
  std::string text;  // a line or more
  nlohmann::ordered_json json;
};

// Compares `actual` with the tensor of its name among those that are expected.
Comparison Compare(const NamedTensor& actual, const std::vector<NamedTensor>& expected,
                   const CompareOptions& options);

}  // namespace nnefc::cli
