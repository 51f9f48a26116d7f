// The command `nnefc inspect`: prints an overview of a model.

#include <algorithm>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tools/api/facts/costs.h"
#include "tools/api/facts/model_overview.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InspectCommand : CommonOptions {
  int64_t layers = -1;
  bool shows_costs = false;
  bool prints_csv = false;

  int Run() {
    RequireReportName(output, output_format());
    int exit_code = kSuccess;
    Reporter reporter(*this);
    for (const std::string& model : models) {
      driver::CompileOptions compile = compile_options(model);
      compile.structure_only = shows_costs || prints_csv;
      api::Program program(ShownModel(model), std::move(compile));
      const bool ok =
          RunStages(program, shows_costs || prints_csv ? driver::Stage::kLower : driver::Stage::kExpand);
      exit_code = std::max(exit_code, reporter.Report(program));
      if (!ok) continue;
      if (shows_costs || prints_csv) {
        exit_code = std::max(exit_code, PrintCosts(model, program.compilation()));
      } else if (prints_text()) {
        WriteStdout(api::OverviewText(program.compilation(), layers, painter()));
      } else {
        all_.push_back(api::OverviewJson(program.compilation(), layers));
      }
    }
    if (!prints_text() && !prints_csv) Print("{}\n", Json({{"models", all_}}).dump(2));
    return exit_code;
  }

 private:
  api::Painter painter() const { return api::Painter(UseColorFor(color, output)); }

  int PrintCosts(const std::string& model, const driver::Compilation& compilation) {
    const std::optional<api::ModelCosts> costs = api::CostsOf(compilation);
    if (!costs) return ReportUnknownCosts(model, compilation);
    if (prints_csv || prints_text())
      WriteStdout(prints_csv ? api::CostsCsv(*costs) : api::CostsText(*costs, layers, painter()));
    else
      all_.push_back(api::CostsJson(*costs, compilation.path()));
    return kSuccess;
  }

  Json all_ = Json::array();
};

}  // namespace

void AddInspect(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<InspectCommand>();
  CLI::App* command = app.add_subcommand("inspect", "show a model's inputs, outputs, operations and shapes");
  AddCommonOptions(*command, *options, 0, ModelKind::kAny, ReportForms::kResult);
  AddQuantize(*command, *options);
  command->add_option("--layers", options->layers, "list only the first N operations")
      ->type_name("N")
      ->check(Between(0, 1'000'000'000));
  command->add_flag("--costs", options->shows_costs,
                    "show the parameters, multiply-accumulates and bytes of each operation of the lowered "
                    "graph, and their totals");
  command->add_flag("--csv", options->prints_csv, "print these costs as comma-separated values");
  command->footer("Examples:\n  nnefc inspect model.nnef --layers 8\n  nnefc inspect model.nnef --costs");
  AddOutput(*command, options->output, "the file to write; standard output without it");
  command->callback(
      [options, &exit_code] { exit_code = WithOutput(options->output, [&] { return options->Run(); }); });
}

}  // namespace nnefc::cli
