// The command `nnefc explain`: describes a rule, an operation, a transformation or a topic.

#include "compiler/explain/embedded_file.h"
#include "compiler/explain/operation_pages.h"
#include "compiler/explain/rule_file.h"
#include "compiler/lint/rule_book.h"
#include "compiler/semantics/foreign/foreign_names.h"
#include "compiler/support/diagnostics/severity_name.h"
#include "compiler/support/diagnostics/suggest.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "nlohmann/json.hpp"
#include "tools/api/facts/all_rules.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/explain/explain_operation.h"
#include "tools/nnefc/explain/explain_topic.h"
#include "tools/nnefc/explain/explain_transformation.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/paint.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

using Json = nlohmann::ordered_json;

using explain::ExampleFile;
using explain::RuleExample;
using explain::RuleFile;
using lint::DialectsOf;
using lint::IsShowable;
using lint::SectionsOf;

Json Describe(const Rule& rule) {
  return {{"rule", rule.label},
          {"severity", SeverityName(rule.severity)},
          {"sections", SectionsOf(rule)},
          {"dialects", DialectsOf(rule)},
          {"showable", IsShowable(rule)}};
}

// "R 3.3.2, P 3.3.1" -> "section 3.3.2 of 1.0.5 (ratified), .."
std::string SectionText(const Rule& rule) {
  if (rule.section == "internal")
    return "a fault of nnefc or its installation; please report it to where you got nnefc from, "
           "with the model and the output of `nnefc --version`";
  if (rule.section == "plug-in") return "a fault of what `--extensions` loads";
  if (rule.section == "build") return "this build of nnefc is without a part that the input needs";
  if (rule.section == "environment") return "the machine has too little memory for it";
  std::string text;
  for (std::string_view section : SectionsOf(rule)) {
    const bool is_ratified = section.front() == 'R';
    text += fmt::format("{}{} of {}", text.empty() ? "section " : ", ", section.substr(2),
                        is_ratified ? "NNEF 1.0.5" : "the provisional NNEF 1.0");
  }
  return text.empty() ? "a rule of nnefc" : text;
}

