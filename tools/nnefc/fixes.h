#pragma once

#include <string>

#include "compiler/driver/fix.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {

// The options `--fix`, `--unsafe-fixes` and `--diff` of a command.
struct FixOptions {
  bool fix = false;
  bool unsafe_fixes = false;
  bool diff = false;

  // Adds them to a command; `what` is fixed.
  void Add(CLI::App& command, const char* what);
  // Throws MisuseError for `--diff` or `--unsafe-fixes` alone, and for models that hold no document.
  void Validate(const CommonOptions& options) const;
  // Makes the repairs of a model and takes their texts into `compile`, with
  // which the model is to be run then. `judge` is that of FixModel.
  FixReport Make(const std::string& model, CompileOptions& compile, const FixJudge& judge) const;
  // Writes the texts, or shows what would change, and tells what was fixed in
  // reports that are text.
  void Deliver(const std::string& model, const FixReport& report, const CommonOptions& options) const;
};

}  // namespace nnefc::cli
