#include "compiler/ir/text.h"
#include "compiler/openvino/write.h"
#include "compiler/transform/standard.h"
#include "tools/api/openvino_form.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/misuse.h"
#include "tools/nnefc/reporter.h"
#include "tools/nnefc/transform_options.h"

namespace nnefc::cli {
namespace {

struct TransformCommand : CommonOptions {
  TransformOptions transform;
  std::vector<std::string> print_before;
  std::vector<std::string> print_after;
  std::optional<uint64_t> random_weights;
  bool list = false;
  bool times = false;

  int Run() {
    if (list) return ListTransformations(transform, *this);
    RequireExtension(output, {".xml", ".ir", ".txt"},
                     "`transform` writes OpenVINO IR to `.xml` and the text form to `.ir`");
    const bool to_xml = llvm::StringRef(output).endswith(".xml");
    CompileOptions compile = compile_options(models.front());
    compile.random_weights = random_weights;
    compile.structure_only = !to_xml;
    compile.transform = transform;
    compile.transform.pipeline.before = Printer("before", print_before);
    compile.transform.pipeline.after = Printer("after", print_after);
    Compilation compilation(ShownModel(models.front()), compile);
    bool ok = RunStages(compilation, Stage::kLower);
    if (ok && to_xml) ok = api::RequireOpenVinoForm(compilation, /*structure_only=*/false);
    const int exit_code = Reporter(*this).Report(compilation);
    if (times && compilation.pipeline() != nullptr) PrintTimes(*compilation.pipeline());
    if (!ok) return exit_code;
    if (!to_xml) {
      WriteProduct(output, ir::PrintGraph(*compilation.lowered()));
    } else if (auto written = WriteOpenVino(*compilation.lowered(), output); !written) {
      throw MisuseError(written.error().message);
    }
    return exit_code;
  }

  // Prints the graph around the transformations of the names, `all` for all.
  static std::function<void(const transform::Transformation&, const ir::Graph&)> Printer(
      const char* when, const std::vector<std::string>& names) {
    if (names.empty()) return nullptr;
    const transform::TransformationList known = transform::StandardTransformations();
    std::vector<std::string> wanted;
    for (const std::string& name : names) {
      const transform::Transformation* found = known.Find(name);
      if (found == nullptr && name != "all") {
        const std::string meant = known.Nearest(name);
        throw MisuseError(fmt::format("`--print-{}`: there is no transformation `{}`{}", when, name,
                                      meant.empty() ? "" : fmt::format("; did you mean `{}`?", meant)));
      }
      wanted.push_back(found == nullptr ? "all" : found->name());
    }
    return [when, wanted](const transform::Transformation& transformation, const ir::Graph& graph) {
      const std::string name = transformation.name();
      if (!llvm::is_contained(wanted, "all") && !llvm::is_contained(wanted, name)) return;
      PrintStderr("// {} {}\n{}", when, name, ir::PrintGraph(graph));
    };
  }

  static void PrintTimes(const transform::Pipeline& pipeline) {
    for (const transform::TransformationReport& report : pipeline.reports()) {
      PrintStderr("{:<48} {:>10} {:>8} -> {} nodes\n", report.transformation->name(),
                  FormatTime(report.milliseconds), report.nodes_before, report.nodes_after);
    }
  }
};

}  // namespace

void AddTransform(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TransformCommand>();
  CLI::App* command = app.add_subcommand(
      "transform", "transform and lower a model; write or print the graph that it becomes");
  AddCommonOptions(*command, *options, 1);
  command->add_option("-o,--output", options->output,
                      "net.xml writes OpenVINO IR (net.xml and net.bin), net.ir the text form; the text form "
                      "to standard output without it");
  AddTransformOptions(*command, options->transform);
  const auto add_names = [&](const char* option, std::vector<std::string>& names, const char* what) {
    command->add_option(option, names, what)->delimiter(',')->type_name("NAME,..");
  };
  add_names("--only", options->transform.pipeline.only, "run these and no other, enabled or not");
  command->add_option("--stop-after", options->transform.pipeline.stop_after, "run none behind this one")
      ->type_name("NAME");
  add_names("--print-before", options->print_before,
            "print the graph to standard error before these, or `all`");
  add_names("--print-after", options->print_after, "print the graph to standard error after these, or `all`");
  command->add_flag("--time-transformations", options->times,
                    "tell the time that each takes, and the nodes before and after");
  CLI::Option* models = command->get_option("MODEL");
  command
      ->add_flag_function(
          "--list-transformations",
          [options, models](int64_t) {
            options->list = true;
            models->required(false);
          },
          "print all in the order in which they run, and do no more")
      ->trigger_on_parse();
  command
      ->add_option("--random-weights", options->random_weights,
                   "the seed of data for variables that have none")
      ->check(NonNegative());
  command->footer("Example: nnefc transform model_folder --only front.MishFusion -o net.xml");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli
