#pragma once

#include <string>
#include <vector>

#include "tools/nnefc/common.h"

namespace nnefc::cli {

// Collects the diagnostics of a command and writes them to stderr, as one document for machine-readable
// formats. If the report is the purpose of the command, `--output` may specify a file.
class Reporter {
 public:
  // `is_product`: the report is the purpose of the command. Machine-readable reports are then written even if
  // empty, and several models are summarised.
  explicit Reporter(const CommonOptions& options, bool is_product = false)
      : options_(options), is_product_(is_product) {}
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;
  // Prints the diagnostics of `program` so far. Returns the resulting exit code.
  int Report(api::Program& program);
  // The same for a context; `model` is its path.
  int Report(const std::string& model, Context& context, bool environment_failed);

 private:
  // The number of diagnostics of each severity for a model.
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
  std::vector<std::string> documents_;  // JSON or SARIF, one per model
  std::vector<Counts> counts_;
};

// Sets the format of errors without a model; the default is text.
void SetErrorFormat(Format format);
// Prints an error without a model, in the form of a diagnostic.
void PrintError(const std::string& message, const std::string& note = "");
// Prints that the costs of a model are unknown, and how to set its extents. Returns the exit code.
int ReportUnknownCosts(const std::string& model, const driver::Compilation& compilation);
// Writes the collected machine-readable reports to stderr, as one document.
void WriteReports();

}  // namespace nnefc::cli
