#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "tools/api/values/compare.h"

namespace nnefc::cli {

// The options of a comparison: the expected data and the tolerance.
struct CompareOptions {
  std::string path;  // path of the .npz; empty to compare nothing
  api::Tolerance tolerance;
  CLI::Option* tolerance_option = nullptr;

  void Add(CLI::App& command);
  // Adds `--tolerance` only.
  void AddTolerance(CLI::App& command);
  // Returns the tolerance. `--top` without another option compares the indices alone.
  api::Tolerance MakeTolerance() const;
};

}  // namespace nnefc::cli
