// The command `nnefc draw`: draws the graph of a model.

#include <filesystem>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tools/api/facts/costs.h"
#include "tools/api/views/drawing.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DrawCommand : CommonOptions {
  api::DrawingOptions shown;

  int Run() {
    const api::DrawingForm form = ChooseForm();
    const std::string& model = models.front();
    const bool is_lowered = shown.is_of_lowered_graph();
    driver::CompileOptions compile = compile_options(model);
    compile.structure_only = is_lowered;
    api::Program program(ModelName(model), std::move(compile));
    const bool ok = RunStages(program, is_lowered ? driver::Stage::kLower : driver::Stage::kExpand);
    if (!ok) return Reporter(*this).Report(program);
    driver::Compilation& compilation = program.compilation();
    const std::optional<api::ModelCosts> costs = is_lowered ? api::CostsOf(compilation) : std::nullopt;
    if (is_lowered && !costs) {
      Reporter(*this).Report(program);
      return ReportUnknownCosts(model, compilation);
    }
    const Emitter& emitter = compilation.context().emitter;
    const size_t errors_of_stages = emitter.error_count();
    const Json description = Require(api::DescribeForDrawing(form, compilation, shown, costs));
    const bool has_all_data = emitter.error_count() == errors_of_stages;
    const int exit_code = Reporter(*this).Report(program);
    if (!has_all_data) return exit_code;
    Progress progress(program);
    if (form == api::DrawingForm::kSvg) progress.Show("layout by Graphviz");
    WriteProduct(output, Require(api::DrawingText(form, description)));
    return exit_code;
  }

 private:
  // Returns the form by the extension of the output or else by `--format`.
  api::DrawingForm ChooseForm() const {
    using Form = api::DrawingForm;
    const Form by_format = prints_text() ? Form::kDot : Form::kJson;
    if (output.empty() || output == "-") return by_format;
    RequireExtension(output, {".dot", ".gv", ".svg", ".html", ".htm", ".json", ""},
                     "`draw` writes a page for browsers to a `.html`, a picture to a `.svg`, Graphviz' DOT "
                     "to a `.dot`, of which "
                     "`dot` makes other pictures, or JSON to a `.json`");
    const std::string extension = std::filesystem::path(output).extension().string();
    if (extension == ".html" || extension == ".htm") return Form::kHtml;
    if (extension == ".svg") return Form::kSvg;
    if (extension == ".dot" || extension == ".gv") return Form::kDot;
    // A device or pipe may have any name.
    return extension == ".json" ? Form::kJson : by_format;
  }
};

}  // namespace

void AddDraw(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DrawCommand>();
  CLI::App* command = app.add_subcommand("draw", "draw the graph of a model: a page, a picture, DOT or JSON");
  AddCommonOptions(*command, *options, 1, ModelKind::kAny, ReportForms::kResult);
  AddQuantize(*command, *options);
  command->add_flag(
      "--costs", options->shown.costs,
      "draw the lowered graph, with the parameters, multiply-accumulates and bytes of each operation");
  command->add_flag(
      "--weights", options->shown.weights,
      "add statistics and histograms of the data of variables and constants to a .html or .json");
  command
      ->add_option(
          "--profile", options->shown.profile,
          "draw the lowered graph with its costs and the times of a run in a .html or .json: a file with "
          "the output of `nnefc run MODEL --profile --format json`")
      ->type_name("FILE");
  AddOutput(
      *command, options->output,
      "the file to write: a .html, a .svg (needs Graphviz), a .dot or a .json; standard output without it");
  command->footer(
      "Examples:\n"
      "  nnefc draw model.nnef -o net.html\n"
      "  nnefc draw model_folder --weights --profile profile.json -o net.html\n"
      "  nnefc draw model.nnef --costs -o net.svg");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli
