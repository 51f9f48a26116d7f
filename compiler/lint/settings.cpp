// Enabled rules and their levels, by defaults, options and configuration.

#include "compiler/lint/settings.h"

#include "compiler/lint/rule_book.h"
#include "compiler/lint/rules.h"
#include "compiler/support/diagnostics/suggest.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::lint {
namespace {

constexpr std::string_view kPrefix = "lint.";

const RuleBook& Book() {
  static const RuleBook book;
  return book;
}

llvm::StringRef Ref(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

Settings::Settings() {
  Set(kAutomaticPadding, false);
  Set(kKhronosParser, false);
}

const Rule* Settings::Find(std::string_view name) {
  for (const Rule* rule : kLintRules) {
    if (rule->label == name || rule->label.substr(kPrefix.size()) == name) return rule;
  }
  const Rule* rule = Book().Find(name);
  return rule != nullptr && rule->label == name && rule->severity != Severity::kError ? rule : nullptr;
}

std::string Settings::WhyNot(std::string_view name) {
  const Rule* known = Book().Find(name);
  if (known != nullptr && known->severity == Severity::kError) {
    return fmt::format(
        "`{}` is an error of `nnefc check` and cannot be configured; lint rules and warnings can", name);
  }
  Suggestion suggestion(name);
  for (const Rule* rule : kLintRules) {
    suggestion.Offer(rule->label);
    suggestion.Offer(rule->label.substr(kPrefix.size()));
  }
  if (suggestion.best().empty()) return fmt::format("there is no lint rule `{}`", name);
  return fmt::format("there is no lint rule `{}`; did you mean `{}`?", name, suggestion.best());
}

void Settings::SetAll(bool enabled) {
  for (const Rule* rule : kLintRules) Set(*rule, enabled);
}

bool Settings::enabled(const Rule& rule) const {
  auto found = entries_.find(Ref(rule.label));
  return found == entries_.end() || found->second.enabled;
}

Severity Settings::level(const Rule& rule) const {
  auto found = entries_.find(Ref(rule.label));
  return found == entries_.end() ? rule.severity : found->second.level.value_or(rule.severity);
}

void Apply(const SettingsRequest& request, Settings& settings) {
  if (request.disable_all) settings.SetAll(false);
  if (request.enable_all) settings.SetAll(true);
  for (const Rule* rule : request.enabled) settings.Set(*rule, true);
  for (const Rule* rule : request.disabled) settings.Set(*rule, false);
  for (auto [rule, level] : request.levels) settings.SetLevel(*rule, level);
}

std::optional<Severity> ParseLevel(std::string_view text) {
  if (text == "error") return Severity::kError;
  if (text == "warning") return Severity::kWarning;
  if (text == "note") return Severity::kNote;
  return std::nullopt;
}

}  // namespace nnefc::lint
