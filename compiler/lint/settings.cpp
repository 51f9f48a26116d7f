#include "compiler/lint/settings.h"

#include "compiler/driver/rules.h"
#include "compiler/expand/rules.h"
#include "compiler/lint/rules.h"
#include "compiler/package/rules.h"
#include "compiler/semantics/rules.h"
#include "compiler/support/suggest.h"
#include "compiler/syntax/rules.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::lint {
namespace {

constexpr std::string_view kPrefix = "lint.";

// The rules that are told by `check` on the way to lint.
template <typename Use>
void ForEachOtherRule(Use use) {
  for (llvm::ArrayRef<const Rule*> list :
       {llvm::ArrayRef<const Rule*>(kSyntaxRules), llvm::ArrayRef<const Rule*>(semantics::kSemanticsRules),
        llvm::ArrayRef<const Rule*>(kExpandRules), llvm::ArrayRef<const Rule*>(kPackageRules),
        llvm::ArrayRef<const Rule*>(kDriverRules)}) {
    for (const Rule* rule : list) use(*rule);
  }
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
  const Rule* found = nullptr;
  ForEachOtherRule([&](const Rule& rule) {
    if (rule.label == name && rule.severity != Severity::kError) found = &rule;
  });
  return found;
}

std::string Settings::WhyNot(std::string_view name) {
  bool is_error = false;
  ForEachOtherRule([&](const Rule& rule) { is_error |= rule.label == name; });
  if (is_error)
    return fmt::format("`{}` is an error of `nnefc check`; only lint rules and warnings can be set", name);
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
