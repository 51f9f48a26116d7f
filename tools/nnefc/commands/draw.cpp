// The command `nnefc draw`: draws the graph of a model.

#include <filesystem>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tools/api/views/drawing.h"
#include "tools/api/views/graph_description.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DrawCommand : CommonOptions {
  bool shows_costs = false;

  int Run() {
    const api::DrawingForm form = ChooseForm();
    const std::string& model = models.front();
    driver::CompileOptions compile = compile_options(model);
    compile.structure_only = shows_costs;
    api::Program program(ModelName(model), std::move(compile));
    const bool ok = RunStages(program, shows_costs ? driver::Stage::kLower : driver::Stage::kExpand);
    const int exit_code = Reporter(*this).Report(program);
    if (!ok) return exit_code;
    const driver::Compilation& compilation = program.compilation();
    Json description;
    if (shows_costs) {
      const std::optional<api::ModelCosts> costs = api::CostsOf(compilation);
      if (!costs) return ReportUnknownCosts(model, compilation);
      description = api::DescribeLowered(compilation, *costs);
    } else {
      description = api::DescribeModel(compilation);
    }
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
      "--costs", options->shows_costs,
      "draw the lowered graph, with the parameters, multiply-accumulates and bytes of each operation");
  AddOutput(
      *command, options->output,
      "the file to write: a .html, a .svg (needs Graphviz), a .dot or a .json; standard output without it");
  command->footer(
      "Examples:\n"
      "  nnefc draw model.nnef -o net.html\n"
      "  nnefc draw model.nnef --costs -o net.svg");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli
