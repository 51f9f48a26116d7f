#pragma once

#include <memory>

#include "compiler/ir/algorithms/fold.h"
#include "compiler/plugin/plugins.h"

namespace nnefc::api {

// Returns an evaluator for constant folding at compile time, with the reference kernels and those of the
// plug-ins.
ir::Evaluator EvaluatorOf(std::shared_ptr<const plugin::Plugins> plugins);

}  // namespace nnefc::api
