// The command `nnefc diff`: compares two models.

#include <filesystem>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tools/api/differences/model_difference.h"
#include "tools/api/differences/output_difference.h"
#include "tools/api/views/graph_description.h"
#include "tools/nnefc/arguments/execution.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/arguments/tolerance.h"
#include "tools/nnefc/output/difference_report.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DiffCommand : CommonOptions {
  ExecutionOptions execution;
  CompareOptions compare;
  bool ignores_data = false;

  int Run() {
    RequireOutputForm();
    if (!compares_outputs() && compare.tolerance_option->count() > 0)
      throw MisuseError(
          "`--tolerance` is for outputs: `--random-inputs 1` or `--inputs in.npz` compares them");
    const bool is_lowered = IsNnef(models[0]) != IsNnef(models[1]);
    // Lowered graphs are compared in the form of OpenVINO IR.
    const bool executes = !is_lowered;
    api::Program before(ShownModel(models[0]), OptionsFor(models[0], executes));
    api::Program after(ShownModel(models[1]), OptionsFor(models[1], executes));
    Reporter reporter(*this);
    for (api::Program* program : {&before, &after}) {
      const bool ok = Open(*program, is_lowered);
      const int exit_code = reporter.Report(*program);
      if (exit_code != kSuccess) return exit_code;
      if (!ok) return kInvalid;
      program->compilation().context().emitter.Clear();  // reported
    }
    const api::ComparedGraph old_graph =
        api::GraphOf(before.compilation(), is_lowered, execution.random_weights);
    const api::ComparedGraph new_graph =
        api::GraphOf(after.compilation(), is_lowered, execution.random_weights);
    const api::ModelDifference difference = Compare(before, old_graph, new_graph);
    // Tensor files that cannot be read.
    for (api::Program* program : {&before, &after}) {
      if (const int exit_code = reporter.Report(*program); exit_code != kSuccess) return exit_code;
    }
    std::optional<api::OutputsOfModels> outputs;
    if (compares_outputs()) {
      int exit_code = kSuccess;
      outputs = CompareOutputs(difference, old_graph, new_graph, reporter, exit_code);
      if (!outputs) return exit_code == kSuccess ? kInvalid : exit_code;
    }
    WriteDifference({.before = old_graph,
                     .after = new_graph,
                     .difference = difference,
                     .outputs = outputs ? &*outputs : nullptr,
                     .describe_before = [&] { return Describe(before, is_lowered); },
                     .describe_after = [&] { return Describe(after, is_lowered); }},
                    *this);
    return difference.empty() && (!outputs || outputs->within) ? kSuccess : kInvalid;
  }

 private:
  static bool IsNnef(const std::string& model) {
    return driver::FormatOf(model) == driver::ModelFormat::kNnef;
  }
  bool compares_outputs() const {
    return !execution.inputs.empty() || !execution.inputs_npz.empty() || execution.random_inputs.has_value();
  }

  void RequireOutputForm() const {
    RequireExtension(output, {".html", ".json", ".txt", ".log", ".out", ""},
                     "`diff` writes a page to a `.html`, JSON to a `.json` and text to a `.txt`");
    std::error_code error;
    for (const std::string& model : models) {
      if (!output.empty() && std::filesystem::equivalent(model, output, error))
        throw MisuseError(fmt::format("`{}` is one of the models; write to another file", output));
    }
  }

  driver::CompileOptions OptionsFor(const std::string& model, bool executes) const {
    const CommonOptions& common = *this;
    CommonOptions own = common;
    own.models = {model};  // options for documents are checked for this model alone
    driver::CompileOptions compile = own.compile_options(model);
    compile.executes = executes;
    compile.open.reads_data = true;
    compile.random_weights = execution.random_weights;
    return compile;
  }

  // Compiles a model as far as its graph is compared. Lowered graphs may lack the data of variables.
  static bool Open(api::Program& program, bool is_lowered) {
    if (!RunStages(program, driver::Stage::kExpand) || !program.CheckData()) return false;
    return !is_lowered || RunStages(program, driver::Stage::kLower);
  }

  api::ModelDifference Compare(api::Program& program, const api::ComparedGraph& before,
                               const api::ComparedGraph& after) const {
    Progress progress(program);
    progress.Show("compare");
    return api::CompareGraphs(before, after, !ignores_data);
  }

  std::optional<api::OutputsOfModels> CompareOutputs(const api::ModelDifference& difference,
                                                     const api::ComparedGraph& before,
                                                     const api::ComparedGraph& after, Reporter& reporter,
                                                     int& exit_code) const {
    api::OutputOptions options{.old_model = ShownModel(models[0]),
                               .new_model = ShownModel(models[1]),
                               .old_compile = OptionsFor(models[0], true),
                               .new_compile = OptionsFor(models[1], true),
                               .tolerance = compare.MakeTolerance()};
    options.prepare = [&](api::Program& program, const std::vector<std::string>& dump) {
      ExecutionOptions with_dump = execution;
      with_dump.dump = dump;
      return Prepare(program, with_dump, max_bytes);
    };
    options.report = [&](api::Program& program) {
      // Warnings were reported when the models were opened.
      if (!program.compilation().context().emitter.has_errors()) return true;
      exit_code = reporter.Report(program);
      return exit_code == kSuccess;
    };
    return api::CompareOutputs(options, difference, before, after);
  }

  static Json Describe(api::Program& program, bool is_lowered) {
    driver::Compilation& compilation = program.compilation();
    return is_lowered ? api::DescribeGraph(compilation, *compilation.lowered())
                      : api::DescribeModel(compilation, /*with_statistics=*/false);
  }
};

}  // namespace

void AddDiff(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DiffCommand>();
  CLI::App* command =
      app.add_subcommand("diff", "compare two models: operations, shapes, variables and outputs");
  AddCommonOptions(*command, *options, 2, ModelKind::kAny, ReportForms::kResult);
  command->get_option("MODEL")->expected(2)->description(
      "the old and the new model, each a model folder, a .tar or .tgz, a .nnef document, OpenVINO IR (.xml), "
      "or a graph as `compile` prints it (.ir); a document and a graph are compared as lowered");
  AddQuantize(*command, *options);
  command->add_flag("--no-data", options->ignores_data, "do not compare the data of variables");
  AddExecutionOptions(*command, options->execution);
  options->compare.AddTolerance(*command);
  AddOutput(
      *command, options->output,
      "the file to write, a .html with both graphs side by side, a .json or a .txt; standard output without "
      "it");
  command->footer(
      "Operations are matched by what they compute, by the names of their results and by their surroundings; "
      "other names make no difference. With data of inputs, outputs are compared too, and the first "
      "operation "
      "beyond the tolerance is named. Exit code 1 if the models differ.\n"
      "Examples:\n"
      "  nnefc diff old.nnef new.nnef\n"
      "  nnefc diff old_folder new_folder --random-inputs 1 -o diff.html");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli
