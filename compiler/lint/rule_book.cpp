// The rules of all compiler modules, and lookup by label.

#include "compiler/lint/rule_book.h"

#include "compiler/device/rules.h"
#include "compiler/driver/rules.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/ops/opset/rules.h"
#include "compiler/ir/ops/rules.h"
#include "compiler/ir/rules.h"
#include "compiler/lint/rules.h"
#include "compiler/lower/rules.h"
#include "compiler/openvino/rules.h"
#include "compiler/package/rules.h"
#include "compiler/plugin/rules.h"
#include "compiler/raise/rules.h"
#include "compiler/semantics/rules.h"
#include "compiler/support/diagnostics/suggest.h"
#include "compiler/syntax/rules.h"
#include "compiler/transform/rules.h"
#include "compiler/upgrade/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lint {
namespace {

// Returns `unused-tensor` for `lint.unused-tensor`.
std::string_view EndOf(const Rule& rule) {
  return rule.label.substr(rule.label.find('.') + 1);
}

}  // namespace

RuleBook::RuleBook() {
  Add(ast::kSyntaxRules);
  Add(semantics::kSemanticsRules);
  Add(expand::kExpandRules);
  Add(ir::ops::kNodeRules);
  Add(ir::ops::kTensorIntroducingRules);
  Add(ir::ops::kSlidingWindowRules);
  Add(ir::ops::kShapeRules);
  Add(ir::ops::kOtherOperationRules);
  Add(ir::ops::kControlFlowRules);
  Add(ir::kIrRules);
  Add(lower::kLowerRules);
  Add(raise::kRaiseRules);
  Add(transform::kTransformRules);
  Add(plugin::kPluginRules);
  Add(driver::kDriverRules);
  Add(package::kPackageRules);
  Add(openvino::kOpenVinoRules);
  Add(ir::ops::opset::kOpsetRules);
  Add(upgrade::kUpgradeRules);
  Add(kLintRules);
  Add(kLintConfigRules);
  Add(device::kDeviceRules);
  Add(device::kDeviceProfileRules);
}

void RuleBook::Add(llvm::ArrayRef<const Rule*> rules) {
  rules_.insert(rules_.end(), rules.begin(), rules.end());
}

const Rule* RuleBook::Find(std::string_view label) const {
  const Rule* by_end = nullptr;
  size_t ends = 0;
  for (const Rule* rule : rules_) {
    if (rule->label == label) return rule;
    if (EndOf(*rule) != label) continue;
    by_end = rule;
    ++ends;
  }
  return ends == 1 ? by_end : nullptr;
}

std::string_view RuleBook::Nearest(std::string_view label) const {
  Suggestion suggestion(label);
  for (const Rule* rule : rules_) {
    suggestion.Offer(rule->label);
    suggestion.Offer(EndOf(*rule));
  }
  return suggestion.best();
}

bool IsShowable(const Rule& rule) {
  return rule.section != "internal" && rule.section != "environment" && rule.section != "plug-in" &&
         rule.section != "build" && rule.section != "tool";
}

std::vector<std::string_view> SectionsOf(const Rule& rule) {
  std::vector<std::string_view> sections;
  for (std::string_view rest = IsShowable(rule) ? rule.section : ""; !rest.empty();) {
    const size_t comma = rest.find(", ");
    sections.push_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 2);
  }
  return sections;
}

std::vector<std::string_view> DialectsOf(const Rule& rule) {
  std::vector<std::string_view> dialects;
  for (std::string_view section : SectionsOf(rule)) {
    const std::string_view dialect = section.front() == 'R' ? "ratified" : "provisional";
    if (!llvm::is_contained(dialects, dialect)) dialects.push_back(dialect);
  }
  return dialects;
}

}  // namespace nnefc::lint
