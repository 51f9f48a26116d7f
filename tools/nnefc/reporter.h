#pragma once

#include <string>
#include <vector>

#include "tools/nnefc/common.h"

namespace nnefc::cli {

// Gathers the diagnostics of a command and writes them to stderr, in one
// document for the forms that machines read; where the report is what the
// command is for, `--output` may name its place.
class Reporter {
 public:
  // `is_product`: the report is what the command is for, so that one for
  // machines is written even if there is nothing to say, and several models are
  // summed up.
  explicit Reporter(const CommonOptions& options, bool is_product = false)
      : options_(options), is_product_(is_product) {}
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;
  // Shows what `compilation` has said so far; returns the exit code it earns.
  int Report(Compilation& compilation);
  // The same of a context; `model` is its path.
  int Report(const std::string& model, Context& context, bool environment_failed);

 private:
  // How many diagnostics of each severity a model got.
  struct Counts {
    std::string model;
    size_t errors = 0;
    size_t warnings = 0;
    size_t notes = 0;
  };
  int Show(const std::string& model, std::vector<Diagnostic> diagnostics, Context& context,
           bool environment_failed);
  void Write(const std::string& text) const;
  std::string Summary() const;
  std::string WithModels(const std::string& document, const Counts& counts, bool environment_failed) const;

  const CommonOptions& options_;
  bool is_product_;
  std::vector<std::string> documents_;  // JSON or SARIF, one a model
  std::vector<Counts> counts_;
};

// The form of errors that belong to no model; text before it is set.
void SetErrorFormat(Format format);
// Tells an error that belongs to no model, in the form of a diagnostic.
void PrintError(const std::string& message, const std::string& note = "");
// Writes what was told in a form for machines to stderr, as one document.
void WriteReports();

}  // namespace nnefc::cli
