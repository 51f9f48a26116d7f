// The command `nnefc transform`: applies transformations to a graph.

#include "compiler/driver/configuration_explainer.h"
#include "compiler/ir/text/text.h"
#include "compiler/support/text/text_diff.h"
#include "tools/nnefc/arguments/transform_options.h"
#include "tools/nnefc/commands/bisect.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

// Names of transformations; the graph is printed before or after them. `all` selects all.
using Watched = std::vector<std::string>;

bool Watches(const Watched& names, const transform::Transformation& transformation) {
  return llvm::is_contained(names, "all") || llvm::is_contained(names, transformation.name());
}

struct TransformCommand : LoweredCommand {
  Watched print_before;
  Watched print_after;
  Watched print_diff;
  bool times = false;
  bool bisect = false;
  std::string explained_configuration;
  ExecutionOptions execution;
  CompareOptions compare;

  int Run() {
    if (!explained_configuration.empty()) return ExplainConfiguration();
    if (bisect && !list) {
      if (!output.empty())
        throw MisuseError("`--bisect` prints what it finds, and writes no graph to `--output`");
      if (execution.inputs.empty() && execution.inputs_npz.empty() && !execution.random_inputs)
        execution.random_inputs = 0;
      return Bisect(*this, execution, compare);
    }
    if (const int exit_code = FindWatched(); exit_code != kSuccess) return exit_code;
    transform.pipeline.before = [this](const transform::Transformation& transformation,
                                       const ir::Graph& graph) {
      if (Watches(print_before, transformation))
        PrintStderr("// before {}\n{}", transformation.name(), ir::PrintGraph(graph));
      if (Watches(print_diff, transformation)) before_ = ir::PrintGraph(graph);
    };
    transform.pipeline.after = [this](const transform::Transformation& transformation,
                                      const ir::Graph& graph) {
      const std::string name = transformation.name();
      if (Watches(print_after, transformation)) PrintStderr("// after {}\n{}", name, ir::PrintGraph(graph));
      if (Watches(print_diff, transformation))
        PrintStderr("{}", UnifiedDiff(before_, ir::PrintGraph(graph), "before " + name, "after " + name));
    };
    return LowerAndWrite("transform", [&](const driver::Compilation& compilation) {
      if (times && compilation.pipeline() != nullptr) PrintTimes(*compilation.pipeline());
    });
  }

  // Prints what the entries of a configuration do. With a model, also its instances.
  int ExplainConfiguration() {
    Context context;
    bool environment_failed = false;
    transform.configuration = explained_configuration;
    plugins()->Report(context.emitter, environment_failed);
    std::optional<driver::ConfigurationExplainer> explainer =
        driver::ConfigurationExplainer::Make(transform, *plugins(), context, environment_failed);
    if (models.empty() || !explainer) {
      const int exit_code = Reporter(*this).Report("", context, environment_failed);
      if (explainer && plugins()->ok()) WriteProduct(output, explainer->Text());
      return exit_code;
    }
    driver::CompileOptions compile = compile_options(models.front());
    compile.transform = transform;
    compile.structure_only = true;
    compile.transform.pipeline.before = [&](const transform::Transformation& item, const ir::Graph& graph) {
      explainer->Visit(item, graph);
    };
    driver::Compilation compilation(ShownModel(models.front()), compile);
    (void)RunStages(compilation, driver::Stage::kLower);
    const int exit_code = Reporter(*this).Report(compilation);
    WriteProduct(output, explainer->Text());
    return exit_code;
  }

  // Expands the names of watched transformations. Returns an error code for an unknown name.
  int FindWatched() {
    if (list || !plugins()->ok()) return kSuccess;
    Context context;
    bool environment_failed = false;
    const std::optional<transform::TransformationList> known =
        driver::MakeTransformations(transform, *plugins(), context, environment_failed);
    if (!known) return kSuccess;  // reported when the model is transformed
    context.emitter.Clear();      // likewise
    for (Watched* names : {&print_before, &print_after, &print_diff}) {
      for (std::string& name : *names) {
        if (name == "all") continue;
        if (const transform::Transformation* found = known->FindOrReport(name, context.emitter))
          name = found->name();
      }
    }
    return Reporter(*this).Report("", context, false);
  }

  static void PrintTime(const std::string& name, const transform::TransformationReport& report) {
    PrintStderr("{:<48} {:>10} {:>8} -> {} nodes\n", name, FormatTime(report.milliseconds),
                report.nodes_before, report.nodes_after);
  }

  static void PrintTimes(const transform::Pipeline& pipeline) {
    transform::TransformationReport all;
    for (const transform::TransformationReport& report : pipeline.reports()) {
      PrintTime(report.transformation->name(), report);
      all.milliseconds += report.milliseconds;
    }
    if (pipeline.reports().empty()) return;
    all.nodes_before = pipeline.reports().front().nodes_before;
    all.nodes_after = pipeline.reports().back().nodes_after;
    PrintTime("all", all);
  }

 private:
  std::string before_;
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
  add_names("--print-before", options->print_before,
            "print the graph to standard error before these, or `all`");
  add_names("--print-after", options->print_after, "print the graph to standard error after these, or `all`");
  add_names("--print-diff", options->print_diff,
            "print what these change in the graph to standard error, or `all`");
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
  command->footer("Example:\n  nnefc transform model_folder --only front.MishFusion -o net.xml");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli
