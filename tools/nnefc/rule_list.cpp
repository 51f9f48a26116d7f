#include "tools/nnefc/rule_list.h"

#include "compiler/driver/rules.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/ops/opset/rules.h"
#include "compiler/ir/ops/rules.h"
#include "compiler/ir/rules.h"
#include "compiler/lint/rules.h"
#include "compiler/lower/rules.h"
#include "compiler/openvino/rules.h"
#include "compiler/package/rules.h"
#include "compiler/semantics/rules.h"
#include "compiler/syntax/rules.h"
#include "compiler/upgrade/rules.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/engine/rules.h"

namespace nnefc::cli {

std::vector<const Rule*> AllRules() {
  const llvm::ArrayRef<const Rule*> rooms[] = {
      kSyntaxRules,
      semantics::kSemanticsRules,
      kExpandRules,
      ir::nnef::kNodeRules,
      ir::nnef::kTensorIntroducingRules,
      ir::nnef::kSlidingWindowRules,
      ir::nnef::kShapeRules,
      ir::nnef::kOtherOperationRules,
      ir::nnef::kControlFlowRules,
      ir::kIrRules,
      lower::kLowerRules,
      kDriverRules,
      kPackageRules,
      kOpenVinoRules,
      ir::kOpsetRules,
      runtime::kRuntimeRules,
      upgrade::kUpgradeRules,
      lint::kLintRules,
      lint::kLintConfigRules,
  };
  std::vector<const Rule*> rules;
  for (llvm::ArrayRef<const Rule*> room : rooms) rules.insert(rules.end(), room.begin(), room.end());
  return rules;
}

bool IsShowable(const Rule& rule) {
  return rule.section != "internal" && rule.section != "environment";
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

}  // namespace nnefc::cli
