// The pages of rules.

#include <algorithm>
#include <optional>

#include "compiler/explain/rule_file.h"
#include "compiler/support/diagnostics/severity_name.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tools/api/explain/pages.h"
#include "tools/api/explain/paint.h"
#include "tools/api/facts/all_rules.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;

using explain::ExampleFile;
using explain::RuleExample;
using explain::RuleFile;

Json Describe(const Rule& rule) {
  return {{"rule", rule.label},
          {"severity", SeverityName(rule.severity)},
          {"sections", lint::SectionsOf(rule)},
          {"dialects", lint::DialectsOf(rule)},
          {"showable", lint::IsShowable(rule)}};
}

// "R 3.3.2, P 3.3.1" -> "section 3.3.2 of 1.0.5 (ratified), .."
std::string OriginText(const Rule& rule) {
  if (rule.section == "internal")
    return "a fault of nnefc or its installation; please report it to where you got nnefc from, "
           "with the model and the output of `nnefc --version`";
  if (rule.section == "plug-in") return "a fault of what `--extensions` loads";
  if (rule.section == "build") return "this build of nnefc is without a part that the input needs";
  if (rule.section == "tool") return "a rule of the tools";
  if (rule.section == "environment") return "the machine has too little memory for it";
  std::string text;
  for (std::string_view section : lint::SectionsOf(rule)) {
    const bool is_ratified = section.front() == 'R';
    text += fmt::format("{}{} of {}", text.empty() ? "section " : ", ", section.substr(2),
                        is_ratified ? "NNEF 1.0.5" : "the provisional NNEF 1.0");
  }
  return text.empty() ? "a rule of nnefc" : text;
}

std::string ExampleText(const RuleExample& example) {
  std::string text;
  for (const ExampleFile& file : example.files) {
    text += "\n";
    if (file.name != "net.nnef" || !file.form.empty())
      text += fmt::format("  {}{}:\n", file.name, file.form.empty() ? "" : fmt::format(" ({})", file.form));
    text += IndentedLines(file.text);
  }
  if (example.command == "nnefc check net.nnef" && example.diagnostics.empty()) return text;
  return text + fmt::format("\n  $ {}\n{}", example.command, IndentedLines(example.diagnostics));
}

// Returns the first example of each kind and dialect.
std::string PageText(const Rule& rule, const RuleFile& file, const Painter& paint) {
  std::string text =
      fmt::format("{}: {}, {}\n", paint.Head(rule.label), SeverityName(rule.severity), OriginText(rule));
  if (!file.statement.empty()) text += fmt::format("\n{}\n", file.statement);
  std::vector<std::string> shown;
  for (const RuleExample& example : file.examples) {
    std::string head = fmt::format("This {}{}{}:", example.breaks ? "breaks it" : "keeps it",
                                   example.dialect.empty() ? "" : " in the ",
                                   example.dialect.empty() ? "" : fmt::format("{} dialect", example.dialect));
    if (std::find(shown.begin(), shown.end(), head) != shown.end()) continue;
    text += fmt::format("\n{}\n", example.breaks ? paint.Bad(head) : paint.Good(head));
    shown.push_back(std::move(head));
    text += ExampleText(example);
  }
  return text;
}

Json ToJson(const Rule& rule, const RuleFile& file) {
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
  return json;
}

}  // namespace

std::string RuleText(const Rule& rule, PageForm form) {
  const RuleFile file = explain::FindRuleFile(rule.label).value_or(RuleFile());
  if (form == PageForm::kJson) return ToJson(rule, file).dump(2) + "\n";
  return PageText(rule, file, Painter(form == PageForm::kColored));
}

std::string ListRules(PageForm form) {
  const lint::RuleBook book = AllRules();
  Json rules = Json::array();
  std::string text;
  for (const Rule* rule : book.rules()) {
    rules.push_back(Describe(*rule));
    text += fmt::format("{:<36} {:<8} {}\n", rule->label, SeverityName(rule->severity), rule->section);
  }
  return form == PageForm::kJson ? Json({{"rules", rules}}).dump(2) + "\n" : text;
}

}  // namespace nnefc::api
