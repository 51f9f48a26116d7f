#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::runtime::kernels {

// Rules for graphs and for values of a run.
#define NNEFC_RUNTIME_RULES(RULE)                                 \
  RULE(kNoKernel, "runtime.no-kernel", kError, "internal")        \
  RULE(kConstantWithoutData, "runtime.missing-data", kError, "")  \
  RULE(kRuntimeElementType, "runtime.element-type", kError, "")   \
  RULE(kRuntimeCycle, "runtime.cycle", kError, "internal")        \
  RULE(kRuntimeMemory, "runtime.memory", kError, "environment")   \
  RULE(kRuntimeNesting, "runtime.nesting", kError, "internal")    \
  RULE(kRuntimeIterations, "runtime.iterations", kError, "")      \
  RULE(kPlanCache, "runtime.plan-cache", kWarning, "environment") \
  RULE(kNoOneDnn, "runtime.no-onednn", kWarning, "internal")      \
  RULE(kRunFailed, "run.failed", kError, "")                      \
  RULE(kConstantNotFinite, "run.constant-not-finite", kNote, "")  \
  RULE(kConstantEvaluation, "runtime.constant-evaluation", kError, "")
NNEFC_DEFINE_RULES(kRuntimeRules, NNEFC_RUNTIME_RULES)

}  // namespace nnefc::runtime::kernels
