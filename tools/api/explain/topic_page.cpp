// The texts of topics and the contents of sections.

#include "compiler/explain/embedded_file.h"
#include "compiler/explain/operation_pages.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "nlohmann/json.hpp"
#include "tools/api/explain/pages.h"
#include "tools/api/explain/paint.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;
using explain::EmbeddedFile;

const EmbeddedFile* FindTopic(std::string_view name) {
  const std::string plural = fmt::format("{}s", name);
  for (const EmbeddedFile& topic : explain::EmbeddedTopics()) {
    if (topic.name == name || topic.name == plural) return &topic;
  }
  return nullptr;
}

// Returns whether a section of a rule or operation, such as "R 4.3.1", is `section` or a part of it.
bool IsWithin(std::string_view label, std::string_view section) {
  if (label.size() < 2 || !label.substr(2).starts_with(section)) return false;
  const std::string_view rest = label.substr(2 + section.size());
  return rest.empty() || rest.front() == '.';
}

}  // namespace

std::vector<std::string_view> TopicNames() {
  std::vector<std::string_view> names = {"control_flow"};
  for (const EmbeddedFile& topic : explain::EmbeddedTopics()) names.push_back(topic.name);
  llvm::sort(names);
  return names;
}

std::optional<std::string> TopicText(std::string_view name, PageForm form) {
  const EmbeddedFile* topic = FindTopic(name);
  if (topic == nullptr) return std::nullopt;
  if (form != PageForm::kJson) return std::string(topic->text);
  return Json({{"topic", topic->name}, {"text", topic->text}}).dump(2) + "\n";
}

std::optional<std::string> SectionPage(std::string_view section, const lint::RuleBook& book, PageForm form) {
  if (section.empty() || section.find_first_not_of("0123456789.") != std::string_view::npos)
    return std::nullopt;
  std::vector<std::string> operations;
  for (const std::string& name : explain::PagedOperations()) {
    if (IsWithin(explain::FindOperationPage(name)->section, section)) operations.push_back(name);
  }
  std::vector<std::string_view> rules;
  for (const Rule* rule : book.rules()) {
    if (llvm::any_of(lint::SectionsOf(*rule), [&](std::string_view each) { return IsWithin(each, section); }))
      rules.push_back(rule->label);
  }
  if (operations.empty() && rules.empty()) return std::nullopt;
  if (form == PageForm::kJson)
    return Json({{"section", section}, {"operations", operations}, {"rules", rules}}).dump(2) + "\n";
  const Painter paint(form == PageForm::kColored);
  std::string text = fmt::format(
      "{}: operations and rules of this section; `nnefc explain NAME` describes each\n", paint.Head(section));
  if (!operations.empty())
    text += fmt::format("\n{}\n\n    {}\n", paint.Head("Operations:"), fmt::join(operations, "\n    "));
  if (!rules.empty())
    text += fmt::format("\n{}\n\n    {}\n", paint.Head("Rules:"), fmt::join(rules, "\n    "));
  return text;
}

}  // namespace nnefc::api
