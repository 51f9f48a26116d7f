#pragma once

#include "runtime/engine/plan/plan_draft.h"

namespace nnefc::runtime::engine::plan {

// Adds the step of a node with bodies, and plans those whose input shapes are static. Returns false after an
// error was emitted.
[[nodiscard]] bool AddControlStep(PlanDraft& draft, const ir::Node& node);

}  // namespace nnefc::runtime::engine::plan
