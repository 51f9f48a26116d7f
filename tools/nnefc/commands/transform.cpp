// The command `nnefc transform`: applies transformations to a graph.

#include <filesystem>

#include "tools/api/facts/configuration_explainer.h"
#include "tools/api/facts/transformations.h"
#include "tools/api/values/bisect.h"
#include "tools/api/views/graph_description.h"
#include "tools/nnefc/arguments/execution.h"
#include "tools/nnefc/arguments/lowered_command.h"
#include "tools/nnefc/arguments/tolerance.h"
#include "tools/nnefc/arguments/transform_options.h"
#include "tools/nnefc/output/difference_report.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

struct TransformCommand : LoweredCommand {
  api::GraphTrace trace;
  bool times = false;
  bool bisect = false;
  std::string explained_configuration;
  ExecutionOptions execution;
  CompareOptions compare;

  int Run() {
    if (!explained_configuration.empty()) return ExplainConfiguration();
    if (!list && plugins()->ok()) {
      Context context;
      if (!api::ResolveNames(trace, transform, *plugins(), context.emitter)) {
        Reporter(*this).Report("", context, /*environment_failed=*/false);
        return kMisuse;
      }
    }
    if (bisect && !list) return Bisect();
    if (writes_difference() && !list && updated_configuration.empty()) return WriteDifference();
    api::TraceGraphs(trace, transform, WriteStderr);
    return LowerAndWrite("transform", [&](const api::Program& program) {
      if (times) WriteStderr(api::TransformationTimes(program.compilation()));
    });
  }

  // Returns true if the change of `--diff` is written as a page or as JSON, rather than printed.
  bool writes_difference() const {
    if (trace.difference.empty()) return false;
    const std::string extension = std::filesystem::path(output).extension().string();
    const bool is_printed = output.empty() || output == "-";
    return extension == ".html" || extension == ".json" || (is_printed && output_format() == Format::kJson);
  }

  // Writes the change of one transformation as `nnefc diff` writes a difference.
  int WriteDifference() {
    if (trace.difference.size() != 1 || trace.difference.front() == "all")
      throw MisuseError(
          "a page or JSON has the changes of one transformation; `--diff` expects one name here");
    RequireOtherFile(*this, force);
    std::shared_ptr<const ir::Graph> before;
    std::shared_ptr<const ir::Graph> after;
    trace.record = [&](const std::string&, std::shared_ptr<const ir::Graph> old_graph,
                       std::shared_ptr<const ir::Graph> new_graph) {
      before = std::move(old_graph);
      after = std::move(new_graph);
    };
    api::TraceGraphs(trace, transform, WriteStderr);
    api::Program program(ShownModel(models.front()), LoweringOptions(/*structure_only=*/true));
    (void)RunStages(program, driver::Stage::kLower);
    const int exit_code = Reporter(*this).Report(program);
    if (times) WriteStderr(api::TransformationTimes(program.compilation()));
    const std::string& name = trace.difference.front();
    if (after == nullptr) {
      if (exit_code != kSuccess) return exit_code;
      throw MisuseError(
          fmt::format("`{}` did not run, so there is no change to write; `transform` runs those that "
                      "`--list-transformations` prints as enabled, except those of the phase `target`",
                      name));
    }
    const api::ComparedGraph old_graph = {.name = "before " + name, .outline = api::OutlineOf(*before)};
    const api::ComparedGraph new_graph = {.name = "after " + name, .outline = api::OutlineOf(*after)};
    const api::ModelDifference difference = api::CompareGraphs(old_graph, new_graph, /*compares_data=*/true);
    driver::Compilation& compilation = program.compilation();
    cli::WriteDifference({.before = old_graph,
                          .after = new_graph,
                          .difference = difference,
                          .describe_before = [&] { return api::DescribeGraph(compilation, *before); },
                          .describe_after = [&] { return api::DescribeGraph(compilation, *after); }},
                         *this);
    return exit_code;
  }

  int Bisect() {
    if (!output.empty())
      throw MisuseError("`--bisect` prints what it finds, and writes no graph to `--output`");
    if (execution.inputs.empty() && execution.inputs_npz.empty() && !execution.random_inputs)
      execution.random_inputs = 0;
    api::BisectOptions options{.model = ShownModel(models.front()),
                               .compile = compile_options(models.front()),
                               .run = execution.run_options(max_bytes),
                               .tolerance = compare.MakeTolerance()};
    options.compile.random_weights = random_weights;
    options.compile.transform = transform;
    options.compile.open.reads_data = true;
    int exit_code = kSuccess;
    options.prepare = [&](api::Program& program) { return Prepare(program, execution, max_bytes); };
    options.report = [&](api::Program& program) {
      exit_code = Reporter(*this).Report(program);
      return exit_code == kSuccess;
    };
    Context context;
    bool environment_failed = false;
    const std::optional<api::Bisection> found = api::Bisect(options, context, environment_failed);
    if (context.emitter.has_errors()) return Reporter(*this).Report("", context, environment_failed);
    if (!found) return exit_code;
    if (found->transformation.empty()) {
      Print("{} transformations keep the outputs within `{}`\n", found->num_transformations,
            options.tolerance.word);
      return kSuccess;
    }
    Print("`{}` is the first transformation after which outputs leave the tolerance\n{}{}",
          found->transformation, found->differences, NodesText(found->nodes));
    return kInvalid;
  }

  // Describes the nodes that a transformation made.
  static std::string NodesText(const std::vector<std::string>& nodes) {
    constexpr size_t kShown = 20;
    if (nodes.empty()) return "it made no node\n";
    std::string text = fmt::format("it made {} node{}:\n", nodes.size(), nodes.size() == 1 ? "" : "s");
    for (size_t i = 0; i < std::min(kShown, nodes.size()); ++i) text += "  " + nodes[i] + "\n";
    if (nodes.size() > kShown) text += fmt::format("  and {} more\n", nodes.size() - kShown);
    return text;
  }

  // Prints what the entries of a configuration do. With a model, also its instances.
  int ExplainConfiguration() {
    Context context;
    bool environment_failed = false;
    transform.configuration = explained_configuration;
    plugins()->Report(context.emitter, environment_failed);
    auto explainer = api::ConfigurationExplainer::Make(transform, *plugins(), context, environment_failed);
    if (models.empty() || !explainer) {
      const int exit_code = Reporter(*this).Report("", context, environment_failed);
      if (explainer && plugins()->ok()) WriteProduct(output, explainer->Text());
      return exit_code;
    }
    driver::CompileOptions compile = compile_options(models.front());
    compile.transform = transform;
    compile.structure_only = true;
    explainer->Watch(compile.transform);
    api::Program program(ShownModel(models.front()), compile);
    (void)RunStages(program, driver::Stage::kLower);
    const int exit_code = Reporter(*this).Report(program);
    WriteProduct(output, explainer->Text());
    return exit_code;
  }
};

}  // namespace

void AddTransform(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TransformCommand>();
  CLI::App* command =
      app.add_subcommand("transform", "transform and lower a model; write or print the graph");
  options->AddTo(*command);
  const auto add_names = [&](const char* option, std::vector<std::string>& names, const char* what) {
    command->add_option(option, names, what)->delimiter(',')->type_name("NAME,..");
  };
  add_names("--only", options->transform.pipeline.only, "run these and no other, enabled or not");
  command->add_option("--stop-after", options->transform.pipeline.stop_after, "run none after this one")
      ->type_name("NAME");
  add_names("--print-before", options->trace.before,
            "print the graph to standard error before these, or `all`");
  add_names("--print-after", options->trace.after, "print the graph to standard error after these, or `all`");
  add_names("--print-diff", options->trace.diff,
            "print what these change in the graph to standard error, or `all`");
  add_names(
      "--diff", options->trace.difference,
      "print the operations and data that these add, remove or change to standard error, or `all`; with "
      "one name and `-o diff.html`, `-o diff.json` or `--format json`, write that as `diff` does instead "
      "of the graph");
  command->add_flag("--time-transformations", options->times,
                    "print the time of each, and the number of nodes before and after");
  CLI::Option* bisect = command->add_flag("--bisect", options->bisect,
                                          "run the model with and without transformations and print the "
                                          "first after which outputs differ; inputs are "
                                          "random unless data are passed");
  AddInputOptions(*command, options->execution);
  options->compare.AddTolerance(*command);
  CLI::Option* model = command->get_option("MODEL");
  command
      ->add_option_function<std::string>(
          "--explain-config",
          [options, model](const std::string& path) {
            options->explained_configuration = path;
            model->required(false);
          },
          "print what the entries of this configuration do and, with a model, what they select; do no more")
      ->type_name("FILE")
      ->trigger_on_parse();
  for (const char* option : {"--input", "--inputs", "--random-inputs", "--tolerance"})
    command->get_option(option)->needs(bisect);
  command->footer(
      "Examples:\n"
      "  nnefc transform model_folder --only front.MishFusion -o net.xml\n"
      "  nnefc transform model_folder --diff front.MishFusion -o diff.html");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli
