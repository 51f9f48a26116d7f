#pragma once

#include <string>

#include "tools/api/forms/fixes.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {

// The options `--fix`, `--unsafe-fixes` and `--diff` of a command.
struct FixOptions {
  bool fix = false;           // apply safe fixes
  bool unsafe_fixes = false;  // apply unsafe ones, too
  bool diff = false;          // print the changes and write nothing

  // Adds them to a command; `what` describes the fixed text.
  void Add(CLI::App& command, const char* what);
  // Throws MisuseError for `--diff` or `--unsafe-fixes` without `--fix`, and for models that are not
  // documents.
  void Validate(const CommonOptions& options) const;
  // Writes the fixed texts and renames the tensor files of changed labels, unless the model is standard input
  // or `--diff` shows the changes instead. The next run of the stages then reads the data by the new labels.
  void Write(const std::string& model, driver::FixReport& report) const;
  // Shows the changes with `--diff`, writes those of standard input, and prints the applied fixes if the
  // report is text.
  void Deliver(const std::string& model, const driver::FixReport& report, const CommonOptions& options) const;
};

}  // namespace nnefc::cli
