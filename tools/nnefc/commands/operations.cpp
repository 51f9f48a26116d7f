// The command `nnefc operations`: lists operations.

#include <algorithm>

#include "fmt/format.h"
#include "tools/api/facts/operation_list.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"

namespace nnefc::cli {
namespace {

struct OperationsCommand {
  bool without_openvino = false;
  bool opsets = false;
  std::string output;

  // Returns one line per operation of the standard, with the forms that OpenVINO IR lacks.
  std::string Standard() const {
    std::vector<std::string> lines;
    for (const api::DocumentOperation& operation : api::DocumentOperations()) {
      const std::optional<api::MissingForm>& form = operation.missing_form;
      if (!form) {
        if (!without_openvino) lines.push_back(fmt::format("{:<32} {}\n", operation.name, operation.section));
        continue;
      }
      lines.push_back(fmt::format("{:<32} {:<12} no OpenVINO form{}{}: {}\n", operation.name,
                                  operation.section, form->when.empty() ? "" : " ", form->when,
                                  form->reason));
    }
    std::sort(lines.begin(), lines.end());
    return fmt::format("{}", fmt::join(lines, ""));
  }

  // Returns one line per operation of OpenVINO's sets with its implementation.
  std::string Opsets() const {
    std::string text;
    for (const api::OpsetOperation& operation : api::OpsetOperations()) {
      text += fmt::format("{:<40} {}\n", fmt::format("{}.{}", operation.set, operation.name),
                          operation.has_kernel ? "kernel" : "engine");
    }
    return text;
  }
};

}  // namespace

void AddOperations(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<OperationsCommand>();
  CLI::App* command = app.add_subcommand("operations", "list the operations that are known");
  CLI::Option* without =
      command->add_flag("--without-openvino", options->without_openvino,
                        "only standard operations that OpenVINO IR cannot express, and why");
  command
      ->add_flag("--opsets", options->opsets, "the operations of OpenVINO's sets instead of the standard's")
      ->excludes(without);
  AddOutput(*command, options->output, "the file to write; standard output without it");
  command->footer(
      "The sections are those of NNEF 1.0.5 (R); `nnefc explain OPERATION` describes one.\n"
      "Example:\n  nnefc operations --without-openvino");
  command->callback([options, &exit_code] {
    RequireReportName(options->output, Format::kText);
    WriteProduct(options->output, options->opsets ? options->Opsets() : options->Standard());
    exit_code = kSuccess;
  });
}

}  // namespace nnefc::cli
