#pragma once

#include "runtime/engine/plan/plan_draft.h"

namespace nnefc::runtime::engine::plan {

// Joins the parts of a Concat that are contiguous in the result: they are computed at their offset in it,
// without a step. Parts that were joined before count as one if all of them appear in order, as in
// DenseNet-like networks. Returns false, without an error, if the parts have to be copied.
[[nodiscard]] bool TryJoin(PlanDraft& draft, const ir::Node& concat);

}  // namespace nnefc::runtime::engine::plan
