#include "tools/api/facts/all_rules.h"

#include "runtime/kernels/rules.h"

namespace nnefc::api {

lint::RuleBook AllRules() {
  lint::RuleBook book;
  book.Add(runtime::kernels::kRuntimeRules);
  return book;
}

}  // namespace nnefc::api
