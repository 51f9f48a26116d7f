#include "tools/api/facts/all_rules.h"

#include "runtime/kernels/rules.h"
#include "tools/api/facts/tool_rules.h"

namespace nnefc::api {

lint::RuleBook AllRules() {
  lint::RuleBook book;
  book.Add(runtime::kernels::kRuntimeRules);
  book.Add(kToolRules);
  return book;
}

}  // namespace nnefc::api
