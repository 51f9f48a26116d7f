#include "compiler/ir/text.h"
#include "compiler/transform/standard.h"
#include "tools/nnefc/lowered_command.h"
#include "tools/nnefc/transform_options.h"

namespace nnefc::cli {
namespace {

struct TransformCommand : LoweredCommand {
  std::vector<std::string> print_before;
  std::vector<std::string> print_after;
  bool list = false;
  bool times = false;

  int Run() {
    if (list) return ListTransformations(transform, *this);
    transform.pipeline.before = Printer("before", print_before);
    transform.pipeline.after = Printer("after", print_after);
    return LowerAndWrite("transform", [&](const Compilation& compilation) {
      if (times && compilation.pipeline() != nullptr) PrintTimes(*compilation.pipeline());
    });
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
  options->AddTo(*command);
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
  command->footer("Example: nnefc transform model_folder --only front.MishFusion -o net.xml");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli
