// The texts of topics, printed by `nnefc explain`.

#include "tools/nnefc/explain/explain_topic.h"

#include "compiler/explain/embedded_file.h"
#include "compiler/explain/operation_pages.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "nlohmann/json.hpp"
#include "tools/nnefc/common.h"

namespace nnefc::cli {
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

bool ExplainTopic(std::string_view name, bool as_json) {
  const EmbeddedFile* topic = FindTopic(name);
  if (topic == nullptr) return false;
  if (as_json) {
    Print("{}\n", Json({{"topic", topic->name}, {"text", topic->text}}).dump(2));
  } else {
    Print("{}", topic->text);
  }
  return true;
}

bool ExplainSection(std::string_view section, const lint::RuleBook& book, bool as_json,
                    const Painter& paint) {
  if (section.empty() || section.find_first_not_of("0123456789.") != std::string_view::npos) return false;
  std::vector<std::string> operations;
  for (const std::string& name : explain::PagedOperations()) {
    if (IsWithin(explain::FindOperationPage(name)->section, section)) operations.push_back(name);
  }
  std::vector<std::string_view> rules;
  for (const Rule* rule : book.rules()) {
    if (llvm::any_of(lint::SectionsOf(*rule), [&](std::string_view each) { return IsWithin(each, section); }))
      rules.push_back(rule->label);
  }
  if (operations.empty() && rules.empty()) return false;
  if (as_json) {
    Print("{}\n", Json({{"section", section}, {"operations", operations}, {"rules", rules}}).dump(2));
    return true;
  }
  Print("{}: operations and rules of this section; `nnefc explain NAME` describes each\n",
        paint.Head(section));
  if (!operations.empty())
    Print("\n{}\n\n    {}\n", paint.Head("Operations:"), fmt::join(operations, "\n    "));
  if (!rules.empty()) Print("\n{}\n\n    {}\n", paint.Head("Rules:"), fmt::join(rules, "\n    "));
  return true;
}

}  // namespace nnefc::cli