void PrintIndented(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    Print("{}{}\n", line.empty() ? "" : "    ", line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
}

struct ExplainCommand {
  std::string label;
  std::string format = "text";
  std::string output;
  std::string color = "auto";
  bool list = false;
  std::vector<std::string> extensions;

  int Run() const {
    RequireReportName(output, FormatNamed(format));
    if (list == !label.empty())
      throw MisuseError(
          "`explain` takes a rule, an operation, a transformation, a topic, a section or `--list`");
    if (list) return List();
    const auto plugins = plugin::Plugins::Load(extensions);
    if (!plugins->ok()) return ReportPlugins(*plugins);
    const Painter paint(UseColorFor(color, output));
    if (ExplainOperation(label, *plugins, format == "json", paint)) return kSuccess;
    if (ExplainTopic(label, format == "json")) return kSuccess;
    const lint::RuleBook book = api::AllRules();
    if (ExplainSection(label, book, format == "json", paint)) return kSuccess;
    if (const Rule* rule = book.Find(label)) {
      const std::optional<RuleFile> file = explain::FindRuleFile(rule->label);
      if (format == "json") {
        PrintJson(*rule, file.value_or(RuleFile()));
      } else {
        PrintText(*rule, file.value_or(RuleFile()), paint);
      }
      return kSuccess;
    }
    if (ExplainTransformation(label, *plugins, format == "json", paint)) return kSuccess;
    RequireOneRule(book);
    if (const auto rows = semantics::foreign::FindForeignOperations(label); !rows.empty())
      throw MisuseError(fmt::format("there is no operation `{}`; {}", label,
                                    rows.size() == 1 && !rows.front()->ours.empty()
                                        ? fmt::format("NNEF has `{}`", rows.front()->ours)
                                        : semantics::foreign::DescribeForeignOperations(label, rows)));
    // Rule labels contain a dot, but so does `middle.MVNFusion`. Words without one are more likely
    // operations.
    const std::vector<std::string> operations = explain::PagedOperations();
    const std::string last = label.substr(label.rfind('.') + 1);
    Suggestion operation(last);
    for (const std::string& name : operations) operation.Offer(name);
    for (const explain::EmbeddedFile& topic : explain::EmbeddedTopics()) operation.Offer(topic.name);
    const std::vector<std::string> transformations = ExplainedTransformations(*plugins);
    for (const std::string& name : transformations) operation.Offer(name);
    const bool is_label = label.find('.') != std::string::npos;
    const std::string_view rule = book.Nearest(label);
    const bool is_rule = operation.best().empty() || (is_label && !rule.empty());
    const std::string_view meant = is_rule ? rule : operation.best();
    throw MisuseError(fmt::format(
        "there is no rule, operation, transformation or topic `{}`; {}", label,
        meant.empty() ? "`nnefc explain --help`, `nnefc explain --list` and `nnefc operations` show all"
                      : fmt::format("did you mean `{}`?", meant)));
  }

  int ReportPlugins(const plugin::Plugins& plugins) const {
    CommonOptions common;
    common.format = format;
    common.color = color;
    Context context;
    bool environment_failed = false;
    plugins.Report(context.emitter, environment_failed);
    return Reporter(common).Report("", context, environment_failed);
  }

  // Throws MisuseError if several rules end in the label.
  void RequireOneRule(const lint::RuleBook& book) const {
    std::vector<std::string_view> found;
    for (const Rule* rule : book.rules()) {
      if (std::string_view(rule->label).ends_with("." + label)) found.push_back(rule->label);
    }
    if (found.size() > 1)
      throw MisuseError(fmt::format("several rules end in `{}`: `{}`", label, fmt::join(found, "`, `")));
  }

  int List() const {
    const lint::RuleBook book = api::AllRules();
    Json rules = Json::array();
    for (const Rule* rule : book.rules()) {
      if (format == "json") {
        rules.push_back(Describe(*rule));
      } else {
        Print("{:<36} {:<8} {}\n", rule->label, SeverityName(rule->severity), rule->section);
      }
    }
    if (format == "json") Print("{}\n", Json({{"rules", rules}}).dump(2));
    return kSuccess;
  }

  // Prints the first example of each kind and dialect.
  static void PrintText(const Rule& rule, const RuleFile& file, const Painter& paint) {
    Print("{}: {}, {}\n", paint.Head(rule.label), SeverityName(rule.severity), SectionText(rule));
    if (!file.statement.empty()) Print("\n{}\n", file.statement);
    std::vector<std::string> shown;
    for (const RuleExample& example : file.examples) {
      std::string head =
          fmt::format("This {}{}{}:", example.breaks ? "breaks it" : "keeps it",
                      example.dialect.empty() ? "" : " in the ",
                      example.dialect.empty() ? "" : fmt::format("{} dialect", example.dialect));
      if (std::find(shown.begin(), shown.end(), head) != shown.end()) continue;
      Print("\n{}\n", example.breaks ? paint.Bad(head) : paint.Good(head));
      shown.push_back(std::move(head));
      PrintExample(example);
    }
  }

  static void PrintExample(const RuleExample& example) {
    for (const ExampleFile& file : example.files) {
      Print("\n");
      if (file.name != "net.nnef" || !file.form.empty())
        Print("  {}{}:\n", file.name, file.form.empty() ? "" : fmt::format(" ({})", file.form));
      PrintIndented(file.text);
    }
    if (example.command == "nnefc check net.nnef" && example.diagnostics.empty()) return;
    Print("\n  $ {}\n", example.command);
    PrintIndented(example.diagnostics);
  }

  static void PrintJson(const Rule& rule, const RuleFile& file) {
    Json json = Describe(rule);
    json["statement"] = file.statement;
    json["examples"] = Json::array();
    for (const RuleExample& example : file.examples) {
      Json files = Json::array();
      for (const ExampleFile& item : example.files) {
        files.push_back(
            {{"name", item.name}, {"form", item.form.empty() ? "text" : item.form}, {"text", item.text}});
      }
      json["examples"].push_back({{"breaks", example.breaks},
                                  {"dialect", example.dialect},
                                  {"command", example.command},
                                  {"files", std::move(files)},
                                  {"diagnostics", example.diagnostics}});
    }
    Print("{}\n", json.dump(2));
  }
};

}  // namespace

void AddExplain(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainCommand>();
  CLI::App* command =
      app.add_subcommand("explain", "describe a rule, an operation, a transformation or a topic");
  command->add_option("RULE", options->label,
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
                  fmt::join(TopicNames(), ", ")));
  AddColor(*command, options->color, "colour in the answer");
  AddOutput(*command, options->output, "the file to write; standard output without it");
  command->callback(
      [options, &exit_code] { exit_code = WithOutput(options->output, [&] { return options->Run(); }); });
}

}  // namespace nnefc::cli
