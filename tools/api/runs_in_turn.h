#pragma once

#include <vector>

#include "compiler/support/tensor/tensor_value.h"
#include "runtime/engine/executable.h"

namespace nnefc::api {

// Runs a session `runs` times, each with the states that the last run left. The first axis of the inputs has
// the data of each run; outputs are stacked along such an axis. Returns a fault if a run fails, or if an
// output has different shapes.
runtime::kernels::FaultOr<std::vector<TensorValue>> RunInTurn(runtime::engine::Session& session,
                                                              const std::vector<TensorValue>& inputs,
                                                              int64_t runs);

}  // namespace nnefc::api
