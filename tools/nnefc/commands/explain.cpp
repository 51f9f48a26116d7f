// The command `nnefc explain`: describes a rule, an operation, a transformation or a topic.

#include "tools/api/explain/explain.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

struct ExplainCommand : CommonOptions {
  std::string name;
  bool list = false;

  int Run() const {
    RequireReportName(output, output_format());
    if (list == !name.empty())
      throw MisuseError(
          "`explain` takes a rule, an operation, a transformation, a topic, a section or `--list`");
    const api::PageForm form = output_format() == Format::kJson ? api::PageForm::kJson
                               : UseColorFor(color, output)     ? api::PageForm::kColored
                                                                : api::PageForm::kPlain;
    if (list) {
      WriteStdout(api::ListRules(form));
      return kSuccess;
    }
    if (!plugins()->ok()) {
      Context context;
      bool environment_failed = false;
      plugins()->Report(context.emitter, environment_failed);
      return Reporter(*this).Report("", context, environment_failed);
    }
    const ErrorOr<std::string> page = api::Explain(name, *plugins(), form);
    if (!page) throw MisuseError(page.error().message);
    WriteStdout(*page);
    return kSuccess;
  }
};

}  // namespace

void AddExplain(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainCommand>();
  CLI::App* command =
      app.add_subcommand("explain", "describe a rule, an operation, a transformation or a topic");
  command->add_option("RULE", options->name,
                      "the label of a rule, as diagnostics show it in brackets, an operation, a "
                      "transformation, a topic, or a section of the specification");
  AddExtensions(*command, options->extensions);
  command->add_flag("--list", options->list, "list every rule with its severity and sections");
  command->add_option("--format", options->format, "the form of the answer")
      ->type_name("WORD")
      ->check(OneOf({"text", "json"}))
      ->capture_default_str();
  command->footer(
      fmt::format("Topics: {}.\n"
                  "Sections are those of NNEF 1.0.5 (R) and of the provisional NNEF 1.0 (P).\n"
                  "Examples:\n"
                  "  nnefc explain binding.positional-after-named\n"
                  "  nnefc explain conv\n"
                  "  nnefc explain types\n"
                  "  nnefc explain 4.3.1",
                  fmt::join(api::TopicNames(), ", ")));
  AddColor(*command, options->color, "colour in the answer");
  AddOutput(*command, options->output, "the file to write; standard output without it");
  command->callback(
      [options, &exit_code] { exit_code = WithOutput(options->output, [&] { return options->Run(); }); });
}

}  // namespace nnefc::cli
