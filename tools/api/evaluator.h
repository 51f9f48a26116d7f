#pragma once

#include <memory>

#include "compiler/ir/fold.h"
#include "compiler/plugin/plugins.h"

namespace nnefc::api {

// Evaluates what follows from constants while a model is compiled: by the reference
// kernels and those of the plug-ins.
ir::Evaluator EvaluatorOf(std::shared_ptr<const plugin::Plugins> plugins);

}  // namespace nnefc::api
