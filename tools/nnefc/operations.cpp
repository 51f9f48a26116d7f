#include <algorithm>

#include "compiler/explain/operation_pages.h"
#include "compiler/ir/ops/opset/register.h"
#include "compiler/lower/forms.h"
#include "fmt/format.h"
#include "runtime/kernels/registry.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output_name.h"

namespace nnefc::cli {
namespace {

struct OperationsCommand {
  bool without_openvino = false;
  bool opsets = false;
  std::string output;

  // Returns one line per operation of the standard, with the forms that OpenVINO IR lacks.
  std::string Standard() const {
    const ir::OpRegistry& registry = ir::StandardOps();
    std::vector<std::string> lines;
    for (size_t i = 0; i < registry.size(); ++i) {
      const ir::OpInfo& info = registry.Info(ir::OpId(static_cast<int32_t>(i)));
      if (info.set != ir::kNnefSet) continue;
      if (!info.section.starts_with("R ")) continue;  // an extension's
      const lower::MissingForm* form = lower::FindMissingForm(info.name);
      NNEFC_CHECK(form != nullptr || lower::HasLowering(info.name));
      if (form == nullptr) {
        if (!without_openvino) lines.push_back(fmt::format("{:<32} {}\n", info.name, info.section));
        continue;
      }
      lines.push_back(fmt::format("{:<32} {:<12} no OpenVINO form{}{}: {}\n", info.name, info.section,
                                  form->when.empty() ? "" : " ", form->when, form->reason));
    }
    // Operations of an extension have its name instead of a section of the standard.
    if (!without_openvino) {
      for (const explain::ExtensionOperation& each : explain::ExtensionOperations())
        lines.push_back(fmt::format("{:<32} {}\n", each.name, each.extension));
    }
    std::sort(lines.begin(), lines.end());
    return fmt::format("{}", fmt::join(lines, ""));
  }

  // Returns one line per operation of OpenVINO's sets with its implementation.
  std::string Opsets() const {
    runtime::kernels::KernelRegistry kernels;
    runtime::kernels::RegisterReferenceKernels(kernels);
    ir::OpRegistry registry;
    ir::ops::opset::RegisterOpsets(registry);
    std::string text;
    for (size_t i = 0; i < registry.size(); ++i) {
      const ir::OpInfo& row = registry.Info(ir::OpId(static_cast<int32_t>(i)));
      const bool has_kernel =
          kernels.Find(runtime::kernels::Backend::kReference, row.set, row.name) != nullptr;
      text += fmt::format("{:<40} {}\n", fmt::format("{}.{}", row.set, row.name),
                          has_kernel ? "kernel" : "engine");
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
