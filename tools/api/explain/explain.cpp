// Pages of rules, operations, transformations, topics and sections.

#include "tools/api/explain/explain.h"

#include "compiler/explain/embedded_file.h"
#include "compiler/explain/operation_pages.h"
#include "compiler/semantics/foreign/foreign_names.h"
#include "compiler/support/diagnostics/suggest.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/api/explain/pages.h"
#include "tools/api/facts/all_rules.h"

namespace nnefc::api {
namespace {

// Returns why a name has no page, with the name that was probably intended.
std::string WhyUnknown(const std::string& name, const lint::RuleBook& book, const plugin::Plugins& plugins) {
  std::vector<std::string_view> labels;
  for (const Rule* rule : book.rules()) {
    if (std::string_view(rule->label).ends_with("." + name)) labels.push_back(rule->label);
  }
  if (labels.size() > 1)
    return fmt::format("several rules end in `{}`: `{}`", name, fmt::join(labels, "`, `"));
  if (const auto rows = semantics::foreign::FindForeignOperations(name); !rows.empty())
    return fmt::format("there is no operation `{}`; {}", name,
                       rows.size() == 1 && !rows.front()->ours.empty()
                           ? fmt::format("NNEF has `{}`", rows.front()->ours)
                           : semantics::foreign::DescribeForeignOperations(name, rows));
  // Rule labels contain a dot, but so does `middle.MVNFusion`. Words without one are more likely operations.
  const std::vector<std::string> operations = explain::PagedOperations();
  const std::string last = name.substr(name.rfind('.') + 1);
  Suggestion operation(last);
  for (const std::string& each : operations) operation.Offer(each);
  for (const explain::EmbeddedFile& topic : explain::EmbeddedTopics()) operation.Offer(topic.name);
  const std::vector<std::string> transformations = ExplainedTransformations(plugins);
  for (const std::string& each : transformations) operation.Offer(each);
  const bool is_label = name.find('.') != std::string::npos;
  const std::string_view rule = book.Nearest(name);
  const bool is_rule = operation.best().empty() || (is_label && !rule.empty());
  const std::string_view meant = is_rule ? rule : operation.best();
  return fmt::format("there is no rule, operation, transformation or topic `{}`; {}", name,
                     meant.empty()
                         ? "`nnefc explain --help`, `nnefc explain --list` and `nnefc operations` show all"
                         : fmt::format("did you mean `{}`?", meant));
}

}  // namespace

std::string IndentedLines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end != 0) result += fmt::format("    {}", text.substr(0, end));
    result += '\n';
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return result;
}

ErrorOr<std::string> Explain(const std::string& name, const plugin::Plugins& plugins, PageForm form) {
  if (auto page = OperationText(name, plugins, form)) return *page;
  if (auto page = TopicText(name, form)) return *page;
  const lint::RuleBook book = AllRules();
  if (auto page = SectionPage(name, book, form)) return *page;
  if (const Rule* rule = book.Find(name)) return RuleText(*rule, form);
  if (auto page = TransformationText(name, plugins, form)) return *page;
  return SystemError{WhyUnknown(name, book, plugins)};
}

}  // namespace nnefc::api
